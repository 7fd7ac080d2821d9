"""Chains of sources, from the tables of a run with users: it thinks, connects, transmits, and thinks again.

The tables have how many sources are in each state at the end of an interval, and what was completed, failed and
abandoned in it. The rest follows from conservation: who left thinking is who was there before, less who is there now,
and who came back; who began to transmit is who does now, less who did before, and whose transfer ended. Over the time
that sources spent in a state this is a rate, and over a step that is short enough to leave a state once at most, a
probability.

Completed, failed and abandoned are states of their own that last one step: reaching one is what is counted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from tightlink import units
from tightlink.analysis.markov.chain import Chain, shares
from tightlink.analysis.markov.piecewise import Piece, PiecewiseChain, cut
from tightlink.errors import TightlinkError, one_of
from tightlink.lazy import Array, np, pl
from tightlink.run import Run, check_run

THINKING: Final = "thinking"
COMPLETED: Final = "completed"
_STATES: Final = (THINKING, "connecting", "transmitting")
#: How a transfer ends, the state that it ends, and the column that counts it.
_ENDS: Final = {
    COMPLETED: ("transmitting", "transfers_completed"),
    "failed": ("connecting", "connections_failed"),
    "abandoned": ("transmitting", "transfers_abandoned"),
}
#: The most that may leave a state in one step.
_MOST_LEAVING: Final = 0.5
#: Of an interval: a last one that is shorter than this is left out.
_WHOLE: Final = 0.999


def from_users(
    run: Run, label: str | None = None, periods: Mapping[str, tuple[float, float]] | None = None
) -> PiecewiseChain:
    """Estimate Markov chains of users' states from a run, one for each period and what lies outside of all.

    Transfers that users abandon are taken to have been transmitting: connecting takes at most what `connect_tries`
    allow, and patience is meant for longer.

    Args:
        run: A run with users.
        label: Name of the group of users, where the run has several.
        periods: Begin and end in seconds, by name (default: those of the scenario).

    Returns:
        The chains, one after the other (``pieces``), of the same ``states``, and the shares of the states over time
        (``observed``).

    Raises:
        TightlinkError: The run has no users, or several and no label is given, or fewer than two intervals.

    Example:
        >>> web = tl.Users(
        ...     places={"campus": tl.Place(at="campus", sources=200), "farm": tl.Place(at="farm", receivers=20)},
        ...     interfaces={"ethernet": tl.Interface(rate="100 Mbit/s")},
        ...     think=tl.Think(mean="2 s"),
        ...     files={"page": tl.File(mean="50 packets", shape=1.5)},
        ... )
        >>> wire = tl.Link(ends=("campus", "farm"), rate="50 Mbit/s", delay="10 ms", queue="100 packets")
        >>> run = tl.simulate(tl.Scenario(duration="5 s", link={"wire": wire}, traffic={"web": web}))
        >>> tl.analyze.markov_from_users(run).pieces[0].chain.states
        ('thinking', 'connecting', 'transmitting', 'completed')
    """
    check_run(run)
    labels = run.users["label"].unique(maintain_order=True).to_list()
    if periods is None:
        written = run.manifest["scenario"]["observe"].get("periods", {})
        periods = {name: (units.time(start), units.time(stop)) for name, (start, stop) in written.items()}
    if label is None and len(labels) > 1:
        raise TightlinkError(f"users {', '.join(labels)}: expected a label, {one_of(labels)}")
    if label is not None and label not in labels:
        raise TightlinkError(f'no users "{label}": expected {one_of(labels)}')
    return by_counts(run.users.filter(run.users["label"] == (label or labels[0])), periods)


def by_counts(users: pl.DataFrame, periods: Mapping[str, tuple[float, float]]) -> PiecewiseChain:
    """The same from the rows of the table ``users`` of one label; at time 0 all think."""
    ends = users["time_s"].to_numpy()
    if len(ends) > 1 and ends[-1] - ends[-2] < _WHOLE * ends[0]:
        users, ends = users[:-1], ends[:-1]
    if len(ends) < 2:  # noqa: PLR2004
        raise TightlinkError(f"{len(ends)} intervals: expected at least two; choose a shorter observe.interval")
    times = np.append(0.0, ends)
    there = users.select(f"sources_{state}" for state in _STATES).to_numpy().astype(float)
    entities = round(there[0].sum())
    there = np.vstack([[entities, 0, 0], there])
    counted = {name: users[column].to_numpy().astype(float) for name, (_, column) in _ENDS.items()}
    ended = {name: count for name, count in counted.items() if count.any()}
    flows = _flows(there, ended)
    # Sources and intervals in each state: what a rate is divided by.
    spent = (there[1:] + there[:-1]) / 2
    pieces_at = cut(times, periods)
    rates = [
        {pair: float(flow[start:stop].sum()) / max(float(spent[start:stop, _STATES.index(pair[0])].sum()), 1.0)
         for pair, flow in flows.items()}
        for start, stop in ((start, stop) for _, start, stop in pieces_at)
    ]  # fmt: skip
    fastest = max(sum(rate for pair, rate in piece.items() if pair[0] == state) for piece in rates for state in _STATES)
    steps = max(math.ceil(fastest / _MOST_LEAVING), 1)
    step_s = float(times[1]) / steps
    states = (*_STATES, *ended)
    pieces = tuple(
        Piece(name, float(times[start]), float(times[stop]), *_chain(states, slice(start, stop), steps, spent, flows))
        for name, start, stop in pieces_at
    )
    # A source that has just ended a transfer thinks in the tables, and is in its own state here.
    now = {name: np.append(0.0, count) / steps for name, count in ended.items()}
    seen = dict(zip(_STATES, there.T, strict=True)) | now
    seen[THINKING] = seen[THINKING] - sum(now.values(), np.zeros(len(times)))
    arrived = {pair[1]: flow for pair, flow in flows.items()}
    return PiecewiseChain(
        step_s=step_s,
        entities=entities,
        initial=np.array([1.0, *[0.0] * (len(states) - 1)]),
        pieces=pieces,
        observed=pl.DataFrame({"time_s": times} | {state: seen[state] / entities for state in states}),
        arrivals_observed=arrived | {THINKING: sum(ended.values(), np.zeros(len(ends)))},
    )


def _flows(there: Array, ended: Mapping[str, Array]) -> dict[tuple[str, str], Array]:
    """How many sources went from one state to another in each interval."""
    change = np.diff(there, axis=0)
    none = np.zeros(len(change))
    back = sum(ended.values(), none)
    from_transmitting = sum((count for name, count in ended.items() if _ENDS[name][0] == "transmitting"), none)
    return {
        (THINKING, "connecting"): back - change[:, 0],
        ("connecting", "transmitting"): change[:, 2] + from_transmitting,
        **{(_ENDS[name][0], name): count for name, count in ended.items()},
    }


def _chain(
    states: tuple[str, ...], part: slice, steps: int, spent: Array, flows: Mapping[tuple[str, str], Array]
) -> tuple[Chain, Array]:
    """The chain of a piece, and what was counted for it."""
    counts = np.zeros((len(states), len(states)))
    for (start, end), flow in flows.items():
        counts[states.index(start), states.index(end)] = flow[part].sum()
    for place in range(len(_STATES), len(states)):
        counts[place, 0] = counts[:, place].sum()
    source_steps = spent[part].sum(axis=0) * steps
    # The step after a transfer is no longer thinking.
    source_steps[0] -= counts[len(_STATES) :, 0].sum()
    for place in range(len(_STATES)):
        counts[place, place] = max(source_steps[place] - counts[place].sum(), 0.0)
    matrix = shares(counts)
    matrix[len(_STATES) :] = np.eye(len(states))[0]
    return Chain(states, matrix), counts
