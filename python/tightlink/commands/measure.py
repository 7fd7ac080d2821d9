"""The command ``tightlink measure``: a scenario on real hosts, and below it what measures paths to other hosts."""

from typing import Final

from cyclopts import App

from tightlink.commands.help_examples import EXAMPLES
from tightlink.commands.help_pages import example
from tightlink.commands.measure_file import scenario

measure: Final = App(
    name="measure",
    help="Measure real networks: a path, grids of transfers and of datagrams.",
    help_format="plaintext",
    help_epilogue=example(f"measure {EXAMPLES['measure']}"),
    result_action="return_value",
)
measure.default(scenario)
for name, place in {
    "path": "measure_path:path",
    "serve": "measure_path:serve",
    "tcp": "measure_grid:tcp",
    "udp-sweep": "measure_grid:udp_sweep",
}.items():
    shown = example(f"measure {name} {EXAMPLES[f'measure {name}']}")
    measure.command(f"tightlink.commands.{place}", name=name, help_epilogue=shown)
