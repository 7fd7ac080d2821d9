"""The command ``tightlink run``: simulate a scenario."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

import tightlink
from tightlink.commands.controls import Controls, define, typed
from tightlink.commands.options import FILES, PACKETS, JsonOf, Names, Set, changes
from tightlink.commands.run_output import PRINTED, check_shown, described, print_summary, write_shown
from tightlink.commands.table_options import with_table_options
from tightlink.console import print_json, print_verbatim, print_why, say, warned, watching
from tightlink.diagnosis import why
from tightlink.errors import ScenarioError, TightlinkError
from tightlink.run import is_there, open_run
from tightlink.scenario import Scenario, load, understood
from tightlink.scenario.memory import check_patience, needed, patience
from tightlink.shell import quoted
from tightlink.simulate import check_threads, expected_threads, prepare, simulate, with_seed


@with_table_options
def run(
    file: Path,
    *,
    set_: Set = None,
    seed: int | None = None,
    threads: int | None = None,
    json_: JsonOf = False,
    show_config: Annotated[bool, Parameter(negative="")] = False,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"], group=FILES)] = None,
    report: Annotated[Path | None, Parameter(group=FILES)] = None,
    plot: Annotated[Path | None, Parameter(group=FILES)] = None,
    trace: Annotated[bool, Parameter(negative="", group=PACKETS)] = False,
    tr: Annotated[Path | None, Parameter(group=PACKETS)] = None,
    pcap: Annotated[Path | None, Parameter(group=PACKETS)] = None,
    pcap_at: Annotated[Names, Parameter(group=PACKETS)] = None,
    replay: Path | None = None,
    controls: Controls = None,
    yes: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Simulate a scenario and print what came out.

    Args:
        file: Scenario, a TOML file; with --replay the name of a run.
        output: Folder to write the tables to; without it nothing is written.
        seed: Seed of every random stream, instead of the scenario's.
        threads: Most threads to use, instead of as many as there are idle processors; as many are used as make a run
            faster, and the results do not depend on it.
        json_: Print manifest, why, flows, links and nodes as JSON; of users, scatter and transfers their tables, too.
        show_config: Print the scenario as understood, with every default, the memory that users will need and the
            threads that a run uses; and stop.
        trace: Record what happens to every packet; needs --output.
        tr: File to write the packets to in ns-2's trace format.
        pcap: File to write the packets to as a capture, for Wireshark and others: .pcapng or .pcap.
        pcap_at: Nodes at which to capture all packets, such as sender,receiver or net.left[*]; without it each flow is
            captured at the host that sends its data.
        report: File to write the report to, one HTML file.
        plot: File for a figure of the run, .png, .svg or .pdf: rates, congestion windows and queues over time; of a
            long run without observe.interval, what limited each flow.
        replay: Folder of a sweep or a study of which to simulate one run again, even one that failed.
        yes: Build a network of more than two million nodes, links and flows, too, which takes minutes.
    """
    made = {"--json": json_, "--output": output, "--report": report, "--plot": plot, "--trace": trace, "--tr": tr,
            "--pcap": pcap}  # fmt: skip
    if without_effect := next((option for option, value in made.items() if show_config and value), None):
        raise TightlinkError(f"{without_effect}: it has no effect beside --show-config, which simulates nothing")
    if trace and output is None:
        raise TightlinkError("--trace: it has no effect without --output, to which the table of packets is written")
    define(controls)
    changed = changes(set_)
    scenario = load(file, set=changed) if replay is None else _replayed(replay, str(file)).set_all(changed)
    if seed is not None:
        scenario = with_seed(scenario, seed)
        # As a change of the scenario it is understood by a sweep, too.
        changed["seed"] = seed

    threads = check_threads(threads)
    if show_config:
        return _show_config(scenario, threads)
    _ask_patience(scenario, allowed=yes)
    check_shown(report, plot)
    files = _of_packets(tr, pcap, pcap_at)
    there = output is not None and not any(files.values()) and _already_there(scenario, output, trace=trace)
    if output is not None and there:
        result = open_run(output)
    else:
        with watching(f"simulating {scenario.duration}") as watch:
            result = simulate(scenario, trace=trace, **files, threads=threads, watch=watch, part=True)
        if threads is not None and (used := result.manifest["timing"]["threads"]) < threads:
            say(f"--threads {threads}: {used} used, as more are not faster here (--show-config says why)")
        _say_written(tr, pcap)
        if output is not None:
            result.save(output)
            say(f"wrote {output}")
    write_shown(result, report, plot)

    found = why(result, command=(typed(f"tightlink run {quoted(str(file))}", replay, controls), changed))
    if json_:
        print_json(described(result, PRINTED, found))
    else:
        print_why(found)
        print_summary(result)
    if there:
        say(f"{output}: this run is already there")
    return warned(result.warnings)


def _say_written(*files: Path | None) -> None:
    for file in filter(None, files):
        say(f"wrote {file}")


def _of_packets(tr: Path | None, pcap: Path | None, pcap_at: list[str] | None) -> dict[str, Any]:
    """The files of packets to write, by the arguments of a simulation."""
    if pcap_at and pcap is None:
        raise ScenarioError("--pcap FILE.pcapng beside it, the file to write", key="--pcap-at", value=",".join(pcap_at))
    return {"tr": tr, "pcap": pcap, "pcap_at": pcap_at}


def _ask_patience(scenario: Scenario, *, allowed: bool) -> None:
    """Refuse a network that takes minutes to be built, unless that is allowed, and say how long a large one takes."""
    if not allowed:
        check_patience(scenario)
    if building := patience(scenario):
        say(building)


def _show_config(scenario: Scenario, threads: int | None) -> int:
    resolved = scenario.resolve()
    wanted = needed(resolved)
    print_verbatim(understood(scenario))
    if wanted is not None:
        say(f"a run needs {wanted}")
    say(expected_threads(resolved, threads))
    return 0


def _replayed(folder: Path, name: str) -> Scenario:
    found: Scenario = tightlink.experiment.open(folder).scenario(name)
    return found


def _already_there(scenario: Scenario, output: Path, *, trace: bool) -> bool:
    """Looked at before the simulation: a wrong folder is not worth waiting for."""
    wanted = ["links", *(["packets"] if trace else [])]
    return is_there(output, prepare(scenario).identified, wanted)
