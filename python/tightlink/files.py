"""Writing files that appear complete or not at all."""

from __future__ import annotations

import errno
import os
import platform
import re
import secrets
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text file under a temporary name, then give it its own, in place of an older one.

    Missing folders are made. A process that is killed meanwhile leaves no half file of that name.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_text(Path(folder) / "new" / "a.txt", "hello").read_text()
        'hello'
    """
    return write_bytes(path, text.encode())


def write_bytes(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write a file of any kind in the same way."""
    with whole(path) as temporary, temporary.open("xb") as file:
        file.write(content)
    return Path(path)


@contextmanager
def whole(path: str | os.PathLike[str], *, parents: bool = True) -> Iterator[Path]:
    """Give a temporary name to write a file under, which then takes the place of an older one; an error leaves that.

    The name is no other writer's, in this process or another one.

    Args:
        path: Of the file.
        parents: Whether missing folders are made, too.

    Raises:
        OSError: It cannot be written; the error names the file, not the temporary one.
    """
    target = Path(path)
    temporary = target.parent / f".{target.name}.{platform.node()}-{os.getpid()}-{secrets.token_hex(4)}.tmp"
    try:
        target.parent.mkdir(parents=parents, exist_ok=True)
        yield temporary
        temporary.replace(target)
    except OSError as error:
        raise of_file(error, target) from None
    finally:
        temporary.unlink(missing_ok=True)


def of_file(error: OSError, path: str | os.PathLike[str]) -> OSError:
    """The same error of the system, with the name of the file that a user knows."""
    if error.errno is None:
        return OSError(errno.EIO, str(error), str(path))
    return OSError(error.errno, os.strerror(error.errno), str(path))


def remove_leftovers(folder: Path) -> None:
    """Remove what processes of this machine that were killed left half written in a folder."""
    pattern = re.compile(rf"\..*\.{re.escape(platform.node())}-(\d+)-[0-9a-f]+\.tmp")
    for file in folder.glob(".*.tmp"):
        found = pattern.fullmatch(file.name)
        if found and not _runs(int(found[1])):
            file.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
