"""Study ``router-response``: two routers and a serial link, probed with packets of five lengths at 28 rates.

M. Paredes-Farrera, M. Fleury, M. Ghanbari: Router Response to Traffic at a Bottleneck Link, 2006. They
find that the packet rate, not the bit rate or the packet length, governs the load of a router's CPU, and
that it becomes unstable from about 4,000 packets/s on.
"""

from typing import Final

from tightlink.studies.router_response.observe.probes import row
from tightlink.studies.study import Study

STUDY: Final = Study.shipped(__file__, measure=row)
