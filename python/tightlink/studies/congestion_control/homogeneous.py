"""All sources with the same control: what distinguishes networks, and which controls are unsafe (experiments 1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from tightlink.analysis.clusters import Dendrogram, clusters
from tightlink.analysis.components import Components, components
from tightlink.analysis.designed import Designed, designed
from tightlink.analysis.markov import from_users, ranked
from tightlink.analysis.outliers import outliers
from tightlink.analysis.responses import RESPONSES
from tightlink.experiment.claims import Claim, holds_if, untestable, within
from tightlink.report import Chart, Row, Section, Table, Text, charts
from tightlink.studies.congestion_control import document, figures
from tightlink.studies.congestion_control.experiment import STANDARD
from tightlink.studies.congestion_control.part import Part

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tightlink.studies.congestion_control.evidence import Evidence

#: Controls that go by delay alone.
_FAST: Final = ("fast", "fast-at")
#: Responses of the whole network, which every run has.
NETWORK: Final = tuple(each.name for each in RESPONSES if not each.name.endswith("_pps"))
#: What the document says of FAST under congestion with short buffers: the response, and whether there is more of it.
_PATHOLOGY: Final = {
    "loss": ("more losses", True),
    "retransmission_rate": ("more retransmissions", True),
    "connections_failed": ("more connections that fail", True),
    "transfers_completed": ("fewer transfers completed", False),
}
#: What is shown of all runs.
_EXPLORED: Final = (
    "sources_transmitting", "transfers_completed", "loss", "retransmission_rate", "cwnd_mean_packets", "timeouts",
    "rtt_mean_s", "queueing_delay_mean_s",
)  # fmt: skip
#: The smaller of the document's two filters.
_EFFECT: Final = 0.1
_HALF: Final = 0.5


@dataclass(frozen=True)
class Homogeneous:
    """An experiment in which all sources have the same control."""

    found: Evidence

    @property
    def name(self) -> str:
        """Of the experiment."""
        return self.found.experiment.name

    @cached_property
    def table(self) -> pl.DataFrame:
        """The second period: a row for each condition and control."""
        return self.found.responses()

    @cached_property
    def by_congestion(self) -> list[int]:
        """The conditions, from the smallest loss of standard TCP to the largest."""
        own = self.table.filter(pl.col("algorithm") == STANDARD).sort("loss")
        return own["condition"].to_list()

    @cached_property
    def dendrograms(self) -> list[Dendrogram]:
        """One for each condition, over all responses."""
        factors = set(self.found.experiment.factors)
        names = [name for name in self.table.columns if name not in {"condition", "algorithm"} | factors]
        kept = self.table.select("condition", "algorithm", *names)
        return list(clusters(kept, condition="condition", algorithm="algorithm", responses=names))

    @cached_property
    def heights(self) -> dict[int, float]:
        """By condition: how far controls are apart, over the responses of the whole network, in one unit for all."""
        trees = clusters(self.table, condition="condition", algorithm="algorithm", responses=NETWORK, spread="all")
        return {int(tree.condition): tree.height for tree in trees}

    @cached_property
    def outliers(self) -> pl.DataFrame:
        """Which control is unlike the others, by condition and response."""
        return outliers(self.table, condition="condition", algorithm="algorithm", responses=NETWORK)

    @property
    def explored(self) -> Designed:
        """All runs with the levels of their factors in words, to explore."""
        factors = self.found.experiment.factors
        words = [
            pl.when(pl.col(name) < 0).then(pl.lit("low")).otherwise(pl.lit("high")).alias(name) for name in factors
        ]
        return designed(self.table.with_columns(words), factors=[*factors, "algorithm"], responses=_EXPLORED)

    @cached_property
    def components(self) -> Components:
        """Of all runs."""
        return components(self.table, NETWORK)

    def ratios(
        self, control: str, response: str, conditions: Sequence[int]
    ) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """A control's response over standard TCP's, condition by condition."""
        wide = self.table.filter(pl.col("condition").is_in(list(conditions)))
        wide = wide.pivot("algorithm", index="condition", values=response).filter(pl.col(STANDARD) > 0)
        return (wide[control] / wide[STANDARD]).to_numpy()

    @cached_property
    def heavy_and_short(self) -> list[int]:
        """Conditions with short buffers, of the more congested half."""
        short = set(self.table.filter(pl.col("buffers") < 0)["condition"].to_list())
        half = self.by_congestion[len(self.by_congestion) // 2 :]
        return [condition for condition in half if condition in short]


def life(one: Homogeneous, control: str) -> pl.DataFrame:
    """Which transitions of a source's life bring completions down, in the condition with the most loss."""
    run = one.found.runs[f"{one.by_congestion[-1]:02}/{control}"]
    found = ranked(from_users(run), "thinking", "completed")
    return found.select("transition", "probability", "elasticity", "remaining", "cut")


