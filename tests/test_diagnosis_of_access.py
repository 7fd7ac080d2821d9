"""Why is it slow at home? Windows, queues and rates that fit the access link, and suggestions that cost nobody much."""

from __future__ import annotations

import itertools
import re
from typing import Final

import pytest

import tightlink as tl
from diagnosed_runs import diagnosed, row_of, run_of, simulated_once

#: Both directions in use, beside a call.
HOME: Final = """
profile = "linux"
duration = "20 s"
link.access = {{ ends = ["internet", "home"], network = "{network}" }}
traffic.down = {{ kind = "bulk", from = "internet", to = "home", start = "1 s" }}
traffic.up = {{ kind = "bulk", from = "home", to = "internet", start = "2 s" }}
traffic.call = {{ kind = "cbr", from = "home", to = "internet", interval = "20 ms", udp.payload = "160 B" }}
"""
#: One download.
ONE: Final = """
profile = "linux"
duration = "{seconds} s"
link.access = {{ ends = ["internet", "home"], network = "{network}" }}
traffic.down = {{ kind = "bulk", from = "internet", to = "home" }}
"""
#: A download whose ACKs share a slow way up with an upload.
ASYMMETRIC: Final = """
profile = "linux"
duration = "20 s"
link.l = { ends = ["net", "home"], rate = "100 Mbit/s", delay = "10 ms", queue = "200 packets", reverse = { rate = "2 Mbit/s", queue = "100 packets" } }
traffic.down = { kind = "bulk", from = "net", to = "home" }
traffic.up = { kind = "bulk", from = "home", to = "net" }
"""


GROUPS: Final = """
profile = "linux"
duration = "10 s"
observe.flows = "group"
link.l = { ends = ["a", "b"], rate = "50 Mbit/s", delay = "10 ms", queue = "100 packets" }
traffic.torrent = { kind = "bulk", flows = 9, from = "a", to = "b" }
traffic.tv = { kind = "bulk", from = "a", to = "b" }
"""


@pytest.mark.parametrize(("network", "seconds"), [("5g", 20), ("cable", 10), ("fibre", 5), ("wifi", 10)])
def test_a_window_of_what_the_path_holds_costs_no_rate(network: str, seconds: int) -> None:
    """Jitter, retransmissions of the link, its higher rates and its waits for the medium are in it."""
    text = ONE.format(network=network, seconds=seconds)
    if network == "wifi":
        text = text.replace('"home" }', '"home", tcp.window = "400 packets" }')
    before = run_of(text)
    first = before.why().suggestions[0]
    assert first.text.startswith("a window of what the path holds"), first
    after = run_of(text, first.changes)
    rows = row_of(before, "down"), row_of(after, "down")
    assert rows[1]["goodput_bps"] > 0.94 * rows[0]["goodput_bps"]
    assert rows[1]["one_way_delay_mean_s"] < rows[0]["one_way_delay_mean_s"]
    # It is no larger for being tried, nor for what a smaller one would tell.
    again = [diagnosed(text, "down", {"traffic.down.tcp.window": f"{packets} packets"}) for packets in (12, 40)]
    (key,) = first.changes
    wanted = [int(each.suggestions[0].changes[key].split()[0]) for each in again]
    assert wanted == pytest.approx([int(first.changes[key].split()[0])] * 2, rel=0.2)
    assert not any(key in each.changes for each in after.why().suggestions)


@pytest.mark.parametrize("network", ["5g", "lte", "fibre", "cable", "wifi", "dsl"])
def test_no_suggestion_costs_anybody_much(network: str) -> None:
    """Where both directions are in use, a shorter queue or window for one of them alone would."""
    text = HOME.format(network=network)
    before = run_of(text)
    flows = [row_of(before, flow) for flow in ("down", "up")]
    tried = {each.text: each.changes for said in before.why().diagnoses for each in said.suggestions if each.changes}
    assert tried
    for words, changes in tried.items():
        after = run_of(text, changes)
        assert "window" not in words
        for row in flows:
            assert row_of(after, row["label"])["goodput_bps"] > 0.85 * row["goodput_bps"], (words, row["label"])


