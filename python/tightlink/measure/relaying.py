"""The process of a relay: what it is to be comes as JSON on standard input, what it did goes to standard output.

It is its own script that loads the compiled extension and nothing else of the package: its memory is locked.

Usage: relaying.py
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import socket
import sys
from typing import Any, Final

#: Above what usually runs, below what the kernel itself needs.
_REAL_TIME: Final = 50
_NICEST: Final = -19
# <linux/if_packet.h>, <asm/socket.h>
_SOL_PACKET: Final = 263
_PACKET_STATISTICS: Final = 6
_PACKET_QDISC_BYPASS: Final = 20
_PACKET_IGNORE_OUTGOING: Final = 23
_SO_RCVBUFFORCE: Final = 33
#: Bytes of an unsigned int.
_UNSIGNED: Final = 4
#: What a packet socket may hold until it is read, in bytes.
_HELD: Final = 16 << 20


def main() -> int:
    """Work until told to end."""
    request = json.load(sys.stdin)
    try:
        answer = _relay(**request)
    except (ValueError, OSError) as error:
        answer = {"error": str(error)}
    json.dump(answer, sys.stdout)
    return 0


def _relay(extension: str, spec: dict[str, Any], ports: list[int], stop: int, trace: int | None) -> dict[str, Any]:
    core = _loaded(extension)
    if spec["device"] == "packet":
        for port in ports:
            _prepare(port)
    router = spec["processor"]
    # A router that saturates would be stopped by the kernel's limit on real-time threads.
    priority = _take_priority(real_time=router is None or not router["burn"])
    told: dict[str, Any] = json.loads(core.relay(json.dumps(spec), ports, stop=stop, trace=trace))
    unread = sum(map(_unread, ports)) if spec["device"] == "packet" else 0
    return told | {"priority": priority, "unread": unread}


def _loaded(extension: str) -> Any:
    """The compiled extension in a file."""
    found = importlib.util.spec_from_file_location("tightlink._core", extension)
    if found is None or found.loader is None:
        raise OSError(f"{extension} is no extension")
    core = importlib.util.module_from_spec(found)
    found.loader.exec_module(core)
    return core


def _prepare(port: int) -> None:
    """Make a packet socket hold many frames, see only those that come, and send straight to its device."""
    with socket.socket(fileno=os.dup(port)) as packets:
        for name in (_PACKET_IGNORE_OUTGOING, _PACKET_QDISC_BYPASS):
            packets.setsockopt(_SOL_PACKET, name, 1)
        packets.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _HELD)
        # Beyond the machine's limit, where that is allowed.
        with contextlib.suppress(PermissionError):
            packets.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _HELD)


def _unread(port: int) -> int:
    """Frames that a packet socket lost as it was full."""
    with socket.socket(fileno=os.dup(port)) as packets:
        counts = packets.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 2 * _UNSIGNED)
    return int.from_bytes(counts[_UNSIGNED:], sys.byteorder)


def _take_priority(*, real_time: bool) -> str:
    """Have the best priority that is allowed, but not the threads that come: real-time, high or usual."""
    if real_time:
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(_REAL_TIME))
            return "real-time"
    os.sched_setscheduler(0, os.SCHED_OTHER | os.SCHED_RESET_ON_FORK, os.sched_param(0))
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, _NICEST)
        return "high"
    return "usual"


if __name__ == "__main__":
    sys.exit(main())
