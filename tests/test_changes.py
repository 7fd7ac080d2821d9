"""Links that change: in a scenario, in what is printed of it, and in a run."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tightlink as tl

STEPS = [{"at": "0 s", "rate": "2 Mbit/s"}, {"at": "1 s", "rate": "500 kbit/s"}]


def over(**wire: object) -> tl.Scenario:
    """A long transfer over a link that changes."""
    link = {"ends": ["a", "b"], "rate": "2 Mbit/s", "delay": "10 ms", "queue": "20 packets"} | wire
    return tl.Scenario.from_dict({
        "duration": "4 s",
        "link": {"wire": link},
        "traffic": {"t": {"kind": "bulk", "from": "a", "to": "b"}},
    })  # fmt: skip


def resolved(**wire: object) -> dict[str, Any]:
    return dict(over(**wire).resolve()["links"][0])


def test_a_schedule_limits_what_gets_through() -> None:
    goodput = tl.simulate(over(rate={"schedule": STEPS})).flows["goodput_bps"][0]
    # 2 Mbit in the first second, 1.5 in the three others; headers and the start cost some.
    assert 0.8 * 3.5e6 / 4 < goodput < 3.5e6 / 4


@pytest.mark.parametrize(
    "rate",
    [
        {"kind": "random-walk", "start": "2 Mbit/s", "least": "500 kbit/s", "most": "8 Mbit/s"},
        {"kind": "markov", "states": [{"rate": "4 Mbit/s", "mean": "200 ms"}, {"rate": "0 bit/s", "mean": "50 ms"}]},
        {"kind": "ornstein-uhlenbeck", "mean": "2 Mbit/s", "deviation": "500 kbit/s", "least": "100 kbit/s"},
    ],
    ids=lambda rate: str(rate["kind"]),
)
def test_a_process_has_a_stream_of_its_own(rate: dict[str, object]) -> None:
    one, again, other = (tl.simulate(over(rate=rate).set("seed", seed)).flows["goodput_bps"][0] for seed in (1, 1, 2))
    assert one == again != other


def test_a_trace_is_found_beside_the_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "down.trace").write_text("\n".join(str(at) for at in range(6, 3001, 6)))
    file = tmp_path / "scenario.toml"
    file.write_text(
        'duration = "4 s"\n'
        '[link.wire]\nends = ["a", "b"]\nrate = { trace = "down.trace" }\nreverse = { rate = "2 Mbit/s" }\n'
        '[traffic.t]\nkind = "bulk"\nfrom = "a"\nto = "b"\n'
    )
    monkeypatch.chdir(tmp_path.parent)
    scenario = tl.load(file)
    link = scenario.resolve()["links"][0]
    assert link["rate"]["trace_ms"][:2] == [6, 12]
    assert link["rate_bps"] == pytest.approx(1504 * 8 / 0.006)
    assert tl.simulate(scenario).flows["goodput_bps"][0] < 1504 * 8 / 0.006


def test_delays_and_jitter_are_there() -> None:
    scenario = tl.Scenario.from_dict({
        "duration": "4 s",
        "link": {
            "wire": {
                "ends": ["a", "b"],
                "rate": "10 Mbit/s",
                "delay": {"kind": "redraw", "shortest": "5 ms", "longest": "40 ms", "every": "100 ms"},
                "jitter": {"kind": "pareto", "mean": "5 ms", "correlation": "20 ms"},
            }
        },
        "traffic": {"t": {"kind": "cbr", "from": "a", "to": "b", "rate": "1 Mbit/s"}},
    })  # fmt: skip
    flow = tl.simulate(scenario).flows
    assert flow["packets_dropped"][0] == 0
    assert flow["one_way_delay_mean_s"][0] > 0.005 + 0.0175
    assert flow["one_way_delay_p95_s"][0] > 0.03


def test_the_reverse_direction_is_like_the_forward_one_unless_it_says_otherwise() -> None:
    there, back = over(rate={"schedule": STEPS}, reverse={"rate": "1 Mbit/s"}).resolve()["links"]
    assert there["rate"]["values"] == [2e6, 5e5]
    assert "rate" not in back
    assert back["rate_bps"] == 1e6


def test_what_does_not_change_is_resolved_as_before() -> None:
    assert not {"rate", "delay", "jitter"} & set(resolved())


def test_threads_see_the_same() -> None:
    scenario = over(rate={"schedule": STEPS, "period": "2 s"}, jitter={"kind": "uniform", "most": "5 ms"})
    assert tl.simulate(scenario, threads=2).flows.equals(tl.simulate(scenario).flows)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "of which there is none"),
        ("5\n3\n", "do not fall, as in line 2: 5, then 3"),
        ("0\n0\n", "ends after 0 ms"),
        ('duration = "3 s"\n', "not 'duration = \"3 s\"' in line 1"),
        ("-1\n", "whole number of milliseconds"),
        ("1" * 5000, "whole number of milliseconds"),
        ("é\n", "a trace"),
    ],
    ids=lambda text: repr(text)[:40],
)
def test_a_file_that_is_no_trace(tmp_path: Path, text: str, why: str) -> None:
    trace = tmp_path / "x.trace"
    trace.write_text(text, encoding="utf-8")
    with pytest.raises(tl.ScenarioError) as caught:
        resolved(rate={"trace": str(trace)})
    assert "link.wire.rate.trace" in str(caught.value)
    assert why in str(caught.value)


WRONG = [
    ({"rate": {"trace": "nowhere.trace"}}, "link.wire.rate.trace", "no such file"),
    ({"rate": {"trace": "a\0b"}}, "link.wire.rate.trace", "not the name of a file"),
    ({"delay": {"table": "a\0b"}}, "link.wire.delay.table", "not the name of a file"),
    ({"rate": {"schedule": [{"at": "0 s", "rate": "0 bit/s"}]}}, "schedule[0].rate", "above zero"),
    ({"rate": {"schedule": [*STEPS, {"at": "2 s", "rate": "0 bit/s"}]}}, "schedule[2].rate", "or a period"),
    ({"rate": {"schedule": STEPS[1:]}}, "schedule[0].at", "from the start"),
    ({"rate": {"schedule": [*STEPS, {"at": "500 ms", "rate": "1 Mbit/s"}]}}, "schedule[2].at", "after that of the step"),
    ({"rate": {"schedule": STEPS, "period": "1 s"}}, "rate.period", "after the last step"),
    ({"rate": {"kind": "walk"}}, 'kind = "walk"', "random-walk"),
    ({"rate": {"start": "1 Mbit/s"}}, "rate.kind", "schedule, trace"),
    ({"rate": {"kind": "random-walk", "start": "9 Mbit/s", "least": "1 Mbit/s", "most": "2 Mbit/s"}}, "start", "least to most"),
    ({"delay": {"schedule": [{"at": "0 s", "delay": "-1 ms"}]}}, "schedule[0].delay", "not negative"),
    ({"delay": {"kind": "redraw", "shortest": "9 ms", "longest": "1 ms"}}, "longest", "at least the shortest"),
    ({"jitter": {"kind": "pareto", "mean": "1 ms", "shape": 1}}, "jitter.shape", "above 1"),
    ({"jitter": {"quantiles": ["2 ms", "1 ms"]}}, "quantiles[1]", "at least the quantile before"),
    ({"jitter": "5 ms"}, "link.wire.jitter", ""),
]  # fmt: skip


@pytest.mark.parametrize(("wire", "where", "why"), WRONG, ids=lambda value: str(value)[:70])
def test_what_is_wrong_is_said_in_a_sentence(wire: dict[str, object], where: str, why: str) -> None:
    with pytest.raises(tl.ScenarioError) as caught:
        resolved(**wire)
    text = str(caught.value)
    assert where in text, text
    assert why in text.lower(), text
    assert "\n" not in text


def test_framing_has_no_effect_with_a_trace(tmp_path: Path) -> None:
    trace = tmp_path / "x.trace"
    trace.write_text("1\n")
    with pytest.raises(tl.ScenarioError, match=r"link\.wire\.framing.*four bytes more"):
        resolved(rate={"trace": str(trace)}, framing={"overhead": "38 B"})


def test_a_report_draws_the_capacity_and_names_no_rate(tmp_path: Path) -> None:
    scenario = over(rate={"schedule": STEPS}).set("observe.interval", "100 ms")
    text = tl.simulate(scenario).report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "The capacity of the busiest link, wire, is what it could have sent in each interval of 100 ms." in text
    assert "capacity of wire" in text
    assert "of its capacity" in text
    assert "has a rate of" not in text


@pytest.mark.parametrize(
    "delay",
    [
        {"kind": "random-walk", "start": "20 ms", "least": "10 ms", "most": "80 ms", "deviation": 0.5},
        {"kind": "markov", "states": [{"delay": "12 ms", "mean": "200 ms"}, {"delay": "60 ms", "mean": "100 ms"}]},
        {"kind": "ornstein-uhlenbeck", "mean": "40 ms", "deviation": "10 ms", "least": "11 ms"},
        {"kind": "redraw", "shortest": "10 ms", "longest": "50 ms", "every": "200 ms"},
    ],
    ids=lambda delay: str(delay["kind"]),
)
def test_a_delay_is_a_process_that_is_seen(delay: dict[str, object]) -> None:
    scenario = over(delay=delay).set("observe.interval", "100 ms")
    run = tl.simulate(scenario)
    of_wire = run.series.filter((run.series["metric"] == "delay_s") & (run.series["entity"] == "wire"))
    delays_s = of_wire["value"].to_list()
    assert len(delays_s) == 39
    assert scenario.resolve()["links"][0]["delay_s"] <= min(delays_s) < max(delays_s) <= 0.08


def test_tables_are_found_beside_the_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import polars as pl

    (tmp_path / "down.csv").write_text("# of a Tuesday\ntime_s,rate_mbps\n0,4\n1,1\n2,4\n")
    pl.DataFrame({"time_ms": [0, 1500], "delay_ms": [10, 30]}).write_parquet(tmp_path / "delay.parquet")
    (tmp_path / "loss.csv").write_text("time_s,loss\n0,0\n3,0.5\n")
    file = tmp_path / "scenario.toml"
    file.write_text(
        'duration = "4 s"\n'
        '[link.wire]\nends = ["a", "b"]\nrate = { table = "down.csv", period = "3 s" }\n'
        'delay = { table = "delay.parquet", linear = true }\nloss = { table = "loss.csv" }\n'
        'reverse = { rate = "2 Mbit/s" }\n'
        '[traffic.t]\nkind = "bulk"\nfrom = "a"\nto = "b"\n'
    )
    monkeypatch.chdir(tmp_path.parent)
    link = tl.load(file).resolve()["links"][0]
    assert link["rate"] == {
        "kind": "schedule", "at_s": [0, 1, 2], "values": [4e6, 1e6, 4e6], "linear": False, "period_s": 3.0
    }  # fmt: skip
    assert link["rate_bps"] == 3e6
    assert (link["delay_s"], link["delay"]["at_s"], link["delay"]["values"]) == (0.01, [0.0, 1.5], [0.01, 0.03])
    assert link["loss"]["loss"] == [0, 0.5]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected a CSV or Parquet file with the columns time_s and rate_bps"),
        (
            "time_s,speed\n0,1\n",
            "expected a column rate_bps or rate_kbps or rate_mbps, beside those that it has: time_s",
        ),
        ("time_s,rate_bps\n0,1e6\n2,1e6\n1,2e6\n", "expected times that rise, unlike those of row 3: 2 s, then 1 s"),
        ("time_s,rate_bps\n1,1e6\n", "expected a first row at 0 s"),
        ("time_s,rate_bps\n0,-5\n", "expected values of at least 0, as in row 1 is not: -5"),
        ("time_s,rate_bps\n0,fast\n", "expected a number in each row of its column rate_bps"),
        ("time_s,rate_bps\n0,1e6\n1,0\n", "expected a last rate above zero, as it holds for ever, or a period"),
    ],
)
def test_a_table_that_is_none_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "rate.csv"
    file.write_text(text)
    with pytest.raises(tl.ScenarioError) as error:
        resolved(rate={"table": str(file)}, reverse={"rate": "2 Mbit/s"})
    assert said in str(error.value)
    assert "link.wire.rate.table" in str(error.value)


def test_a_satellite_gives_both_directions_the_same_path() -> None:
    scenario = over(rate="20 Mbit/s", delay={"kind": "leo", "every": "1 s"}).set("observe.interval", "100 ms")
    series = tl.simulate(scenario).series
    of = {
        link: series.filter((series["metric"] == "delay_s") & (series["entity"] == link))["value"].to_list()
        for link in ("wire", "wire.reverse")
    }
    assert of["wire"] == of["wire.reverse"]
    assert len(set(of["wire"])) == 4
    assert all(0.01 <= delay <= 0.021 for delay in of["wire"])
    capacity = series.filter((series["metric"] == "capacity_bps") & (series["entity"] == "wire"))["value"].to_list()
    # The last 40 ms before each new path.
    assert capacity[8:11] == pytest.approx([20e6, 12e6, 20e6])


def test_an_outage_loses_what_waits_or_does_not() -> None:
    outages = {"schedule": [{"at": "1 s", "for": "500 ms"}]}
    kept, flushed = (tl.simulate(over(outages=outages | more)).links for more in ({}, {"flush": True}))
    assert kept["packets_lost"][0] == 0 < flushed["packets_lost"][0]


def test_the_utilization_of_a_shaped_link_is_of_what_the_shaper_lets_through() -> None:
    """Below its rate in proportion, above it all; of the line it would be a fifth, and jump at the shaper's rate."""
    scenario = tl.loads("""
        duration = "20 s"
        link.l = { ends = ["a", "b"], rate = "100 Mbit/s", queue = "100 packets", shaper = { rate = "20 Mbit/s", burst = "64 kB" } }
        traffic.t = { kind = "cbr", from = "a", to = "b", rate = "10 Mbit/s", udp.datagram = "1500 B" }
    """)

    def used(rate: str) -> float:
        return float(tl.simulate(scenario.set("traffic.t.rate", rate)).links["utilization"][0])

    assert [round(used(rate), 3) for rate in ("5 Mbit/s", "10 Mbit/s", "19 Mbit/s", "25 Mbit/s")] == [
        0.25,
        0.5,
        0.95,
        1.0,
    ]