def claims(one: Homogeneous) -> Iterator[Claim]:
    """What the document concludes."""
    algorithms = one.found.experiment.algorithms
    third = len(one.by_congestion) // 3
    light, heavy = one.by_congestion[:third], one.by_congestion[-third:]
    calm, busy = (float(np.median([one.heights[each] for each in part])) for part in (light, heavy))
    yield holds_if(
        f"{one.name}.similar-without-congestion",
        "Networks of all controls are alike without congestion, and differ under heavy congestion",
        document.DENDROGRAMS, busy / calm, busy > calm,
        f"Height of the dendrogram, differences standardised over all conditions: median {calm:.2f} in the {third} "
        f"conditions with the least loss, {busy:.2f} in those with the most; the ratio.",
    )  # fmt: skip
    apart = [tree.apart == "fast" for tree in one.dendrograms if int(tree.condition) in heavy]
    yield holds_if(
        f"{one.name}.fast-apart", "FAST is apart from all others under heavy congestion", document.DENDROGRAMS,
        float(np.mean(apart)), bool(np.mean(apart) > _HALF),
        f"Share of the {len(apart)} conditions with the most loss whose dendrogram sets it apart. Expected: most.",
    )  # fmt: skip
    for control in [name for name in _FAST if name in algorithms]:
        for response, (words, more) in _PATHOLOGY.items():
            name = f"{one.name}.{control}.{response}"
            said = f"{control}: {words} than standard TCP under heavy congestion with short buffers"
            ratios = one.ratios(control, response, one.heavy_and_short)
            if not ratios.size:
                yield untestable(name, said, document.SAFETY, "Standard TCP has none at this size.")
                continue
            median = float(np.median(ratios))
            yield holds_if(
                name, said, document.SAFETY, median, median > 1 if more else median < 1,
                f"Median ratio to standard TCP over {ratios.size} conditions.",
            )  # fmt: skip
    for other in [name for name in algorithms if name not in {*_FAST, STANDARD}]:
        ratios = one.ratios(other, "sources_transmitting", one.by_congestion)
        yield within(
            f"{one.name}.{other}.little-change", f"{other} changes little in the network as a whole",
            document.SAFETY, 1.0, float(np.median(ratios)), tolerance=0.1,
            reason="Median ratio to standard TCP of the sources transmitting, all conditions. Tolerance: ours.",
        )  # fmt: skip
    by_condition, by_control = (explained(one.components.scores, key) for key in ("condition", "algorithm"))
    yield holds_if(
        f"{one.name}.conditions-separate", "Conditions, not controls, separate the first two principal components",
        document.DENDROGRAMS, by_condition / max(by_control, 1e-9), by_condition > by_control,
        f"Share of the variance in PC1 and PC2 between conditions {by_condition:.0%}, between controls "
        f"{by_control:.0%}; the ratio.",
    )  # fmt: skip


def explained(scores: pl.DataFrame, key: str) -> float:
    """The share of the variance of PC1 and PC2 that lies between the values of a column."""
    total = between = 0.0
    for name in ("PC1", "PC2"):
        values = scores[name]
        means = scores.select(pl.col(name).mean().over(key)).to_series()
        total += float(((values - values.mean()) ** 2).sum())
        between += float(((means - values.mean()) ** 2).sum())
    return between / total


def section(one: Homogeneous) -> Section:
    """What happened, control by control."""
    third = len(one.by_congestion) // 3
    heavy = one.table.filter(pl.col("condition").is_in(one.by_congestion[-third:]))
    shown = ("sources_transmitting", "transfers_completed", "connections_failed", "loss", "retransmission_rate",
             "cwnd_mean_packets", "timeouts", "rtt_mean_s")  # fmt: skip
    table = heavy.group_by("algorithm", maintain_order=True).agg(pl.col(shown).mean())
    return Section(
        one.found.experiment.title,
        one.found.experiment.question + ".",
        [
            Text(f"{one.found.experiment.conditions.height} conditions, at {one.found.size}."),
            Table(table, f"Means over the {third} conditions with the most loss, in the second period."),
            Row(charts.dendrograms(one.dendrograms), "Which controls behave alike, one condition each."),
            Chart(
                charts.component_scores(one.components, by="algorithm", tell=["condition", "algorithm"]),
                "All runs along two principal components: hover a point for its condition.",
            ),
            Chart(
                charts.outlier_grid(one.outliers, least=_EFFECT),
                "Where a control is an outlier (Grubbs' test, p < 0.05) by 10 % or more.",
            ),
            Table(
                life(one, STANDARD),
                "A source's life as a Markov chain, standard TCP, in the condition with the most loss: by how many "
                "percent completions fall for each percent of a transition that is lost, and what is left without it.",
            ),
            Chart(charts.explore(one.explored, algorithm="algorithm"), "All runs: choose levels, bands, clusters."),
        ],
    )


def part(found: Evidence) -> Part:
    """What the experiment shows."""
    one = Homogeneous(found)
    return Part(
        list(claims(one)),
        section(one),
        lambda folder: figures.homogeneous(folder, one.name, one.dendrograms, one.components, one.outliers),
    )
