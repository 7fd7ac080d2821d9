"""The maximum flow: the algorithm on random graphs, a network's limits, what arrives of a proposal, the command."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path as File
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightlink as tl
from tightlink import cli
from tightlink.analysis.limits.packet_capacity import packet_capacity
from tightlink.analysis.networks import flow_limits as module
from tightlink.analysis.networks.flow_limits import FlowLimits, flow_limits
from tightlink.analysis.networks.flow_trial import try_paths
from tightlink.analysis.networks.maxflow import Edge, MaximumFlow, Path, maximum_flow

Graph = tuple[list[Edge], dict[str, Fraction]]

TWO_PATHS = """\
duration = "4 s"
link.in_old = { ends = ["sender", "old"], rate = "10 Mbit/s", delay = "1 ms" }
link.out_old = { ends = ["old", "exit"], rate = "10 Mbit/s", delay = "1 ms" }
link.in_new = { ends = ["sender", "new"], rate = "10 Mbit/s", delay = "1 ms" }
link.out_new = { ends = ["new", "exit"], rate = "8 Mbit/s", delay = "1 ms" }
link.last = { ends = ["exit", "receiver"], rate = "100 Mbit/s", delay = "1 ms" }
traffic.probe = { kind = "cbr", from = "sender", to = "receiver", rate = "1 Mbit/s", udp.datagram = "250 B" }
"""
MILLISECOND = {"per_packet": "1 ms"}

_capacities = st.one_of(st.none(), st.fractions(0, 9, max_denominator=12))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Up to five nodes, parallel edges and circles included; some without a limit."""
    names = [str(index) for index in range(draw(st.integers(2, 5)))]
    pairs = draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=8))
    edges = [Edge(f"e{i}", u, v, draw(_capacities)) for i, (u, v) in enumerate(pairs) if u != v]
    nodes = draw(st.dictionaries(st.sampled_from(names), st.fractions(0, 9, max_denominator=12)))
    return edges, nodes


def cuts(graph: Graph) -> list[Fraction | None]:
    """What every cut lets through: each way to put the two halves of each node on either side."""
    edges, nodes = graph
    names = sorted({"0", "1", *(end for edge in edges for end in (edge.origin, edge.target))})
    found: list[Fraction | None] = []
    for sides in product((True, False), repeat=2 * len(names)):
        into = dict(zip(names, sides[::2], strict=True))
        out_of = dict(zip(names, sides[1::2], strict=True))
        if not into["0"] or out_of["1"]:
            continue
        crossed = [edge.capacity for edge in edges if out_of[edge.origin] and not into[edge.target]]
        crossed += [nodes.get(name) for name in names if into[name] and not out_of[name]]
        found.append(None if None in crossed else sum((c for c in crossed if c is not None), Fraction(0)))
    return found


@given(graphs())
@settings(max_examples=150, deadline=None)
def test_the_flow_equals_the_smallest_of_all_cuts(graph: Graph) -> None:
    edges, nodes = graph
    found = maximum_flow(edges, nodes, "0", "1")
    limits = [cut for cut in cuts(graph) if cut is not None]
    assert found.value == min(limits, default=None)
    if found.value is None:
        return
    cut = [edge.capacity for edge in edges if edge.name in found.cut_edges] + [nodes[name] for name in found.cut_nodes]
    assert sum(capacity for capacity in cut if capacity is not None) == found.value
    assert sum(path.rate for path in found.paths) == found.value
    ends = {edge.name: (edge.origin, edge.target) for edge in edges}
    for path in found.paths:
        assert [ends[name] for name in path.edges] == list(pairwise(path.nodes))
        assert (path.nodes[0], path.nodes[-1]) == ("0", "1")
        assert len(set(path.nodes)) == len(path.nodes)
        assert path.rate > 0
    for edge in edges:
        carried = sum(path.rate for path in found.paths if edge.name in path.edges)
        assert edge.capacity is None or carried <= edge.capacity
    for node, capacity in nodes.items():
        assert sum(path.rate for path in found.paths if node in path.nodes) <= capacity


