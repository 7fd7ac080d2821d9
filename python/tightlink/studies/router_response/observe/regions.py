"""The regions of routers: tables of probes, and what the analysis finds in them, once for claims and report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from tightlink.analysis import regimes
from tightlink.analysis.estimates import Bracket
from tightlink.analysis.measurements import MeasurementError
from tightlink.studies.router_response.observe.probes import table
from tightlink.studies.router_response.setup import laws, probes, variants
from tightlink.studies.router_response.setup.document import SHORTEST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tightlink.analysis.regimes import Length, Regimes
    from tightlink.run import Run

#: Enough for shares and brackets of loads that hardly vary.
_RESAMPLES: Final = 200
#: Enough to tell what governs a variant; the analysis of the document's own probes draws more.
_FEW_RESAMPLES: Final = 60
#: Packet rates that differ by less are one.
_SAME: Final = 1e-6
#: A reading that is lower by this share has left its level, as in the analysis.
_LEFT: Final = 0.05


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
    variants: Mapping[str, Regimes]
    variant_tables: Mapping[str, pl.DataFrame]
    by_law: Mapping[str, Regimes]
    """With a packet's cost by its length, by the names of laws."""
    law_tables: Mapping[str, pl.DataFrame]
    repeated: tuple[Regimes, ...]
    """Of equal rates: as usual, then with probes that begin at other phases of the meters' clock."""
    repeated_tables: tuple[pl.DataFrame, ...]

    @classmethod
    def of(cls, runs: Mapping[str, Run]) -> Routers:
        """Everything from the runs."""
        grid = table(runs, probes.GRID)
        every = table(runs, probes.GRID, "onset", "fall").unique(
            ["packet_bytes", "nominal_packets_per_s"], keep="first", maintain_order=True
        )
        about = table(runs, probes.GRID, "onset").filter(pl.col("packet_bytes").is_in(probes.REFINED))
        tables = {setting.name: table(runs, setting.name) for setting in variants.VARIANTS}
        by_law = {law.name: table(runs, law.name) for law in laws.SIMULATED}
        again = tuple(table(runs, f"{probes.REPEAT} {start:g} s") for start in probes.REPEATED_S)
        return cls(
            grid,
            every,
            of_grid=regimes.find(grid, resamples=_RESAMPLES),
            found=regimes.find(about, resamples=_RESAMPLES),
            control=regimes.find(_thinned(every), resamples=_FEW_RESAMPLES),
            variants={name: regimes.find(own, resamples=_FEW_RESAMPLES) for name, own in tables.items()},
            variant_tables=tables,
            by_law={name: regimes.find(own, resamples=_FEW_RESAMPLES) for name, own in by_law.items()},
            law_tables=by_law,
            repeated=tuple(
                regimes.find(own, resamples=_FEW_RESAMPLES) for own in (_at(every, probes.REPEATED_PER_S), *again)
            ),
            repeated_tables=again,
        )

    @property
    def onset(self) -> float:
        """The onset for all lengths together."""
        onset = self.found.onset
        return (onset.middle if onset is not None else None) or 0.0

    @property
    def limit_per_s(self) -> float:
        """The packet rate up to which the router is stable for all lengths."""
        return (self.found.onset.low if self.found.onset is not None else None) or 0.0

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


def middle(length: Length) -> float:
    """The middle of the probes between which a length becomes unstable; zero where it does not."""
    return (length.onset.middle if length.onset is not None else None) or 0.0


def full(probes: pl.DataFrame) -> float:
    """The packet rate from which the processor is asked for more than it has, along the probes of one length."""
    ordered = probes.sort("offered_packets_per_s")
    return float(np.interp(1.0, ordered["load_true"].to_numpy(), ordered["offered_packets_per_s"].to_numpy()))


def _thinned(every: pl.DataFrame) -> pl.DataFrame:
    """Those probes of the routers as they are that the variants have, too."""
    return _at(every, [1e3 / interval for interval in variants.INTERVALS_MS] + list(variants.RATES_PER_S))


def _at(every: pl.DataFrame, rates: Sequence[float]) -> pl.DataFrame:
    """The probes of the shortest and the longest packets at some rates."""
    near = pl.any_horizontal((pl.col("nominal_packets_per_s") / rate - 1).abs() < _SAME for rate in rates)
    return every.filter(pl.col("packet_bytes").is_in(variants.ENDS) & near)
