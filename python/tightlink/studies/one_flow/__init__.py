"""Study ``one-flow``: one TCP flow over one link, in seven cases, then with UDP, and sharing the link.

L. Balliache: Differentiated service on Linux / one TCP flow, 2003 (cited as "Balliache 2003, One TCP
flow"), a study with ns-2 of a TCP flow that has a link for itself. Its lessons rest on a default that
it does not mention, a window of 20 packets.
"""

from typing import Final

from tightlink.studies.study import Study

STUDY: Final = Study.shipped(__file__)
