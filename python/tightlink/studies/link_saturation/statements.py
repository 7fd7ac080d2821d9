"""Claims about packet rates, throughput, loss and laws of the main sweep, and the section that shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.experiment.claims import Claim, holds_if, within
from tightlink.report import Chart, Section, Table, Text, charts
from tightlink.studies.link_saturation.document import (
    BANDWIDTH_BPS,
    CRITICAL_BYTES,
    CRITICAL_RATE,
    DOCUMENT,
    FREE_FLOW_RATE,
    LARGEST_BYTES,
    LARGEST_RATE,
    PLATEAU_MBIT,
    SMALLEST_BYTES,
    SMALLEST_SHARE_PERCENT,
    half_digit,
)
from tightlink.studies.link_saturation.interface import HEADER_BYTES, PER_BYTE_S, PER_PACKET_S
from tightlink.studies.link_saturation.measures import least, most
from tightlink.studies.link_saturation.readings import FRAME, PAYLOAD
from tightlink.studies.link_saturation.sweeps import NO_BYTES, SLOW_RECEIVERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.run import Run
    from tightlink.studies.link_saturation.readings import Found

_RESULTS: Final = f"{DOCUMENT}, section 4"
_MBIT: Final = 1e6
_PERCENT: Final = 100
_THOUSAND: Final = 1e3
#: "Much less than 1 %": a tenth of it.
_SMALL_LOSS: Final = 0.001
_FITTED: Final = "Fitted to this figure: it confirms nothing."
#: How far eq. 7 may be off to be accurate, and at how many of the sizes: ours, as the document gives neither.
_ACCURATE: Final = 0.05
_NEARLY_ALL: Final = 0.9


def claims(found: Found, runs: Mapping[str, Run]) -> Iterator[Claim]:
    """What the document says of its figure 2."""
    yield from _rates(found, runs)
    yield from _shares(found)
    yield from _shapes(found)
    yield _loss(found, runs)


def _rates(found: Found, runs: Mapping[str, Run]) -> Iterator[Claim]:
    table, saturated = found.table, found.saturated
    slowest, fastest = (table["packets_per_s"].to_list()[place] / _THOUSAND for place in (-1, 0))
    last = saturated["packets_per_s"].to_list()[-1] / _THOUSAND
    near = half_digit(CRITICAL_RATE, 2) / _THOUSAND
    yield within(
        "rate.largest-packets", "Free flow begins at 7 thousand packets/s", _RESULTS, FREE_FLOW_RATE / _THOUSAND,
        slowest, tolerance=half_digit(FREE_FLOW_RATE) / _THOUSAND, unit="thousand/s",
        reason=f"A slip, or a reading of an axis: 96 Mbit/s of 1450 B are {PLATEAU_MBIT * 125 / LARGEST_BYTES:.1f} "
        "thousand/s, and 8.2 with the line's 1516 B. 7 thousand would be 81 Mbit/s, which is not on the plateau.",
    )  # fmt: skip
    yield within(
        "rate.free-flow-end", "Free flow ends at about 25 thousand packets/s", _RESULTS, CRITICAL_RATE / _THOUSAND,
        last, tolerance=near, unit="thousand/s", reason=f"Largest size of saturation. {_FITTED}",
    )  # fmt: skip
    yield within(
        "rate.smallest-packets", "In saturation the packet rate rises to 30 thousand/s", _RESULTS,
        LARGEST_RATE / _THOUSAND, fastest, tolerance=half_digit(LARGEST_RATE, 2) / _THOUSAND, unit="thousand/s",
        reason=f"At 25 B of payload. {_FITTED}",
    )  # fmt: skip
    flat = NO_BYTES.table(runs).filter(pl.col("frame_bytes") < found.critical[NO_BYTES.name])["packets_per_s"]
    rates = saturated["packets_per_s"]
    yield holds_if(
        "rate.keeps-rising", "In saturation the packet rate does not stagnate, as it should",
        _RESULTS,
        f"{last:.1f} to {fastest:.1f} thousand/s", bool((rates.diff().drop_nulls() < 0).all()),
        "The document calls it a glaring contradiction. It is none: an interface moves bytes as well as packets, and a "
        f"cost of {PER_BYTE_S * 1e9:.1f} ns a byte beside {PER_PACKET_S * 1e6:.1f} µs a packet makes it (fitted to the "
        f"document's two rates). Without the cost per byte the rate stagnates: {flat.to_list()[-1] / _THOUSAND:.2f} "
        f"to {flat.to_list()[0] / _THOUSAND:.2f} thousand/s.",
    )  # fmt: skip
    yield holds_if(
        "rate.small-rise", "That rise is small beside the rise in free flow", _RESULTS,
        f"× {fastest / last:.2f}, free flow × {last / slowest:.2f}", fastest / last < last / slowest,
    )  # fmt: skip


def _shares(found: Found) -> Iterator[Claim]:
    row = found.table.row(0, named=True)
    near = half_digit(SMALLEST_SHARE_PERCENT)
    for key, reading, words in (("payload", PAYLOAD, "goodput"), ("frame", FRAME, "throughput with headers")):
        share = _PERCENT * row[reading.throughput] / BANDWIDTH_BPS
        reason = (
            f"30 thousand packets/s of 25 B, which the cost is fitted to. {_FITTED} This reading fits."
            if key == "payload"
            else "The document says that it recalculated throughput with all headers; the figure that it prints is "
            "goodput's. With 46 B of headers beside 25 B of payload the two differ by almost three."
        )
        yield within(
            f"share.{key}", f"As {words}: at 25 B about 6 % of the bandwidth", _RESULTS,
            SMALLEST_SHARE_PERCENT, share, tolerance=near, unit="%", reason=reason,
        )  # fmt: skip


def _shapes(found: Found) -> Iterator[Claim]:
    table, saturated = found.table, found.saturated
    falls = all(bool((table[reading.throughput].diff().drop_nulls() > 0).all()) for reading in (PAYLOAD, FRAME))
    yield holds_if(
        "throughput.falls", "Throughput decreases with decreasing packet size", _RESULTS,
        "at each of the 58 sizes" if falls else "not at each size", falls, "Goodput and throughput with headers.",
    )  # fmt: skip
    rates, bits = (saturated[name] for name in ("packets_per_s", "frame_throughput_bps"))
    yield holds_if(
        "throughput.over-rate", "In saturation throughput falls over a short range of rates", _RESULTS,
        f"÷ {bits.to_list()[-1] / bits.to_list()[0]:.1f}, rate × {rates.to_list()[0] / rates.to_list()[-1]:.2f}",
        bits.to_list()[-1] / bits.to_list()[0] > rates.to_list()[0] / rates.to_list()[-1],
        "So the packet rate is what limits.",
    )  # fmt: skip
    limits = table.with_columns(low=pl.col("frame_bytes") < found.law(FRAME, "cost").critical_bytes.value)
    low = least(limits.filter("low")["limited_by_sender_rate"])
    high = least(limits.filter(~pl.col("low"))["limited_by_network"])
    yield holds_if(
        "cause", "Saturation is the interface's packet processing, not the link", _RESULTS,
        f"{_PERCENT * low:.1f} %, {_PERCENT * high:.1f} %",
        low > _NEARLY_ALL and high > _NEARLY_ALL,
        "Least share of the time limited by the interface below p_c, by the link above it, over all sizes.",
    )  # fmt: skip
    for key, reading in (("payload", PAYLOAD), ("frame", FRAME)):
        own = saturated.filter(pl.col(reading.size) < CRITICAL_BYTES)
        law = own[reading.size] / CRITICAL_BYTES * PLATEAU_MBIT * _MBIT
        errors = (law / own[reading.throughput] - 1).abs()
        good = sum(error <= _ACCURATE for error in errors.to_list()) / errors.len()
        yield holds_if(
            f"law.document-{key}",
            f"As {reading.name}: eq. 7 is accurate in almost all of saturation",
            _RESULTS, f"at {_PERCENT * good:.0f} % of the sizes", good >= _NEARLY_ALL,
            f"Largest error {_PERCENT * most(errors):.0f} %, at the smallest packets. "
            "A straight line through the origin cannot follow a rate that rises by a fifth. On a plot it looks "
            "accurate: nowhere does it miss by more than "
            f"{most((law - own[reading.throughput]).abs()) / _MBIT:.1f} "
            "Mbit/s. "
            f"Accurate: within {_PERCENT * _ACCURATE:.0f} % at {_PERCENT * _NEARLY_ALL:.0f} % of the sizes, ours.",
        )  # fmt: skip


def _loss(found: Found, runs: Mapping[str, Run]) -> Claim:
    worst = most(found.table["loss"])
    slow = [most(sweep.table(runs)["loss"]) for sweep in SLOW_RECEIVERS]
    losses = ", ".join(
        f"{_PERCENT * loss:.1f} % with a {sweep.name.partition(', ')[2]}"
        for sweep, loss in zip(SLOW_RECEIVERS, slow, strict=True)
    )
    return holds_if(
        "loss", "Loss is much less than 1 % at all packet sizes", _RESULTS, _PERCENT * worst, worst < _SMALL_LOSS,
        f"Below {_PERCENT * _SMALL_LOSS:g} %. The sender's interface pushes its source back instead of dropping, and "
        "the "
        f"receiver keeps up. It must have kept up in the document, too: {losses}.", unit="%",
    )  # fmt: skip


def section(found: Found) -> Section:
    """The main sweep: figure 2 of the document."""
    table = found.table
    frame = found.law(FRAME, "cost").critical_bytes.value
    row, last = table.row(0, named=True), table.row(-1, named=True)
    finding = (
        f"From 1450 B down to {frame - HEADER_BYTES:.0f} B the line is full; below, the interface spends all its "
        f"time on packets, and throughput falls to {row['goodput_bps'] / _MBIT:.1f} Mbit/s of payload although the "
        f"line is idle for {_PERCENT * (1 - row['utilization']):.0f} % of the time."
    )
    rate = charts.points(
        pl.concat([_points(table, "payload_bytes", "packets_per_s"), _printed_rates()], how="diagonal"),
        "payload_bytes", "packets_per_s", by="source", curves=_limits(found), curve="limit",
        x_title="payload (B)", title="Packet rate over payload", y_domain=(0, 35_000), x_domain=(0, 1500),
    )  # fmt: skip
    bits = charts.points(
        pl.concat([_throughputs(table), _printed_throughputs()], how="diagonal"),
        "payload_bytes", "throughput_bps", by="source",
        x_title="payload (B)", title="Throughput over payload", y_domain=(0, 105 * _MBIT), x_domain=(0, 1500),
    )  # fmt: skip
    over = charts.points(
        pl.concat(
            _over_rate(table, reading.throughput, words)
            for reading, words in ((PAYLOAD, "goodput"), (FRAME, "with headers"))
        ),
        "packets_per_s", "throughput_bps", by="counted as", title="Throughput over packet rate",
        x_domain=(0, 35_000), y_domain=(0, 105 * _MBIT),
    )  # fmt: skip
    caption = (
        'Hover for values. "Document" are the figures that it prints; its curves were not published as numbers. Grey '
        "lines are what the line carries and what the interface processes: the lower one is the rate."
    )
    return Section(
        "Packets, not bits",
        finding,
        [
            Text(_model(found, last)),
            Chart(rate, caption),
            Chart(bits),
            Chart(
                over, "Both follow the packet size, from the largest at the left to the smallest at the lower right."
            ),
            Table(_selected(table), "Some of the 58 sizes.", _FORMATS),
        ],
    )


_FORMATS: Final[dict[str, Any]] = {
    "packets/s": ",.0f", "goodput Mbit/s": ".2f", "with headers Mbit/s": ".2f", "line busy %": ".1f",
    "interface %": ".1f", "lost %": ".2f",
}  # fmt: skip
_SHOWN: Final = (SMALLEST_BYTES, 100, 200, 300, 400, 425, 450, 475, 600, 800, 1000, 1200, LARGEST_BYTES)


def _model(found: Found, last: Mapping[str, float]) -> str:
    return (
        "**The model.** Two hosts, a 100 Mbit/s Ethernet cable, and UDP as fast as the sender's interface takes it "
        "(Iperf told to send 100 Mbit/s does that: payload at that rate is more than the line carries at any size). "
        f"A frame is payload + {HEADER_BYTES} B (UDP 8, IP 20, Ethernet 18) and takes 20 B more of line time for "
        f"preamble and gap. The interface spends **{PER_PACKET_S * 1e6:.2f} µs on each packet and "
        f"{PER_BYTE_S * 1e9:.2f} ns on each byte of it**. That is all that is fitted, from the two rates that the "
        "document prints for saturation, 30 thousand/s at 25 B and 25 thousand/s at 451 B: the difference of the "
        "two times over the difference of the two sizes is the cost per byte, the rest the cost per packet. All "
        "else follows.\n\n"
        f"At 1450 B the interface is busy for {_PERCENT * last['load']:.0f} % of the time and the line always; at 25 "
        f"B it is the other way round, {_PERCENT * found.table['utilization'].to_list()[0]:.0f} % for the line."
    )


def _points(table: pl.DataFrame, x: str, y: str) -> pl.DataFrame:
    return table.select(x, y, source=pl.lit("simulated"))


def _printed_rates() -> pl.DataFrame:
    rows = [(SMALLEST_BYTES, LARGEST_RATE), (CRITICAL_BYTES, CRITICAL_RATE), (LARGEST_BYTES, FREE_FLOW_RATE)]
    return pl.DataFrame(
        {
            "payload_bytes": [float(size) for size, _ in rows],
            "packets_per_s": [float(rate) for _, rate in rows],
            "source": ["document"] * len(rows),
        }
    )


def _throughputs(table: pl.DataFrame) -> pl.DataFrame:
    parts = ((FRAME.throughput, "simulated, with headers"), (PAYLOAD.throughput, "simulated, goodput"))
    return pl.concat(
        table.select("payload_bytes", pl.col(name).alias("throughput_bps"), source=pl.lit(words))
        for name, words in parts
    )


def _printed_throughputs() -> pl.DataFrame:
    rows = [(SMALLEST_BYTES, SMALLEST_SHARE_PERCENT), (CRITICAL_BYTES, PLATEAU_MBIT)]
    return pl.DataFrame(
        {
            "payload_bytes": [float(size) for size, _ in rows],
            "throughput_bps": [share * BANDWIDTH_BPS / _PERCENT for _, share in rows],
            "source": ["document"] * len(rows),
        }
    )


def _limits(found: Found) -> pl.DataFrame:
    """What the line and the interface could carry, as the cost law was fitted."""
    import numpy as np

    law = found.law(FRAME, "cost")
    payloads = np.arange(10.0, 1501.0, 10.0)
    frames = payloads + HEADER_BYTES
    line = law.line_rate_bps.value / 8 / (frames + law.overhead_bytes.value)
    own = 1 / (law.per_packet_s.value + law.per_byte_s.value * frames)
    parts = []
    for words, rates in (("what the line carries", line), ("what the interface processes", own)):
        part = pl.DataFrame({"payload_bytes": payloads, "packets_per_s": rates, "limit": [words] * len(payloads)})
        parts.append(part.filter(pl.col("packets_per_s") <= 35_000))
    return pl.concat(parts)


def _over_rate(table: pl.DataFrame, column: str, words: str) -> pl.DataFrame:
    return table.select(
        "packets_per_s", pl.col(column).alias("throughput_bps"), "payload_bytes", pl.lit(words).alias("counted as")
    )


def _selected(table: pl.DataFrame) -> pl.DataFrame:
    return table.filter(pl.col("datagram_bytes").is_in(_SHOWN)).select(
        pl.col("datagram_bytes").alias("payload B"),
        pl.col("packets_per_s").alias("packets/s"),
        (pl.col("goodput_bps") / _MBIT).alias("goodput Mbit/s"),
        (pl.col("frame_throughput_bps") / _MBIT).alias("with headers Mbit/s"),
        (_PERCENT * pl.col("utilization")).alias("line busy %"),
        (_PERCENT * pl.col("load").clip(upper_bound=1)).alias("interface %"),
        (_PERCENT * pl.col("loss")).alias("lost %"),
    )
