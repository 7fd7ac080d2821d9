"""What operations of the supervisor answer, and how they refuse."""

from __future__ import annotations

import os
from typing import Any

#: What an operation answers: its result, and descriptors to pass.
Answer = tuple[Any, list[int]]


class Refused(Exception):  # noqa: N818  # it is not an error of the supervisor
    """What cannot be done here; the text is a sentence for the user."""


def sentence(error: Exception) -> str:
    """What went wrong, for the user."""
    if isinstance(error, Refused):
        return str(error)
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{(error.strerror or str(error)).lower()}"
    # Errors of pyroute2, which have no class in common.
    code = getattr(error, "code", None)
    return os.strerror(code).lower() if isinstance(code, int) else repr(error)
