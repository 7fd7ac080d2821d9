"""What the runs show, computed once for claims, report and figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.analysis import regimes
from tightlink.analysis.estimates import Bracket
from tightlink.experiment.execute import Task
from tightlink.studies.router_response import document, probes, variants, video
from tightlink.studies.router_response.network import DOCUMENTED, ROUTER_A

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.analysis.regimes import Length, Regimes
    from tightlink.run import Run

#: Packet rates whose meters are watched second by second: stable, unstable, highly unstable.
WATCHED_PER_S: Final = (2000, 5000, 8000)
_WATCH: Final = "meter"
#: Enough for shares and brackets of loads that hardly vary.
_RESAMPLES: Final = 200
#: A reading that is lower by this share has left its level, as in the analysis.
_LEFT: Final = 0.05


def tasks() -> list[Task]:
    """Probes of which the meter is watched all the time."""
    return [
        Task(f"{_WATCH}/{rate}", DOCUMENTED.probe(65, probes.interval(rate), 120, observe_s=1))
        for rate in WATCHED_PER_S
    ]


@dataclass(frozen=True)
class Evidence:
    """Tables of probes, and what the analysis finds in them."""

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
    variants: Mapping[str, Regimes]
    variant_tables: Mapping[str, pl.DataFrame]
    film: pl.DataFrame
    film_in_bytes: pl.DataFrame
    """Without other traffic, with rings that count bytes."""
    watched: pl.DataFrame
    """Reported load of router A over time."""

    def length(self, packet_bytes: int) -> Length:
        """The regions of one length, refined."""
        return next(length for length in self.found.lengths if length.packet_bytes == packet_bytes)

    def onset_per_s(self, packet_bytes: int) -> float:
        """Where the unstable region of a length begins: the middle of the two probes."""
        return middle(self.length(packet_bytes))

    @property
    def fall(self) -> Bracket:
        """The probes between which the shortest packets' reading leaves its level downwards."""
        own = self.of(document.SHORTEST).filter(pl.col("offered_packets_per_s") > self.onset)
        rates, loads = own["offered_packets_per_s"].to_list(), own["load"].to_list()
        place = next(place for place, load in enumerate(loads) if load < (1 - _LEFT) * max(loads))
        return Bracket(rates[place - 1], rates[place])

    @property
    def onset(self) -> float:
        """The onset for all lengths together."""
        onset = self.found.onset
        return (onset.middle if onset is not None else None) or 0.0

    def of(self, packet_bytes: int, *, grid: bool = False) -> pl.DataFrame:
        """The probes of one length."""
        return (self.grid if grid else self.every).filter(pl.col("packet_bytes") == packet_bytes)


def middle(length: Length) -> float:
    """The middle of the probes between which a length becomes unstable; zero where it does not."""
    return (length.onset.middle if length.onset is not None else None) or 0.0


def gather(runs: Mapping[str, Run]) -> Evidence:
    """Everything from the runs."""
    grid = probes.table(runs, probes.GRID)
    every = probes.table(runs, probes.GRID, "onset", "fall").unique(
        ["packet_bytes", "nominal_packets_per_s"], keep="first", maintain_order=True
    )
    about = probes.table(runs, probes.GRID, "onset").filter(pl.col("packet_bytes").is_in(probes.REFINED))
    found = regimes.find(about, resamples=_RESAMPLES)
    limit = (found.onset.low if found.onset is not None else None) or 0.0
    return Evidence(
        grid=grid,
        every=every,
        of_grid=regimes.find(grid, resamples=_RESAMPLES),
        found=found,
        control=variants.unchanged(every),
        variants=variants.found(runs),
        variant_tables={setting.name: probes.table(runs, setting.name) for setting in variants.VARIANTS},
        film=video.table(runs, limit),
        film_in_bytes=video.in_bytes(runs),
        watched=_watched(runs),
    )


def _watched(runs: Mapping[str, Run]) -> pl.DataFrame:
    parts = []
    for rate in WATCHED_PER_S:
        series = runs[f"{_WATCH}/{rate}"].series
        own = series.filter((pl.col("entity") == ROUTER_A) & (pl.col("metric") == "load_reported"))
        parts.append(own.select("time_s", load_reported="value", probe=pl.lit(f"{rate:,} packets/s")))
    return pl.concat(parts)
