"""Factors and designs: what they run, what they claim, and what they refuse in one clear sentence."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tightlink as tl
from tightlink import cli
from tightlink.experiment import designs
from tightlink.experiment.cells import cells
from tightlink.experiment.designs import Options, make
from tightlink.experiment.factors import Factor, value_at
from tightlink.experiment.fractional import fraction, of_signs
from tightlink.experiment.levels import Interval, levels
from tightlink.experiment.plan import Plan

QUEUE = "link.bottleneck.queue"
WINDOW = "traffic.ftp.tcp.window"


@pytest.fixture
def base(one_flow: str) -> tl.Scenario:
    return tl.loads(one_flow)


def _values(base: tl.Scenario, *texts: str, kind: str = "full", **options: Any) -> list[dict[str, Any]]:
    design = make([Factor.parse(text) for text in texts], kind, Options(**options))
    return [cell.values for cell in cells(base, design)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1..5", [1, 2, 3, 4, 5]),
        ("1..10:3", [1, 4, 7, 10]),
        ("2..3, 7", [2, 3, 7]),
        ("25 B..100 B:25 B", ["25 B", "50 B", "75 B", "100 B"]),
        ("0.5 ms..2 ms:0.5 ms", ["0.5 ms", "1 ms", "1.5 ms", "2 ms"]),
        ("100 kbit/s..1 Mbit/s:x10", ["100 kbit/s", "1000 kbit/s"]),
        ("0.01..0.03:0.01", [0.01, 0.02, 0.03]),
        ("5 packets..8 packets", ["5 packets", "6 packets", "7 packets", "8 packets"]),
        ("true, false", [True, False]),
    ],
)
def test_ranges(text: str, expected: list[object]) -> None:
    assert levels(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5..1", "the second value is below the first"),
        ("1 ms..5 packets", "is of another kind$"),
        ("1..10 Mbit/s", 'is of another kind; did you mean "1 Mbit/s..10 Mbit/s"'),
        ("5 packets..50", 'did you mean "5 packets..50 packets"'),
        ("1..5:0", 'a range such as "1..20"'),
        ("1 ms..3 ms, 7 ms", "needs a step"),
        ("1..10000000", "at most 100000 levels"),
        ("1,,2", "between two commas"),
        ("a..b", 'a range such as "1..20"'),
    ],
)
def test_ranges_that_make_no_sense(text: str, message: str) -> None:
    with pytest.raises(tl.ScenarioError, match=message):
        levels(text)


def test_a_range_that_makes_no_sense_is_of_its_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "dsl.toml"
    file.write_text(tl.network("dsl").to_toml())
    assert cli.main(["sweep", str(file), "--vary", "link.access.rate=1..10 Mbit/s", "-n"]) == 2
    assert capsys.readouterr().err.startswith('tightlink: --vary: link.access.rate = "1..10 Mbit/s": expected a range')
    assert cli.main(["lab", str(file), "--slider", "link.access.rate=1..10 Mbit/s"]) == 2
    assert capsys.readouterr().err.startswith(
        'tightlink: --slider: link.access.rate = "1..10 Mbit/s": expected a range'
    )


def test_a_full_grid_is_in_order(base: tl.Scenario) -> None:
    found = _values(base, f"{QUEUE}=5 packets,20 packets", f"{WINDOW}=4 packets,8 packets,16 packets")
    assert len(found) == 6
    assert found[0] == {QUEUE: "5 packets", WINDOW: "4 packets"}
    assert found[1] == {QUEUE: "5 packets", WINDOW: "8 packets"}


def test_keys_that_change_together(base: tl.Scenario) -> None:
    found = _values(base, "link.bottleneck.rate & link.bottleneck.delay = 1 Mbit/s & 20 ms, 4 Mbit/s & 5 ms")
    assert [list(values.values()) for values in found] == [["1 Mbit/s", "20 ms"], ["4 Mbit/s", "5 ms"]]
    with pytest.raises(tl.ScenarioError, match="2 values for each level"):
        Factor.parse("link.bottleneck.rate & link.bottleneck.delay = 1 Mbit/s, 4 Mbit/s & 5 ms")


def test_a_factor_that_matters_only_with_another(base: tl.Scenario) -> None:
    texts = ("traffic.ftp.tcp.recovery=reno,sack", f"{WINDOW}=4 packets,8 packets if traffic.ftp.tcp.recovery=sack")
    found = _values(base, *texts)
    assert found == [
        {"traffic.ftp.tcp.recovery": "reno"},
        {"traffic.ftp.tcp.recovery": "sack", WINDOW: "4 packets"},
        {"traffic.ftp.tcp.recovery": "sack", WINDOW: "8 packets"},
    ]
    # Compared as quantities, with the scenario's own value where no factor changes it.
    same = _values(base, f"{WINDOW}=4 packets,8 packets if link.bottleneck.rate=2000 kbit/s")
    assert len(same) == 2
    assert len(_values(base, f"{WINDOW}=4 packets,8 packets if link.bottleneck.rate=3 Mbit/s")) == 1


def test_all_of_a_table(dumbbell: str, base: tl.Scenario) -> None:
    (cell,) = cells(base, make([Factor.parse("link[*].rate=3 Mbit/s")]))
    assert cell.scenario.link["bottleneck"].rate == "3 Mbit/s"
    assert value_at(base, "link[*].rate") == "2 Mbit/s"
    assert value_at(tl.loads(dumbbell), "traffic.bulk.flows") == 100


def test_the_value_of_a_step_of_a_schedule() -> None:
    steps = 'rate.schedule = [{ at = "0 s", rate = "2 Mbit/s" }, { at = "1 s", rate = "4 Mbit/s" }]'
    base = tl.loads(f'duration = "2 s"\nlink.a = {{ ends = ["x", "y"], {steps} }}')
    assert value_at(base, "link.a.rate.schedule[1].rate") == "4 Mbit/s"
    assert value_at(base, "link.a.rate.schedule[2].rate") is None
    assert value_at(base, "link.a.rate.schedule[*].rate") is None
    changed = base.set("link.a.rate.schedule[1].rate", "9 Mbit/s")
    assert value_at(changed, "link.a.rate.schedule[1]") == {"at": "1 s", "rate": "9 Mbit/s"}
    both = base.set("link.a.rate.schedule[*].rate", "3 Mbit/s")
    assert value_at(both, "link.a.rate.schedule[*].rate") == "3 Mbit/s"
    with pytest.raises(tl.ScenarioError, match=r"\[2\] is beyond the list, which has 2 values"):
        base.set("link.a.rate.schedule[2].rate", "9 Mbit/s")


def test_one_at_a_time_begins_with_the_scenario(base: tl.Scenario) -> None:
    found = _values(
        base, f"{QUEUE}=5 packets,20 packets", f"{WINDOW}=4 packets,20 packets,40 packets", kind="one-at-a-time"
    )
    assert found == [{}, {QUEUE: "5 packets"}, {WINDOW: "4 packets"}, {WINDOW: "40 packets"}]


def test_a_latin_hypercube_uses_every_part_of_each_range(base: tl.Scenario) -> None:
    texts = ("link.bottleneck.delay=1 ms..101 ms", f"{WINDOW}=1 packet..10 packets", f"{QUEUE}=5 packets,50 packets")
    found = _values(base, *texts, kind="latin-hypercube", runs=10, seed=3)
    delays = sorted(float(values["link.bottleneck.delay"].split()[0]) for values in found)
    assert all(1 + 10 * place <= delay <= 11 + 10 * place for place, delay in enumerate(delays))
    assert sorted(int(values[WINDOW].split()[0]) for values in found) == list(range(1, 11))
    assert sum(values[QUEUE] == "5 packets" for values in found) == 5
    assert found == _values(base, *texts, kind="latin-hypercube", runs=10, seed=3)
    assert found != _values(base, *texts, kind="latin-hypercube", runs=10, seed=4)


def _shortest_word(signs: np.ndarray[Any, Any]) -> int | None:
    """By brute force: the fewest columns of which the product is constant."""
    for count in range(1, signs.shape[1] + 1):
        for columns in itertools.combinations(range(signs.shape[1]), count):
            if abs(signs[:, columns].prod(axis=1).sum()) == len(signs):
                return count
    return None


@pytest.mark.parametrize(
    ("factors", "resolution", "runs"),
    [(3, 3, 4), (5, 3, 8), (7, 3, 8), (4, 4, 8), (8, 4, 16), (9, 4, 32), (5, 5, 16), (8, 5, 64), (9, 3, 16)],
)
def test_fractions_have_the_resolution_that_they_claim(factors: int, resolution: int, runs: int) -> None:
    """Sizes from Montgomery, Design and Analysis of Experiments, table 8.14."""
    found = fraction(factors, resolution)
    assert found.signs.shape == (runs, factors)
    assert found.resolution is not None
    assert found.resolution == _shortest_word(found.signs)
    assert found.resolution >= resolution
    assert (found.signs.T @ found.signs == runs * np.eye(factors)).all()
    names = [chr(ord("A") + place) for place in range(factors)]
    columns = dict(zip(names, found.signs.T, strict=True))
    for generator in found.generators(names):
        factor, _, product = generator.partition(" = ")
        assert (columns[factor] == np.prod([columns[name] for name in product.split(" × ")], axis=0)).all()
    for group in found.aliases(names):
        first, *others = [np.prod([columns[name] for name in effect.split(" × ")], axis=0) for effect in group]
        assert all((first == other).all() for other in others)


@pytest.mark.parametrize(
    ("factors", "resolution", "runs", "had"),
    [(3, 3, 4, 3), (4, 3, 8, 4), (5, 4, 16, 5), (6, 5, 32, 6), (7, 5, 64, 7), (8, 3, 16, 4), (12, 7, 1024, 8)],
)
def test_as_many_runs_as_a_resolution_takes_have_the_highest_that_they_can(
    factors: int, resolution: int, runs: int, had: int
) -> None:
    """Sizes and resolutions from Box, Hunter, Hunter, Statistics for Experimenters, table 12.15."""
    for found in (
        fraction(factors, resolution),
        fraction(factors, resolution, 2 * runs),
        fraction(factors, None, runs),
    ):
        assert (len(found.signs), found.resolution) == (runs, had)


def test_of_a_design_that_claims_too_much() -> None:
    """The check sees a resolution that is not there."""
    signs = np.array([[a, b, a * b, a * b] for a in (-1, 1) for b in (-1, 1)])
    assert of_signs(signs).resolution == 2


def test_twenty_factors() -> None:
    assert fraction(20, 4).signs.shape == (64, 20)
    assert fraction(20, None, 64).resolution == 4
    assert fraction(20, None, 32).resolution == 3


def _seven(base: tl.Scenario) -> tuple[tl.Scenario, list[str]]:
    return base, [
        f"{QUEUE}=5 packets,20 packets",
        f"{WINDOW}=4 packets,20 packets",
        "link.bottleneck.rate=1 Mbit/s,2 Mbit/s",
        "link.bottleneck.delay=10 ms,50 ms",
        "traffic.ftp.tcp.payload=500 B,1000 B",
        "traffic.ftp.tcp.recovery=reno,sack",
        "traffic.ftp.start=0.1 s,0.2 s",
    ]


def test_a_fraction_of_a_scenario(base: tl.Scenario) -> None:
    scenario, texts = _seven(base)
    design = make([Factor.parse(text) for text in texts], "fractional", Options(resolution=3))
    assert len(cells(scenario, design)) == 8
    assert design.notes[0] == "8 of 128 combinations: resolution 3"
    assert len(design.notes) == 5
    assert len(design.aliases) == 7
    assert len(cells(scenario, make([Factor.parse(text) for text in texts[:3]], "two-level"))) == 8


def test_a_design_written_and_read_again(base: tl.Scenario, tmp_path: Path) -> None:
    scenario, texts = _seven(base)
    design = make([Factor.parse(text) for text in texts], "fractional", Options(resolution=3))
    file = tmp_path / "design.csv"
    file.write_text(designs.write(design, scenario))
    again = make([], str(file))
    assert [cell.values for cell in cells(scenario, again)] == [cell.values for cell in cells(scenario, design)]


def test_a_table_is_a_level_as_a_scenario_writes_it(base: tl.Scenario, tmp_path: Path) -> None:
    codel = {"kind": "codel", "target": "5 ms"}
    found = tl.sweep(base.set("duration", "1 s"), {QUEUE: ["20 packets", codel]}, output=tmp_path / "sweep")
    assert found.runs.collect()[QUEUE].to_list() == ["20 packets", '{ kind = "codel", target = "5 ms" }']
    assert "{&#39;kind" not in found.report(tmp_path / "page.html").read_text(encoding="utf-8")
    again = make([], str(tmp_path / "sweep" / "design.csv"))
    assert [cell.values[QUEUE] for cell in cells(base, again)] == ["20 packets", codel]


@pytest.mark.parametrize(
    ("texts", "kind", "options", "message"),
    [
        (["link.botleneck.queue=5 packets"], "full", {}, 'there is no link "botleneck".*link.bottleneck'),
        (["link.bottleneck.quue=5 packets"], "full", {}, 'unknown key.*did you mean "queue"'),
        ([f"{QUEUE}=5 packets,10 Mbit/s"], "full", {}, f'vary: {QUEUE} = "10 Mbit/s": expected a number of packets'),
        (["traffic.ftp.to=receiver,nowhere"], "two-level", {}, None),
        (["traffic.ftp.to=nowhere,receiver"], "full", {}, 'vary: traffic.ftp.to = "nowhere": expected the name of'),
        ([f"{QUEUE}=5 packets,5packets"], "full", {}, "levels that differ"),
        ([f"{QUEUE}=5 packets", f"{QUEUE}=6 packets"], "full", {}, "each key in one factor only"),
        ([QUEUE], "full", {}, "vary:.*key=v1,v2"),
        ([], "full", {}, "at least one factor"),
        ([], "two-level", {}, "at least one factor"),
        ([f"{QUEUE}=5 packets,6 packets"], "ful", {}, "did you mean full"),
        ([f"{QUEUE}=5 packets,6 packets,7 packets"], "two-level", {}, "two levels for design two-level, not 3"),
        (["link.bottleneck.delay=1 ms..9 ms"], "full", {}, "a step for design full"),
        ([f"{QUEUE}=5 packets,6 packets"], "full", {"runs": 4}, "only design fractional and latin-hypercube has it"),
        ([f"{QUEUE}=5 packets,6 packets"], "latin-hypercube", {}, "how many combinations"),
        ([f"{QUEUE}=5 packets,6 packets if link.nowhere.rate=1 Mbit/s"], "full", {}, "after if, not link.nowhere"),
    ],
)  # fmt: skip
def test_what_is_refused(
    base: tl.Scenario, texts: list[str], kind: str, options: dict[str, int], message: str | None
) -> None:
    if message is None:
        # Seen with the run, as other runs are right.
        assert len(_values(base, *texts, kind=kind, **options)) == 2
        return
    with pytest.raises(tl.ScenarioError, match=message) as caught:
        _values(base, *texts, kind=kind, **options)
    assert "\n" not in str(caught.value)


def test_too_few_runs_for_the_resolution(base: tl.Scenario) -> None:
    factors = [Factor.parse(text) for text in _seven(base)[1]]
    with pytest.raises(tl.ScenarioError, match="runs = 8: expected at least 16: resolution 4 of 7 factors takes 16"):
        make(factors, "fractional", Options(resolution=4, runs=8))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a line of keys, and a line for each combination"),
        (f"{QUEUE}\n", "a line of keys, and a line for each combination"),
        (f"{QUEUE},{WINDOW}\n5 packets\n", "2 values in combination 1, not 1"),
    ],
)
def test_files_that_are_no_design(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "design.csv"
    file.write_text(text)
    with pytest.raises(tl.ScenarioError, match=message):
        make([], str(file))


def test_replications_have_the_same_seeds_in_every_cell(base: tl.Scenario) -> None:
    plan = Plan.of(base.set("seed", 7), {QUEUE: ["5 packets", "20 packets"]}, replications=3)
    assert [(task.name, task.scenario.seed) for task in plan.tasks()] == [
        ("0/0", 7), ("0/1", 8), ("0/2", 9), ("1/0", 7), ("1/1", 8), ("1/2", 9),
    ]  # fmt: skip
    with pytest.raises(tl.ScenarioError, match="no factor seed beside replications"):
        Plan.of(base, {"seed": [1, 2]}, replications=2)


def test_python_takes_what_toml_takes(base: tl.Scenario) -> None:
    vary: dict[Any, object] = {
        ("link.bottleneck.rate", "link.bottleneck.delay"): [("1 Mbit/s", "1 ms"), ("2 Mbit/s", "2 ms")],
        QUEUE: {"levels": ["5 packets", "6 packets"], "if": {"link.bottleneck.rate": "2 Mbit/s"}},
        "traffic.ftp.flows": range(1, 3),
    }
    assert len(Plan.of(base, vary).cells) == 6
    with pytest.raises(TypeError, match="'replication'"):
        Plan.of(base, vary, replication=3)


def test_an_interval_of_one_value() -> None:
    assert Interval.of("5 ms", "5 ms").at(0.7) == "5 ms"
