"""The charts, tables and figures of the report, whose text is ``report.md``: a lead, and a section for each experiment.

A section of the text belongs to the experiments of its name, else to those that mix controls so; each fills it with its
own numbers and charts.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias

import polars as pl

from tightlink import plots
from tightlink.diagnosis.words import listed, sentence
from tightlink.experiment.claims import Claim
from tightlink.lazy import alt
from tightlink.plots import labels, palette
from tightlink.reduce import largest, smallest
from tightlink.report import Section, Table, charts
from tightlink.scenario import PARAMETERS
from tightlink.studies.congestion_control.observe.costs import NANOSECONDS, on_cluster
from tightlink.studies.congestion_control.observe.evidence import CONGESTION, Evidence
from tightlink.studies.congestion_control.observe.homogeneous import PATHOLOGY, Homogeneous
from tightlink.studies.congestion_control.observe.mixed import FILES, LARGE, Mixed, Mixture, Windows
from tightlink.studies.congestion_control.observe.one_link import SWINGS, by_control
from tightlink.studies.congestion_control.observe.readings import Readings
from tightlink.studies.congestion_control.observe.sensitivity import IDS, Sensitivity
from tightlink.studies.congestion_control.setup import Chosen, document
from tightlink.studies.congestion_control.setup.experiment import DELAY, STANDARD
from tightlink.studies.congestion_control.setup.one_link import CASES, DELAYS, NEWCOMER_S, RATE, SETTLED, WATCHED_S
from tightlink.studies.expressions import Names
from tightlink.studies.report_text import page
from tightlink.studies.study import Report
from tightlink.studies.words import mbit

#: What is shown of an experiment in which all sources have the same control.
_SHOWN: Final = (
    "sources_transmitting", "transfers_completed", "sources_connecting", "loss", "retransmission_rate",
    "cwnd_mean_packets", "cwnd_swing", "timeouts", "rtt_mean_s",
)  # fmt: skip
#: And of link prices.
_PRICED: Final = (
    "sources_transmitting", "transfers_completed", "loss", "retransmission_rate", "timeouts", "rtt_mean_s",
    "queueing_delay_mean_s",
)  # fmt: skip
_NAMES: Final = {name: parameter.id for name, parameter in PARAMETERS.items()}
_NUMBERED: Final = {name: f"{parameter.id} {parameter.name}" for name, parameter in PARAMETERS.items()}
_COLORS: Final[Any] = {"range": list(palette.SERIES)}
#: Sections whose findings are those of the study.
_LEADING: Final = ("sensitivity", "alone", DELAY, "oscillation", "newcomers")
#: Controls that leave newcomers least, which it names.
_FEWEST: Final = 3
#: Parameters that the finding names.
_GOVERNING: Final = 4
#: What fills a section: what its text names, its blocks, and its figures for papers.
Filling: TypeAlias = tuple[Mapping[str, object], Mapping[str, Any], Mapping[str, Any]]


def report(observed: Mapping[str, Any], claims: Mapping[str, Claim]) -> Report:
    """Lead, sections, figures and tables."""
    text = Path(__file__).with_suffix(".md").read_text("utf-8")
    lead, *parts = re.split(r"^## ([\w-]+)\n# ", text, flags=re.MULTILINE)
    texts = dict(zip(parts[::2], parts[1::2], strict=True))
    mixing = {each.name: each.mixing for each in observed["chosen"].experiments}
    found = {**observed["found"], **({} if observed["costs"] is None else {"costs": observed["costs"]})}
    sections: list[Section] = []
    leading: list[tuple[str, Section]] = []
    figures: dict[str, Any] = {}
    for name, each in found.items():
        kind = "sensitivity" if isinstance(each, Sensitivity) else name if name in texts else mixing[name]
        names, blocks, on_paper = _FILLINGS[kind](each, claims)
        known = Names(names, _names(getattr(each, "found", None)), _own(observed, name))
        sections += page(f"\n\n## {texts[kind]}", known, blocks).sections
        if kind in _LEADING:
            leading.append((kind, sections[-1]))
        figures |= {f"{name}-{of}": figure for of, figure in on_paper.items()}
    names = {
        "chosen": observed["chosen"],
        "sizes": _sizes(observed["chosen"]),
        "became": _what_became_of_it(observed["chosen"]),
        "findings": _findings(leading),
        **_verdicts_in_words(claims),
    }
    tables = {name: observed[name] for name in ("responses", "costs") if observed[name] is not None}
    return replace(page(lead, names, {}, figures=figures), sections=sections, tables=tables)


def _own(observed: Mapping[str, Any], name: str) -> dict[str, object]:
    """What was observed of an experiment, by its names within it."""
    found = ((key.removeprefix("experiment-").partition("."), value) for key, value in observed.items())
    return {key: value for (whole, _, key), value in found if whole == name}


def _findings(leading: Sequence[tuple[str, Section]]) -> str:
    """What the study found, a paragraph for each section; two of one kind by their titles."""
    kinds = Counter(kind for kind, _ in leading)
    said = []
    for kind, section in leading:
        # Up to the first colon or semicolon.
        first, *rest = re.split("(?=[:;])", section.finding, maxsplit=1)
        said.append(f"**{section.title}:** {section.finding}" if kinds[kind] > 1 else f"**{first}**{''.join(rest)}")
    return "\n\n".join(said)


def _verdicts_in_words(claims: Mapping[str, Claim]) -> dict[str, object]:
    """How many claims of the document hold, and what each experiment contradicts."""
    said = [claim for claim in claims.values() if claim.origin == "document"]
    against = Counter(claim.id.partition(".")[0] for claim in said if claim.holds is False)
    where = listed([f"{count} of {name}" for name, count in against.most_common()]) if against else "none"
    verdicts = [claim.holds for claim in said]
    # A design that was run at two sizes, and an experiment that was run again, ask the same twice.
    statements = len({(claim.statement, claim.source) for claim in said})
    return {
        "said": len(said), "statements": statements, "held": verdicts.count(True), "open": verdicts.count(None),
        "contradicted": where,
    }  # fmt: skip


def _names(found: Evidence | None) -> dict[str, object]:
    """What all sections on experiments in the four-tier network name."""
    if found is None:
        return {}
    conditions = found.experiment.conditions.height
    return {"experiment": found.experiment, "conditions": conditions, "size": found.size, "origin": found.origin}


def _sizes(chosen: Chosen) -> str:
    """At what size experiments were run, and what was not run but stored."""
    run = sorted({str(chosen.size_of(each.name)) for each in chosen.experiments if each.name not in chosen.stored})
    said = [f"At {'; '.join(run)}."] if run else []
    stored = [name for name in chosen.names if name in chosen.stored]
    if stored:
        said.append(f"Stored responses, whose sections say their size, are those of {', '.join(stored)}.")
    return " ".join(said)


def _what_became_of_it(chosen: Chosen) -> str:
    """What its size leaves of the network, in words; of a scale, in the first experiment that has it."""
    whole = "Where fewer access routers have users, each of these is as it is in the whole network. "
    fewer = "" if chosen.size.routers == 1 else whole
    for each in chosen.experiments:
        if each.name not in chosen.sizes and (distorted := each.distortion(chosen.size)) is not None:
            return f"{fewer}In experiment {each.name}, {distorted} "
    return fewer


def _sensitivity(found: Sensitivity, claims: Mapping[str, Claim]) -> Filling:
    """Effects as a map, what the document's responses are read as, and influence beside the document's."""
    second = found.effects.filter(pl.col("row") == CONGESTION)
    leading = found.leading
    signs = [claim.holds for claim in claims.values() if claim.id.startswith(f"{found.found.name}.Y")]
    names = {
        "signs": len(signs),
        "decided": len(signs) - signs.count(None),
        "held": signs.count(True),
        "alone": bool(found.alone),
        "error": found.error_from,
        "other": "" if found.smaller is None else str(found.smaller.found.size),
        "governing": sentence(listed([document.TITLE_OF[name] for name in leading[:_GOVERNING]])),
        "leading_there": len(document.LEADING),
        "shared": len(set(leading) & set(document.LEADING)),
    }
    verdicts = charts.verdict_map(_verdicts(found, claims), list(_NUMBERED.values()))
    beside = found.beside_smaller
    if beside is not None:
        beside = beside.filter(pl.col("effects") > 0).with_columns(
            pl.col("response").map_elements(labels.plain, return_dtype=pl.String)
        )
    blocks = {
        "map": charts.significance_map(second),
        "main-effects": charts.main_effects(second, "sources_transmitting"),
        "verdicts": verdicts,
        "beside": None if beside is None else Table(beside, formats={"correlation": ".2f"}),
        "readings": Table(_readings(second), formats={"agreement": ".2f"}),
        "influence": charts.influence(_influence(found), names=_NUMBERED),
        "correlation": charts.correlation_matrix(found.correlation),
        "index-index": charts.index_index(found.correlation),
        "groups": pl.DataFrame({
            "group": [", ".join(map(labels.plain, group.responses)) for group in found.correlation.groups],
            "representative": [labels.plain(group.representative) for group in found.correlation.groups],
        }),
    }  # fmt: skip
    on_paper = {
        "main-effects": charts.main_effects(second, "sources_transmitting", names=_NAMES),
        "significance": charts.significance_map(second, names=_NAMES),
        "verdicts": verdicts,
        "influence": charts.influence(found.influence.filter(pl.col("row") != "weighted"), names=_NAMES),
        "influence-beside": blocks["influence"],
        "correlation": blocks["correlation"],
        "correlation-histogram": charts.correlation_histogram(found.correlation),
        "index-index": blocks["index-index"],
        "ten-steps": plots.ten_steps.page(found.ten_steps),
    }
    return names, blocks, on_paper


def _readings(second: pl.DataFrame) -> pl.DataFrame:
    """A row for each of the document's responses."""
    readings = Readings(second)
    read = {number: readings.response(number) for number in document.effects()}
    rows = [(number, document.CLASS_OF[number], labels.plain(name), match) for number, (name, match) in read.items()]
    return pl.DataFrame(rows, schema=["document", "class", "response", "agreement"], orient="row")


