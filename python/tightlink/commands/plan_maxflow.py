"""The command ``tightlink plan maxflow``."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tightlink import units
from tightlink.analysis.networks.flow_limits import flow_limits
from tightlink.analysis.networks.flow_trial import try_paths
from tightlink.commands.options import Json, Set, changes, option
from tightlink.commands.plan_maxflow_output import as_json, show
from tightlink.commands.table_options import with_table_options
from tightlink.console import print_json, warned, watching
from tightlink.scenario import load


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
        print_json(as_json(limits, trials))
    else:
        show(limits, trials)
    return warned(list(dict.fromkeys(warning for trial in trials.values() for warning in trial.warnings)))
