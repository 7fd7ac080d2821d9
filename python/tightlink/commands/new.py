"""The command ``tightlink new``: something to begin with, written out so that it can be edited."""

from typing import Final

from cyclopts import App

app: Final = App(
    name="new",
    help="Begin with something that runs: a ready network, a four-tier network, the examples, a study of your own.",
    help_format="plaintext",
    result_action="return_value",
)
