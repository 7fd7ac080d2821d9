"""Chains from a log of states: who entered which state when, looked at once in each step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from tightlink.analysis.markov.chain import Chain, shares
from tightlink.analysis.markov.piecewise import Piece, PiecewiseChain, cut
from tightlink.errors import TightlinkError, one_of
from tightlink.lazy import Array, np, pl

COLUMNS: Final = ("entity", "time_s", "state")
#: What an entity is before its first entry, where others have begun.
NOT_BEGUN: Final = "not begun"
#: Steps, and states: with more, the step or the log is not what was meant.
_MOST_STEPS: Final = 200_000
_MOST_STATES: Final = 50
#: Of a step: times that are this near to one are at it.
_NEAR: Final = 1e-9


def from_log(
    log: pl.DataFrame, step_s: float, periods: Mapping[str, tuple[float, float]] | None = None
) -> PiecewiseChain:
    """Estimate Markov chains from a log of states, one for each period.

    A state lasts until the entity's next one, the last until the end of the log. Of several within one step only the
    last is seen.

    Args:
        log: Columns entity, time_s and state: a row for each state that an entity enters.
        step_s: Step of the chains in seconds, from the first time on.
        periods: Begin and end in seconds, by name; what lies outside of all is a piece as well (default: one piece).

    Returns:
        The chains, one after the other (``pieces``), of the same ``states``, and the shares of the states over time
        (``observed``).

    Raises:
        TightlinkError: A column is missing, a value is empty, or the log has too many steps or states, or only one
            step.

    Example:
        >>> log = pl.DataFrame({"entity": [1, 1, 2], "time_s": [0.0, 1.5, 1.0], "state": ["busy", "done", "busy"]})
        >>> chains = tl.analyze.markov_from_log(log, step_s=1.0)
        >>> chains.states, chains.observed["busy"].to_list()
        (('not begun', 'busy', 'done'), [0.5, 1.0, 0.5])
    """
    for column in COLUMNS:
        if column not in log.columns:
            raise TightlinkError(f"no column {column} among {one_of(log.columns).removeprefix('one of ')}")
        empty = log[column].is_null()
        if column == "time_s":
            empty = ~log[column].cast(pl.Float64, strict=False).is_finite().fill_null(value=False)
        if empty.any():
            what = "a number" if column == "time_s" else "a value"
            raise TightlinkError(f"row {int(empty.arg_true()[0]) + 1}: {column}: expected {what} in each row")
    if log.is_empty():
        raise TightlinkError("no rows: expected one for each state that is entered")
    if not step_s > 0:
        raise TightlinkError(f"a step of {step_s:g} s: expected one above zero")
    log = log.select("entity", pl.col("time_s").cast(pl.Float64), pl.col("state").cast(pl.String))
    log = log.sort("time_s", maintain_order=True)
    begin, end = log["time_s"][0], log["time_s"][-1]
    count = math.ceil((end - begin) / step_s - _NEAR) + 1
    if not 1 < count <= _MOST_STEPS:
        raise TightlinkError(f"{count - 1:,} steps of {step_s:g} s in the log: expected 1 to {_MOST_STEPS:,}")
    seen = np.ceil((log["time_s"].to_numpy() - begin) / step_s - _NEAR).astype(np.int64)
    entries = log.height
    log = log.with_columns(step=pl.Series(seen)).unique(["entity", "step"], keep="last", maintain_order=True)
    skipped = entries - log.height
    states = log["state"].unique(maintain_order=True).to_list()
    first = log.group_by("entity", maintain_order=True).agg(pl.col("step").min())
    late = first.filter(pl.col("step") > 0)
    if late.height:
        states = [NOT_BEGUN, *(state for state in states if state != NOT_BEGUN)]
        births = late.select("entity", step=pl.lit(0, pl.Int64), state=pl.lit(NOT_BEGUN))
        log = pl.concat([births, log.select("entity", "step", "state")])
    if len(states) > _MOST_STATES:
        raise TightlinkError(f"{len(states)} states: expected at most {_MOST_STATES}")
    stays = (
        log.sort("entity", "step", maintain_order=True)
        .with_columns(state=pl.col("state").replace_strict(states, list(range(len(states))), return_dtype=pl.Int64))
        .with_columns(
            until=pl.col("step").shift(-1).over("entity").fill_null(count),
            then=pl.col("state").shift(-1).over("entity").fill_null(-1),
        )
    )
    return _life(stays, states, begin + step_s * np.arange(count, dtype=float), periods or {}, skipped)


def _life(
    stays: pl.DataFrame, states: list[str], times: Array, periods: Mapping[str, tuple[float, float]], skipped: int
) -> PiecewiseChain:
    """From stays: in ``state`` from ``step`` to before ``until``, and ``then`` in another one; −1 at the end."""
    size, count = len(states), len(times)
    state, since, until, then = (stays[name].to_numpy() for name in ("state", "step", "until", "then"))
    changes = then >= 0
    present = np.zeros((count + 1, size))
    np.add.at(present, (since, state), 1)
    np.add.at(present, (until, state), -1)
    present = present.cumsum(axis=0)[:-1]
    entities = round(present[0].sum())
    reached = np.zeros((count - 1, size))
    arrivals = changes & (then != state)
    np.add.at(reached, (until[arrivals] - 1, then[arrivals]), 1)
    pieces = []
    for name, start, stop in cut(times, periods):
        counts = np.zeros((size, size))
        # The last step of a stay is the transition; at the end of the log nothing follows.
        stayed = np.clip(np.minimum(until - 1, stop) - np.maximum(since, start), 0, None)
        np.add.at(counts, (state, state), stayed)
        inside = changes & (until - 1 >= start) & (until - 1 < stop)
        np.add.at(counts, (state[inside], then[inside]), 1)
        pieces.append(
            Piece(name, float(times[start]), float(times[stop]), Chain(tuple(states), shares(counts)), counts)
        )
    return PiecewiseChain(
        step_s=float(times[1] - times[0]),
        entities=entities,
        initial=present[0] / entities,
        pieces=tuple(pieces),
        observed=pl.DataFrame(
            {"time_s": times} | {name: present[:, place] / entities for place, name in enumerate(states)}
        ),
        arrivals_observed={name: reached[:, place] for place, name in enumerate(states)},
        skipped=skipped,
    )
