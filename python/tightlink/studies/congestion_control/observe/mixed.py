"""Controls beside each other: what they gain over standard TCP, and what becomes of it (experiments 2, and more)."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

import numpy as np
import polars as pl

from tightlink.analysis.responses.fairness import beside, fairness, shares
from tightlink.analysis.responses.ranks import Ranks, ranks
from tightlink.lazy import Array, stats
from tightlink.studies.congestion_control.observe.evidence import Evidence
from tightlink.studies.congestion_control.observe.ratios import of_ratios
from tightlink.studies.congestion_control.setup.experiment import STANDARD

#: What a fast interface carries, in packets/s: 1 Gbit/s.
_FAST_INTERFACE: Final = 80e3
#: Files, from the smallest to the largest.
FILES: Final = ("web-object", "document", "service-pack", "movie")
LARGE: Final = FILES[2]
#: How many the document names as the most, and as the least fair.
_NAMED: Final = 3
#: Places mean something below this p: the document's level of an effect.
_TOLD_APART: Final = 0.01
#: Of own over standard throughput there is a ratio only where both are above zero.
_BOTH: Final = (pl.col("own") > 0) & (pl.col("standard") > 0)
_GAIN: Final = pl.col("own") / pl.col("standard")
#: Of which kinds of files at least so many conditions must have transfers, for a verdict.
_FEWEST: Final = 8


@dataclass(frozen=True)
class Mixed:
    """An experiment in which standard TCP competes with one other control."""

    found: Evidence

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

    def gains(self, file: str) -> pl.DataFrame:
        """Own over standard throughput, ``gain``, of each condition and control in which both are above zero."""
        return self.of_file(file).filter(_BOTH).select("condition", "algorithm", gain=_GAIN)

    @cached_property
    def halves(self) -> tuple[list[int], list[int]]:
        """The conditions of the half with less loss, and those of the half with more, over all controls."""
        losses = self.found.responses().group_by("condition", maintain_order=True).agg(pl.col("loss").mean())
        ordered = losses.sort("loss")["condition"].to_list()
        return ordered[: len(ordered) // 2], ordered[len(ordered) // 2 :]

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
        return self.ranks("own")

    @cached_property
    def standard_ranks(self) -> Ranks:
        """Of the throughput of standard TCP beside it."""
        return self.ranks("standard")

    def ranks(self, column: Literal["own", "standard"], *chosen: pl.Expr) -> Ranks:
        """Of either throughput, over all conditions or the chosen ones, and files."""
        tables = [self.of_file(file).with_columns(response=pl.lit(file)) for file in FILES]
        long = pl.concat(tables).filter(*chosen).select("condition", "algorithm", "response", value=column)
        full = pl.len().over("condition", "response") == len(self.found.experiment.algorithms)
        return ranks(long.filter(full), condition="condition", algorithm="algorithm", best="largest")

    def largest(self, chosen: pl.Expr, words: str) -> tuple[str, pl.DataFrame]:
        """The largest files that many of the chosen groups send, and those groups; else all Web objects."""
        for file in reversed(FILES):
            own = self.table.filter(chosen, pl.col("file") == file)
            if own["condition"].n_unique() >= _FEWEST:
                return f"{file}, {words}", own
        return "web-object, all groups, as too few others complete", self.table.filter(pl.col("file") == FILES[0])

    @cached_property
    def very_fast(self) -> tuple[str, pl.DataFrame]:
        """For biplots as the document has them: large files over very fast paths between fast interfaces."""
        file, own = self.largest(
            (pl.col("path") == "direct-direct") & (pl.col("interface") == "fast"), "very fast paths, fast interfaces"
        )
        return file, beside(own, condition="condition", algorithm="algorithm", own="own", standard="standard")

    @cached_property
    def shares(self) -> tuple[str, pl.DataFrame]:
        """The share of 1 Gbit/s of large files on uncongested paths: the half of the conditions with less loss."""
        file, own = self.largest(
            (pl.col("interface") == "fast") & pl.col("condition").is_in(self.halves[0]), "uncongested, fast interfaces"
        )
        return file, shares(own, algorithm="algorithm", own="own", standard="standard", available=_FAST_INTERFACE)

    def leading(self, by: pl.Expr, *chosen: pl.Expr) -> tuple[list[str], int]:
        """The controls by the geometric mean of something over groups of transfers, the best first; of how many."""
        own = self.table.filter(_BOTH, pl.col("interface") == "fast", *chosen)
        means = own.group_by("algorithm", maintain_order=True).agg(by.log().mean().alias("mean"))
        return means.sort("mean", descending=True)["algorithm"].to_list(), own.height

    def gain(self, file: str) -> tuple[float, int]:
        """The geometric mean over controls and conditions of own / standard, and how many there are."""
        gains = self.gains(file)["gain"].log().to_numpy()
        return (float(np.exp(gains.mean())) if gains.size else 1.0), gains.size


def _alike(ranked: Ranks, words: str) -> str:
    """Why places by these ranks decide nothing; empty where they do."""
    told = f"The ranks of {words} cannot be told apart by Friedman's test, p = {ranked.p:.2g}."
    return "" if ranked.p < _TOLD_APART else told


def values(one: Mixed) -> dict[str, object]:
    """What claims compare, by name."""
    standard, own = (ranked.summary["algorithm"].to_list() for ranked in (one.standard_ranks, one.own_ranks))
    found: dict[str, object] = {
        "controls": len(own),
        "fair.open": _alike(one.standard_ranks, "what standard TCP gets"),
        "own.open": _alike(one.own_ranks, "what their own transfers get"),
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
        found |= of_ratios(f"gained.{file}", _over(one.gains(file), one.gains(FILES[0])))
    found |= of_ratios("web", one.gains(FILES[0])["gain"].to_numpy())
    large = [one.gains(FILES[2]).filter(pl.col("condition").is_in(half))["gain"].to_numpy() for half in one.halves]
    for name, half, gains in zip(("calm", "congested"), one.halves, large, strict=True):
        ranked = one.ranks("standard", pl.col("condition").is_in(half))
        order = ranked.summary["algorithm"].to_list()
        found |= {f"{control}.{name}.fair_place": place for place, control in enumerate(order, start=1)}
        found[f"{name}.open"] = _alike(ranked, "what standard TCP gets")
        found |= of_ratios(f"large.{name}", gains)
    found["large.halves_p"] = float(stats.mannwhitneyu(*large).pvalue) if all(each.size for each in large) else 1.0
    # As the document has them: biplots of large files over very fast paths, bars of movies where little is lost.
    biplots = (_GAIN, pl.col("file").is_in(FILES[2:]), pl.col("path") == "direct-direct")
    bars = (pl.col("own"), pl.col("file") == FILES[-1], pl.col("condition").is_in(one.halves[0]))
    for name, chosen in (("biplots", biplots), ("bars", bars)):
        best, many = one.leading(*chosen)
        few = f"{many} groups of three such transfers of both kinds were completed: run it longer, or larger."
        found |= {
            f"{name}.groups": many,
            f"{name}.order": ", ".join(best),
            f"{name}.few": few if many < _FEWEST else "",
        }
        for most in ("fast, fast-at", "bic, highspeed, scalable"):
            first = set(most.split(", "))
            found[f"{name}.{most.partition(',')[0]}-first"] = set(best[: len(first)]) == first
        found[f"{name}.third"] = best[_NAMED - 1] if len(best) >= _NAMED else ""
    return {f"experiment-{one.found.name}.{name}": value for name, value in found.items()}


def _over(gains: pl.DataFrame, others: pl.DataFrame) -> Array:
    """Gains over others, of each condition and control that has both."""
    both = gains.join(others, on=["condition", "algorithm"], suffix="_other")
    return (both["gain"] / both["gain_other"]).to_numpy()


def threshold_values(high: Mixed, low: Mixed) -> dict[str, object]:
    """What claims compare of a low initial threshold over a high one, by name: of one control, and of all."""
    large = low.gains(LARGE)
    found = {
        f"{control}.{LARGE}": _over(large.filter(algorithm=control), high.gains(LARGE))
        for control in low.found.experiment.algorithms
    }
    found |= {file: _over(low.gains(file), high.gains(file)) for file in FILES[1:]}
    return {key: value for name, each in found.items() for key, value in of_ratios(f"thresholds.{name}", each).items()}


@dataclass(frozen=True)
class Windows:
    """An experiment with several receiver's windows: what a finite one leaves of the gains."""

    found: Evidence

    @cached_property
    def gains(self) -> pl.DataFrame:
        """By file, window and control: the geometric mean over conditions of own over standard throughput."""
        parts = pl.col("algorithm").str.split_exact(", ", 1).struct.rename_fields(["control", "window"])
        own = Mixed(self.found).table.filter(_BOTH).with_columns(parts).unnest("algorithm")
        grouped = own.group_by("file", "window", "control", maintain_order=True)
        return grouped.agg(gain=_GAIN.log().mean().exp(), cells=pl.len())

    def gain(self, window: str) -> tuple[float, int]:
        """Of large files, over all controls; and of how many cells that is the mean."""
        own = self.gains.filter((pl.col("file") == LARGE) & (pl.col("window") == window))
        cells = int(own["cells"].sum())
        return math.exp((own["gain"].log() * own["cells"]).sum() / max(cells, 1)), cells


