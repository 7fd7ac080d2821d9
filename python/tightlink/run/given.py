"""What is given as a run, and what to write where it is something else.

Example:
    >>> check_run(tl.network("dsl"))
    Traceback (most recent call last):
    tightlink.errors.TightlinkError: expected a Run, not Scenario; tl.simulate(scenario) makes one
"""

from __future__ import annotations

import os

from tightlink.errors import TightlinkError
from tightlink.run.run import Run
from tightlink.scenario import Scenario


def check_run(given: object) -> None:
    """Refuse what is no run, above all its scenario or its folder.

    Raises:
        TightlinkError: It is another thing.
    """
    if isinstance(given, Run):
        return
    made = ""
    if isinstance(given, Scenario):
        made = "; tl.simulate(scenario) makes one"
    elif isinstance(given, str | os.PathLike):
        made = f"; tl.open_run({os.fspath(given)!r}) opens one that was saved"
    elif callable(getattr(given, "run", None)):
        # An experiment, of which this package knows nothing.
        made = '; its run("0/0") is one'
    raise TightlinkError(f"expected a Run, not {type(given).__name__}{made}")