def _verdicts(found: Sensitivity, claims: Mapping[str, Claim]) -> pl.DataFrame:
    """A row for each mark of the document's table of effects: what became of it."""
    rows = []
    for number, marks in document.effects().items():
        for parameter, (sign, strong) in marks.items():
            claim = claims.get(f"{found.found.name}.{number}.{parameter}")
            told = ("no claim", "", "") if claim is None else (claim.verdict, claim.observed_text, claim.reason)
            place = (f"{number} {document.CLASS_OF[number]}", _NUMBERED[document.NAME_OF[parameter]])
            rows.append((*place, sign + ("**" if strong else "*"), *told))
    return pl.DataFrame(rows, schema=["row", "column", "text", "verdict", "here", "reason"], orient="row")


def _influence(found: Sensitivity) -> pl.DataFrame:
    """Ψ of each parameter: the document's, and ours by two tests."""
    ours = {
        "here, Lenth's test": found.influence_weighted,
        "here, joint model, second period": found.influence_joint,
    }
    theirs = [found.influence_there[IDS[factor]] for factor in found.influence_joint["factor"]]
    by = {"the document": found.influence_joint.with_columns(psi=pl.Series(theirs, dtype=pl.Float64)), **ours}
    return pl.concat([table.select(pl.lit(name).alias("Ψ"), "factor", "psi") for name, table in by.items()])


