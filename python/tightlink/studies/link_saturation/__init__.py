"""Study ``link-saturation``: UDP of all packet sizes over one Ethernet link, limited by bits, then by packets.

R. Smith: Data Traffic Dynamics and Saturation on a Single Link, 2009 (arXiv 0802.3554), two hosts and a cable:
below a critical packet size the sender's interface, not the line, is what limits.
"""

from __future__ import annotations

from typing import Final

from tightlink.studies.link_saturation import live
from tightlink.studies.link_saturation.observe import observe
from tightlink.studies.link_saturation.observe.saturation import of_run
from tightlink.studies.link_saturation.report import report
from tightlink.studies.link_saturation.setup.variations import tasks
from tightlink.studies.study import Live, Study

STUDY: Final = Study.shipped(
    __file__,
    tasks,
    observe,
    report,
    measure=of_run,
    live=Live(live.hosts.tasks, live.measurements, live.observe, live.report),
)
