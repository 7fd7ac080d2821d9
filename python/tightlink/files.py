"""Writing files that appear complete or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text file under a temporary name, then give it its own, in place of an older one.

    Missing folders are made. A process that is killed meanwhile leaves no half file.

    Example:
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_text(Path(folder) / "new" / "a.txt", "hello").read_text()
        'hello'
    """
    return write_bytes(path, text.encode())


def write_bytes(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write a file of any kind in the same way."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        temporary.chmod(_permissions())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    return target


def _permissions() -> int:
    """Those that a new file gets; temporary ones get less."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
