"""Interactive charts of load and loss, with the document's figures drawn in."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from tightlink.experiment.claims import Claim
from tightlink.plots import palette
from tightlink.report import charts
from tightlink.report.charts import Shade
from tightlink.studies.claims_table import figure
from tightlink.studies.router_response.observe.regions import Routers, Videos
from tightlink.studies.router_response.setup.document import LENGTHS, LEVEL_BPS, SHORTEST, per_s
from tightlink.studies.router_response.setup.network import REFINED

_HEIGHT: Final = 320
_MOST_PER_S: Final = 10_000
_LOAD: Final = "reported load (%)"
_OVER_RATE: Final[dict[str, Any]] = {"x_title": "packets/s offered to router A", "x_domain": (0, _MOST_PER_S)}
_BITS: Final = "Mbit/s offered to router A"
_MBIT: Final = 1e-6
_PRINTED: Final = "diamonds and dashed lines: the document's"


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


def load_over_rate(found: Routers, claims: Mapping[str, Claim]) -> Any:
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
        shades=_shades(found), marks=pl.DataFrame(said), title=f"Router A: load over packet rate ({_PRINTED})",
        y_title=_LOAD, height=_HEIGHT, y_domain=(0, 100), **_OVER_RATE,
    )  # fmt: skip


def load_over_bits(found: Routers, claims: Mapping[str, Claim]) -> Any:
    """Fig. 2a: the same over bit rate."""
    onsets = {size: figure(claims, f"onset.{size}.bit-rate") for size in REFINED}
    said = [{"bits": mbit, "load": None, "document": f"onset at {size} B: {mbit:g} Mbit/s"}
            for size, mbit in onsets.items()]  # fmt: skip
    return charts.shaded(
        _named(found.every).select("length", "bits", "load", "asked for (%)"), "bits", "load", by="length",
        shades=_shades(found, 8 * SHORTEST * _MBIT, 8 * SHORTEST * _MOST_PER_S * _MBIT, " (65 B)"),
        marks=pl.DataFrame(said), title=f"Router A: load over bit rate ({_PRINTED})", x_title=_BITS, y_title=_LOAD,
        height=_HEIGHT, x_domain=(0.05, 100), y_domain=(0, 100), x_scale="log",
    )  # fmt: skip


def router_b(found: Routers, claims: Mapping[str, Claim]) -> list[Any]:
    """Fig. 3b and 2b: router B, over what reaches it."""
    order = pl.Enum([f"{size} B" for size in LENGTHS])
    own = _named(found.grid).sort(pl.col("length").cast(order), "b rate", maintain_order=True)
    end_mbit, end_load = figure(claims, "b.end.65"), 100 * figure(claims, "b.load")
    ends = pl.DataFrame({
        "b rate": [per_s(end_mbit / _MBIT, SHORTEST), float(figure(claims, "b.end.130"))],
        "b load": [end_load, None],
        "document": ["65 B: 66 % at 2.2 Mbit/s", "130 B: ends at 2,000/s"],
    })  # fmt: skip
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


def loss(found: Routers) -> list[Any]:
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
        title="Loss over packet rate", y_title="packets lost (%)", y_domain=(0, 100), **_OVER_RATE,
    )  # fmt: skip
    return [of_bits, of_rate]


def true_and_reported(found: Routers, watched: pl.DataFrame) -> list[Any]:
    """What was asked of the CPU, what it did, and what it says; and the reading while it builds up."""
    own = found.probes(SHORTEST).sort("offered_packets_per_s")
    long = pl.concat(
        own.select(rate="offered_packets_per_s", load=100 * pl.col(column), what=pl.lit(words))
        for words, column in (("reported", "load"), ("CPU busy", "load_busy"), ("CPU time asked for", "load_true"))
    )
    three = charts.shaded(
        long, "rate", "load", by="what", shades=_shades(found), title="Router A, 65 B: asked for, done, reported",
        y_title="load (%)", y_domain=(0, 250), **_OVER_RATE,
    )  # fmt: skip
    watched = watched.with_columns(load_reported=100 * pl.col("load_reported"))
    time = charts.line(
        watched, "time_s", "load_reported", by="probe", step=True, title="The reading since the first packet, 65 B",
        x_title="time (s)", y_title=_LOAD, height=300, y_domain=(0, 100),
    )  # fmt: skip
    return [three, time]


def variant_curves(found: Routers, names: dict[str, str]) -> Any:
    """The shortest packets in each variant that changes the curve."""
    tables = {"A": found.every} | {name: own.table for name, own in found.variants.items()}
    own = pl.concat(
        tables[name]
        .filter(pl.col("packet_bytes") == SHORTEST)
        .sort("offered_packets_per_s")
        .select(rate="offered_packets_per_s", load=100 * pl.col("load"), router=pl.lit(words))
        for name, words in names.items()
    )
    return charts.shaded(
        own, "rate", "load", by="router", shades=_shades(found), title="65 B: reported load with another router",
        y_title=_LOAD, height=_HEIGHT, y_domain=(0, 105), **_OVER_RATE,
    )  # fmt: skip


def videos(found: Videos) -> list[Any]:
    """Frames that lose a packet, over the packet rate at router A, a line for each payload."""
    drawn = []
    for sent in ("at once", "spread"):
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
                own, "others", "frames hit", by="payload", x_domain=(0, 4500), y_domain=(0, 100),
                title=f"Video in payloads of 90 to 1440 B, a frame's packets {sent}",
                x_title="other packets/s through router A", y_title="frames that lose a packet (%)",
            )
        )  # fmt: skip
    return drawn
