"""The charts, tables and figures of the report, whose text is ``report.md``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from tightlink import plots
from tightlink.plots import palette
from tightlink.reduce import largest, smallest
from tightlink.report import Format, Table, Text, charts
from tightlink.report.charts import Shade
from tightlink.studies.claims_table import figure
from tightlink.studies.expressions import Names
from tightlink.studies.report_text import page
from tightlink.studies.router_response.observe.regions import clear
from tightlink.studies.router_response.observe.response import GRID_PER_S
from tightlink.studies.router_response.setup import costs, document, variants, video
from tightlink.studies.router_response.setup.document import (
    LENGTHS,
    LEVEL_BPS,
    ONSETS_MBIT,
    ONSETS_PER_S,
    SHORTEST,
    per_s,
)
from tightlink.studies.router_response.setup.network import REFINED
from tightlink.studies.router_response.setup.variants import VARIANTS
from tightlink.studies.words import MBIT, percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from tightlink.analysis.regimes import Regimes
    from tightlink.experiment.claims import Claim
    from tightlink.studies.router_response.observe import Observed
    from tightlink.studies.router_response.observe.regions import Routers, Videos
    from tightlink.studies.study import Report

_HEIGHT: Final = 320
_MOST_PER_S: Final = 10_000
_LOAD: Final = "reported load (%)"
_RATE: Final = "packets/s offered to router A"
_BITS: Final = "Mbit/s offered to router A"
_MBIT: Final = 1e-6
_METRICS: Final = {"packets_per_s": "packet rate", "throughput_bps": "bit rate", "packet_bytes": "packet length"}
#: The variants whose curve differs from router A's.
_DRAWN: Final = {
    "A": "router A", "A, no interrupts": "no interrupts", "A, plain mean": "meter: plain mean",
    "A, linear": "72 % as the true load",
}  # fmt: skip


def report(observed: Observed, claims: Mapping[str, Claim]) -> Report:
    """The whole report."""
    found = observed.routers
    of_three = {law.title: law.fit(variants.IN_PACKETS).bic for law in variants.LAWS}
    of_six = {law.title: law.fit(variants.ALL).aicc for law in variants.LAWS}
    governs, laws = found.of_grid.governs, {law.name: law.title for law in variants.LAWS}
    names = {
        "failed": sum(claim.holds is False for claim in claims.values()),
        "costs": vars(costs) | vars(variants),
        "network": vars(document) | vars(video),
        "short": found.probes(SHORTEST),
        "most": found.probes(SHORTEST, grid=True).sort("b_packets_per_s").row(-1, named=True),
        "on_grid": found.of_grid.sentence().replace("load stops", "On the document's grid load stops"),
        "always_busy": costs.reading(1.0),
        "governs": f"The {_METRICS[governs]} governs: {percent(found.of_grid.explained.sure)} of resampled tables "
        "agree."
        if governs
        else "What governs cannot be told.",
        "per_byte": found.variants["A, cost per byte"].sentence(),
        "best_law": min(of_three, key=of_three.__getitem__),
        "best_of_six": min(of_six, key=of_six.__getitem__),
        "simulated": "; ".join(
            f"{laws[law]}: "
            + ", ".join(f"{size} B {observed.values[f'{law}.{size}.per_s']:,.0f}" for size in ONSETS_PER_S)
            for law in found.by_law
        ),
        "twice": per_s(ONSETS_MBIT[SHORTEST] * MBIT, SHORTEST) / ONSETS_PER_S[SHORTEST] - 1,
        "between_us": {place: 1e6 * (1 - costs.LOW_LOAD) / rate for place, rate in enumerate((5000, 1 / 0.3e-3))},
        "interrupt_us": {share: 1e6 * costs.interrupt_s(share) for share in (7, 10)},
    }
    blocks = {
        "load-over-rate": _load_over_rate(found, claims),
        "true-and-reported": _true_and_reported(observed),
        "load-over-bits": _load_over_bits(found, claims),
        "router-b": _router_b(found, claims),
        "loss": _loss(found),
        "variant-curves": _variants(found, _DRAWN),
        "videos": _videos(observed.videos),
        "contradicted": _contradicted(claims),
        **_of_routers(found, claims),
        **_of_laws(of_three, of_six),
        **_of_variants(found),
        **_of_videos(observed.videos),
    }
    return page(Path(__file__).with_suffix(".md"), Names(names, observed.values, observed), blocks,
                draw=partial(_draw, found))  # fmt: skip


def _contradicted(claims: Mapping[str, Claim]) -> Text:
    """The claims of the document that do not hold, and why."""
    failed = (claim for claim in claims.values() if claim.holds is False and claim.origin == "document")
    return Text("\n".join(
        f"- *{claim.statement}* ({claim.source.partition(', ')[2]}). Here: {claim.observed_text}. {claim.reason}"
        for claim in failed
    ))  # fmt: skip


def _of_routers(found: Routers, claims: Mapping[str, Claim]) -> dict[str, Any]:
    """Onsets, losses, what governs, and the document's own figures side by side."""
    onsets, lost = [], []
    for size in LENGTHS:
        fine, own = size in REFINED, found.probes(size, grid=True)
        fastest = own.row(-1, named=True)
        onsets.append(
            {
                "length": f"{size} B",
                "document: packets/s": figure(claims, f"onset.{size}") if fine else None,
                "here: packets/s": found.onset_per_s(size) if fine else None,
                "between": _between(found, size),
                "document: Mbit/s": figure(claims, f"onset.{size}.bit-rate") if fine else None,
                "here: Mbit/s": found.onset_per_s(size) * 8 * size / MBIT if fine else None,
            }
        )
        lost.append(
            {
                "length": f"{size} B",
                "link full at (Mbit/s)": largest(own["throughput_bps"]) / MBIT,
                "at 0.1 ms: sent by the clock (packets/s)": fastest["nominal_packets_per_s"],
                "reach router A": fastest["offered_packets_per_s"],
                "lost at input rings %": 100 * fastest["lost_input_ring"],
                "lost at output rings %": 100 * fastest["lost_output_ring"],
                "delivered (packets/s)": fastest["packets_per_s"],
            }
        )
    explained, spreads = found.of_grid.explained, found.of_grid.spreads
    governs = [
        {
            "metric": words,
            "R² alone": explained.r2[metric].value,
            "share of R²": explained.importance[metric].value,
            "onsets vary by %": 100 * spreads[metric].variation,
            "onsets coincide": "yes" if spreads[metric].coincide else "no",
        }
        for metric, words in _METRICS.items()
        if metric in spreads
    ]
    printed = [
        {
            "length": f"{length} B",
            "printed in packets/s": rate,
            "which is Mbit/s": 8 * length * rate / MBIT,
            "printed in Mbit/s, 4.6 as 46": ONSETS_MBIT[length],
            "which is packets/s": per_s(ONSETS_MBIT[length] * MBIT, length),
        }
        for length, rate in ONSETS_PER_S.items()
    ]
    return {
        "onsets": _table(onsets, {
            "document: packets/s": ".0f", "here: packets/s": ".0f", "document: Mbit/s": ".1f", "here: Mbit/s": ".2f",
        }),
        "lost": _table(lost, {
            "link full at (Mbit/s)": ".2f", "at 0.1 ms: sent by the clock (packets/s)": ".0f", "reach router A": ".0f",
            "lost at input rings %": ".1f", "lost at output rings %": ".1f", "delivered (packets/s)": ".0f",
        }),
        "governs": _table(governs, {"R² alone": ".3f", "share of R²": ".3f", "onsets vary by %": ".0f"}),
        "printed": _table(printed, {
            "printed in packets/s": ".0f", "which is Mbit/s": ".2f", "printed in Mbit/s, 4.6 as 46": ".1f",
            "which is packets/s": ".0f",
        }),
    }  # fmt: skip


