"""Interactive charts of the study: load and loss, with the document's figures drawn in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.plots import palette
from tightlink.report import charts
from tightlink.report.charts import Shade
from tightlink.studies.router_response.document import (
    B_END_130_PER_S,
    B_END_BPS,
    B_READING,
    FALL_BPS,
    LEVEL,
    LEVEL_BPS,
    ONSETS_BPS,
    ONSETS_PER_S,
    SHORTEST,
    per_s,
)

if TYPE_CHECKING:
    from tightlink.studies.router_response.evidence import Evidence

_HEIGHT: Final = 320
_MOST_PER_S: Final = 10_000
_LOAD: Final = "reported load (%)"
_RATE: Final = "packets/s offered to router A"
_BITS: Final = "Mbit/s offered to router A"
_MBIT: Final = 1e-6


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


def shades(found: Evidence, factor: float = 1.0, end: float = _MOST_PER_S, ending: str = "") -> list[Shade]:
    """The regions: the onset as the analysis finds it for the lengths with extra probes, and the fall."""
    onset = found.found.onset
    if onset is None or onset.low is None:
        return []
    fall = found.fall.low or end
    return [
        Shade(f"unstable{ending}", onset.low * factor, min(fall * factor, end), palette.SERIES[4]),
        Shade(f"highly unstable{ending}", fall * factor, end, palette.SERIES[1]),
    ]


def load_over_rate(found: Evidence) -> Any:
    """Fig. 3a: the load that router A reports, over packet rate."""
    said = [{"rate": rate, "load": None, "document": f"onset at {size} B: {rate:g}/s"}
            for size, rate in ONSETS_PER_S.items()]  # fmt: skip
    said += [
        {"rate": per_s(bits, SHORTEST), "load": 100 * LEVEL, "document": f"72 % {words} ({bits * _MBIT:g} Mbit/s)"}
        for bits, words in ((LEVEL_BPS, "reached"), (FALL_BPS, "left again"))
    ]
    return charts.shaded(
        _named(found.every).select("length", "rate", "load", "asked for (%)"), "rate", "load", by="length",
        shades=shades(found), marks=pl.DataFrame(said), title="Router A: load over packet rate",
        x_title=_RATE, y_title=_LOAD, height=_HEIGHT, x_domain=(0, _MOST_PER_S), y_domain=(0, 100),
    )  # fmt: skip


def load_over_bits(found: Evidence) -> Any:
    """Fig. 2a: the same over bit rate."""
    said = [{"bits": bits * _MBIT, "load": None, "document": f"onset at {size} B: {bits * _MBIT:g} Mbit/s"}
            for size, bits in ONSETS_BPS.items()]  # fmt: skip
    return charts.shaded(
        _named(found.every).select("length", "bits", "load", "asked for (%)"), "bits", "load", by="length",
        shades=shades(found, 8 * SHORTEST * _MBIT, 8 * SHORTEST * _MOST_PER_S * _MBIT, " (65 B)"),
        marks=pl.DataFrame(said), title="Router A: load over bit rate", x_title=_BITS, y_title=_LOAD, height=_HEIGHT,
        x_domain=(0.05, 100), y_domain=(0, 100), x_scale="log",
    )  # fmt: skip


def router_b(found: Evidence) -> list[Any]:
    """Fig. 3b and 2b: router B, over what reaches it."""
    own = _named(found.grid).sort("length", "b rate", maintain_order=True).sort("b rate", maintain_order=True)
    order = [f"{size} B" for size in sorted(set(found.grid["packet_bytes"].to_list()))]
    own = own.sort(pl.col("length").cast(pl.Enum(order)), "b rate")
    ends = pl.DataFrame(
        [
            {"b rate": per_s(B_END_BPS, SHORTEST), "b load": 100 * B_READING, "document": "65 B: 66 % at 2.2 Mbit/s"},
            {"b rate": float(B_END_130_PER_S), "b load": None, "document": "130 B: ends at 2,000/s"},
        ]
    )
    of_rate = charts.shaded(
        own.select("length", "b rate", "b load"), "b rate", "b load", by="length", marks=ends,
        title="Router B: load over packet rate", x_title="packets/s that reach router B", y_title=_LOAD,
        x_domain=(0, 5000), y_domain=(0, 100),
    )  # fmt: skip
    marks = ends.head(1).with_columns(pl.lit(B_END_BPS * _MBIT).alias("b bits"))
    of_bits = charts.shaded(
        own.select("length", "b bits", "b load"), "b bits", "b load", by="length", marks=marks,
        title="Router B: load over bit rate", x_title="Mbit/s that reach router B", y_title=_LOAD,
        x_domain=(0, 2.5), y_domain=(0, 100),
    )  # fmt: skip
    return [of_rate, of_bits]


def loss(found: Evidence) -> list[Any]:
    """Fig. 4: loss over bit rate and over packet rate."""
    own = _named(found.every)
    link = pl.DataFrame([{"bits": 2.0, "loss": None, "document": "loss starts at 2 Mbit/s, all lengths"}],
                        schema_overrides={"loss": pl.Float64})  # fmt: skip
    of_bits = charts.shaded(
        own.select("length", "bits", "loss"), "bits", "loss", by="length", marks=link, title="Loss over bit rate",
        x_title=_BITS, y_title="packets lost (%)", x_domain=(0.5, 100), y_domain=(0, 100), x_scale="log",
    )  # fmt: skip
    of_rate = charts.shaded(
        own.select("length", "rate", "loss"), "rate", "loss", by="length", shades=shades(found),
        title="Loss over packet rate", x_title=_RATE, y_title="packets lost (%)", x_domain=(0, _MOST_PER_S),
        y_domain=(0, 100),
    )  # fmt: skip
    return [of_bits, of_rate]


def true_and_reported(found: Evidence) -> list[Any]:
    """What was asked of the CPU, what it did, and what it says; and the reading while it builds up."""
    own = found.of(SHORTEST).sort("offered_packets_per_s")
    long = pl.concat(
        own.select(rate="offered_packets_per_s", load=100 * pl.col(column), what=pl.lit(words))
        for words, column in (("reported", "load"), ("CPU busy", "load_busy"), ("CPU time asked for", "load_true"))
    )
    three = charts.shaded(
        long, "rate", "load", by="what", shades=shades(found), title="Router A, 65 B: asked for, done, reported",
        x_title=_RATE, y_title="load (%)", x_domain=(0, _MOST_PER_S), y_domain=(0, 250),
    )  # fmt: skip
    watched = found.watched.with_columns(load_reported=100 * pl.col("load_reported"))
    time = charts.line(
        watched, "time_s", "load_reported", by="probe", step=True, title="The reading since the first packet, 65 B",
        x_title="time (s)", y_title=_LOAD, height=300, y_domain=(0, 100),
    )  # fmt: skip
    return [three, time]


def variants(found: Evidence, names: dict[str, str]) -> Any:
    """The shortest packets in each variant that changes the curve."""
    own = pl.concat(
        (found.of(SHORTEST) if name == "A" else found.variant_tables[name].filter(pl.col("packet_bytes") == SHORTEST))
        .sort("offered_packets_per_s")
        .select(rate="offered_packets_per_s", load=100 * pl.col("load"), router=pl.lit(words))
        for name, words in names.items()
    )
    return charts.shaded(
        own, "rate", "load", by="router", shades=shades(found), title="65 B: reported load with another router",
        x_title=_RATE, y_title=_LOAD, height=_HEIGHT, x_domain=(0, _MOST_PER_S), y_domain=(0, 105),
    )  # fmt: skip


def film(found: Evidence) -> list[Any]:
    """Frames that lose a packet, over the packet rate at router A, a line for each payload."""
    drawn = []
    for sent, words in (("at once", "a frame's packets at once"), ("spread", "a frame's packets spread")):
        own = found.film.filter(pl.col("frames sent") == sent).select(
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
