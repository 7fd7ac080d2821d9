"""Values on loss, and on other routers and links: other rings, other costs, the other reading of 72 %."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from tightlink.reduce import largest
from tightlink.studies.router_response.observe.load import GRID_PER_S, at
from tightlink.studies.router_response.observe.regions import middle
from tightlink.studies.router_response.setup.document import LENGTHS, LEVEL_BPS, SHORTEST, per_s

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tightlink.analysis.regimes import Length
    from tightlink.studies.router_response.observe.regions import Routers

_LONGEST: Final = LENGTHS[-1]
#: Where small and large packets are compared: a bit rate above the link's that all lengths reach.
_EQUAL_BPS: Final = 5e6
_MBIT: Final = 1e6
#: Probes may be beside what a full link delivers by this share.
_TINY: Final = 1e-3


def values(found: Routers) -> dict[str, object]:
    """What claims compare, by name: loss.LENGTH.…, and those of each variant, as t1.…."""
    listed: dict[str, object] = {
        f"loss.{size}.at_5_mbit": at(found, size, _EQUAL_BPS, "loss") for size in (SHORTEST, _LONGEST)
    }
    return listed | _numbers(found) | _loss(found) | dict(_variants(found)) | _linear(found)


def _numbers(found: Routers) -> dict[str, object]:
    """Packets that are lost in a second: of each length at one bit rate, and at one inter-arrival time."""
    at_bits = [at(found, size, _EQUAL_BPS, "loss") * per_s(_EQUAL_BPS, size) for size in LENGTHS]
    frame = found.grid.filter((pl.col("nominal_packets_per_s") - GRID_PER_S[1]).abs() < 1).sort("packet_bytes")
    at_rate = (frame["loss"] * frame["offered_packets_per_s"]).to_list()
    return {
        **{f"loss.{size}.number_at_5_mbit": number for size, number in zip(LENGTHS, at_bits, strict=True)},
        **{f"loss.{size}.number_at_0.2_ms": number for size, number in zip(LENGTHS, at_rate, strict=True)},
        "loss.number_falls_with_length": _falling(at_bits),
        "loss.number_at_rate_falls_with_length": _falling(at_rate),
    }


def _falling(numbers: list[float]) -> bool:
    return all(later < earlier for earlier, later in pairwise(numbers))


def _loss(found: Routers) -> dict[str, object]:
    """Where packets of each length are lost."""
    listed: dict[str, object] = {}
    for length in found.of_grid.lengths:
        size, bracket = int(length.packet_bytes), length.loss_onset_bps
        low, high = (bracket.low or 0, bracket.high or 0) if bracket else (0, 0)
        full = largest(found.probes(size, grid=True)["throughput_bps"])
        listed |= {
            f"loss.{size}.full_bps": full,
            f"loss.{size}.begins": f"between {low / _MBIT:.2f} and {high / _MBIT:.2f}" if bracket else "nowhere",
            f"loss.{size}.begins_where_full": bracket is not None and low <= full * (1 + _TINY) and full <= high,
        }
    return listed


def _variants(found: Routers) -> Iterator[tuple[str, object]]:
    for name, own in found.variants.items():
        key, table = name.removeprefix("A, ").lower().replace(" ", "-"), found.variant_tables[name]
        shifts = (_shift(*pair) for pair in zip(found.control.lengths, own.lengths, strict=True))
        yield f"{key}.onset", str(own.onset)
        yield f"{key}.onset_shift", max(shifts, key=abs)
        yield f"{key}.governs", own.governs or "nothing"
        yield f"{key}.falling_lengths", sum(length.decline is not None for length in own.lengths)
        yield f"{key}.load_most", largest(table["load"])
        longest = table.filter(pl.col("packet_bytes") == _LONGEST)
        yield f"{key}.{_LONGEST}.throughput_most_bps", largest(longest["throughput_bps"])


def _linear(found: Routers) -> dict[str, object]:
    """The other reading of 72 %: the true load at 3,846 packets/s."""
    short = found.variant_tables["A, linear"].filter(pl.col("packet_bytes") == SHORTEST)
    points = (per_s(LEVEL_BPS, SHORTEST), *GRID_PER_S)
    loads = np.interp(points, short["offered_packets_per_s"].to_numpy(), short["load"].to_numpy())
    names = ("load_at_2_mbit", "load_before_onset", "load_after_onset")
    return {
        **{f"linear.{SHORTEST}.{name}": float(load) for name, load in zip(names, loads, strict=True)},
        f"linear.{SHORTEST}.load_most": largest(short["load"]),
    }


def _shift(own: Length, other: Length) -> float:
    """How far the onset of a length moves, as a share of it."""
    return middle(other) / middle(own) - 1