def _table(rows: list[dict[str, Any]], formats: Mapping[str, Format]) -> Table:
    return Table(pl.DataFrame(rows), formats=formats)


def _between(found: Routers, size: int) -> str:
    if size in REFINED:
        return str(found.length(size).onset).removeprefix("between ")
    own = next(length for length in found.of_grid.lengths if length.packet_bytes == size)
    return f"{str(own.onset).removeprefix('between ')} (grid)"


def _of_laws(of_three: Mapping[str, float], of_six: Mapping[str, float]) -> dict[str, Any]:
    """Three laws beside the document's onsets, and what a packet costs the two routers."""
    laws: list[dict[str, Any]] = [
        {
            "law": law.title,
            "costs fitted": len(law.terms(LENGTHS[0])),
            **{f"{size} B": law.onset_per_s(size) for size in LENGTHS},
            "BIC, three onsets": of_three[law.title],
            "AICc, six onsets": of_six[law.title],
        }
        for law in variants.LAWS
    ]
    printed = {f"{size} B": ONSETS_PER_S.get(size) for size in LENGTHS}
    laws.append(dict.fromkeys(laws[0]) | {"law": "document"} | printed)
    routers = [
        {
            "router": name,
            "interrupt µs": own.interrupt_us,
            "then per packet µs": own.per_packet_us,
            "together µs": own.packet_s * 1e6,
            "from": words,
        }
        for name, own, words in (
            ("A", costs.A, "mean onset 4102/s; the serial link still full at 5,000/s; the fall from 3 Mbit/s on"),
            ("B", costs.B, "66 % at 2.2 Mbit/s of 65 B; interrupt in the same proportion"),
        )
    ]
    onsets = dict.fromkeys(printed, ",.0f")
    return {
        "laws": _table(laws, onsets | {"BIC, three onsets": ".1f", "AICc, six onsets": ".1f"}),
        "costs": _table(routers, {name: ".1f" for name in routers[0] if "µs" in name}),
    }


