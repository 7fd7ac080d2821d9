"""Figures of effects and of the ten steps: what is in them, and that they can be drawn of any design."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from drawn import Drawn
from tightlink import plots
from tightlink.analysis.effects.influence import influence
from tightlink.analysis.effects.main import main_effects
from tightlink.analysis.effects.ten_steps import Steps, steps
from tightlink.errors import TightlinkError
from tightlink.experiment.fractional import fraction
from tightlink.plots import palette, ten_steps
from tightlink.plots.ten_steps import names as named
from tightlink.report import charts

HANDBOOK: Final = Path(__file__).parent / "data" / "handbook"
LIGHT: Final = pl.read_csv(HANDBOOK / "sonoluminescence.csv", comment_prefix="#")
LIGHTS: Final = [f"X{place}" for place in range(1, 8)]
EACH: Final = [name for name in ten_steps.__all__ if name != "page"]


def _effects() -> pl.DataFrame:
    """One effect of each strength and sign."""
    random = np.random.default_rng(4)
    frame = pl.DataFrame(
        list(itertools.product((1, 2), repeat=2)) * 8, schema=["net.a.queue", "net.b.queue"], orient="row"
    )
    one, two = ((frame[name] - 1.5).to_numpy() * 2 for name in frame.columns)
    noise = random.normal(size=(2, 32))
    frame = frame.with_columns(goodput_bps=1e6 * (20 + one * 2 + noise[0]), loss=0.1 - 0.005 * two + 0.01 * noise[1])
    return main_effects(frame, frame.columns[:2], frame.columns[2:])


def _light() -> Steps:
    return steps(LIGHT, "intensity", LIGHTS)


def _texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_the_map_says_it_twice(tmp_path: Path) -> None:
    effects = _effects()
    marks = dict(zip(zip(effects["factor"], effects["response"], strict=True), effects["mark"], strict=True))
    assert marks["net.a.queue", "goodput_bps"] == "**"
    assert marks["net.b.queue", "loss"] == "*"
    drawn = Drawn(charts.significance_map(effects), tmp_path)
    assert drawn.marks("rect") == [palette.SERIES[0], "none", "none", palette.SERIES[4]]
    assert {"** p < 0.01", "* p < 0.05", "a.queue", "b.queue", "goodput", "loss"} <= set(drawn.texts)
    assert [text[0] + text[-2:].strip() for text in drawn.texts if text[-1] == "*"] == ["+**", "−*"]
    named = charts.significance_map(effects, names={"net.a.queue": "x1", "net.b.queue": "x2"})
    assert {"x1", "x2"} <= set(Drawn(named, tmp_path).texts)


def test_the_map_of_the_report() -> None:
    chart = charts.significance_map(_effects()).to_dict()
    data = next(iter(chart["datasets"].values()))
    effects = _effects().to_dicts()
    raised, lowered = (
        f"{100 * abs(effects[place]['relative_effect']):.{digits}f} %" for place, digits in ((0, 0), (3, 1))
    )
    assert [row["text"] for row in data] == [f"+{raised} **", "", "", f"−{lowered} *"]
    # The larger the effect, the stronger the colour; and below each factor stand its levels.
    strength = [row["strength"] for row in data]
    assert strength[0] > strength[3] > 0
    assert {row["across"].partition("\n")[2] for row in data} == {f"{row['low']} → {row['high']}" for row in effects}
    assert [row["significance"] for row in data] == ["** p < 0.01", "not significant", "not significant", "* p < 0.05"]
    assert chart["layer"][0]["encoding"]["color"]["scale"]["range"][:2] == [palette.SERIES[0], palette.SERIES[4]]
    assert [layer["mark"]["type"] for layer in chart["layer"]] == ["rect", "text"]


def test_main_effects_of_the_report() -> None:
    effects = _effects()
    chart = charts.main_effects(effects, "goodput_bps").to_dict()
    rows = [row for data in chart["datasets"].values() for row in data if row.get("side") == "high"]
    assert [row["value"] for row in rows] == pytest.approx([value / 1e6 for value in effects["mean_high"][::2]])
    # The unit is that of the larger mean.
    from_nothing = effects.with_columns(mean_low=pl.lit(0.0))
    title = charts.main_effects(from_nothing, "goodput_bps").to_dict()["layer"][1]["encoding"]["y"]["title"]
    assert title == "mean goodput (Mbit/s)"
    with pytest.raises(TightlinkError, match="no effects on goodput: expected one of goodput_bps, loss; did you mean"):
        charts.main_effects(effects, "goodput")


def test_main_effects_say_their_numbers(tmp_path: Path) -> None:
    effects = _effects()
    one, other = effects.row(0, named=True), effects.row(2, named=True)
    assert (other["factor"], other["response"], other["mark"]) == ("net.b.queue", "goodput_bps", "")
    drawn = Drawn(charts.main_effects(effects, "goodput_bps"), tmp_path)
    numbers = [f"+{one['effect'] / 1e6:.3g} **", f"+{100 * one['relative_effect']:.0f} %"]
    numbers += [f"{other['effect'] / 1e6:+.3g}".replace("-", "−")]
    assert [text for text in drawn.texts if text in numbers] == numbers
    assert {"mean goodput (Mbit/s)", "not significant"} <= set(drawn.texts)
    assert drawn.marks("line", "stroke") == [palette.SERIES[0], palette.NEUTRAL]
    # What was taken by its logarithm has factors.
    of_logs = effects.with_columns(scale=pl.lit("log"), relative_effect=pl.lit(-0.25))
    assert Drawn(charts.main_effects(of_logs, "goodput_bps"), tmp_path).texts.count("× 0.75 **") == 1
    # With many factors numbers stand upright.
    many = pl.concat([effects.with_columns(pl.col("factor") + str(place)) for place in range(4)])
    texts = charts.main_effects(many, "goodput_bps").to_dict()["layer"][-1]["mark"]
    assert texts["angle"] == 270


def test_one_value_for_each_cell() -> None:
    twice = pl.concat([_effects().select(pl.lit(period).alias("period"), pl.all()) for period in ("1", "2")])
    with pytest.raises(TightlinkError, match="choose a value of period"):
        charts.significance_map(twice)
    with pytest.raises(TightlinkError, match="choose a value of period"):
        charts.main_effects(twice, "loss")


def test_influence(tmp_path: Path) -> None:
    twice = pl.concat([_effects().select(pl.lit(period).alias("period"), pl.all()) for period in ("first", "second")])
    chart = charts.influence(influence(twice, by=["period"]))
    rows = next(iter(chart.to_dict()["datasets"].values()))
    assert [(row["factor"], row["by"], row["psi"]) for row in rows] == [
        ("a.queue", "first", 0.5), ("b.queue", "first", 0.25), ("a.queue", "second", 0.5), ("b.queue", "second", 0.25),
    ]  # fmt: skip
    drawn = Drawn(chart, tmp_path)
    assert [text for text in drawn.texts if "queue" in text] == ["a.queue", "b.queue"]
    assert {"period", "first", "second", "influence Ψ: share of responses"} <= set(drawn.texts)
    alone = Drawn(charts.influence(influence(_effects())), tmp_path)
    assert len(alone.marks("symbol")) == 2
    assert "first" not in alone.texts


def test_means_are_drawn_where_they_are() -> None:
    found = _light()
    ax = ten_steps.means(found)
    one = found.means.row(0, named=True)
    assert np.asarray(ax.lines[0].get_ydata()).tolist() == pytest.approx([one["mean_low"], one["mean_high"]])
    # The line of the grand mean.
    assert np.asarray(ax.lines[-1].get_ydata()).tolist() == pytest.approx([found.mean] * 2)
    assert len(_texts(ax)) == len(LIGHTS)
    assert _texts(ax)[0] == f"{one['effect']:+.3g} {one['mark']}\n{100 * one['relative_effect']:+.0f} %".replace(
        "-", "−"
    )


@pytest.mark.parametrize("step", EACH)
def test_each_step_alone(step: str, tmp_path: Path) -> None:
    ax = getattr(ten_steps, step)(_light())
    assert isinstance(ax, Axes)
    assert isinstance(ax.figure, Figure)
    assert plots.write(ax.figure, tmp_path / "step.svg").stat().st_size > 5_000


def test_what_stands_out_is_named() -> None:
    found = _light()
    assert _texts(ten_steps.half_normal(found)) == ["X1×X2", "X1×X7", "X3", "X1", "X1×X3", "X7", "X2"]
    assert ", ".join(_texts(ten_steps.youden(found))) == "X2, X7, X1×X7, X1×X2, X3, X1, X1×X3"
    bars = _texts(ten_steps.effects(found))
    assert bars[:3] == ["−", "−", "+  or X2×X7, X4×X6"]
    assert [label.get_text() for label in ten_steps.residual_sd(found).get_xticklabels()][:3] == [
        "mean",
        "+ X2",
        "+ X7",
    ]
    corners = {text for text in _texts(ten_steps.contour(found)) if text}
    assert {"75.85", "67.25", "75.35"} <= corners


def test_the_page(tmp_path: Path) -> None:
    figure = ten_steps.page(_light())
    titles = [ax.get_title(loc="left") for ax in figure.axes if ax.get_title(loc="left")]
    assert titles == [
        "1  ordered data", "2  scatter", "3  mean", "4  interaction effects", "5  block", "6  Youden", "7  |effects|",
        "8  half-normal", "9  residual standard deviation", "10  contour",
    ]  # fmt: skip
    assert figure.get_suptitle() == "intensity: 16 runs of 16 of 128 combinations: resolution 4, orthogonal"
    first = plots.write(figure, tmp_path / "one.svg").read_bytes()
    assert plots.write(ten_steps.page(_light()), tmp_path / "two.svg").read_bytes() == first


@pytest.mark.parametrize(("factors", "runs"), [(1, 4), (30, 64)])
def test_pages_of_any_design(factors: int, runs: int, tmp_path: Path) -> None:
    names = [f"network.bottleneck.key_{place}" for place in range(factors)]
    signs = fraction(factors, 3, runs).signs if factors > 2 else np.array(list(itertools.product((-1, 1), repeat=2)))
    y = signs[:, 0] * 3.0 + np.random.default_rng(2).normal(size=len(signs))
    frame = pl.DataFrame({name: signs[:, place] for place, name in enumerate(names)}).with_columns(rtt_s=y + 9)
    figure = ten_steps.page(steps(frame, "rtt_s", names))
    assert plots.write(figure, tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
    key = figure.get_supxlabel()
    assert key.startswith("A = network" if factors < 26 else "F1 = network")
    assert key.count(" = ") == factors


def test_letters() -> None:
    assert named.letters(["net.x1", "net.x2"]) == {"net.x1": "x1", "net.x2": "x2"}
    assert named.letters([f"long_{place}" for place in range(9)])["long_8"] == "J"
    assert named.term("a × b", {"a": "A", "b": "B"}) == "A×B"
