"""The command line. Data goes to standard output, all else to standard error.

Exit codes: 0 all well; 1 failed; 2 wrong usage or scenario; 3 finished, but a claim does not hold or
a warning must be read before the result is trusted.
"""

import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from cyclopts import App, Parameter

from tightlink.commands import analyze, measure
from tightlink.commands.analyze_algorithms import clusters, outliers, ranks
from tightlink.commands.analyze_chain import chain
from tightlink.commands.analyze_effects import effects, ten_steps
from tightlink.commands.analyze_explore import explore
from tightlink.commands.analyze_oscillation import oscillation
from tightlink.commands.analyze_responses import components, correlation
from tightlink.commands.analyze_shares import shares
from tightlink.commands.analyze_traffic import arrivals, lags, sizes, traffic
from tightlink.commands.capture import capture
from tightlink.commands.compare import compare
from tightlink.commands.completion import completion_of
from tightlink.commands.controls import Controls, define
from tightlink.commands.emulate import emulate
from tightlink.commands.evaluate import evaluate
from tightlink.commands.examples import examples
from tightlink.commands.failures import explained
from tightlink.commands.four_tier import four_tier
from tightlink.commands.lab import lab
from tightlink.commands.maxflow import maxflow
from tightlink.commands.measure_file import scenario
from tightlink.commands.measure_grid import tcp, udp_sweep
from tightlink.commands.measure_path import path, serve
from tightlink.commands.new import new
from tightlink.commands.packetize import packetize
from tightlink.commands.pinger import pinger
from tightlink.commands.predict import predict
from tightlink.commands.run_output import check_shown, print_summary, write_shown
from tightlink.commands.schema import schema
from tightlink.commands.sql import sql
from tightlink.commands.study import study
from tightlink.commands.sweep import sweep
from tightlink.commands.table_options import with_table_options
from tightlink.commands.validate import validate
from tightlink.console import FAILED, INTERRUPTED, print_json, print_text, print_verbatim, say, warned, watching
from tightlink.errors import ScenarioError, TightlinkError
from tightlink.lazy import _core
from tightlink.scenario import PARAMETERS, PROFILES, TOPOLOGIES, Scenario, load, parse_option, understood
from tightlink.scenario.memory import check_patience, needed

#: Tables of which the rows are few.
_PRINTED: Final = ("flows", "links", "transfers", "completion_times")

Folder = Annotated[Path | None, Parameter(name=["--output", "-o"])]


def _version() -> str:
    import tightlink

    return str(tightlink.__version__)


def default_text(default: object) -> str | None:
    """A default for the help: none of options that are off or not given."""
    if default in {None, False, ""}:
        return None
    return f"{default:g}" if isinstance(default, float) else str(default)


