"""A part of the study: what one experiment shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tightlink.experiment.claims import Claim
    from tightlink.report import Section


@dataclass(frozen=True)
class Part:
    """Claims, a section of the report, and figures for papers."""

    claims: Sequence[Claim]
    section: Section
    draw: Callable[[Path], list[Path]] = lambda _: []
    """Writes the figures into a folder."""
