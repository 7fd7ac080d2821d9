"""What is claimed, and by whom: the document of one link, which asks about networks, and those that it cites.

R. Smith: Data Traffic Dynamics and Saturation on a Single Link, 2009 (arXiv 0802.3554), finds a transcritical
bifurcation on one link, and leaves the network to others: whether congestion there is a phase transition, and how
topological invariants affect it. Of the works that it cites, three say what should be seen.
"""

from __future__ import annotations

from typing import Final

#: As claims cite them.
SMITH: Final = "Smith 2009, Data Traffic Dynamics and Saturation on a Single Link"
INTRODUCTION: Final = f"{SMITH}, section 1"
ISSUES: Final = f"{SMITH}, section 2"
RESULTS: Final = f"{SMITH}, section 4"
DISCUSSION: Final = f"{SMITH}, section 6"
#: Ref. 11 there.
ZHAO: Final = "Zhao, Lai, Park, Ye 2005, Onset of traffic congestion in complex networks (Smith's ref. 11)"
#: The order parameter.
ARENAS: Final = "Arenas, Díaz-Guilera, Guimerà 2001, Communication in networks with hierarchical branching"
THEORY: Final = "theory: λc = min over links of C (n − 1) / B"
FLUID: Final = "theory: fluid model of queues in order of arrival"
QUEUEING: Final = "theory: queues"

#: Packet sizes of the Internet and their shares: ACKs, the old default of 536 B of payload, full Ethernet frames. The
#: document names three modes without figures (its ref. 33); these are the usual ones, our choice.
MODES: Final = {"ack": (40, 0.5), "default": (576, 0.25), "full": (1500, 0.25)}
