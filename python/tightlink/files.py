"""Writing files that appear complete or not at all."""

from __future__ import annotations

import os
import platform
import re
import secrets
import sys
from pathlib import Path

from tightlink.errors import TightlinkError


def check_new(file: Path | None) -> None:
    """Refuse a file that cannot be written, before the work that it is for.

    Raises:
        TightlinkError: Something is there already, or its folder can neither be made nor written to.
    """
    if file is not None:
        if file.exists():
            raise TightlinkError(f"{file}: is there already, and nothing is overwritten; choose another file")
        check_writable(file.parent)


def check_writable(folder: Path) -> None:
    """Refuse a folder that can neither be made nor written to.

    Raises:
        TightlinkError: It, or what would be above it, is a file or may not be written to.
    """
    above = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not above.is_dir():
        raise TightlinkError(f"{folder}: cannot be written to: {above} is a file")
    if not os.access(above, os.W_OK | os.X_OK):
        raise TightlinkError(f"{folder}: cannot be written to: permission for {above} is denied")


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
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.parent / f".{target.name}.{platform.node()}-{os.getpid()}-{secrets.token_hex(4)}.tmp"
    try:
        with temporary.open("xb") as file:
            file.write(content)
        temporary.replace(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None
    finally:
        temporary.unlink(missing_ok=True)
    return target


def remove_leftovers(folder: Path) -> None:
    """Remove what processes of this machine that were killed left half written in a folder."""
    pattern = re.compile(rf"\..*\.{re.escape(platform.node())}-(\d+)-[0-9a-f]+\.tmp")
    for file in folder.glob(".*.tmp"):
        found = pattern.fullmatch(file.name)
        if found and not _runs(int(found[1])):
            file.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    # On Windows os.kill ends a process, whatever the signal: what may be somebody's is left there.
    if sys.platform != "win32":
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
    return True
