"""Study ``router-response``: two routers and a serial link, probed with packets of five lengths at 28 rates.

M. Paredes-Farrera, M. Fleury, M. Ghanbari: Router Response to Traffic at a Bottleneck Link, 2006. They
find that the packet rate, not the bit rate or the packet length, governs the load of a router's CPU, and
that it becomes unstable from about 4,000 packets/s on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tightlink.studies.router_response import live
from tightlink.studies.router_response.observe import observe
from tightlink.studies.router_response.observe.probes import row
from tightlink.studies.router_response.report import report
from tightlink.studies.router_response.setup import tasks
from tightlink.studies.study import Live, Study

STUDY: Final = Study(
    "router-response",
    "a router's load over packet rate, bit rate and packet length (Paredes-Farrera et al. 2006)",
    tasks,
    observe,
    Path(__file__).with_name("claims.toml"),
    report,
    measure=row,
    live=Live(live.tasks, live.measurements, live.observe, live.report),
)
