"""Study ``congestion-control``: which of twenty parameters matter, and what if the Internet changed its TCP.

K. Mills and others at NIST simulate an Internet-like network of up to 278,000 sources (Study of Proposed Internet
Congestion Control Mechanisms, Special Publication 500-282, 2010): first which of its parameters matter, then seven
replacements of TCP, alone and beside it. Their method is redone here from design to conclusions, at a chosen scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final

from tightlink.studies.congestion_control import options, setup
from tightlink.studies.congestion_control.observe import observe, row
from tightlink.studies.congestion_control.report import report
from tightlink.studies.congestion_control.setup import Chosen
from tightlink.studies.study import Study


def study(chosen: Chosen, command: str = "") -> Study:
    """The study of these experiments; of others, nothing is claimed."""
    return Study(
        "congestion-control",
        "which of twenty parameters govern an Internet-like network, and seven controls in it (NIST 2010)",
        chosen.tasks,
        partial(observe, chosen),
        Path(__file__).with_name("claims.toml"),
        report,
        parts=chosen.names,
        measure=row,
        command=command,
        options=options.OPTIONS,
        adapt=_adapted,
    )


def _adapted(wanted: Mapping[str, str]) -> Study:
    """The study with another size or other experiments."""
    return study(options.chosen(wanted), options.command(wanted))


STUDY: Final = study(setup.chosen())