def test_a_shaper_bounds_what_gets_through() -> None:
    shaped = tl.simulate(over(rate="20 Mbit/s", shaper={"rate": "1 Mbit/s", "burst": "10 kB"}))
    assert 0.85e6 < shaped.flows["throughput_bps"][0] < 1e6 + 10_000 * 8 / 4


def test_losses_show_as_delay_where_frames_are_sent_again() -> None:
    wire = {"rate": "20 Mbit/s", "loss": "5 %"}
    bare, again = (tl.simulate(over(**wire, **more)) for more in ({}, {"arq": {"after": "4 ms"}}))
    assert bare.links["packets_lost"][0] > 0 == again.links["packets_lost"][0]
    assert again.flows["goodput_bps"][0] > 2 * bare.flows["goodput_bps"][0]
    assert again.flows["one_way_delay_p95_s"][0] > 0.0135


@pytest.mark.parametrize(
    ("wire", "said"),
    [
        ({"arq": {"after": "4 ms"}}, "link.wire.arq"),
        ({"delay": {"kind": "leo"}, "outages": {"up": "9 s", "down": "1 s"}}, "link.wire.outages"),
        ({"delay": {"kind": "leo", "outage": "20 s"}}, "link.wire.delay.outage"),
        ({"outages": {"schedule": [{"at": "2 s", "for": "1 s"}, {"at": "2.5 s", "for": "1 s"}]}}, "schedule[1].at"),
        ({"outages": {"schedule": [{"at": "2 s", "for": "1 s"}], "period": "2 s"}}, "link.wire.outages.period"),
        ({"outages": {"schedule": []}}, "link.wire.outages.schedule"),
        ({"outages": {"up": "9 s"}}, "link.wire.outages.down"),
        ({"shaper": {"rate": "1 Mbit/s"}}, "link.wire.shaper.burst"),
        ({"rate": {"kind": "aggregating", "rate": "9 Mbit/s"}}, "link.wire.rate.access"),
        (
            {"delay": {"kind": "random-walk", "start": "9 ms", "least": "10 ms", "most": "20 ms"}},
            "link.wire.delay.start",
        ),
        ({"jitter": {"kind": "gamma", "mean": "5 ms", "shape": 0}}, "link.wire.jitter.shape"),
        ({"rate": {"table": "nowhere.csv"}}, "link.wire.rate.table"),
    ],
)
def test_what_cannot_be_is_named(wire: dict[str, object], said: str) -> None:
    with pytest.raises(tl.ScenarioError) as error:
        resolved(**wire)
    assert said in str(error.value)


