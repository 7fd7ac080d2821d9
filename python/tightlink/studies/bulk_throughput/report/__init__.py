"""The charts and tables of the report, whose text is ``report.md``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final

import polars as pl

from tightlink.analysis.cross_traffic import weekly
from tightlink.analysis.residuals import agreement
from tightlink.analysis.residuals import by_flows as agreements_by_flows
from tightlink.experiment.claims import Claim
from tightlink.reduce import largest, mean_of
from tightlink.report import Table, charts
from tightlink.studies.bulk_throughput.observe.alternatives import Weighed
from tightlink.studies.bulk_throughput.observe.linux import where
from tightlink.studies.bulk_throughput.observe.residuals import COMPARED as WITH_NS2
from tightlink.studies.bulk_throughput.observe.residuals import UNDER, Explained, parted
from tightlink.studies.bulk_throughput.report import residuals
from tightlink.studies.bulk_throughput.report.grids import Parts, of_factor, of_grids, of_properties, of_windows, two
from tightlink.studies.bulk_throughput.setup import paths
from tightlink.studies.bulk_throughput.setup.linux import BYTES, CROSS, FOUR_FLOWS, PACKETS, SIZE
from tightlink.studies.bulk_throughput.setup.paths import (
    CALTECH,
    CALTECH_10MS,
    CHOSEN,
    COMPARED,
    DARESBURY,
    DEFAULTS,
    DOCUMENT_R2,
    IN2P3,
    KILOBYTES,
    PATHS,
    SITES,
    Place,
)  # fmt: skip
from tightlink.studies.expressions import Names
from tightlink.studies.report_text import page
from tightlink.studies.study import Report
from tightlink.studies.words import percent

_STANDS: Final = {"measured": "Linux, measured", "synthetic": "beside unknown traffic"}
_VERDICTS: Final = {True: "holds", False: "does not", None: "open"}
#: The document's list of windows in bytes (l. 33).
_LISTED: Final = (8760, 16060, 32120, 64240, 128480, 511000, 1022000)
#: Its products of bandwidth and round trip, in whole kB (l. 233–252).
_PRODUCTS_KB: Final[dict[Place, int]] = {DARESBURY: 203, IN2P3[1]: 630, CALTECH_10MS: 56, paths.LBNL: 13}
#: ATM cells a second on an E3 line of 34.368 Mbit/s: with PLCP nine in 125 µs (ETS 300 214), and 530 bytes of them in
#: 125 µs with the later framing of G.832 (G.804, section 6).
_CELLS_PER_S: Final = {"plcp": 9 / 125e-6, "g832": 530 / 53 / 125e-6}
_CELL_BYTES: Final = 48
#: AAL5's trailer (I.363.5), and LLC with SNAP (RFC 2684, 5.1), around an IP packet.
_AROUND_BYTES: Final = 8 + 8


def report(observed: Mapping[str, Any], claims: Mapping[str, Claim]) -> Report:
    """The whole report."""
    own = [claim for claim in claims.values() if claim.origin == "document"]
    named: dict[str, Any] = {
        "failed": sum(claim.holds is False for claim in own),
        "held": sum(claim.holds is True for claim in own),
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
        of_windows(observed["grids"][DARESBURY.name]),
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
    grids = {place: two(observed["grids"][place.name]) for place in PATHS}
    figures = {
        "goodput": [over_windows.properties(title=place.title) for place, (over_windows, _) in grids.items()],
        "over-loss": [over_loss.properties(title=place.title) for place, (_, over_loss) in grids.items()],
        "one-property": [chart for name, row in blocks.items() if name.startswith("property-") for chart in row],
        "ping-and-cross": [blocks["pings"], *blocks["widening"]],
    }
    return page(Path(__file__).parent.with_suffix(".md"), Names(named), blocks, figures=figures)


def _notes() -> dict[str, Any]:
    """What follows from the document's own constants, and so is no claim."""
    packet_bytes, payload = IN2P3[1].path.packet_bytes, DARESBURY.path.payload_bytes
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
        "left_out": " and ".join(f"{size} kB" for window, size in KILOBYTES.items() if window * payload not in _LISTED),
    }


