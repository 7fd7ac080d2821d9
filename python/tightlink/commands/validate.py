"""The command ``tightlink validate``: whether scenarios can be run, without running them."""

from pathlib import Path

from tightlink.commands.controls import Controls, define
from tightlink.commands.options import Set, changes
from tightlink.console import WRONG, print_text, say
from tightlink.errors import ScenarioError
from tightlink.numbers import several
from tightlink.scenario import load
from tightlink.scenario.idle import idle


def validate(
    files: list[Path],
    /,
    *,
    set_: Set = None,
    controls: Controls = None,
) -> int:
    """Check scenarios without running them: every error with its key, value and what was expected.

    Args:
        files: Scenarios, TOML files.
    """
    define(controls)
    changed = changes(set_)
    code = 0
    for file in files:
        try:
            scenario = load(file, set=changed)
            resolved = scenario.resolve()
        except ScenarioError as error:
            say(str(error.of_command()))
            code = WRONG
            continue
        for text in idle(resolved):
            say(f"warning: {file}: {text}")
        counts = [several(len(resolved[part]), part.removesuffix("s")) for part in ("nodes", "links", "flows")]
        print_text(f"{file}: valid: {', '.join(counts)}, {scenario.duration}")
    return code
