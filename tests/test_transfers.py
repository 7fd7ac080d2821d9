"""Open-loop transfers: how long they take, what load arrives, who sends to whom, the same on any threads."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightlink as tl
from tightlink.cli import main
from tightlink.diagnosis.completions import with_completions
from tightlink.experiment.metrics import metrics
from transfer_scenarios import ALONE, TREE, flows_of

#: 1000 B of payload and 40 B of headers at 10 Mbit/s, ACKs of 40 B, and the way there and back.
DATA_S = 1040 * 8 / 1e7
ROUND_TRIP_S = DATA_S + 40 * 8 / 1e7 + 0.02
HANDSHAKE_S = 2 * 40 * 8 / 1e7 + 0.02


def test_a_transfer_alone_takes_what_slow_start_takes() -> None:
    """30 packets in windows of 2, 4, 8 and 16, of which none fills the pipe of 25: after the handshake three round trips,
    then 16 packets back to back, one way."""
    row = tl.simulate(tl.loads(ALONE)).completions.row(0, named=True)
    assert row["completion_s"] == pytest.approx(HANDSHAKE_S + 3 * ROUND_TRIP_S + 16 * DATA_S + 0.01, rel=1e-12)
    assert row["ideal_s"] == pytest.approx(HANDSHAKE_S + 30 * DATA_S + 0.01, rel=1e-12)
    assert row["slowdown"] == pytest.approx(row["completion_s"] / row["ideal_s"], rel=1e-12)


def test_flows_with_bytes_are_timed_as_transfers_are(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A flow takes as long as the transfer of its size; one that has no end is in no table, one that has not ended counts."""
    kept = ALONE.partition("[traffic")[0]
    tcp = 'tcp = { payload = "1000 B", window = "1000 packets", initial_window = "2 packets" }'
    ends = f'kind = "bulk", from = "a", to = "b", {tcp}'
    one = f'traffic.get = {{ {ends}, start = "1 s", bytes = "30 kB" }}\n'
    found = tl.simulate(tl.loads(kept + one))
    columns = ["bytes", "start_s", "completion_s", "ideal_s", "slowdown", "packets_retransmitted", "timeouts"]
    assert found.completions.select(columns).equals(tl.simulate(tl.loads(ALONE)).completions.select(columns))
    assert metrics(found)["completion_p95_s"] == found.completions["completion_s"][0]
    assert found.why().sentence.startswith("get: took 106 ms, 1.9 times as long as on an empty path; ")
    of_one = tl.simulate(tl.loads(kept + one).set("traffic.get.flows", 1))
    assert of_one.why().sentence.startswith("get[0]: took 106 ms, 1.9 times as long as on an empty path; ")
    assert with_completions(of_one)["completion_s"].to_list() == with_completions(found)["completion_s"].to_list()
    start = '{ first = "0 s", every = "49.9 s" }'
    others = (
        f'traffic.endless = {{ {ends} }}\ntraffic.many = {{ {ends}, flows = 3, bytes = "1 MB", start = {start} }}\n'
    )
    several = tl.simulate(tl.loads(kept + one + others))
    assert several.completion_times.select("label", "size_class", "transfers", "unfinished").rows() == [
        ("get", "all", 1, 0),
        ("many", "all", 3, 1),
    ]
    assert several.completions.select("label", "transfer").rows() == [("get", 0), ("many", 0), ("many", 1), ("many", 2)]
    assert with_completions(several)["completion_s"].is_null().to_list() == [False, True, False, False, True]
    file = tmp_path / "a.toml"
    file.write_text(kept + one)
    for more in ([], ["--set", "traffic.get.flows=1"]):
        main(["run", str(file), *more])
        said = capsys.readouterr().out
        assert "106 ms" in said
        assert "transfers by size" not in said
    before, after = (
        tl.simulate(tl.loads(kept + one).set("link.wire.rate", rate)) for rate in ("10 Mbit/s", "5 Mbit/s")
    )
    assert tl.compare(before, after).summary.row(0)[:2] == ("completion_p50_s", "get")


@pytest.mark.parametrize("size", ["1 B", "1 kB", "2500 B", "1 MB"])
@pytest.mark.parametrize("hops", [("10 Mbit/s", "3 Mbit/s", "8 Mbit/s"), ("3 Mbit/s", "10 Mbit/s", "5 Mbit/s")])
@pytest.mark.parametrize("profile", ["ns2", "rfc", "linux"])
def test_a_transfer_alone_has_slowdown_one_where_its_window_is_open(
    size: str, hops: tuple[str, ...], profile: str
) -> None:
    """Over links of several rates; with profiles rfc and linux the last packet is shorter."""
    links = "".join(
        f'link.l{i} = {{ ends = ["n{i}", "n{i + 1}"], rate = "{rate}", delay = "2 ms", queue = "unlimited" }}\n'
        for i, rate in enumerate(hops)
    )
    text = f"""
profile = "{profile}"
duration = "100 s"
{links}
[traffic.web]
kind = "transfers"
from = "n0"
to = "n3"
times = ["0 s"]
size = "{size}"
tcp = {{ window = "2000 packets", initial_window = "2000 packets", initial_ssthresh = "unlimited" }}
"""
    run = tl.simulate(tl.loads(text))
    row = run.completions.row(0, named=True)
    assert row["slowdown"] == pytest.approx(1, rel=1e-9)


