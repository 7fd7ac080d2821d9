"""The command ``tightlink completion``: the script with which a shell completes commands and options."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from tightlink.console import print_verbatim

if TYPE_CHECKING:
    from cyclopts import App


def completion_of(app: App) -> Callable[[Literal["bash", "zsh", "fish"]], None]:
    """The command for an application.

    Args:
        app: Whose commands are completed.
    """

    def completion(shell: Literal["bash", "zsh", "fish"]) -> None:
        """Print the script with which a shell completes commands, options and files.

        Args:
            shell: The shell: bash, zsh or fish.
        """
        print_verbatim(app.generate_completion(shell=shell))

    return completion
