"""Ports for what listens in tests."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack
from typing import Final

#: Below the ports that a system gives to connections (32768 and up on Linux, 49152 on others, RFC 6335 §6): no
#: connection of a test beside this one takes a port between its choice and its use.
_PORTS: Final = range(20_000, 32_000)


def unused_port() -> int:
    """A port at which nobody listens, over TCP or UDP, at any address of this machine."""
    # Not the generator that tests seed: two of them would then choose the same ports.
    chance = random.SystemRandom()
    for _ in range(100):
        port = chance.choice(_PORTS)
        with ExitStack() as ends:
            try:
                for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                    ends.enter_context(socket.socket(socket.AF_INET, kind)).bind(("0.0.0.0", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no port is free")