@given(graphs(), st.integers(1, 9))
@settings(max_examples=100, deadline=None)
def test_both_limits_together_allow_no_more_than_each(graph: Graph, bits: int) -> None:
    edges, nodes = graph
    free = [Edge(edge.name, edge.origin, edge.target, None) for edge in edges]
    of_links = maximum_flow(edges, {}, "0", "1").value
    of_nodes = maximum_flow(free, nodes, "0", "1").value
    both = maximum_flow(edges, {name: bits * capacity for name, capacity in nodes.items()}, "0", "1").value
    bounds = [bound for bound in (of_links, None if of_nodes is None else bits * of_nodes) if bound is not None]
    # Neither may be a limit by itself, where each leaves another way open.
    assert all(both is not None and both <= bound for bound in bounds)


def test_no_way_is_no_flow() -> None:
    found = maximum_flow([Edge("back", "b", "a", Fraction(1))], {}, "a", "b")
    assert found == MaximumFlow(Fraction(0), (), (), ())


@pytest.mark.parametrize(
    ("processor", "size", "arriving", "packets_per_s"),
    [
        ({"per_packet": "187 us"}, 65, True, Fraction(10**6, 187)),
        ({"per_packet": "32.2 us", "per_byte": "16 ns"}, 71, True, Fraction(10**9, 32200 + 16 * 71)),
        ({"per_packet": "100 us", "interrupt": "100 us"}, 65, True, 5000),
        ({"per_packet": "100 us", "interrupt": "100 us"}, 65, False, 10000),
        ({"per_packet": "0 s", "interrupt": "10 us"}, 65, True, 100_000),
        ({"per_packet": "0 s", "interrupt": "10 us"}, 65, False, None),
        # Background that is guaranteed nothing gives way; what is guaranteed 20 % of the time takes it ...
        ({"per_packet": "1 ms", "background": {"cpu": "0.5 s", "every": "1 s"}}, 65, True, 1000),
        ({"per_packet": "1 ms", "background": {"cpu": "0.5 s", "every": "1 s", "guaranteed": "20 %"}}, 65, True, 800),
        # ... and no more than it asks for.
        ({"per_packet": "1 ms", "background": {"cpu": "0.1 s", "every": "1 s", "guaranteed": "20 %"}}, 65, True, 900),
        ({"per_packet": "1 ms", "background": None, "meter": None, "input_ring": "75 packets"}, 65, True, 1000),
    ],
)
def test_what_a_processor_carries(
    processor: dict[str, Any], size: int, *, arriving: bool, packets_per_s: Fraction | int | None
) -> None:
    assert packet_capacity(processor, size, arriving=arriving) == packets_per_s


def limits_with(
    monkeypatch: pytest.MonkeyPatch, processors: dict[str, Any], text: str = TWO_PATHS, **question: Any
) -> FlowLimits:
    """The limits of a scenario as if its nodes had these processors."""
    monkeypatch.setattr(module, "_processors_of", lambda _: processors)
    return flow_limits(tl.loads(text), **question)


def test_links_alone() -> None:
    limits = flow_limits(tl.loads(TWO_PATHS))
    assert (limits.source, limits.target, limits.packet_bytes) == ("sender", "receiver", 250)
    assert limits.bits.value == 18_000_000
    assert limits.bits.cut_edges == ("out_old", "out_new")
    assert limits.packets.value is None
    assert limits.both == limits.bits
    assert limits.overloaded() == {}


def test_a_slow_processor_makes_the_answer_in_bits_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = limits_with(monkeypatch, {"old": MILLISECOND})
    assert limits.bits.value == 18_000_000
    assert limits.packets.value is None  # the new router has no limit of its own
    assert limits.both.value == 2_000_000 + 8_000_000
    assert (limits.both.cut_edges, limits.both.cut_nodes) == (("out_new",), ("old",))
    assert limits.overloaded() == {"old": 5000}


def test_packets_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = limits_with(monkeypatch, {"old": MILLISECOND, "new": {"per_packet": "0.5 ms"}})
    assert limits.packets.value == 3000
    assert limits.packets.cut_nodes == ("old", "new")
    assert limits.both.value == 3000 * 8 * 250


def test_large_packets_free_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = limits_with(monkeypatch, {"old": MILLISECOND}, packet_bytes=1500)
    assert limits.both.value == limits.bits.value
    assert limits.overloaded() == {}


def test_an_overloaded_processor_that_others_could_relieve(monkeypatch: pytest.MonkeyPatch) -> None:
    text = TWO_PATHS.replace('"100 Mbit/s"', '"8 Mbit/s"')
    limits = limits_with(monkeypatch, {"old": MILLISECOND}, text)
    assert limits.both.value == limits.bits.value == 8_000_000
    assert set(limits.overloaded()) == {"old"}


