"""Values on the load: where it stops following, what the routers report, what governs it."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import numpy as np
import polars as pl

from tightlink.reduce import largest, smallest
from tightlink.studies.router_response.observe.probes import middle
from tightlink.studies.router_response.observe.regions import BEYOND, Routers
from tightlink.studies.router_response.setup.costs import ONSET_PER_S
from tightlink.studies.router_response.setup.document import LENGTHS, LEVEL_BPS, SHORTEST, per_s
from tightlink.studies.router_response.setup.network import REFINED
from tightlink.studies.words import MBIT

#: The document's probes on both sides of its onsets: 0.3 and 0.2 ms.
GRID_PER_S: Final = (1 / 0.3e-3, 5000.0)
#: The reading is at its level, to half of what the document prints.
_AT_LEVEL: Final = 0.005
#: The reading has left its level.
_LEFT: Final = 0.01


def load_values(found: Routers) -> dict[str, object]:
    """What claims compare, by name: onset.…, a.… and b.… of the two routers, repeated.…; governs is packets or bits."""
    governs = {"governs": found.of_grid.governs or "nothing"}
    return _onsets(found) | _router_a(found) | _router_b(found) | _repeated(found) | governs


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
    level = largest(short["load"])
    before, after = (float(np.interp(rate * 8 * SHORTEST, grid["offered_bps"], grid["load"])) for rate in GRID_PER_S)
    held = short.filter((pl.col("offered_packets_per_s") > found.onset) & (pl.col("load") > level - _AT_LEVEL))
    unstable = short.filter(pl.col("offered_packets_per_s").is_between(found.onset, found.fall.low or found.onset))
    fallen = short.filter((pl.col("load") < level - _LEFT) & (pl.col("offered_packets_per_s") > found.onset * BEYOND))
    return {
        **{f"a.{size}.load_at_2_mbit": at(found, size, LEVEL_BPS, "load") for size in (SHORTEST, LENGTHS[-1])},
        f"a.{SHORTEST}.load_before_onset": before,
        f"a.{SHORTEST}.load_after_onset": after,
        f"a.{SHORTEST}.level_ends_bps": largest(held["offered_bps"]),
        f"a.{SHORTEST}.unstable": unstable,
        f"a.{SHORTEST}.fallen_busy_least": smallest(fallen["load_busy"]),
        **{
            f"a.rising.{column}": sum(
                bool((found.probes(size, grid=True)[column].diff().drop_nulls() > 0).all()) for size in LENGTHS
            )
            for column in ("load", "load_true")
        },
        "a.fastest": found.grid.group_by("packet_bytes", maintain_order=True).last(),
    }


def _router_b(found: Routers) -> dict[str, object]:
    """Router B, behind the serial link."""
    rates, loads = found.grid["b_packets_per_s"].to_numpy(), found.grid["b_load"].to_numpy()
    # Over what is sent, as Fig. 2 has router A's: up to the link's rate, at its level, and beyond.
    sent = found.probes(SHORTEST)
    readings = [found.probes(size).sort("offered_packets_per_s")["b_load"] for size in LENGTHS]
    filled = sent.filter(pl.col("b_load") > largest(sent["b_load"]) - _LEFT)["offered_bps"]
    return {
        f"b.{SHORTEST}.level_begins_bps": smallest(filled),
        # Whether a reading is lower at the fastest probe than at its most.
        "b.falling_lengths": sum(float(loads[-1]) < largest(loads) - _LEFT for loads in readings),
        f"b.{SHORTEST}.end": found.probes(SHORTEST, grid=True).sort("b_packets_per_s").row(-1, named=True),
        "b.r2": float(np.corrcoef(rates, loads)[0, 1] ** 2),
        "b.below_a_most": max(_below_a(found.probes(size)) for size in LENGTHS),
    }


def _below_a(probes: pl.DataFrame) -> float:
    """By how much router B reads less than router A at most, at equal packet rates."""
    of_a = np.interp(probes["b_packets_per_s"], probes["offered_packets_per_s"], probes["load"])
    return float((of_a - probes["b_load"].to_numpy()).max())


def _repeated(found: Routers) -> dict[str, object]:
    """The same probes at other phases of the meters' clock."""
    own, again = found.every.select("packet_bytes", "nominal_packets_per_s", usual="load"), found.repeated[1:]
    apart = [
        each.table.join(own, on=["packet_bytes", "nominal_packets_per_s"]).select(
            (pl.col("load") - pl.col("usual")).abs()
        )
        for each in again
    ]
    onsets = [middle(length) for each in found.repeated for length in each.regimes.lengths]
    return {
        "repeated.times": len(again),
        "repeated.governs": sum(each.regimes.governs == found.of_grid.governs for each in again),
        "repeated.onset_apart_per_s": max(onsets) - min(onsets),
        "repeated.load_apart": max(largest(frame["load"]) for frame in apart),
    }


