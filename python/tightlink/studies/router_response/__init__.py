"""Study ``router-response``: two routers and a serial link, probed with packets of five lengths at 28 rates.

M. Paredes-Farrera, M. Fleury, M. Ghanbari: Router Response to Traffic at a Bottleneck Link, 2006. They
find that the packet rate, not the bit rate or the packet length, governs the load of a router's CPU, and
that it becomes unstable from about 4,000 packets/s on.
"""

from __future__ import annotations

from typing import Final

from tightlink.studies.router_response import live
from tightlink.studies.router_response.observe import observe
from tightlink.studies.router_response.observe.probes import row
from tightlink.studies.router_response.report import report
from tightlink.studies.router_response.setup import tasks
from tightlink.studies.study import Live, Study

STUDY: Final = Study.shipped(
    __file__,
    tasks,
    observe,
    report,
    measure=row,
    live=Live(live.process_router.tasks, live.measurements, live.observe, live.report),
)
