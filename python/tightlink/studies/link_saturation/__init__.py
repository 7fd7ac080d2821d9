"""Study ``link-saturation``: UDP of all packet sizes over one Ethernet link, limited by bits, then by packets.

R. Smith: Data Traffic Dynamics and Saturation on a Single Link, 2009 (arXiv 0802.3554), two hosts and a cable:
below a critical packet size the sender's interface, not the line, is what limits.
"""

from typing import Final

from tightlink.studies.link_saturation.observe.saturation import of_run
from tightlink.studies.study import Study

STUDY: Final = Study.shipped(__file__, measure=of_run)
