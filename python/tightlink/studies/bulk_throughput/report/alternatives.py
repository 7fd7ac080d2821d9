"""What the document leaves to ns-2: its statements and figures under each alternative, and which one they choose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.report import Section, Table, Text
from tightlink.studies.bulk_throughput.setup.alternatives import CHOSEN, DEFAULTS
from tightlink.studies.bulk_throughput.setup.paths import DOCUMENT_R2, SITES
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.experiment.claims import Claim
    from tightlink.studies.bulk_throughput.observe.alternatives import Weighed

_STANDS: Final = {"measured": "Linux, measured", "synthetic": "beside unknown traffic"}
_VERDICTS: Final = {True: "holds", False: "does not", None: "open"}


def section(found: Mapping[str, Weighed], values: Mapping[str, object]) -> Section:
    """The part of the report.

    Args:
        found: The alternatives, by name.
        values: What was observed.
    """
    chosen, plain = found[CHOSEN.name], found[DEFAULTS.name]
    held = {name: sum(claim.holds is True for claim in _common(found, name).values()) for name in found}
    finding = (
        f"{CHOSEN.title[:1].upper()}{CHOSEN.title[1:]}: the document's figures are missed by "
        f"{percent(chosen.mean_miss, 1)} on average and {held[CHOSEN.name]} of {len(_common(found, CHOSEN.name))} "
        f"statements hold; under ns-2's defaults {percent(plain.mean_miss, 1)} and {held[DEFAULTS.name]}."
    )
    text = (
        "The document gives windows, flows, queue and recovery, and leaves two settings to ns-2. Agents take their "
        "window as the initial slow-start threshold when a run begins; one that gets its window later keeps 20 "
        "packets, the default. And the receiver acknowledges each packet, or every second. Four alternatives are "
        "simulated; Akaike's criterion over how far each misses the document's figures chooses one, in which all "
        "claims are judged, whichever statements it breaks. Misses are parts of the goodput, or of the packets where "
        "a figure is about loss."
    )
    ranked = sorted(found.values(), key=lambda each: each.aic)
    weights = pl.DataFrame({
        "alternative": [each.alternative.title for each in ranked],
        "settings changed": [each.alternative.changed for each in ranked],
        "mean miss %": [100 * each.mean_miss for each in ranked],
        "AIC": [each.aic for each in ranked],
        "behind the best": [each.aic - ranked[0].aic for each in ranked],
        "statements that hold": [held[each.alternative.name] for each in ranked],
    })  # fmt: skip
    misses = pl.DataFrame({"figure": [*chosen.misses]} | {
        each.alternative.title: [100 * miss for miss in each.misses.values()] for each in found.values()
    })  # fmt: skip
    statements = pl.DataFrame({"statement": [claim.statement for claim in _common(found, CHOSEN.name).values()]} | {
        each.alternative.title: [_shown(claim) for claim in _common(found, name).values()]
        for name, each in found.items()
    })  # fmt: skip
    explained = pl.DataFrame(
        [
            {"alternative": each.alternative.title, "observed": words}
            | {place.site: values[f"alternatives.{name}.{kind}.{place.name}.r2"] for place in SITES}
            for kind, words in _STANDS.items()
            for name, each in found.items()
        ]
        + [{"alternative": "the document's ns-2", "observed": "iperf, 2000"}
           | {place.site: DOCUMENT_R2[place.name] for place in SITES}]
    )  # fmt: skip
    against = (
        "What the document says of its measurements is not weighed, as these were never published. Its R² on the two "
        "long paths speak for a slow start that goes on: real hosts and ns-2's defaults have one, a threshold of 20 "
        "packets ends it. No alternative has both."
    )
    thousandths = dict.fromkeys((place.site for place in SITES), ".3f")
    tenths = {each.alternative.title: ".1f" for each in found.values()}
    return Section(
        "What the document leaves to ns-2",
        finding,
        [
            Text(text),
            Table(weights, "The alternatives, the best first.", dict.fromkeys(weights.columns[2:5], ".1f")),
            Table(misses, "How far each figure is missed, in %; 0 where it is met.", tenths),
            Table(statements, "The document's statements under each alternative.", {}),
            Text(against),
            Table(explained, "R² of the line through the origin, of observed and simulated goodput.", thousandths),
        ],
    )  # fmt: skip


def _common(found: Mapping[str, Weighed], name: str) -> Mapping[str, Claim]:
    """The statements that are decided for all of them, as one decides them."""
    return {
        key: claim
        for key, claim in found[name].verdicts.items()
        if all(key in each.verdicts for each in found.values())
    }


def _shown(claim: Claim) -> str:
    return f"{_VERDICTS[claim.holds]}: {claim.observed_text}"
