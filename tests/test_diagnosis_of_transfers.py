"""What is said of open-loop transfers: whose links and waits are theirs, what holds them, and what helps."""

from __future__ import annotations

import re
from typing import Any

import polars as pl
import pytest

import tightlink as tl
from open_loop import QUEUE, cause_of, helps, transferred
from tightlink.diagnosis import Diagnosis
from tightlink.diagnosis.delay_variation import with_delay_variation
from tightlink.diagnosis.paths import Paths

RACK = """
profile = "linux"
duration = "120 ms"
topology.net = { kind = "leaf-spine", leaves = 1, spines = 1, hosts = 8, link = { rate = "10 Gbit/s", delay = "1 us", queue = "2 MB" } }
"""
ELEPHANTS = """
traffic.elephant = { kind = "bulk", from = "net.host[1]", to = "net.host[0]" }
traffic.elephant2 = { kind = "bulk", from = "net.host[2]", to = "net.host[0]" }
traffic.mice = { kind = "transfers", from = ["net.host[3]", "net.host[4]"], to = "net.host[0]", arrivals = "2000 transfers/s", size = "10 kB" }
"""
WIRE = """
profile = "linux"
duration = "2 s"
link.a = { ends = ["h1", "s"], rate = "10 Gbit/s", delay = "2.5 us", queue = "1000 packets" }
link.b = { ends = ["s", "h2"], rate = "1 Gbit/s", delay = "2.5 us", queue = "1000 packets" }
traffic.web = { kind = "transfers", from = "h1", to = "h2", times = ["0 s", "500 ms"], size = "1 MB" }
"""


def test_only_links_that_a_group_takes_are_named() -> None:
    """Group b overloads a link that group a never takes."""
    scenario = tl.loads(f"""{RACK}
traffic.a = {{ kind = "transfers", from = "net.host[0]", to = "net.host[1]", arrivals = "500 transfers/s", size = "100 kB" }}
traffic.b = {{ kind = "transfers", from = ["net.host[3]", "net.host[4]"], to = "net.host[2]", load = "90 %", of = "net.host_link[2]", size = "1 MB" }}
""")
    run = transferred(scenario)
    own, other = (cause_of(run, group) for group in ("a", "b"))
    assert "host_link[2]" not in own.answer
    assert "host_link[0]" in own.answer
    assert other.delay is not None
    assert other.delay.where == "net.host_link[2].reverse"


@pytest.mark.parametrize(
    ("queue", "dscp"), [({"kind": "fq-codel"}, None), ({"kind": "strict", "limit": "2 MB", "order": ["EF"]}, "EF")]
)
def test_waits_of_others_are_not_a_groups_where_a_queue_tells_them_apart(
    queue: dict[str, Any], dscp: str | None
) -> None:
    scenario = tl.loads(RACK + ELEPHANTS).set_all({QUEUE: queue, **({"traffic.mice.dscp": dscp} if dscp else {})})
    run = transferred(scenario)
    found, row = cause_of(run, "mice"), run.flows.filter(label="mice").row(0, named=True)
    link = run.links.filter(link="net.host_link[0].reverse").row(0, named=True)
    assert found.delay is not None
    assert found.delay.mean_s < 0.1 * link["queueing_delay_mean_s"]
    assert found.delay.mean_s == pytest.approx(row["rtt_mean_s"] - found.delay.base_s, rel=0.3)
    assert not found.suggestions
    assert "lost" not in found.answer


def test_who_fills_the_queue_is_said_and_what_helps_against_it() -> None:
    scenario = tl.loads(RACK + ELEPHANTS)
    found = cause_of(transferred(scenario), "mice")
    assert found.causes[0].name == "saturated_link"
    assert found.causes[0].share == pytest.approx(1, abs=0.03)
    assert "which elephant and elephant2 fill" in found.answer
    fair, first = helps(scenario, "mice", 0.1)
    assert fair == {QUEUE: {"kind": "fq-codel"}}
    assert first["traffic.mice.dscp"] == "EF"


def test_flows_share_a_link_that_send_at_the_same_time() -> None:
    """240 short transfers come within the time of two bulk flows, and few of them are under way at once."""
    run = transferred(tl.loads(RACK + ELEPHANTS))
    link, bulk = "net.host_link[0].reverse", run.flows.filter(label="elephant").row(0, named=True)
    each = run.completions.filter(label="mice").select("start_s", "completion_s")
    ends = (pl.col("start_s") + pl.col("completion_s")).fill_null(0.12).clip(upper_bound=0.12)
    at_once = 2 + each.select(ends - pl.col("start_s")).sum().item() / (bulk["stop_s"] - bulk["start_s"])
    assert run.completions.height > 200
    assert Paths(run).sharing(link, bulk) == round(at_once) < 12
    assert f"shared by {round(at_once)} flows" in _found_bulk(run).answer


