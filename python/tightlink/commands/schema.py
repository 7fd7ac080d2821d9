"""The command ``tightlink schema``: the JSON Schema of scenario files, for editors that complete and check."""

import json

from tightlink.commands.options import Output
from tightlink.console import print_verbatim
from tightlink.files import check_new, write_text
from tightlink.scenario import Scenario


def schema(*, output: Output = None) -> None:
    """Print the JSON Schema of scenario files, with which editors complete and check them while one types.

    Args:
        output: File to write it to instead.
    """
    check_new(output)
    text = json.dumps(Scenario.json_schema(), indent=2, ensure_ascii=False) + "\n"
    if output is None:
        print_verbatim(text)
    else:
        print_verbatim(f"{write_text(output, text)}\n")
