"""Profiles: named sets of transport defaults. These stand in ``profiles.toml``, each with its source, and nowhere else.

Example:
    >>> PROFILES["ns2"].tcp.window, PROFILES["rfc"].tcp.initial_window
    ('20 packets', '10 packets')
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Final


@dataclass(frozen=True, kw_only=True)
class RtoDefaults:
    """Defaults of the retransmission timer."""

    initial: str
    min: str
    max: str
    granularity: str


@dataclass(frozen=True, kw_only=True)
class TcpDefaults:
    """A TCP connection where its table is silent; headers are in bytes."""

    congestion: str
    recovery: str
    payload: str
    header_bytes: int
    ack_bytes: int
    window: str
    initial_window: str
    #: Nothing: the same as the window.
    initial_ssthresh: str | None = None
    slow_start: str
    #: With any other congestion control than the profile's.
    slow_start_of_others: str
    #: Options of congestion controls, by their names, where they differ from the controls' own defaults.
    control_options: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    max_ssthresh: str
    delayed_acks: bool
    delayed_ack_timeout: str
    limited_transmit: bool
    pacing: bool
    ecn: bool
    rto: RtoDefaults


@dataclass(frozen=True, kw_only=True)
class UdpDefaults:
    """A UDP flow where its table is silent; headers are in bytes."""

    payload: str
    header_bytes: int
    #: What each further fragment of a datagram repeats.
    fragment_header_bytes: int


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A named set of defaults."""

    name: str
    help: str
    queue: str
    #: Nothing: packets of any size fit.
    mtu: str | None = None
    tcp: TcpDefaults
    udp: UdpDefaults


def _profile(name: str, table: dict[str, Any]) -> Profile:
    tcp = table["tcp"] | {"rto": RtoDefaults(**table["tcp"]["rto"])}
    return Profile(**table | {"name": name, "tcp": TcpDefaults(**tcp), "udp": UdpDefaults(**table["udp"])})


_TABLES: Final = tomllib.loads((files("tightlink.scenario") / "profiles.toml").read_text(encoding="utf-8"))
PROFILES: Final = {name: _profile(name, table) for name, table in _TABLES.items()}
LINUX: Final = PROFILES["linux"]
DEFAULT_PROFILE: Final = "rfc"
