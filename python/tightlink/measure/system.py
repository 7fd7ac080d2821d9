"""The operating system that measuring needs; whatever is made of its namespaces stands above this."""

from __future__ import annotations

import sys

from tightlink.errors import TightlinkError


def need_linux() -> None:
    """Refuse on other systems what is made of Linux's namespaces, devices and sockets."""
    if sys.platform != "linux":
        raise TightlinkError(
            f"measure and emulate need Linux, and this is {sys.platform}: simulation, captures, studies and all "
            "analyses work here"
        )