def _alone(one: Homogeneous, _: Mapping[str, Claim]) -> Filling:
    """What happened, control by control; nothing on sources' states of stored responses, which have none over time."""
    third = len(one.by_congestion) // 3
    apart = Counter(tree.apart for tree in one.dendrograms if tree.apart is not None)
    heavy = one.table.filter(pl.col("condition").is_in(one.by_congestion[-third:]))
    blocks = {
        "means": _means(heavy, _SHOWN),
        "dendrograms": charts.dendrograms(
            [replace(tree, condition=one.titled(tree)) for tree in one.dendrograms],
            names={name: name for name in one.found.experiment.algorithms},
        ),
        "components": charts.component_scores(one.components, by="algorithm", tell=["condition"], around="group"),
        # Of condition-response summaries the document has three.
        **{f"outliers-{least}": charts.outlier_grid(one.outliers, least=least / 100) for least in (0, 10, 30)},
        "states": one.states(STANDARD) if one.found.runs else None,
        "explored": charts.explore(one.explored, algorithm="algorithm"),
    }
    on_paper = {
        "dendrograms": charts.dendrograms(one.dendrograms),
        "scree": charts.scree(one.components),
        "loadings": charts.component_loadings(one.components),
        "components": charts.component_scores(one.components, by="algorithm", around="group"),
        "biplot": charts.component_scores(one.components, by="algorithm", arrows=True),
        "outliers": blocks["outliers-10"],
    }
    alone = listed([f"{name} in {count}" for name, count in apart.most_common()]) if apart else "none in any"
    return {"third": third, "set_apart": alone}, blocks, on_paper