@pytest.mark.parametrize("seed", range(1, 7))
def test_what_a_suggestion_costs_the_other_direction_is_said(seed: int) -> None:
    """Over a satellite each direction is held back otherwise, by its seed, and what frees one fills a queue of the other's ACKs."""
    text = f"seed = {seed}\n" + HOME.format(network="geo")
    before = run_of(text)
    tried = [each for said in before.why().diagnoses for each in said.suggestions if each.changes]
    assert tried
    for each in tried:
        after = run_of(text, each.changes)
        for flow in ("down", "up"):
            gets = row_of(after, flow)["goodput_bps"] / row_of(before, flow)["goodput_bps"]
            assert gets > 0.85 or f"{flow} gets {100 * (1 - gets):.0f} % less" in each.text, (each.text, flow, gets)


@pytest.mark.parametrize("network", ["5g", "lte", "fibre", "wifi"])
def test_queues_of_both_directions_are_changed_together(network: str) -> None:
    text = HOME.format(network=network)
    before = run_of(text)
    why = before.why()
    (changes,) = {tuple(each.suggestions[0].changes) for each in why.diagnoses if each.suggestions}
    assert changes == ("link.access.queue", "link.access.reverse.queue")
    for said in why.diagnoses:
        texts = [each.text for each in said.suggestions]
        assert len(texts) == len(set(texts))
        assert all("access" in each for each in texts)
    after = run_of(text, why.suggestions[0].changes)
    for flow in ("down", "up"):
        assert row_of(after, flow)["goodput_bps"] > row_of(before, flow)["goodput_bps"]
        assert row_of(after, flow)["rtt_mean_s"] < 0.7 * row_of(before, flow)["rtt_mean_s"]
    assert row_of(after, "call")["one_way_delay_p95_s"] < 0.5 * row_of(before, "call")["one_way_delay_p95_s"]


def test_codel_has_an_interval_of_the_round_trip() -> None:
    """Of a satellite's, and three times as long where the rate changes at random."""
    queue = (
        diagnosed("seed = 3\n" + HOME.format(network="geo"), "call").suggestions[0].changes["link.access.reverse.queue"]
    )
    assert (queue["interval"], queue["target"]) == ("600 ms", "30 ms")
    deep = {"link.access.queue": "4 BDP", "traffic.down.tcp.window": "20000 packets"}
    phone = diagnosed(ONE.format(network="lte", seconds=10), "down").suggestions[1]
    assert phone.text == "CoDel (interval 300 ms)"
    assert phone.changes["link.access.queue"]["target"] == "30 ms"
    wired = diagnosed(ONE.format(network="transatlantic", seconds=10), "down", deep)
    assert all("interval" not in str(each.changes) for each in wired.suggestions)


def test_data_among_acks_pay_for_no_codel() -> None:
    run = run_of(ASYMMETRIC)
    for flow in ("down", "up"):
        texts = [each.text for each in run.why(flow).diagnoses[0].suggestions]
        assert texts == ["CAKE with its ACK filter", "a sweep over kinds of queues"]
    assert run.why("up").suggestions[-1].vary["link.l.reverse.queue.kind"][-1] == "cake"
    after = run_of(ASYMMETRIC, run.why("up").suggestions[0].changes)
    assert row_of(after, "up")["goodput_bps"] > 0.9 * row_of(run, "up")["goodput_bps"]
    assert row_of(after, "down")["goodput_bps"] > 1.5 * row_of(run, "down")["goodput_bps"]


