"""Half of the sources with standard TCP: what the others gain, and what becomes of it (experiments 2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from tightlink.analysis.ranks import Ranks, ranks
from tightlink.analysis.shares import beside, fairness, shares
from tightlink.studies.congestion_control.setup.experiment import STANDARD

if TYPE_CHECKING:
    from tightlink.studies.congestion_control.observe.evidence import Evidence

#: What interfaces carry, in packets/s.
_INTERFACES: Final = {"normal": 8e3, "fast": 80e3}
#: Files, from the smallest to the largest.
FILES: Final = ("web-object", "document", "service-pack", "movie")
#: How many the document names as the most, and as the least fair.
_NAMED: Final = 3
#: Of which kinds of files at least so many conditions must have transfers, for a verdict.
_FEWEST: Final = 8


@dataclass(frozen=True)
class Mixed:
    """An experiment in which standard TCP competes with one other control."""

    found: Evidence

    @property
    def name(self) -> str:
        """The experiment's name."""
        return self.found.experiment.name

    @cached_property
    def table(self) -> pl.DataFrame:
        """Condition, algorithm, file, path, interface, own and standard: throughputs in packets/s, over periods."""
        flows = self.found.table.filter(pl.col("control") != "").with_columns(
            who=pl.when(pl.col("control") == STANDARD).then(pl.lit("standard")).otherwise(pl.lit("own"))
        )
        parts = pl.col("response").str.split_exact(", ", 2).struct.rename_fields(["file", "path", "interface"])
        keys = ["condition", "algorithm", "response"]
        means = flows.group_by([*keys, "who"], maintain_order=True).agg(pl.col("value").mean())
        wide = means.pivot("who", index=keys, values="value").drop_nulls(["own", "standard"])
        return wide.with_columns(parts).unnest("response").sort("condition", "algorithm", "file", "path", "interface")

    def of_file(self, file: str) -> pl.DataFrame:
        """A row for each condition and control: means over paths and interfaces."""
        own = self.table.filter(pl.col("file") == file)
        return own.group_by("condition", "algorithm", maintain_order=True).agg(pl.col("own", "standard").mean())

    def points(self, file: str) -> pl.DataFrame:
        """For biplots: own over standard, condition by condition."""
        return beside(self.of_file(file), condition="condition", algorithm="algorithm", own="own", standard="standard")

    @cached_property
    def fairness(self) -> pl.DataFrame:
        """Of Web objects, of which there are most: what standard TCP gets beside each control, ranked."""
        return fairness(self.points(FILES[0]))

    @cached_property
    def own_ranks(self) -> Ranks:
        """Of the throughput of a control's own transfers, over conditions and files."""
        return self._ranks("own")

    @cached_property
    def standard_ranks(self) -> Ranks:
        """Of the throughput of standard TCP beside it."""
        return self._ranks("standard")

    def _ranks(self, column: str) -> Ranks:
        tables = [self.of_file(file).with_columns(response=pl.lit(file)) for file in FILES]
        long = pl.concat(tables).select("condition", "algorithm", "response", value=column)
        full = pl.len().over("condition", "response") == len(self.found.experiment.algorithms)
        return ranks(long.filter(full), condition="condition", algorithm="algorithm", best="largest")

    @cached_property
    def shares(self) -> pl.DataFrame:
        """The share of what the slower interface of the two hosts would carry, of the largest files that many send."""
        available = self.table.with_columns(available=pl.col("interface").replace_strict(_INTERFACES, default=None))
        for file in reversed(FILES):
            own = available.filter(pl.col("file") == file)
            if own["condition"].n_unique() >= _FEWEST or file == FILES[0]:
                break
        return shares(own, algorithm="algorithm", own="own", standard="standard", available="available")

    def leading(self, file: str, interface: str) -> tuple[list[str], int]:
        """The controls by what their own transfers of a file gain over standard TCP's, the best first; of how many."""
        own = self.table.filter((pl.col("file") == file) & (pl.col("interface") == interface))
        own = own.filter((pl.col("own") > 0) & (pl.col("standard") > 0))
        gains = own.group_by("algorithm", maintain_order=True).agg(
            gain=(pl.col("own") / pl.col("standard")).log().mean()
        )
        return gains.sort("gain", descending=True)["algorithm"].to_list(), own.height

    def gain(self, file: str) -> tuple[float, int]:
        """The geometric mean over controls and conditions of own / standard, and how many there are."""
        own = self.of_file(file)
        own = own.filter((pl.col("own") > 0) & (pl.col("standard") > 0))
        return float(np.exp((own["own"] / own["standard"]).log().to_numpy().mean())) if own.height else 1.0, own.height


def values(one: Mixed) -> dict[str, object]:
    """What claims compare, by name."""
    standard, own = (ranked.summary["algorithm"].to_list() for ranked in (one.standard_ranks, one.own_ranks))
    found: dict[str, object] = {
        "controls": len(own),
        "fairest": ", ".join(standard[:_NAMED]),
        "unfairest": ", ".join(standard[-_NAMED:]),
        **{f"{name}.fair_place": place for place, name in enumerate(standard, start=1)},
        **{f"{name}.own_place": place for place, name in enumerate(own, start=1)},
    }
    for file in FILES:
        gain, many = one.gain(file)
        few = f"{many} conditions and controls had three such transfers of both kinds: run it longer, or larger."
        found[f"gain.{file}"] = gain
        found[f"gain.{file}.few"] = few if many < _FEWEST else ""
    ranked, many = one.leading(FILES[-1], "fast")
    few = f"{many} groups of three such movies of both kinds were completed: run it longer, or larger."
    found |= {"movies.groups": many, "movies.order": ", ".join(ranked), "movies.few": few if many < _FEWEST else ""}
    for most in ("fast, fast-at", "bic, highspeed, scalable"):
        first = set(most.split(", "))
        found[f"movies.{most.partition(',')[0]}-first"] = set(ranked[: len(first)]) == first
    return {f"experiment-{one.name}.{name}": value for name, value in found.items()}
