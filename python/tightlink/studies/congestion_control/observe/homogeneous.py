"""All sources with the same control: what distinguishes networks, and which controls are unsafe (experiments 1)."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from tightlink.analysis.effects.designed import Designed, designed
from tightlink.analysis.estimates import Estimate
from tightlink.analysis.markov import from_users, ranked
from tightlink.analysis.responses.clusters import Dendrogram, clusters
from tightlink.analysis.responses.nist import RESPONSES
from tightlink.analysis.responses.outliers import outliers
from tightlink.analysis.responses.pca import Components, components
from tightlink.diagnosis.words import listed
from tightlink.experiment.claims import Claim
from tightlink.lazy import Array, stats
from tightlink.numbers import percent
from tightlink.studies.claims_table import ClaimsTable
from tightlink.studies.congestion_control.observe.anchors import unlike
from tightlink.studies.congestion_control.observe.evidence import BESIDE, CONGESTION, Evidence
from tightlink.studies.congestion_control.observe.ratios import of_ratios
from tightlink.studies.congestion_control.setup.experiment import STANDARD

#: Controls that go by delay alone.
FAST: Final = ("fast", "fast-at")
#: The document's tables of controls, and its slides on what sets them apart, have seven: all but this one.
_EIGHTH: Final = "fast-at"
#: Responses of the whole network, which every run has.
NETWORK: Final = tuple(each.name for each in RESPONSES if not each.name.endswith("_pps"))
#: Mean throughputs by class of path.
THROUGHPUTS: Final = tuple(each.name for each in RESPONSES if each.name.endswith("_pps"))
#: What the document says of FAST under congestion with short buffers concerns these.
PATHOLOGY: Final = ("loss", "retransmission_rate", "sources_connecting", "transfers_completed", "cwnd_swing")
#: What changes little with the other controls, beside the sources that transmit. Loss as the document has it is below
#: zero where most packets that leave were there before, and no ratio then.
CHANGES: Final = ("retransmission_rate", "sources_connecting", "transfers_completed")
#: Paths through the slowest routers, which lose most.
_CONGESTED: Final = "normal-normal_pps"
#: The experiment of which claims are judged under other choices of the simulator, and the network.
_CHOICES_OF: Final = "1b"
#: The components that the document looks at.
_ALONG: Final = ("PC1", "PC2")
_LOW: Final = pl.lit("low")
_HIGH: Final = pl.lit("high")
#: What is shown of all runs.
_EXPLORED: Final = (
    "sources_transmitting", "transfers_completed", "loss", "retransmission_rate", "cwnd_mean_packets", "timeouts",
    "rtt_mean_s", "queueing_delay_mean_s",
)  # fmt: skip


@dataclass(frozen=True)
class Homogeneous:
    """An experiment in which all sources have the same control."""

    found: Evidence

    @cached_property
    def table(self) -> pl.DataFrame:
        """The second period: a row for each condition and control."""
        return self.found.responses()

    @cached_property
    def of_seven(self) -> pl.DataFrame:
        """The same of the document's seven controls: FAST-AT is FAST with another alpha."""
        return self.table.filter(pl.col("algorithm") != _EIGHTH)

    @cached_property
    def by_congestion(self) -> list[int]:
        """The conditions, from the smallest loss of standard TCP to the largest."""
        own = self.table.filter(pl.col("algorithm") == STANDARD).sort("loss")
        return own["condition"].to_list()

    @cached_property
    def dendrograms(self) -> list[Dendrogram]:
        """One for each condition, over the responses of the network and the throughputs of all groups of transfers.

        Of the document's seven controls, from the condition with the smallest loss of standard TCP to that with the
        largest.
        """
        kept = (pl.col("period") == CONGESTION, ~pl.col("response").is_in(BESIDE), pl.col("algorithm") != _EIGHTH)
        own = self.found.table.filter(*kept).select("condition", "algorithm", "response", "value")
        found = clusters(own, condition="condition", algorithm="algorithm")
        return sorted(found, key=lambda tree: self.by_congestion.index(int(tree.condition)))

    def titled(self, tree: Dendrogram) -> str:
        """The condition of a dendrogram, with what standard TCP loses under it."""
        own = self.table.filter(pl.col("algorithm") == STANDARD, pl.col("condition") == int(tree.condition))
        return f"{tree.condition}: {percent(own['loss'].item(), 2)} lost"

    @cached_property
    def heights(self) -> dict[int, float]:
        """By condition: how far controls are apart, over the responses of the whole network, in one unit for all."""
        trees = clusters(self.of_seven, condition="condition", algorithm="algorithm", responses=NETWORK, spread="all")
        return {int(tree.condition): tree.height for tree in trees}

    @cached_property
    def outliers(self) -> pl.DataFrame:
        """Which control is unlike the others, by condition and response."""
        return outliers(self.table, condition="condition", algorithm="algorithm", responses=NETWORK)

    @property
    def explored(self) -> Designed:
        """All runs with the levels of their factors in words, to explore."""
        factors = self.found.experiment.factors
        words = [pl.when(pl.col(name) < 0).then(_LOW).otherwise(_HIGH).alias(name) for name in factors]
        return designed(self.table.with_columns(words), factors=[*factors, "algorithm"], responses=_EXPLORED)

    @cached_property
    def paths(self) -> list[str]:
        """The mean throughputs that every run has: of classes of paths that many transfers take."""
        there = [name for name in THROUGHPUTS if name in self.of_seven.columns]
        return [name for name in there if self.of_seven[name].fill_null(math.nan).is_finite().all()]

    @property
    def few_paths(self) -> str:
        """Why nothing is said of components of throughputs; empty where there are some."""
        few = len(self.paths) <= len(_ALONG)
        return "Hardly any class of paths has transfers in every run: run it longer, or larger." if few else ""

    @cached_property
    def components(self) -> Components:
        """Of mean throughputs by class of path, in all runs of the document's seven controls.

        Of responses of the network where `few_paths`. Column ``group`` has the levels of the two factors between which
        they differ most along two components.
        """
        found = components(self.of_seven, NETWORK if self.few_paths else self.paths)
        first = sorted(self.found.experiment.factors, key=lambda name: -explained(found.scores, name))[:2]
        levels = [
            pl.format("{} {}", pl.lit(name.replace("_", " ")), pl.when(pl.col(name) < 0).then(_LOW).otherwise(_HIGH))
            for name in first
        ]
        return replace(found, scores=found.scores.with_columns(group=pl.concat_str(levels, separator=", ")))

    def ratios(self, control: str, response: str, conditions: Sequence[int], period: str = CONGESTION) -> Array:
        """A control's response over standard TCP's, condition by condition."""
        table = self.table if period == CONGESTION else self.found.responses(period)
        wide = _wide(table, response, conditions).filter(pl.col(STANDARD) > 0)
        return (wide[control] / wide[STANDARD]).to_numpy()

    def over_others(self, control: str, response: str, conditions: Sequence[int]) -> Array:
        """A control's response over that of the farthest of those that do not go by delay alone.

        That is the largest of theirs, or the smallest where less is worse.
        """
        others = [name for name in self.found.experiment.algorithms if name not in {*FAST, STANDARD}]
        farthest = pl.min_horizontal(others) if response == "transfers_completed" else pl.max_horizontal(others)
        wide = _wide(self.table, response, conditions).with_columns(farthest=farthest).filter(pl.col("farthest") > 0)
        return (wide[control] / wide["farthest"]).to_numpy()

    def told(self, name: str, ratios: Array, response: str, controls: Collection[str]) -> dict[str, object]:
        """What claims compare of ratios of a response, and why nothing is said of it at this size."""
        return of_ratios(name, ratios) | {f"{name}.thin": unlike(self.found.size, response, controls)}

    @cached_property
    def heavy_and_short(self) -> list[int]:
        """Conditions with short buffers, of the more congested half."""
        half = self.by_congestion[len(self.by_congestion) // 2 :]
        if "buffers" not in self.found.experiment.factors:
            return half if self.found.experiment.base.get("buffers", "low") == "low" else []
        short = set(self.table.filter(pl.col("buffers") < 0)["condition"].to_list())
        return [condition for condition in half if condition in short]

    def states(self, control: str) -> pl.DataFrame:
        """Which transitions of a source bring completions down, in the condition with the most loss."""
        run = self.found.runs[f"{self.by_congestion[-1]:02}/{control}/1"]
        found = ranked(from_users(run), "thinking", "completed")
        return found.select("transition", "probability", "elasticity", "remaining", "cut")


def _wide(table: pl.DataFrame, response: str, conditions: Sequence[int]) -> pl.DataFrame:
    """A response by condition, a column for each control."""
    chosen = table.filter(pl.col("condition").is_in(list(conditions)))
    return chosen.pivot("algorithm", index="condition", values=response)


def values(one: Homogeneous) -> dict[str, object]:
    """What claims compare, by name."""
    algorithms = one.found.experiment.algorithms
    third = len(one.by_congestion) // 3
    light, heavy = one.by_congestion[:third], one.by_congestion[-third:]
    heights = [[one.heights[each] for each in part] for part in (light, heavy)]
    calm, busy = (float(np.median(part)) for part in heights)
    apart = [tree.apart == "fast" for tree in one.dendrograms if int(tree.condition) in heavy]
    found: dict[str, object] = {
        "third": third,
        "calm": calm,
        "busy": busy,
        "heights_p": float(stats.mannwhitneyu(*heights).pvalue),
        **set_apart(sum(apart), len(apart)),
        "few_paths": one.few_paths,
        "by_condition": explained(one.components.scores, "condition"),
        "by_control": explained(one.components.scores, "algorithm"),
    }
    others = set(algorithms).difference(FAST, [STANDARD])
    if "bic" in others:
        found |= one.told("bic.congested", one.ratios("bic", _CONGESTED, heavy), _CONGESTED, (STANDARD, "bic"))
    for control in set(FAST).intersection(algorithms):
        for response in PATHOLOGY[:-1]:
            ratios = one.over_others(control, response, one.heavy_and_short)
            found |= one.told(f"exception.{control}.{response}", ratios, response, (control, *others))
    for control in others:
        for response in CHANGES:
            ratios = one.ratios(control, response, one.by_congestion)
            found |= one.told(f"{control}.{response}", ratios, response, (STANDARD, control))
        for period in (CONGESTION, "after"):
            ratios = one.ratios(control, "sources_transmitting", one.by_congestion, period)
            found |= one.told(f"{control}.{period}", ratios, "sources_transmitting", (STANDARD, control))
    return {f"experiment-{one.found.name}.{name}": value for name, value in found.items()} | pathology_values(one)


def set_apart(apart: int, heavy: int) -> dict[str, object]:
    """The share of the conditions that set FAST apart."""
    return {"heavy": heavy, "apart": apart, "fast-apart": Estimate.of_share(apart, heavy)}


def pathology_values(one: Homogeneous) -> dict[str, object]:
    """What claims compare of the controls that go by delay alone, by name."""
    found: dict[str, object] = {}
    for control in set(FAST).intersection(one.found.experiment.algorithms):
        for response in PATHOLOGY:
            name = f"experiment-{one.found.name}.{control}.{response}"
            ratios = one.ratios(control, response, one.heavy_and_short)
            found |= one.told(name, ratios, response, (STANDARD, control))
    return found


def explained(scores: pl.DataFrame, key: str) -> float:
    """The share of the variance of PC1 and PC2 that lies between the values of a column."""
    total = between = 0.0
    for name in _ALONG:
        values = scores[name]
        means = scores.select(pl.col(name).mean().over(key)).to_series()
        total += float(((values - values.mean()) ** 2).sum())
        between += float(((means - values.mean()) ** 2).sum())
    return between / total


def prices_values(one: Homogeneous) -> dict[str, object]:
    """What claims compare of link prices over drop-tail queues: medians over all conditions."""
    return {
        f"prices.{response}": float(np.median(one.ratios("prices", response, one.by_congestion)))
        for response in ("loss", "retransmission_rate", "queueing_delay_mean_s", "transfers_completed")
    }


@dataclass(frozen=True)
class Choices:
    """An experiment with all of NIST's choices, and with each of them turned back."""

    found: Evidence

    @cached_property
    def verdicts(self) -> pl.DataFrame:
        """Columns ``claim``, ``statement``, and a verdict with its figure for each choice; the first has all."""
        judged = {variant: self._judged(variant) for variant in self.found.experiment.variants}
        first = next(iter(judged.values()))
        return pl.DataFrame({
            "claim": list(first),
            "statement": [claim.statement for claim in first.values()],
            **{variant: [_verdict(claims[name]) for name in first] for variant, claims in judged.items()},
        })  # fmt: skip

    def _judged(self, variant: str) -> dict[str, Claim]:
        """The claims of experiment 1b on controls that are compared here, by id."""
        parts = pl.col("algorithm").str.split_exact(", ", 1).struct.rename_fields(["algorithm", "variant"])
        table = self.found.table.with_columns(parts.alias("parts")).drop("algorithm").unnest("parts")
        own = replace(self.found.experiment, name=_CHOICES_OF, variants={})
        table = table.filter(pl.col("variant") == variant).drop("variant")
        compared = set(own.algorithms).difference([STANDARD])
        whole = ClaimsTable.read(Path(__file__).parents[1] / "claims.toml").of([_CHOICES_OF])
        kept = tuple(each for each in whole.statements if each.id.split(".")[1] in compared)
        observed = values(Homogeneous(replace(self.found, experiment=own, table=table)))
        return {claim.id: claim for claim in replace(whole, statements=kept).judged(observed)}


def _verdict(claim: Claim) -> str:
    """A verdict, and what was observed."""
    observed = claim.observed if isinstance(claim.observed, float) else None
    return claim.verdict + ("" if observed is None else f", {observed:.2f}")


def choices_values(one: Choices) -> dict[str, object]:
    """What claims compare, by name."""
    names = list(one.found.experiment.variants)
    table = one.verdicts.with_columns(pl.col(name).str.split(",").list.first() for name in names)
    turned, opened = [], 0
    for row in table.iter_rows(named=True):
        for name in names[1:]:
            both = {row[names[0]], row[name]}
            opened += len(both) > 1 and "open" in both
            if len(both) > 1 and "open" not in both:
                turned.append(f"{row['claim']} ({name})")
    decided = table.filter(pl.col(names[0]) != "open")["claim"].str.split(".").list.get(1)
    undecided = sorted({claim.split(".")[1] for claim in table["claim"]}.difference(decided))
    none = (
        f"With all of NIST's choices no claim on {listed(undecided)} has a verdict at this size, so that none can turn."
    )
    found = {
        "claims": table.height, "choices": len(names) - 1, "turned": len(turned), "opened": opened,
        "decided": len(decided), "none": none if undecided and not turned else "",
    }  # fmt: skip
    return {f"choices.{name}": value for name, value in found.items()} | {"choices.which": ", ".join(turned) or "none"}