def test_processors_of_the_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted = {"per_packet": "1 ms", "interrupt": "1 ms"}
    assert limits_with(monkeypatch, {"sender": interrupted}).packets.value == 1000
    assert limits_with(monkeypatch, {"receiver": interrupted}).packets.value is None
    assert limits_with(monkeypatch, {"receiver": {**interrupted, "receive": True}}).packets.value == 500


def test_framing_costs_line_time() -> None:
    text = TWO_PATHS.replace(
        'rate = "8 Mbit/s"', 'rate = "8 Mbit/s", framing = { overhead = "38 B", smallest = "84 B" }'
    )
    assert flow_limits(tl.loads(text)).bits.value == 10_000_000 + Fraction(8_000_000 * 250, 288)
    assert flow_limits(tl.loads(text), packet_bytes=42).bits.value == 14_000_000


@pytest.mark.parametrize(
    ("link", "mbps"),
    [
        ('rate = "10 Mbit/s", shaper = { rate = "4 Mbit/s", burst = "10 kB" }', 4),
        ('rate = "10 Mbit/s", shaper = { rate = "4 Mbit/s", burst = "10 kB" }, framing.overhead = "250 B"', 3.2),
        (
            'rate = "10 Mbit/s", queue = { kind = "policer", rate = "5 Mbit/s", burst = "10 kB", limit = "9 packets" }',
            5,
        ),
        (
            'rate = "10 Mbit/s", queue = { kind = "cake", rate = "5.3 Mbit/s", overhead = "8 B", cells = "atm" }',
            5.3 / 1.113,
        ),
        # 64 packets of 1 ms after a wait of 36 ms.
        ('rate = { kind = "aggregating", rate = "8 Mbit/s", access = "36 ms" }', 5.12),
        ('rate = { schedule = [{ at = "0 s", rate = "8 Mbit/s" }, { at = "1 s", rate = "2 Mbit/s" }] }', 3.5),
        # Periods of 3 s: 1 s of 8 Mbit/s, of which the shaper passes 6, and 2 s of 2 Mbit/s; the run ends in the second.
        (
            'rate = { schedule = [{ at = "0 s", rate = "8 Mbit/s" }, { at = "1 s", rate = "2 Mbit/s" }], period = "3 s" }, '
            'shaper = { rate = "6 Mbit/s", burst = "10 kB" }',
            (2 * 6 + 2 * 2) / 4,
        ),
        # A ramp from 0 to 8 Mbit/s in 2 s, cut off at 4 Mbit/s after 1 s; down for the last second.
        (
            'rate = { schedule = [{ at = "0 s", rate = "0 bit/s" }, { at = "2 s", rate = "8 Mbit/s" }], linear = true }, '
            'shaper = { rate = "4 Mbit/s", burst = "10 kB" }, outages = { schedule = [{ at = "3 s", for = "2 s" }] }',
            (1 * 2 + 2 * 4) / 4,
        ),
        ('rate = "10 Mbit/s", outages = { schedule = [{ at = "0.5 s", for = "0.5 s" }], period = "2 s" }', 7.5),
        ('rate = "10 Mbit/s", outages = { up = "9 s", down = "1 s" }', 9),
        # What the link retransmits takes line time, but no tokens of a bucket.
        ('rate = "10 Mbit/s", loss = "20 %", arq.after = "8 ms"', 8),
        ('rate = "10 Mbit/s", loss = "20 %"', 10),
        ('rate = "1250 packets/s", loss = "20 %", arq.after = "8 ms"', 8),
        ('rate = "10 Mbit/s", loss = "20 %", arq.after = "8 ms", shaper = { rate = "7 Mbit/s", burst = "10 kB" }', 7),
        (
            'rate = "10 Mbit/s", loss = { kind = "gilbert-elliott", to_bad = 0.1, to_good = 0.3, loss_good = 0.04 }, '
            'arq.after = "8 ms"',
            10 * (1 - 0.25 - 0.75 * 0.04),
        ),
        (
            'rate = "10 Mbit/s", loss = { kind = "bit-errors", rate = 1e-5 }, arq.after = "8 ms", framing.overhead = "250 B"',
            8 * (1 - 1e-5) ** 10_000,
        ),
        ('rate = "10 Mbit/s", loss = { every = 5, to = "2 s" }, arq.after = "8 ms"', 9),
        (
            'rate = "10 Mbit/s", loss = { schedule = [{ at = "0 s", loss = 0 }, { at = "1 s", loss = "40 %" }] }, '
            'arq.after = "8 ms"',
            7,
        ),
        (
            'rate = { schedule = [{ at = "0 s", rate = "8 Mbit/s" }, { at = "1 s", rate = "2 Mbit/s" }] }, loss = "20 %", '
            'arq.after = "8 ms"',
            2.8,
        ),
        # A burst is of 64 transmissions, half of which are lost.
        (
            'rate = { kind = "aggregating", rate = "8 Mbit/s", access = "36 ms" }, loss = "50 %", arq.after = "8 ms"',
            2.56,
        ),
    ],
)
def test_a_link_carries_what_it_does_on_average(link: str, mbps: float) -> None:
    text = f'duration = "4 s"\nlink.wire = {{ ends = ["a", "b"], {link} }}'
    limits = flow_limits(tl.loads(text), source="a", target="b", packet_bytes=1000)
    assert float(limits.bits.value or 0) == pytest.approx(1e6 * mbps, rel=1e-9)


