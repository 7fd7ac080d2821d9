"""Why is it slow over this line? ARQ, jitter, bonded lines, rates that change, shapers, policers, slow routers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest

import tightlink as tl
from diagnosed_runs import diagnosed, row_of, run_of, simulated_once
from media import CALL
from tightlink.diagnosis.paths import Paths

#: A slow link in bursts, beside a call.
SLOW: Final = f"""
profile = "linux"
duration = "30 s"
link.l = {{ ends = ["a", "b"], rate = "2 Mbit/s", delay = "5 ms", queue = "1000 packets" }}
{CALL}"""
ON_OFF: Final = (
    'traffic.data = {{ kind = "on-off", from = "a", to = "b", rate = "10 Mbit/s", on = "100 ms", off = "700 ms", {} }}'
)
#: A radio link that transmits a fifth of its frames once more.
ARQ: Final = """
duration = "10 s"
link.l = { ends = ["a", "b"], rate = "20 Mbit/s", delay = "10 ms", queue = "100 packets", loss = "20 %", arq = { after = "8 ms" } }
traffic.v = { kind = "cbr", from = "a", to = "b", rate = "18 Mbit/s", udp.datagram = "1500 B" }
"""
#: A bonded line: a fifth of the packets comes later than the others.
BOND: Final = """
profile = "linux"
duration = "20 s"
link.bond = { ends = ["a", "b"], rate = "100 Mbit/s", delay = "15 ms", queue = "1 BDP", reorder = { probability = "20 %", delay = "12 ms" } }
traffic.d = { kind = "bulk", from = "a", to = "b" }
"""
POLICED: Final = """
profile = "linux"
duration = "20 s"
link.l = { ends = ["a", "b"], rate = "100 Mbit/s", delay = "15 ms", queue = { kind = "policer", rate = "10 Mbit/s", burst = "30 kB", limit = "1000 packets" } }
traffic.d = { kind = "bulk", from = "a", to = "b" }
"""


def test_a_rate_that_fits_what_retransmissions_leave() -> None:
    first = diagnosed(ARQ, "v").suggestions[0]
    assert first.changes == {"traffic.v.rate": "13 Mbit/s"}
    assert row_of(run_of(ARQ, first.changes), "v")["packets_dropped"] == 0


@pytest.mark.parametrize(
    ("loss", "framing"),
    [
        ({"kind": "bit-errors", "rate": 1e-5}, {"overhead": "600 B"}),
        ({"schedule": [{"at": "0 s", "loss": 0}, {"at": "8 s", "loss": 0.5}]}, {}),
        ({"every": 4}, {}),
    ],
)
def test_what_a_link_with_arq_carries_is_what_its_transmissions_leave(
    loss: dict[str, Any], framing: dict[str, str]
) -> None:
    run = run_of(ARQ, {"link.l.loss": loss, "link.l.framing": framing, "traffic.v.rate": "30 Mbit/s"})
    carried = Paths(run).of("v").busiest.carries_bps(1500)
    assert row_of(run, "v")["throughput_bps"] == pytest.approx(carried, rel=0.01)


@pytest.mark.parametrize("most", [0.1, 6.0])
def test_jitter_adds_no_more_than_it_can(most: float) -> None:
    """What a flow waits beyond the mean packet is queue."""
    jitter = {"kind": "uniform", "most": f"{most} ms"}
    text = SLOW + 'traffic.up = { kind = "bulk", from = "a", to = "b", start = "10 s", bytes = "2 MB" }'
    changes = {
        "link.l.rate": "20 Mbit/s",
        "link.l.queue": "100 ms",
        "link.l.jitter": jitter,
        "traffic.up.bytes": "10 MB",
    }
    run = run_of(text, changes)
    for flow, ways in (("up", 2), ("call", 1)):
        told = run.why(flow).diagnoses[0]
        adds = re.search(r"jitter of [^;]* adds ([0-9.]*) ms", told.sentence)
        assert (adds is None) == (most < 1)
        assert adds is None or float(adds[1]) <= ways * most
        assert told.delay is not None
        assert told.delay.mean_s >= row_of(run, flow)["queueing_delay_mean_s"] - 1e-9


@pytest.mark.parametrize(
    ("data", "changes"),
    [
        (ON_OFF.format('udp.datagram = "1500 B"'), {}),
        (ON_OFF.format("tcp = {}"), {}),
        (
            ON_OFF.format('udp.datagram = "1500 B"'),
            {"link.l.rate": "100 Mbit/s", "link.l.shaper": {"rate": "2 Mbit/s", "burst": "30 kB"}},
        ),
        (
            'traffic.data = { kind = "cbr", from = "a", to = "b", rate = "10 Mbit/s", stop = "4 s", udp.datagram = "1500 B" }',
            {},
        ),
    ],
    ids=["datagrams", "TCP", "shaper", "a part of the time"],
)
def test_bursts_that_fill_a_queue_are_named(data: str, changes: dict[str, Any]) -> None:
    text = SLOW + data
    call, filler = (diagnosed(text, flow, changes) for flow in ("call", "data"))
    assert (call.flows, filler.flows) == (("call",), ("data",))
    assert "which data fills, adds" in call.sentence
    assert "fills" not in filler.sentence
    fair = next(each for each in call.suggestions if each.text.startswith("FQ-CoDel"))
    costs = (
        1
        - row_of(run_of(text, changes | fair.changes), "data")["goodput_bps"]
        / row_of(run_of(text, changes), "data")["goodput_bps"]
    )
    assert (f"data gets {100 * costs:.0f} % less" in fair.text) == (costs > 0.15), fair
    before, after = (row_of(run_of(text, changes | each), "call") for each in ({}, fair.changes))
    assert after["one_way_delay_p95_s"] < 0.1 * before["one_way_delay_p95_s"]
    assert after["packets_dropped"] == 0


def test_hystart_is_told_apart_from_reordering() -> None:
    """A few packets that are taken for lost do not keep a window small that has never grown."""
    found = diagnosed(BOND, "d")
    assert (found.causes[0].name, found.causes[0].certainty) == ("window_growth", "likely")
    assert "HyStart has left slow start early, for the reordering of bond looks like a queue" in found.sentence
    first = found.suggestions[0].changes
    assert first == {"traffic.d.tcp.slow_start": "hystart++"}
    assert row_of(run_of(BOND, first), "d")["goodput_bps"] > 2 * row_of(run_of(BOND), "d")["goodput_bps"]
    # Without waiting for late packets each of them reduces the window.
    sack = diagnosed(BOND, "d", {"traffic.d.tcp.recovery": "sack"})
    assert sack.causes[0].name == "reordering"
    assert sack.suggestions[0].changes == {"traffic.d.tcp.recovery": "rack"}


def test_tcp_at_a_policer() -> None:
    found = diagnosed(POLICED, "d")
    assert found.causes[0].name == "policer"
    before = row_of(run_of(POLICED), "d")
    tried = [each for each in found.suggestions if each.changes]
    assert [each.text.split()[1] for each in tried] == ["shaper", "burst"]
    for each in tried:
        assert row_of(run_of(POLICED, each.changes), "d")["goodput_bps"] > 1.05 * before["goodput_bps"]


def test_a_queue_before_a_trace_is_that_of_its_highest_rate(tmp_path: Path) -> None:
    """Its steps are known, as a schedule's; CoDel, whose windows grow too late for them, is not suggested."""
    trace = [round(second * 1000 + (number + 1) * 1000 / rate)
             for second, rate in enumerate((1800, 1000, 170, 1000) * 5) for number in range(rate)]  # fmt: skip
    file = tmp_path / "cell.trace"
    file.write_text("\n".join(map(str, trace)), encoding="utf-8")
    link = tl.Link(ends=("cell", "phone"), rate=tl.RateTrace(trace=str(file)), delay="20 ms", queue="400 packets")
    flow = tl.Bulk(from_="cell", to="phone")
    scenario = tl.Scenario(profile="linux", duration="20 s", link={"radio": link}, traffic={"d": flow})
    run = simulated_once(scenario)
    first, sweep = run.why("d").suggestions
    packets = int(first.changes["link.radio.queue"].split()[0])
    assert packets == pytest.approx(1800 * 0.04, abs=3)
    assert first.text == f"a queue of what the path holds at its highest rate ({packets} packets)"
    assert sweep.vary
    changed = simulated_once(scenario.set_all(first.changes))
    assert changed.flows["goodput_bps"][0] > 0.95 * run.flows["goodput_bps"][0]
    assert changed.flows["queueing_delay_mean_s"][0] < 0.5 * run.flows["queueing_delay_mean_s"][0]


