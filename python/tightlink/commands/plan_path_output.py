"""What ``tightlink plan path`` shows: a table, and sentences with reasons."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from tightlink import units
from tightlink.analysis.estimates import Estimate
from tightlink.analysis.path.calibrate import Calibration
from tightlink.analysis.path.choice import choose
from tightlink.analysis.path.cross_traffic import predicted
from tightlink.analysis.path.line import named
from tightlink.analysis.path.prediction import Prediction, transfer_s
from tightlink.analysis.path.residuals import agreement, beside, by_flows
from tightlink.commands.plan_path_upgrades import show_upgrades
from tightlink.console import print_table, print_text, rounded
from tightlink.json_values import plain
from tightlink.lazy import pl
from tightlink.numbers import NONE, grouped, several
from tightlink.scenario.values import LARGEST_WINDOW_BYTES

_ROW: Final = ("window_packets", "flows", "goodput_bps", "goodput_share", "loss", "rtt_loaded_s", "rtt_p95_s", "limit")
#: Who takes so many times as long as is simulated has slow start long behind it; a simulation as long has, too.
_MUCH_LONGER, _STEADY_S = 10, 300.0
_UNITS: Final[dict[str, Callable[[float], str]]] = {
    "bandwidth_bps": units.format_rate,
    "rtt_s": units.format_time,
    "queue_packets": lambda value: units.format_packets(round(value)),
    "cross": units.format_fraction,
}


@dataclass(frozen=True)
class Answer:
    """A prediction, and what else was asked."""

    found: Prediction
    times: dict[str, float]
    """Seconds for the transfer, by setting; empty where no size was given."""
    size: int | None
    intervals: dict[str, Estimate]
    """Goodput at an unknown time of the week, by setting; empty without cross traffic."""
    points: pl.DataFrame | None
    fitted: Calibration | None

    @property
    def settings(self) -> dict[str, dict[str, Any]]:
        """The three settings that are compared."""
        return {"default": self.found.baseline, "cheapest": self.found.choice.cheapest, "best": self.found.choice.best}


def answered(
    found: Prediction, *, size: int | None, observed: pl.DataFrame | None, fitted: Calibration | None, jobs: int
) -> Answer:
    """A prediction with times, intervals and residuals, as far as they were asked for."""
    answer = Answer(found, {}, size, {}, None, fitted)
    rows = answer.settings
    return dataclasses.replace(
        answer,
        times={} if size is None else {name: transfer_s(found.path, row, size) for name, row in rows.items()},
        intervals={
            name: predicted(found.path, row["window_packets"], row["flows"], jobs=jobs) for name, row in rows.items()
        }
        if found.path.cross > 0
        else {},
        points=None if observed is None else beside(observed, found.path, jobs=jobs),
    )


def show(answer: Answer) -> None:
    """Print it for reading."""
    found, path = answer.found, answer.found.path
    if answer.fitted is not None:
        _show_fit(answer.fitted)
    print_text(
        f"{units.format_rate(path.bandwidth_bps)}, {units.format_time(path.rtt_s)}, queue "
        f"{units.format_packets(path.queue_packets)}: a bandwidth-delay product of {_size(path.bdp_bytes)}, "
        f"which is a window of {units.format_packets(path.bdp_packets)}{_beyond(path.bdp_bytes)}"
    )
    if path.line:
        print_text(f"beside these as the file has them: {', '.join(named(path.line))}")
    print_text()
    lines = [_line(str(row["flows"]), row) for row in _by_flows(found)]
    print_table(["flows", *_HEADER[:-1]], lines, words=[_LIMITED], drop=_DROP)
    print_text()
    more = (["time"] if answer.times else []) + (["95 % of the week"] if answer.intervals else [])
    rows = [
        [*_line(f"{name}: {row['flows']}", row), _time(row["rtt_p95_s"]), *_extra(answer, name)]
        for name, row in answer.settings.items()
    ]
    print_table(["setting: flows", *_HEADER, *more], rows, words=[_LIMITED], drop=_DROP)
    print_text()
    show_upgrades(found)
    print_text()
    for sentence in sentences(answer):
        print_text(sentence)
    if answer.points is not None:
        _show_points(answer.points)


def sentences(answer: Answer) -> list[str]:
    """What to do, and why."""
    found, path = answer.found, answer.found.path
    baseline, best, cheapest = found.baseline, found.choice.best, found.choice.cheapest
    base = f"One flow with {_window(answer, baseline)} carries {_rate(baseline['goodput_bps'])}: "
    if baseline["limit"] == "receiver's window" and baseline["window_packets"] < path.bdp_packets:
        base += (
            f"it is window-limited below {path.bdp_packets} packets × {path.payload_bytes} B, the bandwidth-delay "
            "product."
        )
    else:
        base += f"it is limited by the {baseline['limit'].removeprefix('the ')}."
    lines = [base]
    if found.max_window is not None:
        needed = -(-path.bdp_packets // found.max_window)
        lines.append(
            f"Hosts that allow windows of {found.max_window} packets need {several(needed, 'flow')} to fill the path."
        )
    lost = f"{_percent(best['loss'])} loss" if best["loss"] > 0 else "no loss"
    if "loss" in named(path.line):
        lost += " in the queue"
    lines.append(
        f"Best: {_flows(best)} with {_window(answer, best)}, {_rate(best['goodput_bps'])} at {lost}. "
        + (
            "Nothing cheaper comes within 5 %."
            if cheapest["flows"] == best["flows"] and cheapest["window_packets"] == best["window_packets"]
            else f"Within 5 % of that, at the least cost: {_flows(cheapest)} with {_window(answer, cheapest)}, "
            f"{_rate(cheapest['goodput_bps'])}, {_percent(cheapest['goodput_share'])} of the bandwidth."
        )
    )
    if not found.choice.clean:
        lines.append(f"No setting keeps the loss at {_percent(found.little)} or less; these have the least.")
    if found.headroom:
        left = 1 - best["goodput_bps"] / path.most_bps
        lines.append(f"It leaves {_percent(left)} of the bandwidth unused; {_percent(found.headroom)} were asked.")
    lines.append(
        f"Meanwhile everybody on the path has a round trip of {_time(best['rtt_loaded_s'])} on average and "
        f"{_time(best['rtt_p95_s'])} at the 95 % quantile, instead of {_time(path.rtt_s)}; at the least cost "
        f"{_time(cheapest['rtt_loaded_s'])} and {_time(cheapest['rtt_p95_s'])}."
    )
    if answer.size is not None:
        lines.append(
            f"{_size(answer.size)} take {_long(answer.times['best'])}, at the least cost "
            f"{_long(answer.times['cheapest'])}, with one default flow {_long(answer.times['default'])}: "
            f"{_over(answer, 'best')}, {_over(answer, 'cheapest')} and {_over(answer, 'default')} over these times; "
            f"the goodput of the tables is that of the first {units.format_time(path.duration_s)}."
        )
        if path.duration_s < min(_STEADY_S, answer.times["best"] / _MUCH_LONGER):
            lines.append(
                f"Both are chosen by the goodput of {units.format_time(path.duration_s)}, slow start and its losses "
                f'included: --duration "{units.format_time(_STEADY_S)}" chooses by what comes after it.'
            )
    if answer.intervals:
        found_best = answer.intervals["best"]
        lines.append(
            f"With {_percent(path.cross)} of cross traffic over the week, one measurement of the best setting lies "
            f"between {_rate(found_best.low)} and {_rate(found_best.high)} (95 %); the profile of day and week is an "
            "assumption."
        )
    return lines


def _over(answer: Answer, name: str) -> str:
    """The goodput of a whole transfer."""
    return _rate(8 * (answer.size or 0) / answer.times[name])


def as_json(answer: Answer) -> dict[str, Any]:
    """All of it, in SI units."""
    found, points = answer.found, answer.points
    return {
        "path": plain(found.path) | {"bdp_bytes": found.path.bdp_bytes, "bdp_packets": found.path.bdp_packets},
        "finding": " ".join(sentences(answer)),
        "clean": found.choice.clean,
        "settings": {
            name: {key: row[key] for key in _ROW}
            | ({"transfer_s": answer.times[name]} if answer.times else {})
            | ({"interval_bps": plain(answer.intervals[name])} if answer.intervals else {})
            for name, row in answer.settings.items()
        },
        "upgrades": plain(found.upgrades),
        "left_out": found.left_out,
        "cells": plain(found.cells.select([name for name in _ROW if name in found.cells.columns])),
        "fitted": None if answer.fitted is None else plain(answer.fitted.parameters),
        "observed": None
        if points is None
        else {"all": plain(agreement(points)), "by_flows": plain(by_flows(points)), "points": plain(points)},
    }


def _show_points(points: pl.DataFrame) -> None:
    print_text()
    found = {"all": agreement(points)} | {str(flows): value for flows, value in by_flows(points).items()}
    rows = [
        [name, str(value.points), _percent(value.median), _percent(value.largest), _rate(value.mean_bps),
         _r2(value.origin), _r2(value.free)]
        for name, value in found.items()
    ]  # fmt: skip
    header = ["observed: flows", "points", "(o − s) / o, median", "largest", "o − s, mean"]
    header += ["R² through origin", "R² of a free line"]
    print_table(header, rows, drop=["R² of a free line", "largest"])


def _show_fit(fitted: Calibration) -> None:
    rows = [
        [name, rounded(value.estimate.value, _UNITS[name]), rounded(value.estimate.low, _UNITS[name]),
         rounded(value.estimate.high, _UNITS[name]), "yes" if value.bound else f"no: {value.why}"]
        for name, value in fitted.parameters.items()
    ]  # fmt: skip
    print_table(["fitted", "value", "from", "to", "bound by the observations"], rows)
    print_text(
        f"residuals {_percent(fitted.before)} before, {_percent(fitted.residual)} after ({fitted.simulated} runs)\n"
    )


_HEADER: Final = ("window", "goodput", "of the bandwidth", "loss", "RTT mean", "limited by", "RTT p95")
_LIMITED: Final = _HEADER.index("limited by") + 1
#: Headers that go first where a terminal is too narrow.
_DROP: Final = ("of the bandwidth", "RTT mean", "loss")


def _by_flows(found: Prediction) -> list[dict[str, Any]]:
    """For each number of flows the setting that the first rule chooses."""
    parts = found.cells.sort("flows").group_by("flows", maintain_order=True)
    return [choose(part, little=found.little).best for _, part in parts]


def _line(name: str, row: dict[str, Any]) -> list[str]:
    return [
        name,
        units.format_packets(row["window_packets"]),
        _rate(row["goodput_bps"]),
        _percent(row["goodput_share"]),
        _percent(row["loss"]),
        _time(row["rtt_loaded_s"]),
        row["limit"],
    ]


def _extra(answer: Answer, name: str) -> list[str]:
    cells = [_long(answer.times[name])] if answer.times else []
    if answer.intervals:
        found = answer.intervals[name]
        cells.append(f"{_rate(found.low)} to {_rate(found.high)}")
    return cells


def _window(answer: Answer, row: dict[str, Any]) -> str:
    size = row["window_packets"] * answer.found.path.payload_bytes
    return f"{units.format_packets(row['window_packets'])} ({size / 1e3:.4g} kB)"


def _flows(row: dict[str, Any]) -> str:
    return several(row["flows"], "flow")


def _rate(bps: float) -> str:
    return rounded(bps, units.format_rate)


def _percent(value: float) -> str:
    """A share that may be small, or below zero, as residuals are.

    >>> _percent(0.00012), _percent(-0.0523)
    ('0.012 %', '−5.23 %')
    """
    return grouped(f"{100 * value:.3g} %")


def _beyond(window_bytes: float) -> str:
    """That no single flow has such a window, where none does."""
    largest = units.format_size(LARGEST_WINDOW_BYTES)
    return f", and TCP's largest is {largest}" if window_bytes > LARGEST_WINDOW_BYTES else ""


def _time(seconds: float) -> str:
    return rounded(seconds, units.format_time)


def _long(seconds: float) -> str:
    """A time that may be long: "12 s", "3.5 min", "1.2 h", "9.3 days"."""
    for size, unit in ((86_400.0, "days"), (3600.0, "h"), (60.0, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def _size(count: float) -> str:
    """Bytes as links count them, in powers of 1000: "1 TB"."""
    for exponent, prefix in ((12, "T"), (9, "G"), (6, "M"), (3, "k")):
        if count >= 10**exponent:
            return f"{count / 10**exponent:.4g} {prefix}B"
    return f"{count:g} B"


def _r2(estimate: Estimate | None) -> str:
    return NONE if estimate is None else f"{estimate:.3f}"
