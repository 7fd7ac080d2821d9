"""The command line. Data goes to standard output, all else to standard error.

Exit codes: 0 all well; 1 failed; 2 wrong usage or scenario; 3 finished, but a claim does not hold or
a warning must be read before the result is trusted.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, get_args

from cyclopts import App, ArgumentCollection, CoercionError, Group, Parameter

import tightlink
from tightlink.commands.completion import completion_of
from tightlink.commands.failures import explained
from tightlink.commands.help_examples import EXAMPLES, show_options_of_study
from tightlink.commands.help_pages import HelpFormatter, example
from tightlink.commands.renamed import as_now
from tightlink.console import FAILED, INTERRUPTED, say, saying_warnings
from tightlink.plain_text import typed

#: Commands and where they are, by the headings of the help, in its order: a module is loaded when its command is used.
_COMMANDS: Final = {
    "Simulate": {"run": "run:run", "sweep": "sweep:sweep", "study": "study:study", "lab": "lab:lab"},
    "Measure": {"emulate": "emulate:emulate", "capture": "capture:capture"},
    "Understand": {
        "report": "report:report",
        "plot": "report:plot",
        "compare": "compare:compare",
        "query": "query:query",
    },
    "Prepare": {"validate": "validate:validate", "list": "list_names:list_names"},
    "Other": {"schema": "validate:schema"},
}
#: What prints the commands below.
_LISTING: Final[Sequence[list[str]]] = ([], ["analyze"], ["new"], ["plan"])
#: Commands that have others below them: their headings and what they are, and these by the questions that they answer,
#: each with the end of the name of its module, which begins with the command's.
_BELOW: Final[dict[str, tuple[str, str, dict[str, dict[str, Sequence[str]]]]]] = {
    "analyze": (
        "Understand",
        "Analyse a table of measurements or of runs: CSV, Parquet, or the folder of a study or sweep.",
        {
            "What limits a link or a router?": {"limits": ("saturation", "regimes")},
            "Which factors matter?": {"effects": ("effects", "ten-steps")},
            "Which responses say the same?": {"responses": ("correlation", "pca"), "explore": ("explore",)},
            "How do algorithms differ?": {"algorithms": ("clusters", "outliers", "ranks", "fairness")},
            "What is the traffic like?": {"traffic": ("traffic", "arrivals", "sizes", "cross-correlation")},
            "Do flows lose packets together?": {"synchronization": ("synchronization",)},
            "What changes over time?": {"oscillation": ("oscillation",), "markov": ("markov",)},
            "What do others measure?": {"pinger": ("pinger",)},
        },
    ),
    "new": (
        "Prepare",
        "Begin with something that runs: a ready network, a four-tier network, the examples, lessons, your own study.",
        {
            "": {"network": ("network",), "four_tier": ("four-tier",), "examples": ("examples", "lessons", "study")},
        },
    ),
    "plan": (
        "Prepare",
        "Plan transfers: what a path will carry, what a network carries at most, how long packets should be.",
        {"": {"path": ("path",), "maxflow": ("maxflow",), "packetize": ("packetize",)}},
    ),
}


def _all_below(above: App) -> None:
    """Load the commands below another one, as their help has the first line of each."""
    for name in above:
        if not name.startswith("-"):
            _all_below(above[name])


def default_text(default: object) -> str | None:
    """A default for the help: none of options that are off or not given."""
    if default in {None, False, ""}:
        return None
    return f"{default:g}" if isinstance(default, float) else str(default)


def check_values(_app: App, _commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Refuse what Cyclopts takes for another value: fractions, which it rounds, and empty names, for this folder.

    Text is taken as it was typed, whatever the locale; names of files stay as the system has them.
    """
    for argument in arguments:
        kinds = _kinds(argument.hint)
        if Path not in kinds:
            argument.tokens = [token.evolve(value=typed(token.value)) for token in argument.tokens]
        for token in argument.tokens:
            for kind, is_wrong in ((int, _fraction(token.value)), (Path, not token.value)):
                if is_wrong and kind in kinds:
                    raise CoercionError(token=token, target_type=kind, argument=argument)


