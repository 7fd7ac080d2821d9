"""The charts and tables of the report, whose text is ``report.md``."""

import math
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final

import polars as pl

from tightlink.analysis.path.cross_traffic import weekly
from tightlink.analysis.path.residuals import agreement
from tightlink.analysis.path.residuals import by_flows as agreements_by_flows
from tightlink.diagnosis.words import sentence
from tightlink.experiment.claims import Claim
from tightlink.reduce import largest, mean_of
from tightlink.report import Table, charts
from tightlink.studies.bulk_throughput.observe.alternatives import Weighed
from tightlink.studies.bulk_throughput.observe.linux import where
from tightlink.studies.bulk_throughput.observe.residuals import COMPARED as WITH_NS2
from tightlink.studies.bulk_throughput.observe.residuals import UNDER, Explained
from tightlink.studies.bulk_throughput.report import residuals
from tightlink.studies.bulk_throughput.report.grids import Parts, of_factor, of_grids, of_properties, of_windows
from tightlink.studies.bulk_throughput.setup import paths
from tightlink.studies.bulk_throughput.setup.cross_traffic import CROSS, FOUR_FLOWS
from tightlink.studies.bulk_throughput.setup.pings import BYTES, PACKETS, SIZE
from tightlink.studies.expressions import Names
from tightlink.studies.report_text import page
from tightlink.studies.study import Report

_STANDS: Final = {"measured": "Linux, measured", "synthetic": "beside unknown traffic"}
_VERDICTS: Final = {True: "holds", False: "does not", None: "open"}
#: The document's list of windows in bytes.
_LISTED: Final = (8760, 16060, 32120, 64240, 128480, 511000, 1022000)
#: Its products of bandwidth and round trip, in whole kB (table of its Summary).
_PRODUCTS_KB: Final[dict[paths.Place, int]] = {
    paths.DARESBURY: 203,
    paths.IN2P3[1]: 630,
    paths.CALTECH_10MS: 56,
    paths.LBNL: 13,
}
#: ATM cells a second on an E3 line of 34.368 Mbit/s: with PLCP nine in 125 µs (ETS 300 214), and 530 bytes of them in
#: 125 µs with the later framing of G.832 (G.804, section 6).
_CELLS_PER_S: Final = {"plcp": 9 / 125e-6, "g832": 530 / 53 / 125e-6}
_CELL_BYTES: Final = 48
#: AAL5's trailer (I.363.5), and LLC with SNAP (RFC 2684, 5.1), around an IP packet.
_AROUND_BYTES: Final = 8 + 8


def report(observed: Mapping[str, Any], claims: Mapping[str, Claim]) -> Report:
    """The report's text, tables and charts."""
    own = [claim.holds for claim in claims.values() if claim.origin == "document"]
    named: dict[str, Any] = {
        **{name: own.count(holds) for name, holds in (("failed", False), ("held", True), ("undecided", None))},
        "setup": vars(paths),
        "cross": CROSS,
        "size": SIZE,
        **_notes(),
    }
    stored = f"Measured and stored: {' '.join(where())}"
    blocks: dict[str, Any] = {"measured": residuals.measured("Linux, measured", observed["measured"], stored)}
    for names, made in (
        _of_alternatives(observed["weighed"], observed),
        of_grids(observed["grids"]),
        of_factor(observed["grids"]),
        of_windows(observed["grids"][paths.DARESBURY.name]),
        of_properties(observed["properties"]),
        _of_recoveries(observed["recoveries"]),
        _of_pings(observed["pings"]),
        _of_cross_traffic(observed["cross"], observed["intervals"]),
        _of_observations(observed["points"]),
        _of_unknowns(observed["explained"]),
        _of_ns2(observed["reference"], observed),
    ):
        named |= names
        blocks |= made
    grids = {place: blocks.pop(f"grid.{place.name}") for place in paths.PATHS}
    # Those of the other bottleneck factors are figures alone.
    blocks |= {f"grid.{place.name}": grids[place] for place in (*paths.SITES, paths.CALTECH_10MS)}
    figures = {
        "goodput": [over_windows.properties(title=place.title) for place, (over_windows, _) in grids.items()],
        "over-loss": [
            over_loss.properties(title=f"{place.title}: a line for each number of flows")
            for place, (_, over_loss) in grids.items()
        ],
        "one-property": [chart for name, row in blocks.items() if name.startswith("property-") for chart in row],
        "ping-and-cross": [blocks["pings"], *blocks["widening"]],
    }
    return page(Path(__file__).parent.with_suffix(".md"), Names(named), blocks, figures=figures)