def at(found: Routers, size: int, bits_per_s: float, column: str) -> float:
    """A column at a bit rate, between the probes around it."""
    own = found.probes(size)
    return float(np.interp(bits_per_s, own["offered_bps"], own[column]))


# Values on loss, and on other routers and links: other rings, other costs, the other reading of 72 %.

_LONGEST: Final = LENGTHS[-1]
#: Where small and large packets are compared: a bit rate above the link's that all lengths reach.
_EQUAL_BPS: Final = 5e6
_RINGS: Final = ("input", "output")
#: Probes may be beside what a full link delivers by this share.
_TINY: Final = 1e-3


def loss_values(found: Routers) -> dict[str, object]:
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
        **_rings(found.grid.filter(pl.col("loss") > 0)),
        "loss.number_falls_with_length": _falling(at_bits),
        "loss.number_at_rate_falls_with_length": _falling(at_rate),
    }


def _rings(lossy: pl.DataFrame) -> dict[str, object]:
    """Of the probes that lose, where most is lost; and packets/s that each ring refuses, over all of them."""
    at_output = lossy["lost_output_ring"] > lossy["lost_input_ring"]
    each = {ring: float((lossy[f"lost_{ring}_ring"] * lossy["offered_packets_per_s"]).sum()) for ring in _RINGS}
    return {
        "loss.probes": lossy.height,
        "loss.probes_at_output": int(at_output.sum()),
        **{f"loss.{ring}_per_s": rate for ring, rate in each.items()},
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
            f"loss.{size}.begins": f"between {low / MBIT:.2f} and {high / MBIT:.2f}" if bracket else "nowhere",
            f"loss.{size}.begins_where_full": bracket is not None and low <= full * (1 + _TINY) and full <= high,
        }
    return listed


def _variants(found: Routers) -> Iterator[tuple[str, object]]:
    for name, (table, own) in found.variants.items():
        key = name.removeprefix("A, ").lower().replace(" ", "-")
        # How far the onset of each length moves, as a share of it.
        shifts = (middle(b) / middle(a) - 1 for a, b in zip(found.control.lengths, own.lengths, strict=True))
        yield f"{key}.onset", str(own.onset)
        yield f"{key}.onset_shift", max(shifts, key=abs)
        yield f"{key}.governs", own.governs or "nothing"
        yield f"{key}.falling_lengths", sum(length.decline is not None for length in own.lengths)
        yield f"{key}.load_most", largest(table["load"])
        longest = table.filter(pl.col("packet_bytes") == _LONGEST)
        yield f"{key}.{_LONGEST}.throughput_most_bps", largest(longest["throughput_bps"])


def _linear(found: Routers) -> dict[str, object]:
    """The other reading of 72 %: the true load at 3,846 packets/s."""
    short = found.variants["A, linear"].table.filter(pl.col("packet_bytes") == SHORTEST)
    points = (per_s(LEVEL_BPS, SHORTEST), *GRID_PER_S)
    loads = np.interp(points, short["offered_packets_per_s"].to_numpy(), short["load"].to_numpy())
    names = ("load_at_2_mbit", "load_before_onset", "load_after_onset")
    return {
        **{f"linear.{SHORTEST}.{name}": float(load) for name, load in zip(names, loads, strict=True)},
        f"linear.{SHORTEST}.load_most": largest(short["load"]),
    }
