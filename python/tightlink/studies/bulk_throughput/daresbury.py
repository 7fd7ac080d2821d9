"""The document's statements on Daresbury: utilization and loss per number of flows, best windows, run time.

The document calls goodput / bandwidth the utilization; of full packets' bytes, 97.3 % are payload.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.experiment.claims import exact, holds_if
from tightlink.experiment.execute import Task
from tightlink.reduce import largest, median_of, smallest
from tightlink.studies.bulk_throughput.cells import cells
from tightlink.studies.bulk_throughput.lines import (
    best,
    best_windows,
    beyond_best,
    lines,
    nearest_window,
    without_loss,
)
from tightlink.studies.bulk_throughput.paths import DARESBURY, DOCUMENT, KILOBYTES
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.experiment.claims import Claim
    from tightlink.run import Run

_PLACE: Final = f"{DOCUMENT}, Daresbury"
_FEW: Final = 4
_LONG_S: Final = 50.0
_LONG: Final = "daresbury-50s"
#: "Markedly": a tenth.
_MARKED: Final = 0.1
_WITHIN: Final = 0.01
#: The flows of the document's plot of utilization over loss.
_PLOTTED: Final = (1, 2, 4, 7, 10, 15, 20, 25, 30, 40)


def tasks() -> list[Task]:
    """The grid of Daresbury, five times as long."""
    path = DARESBURY.path.changed(duration_s=_LONG_S)
    return [Task(f"{_LONG}/{window}/{flows}", path.scenario(window, flows)) for window, flows in DARESBURY.cells]


def claims(grid: pl.DataFrame, runs: Mapping[str, Run]) -> Iterator[Claim]:
    """In the order of the document."""
    plotted = grid.filter(pl.col("flows").is_in(_PLOTTED))
    yield from _seventy(plotted)
    yield from _ninety(plotted)
    yield from _maxima(plotted)
    yield from _windows(grid)
    yield from _run_time(grid, runs)


def _seventy(grid: pl.DataFrame) -> Iterator[Claim]:
    clean = {flows: _most(without_loss(part)) for flows, part in lines(grid)}
    enough = {flows: share for flows, share in clean.items() if flows >= _FEW}
    lossy = [flows for flows, share in enough.items() if share == 0]
    smallest = grid.filter((pl.col("flows") == max(enough)) & (pl.col("window_packets") == 6)).row(0, named=True)
    yield holds_if(
        "daresbury.seventy-without-loss", "Over 70 % utilization with no loss, for every number of flows from 4 on",
        _PLACE, _percent(min(enough.values())), min(enough.values()) > 0.7,
        f"Holds for {_FEW} to {max(flows for flows in enough if flows not in lossy)} flows, where the least is "
        f"{percent(min(share for share in enough.values() if share))}. {_and(lossy)} flows lose "
        f"{percent(smallest['loss'], 2)} even with the smallest window, at {percent(smallest['goodput_share'])}.",
        unit="%",
    )  # fmt: skip
    below = max(share for flows, share in clean.items() if flows < _FEW)
    yield holds_if(
        "daresbury.four-needed", "Over 70 % with no loss needs 4 flows", _PLACE, _percent(below), below <= 0.7,
        f"One flow with the window nearest to the bandwidth-delay product reaches {percent(clean[1])} without loss, "
        f"two {percent(clean[2])}; so does ns-2.35.", unit="%",
    )  # fmt: skip
    most = largest(grid.filter(pl.col("flows") <= _FEW)["goodput_share"])
    yield holds_if(
        "daresbury.seventy-at-most", "With 4 flows or fewer utilization never exceeds 70 %, whatever the window",
        _PLACE, _percent(most), most <= 0.7,
        "Contradicts the statement that 4 flows reach over 70 % without loss. ns-2.35's NewReno does as here. The "
        "document's ns-2 perhaps had another slow-start threshold: one flow whose slow start overshoots loses "
        f"{percent(_worst(grid, 1)[1], 1)} and stays at {percent(_worst(grid, 1)[0])}.", unit="%",
    )  # fmt: skip


def _ninety(grid: pl.DataFrame) -> Iterator[Claim]:
    clean = without_loss(grid)
    top = best(clean)
    yield holds_if(
        "daresbury.ninety-without-loss", "The optimum is over 90 % utilization with no loss", _PLACE,
        _percent(top["goodput_share"]), top["goodput_share"] > 0.9, unit="%",
    )  # fmt: skip
    yield holds_if(
        "daresbury.optimum", "It is reached with windows of 64 kB or less and 25 flows or more", _PLACE,
        f"{top['flows']} flows, {KILOBYTES[top['window_packets']]} kB",
        top["flows"] >= 25 and KILOBYTES[top["window_packets"]] <= 64,
        f"The highest goodput without loss; over 90 % are reached from "
        f"{min(clean.filter(pl.col('goodput_share') > 0.9)['flows'].to_list())} flows on.",
    )  # fmt: skip


def _maxima(grid: pl.DataFrame) -> Iterator[Claim]:
    after = {flows: (best(part), beyond_best(part)) for flows, part in lines(grid)}
    more = {flows: top["loss"] < rest["loss"].min() for flows, (top, rest) in after.items() if rest.height}
    yield holds_if(
        "daresbury.maxima", "Beyond a maximum, larger windows only lose more", _PLACE,
        f"{sum(more.values())} of {len(more)} numbers of flows", all(more.values()),
        "Every larger window loses more than the one with the highest goodput, and carries less.",
    )  # fmt: skip
    drops = {flows: 1 - smallest(rest["goodput_bps"]) / top["goodput_bps"]
             for flows, (top, rest) in after.items() if rest.height}  # fmt: skip
    few = [flows for flows, drop in drops.items() if drop > _MARKED]
    many = max(drop for flows, drop in drops.items() if flows > _FEW)
    yield holds_if(
        "daresbury.flat-beyond", "Beyond it the goodput does not decrease markedly", _PLACE,
        _percent(max(drops.values())), max(drops.values()) <= _MARKED,
        f"The largest decrease is {percent(max(drops.values()))}, with few flows: those over "
        f"{percent(_MARKED)} are {_and(few)} flows; with more than {_FEW} flows it is at most {percent(many)}.",
        unit="%",
    )  # fmt: skip


def _windows(grid: pl.DataFrame) -> Iterator[Claim]:
    found = best_windows(grid)
    few = {flows: window for flows, window in found.items() if flows <= _FEW}
    packets = DARESBURY.path.bdp_bytes / DARESBURY.path.payload_bytes
    yield exact(
        "daresbury.best-window", "With 4 flows or fewer the best window is the one nearest to the BDP of 200 kB",
        _PLACE, _kilobytes(dict.fromkeys(few, nearest_window(packets))), _kilobytes(few),
        reason="In kB, for 1 to 4 flows: it is the BDP over the number of flows, as the next claim says.",
    )  # fmt: skip
    yield exact(
        "daresbury.best-window-shared", "With 4 flows or fewer the best window is the one nearest to BDP / flows",
        "this study", _kilobytes({flows: nearest_window(packets / flows) for flows in few}), _kilobytes(few),
        reason="In kB, for 1 to 4 flows.",
    )  # fmt: skip
    more = [window for flows, window in found.items() if flows >= _FEW]
    rising = [flows for flows, before, after in zip([f for f in found if f > _FEW], more, more[1:], strict=False)
              if after > before]  # fmt: skip
    yield holds_if(
        "daresbury.smaller-windows", "Beyond 4 flows the best window gets smaller and smaller", _PLACE,
        " ".join(str(KILOBYTES[window]) for window in more), not rising,
        f"Best windows in kB, from 4 flows on. {_rises(grid, rising)}",
    )  # fmt: skip


def _run_time(grid: pl.DataFrame, runs: Mapping[str, Run]) -> Iterator[Claim]:
    path = DARESBURY.path.changed(duration_s=_LONG_S)
    long = cells(runs, _LONG, DARESBURY.cells, path)
    joined = grid.join(long, on=["window_packets", "flows"], suffix="_long")
    ratio = joined["goodput_bps"] / joined["goodput_bps_long"] - 1
    short, most = largest(grid["goodput_bps"]), largest(long["goodput_bps"])
    yield holds_if(
        "daresbury.run-time", "The goodput available in 10 s is within 1 % of that in 50 s", _PLACE,
        _percent(short / most - 1), abs(short / most - 1) <= _WITHIN,
        f"Highest goodputs: {short / 1e6:.2f} and {most / 1e6:.2f} Mbit/s. Cell by cell the median difference is "
        f"{percent(median_of(ratio.abs()), 1)}, "
        f"and {int((ratio.abs() <= _WITHIN).sum())} of {joined.height} cells are within 1 %: the handshake and slow "
        "start take a few round trips of 162 ms, some per cent of 10 s.", unit="%",
    )  # fmt: skip


def _most(part: pl.DataFrame) -> float:
    return 0.0 if part.is_empty() else largest(part["goodput_share"])


def _worst(grid: pl.DataFrame, flows: int) -> tuple[float, float]:
    """The least goodput share, and the loss there, beyond the best window of a number of flows."""
    rest = beyond_best(grid.filter(pl.col("flows") == flows)).sort("goodput_share").row(0, named=True)
    return rest["goodput_share"], rest["loss"]


def _rises(grid: pl.DataFrame, rising: list[int]) -> str:
    if not rising:
        return ""
    flows = rising[0]
    part = grid.filter(pl.col("flows") == flows).sort("goodput_bps", descending=True)
    first, second = part.row(0, named=True), part.row(1, named=True)
    return (
        f"With {flows} flows {KILOBYTES[first['window_packets']]} kB are ahead of "
        f"{KILOBYTES[second['window_packets']]} kB by {percent(first['goodput_bps'] / second['goodput_bps'] - 1, 2)} "
        f"only, and lose {percent(first['loss'], 1)} instead of {percent(second['loss'], 1)}."
    )


def _kilobytes(windows: Mapping[int, int]) -> str:
    return ", ".join(str(KILOBYTES[window]) for window in windows.values())


def _percent(share: float) -> float:
    """A share in percent, as claims show it."""
    return round(100 * share, 2)


def _and(numbers: list[int]) -> str:
    words = [str(number) for number in numbers]
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" and {words[-1]}" if words else "no"