def _notes() -> dict[str, Any]:
    """What follows from the document's own constants, and so is no claim."""
    packet_bytes, payload = paths.IN2P3[1].path.packet_bytes, paths.DARESBURY.path.payload_bytes
    needed = math.ceil((packet_bytes + _AROUND_BYTES) / _CELL_BYTES)
    atm = {
        # What is left beside the cells' headers, and for full packets.
        name: {
            "cells_per_s": rate,
            "mbit": rate * _CELL_BYTES * 8 / 1e6,
            "packets_mbit": rate / needed * packet_bytes * 8 / 1e6,
        }
        for name, rate in _CELLS_PER_S.items()
    }
    return {
        "atm": atm | {"packet_bytes": packet_bytes, "needed": needed},
        "products": ", ".join(
            f"{place.path.bdp_bytes / 1e3:g} ({place.site}: {printed})" for place, printed in _PRODUCTS_KB.items()
        ),
        "listed": len(_LISTED),
        "left_out": " and ".join(
            f"{size} kB" for window, size in paths.KILOBYTES.items() if window * payload not in _LISTED
        ),
    }


def _of_alternatives(found: Mapping[str, Weighed], values: Mapping[str, Any]) -> Parts:
    """The document's statements and figures under each alternative, and which one they choose."""
    # The statements that are decided for all of them.
    common = [key for key in found[paths.CHOSEN.name].verdicts if all(key in each.verdicts for each in found.values())]
    held = {name: sum(each.verdicts[key].holds is True for key in common) for name, each in found.items()}
    ranked = sorted(found.values(), key=lambda each: each.aic)
    weights = (
        (own.title, own.changed, 100 * each.mean_miss, each.aic, each.aic - ranked[0].aic, held[own.name])
        for each in ranked
        for own in (each.alternative,)
    )
    misses = {each.alternative.title: [100 * miss for miss in each.misses.values()] for each in found.values()}
    statements = {}
    for each in found.values():
        decided = [each.verdicts[key] for key in common]
        statements[each.alternative.title] = [f"{_VERDICTS[one.holds]}: {one.observed_text}" for one in decided]
    r2: list[dict[str, Any]] = [
        {"alternative": each.alternative.title, "observed": words}
        | {place.site: values[f"alternatives.{name}"][kind][place.name].origin.value for place in paths.SITES}
        for kind, words in _STANDS.items()
        for name, each in found.items()
    ]
    printed = {place.site: paths.DOCUMENT_R2[place.name] for place in paths.SITES}
    r2.append({"alternative": "the document's ns-2", "observed": "iperf, 2000"} | printed)
    chosen, plain = found[paths.CHOSEN.name], found[paths.DEFAULTS.name]
    weighed = {
        "title": sentence(paths.CHOSEN.title),
        "chosen": chosen,
        "plain": plain,
        "common": len(common),
        "held": {"chosen": held[paths.CHOSEN.name], "plain": held[paths.DEFAULTS.name]},
    }
    return {"weighed": weighed}, {
        "weights": weights,
        "misses": Table(pl.DataFrame({"figure": [*chosen.misses]} | misses), formats=dict.fromkeys(misses, ".1f")),
        "statements": pl.DataFrame({"statement": [chosen.verdicts[key].statement for key in common]} | statements),
        "r2": Table(pl.DataFrame(r2), formats=dict.fromkeys(printed, ".3f")),
    }


def _of_recoveries(tables: Mapping[str, pl.DataFrame]) -> Parts:
    """Tahoe, NewReno and SACK: where they differ, and where nothing shows."""
    lossless, off = pl.col("lossless"), pl.col("difference").filter(~pl.col("lossless"))
    columns = ("window_packets", "flows", "loss", pl.col("difference") * 100)
    table = pl.concat(
        tables[each.name].select(
            path=pl.lit(each.place.title), compared=pl.lit(each.title), clean=lossless.sum(),
            equal=(pl.col("equal") & lossless).sum(), lossy=(~lossless).sum(),
            equal_there=(pl.col("equal") & ~lossless).sum(), mean_off=100 * off.mean(), largest=100 * off.abs().max(),
        )
        for each in paths.COMPARED
    )  # fmt: skip
    drawn = pl.concat(
        tables[each.name].select(*columns, path=pl.lit(f"{each.place.site}: {each.title}")) for each in paths.COMPARED
    )
    named = {name: table[name].sum() for name in ("equal", "clean", "equal_there", "lossy")}
    return {"recoveries": named | {"most": largest(table["largest"]) / 100}}, {
        "recovery-differences": charts.points(
            drawn, "loss", "difference", by="path", y_title="difference in goodput (%)"
        ),
        "recoveries": table,
    }


def _of_pings(tables: Mapping[str, pl.DataFrame]) -> Parts:
    """Pings beside TCP, at a queue that counts packets and at one that counts bytes."""
    lost = {
        key: {kind: mean_of(tables[queue][kind]) for kind in ("tcp", "ping")}
        for key, queue in (("packets", PACKETS), ("bytes", BYTES))
    }
    # Means over the windows.
    by_flows = [
        tables[queue]
        .group_by("flows", maintain_order=True)
        .agg(pl.col("tcp", "ping").mean())
        .unpivot(["tcp", "ping"], index="flows", variable_name="of", value_name="loss")
        .with_columns(pl.col("of").replace({"tcp": f"TCP, {words}", "ping": f"pings, {words}"}))
        for queue, words in ((PACKETS, "queue of 80 packets"), (BYTES, f"queue of {SIZE}"))
    ]
    drawn = pl.concat(by_flows).sort("of", "flows")
    return {"lost": lost}, {"pings": charts.line(drawn, "flows", "loss", by="of", x_title="flows")}


