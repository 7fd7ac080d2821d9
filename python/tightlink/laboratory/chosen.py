"""The sliders that a laboratory has unless others are asked for: the bottleneck's, and those of its traffic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final

from tightlink import units
from tightlink.errors import ScenarioError
from tightlink.experiment.factors import value_at
from tightlink.laboratory.resolved import Resolved
from tightlink.laboratory.sliders import Slider
from tightlink.lazy import _core
from tightlink.scenario import Scenario
from tightlink.scenario.network import Network
from tightlink.scenario.values import UNLIMITED

#: A decade in steps that look even.
_STEPS: Final = (1.0, 1.25, 1.6, 2.0, 2.5, 3.2, 4.0, 5.0, 6.3, 8.0)
_COUNTS: Final = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100)
_LOSSES: Final = ("0 %", "0.01 %", "0.02 %", "0.05 %", "0.1 %", "0.2 %", "0.5 %", "1 %", "2 %", "5 %", "10 %")
#: Every third position.
_COARSE: Final = 3
#: Groups of traffic that get sliders.
_MOST_GROUPS: Final = 2


def prepared(scenario: Scenario, links: Iterable[str]) -> Scenario:
    """The scenario with queues of some links as tables, so that their kind and their limit can change one by one."""
    for key in links:
        queue = value_at(scenario, f"{key}.queue")
        table = {"kind": "drop-tail", "limit": queue}
        # The output ring of a processor takes the place of the queue.
        if isinstance(queue, str) and Resolved(scenario).is_right(f"{key}.queue", table):
            scenario = scenario.set(f"{key}.queue", table)
    return scenario


def chosen(resolved: Resolved, *, coarse: bool = False) -> list[Slider]:
    """Sliders for a scenario; of each only values that are right where the others stay, a third of them if coarse."""
    scenario = resolved.scenario
    of = partial(_slider, resolved, every=_COARSE if coarse else 1)
    found: list[Slider] = []
    key = bottleneck(scenario)
    if key is not None:
        found += of(f"{key}.rate", _around(units.RATE, units.format_rate))
        found += of(f"{key}.delay", _around(units.TIME, units.format_time))
        queue = value_at(scenario, f"{key}.queue")
        if isinstance(queue, dict):
            kinds = [
                queue if kind == queue["kind"] else {"kind": kind, "limit": queue["limit"]}
                for kind in ("drop-tail", "red", "pie", "codel", "fq-codel")
            ]
            found += of(f"{key}.queue", lambda _: kinds)
            found += of(f"{key}.queue.limit", _limits)
        found += of(f"{_lossy(scenario) or key}.loss", lambda _: [units.fraction(text) for text in _LOSSES])
    for name in list(scenario.node)[:1]:
        found += of(f"node.{name}.processor.per_packet", _around(units.TIME, units.format_time))
        found += of(f"node.{name}.processor.input_ring", _limits)
    controls = [name for name, _ in _core.congestion()]
    for name in list(scenario.traffic)[:_MOST_GROUPS]:
        flow = f"traffic.{name}"
        found += of(f"{flow}.flows", _counts)
        found += of(f"{flow}.tcp.congestion", lambda _: controls)
        found += of(f"{flow}.tcp.window", _limits)
        found += of(f"{flow}.rate", _around(units.RATE, units.format_rate))
        found += of(f"{flow}.interval", _around(units.TIME, units.format_time))
    return found


def _lossy(scenario: Scenario) -> str | None:
    """The dotted path of the table of the first link that loses a share of its packets, as a wireless hop does."""
    keys = dict.fromkeys(hop.key.removesuffix(".reverse") for hop in Network(scenario.explicit()).hops)
    losses = ((key, value_at(scenario, f"{key}.loss")) for key in keys)
    return next((key for key, loss in losses if isinstance(loss, int | float) and loss > 0), None)


def bottleneck(scenario: Scenario) -> str | None:
    """The dotted path of the table of the slowest link, if there is one that can be changed."""
    hops = [hop for hop in Network(scenario.explicit()).hops if not hop.key.endswith(".reverse")]
    keys = [hop.key for hop in sorted(hops, key=lambda hop: hop.carries(units.size("1500 B")))]
    return next((key for key in dict.fromkeys(keys) if isinstance(value_at(scenario, f"{key}.rate"), str)), None)


def _slider(resolved: Resolved, key: str, values: Callable[[Any], Iterable[Any]], *, every: int) -> Iterator[Slider]:
    """The slider of a key, unless there is nothing to change."""
    scenario = resolved.scenario
    own = value_at(scenario, key)
    if own is None and not key.endswith(".flows"):
        return
    try:
        slider = Slider.of(key, list(values(own)), scenario)
        if not slider.is_choice:
            slider = Slider.of(key, slider.values[slider.start % every :: every], scenario)
    except ScenarioError:
        return
    own = slider.values[slider.start]
    right = [value for value in slider.values if value is own or resolved.is_right(key, value)]
    if len(right) > 1:
        yield Slider.of(key, right, scenario)


def _around(kind: units.Kind, write: Callable[[float], str]) -> Callable[[Any], Iterator[str]]:
    """Quantities from a tenth of one to ten times as much."""

    def values(own: Any) -> Iterator[str]:
        try:
            size = float(units.parse(own, kind)[1].exact)
        except ScenarioError:
            return
        if size <= 0:
            size = float(units.parse(kind.example, kind)[1].exact)
        for value in _decades(size / 10, size * 10):
            yield write(value)

    return values


def _decades(low: float, high: float) -> Iterator[float]:
    for exponent in range(-12, 16):
        for step in _STEPS:
            value = float(f"{step * 10.0**exponent:.6g}")
            if low * (1 - 1e-9) <= value <= high * (1 + 1e-9):
                yield value


def _limits(own: Any) -> Iterator[str]:
    """Limits of queues and windows: packets, bytes or bandwidth-delay products, as the scenario has them."""
    if own == UNLIMITED:
        yield from (units.format_packets(int(value)) for value in _decades(1, 10_000) if value.is_integer())
        return
    kind, quantity = units.parse(own, units.PACKETS, units.SIZE, units.BDP)
    if kind is units.BDP:
        yield from (f"{times:g} BDP" for times in (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 4, 6, 8))
        return
    size = float(quantity.exact)
    for value in _decades(max(1.0, size / 20), max(200.0, size * 20)):
        if kind is units.PACKETS and value.is_integer():
            yield units.format_packets(int(value))
        elif kind is units.SIZE and value >= units.size("1500 B"):
            yield units.format_size(round(value))


def _counts(own: Any) -> list[int]:
    """Numbers of flows, up to ten times as many."""
    return [count for count in _COUNTS if count <= max(20, 10 * (own or 1))]
