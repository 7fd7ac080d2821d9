"""The section on what depends on the choices of NIST's simulator."""

from __future__ import annotations

from tightlink.report import Section, Table, Text
from tightlink.studies.congestion_control.observe.choices import Choices


def section(one: Choices) -> Section:
    """Verdicts by choice."""
    found = one.found.experiment
    return Section(
        found.title,
        found.question,
        [
            Text(
                "In all experiments a timeout leads back to the initial window, slow start is the same for all "
                "controls, H-TCP is standard TCP for a second after a loss and does not scale by the round trip, and "
                "recovery is NewReno. Here each of these is turned back in turn, in the network of experiment 1b with "
                f"short buffers: {found.conditions.height} conditions, at {one.found.size}. {one.found.origin}"
            ),
            Table(one.verdicts, "Verdicts on claims of experiment 1b, and the median ratio to standard TCP."),
        ],
    )