def _of_alternatives(found: Mapping[str, Weighed], values: Mapping[str, object]) -> Parts:
    """The document's statements and figures under each alternative, and which one they choose."""
    # The statements that are decided for all of them.
    common = [key for key in found[CHOSEN.name].verdicts if all(key in each.verdicts for each in found.values())]
    held = {name: sum(each.verdicts[key].holds is True for key in common) for name, each in found.items()}
    ranked = sorted(found.values(), key=lambda each: each.aic)
    weights = pl.DataFrame(
        {
            "alternative": [each.alternative.title for each in ranked],
            "settings changed": [each.alternative.changed for each in ranked],
            "mean miss %": [100 * each.mean_miss for each in ranked],
            "AIC": [each.aic for each in ranked],
            "behind the best": [each.aic - ranked[0].aic for each in ranked],
            "statements that hold": [held[each.alternative.name] for each in ranked],
        }
    )
    misses = {each.alternative.title: [100 * miss for miss in each.misses.values()] for each in found.values()}
    statements = {
        each.alternative.title: [
            f"{_VERDICTS[claim.holds]}: {claim.observed_text}" for claim in (each.verdicts[key] for key in common)
        ]
        for each in found.values()
    }
    r2: list[dict[str, Any]] = [
        {"alternative": each.alternative.title, "observed": words}
        | {place.site: values[f"alternatives.{name}.{kind}.{place.name}.r2"] for place in SITES}
        for kind, words in _STANDS.items()
        for name, each in found.items()
    ]
    printed = {place.site: DOCUMENT_R2[place.name] for place in SITES}
    r2.append({"alternative": "the document's ns-2", "observed": "iperf, 2000"} | printed)
    chosen, plain = found[CHOSEN.name], found[DEFAULTS.name]
    weighed = {
        "title": f"{CHOSEN.title[:1].upper()}{CHOSEN.title[1:]}",
        "chosen": chosen,
        "plain": plain,
        "common": len(common),
        "held": {"chosen": held[CHOSEN.name], "plain": held[DEFAULTS.name]},
    }
    return {"weighed": weighed}, {
        "weights": Table(weights, formats=dict.fromkeys(weights.columns[2:5], ".1f")),
        "misses": Table(pl.DataFrame({"figure": [*chosen.misses]} | misses), formats=dict.fromkeys(misses, ".1f")),
        "statements": pl.DataFrame({"statement": [chosen.verdicts[key].statement for key in common]} | statements),
        "r2": Table(pl.DataFrame(r2), formats=dict.fromkeys(printed, ".3f")),
    }


def _of_recoveries(tables: Mapping[str, pl.DataFrame]) -> Parts:
    """Tahoe, NewReno and SACK: where they differ, and where nothing shows."""
    rows, frames = [], []
    for each in COMPARED:
        found = tables[each.name]
        lossy = found.filter(~pl.col("lossless"))
        rows.append(
            {
                "path": each.place.title,
                "compared": each.title,
                "cells without loss": found.height - lossy.height,
                "equal": int(found.filter("lossless")["equal"].sum()),
                "cells with loss": lossy.height,
                "equal there": int(lossy["equal"].sum()),
                "mean difference %": 100 * mean_of(lossy["difference"]),
                "largest %": 100 * largest(lossy["difference"].abs()),
            }
        )
        label = f"{each.place.site}: {each.title}"
        frames.append(found.select("window_packets", "flows", "loss", pl.col("difference") * 100, path=pl.lit(label)))
    table = pl.DataFrame(rows)
    named = {
        "equal": table["equal"].sum(),
        "clean": table["cells without loss"].sum(),
        "equal_there": table["equal there"].sum(),
        "lossy": table["cells with loss"].sum(),
        "most": largest(table["largest %"]) / 100,
    }
    differences = charts.points(pl.concat(frames), "loss", "difference", by="path", y_title="difference in goodput (%)")
    formats = {"mean difference %": "+.1f", "largest %": ".0f"}
    return {"recoveries": named}, {
        "recovery-differences": differences,
        "recoveries": Table(table, formats=formats),
    }


def _of_pings(tables: Mapping[str, pl.DataFrame]) -> Parts:
    """Pings beside TCP, at a queue that counts packets and at one that counts bytes."""
    lost = {
        key: {kind: mean_of(tables[queue][kind]) for kind in ("tcp", "ping")}
        for key, queue in (("packets", PACKETS), ("bytes", BYTES))
    }
    return {"lost": lost}, {"pings": charts.line(_lost_by_flows(tables), "flows", "loss", by="of", x_title="flows")}


def _of_cross_traffic(goodputs: pl.DataFrame, intervals: pl.DataFrame) -> Parts:
    """How the interval of a prediction widens with cross traffic."""
    edges = {"low_bps": "low", "mean_bps": "mean", "high_bps": "high"}
    long = intervals.unpivot(list(edges), index=["setting", "share"], variable_name="edge", value_name="goodput_bps")
    long = long.with_columns(pl.col("share") * 100, pl.col("edge").replace(edges))
    hourly = (
        goodputs.filter((pl.col("setting") == FOUR_FLOWS) & ~pl.col("weekend") & (pl.col("share") > 0))
        .group_by("share", "hour").agg(pl.col("goodput_bps").mean()).sort("share", "hour")
        .with_columns(cross=(pl.col("share") * 100).round(0).cast(pl.Int64).cast(pl.String) + " % over the week")
    )  # fmt: skip
    heads = intervals.select(
        "setting", (pl.col("share") * 100).alias("cross traffic %"), "mean_bps", "low_bps", "high_bps",
        (pl.col("width") * 100).alias("width of the interval %"),
    )  # fmt: skip
    widening = [
        charts.line(
            part.select("share", "goodput_bps", "edge"), "share", "goodput_bps", by="edge", title=str(setting),
            x_title="cross traffic (% of the bandwidth)", y_domain=(0, DARESBURY.path.bandwidth_bps), height=180,
        )
        for (setting,), part in long.group_by("setting", maintain_order=True)
    ]  # fmt: skip
    return (
        {
            "crossed": intervals.filter(pl.col("setting") == FOUR_FLOWS),
            "weekly": {"workday": weekly(weekend=False), "weekend": weekly(weekend=True)},
        },
        {
            "widening": widening,
            "hourly": charts.line(
                hourly, "hour", "goodput_bps", by="cross", x_title="hour of a working day", height=200
            ),
            "intervals": Table(heads, formats={"cross traffic %": ".0f", "width of the interval %": ".0f"}),
        },
    )


