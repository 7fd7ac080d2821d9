"""Figures for papers: what is drawn, how it is labelled, and that equal figures are equal files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

import captures
import tightlink as tl
from drawn import Drawn
from tightlink import _core, plots
from tightlink.analysis.limits import bifurcation, regimes, saturation
from tightlink.plots import labels, palette, paper
from tightlink.report import charts
from tightlink.run import Framed

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture(scope="module")
def run(mixed: str) -> tl.Run:
    return tl.simulate(tl.loads(mixed))


def _loss() -> pl.DataFrame:
    return pl.DataFrame({"loss": [0.001, 0.01, 0.1], "goodput_bps": [3e6, 1e6, 3e5], "kind": ["reno", "tahoe", "reno"]})


def _points(ax: Axes, line: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.asarray(ax.lines[line].get_xydata(), dtype=float)


def _all(run: tl.Run, ax: Axes | None = None) -> list[Axes]:
    return [
        plots.line(_loss(), x="loss", y="goodput_bps", by="kind", ax=ax),
        plots.series(run, "queue_packets", ax=ax),
        plots.series(run, "cwnd_packets", "web[1]", ax=ax),
        plots.limited_by(run, ax=ax),
        plots.cdf(_loss(), x="goodput_bps", ax=ax),
        plots.scatter_with_curves(
            _loss(), x="loss", y="goodput_bps", by="kind", curves={"flat": lambda _: 1e6}, log=True, ax=ax
        ),
    ]


def test_axes_in_axes_out(run: tl.Run) -> None:
    for number in range(6):
        ax = Figure().subplots()
        assert _all(run, ax)[number] is ax
    for ax in _all(run):
        assert isinstance(ax, Axes)
        assert ax.get_xlabel()


def test_nothing_is_left_open(run: tl.Run) -> None:
    from matplotlib import pyplot as plt

    before = plt.get_fignums()
    _all(run)
    assert plt.get_fignums() == before


def test_a_notebook_shows_figures_by_itself(run: tl.Run) -> None:
    formatters = pytest.importorskip("IPython.core.formatters", reason="IPython is not installed: pip install ipython")
    shown = formatters.DisplayFormatter()
    for drawn in (run.plot(), run.plot("queue_packets"), plots.limited_by(run)):
        pictures, _ = shown.format(drawn)
        assert pictures["image/png"].startswith(b"\x89PNG")
    assert "image/png" not in shown.format(plots.limited_by(run, ax=Figure().subplots()))[0]


def test_units_are_in_the_labels() -> None:
    ax = plots.line(_loss(), x="loss", y="goodput_bps", by="kind")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("loss (%)", "goodput (Mbit/s)")
    assert [line.get_label() for line in ax.lines] == ["reno", "tahoe"]
    np.testing.assert_allclose(_points(ax, 0), np.array([[0.1, 3.0], [10.0, 0.3]]))
    assert [line.get_color() for line in ax.lines] == list(palette.colors(["reno", "tahoe"]).values())


@pytest.mark.parametrize(
    ("column", "largest", "title"),
    [
        ("goodput_bps", 2e9, "goodput (Gbit/s)"),
        ("goodput_bps", 0.0, "goodput (bit/s)"),
        ("goodput_bps", None, "goodput (bit/s)"),
        ("one_way_delay_mean_s", 3e-10, "mean one-way delay (ns)"),
        ("limited_by_network", 1.0, "limited by network (%)"),
        ("cwnd_packets", 20, "congestion window (packets)"),
        ("share", 1.0, "share"),
    ],
)
def test_titles(column: str, largest: float | None, title: str) -> None:
    assert labels.axis(column, largest).title == title


def test_shares_of_the_time_fill_the_bars(run: tl.Run) -> None:
    ax = plots.limited_by(run)
    ends: dict[float, float] = {}
    for patch in ax.patches:
        box = patch.get_extents().transformed(ax.transData.inverted())
        ends[round(box.y0, 3)] = max(ends.get(round(box.y0, 3), 0.0), box.x1)
    assert len(ends) == run.flows.height
    assert all(abs(end - 100) < 1e-6 for end in ends.values())


def test_axes_of_shares_end_at_the_whole() -> None:
    for values in ([0.0, 1.0], [0.4, 0.98], [0.0, 1.0000000000004]):
        frame = pl.DataFrame({"time_s": [0.0, 1.0], "utilization": values})
        low, high = plots.line(frame, x="time_s", y="utilization").get_ylim()
        assert low >= 0
        assert high == pytest.approx(100) if values[1] >= 1 else high <= 100
    # A load may be more than that.
    loads = pl.DataFrame({"time_s": [0.0, 1.0], "load": [0.0, 1.2]})
    assert plots.line(loads, x="time_s", y="load").get_ylim()[1] > 120


def test_a_distribution() -> None:
    line = plots.cdf(_loss(), x="goodput_bps").lines[0]
    np.testing.assert_allclose(np.asarray(line.get_ydata())[-1], 100)
    np.testing.assert_allclose(np.asarray(line.get_xdata()), [0.3, 0.3, 1.0, 3.0])


def test_curves_are_functions_or_points() -> None:
    curves: dict[str, Any] = {"law": lambda p: 1e5 / np.sqrt(p), "measured": ([0.001, 0.1], [3e6, 3e5])}
    ax = plots.scatter_with_curves(_loss(), x="loss", y="goodput_bps", curves=curves, log=True)
    assert [line.get_label() for line in ax.lines] == ["law", "measured"]
    np.testing.assert_allclose(_points(ax, 0)[[0, -1]], np.array([[0.1, 3.16228], [10, 0.316228]]), rtol=1e-5)
    np.testing.assert_allclose(_points(ax, 1), np.array([[0.1, 3.0], [10, 0.3]]))
    assert ax.get_xscale() == "log"


def test_a_legend_does_not_hide_what_is_drawn(one_flow: str) -> None:
    scenario = tl.loads(one_flow, set={"traffic.ftp.flows": 30, "duration": "1 s", "observe.interval": "100 ms"})
    ax = plots.series(tl.simulate(scenario), "cwnd_packets")
    assert ax.get_legend() is None
    assert ax.get_title(loc="right") == "30 lines, too many to name"


def test_missing_series_are_named(run: tl.Run, one_flow: str) -> None:
    with pytest.raises(tl.TightlinkError, match="did you mean queue_packets"):
        plots.series(run, "queue_packet")
    with pytest.raises(tl.TightlinkError, match="did you mean wire"):
        plots.series(run, "queue_packets", "wir")
    short = tl.simulate(tl.loads(one_flow).set("duration", "1 s"))
    assert plots.series(short, "queue_packets", "bottleneck").lines
    tables = Framed({name: short.table(name) for name in short.tables})
    with pytest.raises(tl.TightlinkError, match=r"observe\.interval"):
        plots.series(tl.Run(short.scenario, {**short.manifest, "packet_hops": 10**9}, tables), "queue_packets")


def test_empty_frames_draw_nothing() -> None:
    empty = _loss().clear()
    assert plots.line(empty, x="loss", y="goodput_bps").get_ylabel() == "goodput (bit/s)"
    # What is no number says nothing of the unit.
    gap = pl.DataFrame({"time_s": [0.0, 1.0, 2.0], "goodput_bps": [float("nan"), 1e6, 2e6]})
    assert plots.line(gap, x="time_s", y="goodput_bps").get_ylabel() == "goodput (Mbit/s)"
    plots.cdf(empty, x="loss")
    plots.scatter_with_curves(empty, x="loss", y="goodput_bps", curves={"flat": lambda _: 1.0}, log=True)


def test_equal_figures_are_equal_files(run: tl.Run, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        figure = plots.limited_by(run).get_figure()
        assert isinstance(figure, Figure)
        files = plots.save(figure, tmp_path / folder, "why")
        assert [file.name for file in files] == ["why.svg", "why.png"]
    for name in ("why.svg", "why.png"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert len(list((tmp_path / "one").iterdir())) == 2
    assert ET.parse(tmp_path / "one" / "why.svg").getroot().tag.endswith("svg")


def test_colours_are_told_apart() -> None:
    assert len(set(palette.SERIES)) == len(palette.SERIES)
    assert set(palette.LIMITS) == {
        column.name.removeprefix("limited_by_")
        for column in tl.tables.TABLES["flows"]
        if column.name.startswith("limited_by_")
    }


def _saturated() -> saturation.Saturation:
    sizes = np.arange(50.0, 1500.0, 50.0)
    frame = pl.DataFrame({"packet_bytes": sizes, "packets_per_s": np.minimum(25e3, 12e6 / sizes)})
    return saturation.find(frame, resamples=20)


def test_saturation_is_drawn_with_both_laws() -> None:
    found = _saturated()
    for draw in (plots.throughput_over_size, plots.rate_over_size, plots.throughput_over_rate):
        ax = draw(found)
        assert {line.get_label() for line in ax.lines} == {"ideal law", "cost per packet and byte"}
        points = sum(len(np.asarray(dots.get_offsets())) for dots in ax.collections)
        assert points == found.points.height
    ax = plots.throughput_over_size(found)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("packet size (B)", "throughput (Mbit/s)")
    np.testing.assert_allclose(_points(ax, 0)[-1], [1450, 96])
    only = saturation.find(found.points.filter(pl.col("packet_bytes") > 600), resamples=20)
    assert list(plots.throughput_over_size(only).lines) == []


def test_stable_branches_are_solid() -> None:
    table = bifurcation.branches(96e6, 480, [100.0, 480.0, 1000.0])
    ax = plots.bifurcation(table, _saturated().points)
    dashes = {str(line.get_label()): line.get_linestyle() for line in ax.lines}
    assert dashes == {"free flow, stable": "-", "free flow, unstable": "--",
                      "saturated, stable": "-", "saturated, unstable": "--"}  # fmt: skip
    np.testing.assert_allclose(_points(ax, 0), [[480, 96], [1000, 96]])
    np.testing.assert_allclose(_points(ax, 2), [[100, 20], [480, 96]])
    assert ax.get_xlim()[0] > ax.get_xlim()[1]
    reduced = plots.bifurcation(table, _saturated().points, reduced=True)
    offsets = np.asarray(reduced.collections[0].get_offsets())
    np.testing.assert_allclose(offsets[:, 0], 1 - np.arange(50.0, 1500.0, 50.0) / 480, atol=1e-9)


def test_regions_are_shaded_where_they_begin() -> None:
    rates = [500.0 * step for step in range(1, 17)]
    rows = [(size, rate, min(rate / 5000, 0.8), 0.0) for size in (64, 1500) for rate in rates]
    found = regimes.find(pl.DataFrame(rows, schema=["packet_bytes", "packets_per_s", "load", "loss"], orient="row"))
    ax = plots.load_over(found)
    assert [patch.get_x() for patch in ax.patches] == [4000.0]  # type: ignore[attr-defined]
    over_bits = plots.load_over(found, "throughput_bps", log=True)
    assert over_bits.get_xlabel() == "bit rate (Mbit/s)"
    assert list(over_bits.patches) == []
    assert plots.loss_over(found).get_ylabel() == "loss (%)"


def test_a_figure_that_is_written_again_is_the_same_file(tmp_path: Path) -> None:
    ax = plots.line(_loss(), x="loss", y="goodput_bps", by="kind")
    first, second = (plots.write(ax, tmp_path / f"{name}.svg").read_bytes() for name in ("one", "two"))
    assert first == second


def test_one_file_by_its_ending(tmp_path: Path) -> None:
    figure = plots.bifurcation(bifurcation.branches(96e6, 451.0, [100, 451.0, 1000])).get_figure()
    assert isinstance(figure, Figure)
    for ending in ("png", "svg", "pdf"):
        first, second = (plots.write(figure, tmp_path / f"{name}.{ending}").read_bytes() for name in ("one", "two"))
        assert first == second
    with pytest.raises(tl.TightlinkError, match=r"expected a file that ends in \.svg, \.png, \.pdf"):
        plots.write(figure, tmp_path / "one.xls")
    assert len(list(tmp_path.iterdir())) == 6


def test_charts_are_written_as_figures_are(tmp_path: Path) -> None:
    chart = charts.points(_loss(), "loss", "goodput_bps", by="kind", x_domain=(0.0, 0.01))
    for folder in ("one", "two"):
        files = plots.save(chart, tmp_path / folder, "points")
        assert [file.name for file in files] == ["points.svg", "points.png"]
    for name in ("points.svg", "points.png"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    text = (tmp_path / "one" / "points.svg").read_text()
    assert "currentColor" not in text
    assert 'fill="#ffffff"' in text
    # As wide as it is said to be, whatever stands beside it; PNG has 200 dots an inch.
    svg = Drawn(chart, tmp_path).root
    wide = Drawn(charts.points(_loss(), "loss", "goodput_bps", by="kind", x_domain=(0.0, 0.01), width=480), tmp_path)
    assert int(wide.root.attrib["width"]) - int(svg.attrib["width"]) == 100
    header = (tmp_path / "one" / "points.png").read_bytes()[16:20]
    assert int.from_bytes(header, "big") == pytest.approx(int(svg.attrib["width"]) * 200 / 96, abs=1)
    with Image.open(tmp_path / "one" / "points.png") as picture:
        texts = dict(picture.info)
        picture.load()
    assert texts["Title"] == svg.findtext("{http://www.w3.org/2000/svg}title") != "Figure"
    assert texts["Software"] == "Tightlink"
    # So large it is set on paper.
    assert texts["dpi"] == pytest.approx((200, 200), abs=0.01)
    pdf = plots.write(chart, tmp_path / "points.pdf").read_bytes()
    box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ", pdf)
    assert box is not None
    assert float(box[1]) == pytest.approx(int(svg.attrib["width"]) * 72 / 96, abs=1)


def test_a_title_is_no_ascii(tmp_path: Path) -> None:
    named = paper.Page("", 10, 10, "queueing delay (µs) – “a”")
    with Image.open(plots.write(named, tmp_path / "named.png")) as picture:
        picture.verify()
        assert picture.info["Title"] == named.name


def test_charts_of_a_page_stand_apart(tmp_path: Path) -> None:
    few = charts.points(_loss(), "loss", "goodput_bps", x_domain=(0.0, 0.01), title="few", width=100)
    noted = few.properties(usermeta={"note": "a < b, and so on to the end of a line that is longer than all panels"})
    drawn = Drawn([few, noted, noted], tmp_path)
    assert drawn.texts.count("few") == 3
    # What was said below one chart is said once below all, in lines that have room.
    assert " ".join(drawn.texts).count("a < b, and so on") == 1
    names = [part.attrib["id"] for part in drawn.root.iter() if "id" in part.attrib]
    assert len(set(names)) == len(names) == 3
    lefts = [part.attrib["transform"] for part in drawn.root if part.tag.endswith("}g")]
    assert len(set(lefts)) == 3
    # Rows stay rows, whatever their lengths.
    rows = Drawn([[few], [few, few]], tmp_path)
    places = [part.attrib["transform"].removeprefix("translate(") for part in rows.root if part.tag.endswith("}g")]
    assert [place.split(",")[0] == "0" for place in places] == [True, True, False]
    assert places[1].split(",")[1] == places[2].split(",")[1]


def test_every_congestion_control_has_its_own_colour() -> None:
    controls = [name for name, _ in _core.congestion()]
    assert len(set(palette.colors(controls).values())) == len(controls)
    assert all(palette.colors([name])[name] == palette.colors(controls)[name] for name in controls)


def test_a_name_has_its_colour_whatever_is_drawn_with_it(run: tl.Run) -> None:
    names = ["cubic[0]", "cubic[1]", "bbr[0]", "bottleneck"]
    assert palette.colors(names) == {name: palette.colors(names[::-1])[name] for name in names}
    assert palette.colors(names)["cubic[0]"] == palette.colors(["cubic"])["cubic"]
    assert len(set(palette.colors(names).values())) == len(names)
    assert list(palette.colors(["10", "2"]).values()) == list(palette.SERIES[:2])
    entities = palette.entities(run)
    of_run = palette.colors(entities, entities)
    for entity, metric in (("web[1]", "cwnd_packets"), ("wire", "queue_packets")):
        assert plots.series(run, metric, entity).lines[0].get_color() == of_run[entity]
        drawn = {line.get_label(): line.get_color() for line in plots.series(run, metric).lines}
        assert drawn[entity] == of_run[entity]


def test_links_that_nobody_draws_leave_flows_their_colours() -> None:
    run = tl.simulate(tl.load(EXAMPLES / "parking-lot.toml", set={"duration": "2 s"}))
    assert run.links.height > 2 * len(palette.SERIES)
    found = palette.colors(run.flows["label"], palette.entities(run))
    assert set(found.values()) <= set(palette.SERIES[:-1])


def test_an_overview_draws_fast_and_slow_flows_in_one_scale() -> None:
    """One flow's kilobits would otherwise stand above the other's megabits."""
    scenario = tl.loads("""
    duration = "2 s"
    link.wire = { ends = ["a", "b"], rate = "20 Mbit/s", delay = "10 ms", queue = "50 packets" }
    traffic.download = { kind = "bulk", from = "a", to = "b" }
    traffic.call = { kind = "cbr", from = "a", to = "b", rate = "100 kbit/s" }
    observe.interval = "100 ms"
    """)
    run = tl.simulate(scenario)
    panel = plots.overview(run).axes[0]
    assert panel.get_ylabel() == "throughput\n(Mbit/s)"
    drawn = {line.get_label(): max(np.asarray(line.get_ydata())) for line in panel.lines}
    sampled = run.series.filter(pl.col("metric") == "throughput_bps").group_by("entity").agg(pl.col("value").max())
    assert drawn == pytest.approx({name: most / 1e6 for name, most in sampled.rows() if name in drawn})
    assert set(drawn) == {"download", "call"}


@pytest.mark.filterwarnings("error")
def test_a_capture_without_flows_is_drawn_by_what_its_interfaces_carried(tmp_path: Path) -> None:
    who_has = bytes(6 * [255] + 6 * [17]) + b"\x08\x06" + bytes(28)
    file = tmp_path / "arp.pcap"
    file.write_bytes(captures.pcap([(second * 10**9, who_has) for second in range(3)]))
    run = tl.capture(file)
    assert run.flows.is_empty()
    (ax,) = plots.overview(run).axes
    assert ax.get_xlabel() == "bytes transmitted"
    assert [bar.get_width() for bar in ax.patches] == [run.links["bytes_out"].sum()]  # type: ignore[attr-defined]
    assert not plots.limited_by(run).patches


def test_what_is_drawn_later_keeps_the_scale_of_the_axes() -> None:
    """Two calls on the same axes: kilobits beside megabits would be a lie."""
    fast, slow = (pl.DataFrame({"time_s": [0.0, 1.0], "goodput_bps": [0.0, most]}) for most in (2e7, 1e5))
    for first, second in ((fast, slow), (slow, fast)):
        ax = plots.line(first, x="time_s", y="goodput_bps")
        title = ax.get_ylabel()
        plots.line(second, x="time_s", y="goodput_bps", ax=ax)
        assert ax.get_ylabel() == title
        tops = [max(np.asarray(line.get_ydata())) for line in ax.lines]
        assert tops[0] / tops[1] == pytest.approx(first["goodput_bps"][1] / second["goodput_bps"][1])


def test_a_line_has_a_gap_where_nothing_was_sampled() -> None:
    """A flow that waits for its timer has no round trips, and no line across that time."""
    waits = """
    duration = "6 s"
    observe.interval = "50 ms"
    traffic.ftp = { kind = "bulk", from = "a", to = "b" }
    [link.wire]
    ends = ["a", "b"]
    rate = "10 Mbit/s"
    delay = "10 ms"
    queue = "50 packets"
    outages.schedule = [{ at = "2 s", for = "2 s" }]
    """
    run = tl.simulate(tl.loads(waits))
    (drawn,) = plots.series(run, "rtt_s", "ftp").lines
    missing = np.isnan(np.asarray(drawn.get_ydata(), dtype=float))
    assert np.asarray(drawn.get_xdata())[missing] == pytest.approx([3.0], abs=1.0)
    samples = run.series.filter(pl.col("metric") == "rtt_s").select("time_s", "entity", rtt_s="value")
    spec = charts.linked([samples], "time_s", "entity").to_dict()
    assert [row["rtt_s"] for rows in spec["datasets"].values() for row in rows].count(None) == 1
