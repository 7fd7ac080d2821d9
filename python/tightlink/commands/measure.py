"""The command ``tightlink measure``: real networks."""

from typing import Final

from cyclopts import App

app: Final = App(
    name="measure",
    help="Measure real networks: a path, grids of transfers and of datagrams.",
    help_format="plaintext",
    result_action="return_value",
)
