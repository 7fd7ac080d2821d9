"""The regions of routers: tables of probes, and what the analysis finds in them, once for claims and report.

Example:
    >>> clear(4100, 3800).smallest, clear(4100, 4090).smallest
    (455, None)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Final, NamedTuple, Self

import numpy as np
import polars as pl

from tightlink.analysis.estimates import Bracket
from tightlink.analysis.limits import regimes
from tightlink.analysis.limits.packetize import Bottleneck, Packetization, Stream, packetize
from tightlink.analysis.limits.regimes import Length, Regimes
from tightlink.analysis.measurements import MeasurementError
from tightlink.run import Run
from tightlink.studies.router_response.observe.probes import middle, table
from tightlink.studies.router_response.setup import laws, network, variants, video
from tightlink.studies.router_response.setup.document import INPUT_RING, SERIAL_BPS, SHORTEST
from tightlink.studies.router_response.setup.network import REFINED

#: Enough for shares and brackets of loads that hardly vary.
_RESAMPLES: Final = 200
#: Enough to tell what governs a variant; the analysis of the document's own probes draws more.
_FEW_RESAMPLES: Final = 60
#: Packet rates that differ by less are one.
_SAME: Final = 1e-6
#: Beyond the onset by this share nothing of it is left to doubt.
BEYOND: Final = 1.2
#: A reading that is lower by this share has left its level, as in the analysis.
_LEFT: Final = 0.05


class Probed(NamedTuple):
    """A table of probes, and what governs in it."""

    table: pl.DataFrame
    regimes: Regimes

    @classmethod
    def of(cls, table: pl.DataFrame) -> Self:
        """With as many resamples as such tables need."""
        return cls(table, regimes.find(table, resamples=_FEW_RESAMPLES))


@dataclass(frozen=True)
class Routers:
    """Tables of probes, and their regions, of the document's routers and of variants."""

    grid: pl.DataFrame
    """The document's own probes."""
    every: pl.DataFrame
    """These and the extra ones."""
    of_grid: Regimes
    """What the document could find with its probes."""
    found: Regimes
    """What the grid shows with extra probes about the onset, of the lengths that have some."""
    control: Regimes
    """As `found`, with no more probes than the variants have."""
    variants: Mapping[str, Probed]
    by_law: Mapping[str, Probed]
    """With a packet's cost by its length, by the names of laws."""
    repeated: tuple[Probed, ...]
    """Of equal rates: as usual, then with probes that begin at other phases of the meters' clock."""

    @classmethod
    def of(cls, runs: Mapping[str, Run]) -> Self:
        """Everything from the runs."""
        grid = table(runs, network.GRID)
        every = table(runs, network.GRID, "onset", "fall").unique(
            ["packet_bytes", "nominal_packets_per_s"], keep="first", maintain_order=True
        )
        about = table(runs, network.GRID, "onset").filter(pl.col("packet_bytes").is_in(network.REFINED))
        again = (table(runs, f"{network.REPEAT} {start:g} s") for start in network.REPEATED_S)
        return cls(
            grid,
            every,
            of_grid=regimes.find(grid, resamples=_RESAMPLES),
            found=regimes.find(about, resamples=_RESAMPLES),
            # Those probes that the variants have, too.
            control=Probed.of(_at(every, [*(1e3 / ms for ms in variants.INTERVALS_MS), *variants.RATES_PER_S])).regimes,
            variants={each.name: Probed.of(table(runs, each.name)) for each in variants.VARIANTS},
            by_law={law.name: Probed.of(table(runs, law.name)) for law in laws.SIMULATED},
            repeated=tuple(map(Probed.of, (_at(every, network.REPEATED_PER_S), *again))),
        )

    @property
    def onset(self) -> float:
        """The onset for all lengths together."""
        return middle(self.found)

    @property
    def limit_per_s(self) -> float:
        """The packet rate up to which the router is stable for all lengths."""
        return 0.0 if self.found.onset is None else self.found.onset.low or 0.0

    @property
    def fall(self) -> Bracket:
        """The probes between which the shortest packets' reading leaves its level downwards."""
        own = self.probes(SHORTEST).filter(pl.col("offered_packets_per_s") > self.onset)
        rates, loads = own["offered_packets_per_s"].to_list(), own["load"].to_list()
        place = next(place for place, load in enumerate(loads) if load < (1 - _LEFT) * max(loads))
        return Bracket(rates[place - 1], rates[place])

    def length(self, packet_bytes: int) -> Length:
        """The regions of one length, refined."""
        return next(length for length in self.found.lengths if length.packet_bytes == packet_bytes)

    def onset_per_s(self, packet_bytes: int) -> float:
        """Where the unstable region of a length begins: the middle of the two probes."""
        return middle(self.length(packet_bytes))

    def probes(self, packet_bytes: int, *, grid: bool = False) -> pl.DataFrame:
        """The probes of one length."""
        return (self.grid if grid else self.every).filter(pl.col("packet_bytes") == packet_bytes)


def seen(table: pl.DataFrame) -> Regimes | None:
    """The regions of what was measured; nothing where too little was."""
    try:
        return None if table.is_empty() else regimes.find(table, resamples=_RESAMPLES)
    except MeasurementError:
        return None