def test_rates_by_a_trace_count_to_the_end_of_the_run(tmp_path: File) -> None:
    (tmp_path / "rate.trace").write_text("100\n100\n200\n500\n")
    (tmp_path / "net.toml").write_text(
        'duration = "1.2 s"\nlink.wire = { ends = ["a", "b"], rate = { trace = "rate.trace" } }'
    )
    limits = flow_limits(tl.load(tmp_path / "net.toml"), source="a", target="b", packet_bytes=1500)
    assert float(limits.bits.value or 0) == pytest.approx((4 + 4 + 3) * 1500 * 8 / 1.2)
    assert limits.notes == ("what changes over time counts with its mean over the 1.2 s: wire",)


def test_shares_of_a_link_are_rounded_and_duplicates_named() -> None:
    text = 'duration = "4 s"\nlink.l = { ends = ["a", "b"], rate = "10 Mbit/s", duplicate = "10 %", '
    text += 'loss = { kind = "bit-errors", rate = 1e-5 }, arq.after = "4 ms" }'
    limits = flow_limits(tl.loads(text), source="a", target="b", packet_bytes=1000)
    assert limits.notes == (
        "the line time of retransmissions is taken away: l, 7.688 %",
        "packets that come out twice arrive in addition: l, 10 %",
    )


def test_retransmissions_of_a_link_are_named_and_arrive() -> None:
    text = 'duration = "30 s"\nlink.l = { ends = ["a", "b"], rate = "20 Mbit/s", loss = "20 %", arq.after = "8 ms" }'
    scenario = tl.loads(text)
    limits = flow_limits(scenario, source="a", target="b", packet_bytes=1500)
    assert limits.notes == ("the line time of retransmissions is taken away: l, 20 %",)
    trial = try_paths(scenario, limits.both.paths, 1500)
    assert trial.offered_bps == pytest.approx(16e6)
    assert trial.arrived_bps == pytest.approx(16e6, rel=0.01)


def test_what_is_random_is_named() -> None:
    walk = 'rate = { start = "5 Mbit/s", least = "1 Mbit/s", most = "20 Mbit/s", kind = "random-walk" }'
    text = f'duration = "4 s"\nlink.wire = {{ ends = ["a", "b"], {walk}, outages = {{ up = "9 s", down = "1 s" }} }}'
    (note,) = flow_limits(tl.loads(text), source="a", target="b", packet_bytes=1000).notes
    assert note == (
        "random, so that no run has just this: wire, its rate, taken as its first value, 5 Mbit/s and its outages, "
        "taken as in the long run, up for 90 %"
    )