def _delay(one: Homogeneous, _: Mapping[str, Claim]) -> Filling:
    """What is claimed of the controls that go by delay alone."""
    short = one.table.filter(pl.col("condition").is_in(one.heavy_and_short))
    return {"short": len(one.heavy_and_short)}, {"means": _means(short, PATHOLOGY)}, {}


def _means(table: pl.DataFrame, responses: Sequence[str]) -> pl.DataFrame:
    """Means of responses by control."""
    return table.group_by("algorithm", maintain_order=True).agg(pl.col(responses).mean())


def _half(one: Mixed, _: Mapping[str, Claim]) -> Filling:
    """Who gains and who pays."""
    ranked = one.own_ranks.summary.join(one.standard_ranks.summary, on="algorithm", suffix="_standard")
    (rated, shares), (large, very_fast) = one.shares, one.very_fast
    blocks = {
        "fairness": one.fairness.select("algorithm", "ratio", "ahead", "behind", "conditions", "p"),
        "mean-ranks": ranked.select("algorithm", "rank_mean", "rank_sd", "rank_mean_standard", "rank_sd_standard"),
        "ranks": charts.rank_scatter(one.own_ranks),
        "ranks-standard": charts.rank_scatter(one.standard_ranks),
        "shares": charts.share_bars(shares),
        "beside-standard": charts.beside_standard(very_fast),
        "beside-standard-web": charts.beside_standard(one.points(FILES[0])),
    }
    on_paper = {name: blocks[name] for name in ("shares", "ranks", "ranks-standard", "beside-standard")}
    return {"rated": rated, "large": large}, blocks, on_paper


def _all(one: Mixture, _: Mapping[str, Claim]) -> Filling:
    """All controls at once: who gets how much."""
    ranked = one.ranks.summary.select("algorithm", "rank_mean", "rank_sd", "first")
    table = ranked.join(one.relative, left_on="algorithm", right_on="control", maintain_order="left")
    return {}, {"ranks": table}, {}


def _window(one: Windows, _: Mapping[str, Claim]) -> Filling:
    """Gains by window and control."""
    gains = one.gains.filter(pl.col("file") == LARGE).pivot("window", index="control", values="gain")
    return {}, {"gains": gains}, {}


def _thresholds(both: tuple[Mixed, Mixed], _: Mapping[str, Claim]) -> Filling:
    """Ranks of a control's own throughput and of standard TCP's beside it, high threshold left, low one right."""
    titled = {f"{one.found.name}: {one.found.experiment.base['initial_ssthresh']}": one for one in both}
    blocks = {
        "ranks": [charts.rank_scatter(one.own_ranks, title=title) for title, one in titled.items()],
        "ranks-standard": [charts.rank_scatter(one.standard_ranks, title=title) for title, one in titled.items()],
    }
    return {}, blocks, {}


def _oscillation(table: pl.DataFrame, _: Mapping[str, Claim]) -> Filling:
    """The boundary: for each product of flows and alpha, the buffers at which windows oscillate."""
    shown = table.with_columns(
        label=pl.when(pl.col("swing") > SWINGS).then(pl.lit("oscillates")).otherwise(pl.lit("comes to rest")),
        queued=pl.col("flows") * pl.col("alpha_packets"),
    )
    points = alt.Chart(shown.filter(pl.col("control") == "fast")).mark_point(filled=True, size=60).encode(
        x=alt.X("queued:Q", title="flows × alpha (packets)").scale(type="log").axis(format="~r"),
        y=alt.Y("buffer_packets:Q", title="buffer (packets)").scale(type="log").axis(format="~r"),
        color=alt.Color("label:N", title="", scale=_COLORS),
        shape=alt.Shape("label:N", title=""),
        tooltip=[*map(alt.Tooltip, ("alpha_packets", "flows", "buffer_packets", "swing", "period_s", "loss"))],
    )  # fmt: skip
    ends = [smallest(table["buffer_packets"]), largest(table["buffer_packets"])]
    equal = alt.Chart(pl.DataFrame({"queued": ends, "buffer_packets": ends})).mark_line(strokeDash=[4, 3], color="gray")
    line = equal.encode(x=alt.X("queued:Q"), y=alt.Y("buffer_packets:Q"))
    table_of = table.group_by("control", "alpha_packets", maintain_order=True).agg(
        settings=pl.len(), oscillates=(pl.col("swing") > SWINGS).sum(), loss=pl.col("loss").mean()
    )
    return {}, {"swings": (points + line).properties(width="container", height=320), "by-control": table_of}, {}


