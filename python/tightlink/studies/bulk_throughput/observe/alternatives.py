"""What each alternative makes of the document's statements and figures, and which of them the figures choose."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Final

from tightlink.studies.bulk_throughput.observe import cells, daresbury, linux, residuals, sites, variants
from tightlink.studies.bulk_throughput.observe.criterion import aic, misses
from tightlink.studies.bulk_throughput.observe.cross_traffic import points
from tightlink.studies.bulk_throughput.setup.alternatives import ALTERNATIVES, CHOSEN, DEFAULTS, Alternative
from tightlink.studies.bulk_throughput.setup.paths import DARESBURY, PATHS, SITES, WEIGHED
from tightlink.studies.claims_table import ClaimsTable
from tightlink.studies.expressions import NotObservedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

    from tightlink.experiment.claims import Claim
    from tightlink.run import Run

_CLAIMS: Final = Path(__file__).parents[1] / "claims.toml"
#: The grid of Daresbury under Tahoe, among the comparisons of recoveries.
_TAHOE: Final = "daresbury.tahoe-newreno"


@dataclass(frozen=True)
class Weighed:
    """An alternative: its grids, what claims compare, and how far it misses the document's figures."""

    alternative: Alternative
    grids: Mapping[str, pl.DataFrame]
    recoveries: Mapping[str, pl.DataFrame]
    values: Mapping[str, object]
    verdicts: Mapping[str, Claim]
    """Of the document's statements, by id."""
    misses: Mapping[str, float]

    @property
    def aic(self) -> float:
        """Akaike's criterion over the misses."""
        return aic(self.misses, self.alternative)

    @property
    def mean_miss(self) -> float:
        """Mean of the misses."""
        return fmean(self.misses.values())


def weighed(runs: Mapping[str, Run]) -> dict[str, Weighed]:
    """All of them, by name."""
    return {each.name: _weighed(each, runs) for each in ALTERNATIVES}


def _weighed(under: Alternative, runs: Mapping[str, Run]) -> Weighed:
    places = PATHS if under is CHOSEN else WEIGHED
    grids = {place.name: cells.cells(runs, under.task(place.name), place.cells, place.path) for place in places}
    recoveries = variants.recoveries(runs, under)
    found = {
        **daresbury.values(grids[DARESBURY.name]),
        **sites.values(grids),
        **variants.values(recoveries),
        **conclusions(grids[DARESBURY.name], recoveries[_TAHOE]),
    }
    return Weighed(under, grids, recoveries, found, judged(found), misses(grids, recoveries))


def judged(values: Mapping[str, object]) -> dict[str, Claim]:
    """The document's statements that these values decide, by id."""
    found = {}
    for statement in ClaimsTable.read(_CLAIMS).statements:
        with suppress(NotObservedError):
            if statement.origin == "document" and statement.observed:
                # Reasons name what the others come to.
                found[statement.id] = replace(statement, reason="", why_not="").judged(values)
    return found


def conclusions(newreno: pl.DataFrame, tahoe: pl.DataFrame) -> dict[str, object]:
    """How many of the document's statements on Daresbury are decided alike under NewReno and Tahoe."""
    first, second = (judged({**daresbury.values(grid), **sites.loss(DARESBURY, grid)}) for grid in (newreno, tahoe))
    changed = [name for name, claim in first.items() if claim.holds is not second[name].holds]
    return {
        f"{_TAHOE}.conclusions": len(first),
        f"{_TAHOE}.same": len(first) - len(changed),
        f"{_TAHOE}.changed": ", ".join(changed) or "none",
    }


def values(found: Mapping[str, Weighed], runs: Mapping[str, Run]) -> dict[str, object]:
    """What claims compare, by name: alternatives.…; defaults.ID is what ns-2's defaults make of a statement."""
    ranked = sorted(found.values(), key=lambda each: each.aic)
    return {
        **{f"defaults.{name}": claim.observed_text for name, claim in found[DEFAULTS.name].verdicts.items()},
        **{
            f"defaults.{key}": value
            for key, value in found[DEFAULTS.name].values.items()
            if key.endswith(".largest_difference")
        },
        **{f"alternatives.{name}.{key}": value for name, each in found.items() for key, value in _r2(each, runs)},
        "alternatives.best": ranked[0].alternative.name,
        "alternatives.chosen": CHOSEN.name,
        "alternatives.lead": ranked[1].aic - ranked[0].aic,
        "alternatives.second": ranked[1].alternative.title,
        "alternatives.figures": len(ranked[0].misses),
        "alternatives.mean_miss": found[CHOSEN.name].mean_miss,
        "alternatives.mean_miss_defaults": found[DEFAULTS.name].mean_miss,
    }


def _r2(found: Weighed, runs: Mapping[str, Run]) -> Iterator[tuple[str, object]]:
    """R² of what it predicts, by what stands for the document's measurements and site."""
    stands = {
        "measured": linux.beside_ns2(linux.stored(), found.grids),
        "synthetic": {place.name: points(place, runs, under=found.alternative) for place in SITES},
    }
    for kind, frames in stands.items():
        for key, value in residuals.values(kind, frames).items():
            if key.endswith((".r2", ".free")):
                yield key, value
