"""What ``tightlink plan maxflow`` prints."""

from __future__ import annotations

from dataclasses import asdict
from fractions import Fraction
from typing import Any, Final

from tightlink import units
from tightlink.analysis.networks.flow_limits import FlowLimits
from tightlink.analysis.networks.flow_trial import Trial
from tightlink.analysis.networks.maxflow import MaximumFlow
from tightlink.console import print_table, print_text, rounded

_COUNTED: Final = "bits of IP packets with their headers; what framing adds costs line time and is not counted"
_BITS: Final = 8
#: The share of what is proposed that must arrive for the proposal to hold.
_ENOUGH: Final = 0.95
_PROPOSALS: Final = {"bits": "bit/s proposes", "both": "both propose"}


def as_json(limits: FlowLimits, trials: dict[str, Trial]) -> dict[str, Any]:
    """All of it, for programs."""
    a_packet = _BITS * limits.packet_bytes
    return {
        "from": limits.source,
        "to": limits.target,
        "packet_bytes": limits.packet_bytes,
        "counted": _COUNTED,
        "bits": _answer(limits.bits, Fraction(1), a_packet),
        "packets": _answer(limits.packets, Fraction(a_packet), a_packet),
        "both": _answer(limits.both, Fraction(1), a_packet),
        "processors": {node: float(capacity) for node, capacity in limits.processors.items()},
        "overloaded": {node: float(rate) for node, rate in limits.overloaded().items()},
        "simulated": {proposal: asdict(trial) for proposal, trial in trials.items()},
        "notes": limits.notes,
    }


def _answer(found: MaximumFlow, bits: Fraction, a_packet: int) -> dict[str, Any]:
    """An answer in both units; ``bits`` says how many bits one unit of its rate is. Null: nothing limits it."""
    if found.value is None:
        return {"max_bps": None, "max_packets_per_s": None, "cut": None, "paths": None}
    paths = [
        {"links": path.edges, "nodes": path.nodes, "rate_bps": float(path.rate * bits),
         "packets_per_s": float(path.rate * bits / a_packet)}
        for path in found.paths
    ]  # fmt: skip
    return {
        "max_bps": float(found.value * bits),
        "max_packets_per_s": float(found.value * bits / a_packet),
        "cut": {"links": found.cut_edges, "processors": found.cut_nodes},
        "paths": paths,
    }


def show(limits: FlowLimits, trials: dict[str, Trial]) -> None:
    """Print it for reading."""
    a_packet = _BITS * limits.packet_bytes
    print_text(f"{limits.source} to {limits.target}, packets of {limits.packet_bytes} B")
    print_text(f"({_COUNTED})\n")
    answers = {
        "bit/s": (limits.bits, Fraction(1)),
        "packets/s": (limits.packets, Fraction(a_packet)),
        "both": (limits.both, Fraction(1)),
    }
    rows = [[name, *_limit(found, bits, a_packet)] for name, (found, bits) in answers.items()]
    print_table(["limit", "maximum", "packets/s", "minimum cut"], rows, words=[3])
    print_text()
    ways = dict.fromkeys(path.edges for found, _ in answers.values() for path in found.paths)
    rows = [[" → ".join(way), *(_along(found, way, bits) for found, bits in answers.values())] for way in ways]
    print_table(["path", *answers], rows)
    if trials:
        print_text()
        rows = [[f"as {_PROPOSALS[name]}", *_tried(trial)] for name, trial in trials.items()]
        print_table(["simulated", "offered", "arrived", "dropped"], rows, words=[3])
    print_text()
    for line in [*_verdict(limits, trials), *limits.notes]:
        print_text(line)


def _limit(found: MaximumFlow, bits: Fraction, a_packet: int) -> list[str]:
    if found.value is None:
        return ["unlimited", "unlimited", "none"]
    cut = [*found.cut_edges, *(f"processor {node}" for node in found.cut_nodes)]
    return [_rate(found.value * bits), _count(found.value * bits / a_packet), ", ".join(cut) or "none"]


def _along(found: MaximumFlow, way: tuple[str, ...], bits: Fraction) -> str:
    if found.value is None:
        return "unlimited"
    return _rate(sum((path.rate * bits for path in found.paths if path.edges == way), Fraction(0)))


def _tried(trial: Trial) -> list[str]:
    drops = [
        f"{place} {rounded(count / trial.packets_sent, units.format_fraction)}" for place, count in trial.drops.items()
    ]
    return [_rate(trial.offered_bps), _rate(trial.arrived_bps), ", ".join(drops) or "nothing"]


def _verdict(limits: FlowLimits, trials: dict[str, Trial]) -> list[str]:
    """What to make of it, in words."""
    overloaded = limits.overloaded()
    if overloaded:
        asked = [
            f"{_count(rate)} packets/s of processor {node}, which carries {_count(limits.processors[node])}"
            for node, rate in overloaded.items()
        ]
        lines = [f"The answer in bit/s is wrong here: it asks {' and '.join(asked)}."]
        if "bits" in trials:
            trial = trials["bits"]
            lines.append(f"Of the {_rate(trial.offered_bps)} that it proposes, {_rate(trial.arrived_bps)} arrive.")
        return lines + _missing(trials.get("both"))
    if missing := _missing(trials.get("both")):
        return missing
    if not limits.processors:
        return ["No processor is in the way: the links alone limit."]
    return ["The answer in bit/s holds: it asks no processor for more than it carries."]


def _missing(trial: Trial | None) -> list[str]:
    """Why less arrives than both limits allow, where it is much less."""
    if trial is None or trial.arrived_bps >= _ENOUGH * trial.offered_bps:
        return []
    if trial.changing and trial.drops:
        why = f"at times {', '.join(trial.changing)} carries less than its mean, and its queue overflows"
    elif trial.drops:
        why = f"most of the rest is lost at {max(trial.drops, key=lambda place: trial.drops[place])}"
    else:
        why = "the rest waits in queues when the run ends"
    rates = f"{_rate(trial.arrived_bps)} of the {_rate(trial.offered_bps)} that both limits allow"
    return [f"Sent at a constant rate, only {rates} arrive: {why}."]


def _rate(bps: float | Fraction) -> str:
    return rounded(float(bps), units.format_rate)


def _count(number: Fraction) -> str:
    return rounded(float(number), lambda value: f"{value:.10g}")
