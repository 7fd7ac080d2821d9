"""Charts of reports are what Vega-Lite's schema allows; commands do not look, as it takes longer than all else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import pytest

from drawn import Drawn
from tightlink import cli, plots
from tightlink.plots import paper
from tightlink.report import charts

EXAMPLES = Path(__file__).parent.parent / "examples"
FACTORS = [f"link.bottleneck.{key}" for key in ("queue=5 packets,10 packets", "delay=10 ms,20 ms")]


@pytest.mark.parametrize(
    "commands",
    [
        pytest.param([["run", "one-flow.toml", "-o", "out"], ["report", "out"]], id="run"),
        pytest.param([["run", "transfers.toml", "-o", "out"], ["report", "out"]], id="transfers"),
        pytest.param([["sweep", "one-flow.toml", "-o", "out", "--vary", FACTORS[0], "--vary", FACTORS[1]]], id="sweep"),
        pytest.param([["capture", "slow-uploads.pcapng.gz", "-o", "out"], ["report", "out"]], id="capture"),
        pytest.param(
            [["study", "evaluation", "--congestion", "cubic,reno", "--tests", "ramp-up", "-o", "out"]], id="study"
        ),
    ],
)
def test_reports_have_charts_as_the_schema_has_them(
    commands: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, seen = alt.TopLevelMixin.to_dict, []

    def validated(self: Any, *, validate: bool = True, context: Any = None, **options: Any) -> dict[str, Any]:
        # A chart within another is no whole one: it has a context.
        seen.append(not context)
        return plain(self, validate=validate or not context, context=context, **options)

    monkeypatch.setattr(alt.TopLevelMixin, "to_dict", validated)
    monkeypatch.chdir(tmp_path)
    for command in commands:
        with_files = [str(EXAMPLES / part) if (EXAMPLES / part).is_file() else part for part in command]
        assert cli.main(with_files) in {0, 3}
    assert any(seen)
    assert (tmp_path / "out" / "report.html").is_file()


def test_columns_of_groups_and_keys_are_drawn() -> None:
    """Their names have dots and brackets, by which Vega would look into their values, and draw nothing."""
    means = pl.DataFrame({"traffic[*].flows": [1, 2], "link.l.delay": ["1 ms", "2 ms"], "bbr.share": [0.5, 0.6]})
    layers = charts.over_levels(means, "traffic[*].flows", "bbr.share", by="link.l.delay").to_dict()["layer"]
    assert layers[-1]["encoding"]["y"]["field"] == r"bbr\.share"
    assert layers[-1]["encoding"]["color"]["field"] == r"link\.l\.delay"
    line = charts.line(means, "traffic[*].flows", "bbr.share").to_dict()["encoding"]
    assert line["x"]["field"] == r"traffic\[*\]\.flows"


def test_few_kinds_all_have_their_names() -> None:
    kinds = ["drop-tail", "codel", "pie", "fq-codel", "cake"]
    for count, named in ((4, False), (5, None)):
        means = pl.DataFrame({"link.l.queue.kind": kinds[:count], "loss": [0.1] * count})
        axis = charts.over_levels(means, "link.l.queue.kind", "loss").to_dict()["layer"][0]["encoding"]["x"]["axis"]
        assert axis.get("labelOverlap") is named


@pytest.mark.parametrize(
    ("levels", "texts"),
    [
        (["25 Mbit/s", "100 Mbit/s"], ["25", "100"]),
        (["15 Mbit/s", "90 Mbit/s"], ["15", "90"]),
        (["150 Mbit/s", "950 Mbit/s"], ["150", "950"]),
        (["2.9 ms", "30 ms"], ["2.9", "30"]),
        (["25 packets", "100 packets", "400 packets"], ["25", "100", "400"]),
        (["25 packets", "40 packets", "12345 packets"], ["25", "40", "12.345k"]),
        ([0.0015, 0.15], ["0.0015", "0.15"]),
        (["1234567 packets", "9876543 packets"], ["1.234567M", "9.876543M"]),
    ],
)
def test_ticks_are_the_levels(levels: list[Any], texts: list[str], tmp_path: Path) -> None:
    """Vega rounds what stands at an axis to the steps between its ticks: two levels far apart had one digit."""
    means = pl.DataFrame({"level": levels, "jain": [0.5, 0.9, 1.0][: len(levels)]})
    assert texts == [
        text for text in Drawn(charts.over_levels(means, "level", "jain"), tmp_path).texts if text in texts
    ]


@pytest.mark.parametrize(
    ("column", "values", "half_width"),
    [
        ("utilization", [0.2, 0.955], [0.1, 0.08]),
        ("utilization", [0.97, 1.0], [0.02, 0.01]),
        ("call.share", [0.4, 0.41], [1.3, 1.2]),
        ("utilization", [0.5, 1.0000000000004], [0.0, 0.0]),
        ("loss", [0.001, 0.9], [0.002, 0.3]),
    ],
)
def test_shares_do_not_go_beyond_the_whole(
    column: str, values: list[float], half_width: list[float], tmp_path: Path
) -> None:
    means = pl.DataFrame({"queue": ["5 packets", "80 packets"], column: values, "half": half_width})
    drawn = Drawn(charts.over_levels(means, "queue", column, half_width="half"), tmp_path)
    ticks = [float(text) for text in drawn.texts if text.replace(".", "", 1).isdecimal()]
    assert max(ticks) <= 100
    # Over time, too, where the share of an interval may be a little more than all of it by rounding.
    frame = pl.DataFrame({"time_s": [0.0, 1.0], "entity": "wire", column: [0.0, max(values)]})
    for chart in (charts.line(frame, "time_s", column), charts.linked([frame], "time_s", "entity")):
        ticks = [float(text) for text in Drawn(chart, tmp_path / "over").texts if text.replace(".", "", 1).isdecimal()]
        assert max(ticks) <= 100


def test_losses_and_rates_over_decades_of_loss_are_straight_lines() -> None:
    means = pl.DataFrame({
        "link.b.loss": [0.0001, 0.0016, 0.0256], "goodput_bps": [37e6, 8.4e6, 1.4e6], "loss": [0.0001, 0.0014, 0.029],
    })  # fmt: skip
    for response, title in (("goodput_bps", "goodput (Mbit/s)"), ("loss", "loss (%)")):
        encoding = charts.over_levels(means, "link.b.loss", response).to_dict()["layer"][-1]["encoding"]
        assert (encoding["x"]["title"], encoding["y"]["title"]) == ("loss of b (%)", title)
        assert (encoding["x"]["scale"]["type"], encoding["y"]["scale"]["type"]) == ("log", "log")
        # Vega writes 1e+1 otherwise.
        assert encoding["y"]["axis"]["format"] == "~r"
    near = means.with_columns(pl.Series("link.b.loss", [0.001, 0.002, 0.004]))
    y = charts.over_levels(near, "link.b.loss", "goodput_bps").to_dict()["layer"][-1]["encoding"]["y"]
    assert y["scale"]["type"] == "linear"


def test_figures_are_called_what_they_show(tmp_path: Path) -> None:
    frame = pl.DataFrame({"time_s": [0.0, 1.0], "goodput_bps": [0.0, 2e6]})
    plain, titled = (charts.line(frame, "time_s", "goodput_bps", title=title) for title in ("", "A <b> & c"))
    for drawn, name in (
        (plain, "goodput (Mbit/s) over time (s)"),
        ([plain, titled, plain], "goodput (Mbit/s) over time (s); A &lt;b&gt; &amp; c"),
        (plots.line(frame, "time_s", "goodput_bps"), "goodput (Mbit/s) over time (s)"),
    ):
        text = plots.write(drawn, tmp_path / "figure.svg").read_text(encoding="utf-8")
        assert re.findall("<title>(.*?)</title>", text) == [name]
    assert paper.called(map(str, range(9))) == "0; 1; 2; 3; 4; 5; 3 more"
