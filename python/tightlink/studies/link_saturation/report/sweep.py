"""The main sweep in charts and tables: rates, laws and the bifurcation."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import polars as pl

from tightlink.experiment.claims import Claim
from tightlink.report import charts
from tightlink.run import Run
from tightlink.studies.claims_table import figure
from tightlink.studies.link_saturation.observe.bifurcation import branches, critical_payload, series
from tightlink.studies.link_saturation.observe.saturation import FRAME, PAYLOAD, READINGS, Found
from tightlink.studies.link_saturation.setup import interface, variations
from tightlink.studies.words import MBIT

PERCENT: Final = 100
#: Axes of payloads, throughputs and packet rates.
PAYLOAD_AXIS: Final[dict[str, Any]] = {"x_title": "payload (B)", "x_domain": (0, 1500)}
BITS: Final = (0, 105 * MBIT)
RATES: Final = (0, 35_000)
_LAWS: Final = {"ideal": "ideal law", "cost": "cost per packet and byte"}
#: What a throughput counts, and all that is drawn: each has one colour in all charts.
_COUNTED: Final = {"with headers": FRAME, "goodput": PAYLOAD}
_DRAWN: Final = ("simulated", "document", *_COUNTED)


def labelled(parts: Mapping[str, pl.DataFrame], label: str) -> pl.DataFrame:
    """Frames one below the other, each with its own value in a column."""
    return pl.concat(frame.with_columns(pl.lit(words).alias(label)) for words, frame in parts.items())


def over_payload(frame: pl.DataFrame, y: str, by: str, **keys: Any) -> Any:
    """A chart of points over the payload."""
    return charts.points(frame, "payload_bytes", y, by=by, among=_DRAWN, **PAYLOAD_AXIS | keys)


def of_sweep(found: Found, claims: Mapping[str, Claim]) -> dict[str, Any]:
    """The main sweep, figure 2 of the document, beside the figures that it prints."""
    table = found.table
    law, payloads = found.law(FRAME, "cost"), np.arange(10.0, 1501.0, 10.0)
    frames = payloads + interface.HEADER_BYTES
    limits = {
        "what the line carries": law.line_rate_bps.value / 8 / (frames + law.overhead_bytes.value),
        "what the interface processes": 1 / (law.per_packet_s.value + law.per_byte_s.value * frames),
    }
    inside = pl.col("packets_per_s") <= RATES[1]
    drawn = {words: pl.DataFrame({"payload_bytes": payloads, "packets_per_s": rates}).filter(inside)
             for words, rates in limits.items()}  # fmt: skip
    printed = {
        interface.SMALLEST_BYTES: "rate.smallest-packets", interface.CRITICAL_BYTES: "rate.free-flow-end",
        interface.LARGEST_BYTES: "rate.largest-packets",
    }  # fmt: skip
    shares = {interface.SMALLEST_BYTES: "share.payload", interface.CRITICAL_BYTES: "plateau.frame"}
    bits = {words: table.select("payload_bytes", throughput_bps=reading.throughput)
            for words, reading in _COUNTED.items()}  # fmt: skip
    over = {words: table.select("packets_per_s", pl.col(reading.throughput).alias("throughput_bps"), "payload_bytes")
            for words, reading in _COUNTED.items()}  # fmt: skip
    shown = (interface.SMALLEST_BYTES, 100, 200, 300, 400, 425, 450, 475, 600, 800, 1000, 1200, interface.LARGEST_BYTES)
    return {
        "rate": over_payload(
            labelled({
                "simulated": table.select("payload_bytes", "packets_per_s"),
                "document": _printed(claims, printed, "packets_per_s", 1e3),
            }, "source"),
            "packets_per_s", "source", curves=labelled(drawn, "limit"), curve="limit",
            title="Packet rate over payload", y_domain=RATES,
        ),
        "throughput": over_payload(
            labelled(bits | {
                "document": _printed(claims, shares, "throughput_bps", interface.BANDWIDTH_BPS / PERCENT),
            }, "source"),
            "throughput_bps", "source", title="Throughput over payload", y_domain=BITS,
        ),
        "over-rate": charts.points(
            labelled(over, "counted as"), "packets_per_s", "throughput_bps", by="counted as",
            among=_DRAWN, title="Throughput over packet rate", x_domain=RATES, y_domain=BITS,
        ),
        "sizes": table.filter(pl.col("datagram_bytes").is_in(shown)).with_columns(pl.col("load").clip(upper_bound=1)),
    }  # fmt: skip


def _printed(claims: Mapping[str, Claim], sizes: Mapping[int, str], column: str, unit: float) -> pl.DataFrame:
    """What the document prints for some payloads."""
    figures = [figure(claims, name) * unit for name in sizes.values()]
    return pl.DataFrame({"payload_bytes": [float(size) for size in sizes], column: figures})


def of_laws(found: Found) -> dict[str, Any]:
    """Both laws, in each reading of a packet's size."""
    rows = (
        (reading.name, _LAWS[law.name], law.throughput_max_bps.value / MBIT, law.critical_bytes.value,
         law.critical_bytes.low, law.critical_bytes.high, law.packets_per_s_max.value, law.fit.aicc,
         own.free_flow.slope.value if own.free_flow else None)
        for reading in READINGS
        for own in (found.by_reading[reading.name],)
        for law in own.laws
    )  # fmt: skip
    sizes = np.arange(60.0, 1501.0, 10.0)
    readings = [
        charts.points(
            found.by_reading[reading.name].points.select("packet_bytes", "throughput_bps", "regime"),
            "packet_bytes", "throughput_bps", by="regime", curve="law", x_title=f"{reading.name} (B)", title=title,
            height=300, y_domain=BITS, x_domain=(0, 1550),
            curves=labelled({
                words: pl.DataFrame(
                    {"packet_bytes": sizes, "throughput_bps": found.law(reading, name).throughput_bps(sizes)}
                )
                for name, words in _LAWS.items()
            }, "law"),
        )
        for reading, title in ((PAYLOAD, "Goodput over payload"), (FRAME, "Throughput over frame"))
    ]  # fmt: skip
    return {"readings": readings, "laws": rows}


