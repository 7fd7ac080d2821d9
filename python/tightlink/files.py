"""Writing files that appear complete or not at all."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Final

#: Tells apart what several threads write at once.
_NUMBERS: Final = itertools.count()


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text file under a temporary name, then give it its own, in place of an older one.

    Missing folders are made. A process that is killed meanwhile leaves no half file.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_text(Path(folder) / "new" / "a.txt", "hello").read_text()
        'hello'
    """
    return write_bytes(path, text.encode())


def write_bytes(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write a file of any kind in the same way."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.parent / f".{target.name}.{os.getpid()}-{next(_NUMBERS)}.tmp"
    try:
        with temporary.open("xb") as file:
            file.write(content)
        temporary.replace(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None
    finally:
        temporary.unlink(missing_ok=True)
    return target