#: L4S over a link that waits for its medium, or whose rate changes.
L4S: Final = """
profile = "linux"
duration = "10 s"
link.l = { ends = ["net", "home"], network = "wifi", queue = { kind = "dualpi2" } }
traffic.p = { kind = "bulk", from = "net", to = "home", tcp.congestion = "prague" }
"""


def test_why_marks_come_where_no_queue_stands() -> None:
    wifi = diagnosed(L4S, "p")
    assert wifi.causes[0].name == "congestion_marks"
    assert "as they wait 2.7 ms for its medium alone, and marks begin at 0.8 ms" in wifi.sentence
    first = wifi.suggestions[0].changes
    assert set(first) == {"link.l.queue.min_threshold", "link.l.queue.max_threshold"}
    before, after = (row_of(run_of(L4S, each), "p") for each in ({}, first))
    assert after["goodput_bps"] > 10 * before["goodput_bps"]
    assert after["queueing_delay_mean_s"] < 0.002
    lte = diagnosed(L4S, "p", {"link.l.network": "lte"})
    assert re.search(r"as it carries less than the 1[\d.]+ Mbit/s of this flow for [12]\d % of the time", lte.sentence)
    beside = {"traffic.c": {"kind": "bulk", "from": "net", "to": "home"}}
    shared = diagnosed(L4S, "p", beside)
    assert shared.causes[0].name == "saturated_link"
    assert "of its packets are marked, as they wait 2.7 ms for its medium alone" in shared.sentence
    assert "marked" not in diagnosed(L4S, "c", beside).sentence
    # On a steady line it is what fills the queue.
    assert "marks begin" not in diagnosed(L4S, "p", {"link.l.network": "cable"}).sentence


