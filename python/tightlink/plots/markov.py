"""Figures of Markov chains: their evolution beside what was seen, and which transitions the goal needs.

They take what `tightlink.analysis.markov` gives, draw into ``ax`` and return it.
"""

from __future__ import annotations

from typing import Final

from tightlink.analysis.markov import PiecewiseChain
from tightlink.lazy import Axes, pl
from tightlink.plots import palette
from tightlink.plots.style import LEGEND, axes, legend

#: Curves in one figure, the steepest: more have no colours of their own.
_MOST_CURVES: Final = 6
#: A figure has fewer dots across.
_MOST_TIMES: Final = 2000
#: States of which less than this share is seen lie on the axis.
_SEEN: Final = 0.002
_BAND: Final = 0.2
#: For names behind bars, in the longest.
_ROOM: Final = 1.7
_LINES: Final = ("-", "--", "-.", ":")


def chain_evolution(chains: PiecewiseChain, *, ax: Axes | None = None) -> Axes:
    """Shares of the states over time: of the chain, with the band of independent entities, and as they were seen.

    Args:
        chains: What `tightlink.analyze.markov_from_log` or ``markov_from_users`` returns.
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> log = pl.DataFrame({"entity": [1, 1, 2], "time_s": [0.0, 1.5, 1.0], "state": ["busy", "done", "busy"]})
        >>> chains = tl.analyze.markov_from_log(log, step_s=1.0)
        >>> ax = tl.plots.chain_evolution(chains)
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('time (s)', 'share of all (%); thin: seen')
    """
    ax = axes(ax)
    table = chains.evolution()
    shown = [state for state in chains.states if (table.filter(table["state"] == state)["observed"] > _SEEN).any()]
    for place, state in enumerate(shown):
        part = table.filter(table["state"] == state).gather_every(_every(chains))
        times, color = part["time_s"], palette.SERIES[place % len(palette.SERIES)]
        ax.plot(times, 100 * part["observed"], color=color, linewidth=0.6, alpha=0.5)
        ax.plot(times, 100 * part["share"], color=color, label=state)
        ax.fill_between(times, 100 * part["low"], 100 * part["high"], color=color, alpha=_BAND, linewidth=0)
    return _over_time(ax, chains, "share of all (%); thin: seen")


def chain_arrivals(chains: PiecewiseChain, goal: str, *, ax: Axes | None = None) -> Axes:
    """How often a state, the goal, is reached, per second: by the chain, with its band, and as it was seen.

    Args:
        chains: What `tightlink.analyze.markov_from_log` or ``markov_from_users`` returns.
        goal: Name of the state that is to be reached.
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> log = pl.DataFrame({"entity": [1, 1, 2], "time_s": [0.0, 1.5, 1.0], "state": ["busy", "done", "busy"]})
        >>> chains = tl.analyze.markov_from_log(log, step_s=1.0)
        >>> ax = tl.plots.chain_arrivals(chains, "done")
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('time (s)', 'done per second')
    """
    ax = axes(ax)
    table = chains.arrivals_over_time(goal).gather_every(_every(chains))
    interval = chains.observed["time_s"][1] - chains.observed["time_s"][0]
    seen, rate, low, high = (table[name] / interval for name in ("observed", "arrivals", "low", "high"))
    ax.plot(table["time_s"], seen, color=palette.PALE, linewidth=0.8, label="seen")
    ax.plot(table["time_s"], rate, color=palette.SERIES[1], label="chain")
    ax.fill_between(table["time_s"], low, high, color=palette.SERIES[1], alpha=_BAND, linewidth=0)
    return _over_time(ax, chains, f"{goal} per second")


def chain_perturbation(curves: pl.DataFrame, *, ax: Axes | None = None) -> Axes:
    """What is left of the arrivals over what is taken from transitions: the curves that fall most.

    Args:
        curves: What `tightlink.analysis.markov.perturbed` returns.
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> from tightlink.analysis.markov import perturbed
        >>> log = pl.DataFrame({"entity": [1, 1, 2], "time_s": [0.0, 1.5, 1.0], "state": ["busy", "done", "busy"]})
        >>> chains = tl.analyze.markov_from_log(log, step_s=1.0)
        >>> ax = tl.plots.chain_perturbation(perturbed(chains, "done"))
        >>> ax.get_xlabel(), ax.get_ylabel()
        ("taken from the transition's probability (%)", 'arrivals left (%)')
    """
    ax = axes(ax)
    parts = curves.partition_by("transition", maintain_order=True)
    steepest = sorted(parts, key=lambda part: float(part["remaining"].sum()))[:_MOST_CURVES]
    for place, part in enumerate(steepest):
        color, dash = palette.SERIES[place], _LINES[place % len(_LINES)]
        ax.plot(100 * part["share"], 100 * part["remaining"], dash, color=color, label=part["transition"][0])
    ax.set(xlabel="taken from the transition's probability (%)", ylabel="arrivals left (%)", xlim=(0, 100))
    ax.set_ylim(bottom=0)
    return legend(ax)


def chain_sensitivity(table: pl.DataFrame, *, ax: Axes | None = None) -> Axes:
    """By how much arrivals fall for a small degradation of each transition, largest first.

    Args:
        table: Of `tightlink.analysis.markov.ranked`.
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> from tightlink.analysis.markov import ranked
        >>> log = pl.DataFrame({"entity": [1, 1, 2], "time_s": [0.0, 1.5, 1.0], "state": ["busy", "done", "busy"]})
        >>> chains = tl.analyze.markov_from_log(log, step_s=1.0)
        >>> ax = tl.plots.chain_sensitivity(ranked(chains, "busy", "done"))
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('arrivals fall by (%) for 1 % less; [size of cut set]', '')
    """
    ax = axes(ax)
    table = table.filter(table["elasticity"].is_finite())[:12]
    places = list(range(table.height))
    colors = [palette.NEUTRAL if cut is None else palette.SERIES[0] for cut in table["cut"]]
    values = table["elasticity"].to_list()
    ax.barh(places, values, color=colors)
    for place, value, name, cut in zip(places, values, table["transition"], table["cut"], strict=True):
        ax.annotate(f"{name} [{cut}]" if cut else name, (max(value, 0.0), place), xytext=(4, 0), va="center",
                    textcoords="offset points", fontsize=LEGEND["fontsize"])  # fmt: skip
    ax.set_yticks([])
    ax.invert_yaxis()
    ax.grid(visible=False, axis="y")
    ax.grid(visible=True, axis="x")
    ax.axvline(0, color=palette.NEUTRAL, linewidth=0.8)
    ax.set(xlabel="arrivals fall by (%) for 1 % less; [size of cut set]")
    ax.set_xlim(right=_ROOM * max([*values, 0.01]))
    return ax


def _every(chains: PiecewiseChain) -> int:
    """One time in so many is drawn."""
    return max(chains.observed.height // _MOST_TIMES, 1)


def _over_time(ax: Axes, chains: PiecewiseChain, ylabel: str) -> Axes:
    """With a line where each piece begins."""
    for piece in chains.pieces[1:]:
        ax.axvline(piece.begin_s, color=palette.NEUTRAL, linestyle=":", linewidth=1)
    ax.set(xlabel="time (s)", ylabel=ylabel)
    ax.set_ylim(bottom=0)
    ax.margins(x=0)
    return legend(ax)
