"""What stands of networks of fewer access routers beside the whole one: the table, made again in part, and its verdicts."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import polars as pl
import pytest

import tightlink as tl
from tightlink.studies.congestion_control.observe import anchors
from tightlink.studies.congestion_control.setup.experiment import Size

#: The cell that takes a second or two.
PERIODS = [f"{name}.{batch}" for name in ("before", "congestion", "after") for batch in range(5)]
CHEAP = (25, "reno", Fraction(1, 6), "10 s")


@pytest.fixture(scope="module")
def thinned(benchmark: Callable[[str], Any]) -> Any:
    return benchmark("thinned")


def test_a_cell_of_the_table_is_made_again(thinned: Any) -> None:
    """To the byte: on any machine, by this engine."""
    cell = thinned.Cell(*CHEAP)
    stored = [line for line in anchors.FILE.read_text(encoding="utf-8").splitlines() if line.startswith(f"{cell.key},")]
    assert len(stored) == len(PERIODS)
    assert thinned.lines(cell, tl.simulate(cell.scenario())).splitlines() == stored


def test_every_cell_says_what_made_it() -> None:
    lines = anchors.FILE.read_text(encoding="utf-8").splitlines()[1:]
    made = [place for place, line in enumerate(lines) if line.startswith("# commit ")]
    assert all("engine behaviour" in lines[place] and "dirty" not in lines[place] for place in made)
    # All rows of a cell, and each cell once.
    cells = [{tuple(row.split(",")[: len(anchors.KEYS)]) for row in lines[one + 1 : other]}
             for one, other in zip(made, [*made[1:], len(lines)], strict=True)]  # fmt: skip
    assert all(len(keys) == 1 for keys in cells)
    assert len(set().union(*cells)) == len(cells) == anchors.read().height / len(PERIODS)


def test_verdicts() -> None:
    whole = pl.Series([1.0, 2.0, 3.0, 2.0, 1.0])
    noise = pl.Series([0.1, -0.1, 0.0, 0.1, -0.1])
    for factor, spread, verdict in (
        (1.05, 0.01, "agrees"), (1.2, 0.01, "differs"), (0.8, 0.01, "differs"), (1.05, 1.0, "undecided"),
    ):  # fmt: skip
        found = anchors.ratio(whole * factor + noise * spread, whole, negligible=False)
        assert found.value == pytest.approx(factor, abs=0.02)
        assert found.low < found.value < found.high
        assert found.verdict == verdict
    assert anchors.ratio(whole * 9, whole, negligible=True).verdict == "negligible in both"
    nothing = anchors.ratio(whole * 0, whole * 0, negligible=False)
    assert nothing.verdict == "undecided"


def test_what_is_not_that_of_the_whole_network_is_named() -> None:
    sixth, whole = Size(Fraction(1), "30 s", Fraction(1, 6)), Size(Fraction(1), "30 s")
    said = anchors.unlike(sixth, "queueing_delay_mean_s", ("reno",))
    assert said.startswith(
        "At 1/6 of the access routers queueing_delay_mean_s is not that of the whole network: 0.27 ["
    )
    assert not anchors.unlike(whole, "queueing_delay_mean_s", ("reno",))
    assert not anchors.unlike(sixth, "share_transmitting", ("reno", "fast"))
    # A quarter is taken for a sixth, and so is a tenth, of which nothing is known.
    assert said == anchors.unlike(Size(Fraction(1), "30 s", Fraction(1, 4)), "queueing_delay_mean_s", ("reno",))
    assert said == anchors.unlike(Size(Fraction(1), "30 s", Fraction(1, 10)), "queueing_delay_mean_s", ("reno",))