def _of_variants(found: Routers) -> dict[str, Any]:
    """Other routers and links, and the two readings of 72 %."""
    listed: list[tuple[str, str, Regimes]] = [("A", "as documented", found.control)]
    listed += [(setting.name, setting.title, found.variants[setting.name]) for setting in VARIANTS]
    rows = []
    for name, title, own in listed:
        table = found.every if name == "A" else found.variant_tables[name]
        long = table.filter(pl.col("packet_bytes") == LENGTHS[-1]).sort("offered_packets_per_s")
        light = long.filter(pl.col("loss") == 0)
        rows.append(
            {
                "router": title,
                "unstable from": str(own.onset).removeprefix("between ") if own.onset is not None else "–",
                "in": "bit/s" if own.governs == "throughput_bps" else "packets/s",
                "governs": _METRICS.get(own.governs or "", "–"),
                "highest reading %": 100 * largest(table["load"]),
                "reading falls": "yes" if any(length.decline is not None for length in own.lengths) else "no",
                "1500 B: link full at Mbit/s": largest(long["throughput_bps"]) / MBIT,
                "1500 B: latency ms, unloaded": 1e3 * smallest(light["one_way_delay_mean_s"]),
            }
        )
    at = per_s(LEVEL_BPS, SHORTEST)
    columns = {}
    for name, title in (("A", "72 % is a level"), ("A, linear", "72 % is the load")):
        probes = found.every if name == "A" else found.variant_tables[name]
        short = probes.filter(pl.col("packet_bytes") == SHORTEST).sort("offered_packets_per_s")
        rates, loads = short["offered_packets_per_s"].to_numpy(), short["load"].to_numpy()
        two, grid, five, ten = (float(value) for value in np.interp([at, *GRID_PER_S, 10_000], rates, loads))
        busy = short.row(-1, named=True)
        columns[title] = [
            percent(two),
            percent(grid),
            percent(five),
            percent(float(loads.max())),
            percent(ten),
            percent(busy["load_busy"]),
            percent(short.sort("b_packets_per_s")["b_load"][-1]),
        ]
    statements = {
        "statement": [
            "65 B, 2 Mbit/s: approaches 72 %",
            "65 B, 3,333/s (1.73 Mbit/s)",
            "65 B, 5,000/s (2.6 Mbit/s): still at 72 %",
            "never reads more than 72 %",
            "65 B, 10,000/s: falls",
            "… while the CPU is really busy",
            "router B: 66 % at 2.2 Mbit/s",
        ]
    }
    return {
        "variants": _table(rows, {
            "highest reading %": ".0f", "1500 B: link full at Mbit/s": ".2f", "1500 B: latency ms, unloaded": ".1f",
        }),
        "readings": pl.DataFrame(statements | columns),
    }  # fmt: skip