def test_what_a_changing_link_cannot_keep_is_said(tmp_path: File, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "net.toml").write_text(
        'duration = "2 s"\nlink.wire = { ends = ["a", "b"], queue = "10 packets", rate.schedule = '
        '[{ at = "0 s", rate = "8 Mbit/s" }, { at = "1 s", rate = "2 Mbit/s" }] }'
    )
    assert cli.main(["plan", "maxflow", str(tmp_path / "net.toml"), "--from=a", "--to=b", "--packet=1000 B"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "bit/s 5 Mbit/s" in out
    found = re.search(r"Sent at a constant rate, only (\S+) Mbit/s of the 5 Mbit/s that both limits allow arrive", out)
    assert found is not None
    assert float(found[1]) == pytest.approx((5 + 2) / 2, rel=0.01)
    assert "at times wire carries less than its mean, and its queue overflows" in out
    assert "the links alone limit" not in out


def test_one_way_links_and_both_directions_of_duplex_ones() -> None:
    text = TWO_PATHS.replace('rate = "8 Mbit/s"', 'rate = "8 Mbit/s", reverse.rate = "1 Mbit/s"')
    back = flow_limits(tl.loads(text), source="receiver", target="sender")
    assert back.bits.value == 11_000_000
    assert back.bits.cut_edges == ("in_old.reverse", "out_new.reverse")
    one_way = text.replace('ends = ["exit", "receiver"]', 'one_way = true, ends = ["exit", "receiver"]')
    with pytest.raises(tl.ScenarioError, match='no path from "receiver" to "sender": connect them by links'):
        flow_limits(tl.loads(one_way), source="receiver", target="sender")


def test_parallel_links_keep_their_names() -> None:
    text = TWO_PATHS + 'link.spare = { ends = ["new", "exit"], rate = "1 Mbit/s", loss = "1 %", mtu = "500 B" }\n'
    limits = flow_limits(tl.loads(text))
    assert limits.bits.cut_edges == ("out_old", "out_new", "spare")
    assert limits.bits.value == 19_000_000
    assert limits.notes == ("random losses are not subtracted: spare",)
    large = flow_limits(tl.loads(text), packet_bytes=1000)
    assert large.bits.value == 18_000_000
    assert large.notes == ("left out, as their MTU is below 1000 B: spare, spare.reverse",)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"source": "sendr"}, 'from = "sendr": expected the name of a node; did you mean "sender"?'),
        ({"target": "sender"}, 'to = "sender": expected another node than from, which is "sender"'),
        ({"packet_bytes": 28}, 'packet = "28 B": expected more than the 28 B of its headers'),
        ({"packet_bytes": 9000}, "links in this direction whose MTU takes packets of 9000 B whole"),
    ],
)
def test_wrong_questions(question: dict[str, Any], message: str) -> None:
    with pytest.raises(tl.ScenarioError) as raised:
        flow_limits(tl.loads(TWO_PATHS), **question)
    assert message in str(raised.value)


def test_defaults_need_one_pair_of_nodes(dumbbell: str) -> None:
    with pytest.raises(tl.ScenarioError, match=r"traffic\.bulk: expected flows between the same two nodes"):
        flow_limits(tl.loads(dumbbell))
    found = flow_limits(tl.loads(dumbbell), source="net.left[0]", target="net.right[7]", packet_bytes=1500)
    assert found.bits.value == 10**9
    assert found.bits.cut_edges == ("net.bottleneck",)
    with pytest.raises(tl.ScenarioError, match="traffic: expected one group of traffic, not 0"):
        flow_limits(tl.loads('duration = "1 s"'))


def test_a_network_carries_what_its_links_allow() -> None:
    scenario = tl.loads(TWO_PATHS)
    trial = try_paths(scenario, flow_limits(scenario).bits.paths, 250)
    assert trial.offered_bps == 18e6
    assert trial.arrived_bps == pytest.approx(18e6, rel=1e-3)
    assert trial.drops == {}
    assert trial.warnings == ()


def test_what_is_too_much_is_dropped_where_it_is_too_much() -> None:
    scenario = tl.loads(TWO_PATHS.replace('rate = "8 Mbit/s"', 'rate = "8 Mbit/s", queue = "10 packets"'))
    way = ("in_new", "out_new", "last")
    trial = try_paths(scenario, [Path(way, ("sender", "new", "exit", "receiver"), Fraction(10_000_000))], 250)
    assert trial.arrived_bps == pytest.approx(8e6, rel=1e-3)
    assert list(trial.drops) == ["link out_new: queue"]
    assert trial.drops["link out_new: queue"] == pytest.approx(0.2 * trial.packets_sent, rel=0.01)


def test_losses_on_a_wire_are_not_those_of_a_queue() -> None:
    scenario = tl.loads(TWO_PATHS.replace('rate = "100 Mbit/s"', 'rate = "100 Mbit/s", loss = "10 %"'))
    trial = try_paths(scenario, flow_limits(scenario).bits.paths, 250)
    assert list(trial.drops) == ["link last: wire"]
    assert trial.arrived_bps == pytest.approx(0.9 * 18e6, rel=0.01)


