"""The parts of the report that show the grids: what each path carries, and which window and flows to take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.analysis.choice import LITTLE, NEARLY, choose
from tightlink.report import Format, Row, Section, Table, Text, charts
from tightlink.studies.bulk_throughput.observe.lines import best, is_best, lines, nearest_window
from tightlink.studies.bulk_throughput.setup.paths import CALTECH_10MS, DARESBURY, IN2P3, KILOBYTES, PATHS, SITES, Place
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Mapping

#: As many lines as there are colours, of the numbers of flows that all paths have.
SHOWN: Final = (1, 2, 4, 7, 10, 15, 20, 40)
_SPAN_KB: Final = (8, 1024)
_SHARES: Final[dict[str, Format]] = {"utilization %": ".1f", "lost %": ".2f"}


def shown(grid: pl.DataFrame) -> pl.DataFrame:
    """The lines that are drawn, named."""
    kept = grid.filter(pl.col("flows").is_in(SHOWN)).sort("flows", "window_packets")
    return kept.with_columns(
        line=pl.col("flows").cast(pl.String),
        window_kb=pl.col("window_packets").replace_strict(KILOBYTES),
        utilization=pl.col("goodput_share") * 100,
    )  # fmt: skip


def choices(grids: Mapping[str, pl.DataFrame]) -> Section:
    """What to choose on each path."""
    rows = []
    for place in PATHS:
        chosen = choose(grids[place.name])
        for rule, row in (("best", chosen.best), ("cheapest", chosen.cheapest)):
            rows.append({
                "path": place.title,
                "BDP kB": place.path.bdp_bytes / 1e3,
                "rule": rule,
                "flows": row["flows"],
                "window kB": KILOBYTES[row["window_packets"]],
                "goodput_bps": row["goodput_bps"],
                "utilization %": 100 * row["goodput_share"],
                "lost %": 100 * row["loss"],
                "rtt_loaded_s": row["rtt_loaded_s"],
            })  # fmt: skip
    one, chosen = grids["daresbury"].filter((pl.col("flows") == 1) & (pl.col("window_packets") == 44)), choose(
        grids["daresbury"]
    )  # fmt: skip
    single = one.row(0, named=True)["goodput_bps"]
    finding = (
        f"To Daresbury a single flow with 64 kB carries {single / 1e6:.1f} Mbit/s; {chosen.cheapest['flows']} flows of "
        f"{KILOBYTES[chosen.cheapest['window_packets']]} kB carry {chosen.cheapest['goodput_bps'] / 1e6:.1f} without "
        "loss."
    )
    text = (
        f"Best is the highest goodput with a loss of at most {percent(LITTLE, 1)}; cheapest are the fewest flows, then "
        f"the smallest window, within {percent(NEARLY)} of it. The last column is the mean round trip that everybody "
        "on the path then has. `tightlink predict` gives this for any path, with windows between the document's."
    )
    formats = _SHARES | {"BDP kB": ".0f"}
    return Section("What to choose", finding, [Text(text), Table(pl.DataFrame(rows), "", formats)])


def sections(grids: Mapping[str, pl.DataFrame]) -> list[Section]:
    """A part for each site, and one for the bottleneck factor."""
    return [*(_site(place, grids[place.name]) for place in SITES), _tenms(grids), _factor(grids), _windows(grids)]


def _site(place: Place, grid: pl.DataFrame) -> Section:
    top, chosen = best(grid), choose(grid)
    finding = (
        f"At most {top['goodput_bps'] / 1e6:.1f} Mbit/s ({percent(top['goodput_share'])}), with {top['flows']} flows "
        f"of {KILOBYTES[top['window_packets']]} kB and {percent(top['loss'], 1)} loss; with a loss of at most "
        f"{percent(LITTLE, 1)}, {percent(chosen.best['goodput_share'])}."
    )
    return Section(place.title, finding, [_row(place.title, grid)])


def _row(title: str, grid: pl.DataFrame) -> Row:
    kept = shown(grid)
    over_windows = charts.line(
        kept.select("window_kb", "goodput_bps", "line"), "window_kb", "goodput_bps", by="line", x_scale="log",
        x_domain=_SPAN_KB, x_title="window (kB)", title="goodput over the window", height=300,
    )  # fmt: skip
    over_loss = charts.line(
        kept.select("loss", "utilization", "line"), "loss", "utilization", by="line", y_title="goodput / bandwidth (%)",
        title="utilization over loss", height=300,
    )  # fmt: skip
    return Row([over_windows, over_loss], f"{title}. One line a number of flows.")


def _tenms(grids: Mapping[str, pl.DataFrame]) -> Section:
    grid = grids[CALTECH_10MS.name]
    one, other = (choose(grids[name]).cheapest for name in (SITES[2].name, CALTECH_10MS.name))
    finding = (
        "The document gives the round trip to Caltech as 24.7 ms in its text and as 10 ms in its summary; it matters "
        f"below the bandwidth-delay product only: {one['flows']} flow of {KILOBYTES[one['window_packets']]} kB is "
        f"enough with the one, {other['flows']} of {KILOBYTES[other['window_packets']]} kB with the other."
    )
    return Section(CALTECH_10MS.title, finding, [_row(CALTECH_10MS.title, grid)])


def _factor(grids: Mapping[str, pl.DataFrame]) -> Section:
    frames = [shown(grids[place.name]).with_columns(factor=pl.lit(place.path.factor)) for place in IN2P3]
    tops = [best(grids[place.name]) for place in IN2P3]
    finding = (
        "The bottleneck factor matters little, as the document found: "
        + ", ".join(f"{percent(top['goodput_share'])} at most with factor {place.path.factor:g}"
                    for place, top in zip(IN2P3, tops, strict=True))
        + "."
    )  # fmt: skip
    text = (
        "At factor 1 the access links offer exactly what the bottleneck carries: nothing is lost there, and all the "
        "waiting is at the senders. From factor 2 on, a slow start that goes on, as by ns-2's defaults, sends twice "
        "what the bottleneck takes, and overflows its queue by hundreds of packets, from which it takes seconds to "
        "recover at 180 ms; one that ends at 20 packets does not."
    )
    row = [
        charts.line(frame.select("window_kb", "goodput_bps", "line"), "window_kb", "goodput_bps", by="line",
                    x_scale="log", x_domain=_SPAN_KB, x_title="window (kB)", title=f"factor {place.path.factor:g}",
                    height=240, y_domain=(0, place.path.bandwidth_bps))
        for place, frame in zip(IN2P3, frames, strict=True)
    ]  # fmt: skip
    return Section("The bottleneck factor", finding, [Text(text), Row(row)])


def _windows(grids: Mapping[str, pl.DataFrame]) -> Section:
    path = DARESBURY.path
    packets = path.bdp_bytes / path.payload_bytes
    rows = [
        {"flows": flows, "best window kB": KILOBYTES[top["window_packets"]],
         "the document's: nearest to BDP": KILOBYTES[nearest_window(packets)],
         "nearest to BDP / flows": KILOBYTES[nearest_window(packets / flows)],
         "goodput_bps": top["goodput_bps"], "utilization %": 100 * top["goodput_share"], "lost %": 100 * top["loss"]}
        for flows, part in lines(grids[DARESBURY.name]) for top in [best(part)]
    ]  # fmt: skip
    table = pl.DataFrame(rows)
    hits, few = (
        sum(is_best(part, nearest_window(packets / share(flows))) for flows, part in lines(grids[DARESBURY.name]))
        for share in (lambda flows: flows, lambda _: 1)
    )
    finding = (
        f"The window nearest to the bandwidth-delay product divided by the number of flows is the best in {hits} of "
        f"{table.height} numbers of flows; that nearest to the product itself in {few}."
    )
    text = (
        "Best is the smallest of those with the highest goodput: where congestion avoidance does not reach a window in "
        "10 s, it never limits, and all larger ones are as good. Flows share path and queue: together they fill it "
        "with BDP packets and overflow the queue with 80 more. With many flows the windows of 6 and 11 packets are the "
        "only ones below that, and the handshakes' losses of time shrink with every flow that is added."
    )
    return Section("Which window is best", finding, [Text(text), Table(table, "Daresbury", _SHARES)])
