"""The command ``tightlink plan maxflow``."""

from __future__ import annotations

from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter

from tightlink import units
from tightlink.analysis.networks.flow_limits import FlowLimits, flow_limits
from tightlink.analysis.networks.flow_trial import Trial, try_paths
from tightlink.analysis.networks.maxflow import MaximumFlow
from tightlink.commands.options import Json, Set, changes, option
from tightlink.commands.table_options import with_table_options
from tightlink.console import print_json, print_table, print_text, rounded, warned, watching
from tightlink.scenario import load

_COUNTED: Final = "bits of IP packets with their headers; what framing adds costs line time and is not counted"
_BITS: Final = 8
#: The share of what is proposed that must arrive for the proposal to hold.
_ENOUGH: Final = 0.95
_PROPOSALS: Final = {"bits": "bit/s proposes", "both": "both propose"}


@with_table_options
def maxflow(
    file: Path,
    *,
    from_: Annotated[str | None, Parameter(name="--from")] = None,
    to: str | None = None,
    packet: str | None = None,
    set_: Set = None,
    json_: Json = False,
    no_simulate: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Say how much a network carries between two nodes: by bits, by packets, and by both.

    Args:
        file: Scenario, a TOML file; of its traffic only what the options leave out.
        from_: Sending node (default: that of the only group of traffic).
        to: Receiving node (default: that of the only group of traffic).
        packet: Size of the packets, headers included (default: that of the only group of traffic).
        no_simulate: Do not simulate what the answers propose.
    """
    scenario = load(file, set=changes(set_))
    size = None if packet is None else int(option("--packet", packet, units.SIZE))
    limits = flow_limits(scenario, source=from_, target=to, packet_bytes=size)
    trials = {}
    if not no_simulate:
        with watching(f"simulating {scenario.duration}"):
            trials["bits"] = try_paths(scenario, limits.bits.paths, limits.packet_bytes)
            # Without processors in the way it is the same proposal.
            same = limits.both.paths == limits.bits.paths
            trials["both"] = trials["bits"] if same else try_paths(scenario, limits.both.paths, limits.packet_bytes)
    if json_:
        print_json(_as_json(limits, trials))
    else:
        _show(limits, trials)
    return warned(list(dict.fromkeys(warning for trial in trials.values() for warning in trial.warnings)))


def _as_json(limits: FlowLimits, trials: dict[str, Trial]) -> dict[str, Any]:
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


def _show(limits: FlowLimits, trials: dict[str, Trial]) -> None:
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
