"""Study ``congestion-control``: which of twenty parameters matter, and what if the Internet changed its TCP.

K. Mills and others at NIST simulate an Internet-like network of up to 278,000 sources (Study of Proposed Internet
Congestion Control Mechanisms, Special Publication 500-282, 2010): first which of its parameters matter, then seven
replacements of TCP, alone and beside it. Their method is redone here from design to conclusions, at a chosen scale.
"""

from functools import partial
from typing import Final

from tightlink.studies.congestion_control import options, setup
from tightlink.studies.congestion_control.observe import observe, row
from tightlink.studies.congestion_control.setup import Chosen
from tightlink.studies.study import Study


def study(chosen: Chosen) -> Study:
    """The study of these experiments; of others, nothing is claimed."""
    return Study.shipped(
        __file__, tasks=chosen.tasks, observe=partial(observe, chosen), measure=row, parts=chosen.names,
        options=options.OPTIONS, adapt=lambda wanted: study(options.chosen(wanted)),
    )  # fmt: skip


STUDY: Final = study(setup.chosen())