def test_a_run_that_is_too_short_says_so() -> None:
    scenario = tl.loads(TWO_PATHS).set_all({"duration": "10 ms", "link.last.delay": "4 ms"})
    trial = try_paths(scenario, flow_limits(scenario).bits.paths, 250)
    assert trial.warnings == ("packets travel for 6 ms: simulate for more than 12 ms instead of 10 ms",)


@pytest.fixture
def file(tmp_path: File) -> File:
    path = tmp_path / "two.toml"
    path.write_text(TWO_PATHS)
    return path


def test_the_command(file: File, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["plan", "maxflow", str(file)]) == 0
    out = capsys.readouterr().out
    assert ["bit/s", "18", "Mbit/s", "9,000", "out_old,", "out_new"] in [line.split() for line in out.splitlines()]
    assert "as bit/s proposes  18 Mbit/s  18 Mbit/s  nothing" in out
    assert "in_old → out_old → last" in out
    assert out.splitlines()[-1] == "No processor is in the way: the links alone limit."


def test_the_command_says_when_bits_are_the_wrong_question(
    file: File, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_processors_of", lambda _: {"old": MILLISECOND})
    assert cli.main(["plan", "maxflow", str(file), "--no-simulate"]) == 0
    out = capsys.readouterr().out
    assert ["both", "10", "Mbit/s", "5,000", "out_new,", "processor", "old"] in [
        line.split() for line in out.splitlines()
    ]
    assert "The answer in bit/s is wrong here: it asks 5,000 packets/s of processor old, which carries 1,000." in out
    assert "simulated" not in out


def test_the_command_for_programs(file: File, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["plan", "maxflow", str(file), "--packet", "1000 B", "--set", "duration=1 s", "--json"]) == 0
    out = json.loads(capsys.readouterr().out)
    assert out["packet_bytes"] == 1000
    assert out["bits"]["max_bps"] == 18e6
    assert out["bits"]["max_packets_per_s"] == 2250
    assert out["bits"]["cut"] == {"links": ["out_old", "out_new"], "processors": []}
    assert [path["rate_bps"] for path in out["bits"]["paths"]] == [10e6, 8e6]
    assert out["packets"]["max_bps"] is None
    assert out["simulated"]["bits"]["arrived_bps"] == pytest.approx(18e6, rel=0.01)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--from", "sendr"], 'did you mean "sender"?'),
        (
            ["--packet", "1000"],
            '--packet = "1000": expected a unit, too: a size such as "1000 B"; did you mean "1000 B"?',
        ),
        (["--packet", "0 B"], '--packet = "0 B": expected a size above zero'),
        (["--set", "nonsense"], "expected key=value"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str, file: File, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["plan", "maxflow", str(file), *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert len(err.splitlines()) == 1


def test_a_warning_is_an_exit_code(file: File, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["plan", "maxflow", str(file), "--set", "duration=4 ms"]) == 3
    assert "tightlink: warning: packets travel for 3 ms" in capsys.readouterr().err


def test_a_slow_router_carries_what_both_limits_say_and_not_what_the_links_do() -> None:
    scenario = tl.load(File(__file__).parent.parent / "examples" / "slow-router.toml")
    limits = flow_limits(scenario)
    assert limits.bits.value == 18_000_000
    assert limits.packets.value == 51_000
    assert limits.both.value == 10_000_000
    too_much = try_paths(scenario, limits.bits.paths, limits.packet_bytes)
    assert too_much.arrived_bps == pytest.approx(10e6, rel=1e-3)
    assert list(too_much.drops) == ["node old: input ring"]
    assert too_much.drops["node old: input ring"] == pytest.approx(8 / 18 * too_much.packets_sent, rel=0.01)
    as_much = try_paths(scenario, limits.both.paths, limits.packet_bytes)
    assert as_much.arrived_bps == pytest.approx(10e6, rel=1e-3)
    assert as_much.drops == {}


def test_users_are_no_flow_between_two_nodes(small_users: str) -> None:
    with pytest.raises(tl.ScenarioError, match=r'traffic\.web\.kind = "users": expected single flows, or from, to and'):
        flow_limits(tl.loads(small_users))
    between = flow_limits(tl.loads(small_users), source="a", target="b", packet_bytes=1500)
    assert between.bits.value == 50e6
