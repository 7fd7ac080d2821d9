"""Half of the sources with standard TCP: what the others gain, and what becomes of it (experiments 2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from tightlink.analysis.ranks import Ranks, ranks
from tightlink.analysis.shares import beside, fairness, shares
from tightlink.experiment.claims import Claim, holds_if, untestable
from tightlink.report import Chart, Row, Section, Table, Text, charts
from tightlink.studies.congestion_control import document, figures
from tightlink.studies.congestion_control.experiment import STANDARD
from tightlink.studies.congestion_control.part import Part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tightlink.studies.congestion_control.evidence import Evidence

#: Controls that the document finds most, and least, fair to standard TCP.
FAIREST: Final = ("compound", "htcp", "fast-at")
UNFAIREST: Final = ("scalable", "bic", "fast")
#: What interfaces carry, in packets/s.
_INTERFACES: Final = {"normal": 8e3, "fast": 80e3}
#: Files, from the smallest to the largest.
FILES: Final = ("web-object", "document", "service-pack", "movie")
_THREE: Final = 3
#: Of which kinds of files at least so many conditions must have transfers, for a verdict.
_FEWEST: Final = 8


@dataclass(frozen=True)
class Mixed:
    """An experiment in which standard TCP competes with one other control."""

    found: Evidence

    @property
    def name(self) -> str:
        """Of the experiment."""
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


def claims(one: Mixed) -> Iterator[Claim]:
    """What the document concludes."""
    standard = one.standard_ranks.summary["algorithm"].to_list()
    for control in FAIREST:
        yield holds_if(
            f"{one.name}.fair.{control}", f"{control} is among the three most fair to standard TCP", document.FAIRNESS,
            ", ".join(standard[:_THREE]), control in standard[:_THREE],
            "By the mean rank of what standard TCP gets beside it, over conditions and kinds of files.",
        )  # fmt: skip
    for control in UNFAIREST:
        yield holds_if(
            f"{one.name}.unfair.{control}", f"{control} is among the three most unfair to standard TCP",
            document.FAIRNESS, ", ".join(standard[-_THREE:]), control in standard[-_THREE:], "By the same rank.",
        )  # fmt: skip
    own = one.own_ranks.summary["algorithm"].to_list()
    yield holds_if(
        f"{one.name}.compound-ranks-high", "CTCP ranks high in throughput over a wide range of conditions",
        document.UTILITY, own.index("compound") + 1, own.index("compound") < len(own) / 2,
        "Its place by mean rank of the throughput of its own transfers; the upper half was expected.",
    )  # fmt: skip
    small, _ = one.gain(FILES[0])
    for file in FILES[2:]:
        large, many = one.gain(file)
        said = f"Larger files gain more from a replacement than Web objects do: {file}"
        if many < _FEWEST:
            yield untestable(
                f"{one.name}.gain.{file}", said, document.UTILITY,
                f"{many} conditions and controls had three such transfers of both kinds: run it longer, or larger.",
            )  # fmt: skip
            continue
        yield holds_if(
            f"{one.name}.gain.{file}", said, document.UTILITY, large / small, large > small,
            f"Geometric mean of own over standard throughput: {large:.2f}, of Web objects {small:.2f}; the ratio.",
        )  # fmt: skip
    yield _movies(one)


def _movies(one: Mixed) -> Claim:
    """Who gains most with movies between fast interfaces."""
    low = one.found.experiment.base["initial_ssthresh"] != "unlimited"
    first = {"fast", "fast-at"} if low else {"scalable", "bic", "highspeed"}
    threshold = "a low" if low else "a high"
    name = f"{one.name}.movies-first"
    said = f"Movies between fast interfaces with {threshold} initial threshold: {' and '.join(sorted(first))} gain most"
    ranked, many = one.leading(FILES[-1], "fast")
    if many < _FEWEST:
        return untestable(
            name, said, document.UTILITY,
            f"{many} groups of three such movies of both kinds were completed: run it longer, or larger.",
        )  # fmt: skip
    return holds_if(
        name, said, document.UTILITY, ", ".join(ranked), set(ranked[: len(first)]) == first,
        f"By the geometric mean of own over standard throughput, {many} groups.",
    )  # fmt: skip


def section(one: Mixed) -> Section:
    """Who gains and who pays."""
    shown = one.fairness.select("algorithm", "ratio", "ahead", "behind", "conditions", "p")
    ranked = one.own_ranks.summary.join(one.standard_ranks.summary, on="algorithm", suffix="_standard")
    return Section(
        one.found.experiment.title,
        one.found.experiment.question + ".",
        [
            Text(f"{one.found.experiment.conditions.height} conditions, half of the sources with standard TCP, at "
                 f"{one.found.size}."),
            Table(shown, "Web objects: throughput over that of the standard TCP beside it."),
            Table(ranked.select("algorithm", "rank_mean", "rank_sd", "rank_mean_standard", "rank_sd_standard"),
                  "Mean rank of the throughput of a control's own transfers, and of standard TCP's beside it."),
            Chart(charts.rank_scatter(one.own_ranks), "Ranks of a control's own throughput."),
            Chart(charts.rank_scatter(one.standard_ranks), "Ranks of the throughput of standard TCP beside it."),
            Chart(charts.share_bars(one.shares), "Share of what the slower interface would carry."),
            Row(charts.beside_standard(one.points(FILES[0])), "Web objects: a control along, standard TCP up."),
        ],
    )  # fmt: skip


def part(found: Evidence) -> Part:
    """What the experiment shows."""
    one = Mixed(found)
    return Part(
        list(claims(one)),
        section(one),
        lambda folder: figures.mixed(
            folder, one.name, (one.own_ranks, one.standard_ranks), one.points(FILES[0]), one.shares
        ),
    )
