"""Links that change: in a scenario, in what is printed of it, and in a run."""

from pathlib import Path
from typing import Any

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
        ("é\n", "a trace"),
    ],
    ids=repr,
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


def test_a_report_names_no_rate_where_there_is_none(tmp_path: Path) -> None:
    scenario = over(rate={"schedule": STEPS}).set("observe.interval", "100 ms")
    text = tl.simulate(scenario).report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "The rate of the busiest link, wire, changes." in text
    assert "has a rate of" not in text