def _found_bulk(run: tl.Run) -> Diagnosis:
    return next(each for each in run.why().diagnoses if "elephant" in each.flows)


def test_links_are_as_busy_as_they_are_while_there_are_transfers() -> None:
    """Two transfers, 500 ms apart, of which each fills the link for 8 ms; and two groups say the same of the same link."""
    answer = cause_of(transferred(tl.loads(WIRE)), "web").answer
    assert "Link b is saturated (99.8 % busy while there are transfers)" in answer
    other = 'traffic.web2 = { kind = "transfers", from = "h1", to = "h2", times = ["1 s"], size = "1 MB" }\n'
    run = transferred(tl.loads(WIRE + other))
    assert "Link b is saturated (99.8 % busy while there are transfers)" in cause_of(run, "web").answer
    assert "Link b is saturated (99.8 % busy while there are transfers)" in cause_of(run, "web2").answer


@pytest.mark.parametrize(
    ("changes", "cause", "said"),
    [
        ({"link.b.delay": "5 ms"}, "slow_start", "slow start is not over when they end, after 7.2 round trips"),
        ({"link.b.delay": "5 ms", "traffic.web.tcp.window": "20 packets"}, "receiver_window", "window of 20 packets"),
        ({"link.b.loss": "2 %", "link.b.delay": "500 us"}, "random_loss", "random losses on the wire of b"),
    ],
)
def test_causes_are_those_of_bulk_flows_and_the_suggestion_helps(
    changes: dict[str, Any], cause: str, said: str
) -> None:
    scenario = tl.loads(WIRE).set_all(changes)
    found = cause_of(transferred(scenario), "web")
    assert found.causes[0].name == cause
    assert said in found.answer
    assert helps(scenario, "web")


def test_round_trips_that_acks_make_longer_are_the_groups() -> None:
    scenario = tl.loads(WIRE).set_all({"link.b.rate": "10 Gbit/s", "traffic.web.tcp.window": "10 packets"})
    both = scenario.set("traffic.back", {"kind": "bulk", "from": "h2", "to": "h1"})
    run = transferred(both)
    (window,) = (cause for cause in cause_of(run, "web").causes if cause.name == "receiver_window")
    rtt_ms = 1000 * run.flows.filter(label="web")["rtt_mean_s"][0]
    assert f"round trips take {rtt_ms:.2g} ms, as ACKs wait at" in window.text


def test_an_outage_is_named_with_what_waits_for_it() -> None:
    scenario = tl.loads(WIRE).set_all({
        "traffic.web.times": ["0 s", "505 ms", "520 ms", "1 s"],
        "link.b.outages": {"schedule": [{"at": "510 ms", "for": "50 ms"}]},
    })  # fmt: skip
    found = cause_of(transferred(scenario), "web")
    assert (found.causes[0].name, found.causes[0].where) == ("outage", "b")
    assert "link b is down, 50 ms, while 2 of 4 transfers are under way" in found.answer
    missed = scenario.set("link.b.outages", {"schedule": [{"at": "700 ms", "for": "50 ms"}]})
    assert [cause.name for cause in cause_of(transferred(missed), "web").causes] == ["saturated_link"]


def test_how_much_comes_for_a_link_that_each_transfer_fills() -> None:
    """At a tenth of the load a link is busy whenever there is a transfer, and has room for nine times as many."""
    text = WIRE.replace('times = ["0 s", "500 ms"]', 'arrivals = "12.5 transfers/s", stop = "9 s"')
    run = transferred(tl.loads(text).set("duration", "10 s"))
    comes = 8 * sum(run.completions["bytes"].to_list()) * 1500 / 1448 / 9 / 1e9
    said = re.search(
        r"busy while there are transfers, which bring (\d+) % of what it carries\)", cause_of(run, "web").answer
    )
    assert said
    assert int(said[1]) == pytest.approx(100 * comes, abs=1)


def test_the_way_back_of_acks_is_full() -> None:
    scenario = tl.loads("""
profile = "linux"
duration = "10 s"
link.l = { ends = ["isp", "home"], rate = "20 Mbit/s", delay = "15 ms", queue = "200 packets", reverse = { rate = "1 Mbit/s", queue = "100 packets" } }
traffic.web = { kind = "transfers", from = "isp", to = "home", load = 0.3, of = "l", size = "50 kB" }
traffic.up = { kind = "bulk", from = "home", to = "isp" }
""")
    found = cause_of(transferred(scenario), "web")
    assert (found.causes[0].name, found.causes[0].where) == ("ack_path", "l.reverse")
    assert "which up fills" in found.answer
    assert helps(scenario, "web", 0.5)


