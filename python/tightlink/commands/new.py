"""The command ``tightlink new``: a scenario to start from, written out so that it can be edited."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from tightlink.console import print_verbatim
from tightlink.files import check_new, write_text


def new(
    what: Literal["network"], name: str, *, output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None
) -> None:
    """Print a scenario to start from, with where its numbers are from as comments: a download over a ready network.

    Parameters
    ----------
    what
        Kind of thing: network.
    name
        Its name, as "tightlink list networks" has them.
    output
        File to write it to instead.
    """
    from tightlink.scenario.new import network_toml

    text = {"network": network_toml}[what](name)
    if output is None:
        print_verbatim(text)
        return
    check_new(output)
    print_verbatim(f"{write_text(output, text)}\n")
