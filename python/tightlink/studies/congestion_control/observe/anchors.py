"""Whether a network of fewer access routers behaves as the whole one: responses of experiment 1b over those of it.

The table of the package has what `benchmarks/thinned.py anchors` found: some conditions at the document's size and with
parts of the routers, each response in fifths of a period.
"""

import inspect
import math
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Final

import polars as pl

from tightlink.lazy import stats
from tightlink.studies.congestion_control.observe.evidence import CONGESTION
from tightlink.studies.congestion_control.setup.experiment import Size, experiment

#: A response agrees where the ratio is within a tenth: the relative effect below which the study's summary of
#: conditions and responses is empty, and what its claims call little change.
MARGIN: Final = 0.1
#: Loss, and whatever else happens to this share of packets or transfers only: RFC 3649 §5 has a rate of 10⁻³ as the one
#: below which controls other than standard TCP begin to matter (Low_P), so that windows are not limited by less.
NEGLIGIBLE: Final = 1e-3
AGREES, UNDECIDED, DIFFERS, NOTHING = "agrees", "undecided", "differs", "negligible in both"
KEYS: Final = ("condition", "congestion", "routers", "duration")
#: Beside the experiments.
FILE: Final = Path(inspect.getfile(experiment)).parent / "data" / "anchors.csv"
_CONFIDENCE: Final = 0.95
#: What is negligible where it happens to few packets, and to few transfers.
_SHARES: Final = ("loss", "retransmission_rate")
_EVENTS: Final = {
    "timeouts": "timeouts",
    "connections_failed": "connections_failed",
    "failure_rate": "connections_failed",
}


def read(file: Path = FILE) -> pl.DataFrame:
    """The table: a row for each condition, control, part of the routers, and fifth of a period."""
    return pl.read_csv(
        file, glob=False, comment_prefix="#", infer_schema_length=None, schema_overrides={"routers": pl.String}
    )


@dataclass(frozen=True)
class Ratio:
    """A response of a part of the network over that of the whole."""

    value: float
    low: float
    high: float
    negligible: bool

    @property
    def verdict(self) -> str:
        """What the interval says of the margin."""
        if self.negligible:
            return NOTHING
        if self.low >= 1 - MARGIN and self.high <= 1 + MARGIN:
            return AGREES
        return DIFFERS if self.low > 1 + MARGIN or self.high < 1 - MARGIN else UNDECIDED

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


def ratio(part: pl.Series, whole: pl.Series, *, negligible: bool) -> Ratio:
    """The ratio of the means of batches that are at the same time, with the interval of a ratio estimate."""
    pairs = pl.DataFrame({"part": part, "whole": whole}, schema_overrides=dict.fromkeys(("part", "whole"), pl.Float64))
    own, others = (pairs.drop_nulls()[name].to_numpy() for name in pairs.columns)
    if own.size <= 1 or not others.mean():
        return Ratio(math.nan, -math.inf, math.inf, negligible)
    value = float(own.mean() / others.mean())
    error = float((own - value * others).std(ddof=1) / math.sqrt(own.size) / others.mean())
    half = float(stats.t.ppf((1 + _CONFIDENCE) / 2, own.size - 1)) * error
    return Ratio(value, value - half, value + half, negligible)


def compared(found: pl.DataFrame) -> list[tuple[dict[str, str | int], Ratio]]:
    """Each response of each part over the whole, with what it is of: keys of the table, period and response."""
    rows = []
    found = found.with_columns(
        pl.col("period").str.split(".").list.first(), batch=pl.col("period").str.split(".").list.last()
    )
    responses = [name for name in found.columns if name not in {*KEYS, "period", "batch"}]
    for key, group in found.group_by("condition", "congestion", "duration", "period", maintain_order=True):
        labels = dict(zip(("condition", "congestion", "duration", "period"), key, strict=True))
        by_part = {part: own.sort("batch") for (part,), own in group.group_by("routers", maintain_order=True)}
        whole = by_part.pop("1", None)
        if whole is None:
            continue
        for part, own in by_part.items():
            for name in responses:
                small = max(_rare(name, own), _rare(name, whole)) < NEGLIGIBLE
                rows.append(
                    (labels | {"routers": part, "response": name}, ratio(own[name], whole[name], negligible=small))
                )
    return rows


def _rare(name: str, batch: pl.DataFrame) -> float:
    """To which share of packets or transfers it happens; 1 of what is no such share."""
    if name in _SHARES:
        return float(batch[name].fill_null(0.0).to_numpy().mean())
    if name in _EVENTS:
        return float(batch[_EVENTS[name]].to_numpy().sum() / batch["transfers_completed"].to_numpy().sum())
    return 1.0


def unlike(size: Size, response: str, controls: Collection[str]) -> str:
    """Why nothing is said of a response at a size: with one of the controls it is not that of the whole network.

    Empty where all access routers have users, and where no anchor differs. A part that has no anchors is taken for the
    next smaller one that has.
    """
    if size.routers == 1:
        return ""
    known = _known()
    part = max((each for each in known if each <= size.routers), default=min(known, default=Fraction(1)))
    for label, found in known.get(part, ()):
        if label["response"] == response and label["congestion"] in controls:
            return (
                f"At {part} of the access routers {response} is not that of the whole network:"
                f" {found} times it in condition {label['condition']} of experiment 1b with {label['congestion']}."
            )
    return ""


@cache
def _known() -> dict[Fraction, list[tuple[dict[str, str | int], Ratio]]]:
    """By part of the routers, what differs in the second period."""
    known: dict[Fraction, list[tuple[dict[str, str | int], Ratio]]] = {}
    for label, found in compared(read().filter(pl.col("period").str.starts_with(f"{CONGESTION}."))):
        of_part = known.setdefault(Fraction(str(label["routers"])), [])
        if found.verdict == DIFFERS:
            of_part.append((label, found))
    return known