def test_a_plain_queue_before_a_medium_takes_what_comes_meanwhile() -> None:
    text = L4S.replace('"prague"', '"cubic"').replace(
        '{ kind = "dualpi2" }', '{ kind = "codel", target = "1 ms", interval = "5 ms" }'
    )
    found = diagnosed(text, "p")
    (holds,) = re.findall(r"the path holds ([0-9]+)", found.sentence)
    first = found.suggestions[0]
    assert first.text == f"a plain queue of what the path holds and a burst ({int(holds) + 64} packets)"
    assert row_of(run_of(text, first.changes), "p")["goodput_bps"] > 240e6


#: A router that shapes before a modem, but not below what that carries.
SHAPED: Final = """
profile = "linux"
duration = "20 s"
link.wan = { ends = ["router", "modem"], rate = "1 Gbit/s", delay = "0.1 ms", queue = { kind = "cake", rate = "12 Mbit/s" }, reverse = { queue = "1000 packets" } }
link.line = { ends = ["modem", "internet"], rate = "10 Mbit/s", delay = "10 ms", queue = "256 KiB", reverse = { rate = "50 Mbit/s" } }
traffic.backup = { kind = "bulk", from = "router", to = "internet", flows = 2, start = "1 s" }
traffic.call = { kind = "cbr", from = "router", to = "internet", interval = "20 ms", udp.payload = "160 B" }
"""


@pytest.mark.parametrize(
    ("set_", "wanted"),
    [
        ({}, {"link.wan.queue.rate": "9.8 Mbit/s"}),
        (
            {"link.wan.queue.rate": "9.5 Mbit/s", "link.line.framing.overhead": "150 B"},
            {"link.wan.queue.rate": "9.5 Mbit/s", "link.wan.queue.overhead": "150 B"},
        ),
    ],
)
def test_a_shaper_before_a_modem_is_to_be_below_its_rate(set_: dict[str, str], wanted: dict[str, str]) -> None:
    """Else what waits does so in the modem, whose queue nobody can set."""
    scenario = tl.loads(SHAPED).set_all(set_)
    run = simulated_once(scenario)
    for flow in ("call", "backup"):
        first = run.why(flow).suggestions[0]
        assert first.changes == wanted
        assert "(less than line carries" in first.text
    before, after = (
        row_of(each, "call")["one_way_delay_p95_s"] for each in (run, simulated_once(scenario.set_all(wanted)))
    )
    assert before > 0.1
    assert after < 0.02
    # A shaper that is below it stays.
    lower = simulated_once(scenario.set_all(wanted)).why()
    assert not any("shaper" in each.text for each in lower.suggestions)


