"""Study ``network-congestion``: where a network begins to congest, and what of its graph decides that.

R. Smith finds a transcritical bifurcation on one link and asks about networks: whether congestion there is a phase
transition, and how topological invariants affect it (Data Traffic Dynamics and Saturation on a Single Link, 2009,
arXiv 0802.3554, sections 4 and 6). Of the works that it cites, three say what should be seen. Here graphs of nine
families carry packets between all their nodes, at loads around the critical one.
"""

from typing import Final

from tightlink.studies.network_congestion.observe.load import row
from tightlink.studies.study import Study

STUDY: Final = Study.shipped(__file__, measure=row)
