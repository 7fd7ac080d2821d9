"""The command ``tightlink plan``: what a path or a network will carry, before anything is sent."""

from typing import Final

from cyclopts import App

app: Final = App(
    name="plan",
    help="Plan transfers: what a path will carry, what a network carries at most, how long packets should be.",
    help_format="plaintext",
    result_action="return_value",
)
