"""The command ``tightlink analyze markov``: states as a Markov chain, and which transitions its target depends on."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Final

from tightlink import plots
from tightlink.analysis.markov import PiecewiseChain, from_log, from_users, minimal_cut_sets, perturbed, ranked
from tightlink.analysis.markov.logs import NOT_BEGUN
from tightlink.analysis.markov.perturbation import named
from tightlink.analysis.markov.users import COMPLETED
from tightlink.analysis.measurements import read_plain
from tightlink.commands.analyze_output import Finding, Table, finds, panels
from tightlink.commands.analyze_output import named as of_names
from tightlink.commands.options import Names, seconds
from tightlink.console import print_table, print_text, say
from tightlink.errors import TightlinkError, one_of
from tightlink.lazy import pl
from tightlink.numbers import NONE, grouped
from tightlink.run import Run, holds_run, open_run

_DIGITS: Final = 4
#: Cut sets that are printed.
_MOST: Final = 8
#: Of a panel, in inches: names of transitions are long.
_SIZE: Final = (5.6, 3.6)


@finds("a figure, evolution, arrivals, perturbation and sensitivity")
def markov(
    source: Table,
    *,
    step: str | None = None,
    cut: Names = None,
    label: str | None = None,
    start: str | None = None,
    target: str | None = None,
) -> Finding:
    """Find which transitions between states, made less likely, keep most from the target: by a Markov chain a period.

    Args:
        source: Folder of a run with users; or a log of states: entity, time_s, state, a row for each state entered.
        step: Step of the chain of a log, such as "1 s".
        cut: Times at which new chains begin (default: the periods of a run; none in a log).
        label: Which users, where a run has several.
        start: State in which each begins (default: thinking; in a log the first).
        target: State that is to be reached (default: completed).
    """
    cuts = sorted(seconds("--cut", time) for time in cut or ())
    found = _read(source)
    with of_names(source):
        chains = (
            _of_log(found, step, cuts, label) if isinstance(found, pl.DataFrame) else _of_run(found, step, cuts, label)
        )
        begin, end = _ends(chains, start, target)
        table = ranked(chains, begin, end)
    sets = list(dict.fromkeys(one for piece in chains.pieces for one in minimal_cut_sets(piece.chain, begin, end)))
    words = [", ".join(map(named, one)) for one in sorted(sets, key=len)]
    return Finding(
        lambda: {
            "step_s": chains.step_s,
            "entities": chains.entities,
            "skipped": chains.skipped,
            "start": begin,
            "target": end,
            "arrivals": chains.arrivals(end),
            "pieces": [{"period": piece.name, "begin_s": piece.begin_s, "end_s": piece.end_s,
                        "transitions": piece.table().drop("period")} for piece in chains.pieces],
            "ranked": table,
            "agreement": chains.agreement(),
            "cut_sets": words,
        },
        lambda: _print(chains, table, end, words),
        lambda: panels({
            "evolution": [partial(plots.chain_evolution, chains), partial(plots.chain_arrivals, chains, end)],
            f"transitions and {end}": [
                partial(plots.chain_perturbation, perturbed(chains, end)),
                partial(plots.chain_sensitivity, table),
            ],
        }, _SIZE),
        named=True,
    )  # fmt: skip


def _read(source: Path) -> Run | pl.DataFrame:
    """A run, or a log."""
    if holds_run(source):
        return open_run(source)
    if source.is_dir():
        raise TightlinkError(f"{source}: expected the folder of a run with users (manifest.json), or the file of a log")
    return read_plain(source)


def _of_run(run: Run, step: str | None, cuts: list[float], label: str | None) -> PiecewiseChain:
    if step is not None:
        raise TightlinkError("--step is for logs: expected none, as the step of a run follows from its tables")
    return from_users(run, label, _periods(0.0, cuts, float(run.users["time_s"][-1])) if cuts else None)


def _of_log(log: pl.DataFrame, step: str | None, cuts: list[float], label: str | None) -> PiecewiseChain:
    if label is not None:
        raise TightlinkError("--label is for runs with users: expected none")
    if step is None:
        raise TightlinkError('expected --step with the step of the chain, such as --step "1 s"')
    times = log["time_s"].drop_nulls().to_list() if cuts and "time_s" in log.columns else []
    return from_log(log, seconds("--step", step), _periods(min(times), cuts, max(times)) if times else None)


def _periods(begin_s: float, cuts: list[float], end_s: float) -> dict[str, tuple[float, float]]:
    """Those between the times, called by these.

    Raises:
        TightlinkError: Something is cut before it begins or after it ends.

    >>> _periods(0.0, [2.5], 10.0)
    {'0 to 2.5 s': (0.0, 2.5), '2.5 to 10 s': (2.5, 10.0)}
    """
    for cut in cuts:
        if not begin_s < cut < end_s:
            raise TightlinkError(f"--cut {cut:g} s: expected a time between {begin_s:g} s and {end_s:g} s")
    return {f"{start:g} to {end:g} s": (start, end) for start, end in pairwise([begin_s, *cuts, end_s])}


def _ends(chains: PiecewiseChain, start: str | None, target: str | None) -> tuple[str, str]:
    begin = start or next(state for state in chains.states if state != NOT_BEGUN)
    chains.index(begin)
    if target is None and COMPLETED not in chains.states:
        raise TightlinkError(f"no state completed: expected --target with {one_of(chains.states)}")
    end = target or COMPLETED
    chains.index(end)
    return begin, end


def _print(chains: PiecewiseChain, table: pl.DataFrame, target: str, sets: list[str]) -> None:
    if chains.skipped:
        say(f"{chains.skipped} states were entered and left within one step, and not seen: a shorter --step sees more")
    within: list[float] = chains.agreement()["within"].to_list()
    reached, band = chains.arrivals(target), 100 * sum(within) / len(within)
    print_text(
        f"{grouped(chains.entities)} state sequences in steps of {_number(chains.step_s)} s; "
        f"{target} {reached:.{_DIGITS}g} times each; seen within the band at {band:.0f} % of the times\n"
    )
    header = ["transition", *(piece.name for piece in chains.pieces)]
    print_table(header, [
        [named(transition), *(_number(piece.chain.probability(transition)) for piece in chains.pieces)]
        for transition in chains.transitions
    ])  # fmt: skip
    print_text()
    header = ["degraded", f"{target}: % less for 1 %", "left without (%)", "long run", "slowest mode", "cut set of"]
    print_table(header, [
        [row["transition"], _number(row["elasticity"]), _number(100 * row["remaining"]), _number(row["long_run"]),
         _number(row["slowest"]), NONE if row["cut"] is None else str(row["cut"])]
        for row in table.iter_rows(named=True)
    ], drop=["slowest mode", "left without (%)"])  # fmt: skip
    more = f"; and {len(sets) - _MOST} more" if len(sets) > _MOST else ""
    print_text(f"\nminimal cut sets: {'; '.join(sets[:_MOST]) or 'none'}{more}")


def _number(value: float) -> str:
    return f"{value:.{_DIGITS}g}" if math.isfinite(value) else NONE
