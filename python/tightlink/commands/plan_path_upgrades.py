"""What ``tightlink plan path`` shows of changes of the path and of the hosts: their gains, and what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tightlink import units
from tightlink.analysis.path.prediction import Prediction
from tightlink.console import print_table, print_text, rounded
from tightlink.numbers import percent, several

#: How names of changes begin of which there are several of a kind.
_KINDS: Final = ("recovery ", "congestion control ")


def show_upgrades(found: Prediction) -> None:
    """What each change of path or stack does; those that do the same stand together."""
    base, *_ = found.upgrades
    names: dict[tuple[str, ...], list[str]] = {}
    for each in found.upgrades:
        gains = _gain(each.default_bps, base.default_bps), _gain(each.chosen_bps, base.chosen_bps)
        cells = (*gains, units.format_packets(each.window_packets), f"{100 * each.loss:.3g} %")
        names.setdefault(cells, []).append(each.name)
    same = next(iter(names.values()))[1:]
    rows = [[base.name if base.name in each else _together(each), *cells] for cells, each in names.items()]
    chosen = several(found.choice.cheapest["flows"], "flow")
    print_table(["change", "default flow", chosen, "window", "loss"], rows, drop=["loss"])
    if same:
        print_text(f"without effect: {_together(same)}")
    reasons: dict[str, list[str]] = {}
    for name, why in found.left_out.items():
        reasons.setdefault(why, []).append(name)
    for why, controls in reasons.items():
        print_text(f"left out: {', '.join(controls)} ({why})")


def _together(names: Sequence[str]) -> str:
    """Names of changes, those of one kind behind its name.

    >>> _together(["twice the queue", "recovery tahoe", "recovery sack"])
    'twice the queue; recovery tahoe, sack'
    """
    kinds: dict[str, list[str]] = {}
    for name in names:
        kind = next((kind for kind in _KINDS if name.startswith(kind)), "")
        kinds.setdefault(kind or name, []).append(name.removeprefix(kind))
    return "; ".join(kind + ", ".join(each) if kind in _KINDS else kind for kind, each in kinds.items())


def _gain(bps: float, base: float) -> str:
    """A rate, and how much more or less it is than that of the path as it is."""
    change = "" if bps == base else f" ({percent(bps / base - 1, signed=True)})"
    return rounded(bps, units.format_rate) + change
