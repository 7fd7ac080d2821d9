"""The command ``tightlink validate``: whether scenarios can be run, without running them."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tightlink.console import WRONG, print_text, say
from tightlink.errors import ScenarioError
from tightlink.plots.labels import several
from tightlink.scenario import load, parse_option


def validate(
    files: list[Path],
    /,
    *,
    set_: Annotated[list[str] | None, Parameter(name="--set", negative="")] = None,
) -> int:
    """Check scenarios without running them: every error with its key, value and what was expected.

    Parameters
    ----------
    files
        Scenarios, TOML files.
    set_
        key=value, to change a key by its dotted path first; may be repeated.
    """
    changes = dict(map(parse_option, set_ or []))
    code = 0
    for file in files:
        try:
            scenario = load(file, set=changes)
            resolved = scenario.resolve()
        except ScenarioError as error:
            say(str(error))
            code = WRONG
            continue
        counts = [several(len(resolved[part]), part.removesuffix("s")) for part in ("nodes", "links", "flows")]
        print_text(f"{file}: valid: {', '.join(counts)}, {scenario.duration}")
    return code