def _of_observations(points: Mapping[str, pl.DataFrame]) -> Parts:
    """Observed against predicted, as the document draws and counts it, on observations that are simulated too."""
    found = {place: points[place.name] for place in SITES}
    whole = {place: agreement(frame) for place, frame in found.items()}
    rows = []
    for place, frame in found.items():
        rows.append(residuals.row(place, {"flows": "all"}, whole[place]))
        by = agreements_by_flows(frame).items()
        rows += [residuals.row(place, {"flows": str(flows)}, value) for flows, value in by]
    return {"synthetic_r2": residuals.explained(whole, 2)}, {
        "observed": [residuals.scatter(place, frame) for place, frame in found.items()],
        "residuals": [residuals.over_windows(place, frame) for place, frame in found.items()],
        "agreements": Table(pl.DataFrame(rows), formats=residuals.FORMATS),
    }


def _of_unknowns(found: Sequence[Explained]) -> Parts:
    """What the prediction for Caltech may not know of its path: traffic, bandwidth, or both."""
    first, nearest = found[0], min(found, key=lambda each: each.mean_miss)
    rows = [
        {
            "bandwidth_bps": each.unknown.bandwidth_bps,
            "traffic %": 100 * each.unknown.cross,
            **each.misses,
            "mean miss": each.mean_miss,
            "AIC": each.aic,
        }
        for each in found
    ]
    digits = dict.fromkeys([*first.misses, "mean miss"], ".3f") | {"AIC": ".1f", "traffic %": ".0f"}
    named = {
        "explained": dict(enumerate(found)),
        "chosen_pair": _named(first),
        "nearest": nearest,
        "nearest_pair": _named(nearest),
        "beside": next(each for each in found if each.unknown.cross == CROSS),
    }
    return named, {
        "unknown": [residuals.scatter(CALTECH, first.points), residuals.over_windows(CALTECH, first.points)],
        "pairs": Table(pl.DataFrame(rows), formats=digits),
    }


def _named(each: Explained) -> str:
    return f"{each.unknown.bandwidth_bps / 1e6:g} Mbit/s with {percent(each.unknown.cross)} of others' traffic"


def _of_ns2(tables: Mapping[str, pl.DataFrame], values: Mapping[str, object]) -> Parts:
    """The grids beside those of ns-2.35."""
    rows, frames = [], []
    for name, place in product(UNDER, WITH_NS2):
        both = tables[f"{name}.{place.name}"]
        clean, lossy = parted(both)
        same = (pl.col("sent") == pl.col("packets_sent")) & (pl.col("drops") == pl.col("bottleneck_drops"))
        off = (lossy["here_bps"] / lossy["ns2_bps"] - 1) * 100
        rows.append(
            {
                "path": place.title,
                "settings": UNDER[name].title,
                "cells without loss": clean.height,
                "equal to the packet": clean.filter(same).height,
                "cells with loss": lossy.height,
                "of these equal": lossy.filter(same).height,
                "mean difference %": off.mean(),
                "its deviation %": off.std(),
                "p": values.get(f"{name}.{place.name}.p"),
            }
        )
        if UNDER[name] is DEFAULTS:
            frames.append(both.select("window_packets", "flows", "ns2_bps", "here_bps", path=pl.lit(place.title)))
    table, points = pl.DataFrame(rows), pl.concat(frames)
    top = largest(points["ns2_bps"])
    equality = pl.DataFrame({"ns2_bps": [0.0, top], "here_bps": [0.0, top], "line": ["equality"] * 2})
    named = {
        "clean": table["cells without loss"].sum(),
        "equal": table["equal to the packet"].sum(),
        "lossy": table["cells with loss"].sum(),
        "equal_lossy": table["of these equal"].sum(),
    }
    formats = {"mean difference %": "+.2f", "its deviation %": ".2f", "p": ".3f"}
    return {"ns2": named}, {
        "ns2": charts.points(points, "ns2_bps", "here_bps", by="path", curves=equality, curve="line", x_scale="linear"),
        "references": Table(table, formats=formats),
    }


def _lost_by_flows(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Mean losses over the windows: a row for each number of flows and kind of packet, ``of``."""
    names = {PACKETS: "queue of 80 packets", BYTES: f"queue of {SIZE}"}
    frames = [
        tables[queue]
        .group_by("flows", maintain_order=True)
        .agg(pl.col("tcp", "ping").mean())
        .unpivot(["tcp", "ping"], index="flows", variable_name="of", value_name="loss")
        .with_columns(pl.col("of").replace({"tcp": f"TCP, {words}", "ping": f"pings, {words}"}))
        for queue, words in names.items()
    ]
    return pl.concat(frames).sort("of", "flows")