def test_a_source_that_saturates_a_link_is_not_flushed() -> None:
    scenario = over(outages={"up": "1 s", "down": "100 ms", "flush": True})
    scenario = scenario.set("traffic", {"t": {"kind": "saturate", "from": "a", "to": "b"}})
    with pytest.raises(tl.ScenarioError, match=r"outages\.flush"):
        tl.simulate(scenario)


def test_packets_overtake_each_other_where_a_link_says_so() -> None:
    assert resolved(reorder={"probability": "1 %", "delay": "5 ms"})["reorder"] == {
        "probability": 0.01,
        "delay_s": 0.005,
    }
    jitter = {"kind": "uniform", "most": "5 ms"}
    assert "overtaking" not in resolved(jitter=jitter)
    assert resolved(jitter=jitter | {"reorder": True})["overtaking"]
    assert resolved(delay={"shortest": "5 ms", "longest": "9 ms", "kind": "redraw", "reorder": True})["overtaking"]
    assert resolved(duplicate="1 %")["duplicate"] == 0.01
    assert "duplicate" not in resolved(duplicate=0)


@pytest.mark.parametrize(
    ("wire", "says"),
    [
        ({"reorder": {"delay": "5 ms"}}, "reorder.probability"),
        ({"reorder": {"probability": 2, "delay": "5 ms"}}, "reorder.probability = 2"),
        ({"reorder": "1 %"}, 'reorder = "1 %": expected a table, or "none"'),
        ({"duplicate": "200 %"}, 'duplicate = "200 %"'),
        ({"rate": {"schedule": [["0 s", "5 Mbit/s"]]}}, '; did you mean { at = "0 s", rate = "5 Mbit/s" }?'),
        ({"jitter": {"kind": "uniform", "most": "5 ms", "reorder": "yes"}}, 'jitter.reorder = "yes"'),
    ],
)
def test_disorder_is_said_wrong(wire: dict[str, object], says: str) -> None:
    with pytest.raises(tl.ScenarioError, match=r"link\.wire\.") as error:
        over(**wire)
    assert says in str(error.value)