def test_a_long_wait_of_few_packets_is_told() -> None:
    """Wi-Fi that is away for half a second adds 4 ms in the mean, and nothing to 95 % of the packets."""
    scenario = tl.loads("""
profile = "linux"
duration = "30 s"
link.wifi = { ends = ["laptop", "router"], rate = { schedule = [{ at = "0 s", rate = "80 Mbit/s" }, { at = "20 s", rate = "0 bit/s" }, { at = "20.5 s", rate = "80 Mbit/s" }] }, delay = "1 ms" }
traffic.call = { kind = "cbr", from = "laptop", to = "router", interval = "20 ms", udp.payload = "160 B" }
""")
    run = simulated_once(scenario)
    longest = row_of(run, "call")["queueing_delay_max_s"]
    assert longest == pytest.approx(0.5, abs=0.025)
    assert f"({1000 * longest:.0f} ms at most)" in run.why("call").sentence


#: A site whose router shapes to more than the provider's policer lets through, with calls that go first.
POLICED_SITE: Final = """
profile = "linux"
duration = "15 s"
link.edge = { ends = ["hub", "cpe"], rate = "100 Mbit/s", delay = "0.1 ms", queue = { kind = "strict", limit = "200 packets", order = ["EF"] }, shaper = { rate = "11 Mbit/s", burst = "10 kB" } }
link.wan = { ends = ["cpe", "site"], rate = "100 Mbit/s", delay = "20 ms", queue = { kind = "policer", rate = "10 Mbit/s", burst = "120 kB", limit = "1000 packets" } }
traffic.file = { kind = "bulk", flows = 3, from = "hub", to = "site", dscp = "CS1" }
traffic.voice = { kind = "cbr", flows = 10, from = "hub", to = "site", interval = "20 ms", random = true, udp.payload = "172 B", dscp = "EF" }
"""


def test_a_policer_stays_and_a_shaper_before_it_goes_below() -> None:
    """What a provider sells is no queue of one's own: turns in its place would be more than that."""
    run = run_of(POLICED_SITE)
    every = [each for said in run.why().diagnoses for each in said.suggestions]
    assert not any(key == "link.wan.queue" for each in every for key in each.changes)
    for who in ("voice", "file"):
        first = run.why(who).suggestions[0]
        assert first.changes == {"link.edge.shaper.rate": "9.8 Mbit/s"}, who
        assert first.text == "a shaper at edge of 9.8 Mbit/s (less than wan lets through)"
    after = run_of(POLICED_SITE, {"link.edge.shaper.rate": "9.8 Mbit/s"}).flows
    assert after.filter(transport="udp")["packets_dropped"].sum() == 0
    # To a connection alone it comes behind what leaves the policer more of its rate.
    alone = diagnosed(
        POLICED_SITE, "file", {"traffic.voice": None, "traffic.file.flows": 1, "link.edge.queue": "200 packets"}
    )
    assert alone.suggestions[0].changes != first.changes


@pytest.mark.parametrize(
    ("per_byte", "takes", "cost"),
    [("0 s", "11,765 packets/s (", "as much each"), ("10 ns", "11,457 packets/s of 228 B (", "less for each byte")],
)
def test_packets_per_second_of_a_router_are_of_a_size_where_bytes_cost(per_byte: str, takes: str, cost: str) -> None:
    """Where each byte takes time more small packets pass than large ones."""
    found = diagnosed(
        f"""
profile = "linux"
duration = "5 s"
link.lan = {{ ends = ["dc", "rtr"], rate = "1 Gbit/s", delay = "0.1 ms" }}
link.wan = {{ ends = ["rtr", "site"], rate = "100 Mbit/s", delay = "10 ms" }}
node.rtr.processor = {{ per_packet = "85 us", per_byte = "{per_byte}", input_ring = "128 packets" }}
traffic.calls = {{ kind = "cbr", from = "dc", to = "site", rate = "25 Mbit/s", udp.payload = "200 B" }}
""",
        "calls",
    )
    assert f"router rtr forwards no more than {takes}load" in found.sentence
    assert found.suggestions[0].text == f"larger packets (1472 B of payload), which cost {cost}"
