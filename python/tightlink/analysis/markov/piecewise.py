"""A chain for each period, the evolution of all from the beginning on, and how often a goal is reached.

The chain of a period is homogeneous, that of the whole only piece by piece. Shares of many independent entities
scatter around the chain's as binomial ones do, arrivals as those of a Poisson process: these are the bands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from tightlink.analysis.markov.chain import Chain, Transition
from tightlink.errors import TightlinkError
from tightlink.lazy import Array, np, pl, stats

#: Of a normal distribution: the middle 95 %.
_WIDTH: Final = 1.959964
_ROUNDING: Final = 1e-12


@dataclass(frozen=True, eq=False)
class Piece:
    """A period, and the chain of it."""

    name: str
    begin_s: float
    end_s: float
    chain: Chain
    counts: Array
    """Transitions that were seen, by from and to; on the diagonal, steps in which an entity stayed."""

    def table(self) -> pl.DataFrame:
        """A row for each transition: period, from, to, probability with its 95 % interval, how many were seen."""
        rows = []
        for start, end in self.chain.transitions:
            row, column = self.chain.index(start), self.chain.index(end)
            seen, steps = float(self.counts[row, column]), float(self.counts[row].sum())
            # Wilson's interval, which holds for small probabilities too.
            interval = stats.binomtest(round(seen), max(round(steps), 1)).proportion_ci(method="wilson")
            rows.append(
                (self.name, start, end, self.chain.probability((start, end)), interval.low, interval.high, seen)
            )
        return pl.DataFrame(rows, ["period", "from", "to", "probability", "low", "high", "seen"], orient="row")


@dataclass(frozen=True, eq=False)
class PiecewiseChain:
    """Chains of the same states, one after the other."""

    step_s: float
    entities: int
    """How many sequences of states the chains were estimated from."""
    initial: Array
    """Shares of the states at the beginning of the first piece."""
    pieces: tuple[Piece, ...]
    observed: pl.DataFrame = field(repr=False)
    """time_s, at equal intervals of whole steps, in which pieces begin and end; then a column for each state: the
    shares that were seen."""
    arrivals_observed: Mapping[str, Array] = field(repr=False)
    """By state: how often it was reached between two rows of ``observed``."""
    skipped: int = 0
    """States that were entered and left again within one step, and so not seen."""

    @property
    def states(self) -> tuple[str, ...]:
        """The states, in the order of all matrices."""
        return self.pieces[0].chain.states

    def index(self, state: str) -> int:
        """The place of a state."""
        return self.pieces[0].chain.index(state)

    @property
    def transitions(self) -> list[Transition]:
        """All that happen in any piece."""
        found = dict.fromkeys(transition for piece in self.pieces for transition in piece.chain.transitions)
        return sorted(found, key=lambda pair: (self.index(pair[0]), self.index(pair[1])))

    def steps(self, piece: Piece) -> int:
        """How many a piece has."""
        return round((piece.end_s - piece.begin_s) / self.step_s)

    def changed(self, change: Callable[[Chain], Chain]) -> PiecewiseChain:
        """The same with each chain changed."""
        return replace(self, pieces=tuple(replace(piece, chain=change(piece.chain)) for piece in self.pieces))

    def arrivals(self, goal: str) -> float:
        """How often an entity comes to a state from beginning to end, on average; to an absorbing one once at most."""
        state = np.append(self.initial, 0.0)
        for piece in self.pieces:
            state = state @ np.linalg.matrix_power(counting(piece.chain, goal), self.steps(piece))
        return float(state[-1])

    def evolution(self) -> pl.DataFrame:
        """Shares of the states at the times of ``observed``: time_s, state, share, low, high, observed.

        Low and high hold 95 % of what as many independent entities would show.
        """
        shares = np.clip(self._until_observed(self.states[0])[:, :-1], 0, 1)
        width = _WIDTH * np.sqrt(shares * (1 - shares) / self.entities)
        return pl.concat(
            pl.DataFrame(
                {
                    "time_s": self.observed["time_s"],
                    "state": [state] * len(shares),
                    "share": shares[:, place],
                    "low": np.clip(shares - width, 0, 1)[:, place],
                    "high": np.clip(shares + width, 0, 1)[:, place],
                    "observed": self.observed[state],
                }
            )
            for place, state in enumerate(self.states)
        )

    def arrivals_over_time(self, goal: str) -> pl.DataFrame:
        """Arrivals of all entities between the times of ``observed``: time_s, arrivals, low, high, observed."""
        arrivals = np.diff(self._until_observed(goal)[:, -1]) * self.entities
        width = _WIDTH * np.sqrt(arrivals)
        return pl.DataFrame(
            {
                "time_s": self.observed["time_s"][1:],
                "arrivals": arrivals,
                "low": np.clip(arrivals - width, 0, None),
                "high": arrivals + width,
                "observed": self.arrivals_observed[goal],
            }
        )

    def agreement(self) -> pl.DataFrame:
        """A row for each state: state, share (mean over time), observed (the same), within (times inside the band)."""
        inside = (pl.col("observed") >= pl.col("low") - _ROUNDING) & (pl.col("observed") <= pl.col("high") + _ROUNDING)
        return (
            self.evolution()
            .group_by("state", maintain_order=True)
            .agg(pl.col("share").mean(), pl.col("observed").mean(), within=inside.mean())
        )

    def _until_observed(self, goal: str) -> Array:
        """Shares of the states at the times that were observed, and in the last column arrivals at the goal so far."""
        times = self.observed["time_s"].to_numpy()
        steps = round((times[1] - times[0]) / self.step_s)
        state = np.append(self.initial, 0.0)
        rows = [state]
        for piece in self.pieces:
            interval = np.linalg.matrix_power(counting(piece.chain, goal), steps)
            for _ in range(self.steps(piece) // steps):
                state = state @ interval
                rows.append(state)
        return np.array(rows)


def counting(chain: Chain, goal: str) -> Array:
    """The matrix of a chain with one column more, which counts arrivals at a goal."""
    size, place = len(chain.states), chain.index(goal)
    matrix = np.eye(size + 1)
    matrix[:-1, :-1] = chain.matrix
    matrix[:-1, -1] = chain.matrix[:, place]
    # Staying there is no arrival.
    matrix[place, -1] = 0.0
    return matrix


def cut(times: Array, periods: Mapping[str, tuple[float, float]]) -> list[tuple[str, int, int]]:
    """Periods, and what lies before, between and behind them, one after the other, by places of their ends in times.

    >>> cut(np.arange(10.0), {"calm": (2.0, 4.0), "storm": (4.0, 6.1)})
    [('until calm', 0, 2), ('calm', 2, 4), ('storm', 4, 6), ('after storm', 6, 9)]
    """
    found: list[tuple[str, int, int]] = []
    at, last = 0, ""
    for name, ends in sorted(periods.items(), key=lambda period: period[1]):
        start, stop = (int(np.abs(times - end).argmin()) for end in ends)
        if start < at:
            raise TightlinkError(f"period {name} begins before {last} ends: expected one after the other")
        if stop <= start:
            continue
        if start > at:
            found.append((f"until {name}", at, start))
        found.append((name, start, stop))
        at, last = stop, name
    if at < len(times) - 1:
        found.append((f"after {last}" if last else "all", at, len(times) - 1))
    return found