def test_fragments_are_not_duplicated() -> None:
    scenario = tl.Scenario.from_dict({
        "duration": "1 s",
        "link": {"wire": {"ends": ["a", "b"], "rate": "2 Mbit/s", "mtu": "1500 B", "duplicate": 0.1}},
        "traffic": {"t": {"kind": "cbr", "from": "a", "to": "b", "rate": "1 Mbit/s", "udp": {"datagram": "4000 B"}}},
    })  # fmt: skip
    with pytest.raises(
        tl.ScenarioError, match=r"link\.wire\.duplicate = 0\.1: no duplicates of datagrams that the MTU"
    ):
        tl.simulate(scenario)


def test_rack_waits_for_what_others_take_for_lost() -> None:
    link = {
        "rate": "20 Mbit/s",
        "delay": "20 ms",
        "queue": "200 packets",
        "reorder": {"probability": "1 %", "delay": "5 ms"},
    }

    def run(recovery: str) -> dict[str, Any]:
        scenario = over(**link).set("traffic.t.tcp.recovery", recovery).set("duration", "30 s")
        return tl.simulate(scenario).flows.row(0, named=True)

    # Three duplicate ACKs come sooner than 5 ms: one of a hundred packets is a loss (Mathis et al. 1997, and as much again).
    rtt_s = 2 * 0.02
    assert run("sack")["goodput_bps"] < 2 * (1.5 / 0.01) ** 0.5 * 1460 * 8 / rtt_s
    rack = run("rack")
    assert rack["goodput_bps"] > 0.9 * 20e6 * 1460 / 1538
    # Once it has seen them overtake each other, a quarter of a round trip is longer than 5 ms.
    needless = rack["packets_retransmitted"] - rack["packets_dropped"]
    assert needless < 0.01 * 0.01 * rack["packets_sent"]


