"""Study ``l4s``: what RFC 9332 says of Prague and Classic flows over one link with DualPI2, and where it holds.

Coexistence over rates of 4 to 200 Mbit/s and round trips of 5 to 100 ms, the delay of both queues, flows that join,
traffic that does not respond, and one queue that marks as contrast. What RFC 9331 and the Prague draft say of the
control is held against the same runs.
"""

from typing import Final

from tightlink.studies.study import Study

STUDY: Final = Study.shipped(__file__)