def _of_videos(found: Videos) -> dict[str, Any]:
    """What `packetize` recommends beside what was lost."""
    limit = found.limit_per_s
    rows = []
    for others in video.BACKGROUNDS_PER_S:
        said = clear(limit, others)
        own = found.lost.filter((pl.col("background_per_s") == others) & (pl.col("frames sent") == "spread"))
        lossless = own.filter(pl.col("loss") == 0)["payload_bytes"].to_list()
        rows.append(
            {
                "other packets/s": others,
                "packetize: clear payloads": f"{said.smallest} to {said.longest} B" if said.smallest else "none",
                "packetize recommends": f"{said.recommended} B" if said.recommended else "–",
                "simulated without loss (spread)": ", ".join(f"{size} B" for size in lossless) or "none",
            }
        )
    alone = found.lost.filter((pl.col("background_per_s") == 0) & (pl.col("frames sent") == "at once"))
    slots = alone.select("payload_bytes", "loss_run_max_packets", lost_packets="loss").join(
        found.in_bytes.select("payload_bytes", lost_bytes="loss"), on="payload_bytes", maintain_order="left"
    )
    table = slots.select(
        pl.col("payload_bytes").alias("payload B"),
        (100 * pl.col("lost_packets")).alias("lost %, rings in packets"),
        pl.col("loss_run_max_packets").alias("longest loss run (packets)"),
        (100 * pl.col("lost_bytes")).alias("lost %, rings in bytes"),
    )
    formats = {name: ".2f" for name in table.columns if name.startswith("lost")}
    formats["longest loss run (packets)"] = ".0f"
    return {"packetize": pl.DataFrame(rows), "slots": Table(table, formats=formats)}