def window_values(one: Windows) -> dict[str, object]:
    """What claims compare, by name."""
    found = [one.gain(name) for name in one.found.experiment.variants]
    few = min(cells for _, cells in found) < _FEWEST
    return {
        **{f"window.{name}": gain for name, (gain, _) in zip(("small", "middle", "unlimited"), found, strict=True)},
        "window.cells": found[-1][1],
        "window.few": "Too few large files were completed: run it longer, or larger." if few else "",
    }


@dataclass(frozen=True)
class Mixture:
    """An experiment in which all controls share the network: who gets more, and is it safe."""

    found: Evidence

    @cached_property
    def table(self) -> pl.DataFrame:
        """Mean throughput of Web objects: a row for each condition and control."""
        own = self.found.table.filter(pl.col("response").str.starts_with("web-object,"))
        means = own.group_by("condition", "control", "response", maintain_order=True).agg(pl.col("value").mean())
        return means.group_by("condition", "control", maintain_order=True).agg(pl.col("value").mean())

    @cached_property
    def ranks(self) -> Ranks:
        """Of the controls, over conditions."""
        full = pl.len().over("condition") == len(self.found.experiment.algorithms)
        table = self.table.filter(full).with_columns(response=pl.lit("web-object"))
        return ranks(table, condition="condition", algorithm="control", best="largest")

    @cached_property
    def relative(self) -> pl.DataFrame:
        """By control: the geometric mean over conditions of its throughput over standard TCP's."""
        wide = self.table.pivot("control", index="condition", values="value").drop("condition")
        means = wide.select((pl.all() / pl.col(STANDARD)).log().mean().exp())
        return means.unpivot(variable_name="control", value_name="over_standard").sort("over_standard", descending=True)


def mixture_values(one: Mixture) -> dict[str, object]:
    """What claims compare, by name."""
    last = one.ranks.summary["algorithm"].to_list()[-_NAMED:]
    return {
        "mixture.last": ", ".join(last),
        "mixture.standard-last": STANDARD in last,
        "mixture.open": _alike(one.ranks, "what they get"),
        "mixture.p": one.ranks.p,
    }
