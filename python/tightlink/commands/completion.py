"""The command ``tightlink completion``: the script with which a shell completes commands and options."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from functools import reduce
from typing import Any, Final, Literal

from cyclopts import App

from tightlink import studies
from tightlink.console import print_verbatim

#: Files as Cyclopts has bash complete them: a name with spaces falls apart.
_FILES: Final = re.compile(r'COMPREPLY=\( \$\(compgen (-[a-z]) -- "\$\{cur\}"\) \)')
_WHOLE: Final = r"""local IFS=$'\\n'; COMPREPLY=( $(compgen \1 -- "${cur}") ); compopt -o filenames 2>/dev/null"""


def completion_of(app: App) -> Callable[[Literal["bash", "zsh", "fish"]], None]:
    """The command that completes the commands of an application."""

    def completion(shell: Literal["bash", "zsh", "fish"]) -> None:
        """Print the script with which a shell completes commands, options and files.

        Args:
            shell: The shell: bash, zsh or fish.
        """
        with contextlib.ExitStack() as stack:
            for command, argument, names in _names():
                function: Any = reduce(App.__getitem__, command.split(), app).default_command
                # Commands look names up themselves, to say which is meant: no type of theirs has them.
                stack.callback(function.__annotations__.__setitem__, argument, function.__annotations__[argument])
                function.__annotations__[argument] = Literal[names] | str
            script = app.generate_completion(shell=shell)
        print_verbatim(_FILES.sub(_WHOLE, script))

    return completion


def _names() -> list[tuple[str, str, tuple[str, ...]]]:
    """Arguments of commands that take one of some names, or else a file."""
    # Not at the top: each command imports this module.
    from tightlink.experiment.designs import KINDS
    from tightlink.scenario.networks import networks

    return [
        ("new network", "name", tuple(networks())),
        ("study", "name", tuple(name for name, _ in studies.names())),
        ("sweep", "design", tuple(KINDS)),
    ]
