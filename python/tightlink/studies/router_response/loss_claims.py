"""Claims on loss, and on what would happen otherwise: other links, other rings, other costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from tightlink.experiment.claims import Claim, exact, holds_if, untestable, within
from tightlink.reduce import largest, smallest
from tightlink.studies.router_response.document import (
    DOCUMENT,
    LENGTHS,
    LEVEL,
    LEVEL_BPS,
    SERIAL_BPS,
    SHORTEST,
    per_s,
    serial_bytes,
)
from tightlink.studies.router_response.evidence import middle
from tightlink.studies.router_response.load_claims import GRID_PER_S
from tightlink.studies.router_response.words import MBIT, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tightlink.analysis.regimes import Length
    from tightlink.studies.router_response.evidence import Evidence

_LOSS: Final = f"{DOCUMENT}, III-3 and Fig. 4"
_END: Final = f"{DOCUMENT}, IV"
_HERE: Final = "this study"
#: The document calls figures from 2.08 to 2.2 Mbit/s the link's 2 Mbit/s.
_LINK_TOLERANCE: Final = 0.2
_LONGEST: Final = LENGTHS[-1]
#: Where small and large packets are compared: a bit rate above the link's that all lengths reach.
_EQUAL_BPS: Final = 5e6
_TINY: Final = 1e-3
#: What is as near is the same.
_CLEARLY: Final = 0.05
#: Payloads whose key frames fit into the rings.
_LONG: Final = 720
_SHORT: Final = 90
_T1_BPS: Final = 1.544e6


def claims(found: Evidence) -> Iterator[Claim]:
    """All of them."""
    yield from loss(found)
    yield from counterfactuals(found)
    yield from readings(found)
    yield from designer(found)


def loss(found: Evidence) -> Iterator[Claim]:
    """Where packets are lost, and of which length."""
    for length in found.of_grid.lengths:
        size, bracket = int(length.packet_bytes), length.loss_onset_bps
        full = largest(found.of(size, grid=True)["throughput_bps"])
        inside = bracket is not None and (bracket.low or 0) <= full * (1 + _TINY) and full <= (bracket.high or 0)
        seen = f"between {(bracket.low or 0) / MBIT:.2f} and {(bracket.high or 0) / MBIT:.2f}" if bracket else "nowhere"
        claim = within(
            f"loss.onset.{size}", f"{size} B: loss starts at the 2 Mbit/s of the serial link", _LOSS,
            SERIAL_BPS / MBIT, full / MBIT, tolerance=_LINK_TOLERANCE, unit="Mbit/s",
            reason=f"What a full link delivers; loss begins {seen} Mbit/s on the document's grid. The tolerance is "
            "what the document rounds: it calls 2.08 and 2.2 Mbit/s the link's limit, too. On the serial line such a "
            f"packet is a frame of {serial_bytes(size)} B: as the document counts, the link carries "
            f"{size / serial_bytes(size):.3f} times its rate, most where packets are short.",
        )  # fmt: skip
        yield claim if inside else holds_if(claim.id, claim.statement, claim.source, seen, False, claim.reason)  # noqa: FBT003
    small, large = (_at(found, size, _EQUAL_BPS, "loss") for size in (SHORTEST, _LONGEST))
    yield holds_if(
        "loss.small-more", "At equal bit rate smaller packets lose more", _LOSS,
        f"{percent(small)} and {percent(large)}", small > large,
        f"65 and 1500 B at {_EQUAL_BPS / MBIT:g} Mbit/s: the CPU loses what the link would still have carried.",
    )  # fmt: skip
    yield holds_if(
        "loss.interval-constant", "That is because the inter-arrival time is constant and hence the packet rate varies",
        _LOSS, _rates_at(found, 1e-3), _rates_at(found, 1e-3) > 1 + 1e-6,
        "A slip: at constant inter-arrival time the packet rate is the same for all lengths (largest over smallest, "
        "at 1 ms); at constant bit rate it varies.",
    )  # fmt: skip
    small, large = (_at(found, size, LEVEL_BPS, "load") for size in (SHORTEST, _LONGEST))
    yield holds_if(
        "best.1500", "The best traffic conditions are those of 1500 B", _END, f"{percent(small)} and {percent(large)}",
        large < small, "Reported load of router A at 2 Mbit/s with 65 and with 1500 B.",
    )  # fmt: skip
    yield untestable(
        "figure-4", "Fig. 4 (a) shows loss over bit rate, (b) over packet rate", _LOSS,
        "The text has them the other way round than the caption; both are drawn here.",
    )  # fmt: skip


def counterfactuals(found: Evidence) -> Iterator[Claim]:
    """What moves the onset, and what does not."""
    rings = found.variants["A, rings in bytes"]
    shift = max((_shift(own, other) for own, other in zip(found.control.lengths, rings.lengths, strict=True)), key=abs)
    yield holds_if(
        "cause.slots", "The packet rate is critical because buffer slots are counted in packets", _END,
        shift, abs(shift) > _CLEARLY,
        "How far rings that count bytes move the onset, as a share of it: not at all. The CPU's time for each packet "
        "governs, not the slot. Slots do cost short packets in bursts: see video.slots.",
    )  # fmt: skip
    still = found.variants["A, no interrupts"]
    yield holds_if(
        "cause.interrupts", "Without interrupts the reading stays at its level: they make the highly unstable region",
        _HERE, sum(length.decline is not None for length in still.lengths),
        all(length.decline is None for length in still.lengths), "Lengths whose reading falls.",
    )  # fmt: skip
    yield exact(
        "governs.bytes", "A router with a cost per byte is said to be governed by the bit rate", _HERE,
        "throughput_bps", found.variants["A, cost per byte"].governs or "nothing",
        reason="The same analysis, on the opposite law.",
    )  # fmt: skip
    for name, key, words in (("A, T1", "t1", "1.544 Mbit/s"), ("A, satellite", "satellite", "a satellite's delay")):
        own = found.variants[name]
        shift = max((_shift(*pair) for pair in zip(found.control.lengths, own.lengths, strict=True)), key=abs)
        yield holds_if(
            f"variant.{key}.onset", f"A serial link with {words} leaves the onset where it is", _HERE, shift,
            abs(shift) < _CLEARLY, f"How far it moves, as a share of it: {own.onset} packets/s.",
        )  # fmt: skip
    slow = found.variant_tables["A, T1"].filter(pl.col("packet_bytes") == _LONGEST)
    yield within(
        "variant.t1.loss", "At 1.544 Mbit/s loss starts there", _HERE, _T1_BPS / MBIT,
        largest(slow["throughput_bps"]) / MBIT, relative=0.01, unit="Mbit/s",
        reason="1500 B; the bits of Ethernet's header that the serial link replaces are the difference.",
    )  # fmt: skip


def readings(found: Evidence) -> Iterator[Claim]:
    """The two readings of 72 %: a level of the device's mean, or the load at 3,846 packets/s."""
    mean = found.variant_tables["A, plain mean"]
    yield holds_if(
        "reading.mean", "A plain mean over a minute would read near 100 %, so the device's mean decays", _HERE,
        largest(mean["load"]), largest(mean["load"]) > 1 - _CLEARLY,
        "The highest reading; the document's never comes near it.",
    )  # fmt: skip
    linear = found.variant_tables["A, linear"].filter(pl.col("packet_bytes") == SHORTEST)
    yield within(
        "reading.linear.at-2-mbit", "Read as the true load, 72 % is met at 2 Mbit/s", f"{_HERE}, 187 µs a packet",
        LEVEL, float(np.interp(per_s(LEVEL_BPS, SHORTEST), linear["offered_packets_per_s"], linear["load"])),
        tolerance=0.01, reason="Fitted to this figure.",
    )  # fmt: skip
    top = largest(linear["load"])
    yield within(
        "reading.linear.level", "Read as the true load, 72 % is also the level", f"{_HERE}, 187 µs a packet", LEVEL,
        top, tolerance=0.01, reason="It reads on to nearly 100 %, which the document never sees.",
    )  # fmt: skip
    rates, loads = linear["offered_packets_per_s"].to_numpy(), linear["load"].to_numpy()
    follows = float(np.interp(GRID_PER_S[1], rates, loads) / np.interp(GRID_PER_S[0], rates, loads))
    follows /= GRID_PER_S[1] / GRID_PER_S[0]
    yield holds_if(
        "reading.linear.onset", "Read as the true load, it also gives an onset between 3,333 and 5,000 packets/s",
        f"{_HERE}, 187 µs a packet", follows, follows < 1 - _CLEARLY,
        "How far the load followed the rate from one probe to the other: 1 is all the way. It saturates at 5,348/s.",
    )  # fmt: skip


