"""Claims on the load: where it stops following, what the routers report, what governs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from tightlink.experiment.claims import Claim, exact, holds_if, within
from tightlink.reduce import largest, smallest
from tightlink.studies.router_response import document
from tightlink.studies.router_response.document import (
    B_END_130_PER_S,
    B_END_BPS,
    B_READING,
    CONCLUSION_PER_S,
    DOCUMENT,
    FALL_BPS,
    LENGTHS,
    LEVEL,
    LEVEL_BPS,
    ONSETS_BPS,
    ONSETS_PER_S,
    SHORTEST,
)
from tightlink.studies.router_response.words import MBIT, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tightlink.studies.router_response.evidence import Evidence

_RATE: Final = f"{DOCUMENT}, III-2 and Fig. 3"
_BITS: Final = f"{DOCUMENT}, III-1 and Fig. 2"
_END: Final = f"{DOCUMENT}, IV"
#: The document's probes on both sides of its onsets: 0.3 and 0.2 ms.
GRID_PER_S: Final = (1 / 0.3e-3, 5000.0)
#: It cannot know an onset better than this.
GRID_TOLERANCE: Final = (GRID_PER_S[1] - GRID_PER_S[0]) / 2
_FITTED: Final = "Fitted to this figure."
_POINT: Final = 0.01
#: The reading is at its level, to half of what the document prints.
_AT_LEVEL: Final = 0.005
#: Beyond the onset by this share nothing of it is left to doubt.
_BEYOND: Final = 1.2
_STRAIGHT: Final = 0.99


def claims(found: Evidence) -> Iterator[Claim]:
    """All of them."""
    yield from onsets(found)
    yield from reported(found)
    yield from router_b(found)
    yield from governing(found)


def onsets(found: Evidence) -> Iterator[Claim]:
    """Where the unstable region begins."""
    grid = {length.packet_bytes: length for length in found.of_grid.lengths}
    for length, printed in ONSETS_PER_S.items():
        bracket = grid[length].onset
        inside = bracket is not None and (bracket.low or 0) <= printed <= (bracket.high or 0)
        yield holds_if(
            f"onset.{length}.grid", f"{length} B: unstable from {printed:g} packets/s, between two probes", _RATE,
            str(bracket), inside, "The document has no probe between 3,333 and 5,000/s: ours on its own grid.",
        )  # fmt: skip
    for length, printed in ONSETS_PER_S.items():
        yield within(
            f"onset.{length}", f"{length} B: the unstable region begins at {printed:g} packets/s", _RATE, printed,
            found.onset_per_s(length), tolerance=GRID_TOLERANCE, unit="packets/s",
            reason=f"With probes every 100/s: {found.length(length).onset}. The tolerance is half of the grid's gap. "
            "Fitted to the mean of the three; that one cost serves all lengths is not.",
        )  # fmt: skip
    for length, printed in ONSETS_BPS.items():
        own, said = found.onset_per_s(length) * 8 * length / MBIT, ONSETS_PER_S[length] * 8 * length / MBIT
        yield within(
            f"onset.{length}.bit-rate", f"{length} B: the unstable region begins at {printed / MBIT:g} Mbit/s", _BITS,
            printed / MBIT, own, tolerance=GRID_TOLERANCE * 8 * length / MBIT, unit="Mbit/s",
            reason=f"The document's own {ONSETS_PER_S[length]:g} packets/s are {said:.2f} Mbit/s"
            + (": 4.6 is a slip, most likely of 46." if length == LENGTHS[-1] else "."),
        )  # fmt: skip
    longest = LENGTHS[-1]
    yield within(
        f"onset.{longest}.bit-rate-46", f"{longest} B: the same, read as 46 Mbit/s", f"{_BITS}, a reading", 46,
        found.onset_per_s(longest) * 8 * longest / MBIT, tolerance=GRID_TOLERANCE * 8 * longest / MBIT, unit="Mbit/s",
    )  # fmt: skip
    for length, printed in ONSETS_BPS.items():
        said = ONSETS_PER_S[length] * 8 * length / MBIT
        reason = {
            65: "A slip: 4290 packets/s of 65 B. A third statement has it just over 2 Mbit/s.",
            1500: "A slip: 3925 packets/s of 1500 B.",
        }
        yield within(
            f"document.{length}", f"{length} B: the onsets printed in packets/s and in Mbit/s are the same", _BITS,
            printed / MBIT, round(said, 3), tolerance=0.1, unit="Mbit/s",
            reason=reason.get(length, "Arithmetic on the document's own figures; it prints one digit."),
        )  # fmt: skip
    ordered = [found.onset_per_s(length) * length for length in ONSETS_PER_S]
    yield holds_if(
        "onset.smaller-earlier", "The smaller the packets, the earlier the instability", _BITS,
        f"{ordered[0] * 8 / MBIT:.3g}, {ordered[1] * 8 / MBIT:.3g} and {ordered[2] * 8 / MBIT:.3g} Mbit/s",
        ordered == sorted(ordered),
        "In bit/s. In packets/s they begin together, and the document's own 4290, 4092, 3925 fall.",
    )  # fmt: skip
    yield within(
        "onset.conclusion", "The router becomes unstable after 4000 packets/s", _END, CONCLUSION_PER_S, found.onset,
        tolerance=500, unit="packets/s", reason="Printed to a thousand. Fitted to the mean of the three onsets.",
    )  # fmt: skip


def reported(found: Evidence) -> Iterator[Claim]:
    """What router A says of itself."""
    short, grid = found.of(SHORTEST), found.of(SHORTEST, grid=True)
    rates, loads = short["offered_bps"].to_numpy(), short["load"].to_numpy()
    level = float(loads.max())
    yield within(
        "load.level", "65 B: the reported load levels off at 72 %", _BITS, LEVEL, level, tolerance=_POINT,
        reason=f"{_FITTED} A minute's mean that decays has not forgotten the time before the probe.",
    )  # fmt: skip
    neighbours = [float(np.interp(rate * 8 * SHORTEST, grid["offered_bps"], grid["load"])) for rate in GRID_PER_S]
    yield within(
        "load.at-2-mbit", "65 B: the reported load approaches 72 % at 2 Mbit/s", _BITS, LEVEL,
        float(np.interp(LEVEL_BPS, rates, loads)), tolerance=(neighbours[1] - neighbours[0]) / 2,
        reason="The document has no probe there: its neighbours, at 1.73 and 2.6 Mbit/s, read "
        f"{percent(neighbours[0])} and {percent(neighbours[1])}; the tolerance is half of that. A load that follows "
        "the rate cannot be at its level at 3,846/s and leave the line at 4,290/s.",
    )  # fmt: skip
    held = short.filter((pl.col("offered_packets_per_s") > found.onset) & (pl.col("load") > level - _AT_LEVEL))
    yield within(
        "load.flat", "65 B: it stays at that level to about 3 Mbit/s", _BITS, FALL_BPS / MBIT,
        largest(held["offered_bps"]) / MBIT, tolerance=0.5, unit="Mbit/s",
        reason=f"{_FITTED} \"About 3\" is printed to a digit; the document's probes are at 2.6 and 5.2 Mbit/s only.",
    )  # fmt: skip
    last = found.grid.group_by("packet_bytes", maintain_order=True).last()
    low, high = smallest(last["load"]), largest(last["load"])
    yield holds_if(
        "load.falls", "Beyond, the reported load falls, for every packet length", _BITS,
        f"to {percent(low)}–{percent(high)}", high < level - _POINT,
        "At inter-arrival times of 0.1 ms; 1500 B reach 8,202 packets/s there, so they fall less.",
    )  # fmt: skip
    busy = short.filter(pl.col("load") < level - _POINT).filter(pl.col("offered_packets_per_s") > found.onset * _BEYOND)
    yield holds_if(
        "load.no-reduction", "There is no actual reduction in CPU load as the recorded results imply", _BITS,
        smallest(busy["load_busy"]), smallest(busy["load_busy"]) > 1 - _POINT,
        f"Share of the time in which the CPU was busy; asked for was up to {percent(largest(short['load_true']))}.",
    )  # fmt: skip
    forwarded = short["forwarded_packets_per_s"]
    yield holds_if(
        "load.routing-slows", "In the highly unstable region routing slows down, too", _BITS,
        float(forwarded[-1]), float(forwarded[-1]) < 0.5 * largest(forwarded),
        f"Forwarded at 10,000 packets/s, of {largest(forwarded):,.0f} at most: interrupts of packets that are "
        "then dropped take the time.", unit="packets/s",
    )  # fmt: skip


def router_b(found: Evidence) -> Iterator[Claim]:
    """Router B, behind the serial link."""
    short = found.of(SHORTEST, grid=True)
    most = short.sort("b_packets_per_s").row(-1, named=True)
    yield within(
        "b.end.65", "Router B, 65 B: the curve ends at 2.2 Mbit/s", _BITS, B_END_BPS / MBIT, most["b_bps"] / MBIT,
        tolerance=0.05, unit="Mbit/s",
        reason="The serial frame's 8 B are fitted to this; that router A still fills the link at 5,000/s, too.",
    )  # fmt: skip
    carried = largest(found.of(130, grid=True)["b_packets_per_s"])
    yield within(
        "b.end.130", "Router B, 130 B: the curve ends at about 2000 packets/s", _RATE, B_END_130_PER_S, carried,
        tolerance=50, unit="packets/s", reason="To the hundred that is printed; the serial link ends it.",
    )  # fmt: skip
    yield within(
        "b.load", "Router B, 65 B: it reaches a load of 66 %", _BITS, B_READING, most["b_load"], tolerance=_POINT,
        reason=_FITTED,
    )  # fmt: skip
    rates, loads = found.grid["b_packets_per_s"].to_numpy(), found.grid["b_load"].to_numpy()
    alike = float(np.corrcoef(rates, loads)[0, 1] ** 2)
    yield holds_if(
        "b.portion", "Router B's curves are a portion of the stable region: one line for all lengths", _RATE, alike,
        alike > _STRAIGHT, "R² of its reading over the packets/s that reach it.",
    )  # fmt: skip
    above = largest(found.grid["b_load"] - found.grid["load"])
    yield holds_if(
        "b.less", "Router B is less affected by the probes than router A", f"{DOCUMENT}, II-A", above, above < 0,
        "Its reading less router A's, at most.",
    )  # fmt: skip


def governing(found: Evidence) -> Iterator[Claim]:
    """Packets, bits or lengths."""
    own, spreads = found.of_grid, found.of_grid.spreads
    yield exact(
        "governs", "The load is governed by the packet rate, not by the bit rate or the length", _END,
        "packets_per_s", own.governs or "nothing",
        reason=f"{percent(own.explained.sure)} of resampled tables agree. R² alone: packet rate "
        f"{own.explained.r2['packets_per_s'].value:.2f}, bit rate {own.explained.r2['throughput_bps'].value:.2f}, "
        f"length {own.explained.r2['packet_bytes'].value:.2f}.",
    )  # fmt: skip
    apart = {metric: spread.variation for metric, spread in spreads.items()}
    yield holds_if(
        "governs.onsets", "The curves share almost the same starting points over packet rate", _RATE,
        apart["packets_per_s"], apart["packets_per_s"] < apart["throughput_bps"] / 10,
        f"Variation of the onsets in packets/s; in bit/s it is {percent(apart['throughput_bps'])}.",
    )  # fmt: skip
    rates = found.grid.filter((pl.col("nominal_packets_per_s") - 1000).abs() < 1)["offered_packets_per_s"]
    ratio = largest(rates) / smallest(rates)
    yield holds_if(
        "statement.constant-interval", "For constant inter-arrival time the packet rate is higher for small packets",
        _END, ratio, ratio > 1 + 1e-6,
        "A slip: it is the same, 1,000/s for all at 1 ms. True at constant bit rate.",
    )  # fmt: skip
    yield exact(
        "probes.number", "The grid has 30 inter-arrival times", f"{DOCUMENT}, II-B", document.INTERVALS_SAID,
        found.grid.filter(pl.col("packet_bytes") == SHORTEST).height,
        reason="A slip: the times that it lists, 0.1 ms to 100 ms, are 28.",
    )  # fmt: skip
    fastest = found.grid.filter(pl.col("packet_bytes") == LENGTHS[-1]).row(-1, named=True)
    yield within(
        "probes.achieved", "1500 B every 0.1 ms are sent", f"{DOCUMENT}, II-B", fastest["nominal_packets_per_s"],
        fastest["offered_packets_per_s"], relative=0.01, unit="packets/s",
        reason=f"{fastest['nominal_bps'] / MBIT:.0f} Mbit/s do not fit into the sender's 100: preamble, gap and "
        "checksum included, this is what does.",
    )  # fmt: skip