@pytest.mark.parametrize("queue", ['"200 packets"', '{ kind = "drr", limit = "200 packets" }'])
@pytest.mark.parametrize(
    "waits",
    [
        'shaper = { rate = "100 kbit/s", burst = "150 B" }',
        'outages = { schedule = [{ at = "10 ms", for = "20 ms" }], period = "40 ms" }',
        'outages = { up = "100 ms", down = "30 ms" }',
        'rate = { kind = "aggregating", access = "3 ms", rate = "20 Mbit/s", burst = "4 packets" }',
        'rate = { kind = "markov", states = [{ rate = "4 Mbit/s", mean = "50 ms" }, { rate = "0 bit/s", mean = "30 ms" }] }',
    ],
)
def test_what_waits_first_in_line_waits(waits: str, queue: str) -> None:
    """On a path of one link, a flow's packets wait as long as that link says; and Little's law holds."""
    rate = "" if waits.startswith("rate") else 'rate = "20 Mbit/s", '
    run = tl.simulate(
        tl.loads(f"""
    duration = "20 s"
    link.w = {{ ends = ["a", "b"], {rate}delay = "1 ms", queue = {queue}, {waits}, reverse.rate = "20 Mbit/s" }}
    traffic.f = {{ kind = "cbr", from = "a", to = "b", interval = "13 ms", random = "exponential", stop = "18 s", udp.datagram = "125 B" }}
    """)
    )
    link, flow = run.links.row(0, named=True), run.flows.row(0, named=True)
    assert link["packets_dropped"] == 0
    assert link["queueing_delay_mean_s"] > 0.001
    # But for the few that are being transmitted, for 50 us, when the link goes down.
    assert link["queueing_delay_mean_s"] == pytest.approx(flow["queueing_delay_mean_s"], abs=1e-4)
    waiting = link["packets_out"] * link["queueing_delay_mean_s"] / 20
    assert link["queue_mean_packets"] == pytest.approx(waiting, rel=1e-6)
    assert link["queue_mean_packets"] <= link["queue_max_packets"]