def designer(found: Evidence) -> Iterator[Claim]:
    """For who streams."""
    film = found.film.filter(pl.col("frames sent") == "at once")
    near = film.filter(pl.col("background_per_s") == film["background_per_s"].max()).sort("payload_bytes")
    yield holds_if(
        "video.short-lose", "Beside traffic above the onset a video of short packets loses more", f"{DOCUMENT}, III-3",
        f"{percent(float(near['loss'][0]))} and {percent(float(near['loss'][-1]))}",
        float(near["loss"][0]) > float(near["loss"][-1]),
        f"Payloads of {near['payload_bytes'][0]} and {near['payload_bytes'][-1]} B.",
    )  # fmt: skip
    calm = found.film.filter((pl.col("frames sent") == "spread") & pl.col("clear") & (pl.col("payload_bytes") >= _LONG))
    yield holds_if(
        "video.clear", f"Payloads of {_LONG} B or more that packetize calls clear lose nothing, frames spread", _HERE,
        largest(calm["loss"]), largest(calm["loss"]) == 0, f"The most of {calm.height} videos.",
    )  # fmt: skip
    alone = film.filter((pl.col("background_per_s") == 0) & (pl.col("payload_bytes") == _SHORT))["loss"][0]
    in_bytes = found.film_in_bytes["loss"][0]
    yield holds_if(
        "video.slots", "Buffers that count packets cost bursts of short packets", _END,
        f"{percent(alone)} and {percent(in_bytes)}", alone > in_bytes,
        "Loss of a video in payloads of 90 B, alone, with rings in packets and in bytes: here slots matter.",
    )  # fmt: skip


def _shift(own: Length, other: Length) -> float:
    """How far the onset of a length moves, as a share of it."""
    return middle(other) / middle(own) - 1


def _at(found: Evidence, size: int, bits_per_s: float, column: str) -> float:
    """A column at a bit rate, between the probes around it."""
    own = found.of(size)
    return float(np.interp(bits_per_s, own["offered_bps"], own[column]))


def _rates_at(found: Evidence, interval_s: float) -> float:
    """The largest packet rate at an inter-arrival time over the smallest."""
    rates = found.grid.filter((pl.col("nominal_packets_per_s") * interval_s - 1).abs() < _TINY)["offered_packets_per_s"]
    return largest(rates) / smallest(rates)