def test_web_behind_a_backup() -> None:
    scenario = tl.loads("""
profile = "linux"
duration = "20 s"
link.l = { ends = ["isp", "home"], rate = "20 Mbit/s", delay = "15 ms", queue = "500 packets", reverse.rate = "2 Mbit/s" }
traffic.web = { kind = "transfers", from = "isp", to = "home", load = 0.2, of = "l", size = { distribution = "pareto", mean = "100 kB" } }
traffic.backup = { kind = "bulk", from = "isp", to = "home" }
""")
    found = cause_of(transferred(scenario), "web")
    assert "which backup fills" in found.answer
    assert {"link.l.queue": {"kind": "fq-codel"}} in helps(scenario, "web", 0.5)


def test_a_router_that_forwards_no_more() -> None:
    scenario = tl.loads("""
profile = "linux"
duration = "2 s"
link.a = { ends = ["h1", "r"], rate = "1 Gbit/s", delay = "1 ms", queue = "1000 packets" }
link.b = { ends = ["r", "h2"], rate = "1 Gbit/s", delay = "1 ms", queue = "1000 packets" }
node.r.processor = { per_packet = "100 us", input_ring = "256 packets" }
traffic.web = { kind = "transfers", from = "h1", to = "h2", arrivals = "100 transfers/s", size = "200 kB" }
""")
    found = cause_of(transferred(scenario), "web")
    assert "router_packet_rate" in {cause.name for cause in found.causes}
    assert "router r forwards no more than 10,000 packets/s" in found.answer


def test_paths_are_found_once_for_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    call = 'traffic.call = { kind = "cbr", from = "net.host[5]", to = "net.host[0]", rate = "1 Mbit/s" }'
    runs = [tl.simulate(tl.loads(RACK + ELEPHANTS + call).set("duration", "20 ms")) for _ in range(2)]
    made, find = [], Paths.__init__

    def found(self: Paths, run: tl.Run) -> None:
        made.append(run)
        find(self, run)

    monkeypatch.setattr(Paths, "__init__", found)
    for run in runs:
        assert run.why().causes
        assert run.why("elephant").causes
        assert "delay_variation_p95_s" in with_delay_variation(run).columns
    assert made == runs


def test_transfers_on_a_changing_link_get_the_interval_of_others_there() -> None:
    scenario = tl.loads("""
    profile = "linux"
    duration = "30 s"
    link.access = { ends = ["net", "phone"], network = "lte" }
    traffic.web = { kind = "transfers", from = "net", to = "phone", arrivals = "4 transfers/s", size = { distribution = "exponential", mean = "300 kB" } }
    traffic.d = { kind = "bulk", from = "net", to = "phone" }
    """)
    run = transferred(scenario)
    suggestion = run.why("web").suggestions[0]
    better = transferred(scenario.set_all(suggestion.changes))
    plain = transferred(scenario.set_all({"link.access.queue": {"kind": "fq-codel"}}))
    of_d = [each.flows.filter(pl.col("label") == "d")["goodput_bps"][0] for each in (run, plain, better)]
    less = 100 * (1 - of_d[2] / of_d[0])
    assert suggestion.text == f"FQ-CoDel (a queue for each flow, interval 300 ms; d gets {less:.0f} % less)"
    assert of_d[2] > 1.1 * of_d[1]


def test_a_transfer_behind_its_own_packets_gets_no_shorter_queue() -> None:
    scenario = tl.loads("""
    profile = "linux"
    duration = "5 s"
    link.a = { ends = ["net", "home"], rate = "1 Gbit/s", delay = "10 ms", queue = "1000 packets", shaper = { rate = "50 Mbit/s", burst = "1 MB" } }
    traffic.d = { kind = "bulk", from = "net", to = "home", bytes = "2 MB", tcp.initial_window = "100 packets" }
    """)
    found = transferred(scenario).why("d")
    assert found.delay is not None
    assert found.delay.mean_s > 0.005
    assert found.suggestions == ()


def test_red_beside_datagrams_is_what_leaves_windows_small() -> None:
    """These have no window that would fill the path."""
    scenario = tl.loads("""
duration = "20 s"
link.x = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "30 ms", queue = { kind = "red", limit = "60 packets", min = "5 packets", max = "15 packets" } }
traffic.f = { kind = "bulk", from = "a", to = "b", flows = 2 }
traffic.o = { kind = "on-off", from = "a", to = "b", rate = "4 Mbit/s", on = "300 ms", off = "700 ms" }
""")
    assert transferred(scenario).why("f").causes[0].name == "early_drops"