app = App(
    name="tightlink",
    help="A laboratory for traffic at the bottleneck: what a network does when a link, a router or a "
    "window limits it, and what governs that.",
    version=_version,
    help_format="plaintext",
    default_parameter=Parameter(show_default=default_text),
    suppress_keyboard_interrupt=False,
    result_action="return_value",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    try:
        result = app(arguments, exit_on_error=False, print_error=False)
        sys.stdout.flush()
    except KeyboardInterrupt as error:
        say(f"interrupted; {str(error) or 'nothing was written'}")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the pipe has gone: nobody is left to tell.
        sys.stdout = None
        return FAILED
    except BaseException as error:
        if isinstance(error, SystemExit | GeneratorExit):
            raise
        sentence, code = explained(error)
        say(sentence)
        _discard_unwritable_output()
        return code
    return result if isinstance(result, int) else 0


def _discard_unwritable_output() -> None:
    """Standard output that cannot take what is buffered would fail once more as Python ends."""
    try:
        sys.stdout.flush()
    except OSError:
        sys.stdout = None


@app.command
@with_table_options
def run(  # noqa: PLR0913
    file: Path,
    *,
    output: Folder = None,
    set_: Annotated[list[str] | None, Parameter(name="--set", negative="")] = None,
    seed: int | None = None,
    threads: int | None = None,
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
    show_config: Annotated[bool, Parameter(negative="")] = False,
    trace: Annotated[bool, Parameter(negative="")] = False,
    tr: Path | None = None,
    pcap: Path | None = None,
    pcap_at: str | None = None,
    report: Path | None = None,
    plot: Path | None = None,
    replay: Path | None = None,
    controls: Controls = None,
    yes: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Simulate a scenario and print what came out.

    Parameters
    ----------
    file
        Scenario, a TOML file; with --replay the name of a run.
    output
        Folder to write the tables to; without it nothing is written.
    set_
        key=value, to change a key by its dotted path; may be repeated.
    seed
        Seed of every random stream, instead of the scenario's.
    threads
        Most threads to use, instead of as many as there are idle processors; as many are used as make a run faster,
        and the results do not depend on it.
    json_
        Print manifest, flows and links as JSON; of users their transfers.
    show_config
        Print the scenario as understood, with every default, the memory that users will need and the threads that a
        run uses; and stop.
    trace
        Record what happens to every packet.
    tr
        File to write the packets to in ns-2's trace format.
    pcap
        File to write the packets to as a capture, for Wireshark and others: .pcapng or .pcap.
    pcap_at
        Nodes at which to capture all packets, such as sender,receiver or net.left[*]; without it each flow is captured
        at the host that sends its data.
    report
        File to write the report to, one HTML file.
    plot
        File for a figure of the run, .png, .svg or .pdf: rates, congestion windows and queues over time, or without
        observe.interval what limited each flow.
    replay
        Folder of a sweep or a study of which to simulate one run again, even one that failed.
    controls
        Python file with congestion controls of your own, which it runs; may be repeated.
    yes
        Build a network of more than two million nodes, links and flows, too, which takes minutes.
    """
    define(controls)
    changes = dict(map(parse_option, set_ or []))
    scenario = load(file, set=changes) if replay is None else _replayed(replay, str(file)).set_all(changes)
    if seed is not None:
        scenario = _with_seed(scenario, seed)
    from tightlink.simulate import check_threads, simulate

    check_threads(threads)
    if show_config:
        return _show_config(scenario, threads)
    if not yes:
        check_patience(scenario)
    check_shown(report, plot)
    if pcap_at is not None and pcap is None:
        raise TightlinkError(f"--pcap-at {pcap_at}: nothing is captured without --pcap FILE")
    files: dict[str, Any] = {"tr": tr, "pcap": pcap, "pcap_at": None if pcap_at is None else pcap_at.split(",")}
    there = output is not None and not any(files.values()) and _already_there(scenario, output, trace=trace)
    if output is not None and there:
        from tightlink.run import open_run

        result = open_run(output)
    else:
        with watching(f"simulating {scenario.duration}") as watch:
            result = simulate(scenario, trace=trace, **files, threads=threads, watch=watch, part=True)
        _say_threads(threads, result.manifest["timing"]["threads"])
        if output is not None:
            result.save(output)
            say(f"wrote {output}")
    write_shown(result, report, plot)
    from tightlink.diagnosis import why

    found = why(result, command=_typed(file, replay, changes, seed, controls))
    if json_:
        tables = {name: result.table(name).to_dicts() for name in _PRINTED if name in result.tables}
        print_json({"manifest": result.manifest, "why": found.to_dict()} | tables)
    else:
        from tightlink.console import print_why

        print_why(found)
        print_summary(result)
    if there:
        say(f"{output}: this run is already there")
    return warned(result.warnings)


def _show_config(scenario: Scenario, threads: int | None) -> int:
    from tightlink.simulate import expected_threads

    resolved = scenario.resolve()
    wanted = needed(resolved)
    print_verbatim(understood(scenario))
    if wanted is not None:
        say(f"a run needs {wanted}")
    say(expected_threads(resolved, threads))
    return 0


def _say_threads(wanted: int | None, used: int) -> None:
    if wanted is not None and used < wanted:
        say(f"--threads {wanted}: {used} used, as more are not faster here (--show-config says why)")


for analysis in (
    *(effects, ten_steps, correlation, components, clusters, outliers, ranks, shares),
    *(oscillation, chain),
    *(traffic, arrivals, sizes, lags),
):
    analyze.app.command(with_table_options(analysis))
analyze.app.command(explore)
measure.app.default(with_table_options(scenario))
measure.app.command(serve)
for measurement in (path, tcp, udp_sweep):
    measure.app.command(with_table_options(measurement))
app.command(analyze.app)
app.command(measure.app)
for command in (maxflow, packetize, sweep, sql, compare, predict, evaluate, capture, pinger):
    app.command(with_table_options(command))
app.command(study)
app.command(emulate)
app.command(four_tier)
app.command(lab)
app.command(examples)
app.command(new)
app.command(validate)
app.command(schema)
app.command(completion_of(app), name="completion")


@app.command(name="list")
def list_(
    what: Literal[
        "congestion", "queues", "recovery", "profiles", "topologies", "networks", "parameters", "studies", "metrics"
    ],
) -> None:
    """Print what there is to choose from, one name first on each line.

    Parameters
    ----------
    what
        Kind of thing to list.
    """
    names = _LISTS[what]()
    width = max((len(name) for name, _ in names), default=0)
    for name, text in names:
        print_text(f"{name:{width}}  {text}", indent=width + 2)


@app.command
def report(
    folder: Path,
    *,
    sequence: str | None = None,
    from_: Annotated[str | None, Parameter(name="--from")] = None,
    to: str | None = None,
    with_lab: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Write the report of a run, a study or a sweep, one HTML file, and print where it is.

    Parameters
    ----------
    folder
        Folder of the run, the study or the sweep.
    sequence
        Flow whose sequence numbers are drawn over time; the run needs its packets (run --trace, capture --packets).
    from_
        When they begin, such as "3 s": of a short part every packet is drawn (default: the beginning of the run).
    to
        When they end (default: the end of the run).
    with_lab
        Put a laboratory into the report: the engine, and what was simulated with sliders.
    """
    from tightlink import units
    from tightlink.commands.options import option
    from tightlink.report import run_report

    if sequence is None and (from_ is not None or to is not None):
        raise TightlinkError("--from and --to are times of the chart that --sequence FLOW draws")
    begin_s = None if from_ is None else float(option("--from", from_, units.TIME, zero=True))
    end_s = None if to is None else float(option("--to", to, units.TIME))
    print_verbatim(f"{run_report(folder, sequence=sequence, between_s=(begin_s, end_s), with_lab=with_lab)}\n")


def _typed(
    file: Path, replay: Path | None, changes: dict[str, object], seed: int | None, controls: list[Path] | None
) -> str:
    """What was typed to run a scenario, without what only says where results go: to it, changes can be added."""
    from tightlink.diagnosis.commands import option

    words = ["tightlink run", shlex.quote(str(file))]
    words += [] if replay is None else [f"--replay {shlex.quote(str(replay))}"]
    words += [f"--controls {shlex.quote(str(path))}" for path in controls or []]
    words += [option(key, value) for key, value in changes.items()]
    # As a change of the scenario it is understood by a sweep, too.
    return " ".join(words if seed is None else [*words, option("seed", seed)])


def _replayed(folder: Path, name: str) -> Scenario:
    from tightlink.experiment import open as open_folder

    return open_folder(folder).scenario(name)


def _with_seed(scenario: Scenario, seed: int) -> Scenario:
    try:
        return scenario.set("seed", seed)
    except ScenarioError as error:
        raise ScenarioError(error.expected, key="--seed", value=seed) from None


def _already_there(scenario: Scenario, output: Path, *, trace: bool) -> bool:
    """Looked at before the simulation: a wrong folder is not worth waiting for."""
    from tightlink.run import is_there
    from tightlink.simulate import prepare

    wanted = ["links", *(["packets"] if trace else [])]
    return is_there(output, prepare(scenario).identified, wanted)


def _engine(name: str) -> Callable[[], list[tuple[str, str]]]:
    def names() -> list[tuple[str, str]]:
        listed: list[tuple[str, str]] = getattr(_core, name)()
        return listed

    return names


def _studies() -> list[tuple[str, str]]:
    from tightlink import studies

    return list(studies.names())


def _networks() -> list[tuple[str, str]]:
    from tightlink.scenario.networks import networks

    return [(name, f"{network.title}: {network.about}") for name, network in networks().items()]


def _metrics() -> list[tuple[str, str]]:
    from tightlink.experiment.metrics import listed
    from tightlink.tables import metrics

    of_runs = ((f"runs.{name}", text) for name, text in listed())
    return [*metrics(), *((f"series.{name}", text) for name, text in _core.metrics()), *of_runs]


def _first_line(thing: Any) -> str:
    return str(thing.__doc__).partition("\n")[0].rstrip(".").replace("``", "")


_LISTS: Final[dict[str, Callable[[], list[tuple[str, str]]]]] = {
    "congestion": _engine("congestion"),
    "queues": _engine("queues"),
    "recovery": _engine("recoveries"),
    "profiles": lambda: [(profile.name, profile.help) for profile in PROFILES.values()],
    "topologies": lambda: [(name, _first_line(topology)) for name, topology in TOPOLOGIES.items()],
    "networks": _networks,
    "parameters": lambda: [(name, f"{each.id}: {each.meaning}") for name, each in PARAMETERS.items()],
    "studies": _studies,
    "metrics": _metrics,
}