def _of_cross_traffic(goodputs: pl.DataFrame, intervals: pl.DataFrame) -> Parts:
    """How the interval of a prediction widens with cross traffic."""
    edges, percent_of_it = {"low_bps": "low", "mean_bps": "mean", "high_bps": "high"}, pl.col("share") * 100
    long = intervals.unpivot(list(edges), index=["setting", "share"], variable_name="edge", value_name="goodput_bps")
    long = long.with_columns(percent_of_it, pl.col("edge").replace(edges))
    hourly = (
        goodputs.filter((pl.col("setting") == FOUR_FLOWS) & ~pl.col("weekend") & (pl.col("share") > 0))
        .group_by("share", "hour").agg(pl.col("goodput_bps").mean()).sort("share", "hour")
        .with_columns(cross=(pl.col("share") * 100).round(0).cast(pl.Int64).cast(pl.String) + " % over the week")
    )  # fmt: skip
    widening = [
        charts.line(
            part.select("share", "goodput_bps", "edge"), "share", "goodput_bps", by="edge", title=str(setting),
            x_title="cross traffic (% of the bandwidth)", y_domain=(0, paths.DARESBURY.path.bandwidth_bps), height=180,
        )
        for (setting,), part in long.group_by("setting", maintain_order=True)
    ]  # fmt: skip
    named = {
        "crossed": intervals.filter(pl.col("setting") == FOUR_FLOWS),
        "weekly": {"workday": weekly(weekend=False), "weekend": weekly(weekend=True)},
    }
    return named, {
        "widening": widening,
        "hourly": charts.line(hourly, "hour", "goodput_bps", by="cross", x_title="hour of a working day", height=200),
        "intervals": intervals,
    }


def _of_observations(points: Mapping[str, pl.DataFrame]) -> Parts:
    """Observed against predicted, as the document draws and counts it, on observations that are simulated too."""
    found = {place: points[place.name] for place in paths.SITES}
    whole = {place: agreement(frame) for place, frame in found.items()}
    rows = []
    for place, frame in found.items():
        rows.append(residuals.row(place, "all", whole[place]))
        rows += [residuals.row(place, str(flows), value) for flows, value in agreements_by_flows(frame).items()]
    return {"synthetic_r2": residuals.explained(whole, 2)}, {
        "observed": [residuals.scatter(place, frame) for place, frame in found.items()],
        "residuals": [residuals.over_windows(place, frame) for place, frame in found.items()],
        "agreements": rows,
    }


def _of_unknowns(found: Sequence[Explained]) -> Parts:
    """What the prediction for Caltech may not know of its path: traffic, bandwidth, or both."""
    first, nearest = found[0], min(found, key=lambda each: each.mean_miss)
    rows = [
        {"bandwidth_bps": each.unknown.bandwidth_bps, "traffic %": 100 * each.unknown.cross}
        | {**each.misses, "mean miss": each.mean_miss, "AIC": each.aic}
        for each in found
    ]
    digits = dict.fromkeys([*first.misses, "mean miss"], ".3f") | {"AIC": ".1f", "traffic %": ".0f"}
    named = {
        "explained": dict(enumerate(found)),
        "chosen_pair": first.words,
        "nearest": nearest,
        "nearest_pair": nearest.words,
        "beside": next(each for each in found if each.unknown.cross == CROSS),
    }
    return named, {
        "unknown": [draw(paths.CALTECH, first.points) for draw in (residuals.scatter, residuals.over_windows)],
        "pairs": Table(pl.DataFrame(rows), formats=digits),
    }


def _of_ns2(tables: Mapping[str, pl.DataFrame], values: Mapping[str, Any]) -> Parts:
    """The grids beside those of ns-2.35."""
    table = pl.DataFrame([
        {"path": place.title, "settings": UNDER[name].title, **values[f"{name}.{place.name}"]}
        for name, place in product(UNDER, WITH_NS2)
    ], infer_schema_length=None)  # fmt: skip
    plain = next(name for name, under in UNDER.items() if under is paths.DEFAULTS)
    columns = ("window_packets", "flows", "ns2_bps", "here_bps")
    points = pl.concat(tables[f"{plain}.{place.name}"].select(*columns, path=pl.lit(place.title)) for place in WITH_NS2)
    top = largest(points["ns2_bps"])
    equality = pl.DataFrame({"ns2_bps": [0.0, top], "here_bps": [0.0, top], "line": ["equality"] * 2})
    counts = ("lossless_cells", "lossless_counted", "lossy_cells", "lossy_counted")
    return {"ns2": {name: table[name].sum() for name in counts}}, {
        "ns2": charts.points(points, "ns2_bps", "here_bps", by="path", curves=equality, curve="line", x_scale="linear"),
        "references": table,
    }
