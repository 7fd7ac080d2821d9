"""How the supervisor enters new namespaces."""

from __future__ import annotations

import json
import os
import signal
import socket
from pathlib import Path

from . import kernel
from .answers import Refused
from .serving import Supervisor


def main(descriptor: int) -> int:
    """Enter the namespaces and serve until nobody asks any more."""
    # Ctrl-C in a terminal reaches all of its processes: what is to end then is for who started this one to say.
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    control = socket.socket(fileno=descriptor)
    parent = os.pidfd_open(os.getppid())
    try:
        user = _enter()
    except Refused as refused:
        control.send(json.dumps({"id": 0, "error": str(refused)}).encode())
        return 1
    # Who makes a PID namespace is not in it; its first child is, as process 1.
    child = os.fork()
    if child:
        control.close()
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)
    kernel.die_with_parent()
    try:
        Supervisor(control, parent).serve(user=user)
    finally:
        os._exit(0)


def _enter() -> bool:
    """New network, PID and mount namespaces, in a user namespace of our own where we may not make them otherwise.

    Returns:
        Whether there is a user namespace.

    Raises:
        Refused: Neither is allowed.
    """
    user, group = os.getuid(), os.getgid()
    wanted = kernel.NEW_NETWORK | kernel.NEW_PROCESSES | kernel.NEW_MOUNTS
    if kernel.unshare(wanted) == 0:
        return False
    if (code := kernel.unshare(kernel.NEW_USER)) != 0:
        raise Refused(
            f"no network namespaces can be made here ({os.strerror(code).lower()}): be root, or allow user namespaces"
        )
    try:
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1", encoding="ascii")
    except OSError as error:
        why = f"a user namespace has no users: {str(error.strerror).lower()}"
        raise Refused(f"no network namespaces can be made here ({why}): be root") from None
    if (code := kernel.unshare(wanted)) != 0:
        why = f"not in a user namespace either: {os.strerror(code).lower()}"
        raise Refused(f"no network namespaces can be made here ({why}): be root")
    return True