def _named(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows of probes in the units of the charts, in the order of lengths."""
    return frame.sort("packet_bytes", "offered_packets_per_s").select(
        (pl.format("{} B", "packet_bytes")).alias("length"),
        pl.col("offered_packets_per_s").alias("rate"),
        (pl.col("offered_bps") * _MBIT).alias("bits"),
        (100 * pl.col("load")).alias("load"),
        (100 * pl.col("load_true")).alias("asked for (%)"),
        (100 * pl.col("loss")).alias("loss"),
        pl.col("b_packets_per_s").alias("b rate"),
        (pl.col("b_bps") * _MBIT).alias("b bits"),
        (100 * pl.col("b_load")).alias("b load"),
    )


def _shades(found: Routers, factor: float = 1.0, end: float = _MOST_PER_S, ending: str = "") -> list[Shade]:
    """The regions: the onset as the analysis finds it for the lengths with extra probes, and the fall."""
    onset = found.found.onset
    if onset is None or onset.low is None:
        return []
    fall = found.fall.low or end
    return [
        Shade(f"unstable{ending}", onset.low * factor, min(fall * factor, end), palette.SERIES[4]),
        Shade(f"highly unstable{ending}", fall * factor, end, palette.SERIES[1]),
    ]


def _load_over_rate(found: Routers, claims: Mapping[str, Claim]) -> Any:
    """Fig. 3a: the load that router A reports, over packet rate."""
    onsets = {size: figure(claims, f"onset.{size}") for size in REFINED}
    said = [{"rate": rate, "load": None, "document": f"onset at {size} B: {rate:g}/s"}
            for size, rate in onsets.items()]  # fmt: skip
    level, fall_bps = 100 * figure(claims, "load.level"), figure(claims, "load.flat") / _MBIT
    said += [
        {"rate": per_s(bits, SHORTEST), "load": level, "document": f"72 % {words} ({bits * _MBIT:g} Mbit/s)"}
        for bits, words in ((LEVEL_BPS, "reached"), (fall_bps, "left again"))
    ]
    return charts.shaded(
        _named(found.every).select("length", "rate", "load", "asked for (%)"), "rate", "load", by="length",
        shades=_shades(found), marks=pl.DataFrame(said), title="Router A: load over packet rate",
        x_title=_RATE, y_title=_LOAD, height=_HEIGHT, x_domain=(0, _MOST_PER_S), y_domain=(0, 100),
    )  # fmt: skip


def _load_over_bits(found: Routers, claims: Mapping[str, Claim]) -> Any:
    """Fig. 2a: the same over bit rate."""
    onsets = {size: figure(claims, f"onset.{size}.bit-rate") for size in REFINED}
    said = [{"bits": mbit, "load": None, "document": f"onset at {size} B: {mbit:g} Mbit/s"}
            for size, mbit in onsets.items()]  # fmt: skip
    return charts.shaded(
        _named(found.every).select("length", "bits", "load", "asked for (%)"), "bits", "load", by="length",
        shades=_shades(found, 8 * SHORTEST * _MBIT, 8 * SHORTEST * _MOST_PER_S * _MBIT, " (65 B)"),
        marks=pl.DataFrame(said), title="Router A: load over bit rate", x_title=_BITS, y_title=_LOAD, height=_HEIGHT,
        x_domain=(0.05, 100), y_domain=(0, 100), x_scale="log",
    )  # fmt: skip


def _router_b(found: Routers, claims: Mapping[str, Claim]) -> list[Any]:
    """Fig. 3b and 2b: router B, over what reaches it."""
    own = _named(found.grid).sort("length", "b rate", maintain_order=True).sort("b rate", maintain_order=True)
    order = [f"{size} B" for size in sorted(set(found.grid["packet_bytes"].to_list()))]
    own = own.sort(pl.col("length").cast(pl.Enum(order)), "b rate")
    end_mbit, end_load = figure(claims, "b.end.65"), 100 * figure(claims, "b.load")
    ends = pl.DataFrame(
        [
            {"b rate": per_s(end_mbit / _MBIT, SHORTEST), "b load": end_load, "document": "65 B: 66 % at 2.2 Mbit/s"},
            {"b rate": float(figure(claims, "b.end.130")), "b load": None, "document": "130 B: ends at 2,000/s"},
        ]
    )
    of_rate = charts.shaded(
        own.select("length", "b rate", "b load"), "b rate", "b load", by="length", marks=ends,
        title="Router B: load over packet rate", x_title="packets/s that reach router B", y_title=_LOAD,
        x_domain=(0, 5000), y_domain=(0, 100),
    )  # fmt: skip
    marks = ends.head(1).with_columns(pl.lit(end_mbit).alias("b bits"))
    of_bits = charts.shaded(
        own.select("length", "b bits", "b load"), "b bits", "b load", by="length", marks=marks,
        title="Router B: load over bit rate", x_title="Mbit/s that reach router B", y_title=_LOAD,
        x_domain=(0, 2.5), y_domain=(0, 100),
    )  # fmt: skip
    return [of_rate, of_bits]


def _loss(found: Routers) -> list[Any]:
    """Fig. 4: loss over bit rate and over packet rate."""
    own = _named(found.every)
    link = pl.DataFrame([{"bits": 2.0, "loss": None, "document": "loss starts at 2 Mbit/s, all lengths"}],
                        schema_overrides={"loss": pl.Float64})  # fmt: skip
    of_bits = charts.shaded(
        own.select("length", "bits", "loss"), "bits", "loss", by="length", marks=link, title="Loss over bit rate",
        x_title=_BITS, y_title="packets lost (%)", x_domain=(0.5, 100), y_domain=(0, 100), x_scale="log",
    )  # fmt: skip
    of_rate = charts.shaded(
        own.select("length", "rate", "loss"), "rate", "loss", by="length", shades=_shades(found),
        title="Loss over packet rate", x_title=_RATE, y_title="packets lost (%)", x_domain=(0, _MOST_PER_S),
        y_domain=(0, 100),
    )  # fmt: skip
    return [of_bits, of_rate]


def _true_and_reported(observed: Observed) -> list[Any]:
    """What was asked of the CPU, what it did, and what it says; and the reading while it builds up."""
    found = observed.routers
    own = found.probes(SHORTEST).sort("offered_packets_per_s")
    long = pl.concat(
        own.select(rate="offered_packets_per_s", load=100 * pl.col(column), what=pl.lit(words))
        for words, column in (("reported", "load"), ("CPU busy", "load_busy"), ("CPU time asked for", "load_true"))
    )
    three = charts.shaded(
        long, "rate", "load", by="what", shades=_shades(found), title="Router A, 65 B: asked for, done, reported",
        x_title=_RATE, y_title="load (%)", x_domain=(0, _MOST_PER_S), y_domain=(0, 250),
    )  # fmt: skip
    watched = observed.watched.with_columns(load_reported=100 * pl.col("load_reported"))
    time = charts.line(
        watched, "time_s", "load_reported", by="probe", step=True, title="The reading since the first packet, 65 B",
        x_title="time (s)", y_title=_LOAD, height=300, y_domain=(0, 100),
    )  # fmt: skip
    return [three, time]


def _variants(found: Routers, names: dict[str, str]) -> Any:
    """The shortest packets in each variant that changes the curve."""
    tables = {"A": found.every, **found.variant_tables}
    own = pl.concat(
        tables[name]
        .filter(pl.col("packet_bytes") == SHORTEST)
        .sort("offered_packets_per_s")
        .select(rate="offered_packets_per_s", load=100 * pl.col("load"), router=pl.lit(words))
        for name, words in names.items()
    )
    return charts.shaded(
        own, "rate", "load", by="router", shades=_shades(found), title="65 B: reported load with another router",
        x_title=_RATE, y_title=_LOAD, height=_HEIGHT, x_domain=(0, _MOST_PER_S), y_domain=(0, 105),
    )  # fmt: skip


def _videos(found: Videos) -> list[Any]:
    """Frames that lose a packet, over the packet rate at router A, a line for each payload."""
    drawn = []
    for sent, words in (("at once", "a frame's packets at once"), ("spread", "a frame's packets spread")):
        own = found.lost.filter(pl.col("frames sent") == sent).select(
            pl.format("{} B", "payload_bytes").alias("payload"),
            pl.col("background_per_s").cast(pl.Float64).alias("others"),
            (100 * pl.col("frames_hit")).alias("frames hit"),
            (100 * pl.col("loss")).alias("packets lost (%)"),
            pl.col("loss_run_mean_packets").alias("mean loss run (packets)"),
            pl.col("loss_run_max_packets").alias("longest loss run (packets)"),
            "clear",
        )
        drawn.append(
            charts.shaded(
                own, "others", "frames hit", by="payload", title=f"Video in payloads of 90 to 1440 B, {words}",
                x_title="other packets/s through router A", y_title="frames that lose a packet (%)",
                x_domain=(0, 4500), y_domain=(0, 100),
            )
        )  # fmt: skip
    return drawn


def _draw(found: Routers, folder: Path) -> list[Path]:
    """Draw the figures for papers, the document's Figures 2, 3 and 4, as SVG and PNG."""
    own = found.found
    return [
        *plots.save(plots.load_over(own, "throughput_bps", log=True), folder, "load-over-bit-rate-a"),
        *plots.save(
            _of_router_b(found, "b_bps", "bit rate at router B (Mbit/s)", 1e-6), folder, "load-over-bit-rate-b"
        ),
        *plots.save(plots.load_over(own, "packets_per_s"), folder, "load-over-packet-rate-a"),
        *plots.save(_of_router_b(found, "b_packets_per_s", "packet rate at router B (packets/s)", 1.0), folder,
                "load-over-packet-rate-b"),
        *plots.save(plots.loss_over(own, "throughput_bps", log=True), folder, "loss-over-bit-rate"),
        *plots.save(plots.loss_over(own, "packets_per_s"), folder, "loss-over-packet-rate"),
    ]  # fmt: skip


def _of_router_b(found: Routers, x: str, title: str, factor: float) -> Axes:
    along = pl.col(x) * factor
    frame = found.grid.sort("packet_bytes", x).select(
        along.alias(title), load=pl.col("b_load"), length=pl.format("{} B", "packet_bytes")
    )
    ax = plots.line(frame, x=title, y="load", by="length")
    ax.set_ylim(bottom=0)
    return ax