def full(probes: pl.DataFrame) -> float:
    """The packet rate from which the processor is asked for more than it has, along the probes of one length."""
    ordered = probes.sort("offered_packets_per_s")
    return float(np.interp(1.0, ordered["load_true"].to_numpy(), ordered["offered_packets_per_s"].to_numpy()))


def _at(every: pl.DataFrame, rates: Sequence[float]) -> pl.DataFrame:
    """The probes of the shortest and the longest packets at some rates."""
    near = pl.any_horizontal((pl.col("nominal_packets_per_s") / rate - 1).abs() < _SAME for rate in rates)
    return every.filter(pl.col("packet_bytes").is_in(variants.ENDS) & near)


# Values on the laws of a packet's cost, by its length: which of them the document's onsets prefer, and by how much.


def values(found: Routers) -> dict[str, object]:
    """What claims compare, by name: LAW.… of what is simulated, LAW.bic and LAW.aicc of the document's figures.

    BIC is of the three onsets in packets/s, for which AICc does not exist; AICc of all six that are printed.
    """
    each: dict[str, object] = {"laws.figures": len(laws.ALL)}
    for law in laws.LAWS:
        each |= {f"{law.name}.bic": law.fit(laws.IN_PACKETS).bic, f"{law.name}.aicc": law.fit(laws.ALL).aicc}
    for name, own in found.by_law.items():
        each[f"{name}.governs"] = own.regimes.governs or "nothing"
        for size in REFINED:
            # Not by the reading, which samples that are missed make uneven just there.
            each[f"{name}.{size}.per_s"] = full(own.table.filter(pl.col("packet_bytes") == size))
    for size in REFINED:
        each[f"pools.{size}.packet_us"] = laws.POOLS.packet_s(size) * 1e6
    return each


# What became of the videos: packets and frames that were lost, beside what `packetize` says of them.

#: A payload whose key frames fit into the rings, and one whose key frames do not.
_LONG: Final = 720
_SHORT: Final = 90


@dataclass(frozen=True)
class Videos:
    """The tables of videos."""

    lost: pl.DataFrame
    """A row for each payload, background and way of sending."""
    in_bytes: pl.DataFrame
    """Loss of each payload without other traffic, frames sent at once, where rings count bytes."""
    limit_per_s: float
    """The packet rate from which the router is unstable."""

    @classmethod
    def of(cls, runs: Mapping[str, Run], limit_per_s: float) -> Self:
        """Both tables from the runs."""
        flows = {payload: runs[f"{video.IN_BYTES}/{payload}"].flows.row(0, named=True) for payload in video.PAYLOADS}
        losses = [flow["packets_dropped"] / flow["packets_sent"] for flow in flows.values()]
        in_bytes = pl.DataFrame({"payload_bytes": list(flows), "loss": losses})
        return cls(_lost(runs, limit_per_s), in_bytes, limit_per_s)

    def values(self) -> dict[str, object]:
        """What claims compare, by name."""
        at_once = self.lost.filter(pl.col("frames sent") == "at once")
        most = at_once.filter(pl.col("background_per_s") == at_once["background_per_s"].max()).sort("payload_bytes")
        spread = pl.col("frames sent") == "spread"
        return {
            "video.most": most,
            "video.calm": self.lost.filter(spread & pl.col("clear") & (pl.col("payload_bytes") >= _LONG)),
            "video.alone": at_once.filter((pl.col("background_per_s") == 0) & (pl.col("payload_bytes") == _SHORT)),
        }


def _lost(runs: Mapping[str, Run], limit_per_s: float) -> pl.DataFrame:
    rows = []
    for spread, payload, others in product((False, True), video.PAYLOADS, video.BACKGROUNDS_PER_S):
        flows = runs[f"{video.sent(spread)}/{payload}/{others}"].flows
        flow = flows.row(by_predicate=pl.col("label") == video.STREAM, named=True)
        video_per_s = flow["packets_sent"] / video.VIDEO_DURATION_S
        rows.append({
            "frames sent": "spread" if spread else "at once",
            "payload_bytes": payload,
            "background_per_s": others,
            "video_per_s": video_per_s,
            "packets_per_s": others + video_per_s,
            "loss": flow["packets_dropped"] / flow["packets_sent"],
            "loss_runs": flow["loss_runs"],
            "loss_run_mean_packets": flow["loss_run_mean_packets"] or 0.0,
            "loss_run_max_packets": flow["loss_run_max_packets"] or 0.0,
            "frames_hit": 1 - flow["frames_complete"] / flow["frames_sent"],
            "clear": not clear(limit_per_s, others).missed(payload),
        })  # fmt: skip
    return pl.DataFrame(rows)


def clear(limit_per_s: float, others_per_s: int) -> Packetization:
    """What `packetize` says of the video at this router."""
    bottleneck = Bottleneck(
        limit_packets_per_s=Fraction(limit_per_s), background_packets_per_s=Fraction(others_per_s),
        link_bps=Fraction(SERIAL_BPS), ring_packets=INPUT_RING,
    )  # fmt: skip
    film = Stream(bitrate_bps=Fraction(video.BITRATE_BPS), headers_bytes=28, frames_per_s=Fraction(video.FRAMES_PER_S))
    return packetize(film, bottleneck, mtu_bytes=1500)