def test_one_queue_has_one_bdp() -> None:
    said = re.findall(r"100 packets, ([^)]*)\)", str(run_of(ASYMMETRIC).why()).replace("\n  ", " "))
    assert said == ["30 BDP of up"] * 2
    steps = {"schedule": [{"at": "0 s", "rate": "20 Mbit/s"}, {"at": "2 s", "rate": "4 Mbit/s"}], "period": "4 s"}
    changes = {"link.l": {"ends": ["a", "b"], "rate": steps, "delay": "20 ms", "queue": "1 BDP"}}
    text = 'duration = "8 s"\nlink.l = { ends = ["a", "b"], rate = "1 Mbit/s" }\n'
    text += 'traffic.d = { kind = "bulk", from = "a", to = "b", tcp.window = "500 packets" }'
    assert "(40 packets, 1 BDP)" in diagnosed(text, "d", changes).sentence
    long = changes | {"link.l.queue": "300 packets"}
    found = diagnosed(text, "d", long)
    assert "(300 packets, 7.5 BDP)" in found.sentence
    assert any(
        "a queue of what the path holds at its highest rate (69 packets)" in each.text for each in found.suggestions
    )


def test_a_group_is_told_of_as_its_flows_are() -> None:
    (group,) = run_of(GROUPS).why().diagnoses
    (each,) = run_of(GROUPS, {"observe.flows": "each"}).why().diagnoses
    assert group.sentence.startswith("2 groups, torrent and tv: link l is saturated (99.8 % busy, shared by 10 flows).")
    assert group.suggestions == each.suggestions == ()
    windows = {"traffic.torrent.tcp.window": "10 packets", "traffic.tv": None, "link.l.delay": "50 ms"}
    small = diagnosed(GROUPS, "torrent", windows)
    assert "the receiver's window of 10 packets holds the rate" in small.sentence
    lossy = [
        diagnosed(GROUPS, "torrent", {"link.l.loss": "2 %", "observe.flows": flows}) for flows in ("each", "group")
    ]
    windows_of = [int(re.findall(r"([0-9]+) packets in flight", each.sentence)[0]) for each in lossy]
    assert max(windows_of) <= 1.5 * min(windows_of)


def test_suggestions_for_a_path_name_their_links_if_these_differ() -> None:
    """A flow whose link is shared unequally, and which waits elsewhere."""
    for network, flow in itertools.product(("5g", "wifi"), ("down", "up")):
        found = diagnosed(HOME.format(network=network), flow)
        assert all(" at access" in each.text for each in found.suggestions), found.sentence


#: A way up that is too slow for the ACKs of what comes down.
ACKS: Final = """
profile = "linux"
duration = "20 s"
link.l = { ends = ["net", "home"], rate = "250 Mbit/s", delay = "10 ms", queue = "50 ms", reverse = { rate = "1 Mbit/s", queue = "128 KiB" } }
traffic.down = { kind = "bulk", from = "net", to = "home" }
"""


@pytest.mark.parametrize("queue", ["128 KiB", {"kind": "fq-codel"}, {"kind": "cake"}])
def test_a_window_is_not_what_a_way_back_full_of_acks_lacks(queue: object) -> None:
    """A larger window makes more ACKs wait; fewer of them make the download several times as fast."""
    scenario = tl.loads(ACKS).set("link.l.reverse.queue", queue)
    run = simulated_once(scenario)
    (diagnosis,) = run.why().diagnoses
    assert [(cause.name, cause.where) for cause in diagnosis.causes[:1]] == [("ack_path", "l.reverse")]
    better = simulated_once(scenario.set_all(diagnosis.suggestions[0].changes))
    assert better.flows["goodput_bps"][0] > 3 * run.flows["goodput_bps"][0]


def test_a_link_is_as_busy_as_it_is_while_a_flow_lasts() -> None:
    """What it carries before both begin does not hide that ACKs have a full way back since."""
    late = tl.loads(ASYMMETRIC).set_all({"traffic.down.start": "8 s", "traffic.up.start": "8 s"})
    found = simulated_once(late).why("down")
    assert found.causes[0].name == simulated_once(tl.loads(ASYMMETRIC)).why("down").causes[0].name == "ack_path"
    assert "busy while data is sent" in found.sentence
