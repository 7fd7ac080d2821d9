"""Study ``bulk-throughput``: what a path carries for every window and number of flows, and what to choose.

IEPM group, SLAC: Bulk throughput simulation, December 2000 (cited as "SLAC 2000, Bulk throughput
simulation"), which predicted iperf's goodput from SLAC to four sites with ns-2. Its measurements were not
published; its simulations are redone here, and compared with ns-2.35.
"""

from typing import Final

from tightlink.studies.bulk_throughput.observe.grids import measure
from tightlink.studies.study import Study

STUDY: Final = Study.shipped(__file__, measure=measure)
