"""What is wrong with a table that Python made, in Python's words: errors have those of TOML.

Example:
    >>> import tightlink as tl
    >>> tl.Link(ends=("a", "b"), rate="2 Mbit/s", queue="codel")
    Traceback (most recent call last):
    tightlink.errors.ScenarioError: Link: queue = "codel": expected a limit such as "20 packets", or a table with the \
discipline as kind; did you mean {"kind": "codel"}?
"""

from __future__ import annotations

import keyword
import re
from typing import Final

from tightlink.errors import ScenarioError

#: What stands in a list of keys.
_LISTED: Final = re.compile(r"(?<=[ ,])(\w+)(?=,|$)")
_NAMED: Final = re.compile(r"as in \[\w+\.NAME\]")
_OF_SCENARIO: Final = re.compile(r"(\w+) above the first \[table\].*")


def of_arguments(error: ScenarioError) -> ScenarioError:
    """The same error of the arguments of a table's class, with what Python would have in place of TOML."""
    for problem in (error, *error.others):
        problem.in_python = True
        if problem.key is not None:
            problem.key = ".".join(map(_argument, problem.key.split(".")))
        unknown = problem.expected.startswith("unknown key")
        if unknown:
            problem.expected = _LISTED.sub(lambda found: _argument(found[1]), problem.expected)
        problem.expected = _NAMED.sub('such as {"NAME": …}', problem.expected)
        if problem.suggestion and (whole := _OF_SCENARIO.fullmatch(problem.suggestion)):
            problem.suggestion = f"Scenario({whole[1]}=…)"
        elif problem.suggestion and unknown:
            first, *below = problem.suggestion.strip('"').split(".")
            problem.suggestion = _argument(first) + (f'={{"{below[0]}": …}}' if below else "")
    return error


def _argument(key: str) -> str:
    return f"{key}_" if keyword.iskeyword(key) else key