def _newcomers(table: pl.DataFrame, _: Mapping[str, Claim]) -> Filling:
    """What newcomers get, by control and setting."""
    ordered = by_control(table)
    points = alt.Chart(table).mark_tick(thickness=2).encode(
        x=alt.X("share:Q", title="newcomer's goodput over an equal share"),
        y=alt.Y("control:N", title="", sort=ordered["control"].to_list()),
        color=alt.Color("delay:N", title="one-way delay", scale=_COLORS),
        tooltip=table.columns,
    )  # fmt: skip
    equal = alt.Chart(pl.DataFrame({"share": [1.0]})).mark_rule(strokeDash=[4, 3], color="gray")
    equal = equal.encode(x=alt.X("share:Q"))
    names = {**CASES["newcomers"].levels, "settings": ordered["settings"][0], "watched": NEWCOMER_S}
    names["least_shares"] = [f"{share:.2f}" for share in ordered["mean"].head(_FEWEST)]
    blocks = {"shares": (points + equal).properties(width="container", height=220), "by-control": ordered}
    return names, blocks, {}


def _increase(table: pl.DataFrame, _: Mapping[str, Claim]) -> Filling:
    """Times to a full link by control and threshold, what a loss costs, and what a threshold does under congestion."""
    alone = table.filter(pl.col("load") == "alone")
    points = alt.Chart(alone).mark_point(filled=True, size=60).encode(
        x=alt.X("full_s:Q", title="time to a full link (s)").scale(type="log").axis(format="~r"),
        y=alt.Y("control:N", title=""),
        color=alt.Color("initial_ssthresh:N", title="initial threshold", scale=_COLORS),
        shape=alt.Shape("delay:N", title="one-way delay"),
        tooltip=table.columns,
    )  # fmt: skip
    unlimited = pl.col("initial_ssthresh") == "unlimited"
    of_control = alone.group_by("control", maintain_order=True).agg(
        low_s=pl.col("full_s").filter(~unlimited).mean(),
        high_s=pl.col("full_s").filter(unlimited).mean(),
        kept=pl.col("kept").fill_nan(None).median(),
    )
    congested = table.filter(pl.col("load") == "congested").pivot(
        "initial_ssthresh", index=["control", "delay"], values="goodput_bps", aggregate_function="mean"
    )
    rates = Table(congested, formats=dict.fromkeys(congested.columns[2:], lambda bps: mbit(bps, 1)))
    names = {**CASES["increase"].levels, "rate": RATE, "watched": WATCHED_S["alone"]}
    names |= {"heavy": SETTLED["congested"][DELAYS[0]], "extreme": [str(each) for each in SETTLED["extreme"].values()]}
    full = points.properties(width="container", height=220)
    return names, {"full": full, "by-control": of_control, "congested": rates}, {}


def _costs(costs: pl.DataFrame, _: Mapping[str, Claim]) -> Filling:
    """What it cost, and what all of it would, from the table."""
    whole = costs.group_by("experiment", maintain_order=True).last()["core_hours"].sum()
    names = {"hours": whole, "cheapest": min(NANOSECONDS.values()), "dearest": max(NANOSECONDS.values())}
    formats = {"packet_hops": ".2e", "core_hours": ".1f", "longest_hours": ".2f"}
    return names, {"costs": Table(costs, formats=formats), "on-cluster": on_cluster(costs)}, {}


_FILLINGS: Final[dict[str, Callable[[Any, Mapping[str, Claim]], Filling]]] = {
    "sensitivity": _sensitivity,
    "alone": _alone,
    DELAY: _delay,
    "half": _half,
    "all": _all,
    "window": _window,
    "prices": lambda one, _: ({}, {"means": _means(one.table, _PRICED)}, {}),
    "choices": lambda one, _: ({}, {"verdicts": one.verdicts}, {}),
    "thresholds": _thresholds,
    "oscillation": _oscillation,
    "newcomers": _newcomers,
    "increase": _increase,
    "costs": _costs,
}
