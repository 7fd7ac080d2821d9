"""Study ``congestion-basics``: what congestion control is, and what theory says of it, before a network is built of it.

The first pages of NIST's study of proposed replacements for TCP (2011): the phases of a flow, a path of which TCP
uses 89 %, and one of which it uses little; then the response functions of the replacements, and the points at which
those that measure delay come to rest.
"""

from typing import Final

from tightlink.studies.study import Study

STUDY: Final = Study.shipped(__file__)
