"""The command line. Data goes to standard output, all else to standard error.

Exit codes: 0 all well; 1 failed; 2 wrong usage or scenario; 3 finished, but a claim does not hold or
a warning must be read before the result is trusted.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

from cyclopts import App, Group, Parameter

from tightlink.commands.analyze_algorithms import clusters, outliers, ranks
from tightlink.commands.analyze_effects import effects, ten_steps
from tightlink.commands.analyze_explore import explore
from tightlink.commands.analyze_fairness import fairness
from tightlink.commands.analyze_limits import regimes, saturation
from tightlink.commands.analyze_markov import markov
from tightlink.commands.analyze_oscillation import oscillation
from tightlink.commands.analyze_pinger import pinger
from tightlink.commands.analyze_responses import correlation, pca
from tightlink.commands.analyze_traffic import arrivals, cross_correlation, sizes, traffic
from tightlink.commands.capture import capture
from tightlink.commands.compare import compare
from tightlink.commands.completion import completion_of
from tightlink.commands.emulate import emulate
from tightlink.commands.failures import explained
from tightlink.commands.help_examples import show_examples, show_options_of_study
from tightlink.commands.help_pages import HelpFormatter
from tightlink.commands.lab import lab
from tightlink.commands.list_names import list_names
from tightlink.commands.measure_file import scenario
from tightlink.commands.measure_grid import tcp, udp_sweep
from tightlink.commands.measure_path import path, serve
from tightlink.commands.new_examples import examples
from tightlink.commands.new_four_tier import four_tier
from tightlink.commands.new_network import network
from tightlink.commands.new_study import study as new_study
from tightlink.commands.plan_maxflow import maxflow
from tightlink.commands.plan_packetize import packetize
from tightlink.commands.plan_path import plan_path
from tightlink.commands.plot import plot
from tightlink.commands.query import query
from tightlink.commands.renamed import as_now
from tightlink.commands.report import report
from tightlink.commands.run import run
from tightlink.commands.schema import schema
from tightlink.commands.study import study
from tightlink.commands.sweep import sweep
from tightlink.commands.table_options import with_csv, with_table_options
from tightlink.commands.validate import validate
from tightlink.console import FAILED, INTERRUPTED, say


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
    help_formatter=HelpFormatter(),
    default_parameter=Parameter(show_default=default_text),
    suppress_keyboard_interrupt=False,
    result_action="return_value",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    try:
        words = as_now(sys.argv[1:] if arguments is None else arguments)
        show_options_of_study(app, words)
        result = app(words, exit_on_error=False, print_error=False)
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


def _with_commands(name: str, help_: str) -> App:
    """A command that has others below it."""
    return App(name=name, help=help_, help_format="plaintext", result_action="return_value")


analyze: Final = _with_commands(
    "analyze", "Analyse a table of measurements or of runs: CSV, Parquet, or the folder of a study or sweep."
)
measure: Final = _with_commands("measure", "Measure real networks: a path, grids of transfers and of datagrams.")
new: Final = _with_commands(
    "new", "Begin with something that runs: a ready network, a four-tier network, the examples, a study of your own."
)
plan: Final = _with_commands(
    "plan", "Plan transfers: what a path will carry, what a network carries at most, how long packets should be."
)
# Questions that an analysis answers, in the order of the help.
_ANALYSES: Final[dict[str, tuple[Callable[..., Any], ...]]] = {
    "What limits a link or a router?": (saturation, regimes),
    "Which factors matter?": (effects, ten_steps),
    "Which responses say the same?": (correlation, pca, explore),
    "How do algorithms differ?": (clusters, outliers, ranks, fairness),
    "What is the traffic like?": (traffic, arrivals, sizes, cross_correlation),
    "What changes over time?": (oscillation, markov),
    "What do others measure?": (pinger,),
}
for question, analyses in _ANALYSES.items():
    asked = Group.create_ordered(question)
    for analysis in analyses:
        analyze.command(analysis if analysis is explore else with_table_options(analysis), group=asked)
measure.default(with_table_options(scenario))
measure.command(serve)
for measurement in (path, tcp, udp_sweep):
    measure.command(with_table_options(measurement))
plan.command(with_table_options(plan_path), name="path")
for planned in (maxflow, packetize):
    plan.command(with_table_options(planned))
for begun in (network, four_tier, with_table_options(examples)):
    new.command(begun)
new.command(new_study, name="study")

# Groups of the help, in their order, and what is in them.
_SIMULATE, _MEASURE, _UNDERSTAND, _PREPARE, _OTHER = map(
    Group.create_ordered, ("Simulate", "Measure", "Understand", "Prepare", "Other")
)
app.command(with_table_options(run), group=_SIMULATE)
app.command(with_table_options(sweep), group=_SIMULATE)
app.command(with_table_options(study), group=_SIMULATE)
app.command(lab, group=_SIMULATE)
for measuring in (emulate, with_table_options(capture)):
    app.command(measuring, group=_MEASURE)
for understanding in (report, with_table_options(plot), with_table_options(compare), with_table_options(query)):
    app.command(understanding, group=_UNDERSTAND)
app.command(validate, group=_PREPARE)
app.command(with_csv(list_names), name="list", group=_PREPARE)
app.command(schema, group=_OTHER)
app.command(completion_of(app), group=_OTHER)
for below, group in ((measure, _MEASURE), (analyze, _UNDERSTAND), (new, _PREPARE), (plan, _PREPARE)):
    below.group = group
    app.command(below)
for flag in ("--help", "--version"):
    app[flag].group = _OTHER
show_examples(app)
