"""Values on the load: where it stops following, what the routers report, what governs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from tightlink.reduce import largest, smallest
from tightlink.studies.router_response.observe.regions import middle
from tightlink.studies.router_response.setup.costs import ONSET_PER_S
from tightlink.studies.router_response.setup.document import LENGTHS, LEVEL_BPS, SHORTEST
from tightlink.studies.router_response.setup.probes import REFINED

if TYPE_CHECKING:
    from tightlink.studies.router_response.observe.regions import Routers

#: The document's probes on both sides of its onsets: 0.3 and 0.2 ms.
GRID_PER_S: Final = (1 / 0.3e-3, 5000.0)
#: The reading is at its level, to half of what the document prints.
_AT_LEVEL: Final = 0.005
#: The reading has left its level.
_LEFT: Final = 0.01
#: Beyond the onset by this share nothing of it is left to doubt.
_BEYOND: Final = 1.2


def values(found: Routers) -> dict[str, object]:
    """What claims compare, by name: onset.…, a.… and b.… of the two routers, governs.…, probes.…, repeated.…."""
    parts = (_onsets, _router_a, _router_b, _governing, _probes, _repeated)
    return {name: value for part in parts for name, value in part(found).items()}


def _onsets(found: Routers) -> dict[str, object]:
    shown = [length for length in found.of_grid.lengths if length.onset is not None and length.decline is not None]
    listed: dict[str, object] = {
        "onset.per_s": found.onset, "onset.fitted_per_s": ONSET_PER_S, "regions.lengths": len(shown),
    }  # fmt: skip
    on_grid = {length.packet_bytes: length.onset for length in found.of_grid.lengths}
    for size in REFINED:
        bracket = on_grid[size]
        listed |= {
            f"onset.{size}.per_s": found.onset_per_s(size),
            f"onset.{size}.between": str(found.length(size).onset),
            f"onset.{size}.on_grid": str(bracket),
            f"onset.{size}.on_grid_low_per_s": bracket.low or 0 if bracket else 0,
            f"onset.{size}.on_grid_high_per_s": bracket.high or 0 if bracket else 0,
        }
    return listed


def _router_a(found: Routers) -> dict[str, object]:
    """What router A says of itself, and what it forwards."""
    short, grid = found.probes(SHORTEST), found.probes(SHORTEST, grid=True)
    level = float(short["load"].to_numpy().max())
    before, after = (float(np.interp(rate * 8 * SHORTEST, grid["offered_bps"], grid["load"])) for rate in GRID_PER_S)
    held = short.filter((pl.col("offered_packets_per_s") > found.onset) & (pl.col("load") > level - _AT_LEVEL))
    fallen = short.filter(pl.col("load") < level - _LEFT)
    fastest = found.grid.group_by("packet_bytes", maintain_order=True).last()
    forwarded = short["forwarded_packets_per_s"]
    return {
        **{f"a.{size}.load_at_2_mbit": at(found, size, LEVEL_BPS, "load") for size in (SHORTEST, LENGTHS[-1])},
        f"a.{SHORTEST}.level": level,
        f"a.{SHORTEST}.load_before_onset": before,
        f"a.{SHORTEST}.load_after_onset": after,
        f"a.{SHORTEST}.level_ends_bps": largest(held["offered_bps"]),
        f"a.{SHORTEST}.fallen_busy_least": smallest(
            fallen.filter(pl.col("offered_packets_per_s") > found.onset * _BEYOND)["load_busy"]
        ),
        f"a.{SHORTEST}.asked_most": largest(short["load_true"]),
        f"a.{SHORTEST}.forwarded_last_per_s": float(forwarded[-1]),
        f"a.{SHORTEST}.forwarded_most_per_s": largest(forwarded),
        "a.fastest_load_least": smallest(fastest["load"]),
        "a.fastest_load_most": largest(fastest["load"]),
    }


def _router_b(found: Routers) -> dict[str, object]:
    """Router B, behind the serial link."""
    most = found.probes(SHORTEST, grid=True).sort("b_packets_per_s").row(-1, named=True)
    rates, loads = found.grid["b_packets_per_s"].to_numpy(), found.grid["b_load"].to_numpy()
    # Over what is sent, as Fig. 2 has router A's: up to the link's rate, at its level, and beyond.
    sent = found.probes(SHORTEST).sort("offered_bps")
    filled = sent.filter(pl.col("b_load") > largest(sent["b_load"]) - _LEFT)["offered_bps"]
    return {
        f"b.{SHORTEST}.level_begins_bps": smallest(filled),
        f"b.{SHORTEST}.fastest_load": float(sent["b_load"][-1]),
        "b.falling_lengths": sum(_falls(found.probes(size), "b_load") for size in LENGTHS),
        f"b.{SHORTEST}.end_bps": most["b_bps"],
        f"b.{SHORTEST}.end_load": most["b_load"],
        "b.130.end_per_s": largest(found.probes(130, grid=True)["b_packets_per_s"]),
        "b.r2": float(np.corrcoef(rates, loads)[0, 1] ** 2),
        "b.above_a_most": largest(found.grid["b_load"] - found.grid["load"]),
    }


def _governing(found: Routers) -> dict[str, object]:
    """Packets, bits or lengths."""
    own = found.of_grid
    return {
        "governs.metric": own.governs or "nothing",
        "governs.sure": own.explained.sure,
        **{f"governs.r2.{metric}": r2.value for metric, r2 in own.explained.r2.items()},
        **{f"governs.variation.{metric}": spread.variation for metric, spread in own.spreads.items()},
    }


def _probes(found: Routers) -> dict[str, object]:
    """The grid itself."""
    return {
        "probes.fastest_offered_per_s": found.probes(LENGTHS[-1], grid=True)["offered_packets_per_s"][-1],
    }


def _repeated(found: Routers) -> dict[str, object]:
    """The same probes at other phases of the meters' clock."""
    own = found.every.select("packet_bytes", "nominal_packets_per_s", usual="load")
    apart = [
        again.join(own, on=["packet_bytes", "nominal_packets_per_s"]).select((pl.col("load") - pl.col("usual")).abs())
        for again in found.repeated_tables
    ]
    onsets = [middle(length) for each in found.repeated for length in each.lengths]
    return {
        "repeated.times": len(found.repeated_tables),
        "repeated.governs": sum(each.governs == found.of_grid.governs for each in found.repeated[1:]),
        "repeated.onset_apart_per_s": max(onsets) - min(onsets),
        "repeated.load_apart": max(largest(frame["load"]) for frame in apart),
    }


def _falls(probes: pl.DataFrame, column: str) -> bool:
    """Whether a reading is lower at the fastest probe than at its most."""
    loads = probes.sort("offered_packets_per_s")[column]
    return float(loads[-1]) < largest(loads) - _LEFT


def at(found: Routers, size: int, bits_per_s: float, column: str) -> float:
    """A column at a bit rate, between the probes around it."""
    own = found.probes(size)
    return float(np.interp(bits_per_s, own["offered_bps"], own[column]))