def test_transfers_at_an_ideal_fair_link_are_slowed_down_as_by_processor_sharing() -> None:
    """M/G/1-PS: a transfer of any size takes 1 / (1 − ρ) times as long in the mean (Kleinrock 1976, volume 2, § 4.4).

    Within 10 %, set before it was run: of 4,000 transfers the mean is known within about 3 % (a standard deviation of about
    0.8, and busy periods that several share), and the link serves packets in turn, not infinitesimally.
    """
    text = """
profile = "ns2"
duration = "400 s"
seed = 5
link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "100 us", queue = { kind = "fq-codel", limit = "100000 packets", target = "90 s", interval = "100 s" } }

[traffic.web]
kind = "transfers"
from = "a"
to = "b"
load = 0.4
of = "wire"
size = { distribution = "exponential", mean = "50 kB" }
tcp = { payload = "1000 B", window = "64 packets", initial_window = "64 packets" }
"""
    run = tl.simulate(tl.loads(text))
    whole = run.completion_times.row(0, named=True)
    load = run.links.row(0, named=True)["utilization"]
    assert whole["transfers"] == pytest.approx(4000, abs=4 * 4000**0.5)
    assert whole["unfinished"] <= 5
    assert whole["slowdown_mean"] == pytest.approx(1 / (1 - load), rel=0.1)


@settings(max_examples=12, deadline=None)
@given(
    load=st.floats(0.05, 1.5),
    size=st.sampled_from(['"20 kB"', '{ distribution = "exponential", mean = "20 kB" }',
                          '{ points = [["10 kB", 0.5], ["10 kB", 0.6], ["50 kB", 1.0]] }']),
    spacing=st.sampled_from(["poisson", "fixed"]),
    seed=st.integers(0, 2**40),
)  # fmt: skip
def test_the_load_that_arrives_is_the_load_asked_for(load: float, size: str, spacing: str, seed: int) -> None:
    """Within five standard deviations: N transfers at random have a total of variance N E[X²], which is at most 2 N E[X]²
    here (the exponential's)."""
    text = TREE.replace('{ distribution = "pareto", mean = "200 kB" }', size).replace("load = 0.3", f"load = {load!r}")
    scenario = tl.loads(text).set("traffic.web.spacing", spacing).set("seed", seed)
    flows = flows_of(scenario)
    offered = sum(flow["traffic"]["bytes"] for flow in flows) * 8 / (16 * 0.1 * 1e9)
    assert abs(offered / load - 1) < 5 * (2 / len(flows)) ** 0.5


def test_nobody_sends_to_itself_and_ends_are_within_the_groups() -> None:
    flows = flows_of(tl.loads(TREE))
    assert flows
    assert all(flow["from"] != flow["to"] for flow in flows)
    assert {flow["label"] for flow in flows} == {f"web[{index}]" for index in range(len(flows))}


@pytest.mark.parametrize("pairs", ["random", "permutation", "incast"])
def test_tables_do_not_depend_on_threads(pairs: str) -> None:
    scenario = tl.loads(TREE).set("traffic.web.pairs", pairs)
    one, two = (tl.simulate(scenario, threads=threads) for threads in (1, 2))
    assert one.manifest["digest"] == two.manifest["digest"]
    assert one.completions.equals(two.completions)


def test_a_permutation_together_starts_each_pair_at_each_time() -> None:
    scenario = tl.loads(TREE).set_all({
        "traffic.web.load": None, "traffic.web.of": None, "traffic.web.times": ["1 ms", "5 ms"],
        "traffic.web.pairs": "permutation", "traffic.web.together": True,
    })  # fmt: skip
    flows = flows_of(scenario)
    assert [flow["start_s"] for flow in flows] == [0.001] * 16 + [0.005] * 16
    first, second = ([(flow["from"], flow["to"]) for flow in flows[part]] for part in (slice(16), slice(16, None)))
    assert first == second
    assert len({target for _, target in first}) == 16


def test_arrivals_in_microseconds() -> None:
    assert tl.units.arrival_rate("0.5 transfer/us") == 500_000
    assert len(flows_of(tl.loads(TREE).set_all({
        "duration": "1 ms", "traffic.web.load": None, "traffic.web.of": None, "traffic.web.arrivals": "0.1 transfers/us",
        "traffic.web.spacing": "fixed",
    }))) == 100  # fmt: skip
