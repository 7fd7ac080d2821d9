"""The twenty parameters of the four-tier network: names, two levels each, and where they come from.

The names are the document's (NIST SP 500-282). Its levels are not published in what could be read: unless
``origin`` says otherwise they are this project's choice, for the reason that stands beside them. All are those of
the network at its full size (``parameters.toml``).

Example:
    >>> speed = PARAMETERS["network_speed"]
    >>> speed.id, speed.low, speed.high
    ('X1', '4000 packets/ms', '8000 packets/ms')
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One of the twenty."""

    id: str
    #: As the document calls it.
    name: str
    #: What it is here.
    meaning: str
    #: Nothing where the level is that there is none of it.
    low: Any = None
    high: Any
    #: What is known of the document's levels.
    origin: str
    #: Why these.
    reason: str


_TEXT: Final = (files("tightlink.scenario.four_tier") / "parameters.toml").read_text(encoding="utf-8")
PARAMETERS: Final = {name: Parameter(**table) for name, table in tomllib.loads(_TEXT).items()}