def test_cake_is_as_busy_and_as_long_as_its_shaper() -> None:
    run = tl.simulate(
        tl.loads("""
    duration = "20 s"
    observe.interval = "100 ms"
    link.w = { ends = ["a", "b"], rate = "100 Mbit/s", delay = "10 ms", queue = { kind = "cake", rate = "1 Mbit/s", target = "1 s", interval = "2 s", tins = "besteffort" }, reverse.queue = "100 packets" }
    traffic.f = { kind = "bulk", from = "a", to = "b", tcp.window = "20 packets" }
    """)
    )
    assert run.links["utilization"][0] == pytest.approx(1, abs=0.01)
    series = run.series.filter((pl.col("entity") == "w") & (pl.col("time_s") > 1))
    mean = series.group_by("metric").agg(pl.col("value").mean()).rows_by_key("metric", unique=True)
    mean = {metric: value for metric, (value,) in mean.items()}
    assert mean["utilization"] == pytest.approx(1, abs=0.01)
    # Who joins waits behind those that wait, and before that for the packet that the shaper let go last.
    assert mean["queueing_delay_s"] == pytest.approx(run.links["queueing_delay_mean_s"][0], rel=0.05)


def test_a_markov_chain_begins_in_each_state_as_often_as_that_holds() -> None:
    base = tl.loads("""
    duration = "10 ms"
    observe.interval = "5 ms"
    link.w = { ends = ["a", "b"], rate = { kind = "markov", states = [{ rate = "10 Mbit/s", mean = "1 s" }, { rate = "2 Mbit/s", mean = "9 s" }] } }
    traffic.f = { kind = "cbr", from = "a", to = "b", rate = "1 Mbit/s" }
    """)
    fast = 0
    for seed in range(300):
        series = tl.simulate(base.set_all({"seed": seed})).series
        capacity = series.filter((pl.col("entity") == "w") & (pl.col("metric") == "capacity_bps"))["value"][0]
        fast += capacity > 5e6
    # A tenth of them, with four standard deviations of a binomial distribution.
    assert abs(fast - 30) < 4 * (300 * 0.1 * 0.9) ** 0.5


def test_a_shaper_that_is_no_slower_than_its_link_is_told() -> None:
    text = """
    duration = "1 s"
    link.wire = {{ ends = ["a", "b"], rate = "2 Mbit/s", shaper = {{ rate = "{rate}", burst = "10 kB" }} }}
    traffic.t = {{ kind = "cbr", from = "a", to = "b", rate = "1 Mbit/s" }}
    """
    told = tl.simulate(tl.loads(text.format(rate="2 Mbit/s"))).warnings
    assert list(told) == ["the shaper of wire shapes nothing, as its rate is not below that of the link"]
    assert not tl.simulate(tl.loads(text.format(rate="1 Mbit/s"))).warnings


def test_an_outage_after_the_end_is_told() -> None:
    text = """
    duration = "1 s"
    link.wire = {{ ends = ["a", "b"], rate = "2 Mbit/s", outages = {{ schedule = [{outages}] }} }}
    traffic.t = {{ kind = "cbr", from = "a", to = "b", rate = "1 Mbit/s" }}
    """
    late = '{ at = "500 ms", for = "10 ms" }, { at = "2 s", for = "1 s" }'
    told = tl.simulate(tl.loads(text.format(outages=late))).warnings
    assert list(told) == ["1 of 2 outages of wire begin after the end of the run, at 1 s"]
    assert not tl.simulate(tl.loads(text.format(outages='{ at = "500 ms", for = "10 ms" }'))).warnings
