"""Waiting for what happens: until it has, however long a busy machine takes, and not for a time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

#: What anything may take, in seconds, before it counts as stuck.
PATIENCE_S: Final = 60.0


def soon(holds: Callable[[], object], within_s: float = PATIENCE_S) -> bool:
    """Whether something comes true: at once when it has, and no longer than nothing takes."""
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(0.02)
    return bool(holds())
