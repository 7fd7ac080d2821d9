"""Charts of delay: the plane with throughput, distributions, quantiles of totals."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
import polars as pl
import pytest

from tightlink import plots
from tightlink.plots import palette
from tightlink.report import charts


def _flows() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "label": ["cubic", "bbr", "reno"],
            "throughput_bps": [9.1e6, 8.7e6, None],
            "queueing_delay_p50_s": [0.050, 0.004, 0.03],
            "queueing_delay_p95_s": [0.095, 0.012, 0.07],
            "queueing_delay_max_s": [0.1, 0.03, 0.09],
        }
    )


def _rows(spec: dict[str, Any], layer: int = 0) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = spec["datasets"][spec["layer"][layer]["data"]["name"]]
    return rows


def test_the_plane_has_a_point_for_each_row_that_has_both() -> None:
    spec = charts.delay_throughput(_flows()).to_dict()
    rows = _rows(spec)
    assert [(row["label"], row["queueing_delay_p95_s"]) for row in rows] == [("cubic", 95.0), ("bbr", 12.0)]
    encoding = spec["layer"][0]["encoding"]
    assert (encoding["x"]["title"], encoding["y"]["title"]) == ("p95 queueing delay (ms)", "throughput (Mbit/s)")
    assert encoding["color"]["scale"] == {
        "domain": ["cubic", "bbr"],
        "range": [palette.colors([name])[name] for name in ("cubic", "bbr")],
    }


def test_the_mouse_shows_words_and_units() -> None:
    """It showed "goodput bps 1,912,000", and "queueing delay mean s 0.000000000000001612" below it."""
    flows = _flows().with_columns(
        goodput_bps=pl.Series([9e6, 8e6, 0.0]),
        queueing_delay_mean_s=pl.Series([0.05, 1.6e-15, 0.0]),
        congestion=pl.Series(["cubic", "bbr", None]),
    )
    spec = charts.delay_throughput(flows).to_dict()
    said = {each["title"]: each["field"] for each in spec["layer"][0]["encoding"]["tooltip"]}
    assert {"flow", "goodput (Mbit/s)", "mean queueing delay (ms)", "congestion"} < said.keys()
    assert [row[said["goodput (Mbit/s)"]] for row in _rows(spec)] == [9.0, 8.0]
    assert [row[said["mean queueing delay (ms)"]] for row in _rows(spec)] == [50.0, 0.0]


def test_replications_are_pale_and_their_mean_is_large() -> None:
    twice = pl.concat([_flows(), _flows().with_columns(pl.col("queueing_delay_p95_s") * 3)])
    spec = charts.delay_throughput(twice).to_dict()
    opacity = spec["layer"][0]["encoding"]["opacity"]
    assert opacity["value"] < spec["layer"][1]["mark"]["opacity"]
    # What the legend shows is as opaque as the means.
    assert opacity["condition"] == {"test": "false", "value": spec["layer"][1]["mark"]["opacity"]}
    assert spec["layer"][0]["mark"]["size"] < spec["layer"][1]["mark"]["size"]
    means = {row["label"]: row["queueing_delay_p95_s"] for row in _rows(spec, 1)}
    assert means == pytest.approx({"cubic": 190.0, "bbr": 24.0})


def test_an_ellipse_is_one_deviation_of_the_rows_of_a_name() -> None:
    """RFC 7928, 2.7: along its axes, whose squares are the eigenvalues of the covariance; two rows have none."""
    delays, rates = [0.010, 0.020, 0.030, 0.040], [9e6, 8e6, 8.5e6, 7e6]
    rows = pl.DataFrame({
        "label": ["pie"] * 4 + ["red"] * 2, "throughput_bps": [*rates, 5e6, 6e6],
        "queueing_delay_p95_s": [*delays, 0.05, 0.06],
    })  # fmt: skip
    spec = charts.delay_throughput(rows, spread=True).to_dict()
    [place] = [place for place, layer in enumerate(spec["layer"]) if layer["mark"]["type"] == "line"]
    ellipse = _rows(spec, place)
    assert {row["label"] for row in ellipse} == {"pie"}
    # Its box is a deviation wide and high on either side of the mean.
    for column, values, unit in (("queueing_delay_p95_s", delays, 1e3), ("throughput_bps", rates, 1e-6)):
        along = [row[column] for row in ellipse]
        mean, deviation = statistics.fmean(values) * unit, statistics.stdev(values) * unit
        assert max(along) - mean == pytest.approx(deviation, rel=0.01) == pytest.approx(mean - min(along), rel=0.01)


def test_no_name_of_the_plane_covers_another() -> None:
    delays = [0.01 + place / 1e7 for place in range(8)]
    close = pl.DataFrame({"label": list("abcdefgh"), "throughput_bps": [1e6] * 8, "queueing_delay_p95_s": delays})
    far = pl.DataFrame({"label": ["far"], "throughput_bps": [2e6], "queueing_delay_p95_s": [0.02]})
    spec = charts.delay_throughput(pl.concat([close, far])).to_dict()
    named = {
        row["label"]
        for layer in spec["layer"] if layer["mark"]["type"] == "text" and "field" in layer["encoding"]["text"]
        for row in spec["datasets"][layer["data"]["name"]]
    }  # fmt: skip
    assert named == {*"abcdefgh", "far"}
    # No legend where all have room; with one that has none there is one.
    assert spec["layer"][0]["encoding"]["color"]["legend"] is None
    long = close.with_columns(label=pl.lit("a name that is longer than a narrow chart is wide: ") + pl.col("label"))
    spec = charts.delay_throughput(long).to_dict()
    assert spec["layer"][0]["encoding"]["color"]["legend"] is not None


def test_a_distribution_climbs_from_nothing_to_all() -> None:
    frame = pl.DataFrame({"flow": ["a", "a", "b", "a", "a"], "rtt_s": [0.02, 0.01, 0.5, None, 0.01]})
    (rows,) = charts.distribution(frame, "rtt_s", by="flow").to_dict()["datasets"].values()
    steps = [(row["flow"], row["rtt_s"], round(row["share"], 6)) for row in rows]
    assert steps == [
        ("a", 10.0, 0.0), ("a", 10.0, 33.333333), ("a", 10.0, 66.666667), ("a", 20.0, 100.0), ("b", 500.0, 0.0),
        ("b", 500.0, 100.0),
    ]  # fmt: skip


def test_a_row_may_stand_for_several_values() -> None:
    each = pl.DataFrame({"rtt_s": [0.01, 0.01, 0.03]})
    counted = pl.DataFrame({"rtt_s": [0.01, 0.03], "samples": [2, 1]})
    (steps,) = charts.distribution(each, "rtt_s").to_dict()["datasets"].values()
    (fewer,) = charts.distribution(counted, "rtt_s", weight="samples").to_dict()["datasets"].values()
    assert fewer == [steps[0], *steps[2:]]
    first, second = (
        np.array([axes.lines[0].get_xdata(), axes.lines[0].get_ydata()])
        for axes in (plots.cdf(each, "rtt_s"), plots.cdf(counted, "rtt_s", weight="samples"))
    )
    assert np.delete(first, 1, axis=1).tolist() == second.tolist()


def test_the_quantiles_of_totals_are_points_of_their_distribution() -> None:
    chart = charts.quantiles(_flows())
    assert chart is not None
    (rows,) = chart.to_dict()["datasets"].values()
    of = [(row["queueing_delay_s"], row["share"]) for row in rows if row["label"] == "bbr"]
    assert of == [(4.0, 50.0), (12.0, 95.0), (30.0, 100.0)]
    assert charts.quantiles(_flows(), "rtt") is None


def test_charts_of_nothing() -> None:
    empty = _flows().clear()
    assert charts.delay_throughput(empty).to_dict()
    assert charts.distribution(empty, "queueing_delay_p95_s", by="label").to_dict()
    assert charts.quantiles(empty) is not None


def test_a_legend_of_many_shades_tells_some_of_them() -> None:
    """Vega filtered what exceeded thirty entries, said so on the console, and its rest was cut off."""
    levels = pl.DataFrame(
        {
            "flows": [str(level) for level in range(1, 41)],
            "throughput_bps": [1e6 * level for level in range(1, 41)],
            "queueing_delay_p95_s": [0.001 * level for level in range(1, 41)],
        }
    )
    for rows, told in ((levels, ["1", "7", "12", "18", "23", "29", "34", "40"]), (levels.head(8), None)):
        spec = charts.delay_throughput(rows, by="flows", ordered=True).to_dict()
        color = spec["layer"][0]["encoding"]["color"]
        assert len(color["scale"]["range"]) == rows.height
        assert (color["legend"] or {}).get("values") == told