def of_bifurcation(found: Found, perturbed: pl.DataFrame, runs: Mapping[str, Run]) -> dict[str, Any]:
    """Both branches, and how disturbed links return to one."""
    return {
        "branches": _branches(found, "packet_bytes", "frame (B), from large to small", (1520, 0)),
        # The size next to the critical one takes longest.
        "returns": [_returns(found, runs, size, 1.2 if size == 400 else 0.4) for size in (100, 400, 1000)],
        "filled": perturbed.filter(pl.col("disturbance") == variations.QUEUE),
    }


def reduced(found: Found) -> Any:
    """Both branches over the reduced parameter, for papers."""
    return _branches(found, "reduced", "reduced parameter 1 − p / p_c", (-2.5, 1))


def _branches(found: Found, along: str, title: str, domain: tuple[float, float]) -> Any:
    """Both branches, and the main sweep, counted in frames, over the size or what stands for it."""
    drawn = branches(found).filter(pl.col("throughput_bps") <= 150 * MBIT)
    # Both halves meet at the critical size, so each is one line.
    lines = {
        words: drawn.filter(pl.col("stable").is_null() | (pl.col("stable") == stable)).select(along, "throughput_bps")
        for words, stable in (("stable", True), ("unstable", False))
    }
    sizes = {"packet_bytes": pl.col("frame_bytes"), "reduced": 1 - pl.col("frame_bytes") / found.critical_bytes}
    measured = found.table.select(**{along: sizes[along]}, throughput_bps="frame_throughput_bps")
    return charts.points(
        measured, along, "throughput_bps", curves=labelled(lines, "branch"), curve="branch",
        height=320, x_title=title, x_domain=domain, y_domain=(0, 150 * MBIT),
    )  # fmt: skip


def _returns(found: Found, runs: Mapping[str, Run], size: int, until_s: float) -> Any:
    plateau = size < critical_payload(found)
    chosen = variations.PERTURBED.combinations(payload_bytes=size)
    parts = {
        str(each["disturbance"]): series(run, each["disturbance"], plateau=plateau)
        for each, run in zip(chosen, variations.PERTURBED.of(runs, payload_bytes=size), strict=True)
    }
    return charts.line(
        labelled(parts, "disturbance").filter(pl.col("time_s") <= until_s), "time_s", "throughput_bps",
        by="disturbance", title=f"{size} B", x_title="time (s)", height=170, y_domain=BITS, y_title=None,
    )  # fmt: skip