def _kinds(hint: object) -> set[object]:
    """A type with all that it is made of, such as list[Path] | None."""
    return {hint}.union(*map(_kinds, get_args(hint)))


def _fraction(text: str) -> bool:
    try:
        return "." in text and not float(text).is_integer()
    except ValueError:
        return False


app = App(
    name="tightlink",
    help="Simulate networks packet by packet, measure real ones, read captures, and say why a flow is slow: "
    "which link, queue, window or router limits it, and what would help.",
    help_epilogue="Begin with:\n  tightlink new examples examples\n  tightlink run examples/one-flow.toml",
    version=lambda: str(tightlink.__version__),
    help_format="plaintext",
    help_formatter=HelpFormatter(),
    default_parameter=Parameter(show_default=default_text),
    suppress_keyboard_interrupt=False,
    config=check_values,
    result_action="return_value",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    try:
        words = as_now(sys.argv[1:] if arguments is None else arguments)
        if words in _LISTING or {"--help", "-h"}.intersection(words):
            _all_below(app)
            show_options_of_study(app, words)
        with saying_warnings():
            result = app(words, exit_on_error=False, print_error=False)
        sys.stdout.flush()
    except KeyboardInterrupt as error:
        return _interrupted(str(error))
    except BrokenPipeError:
        # The reader of the pipe has gone: nobody is left to tell.
        sys.stdout = None
        return FAILED
    except BaseException as error:
        if isinstance(error, SystemExit | GeneratorExit):
            raise
        if _interrupted_while_a_model_was_built(error):
            return _interrupted()
        sentence, code = explained(error)
        say(sentence)
        _discard_unwritable_output()
        return code
    return result if isinstance(result, int) else 0


def _interrupted(kept: str = "") -> int:
    say(f"interrupted; {kept or 'nothing was written'}")
    return INTERRUPTED


def _interrupted_while_a_model_was_built(error: BaseException) -> bool:
    """Pydantic tells Ctrl-C while it compiles a model as an error of that model, with neither cause nor context."""
    return type(error).__name__ == "SchemaError" and "KeyboardInterrupt" in str(error)


def _discard_unwritable_output() -> None:
    """Standard output that cannot take what is buffered would fail once more as Python ends."""
    try:
        sys.stdout.flush()
    except OSError:
        sys.stdout = None


def _register(above: App, commands: Mapping[str, str], group: Group | None = None) -> None:
    """Put commands below another one, by their names."""
    for name, place in commands.items():
        words = " ".join([*above.name[above is app :], name])
        if words not in EXAMPLES:
            raise LookupError(f'"{words}" has no example in commands/help_examples.py')
        shown = example(f"{words} {EXAMPLES[words]}")
        above.command(f"tightlink.commands.{place}", name=name, group=group, help_epilogue=shown)


_GROUPS: Final = {heading: Group.create_ordered(heading) for heading in _COMMANDS}
for title, below in _COMMANDS.items():
    _register(app, below, _GROUPS[title])
for name, (heading, about, groups) in _BELOW.items():
    own = App(
        name=name, help=about, help_epilogue="", help_format="plaintext", result_action="return_value",
        group=_GROUPS[heading],
    )  # fmt: skip
    app.command(own)
    for title, modules in groups.items():
        places = {each: f"{name}_{end}:{each.replace('-', '_')}" for end, below in modules.items() for each in below}
        _register(own, places, Group.create_ordered(title) if title else None)
app.command("tightlink.commands.measure:measure", name="measure", group=_GROUPS["Measure"])
app.command(completion_of(app), group=_GROUPS["Other"], help_epilogue=example(f"completion {EXAMPLES['completion']}"))
for flag in ("--help", "--version"):
    app[flag].group = _GROUPS["Other"]
