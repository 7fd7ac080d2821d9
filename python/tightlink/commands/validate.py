"""``tightlink validate``, whether scenarios can be run, and ``tightlink schema``, with which editors check them."""

import json
from pathlib import Path
from typing import Any

from tightlink.commands.controls import Controls, define
from tightlink.commands.options import JsonOf, Output, Set, changes
from tightlink.commands.table_options import with_csv
from tightlink.console import WRONG, print_json, print_text, print_verbatim, say
from tightlink.errors import ScenarioError
from tightlink.files import write_new
from tightlink.numbers import several
from tightlink.scenario import Scenario, load
from tightlink.scenario.idle import idle, idle_networks
from tightlink.simulate import check


@with_csv
def validate(files: list[Path], /, *, set_: Set = None, controls: Controls = None, json_: JsonOf = False) -> int:
    """Check scenarios without running them: every error with its key, value and what was expected.

    Args:
        files: Scenarios, TOML files.
        json_: Print as JSON of each file whether it is valid, its errors and warnings, and how large it is.
    """
    define(controls)
    changed = changes(set_)
    found: list[dict[str, Any]] = []
    for file in files:
        about: dict[str, Any] = {"file": str(file), "valid": False, "errors": [], "warnings": []}
        found.append(about)
        try:
            scenario = load(file, set=changed)
            resolved = check(scenario)
        except ScenarioError as error:
            say(str(error.of_command()))
            about["errors"] = [{"key": each.key, "error": each.sentence()} for each in (error, *error.others)]
            continue
        sizes = {part: len(resolved[part]) for part in ("nodes", "links", "flows")}
        about |= {
            "valid": True,
            "warnings": [*idle(resolved), *idle_networks(scenario.link)],
            **sizes,
            "duration_s": resolved["duration_s"],
        }
        for text in about["warnings"]:
            say(f"warning: {file}: {text}")
        if not json_:
            counts = [several(count, part.removesuffix("s")) for part, count in sizes.items()]
            print_text(f"{file}: valid: {', '.join(counts)}, {scenario.duration}")
    if json_:
        print_json(found)
    return 0 if all(about["valid"] for about in found) else WRONG


def schema(*, output: Output = None) -> None:
    """Print the JSON Schema of scenario files, with which editors complete and check them while one types.

    Args:
        output: File to write it to instead.
    """
    text = json.dumps(Scenario.json_schema(), indent=2, ensure_ascii=False) + "\n"
    if output is None:
        print_verbatim(text)
    else:
        print_verbatim(f"{write_new(output, text)}\n")
