"""Writing files that appear complete or not at all."""

from __future__ import annotations

import errno
import importlib.util
import os
import platform
import re
import secrets
import shutil
import stat
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

from tightlink.errors import TightlinkError

if TYPE_CHECKING:
    import io

#: Bytes of a table that is read as a whole, at most.
LARGEST_TABLE: Final = 512 * 2**20
_PIECE: Final = 2**20
#: Bytes of a name, at most, on most file systems.
_LONGEST_NAME: Final = 255
#: Those of a temporary name beside the file's and the machine's: the number of the process, and eight random digits.
_OF_WRITER: Final = len("...tmp") + len("-4294967295-01234567")


def check_new(file: Path | None) -> None:
    """Refuse a file that cannot be written, before the work that it is for.

    Raises:
        TightlinkError: Something is there already, or its folder can neither be made nor written to.
    """
    if file is not None:
        if file.exists():
            raise TightlinkError(f"{file}: is there already, and nothing is overwritten; choose another file")
        check_writable(file.parent, of=file)


def check_same(file: Path, content: bytes) -> None:
    """Refuse a file that is there and has other content than what is to be written.

    Raises:
        TightlinkError: It has.
    """
    if file.exists() and (file.is_dir() or file.read_bytes() != content):
        raise TightlinkError(f"{file}: is there already and differs; choose another folder")


def check_page(file: Path) -> None:
    """Refuse a name that no browser opens as a page, which a report and a laboratory are.

    Raises:
        TightlinkError: It does not end in .html.
    """
    if file.suffix.lower() not in {".html", ".htm"}:
        raise TightlinkError(f"{file}: expected a name that ends in .html, as it is a page, which a browser opens")


def folder_of(file: Path) -> str:
    """What makes the folder of a run of a file that stands in its place: words behind an error, perhaps none.

    >>> folder_of(Path("nowhere.toml"))
    ''
    """
    suffixes = {suffix.lower() for suffix in file.suffixes}
    command = "run" if ".toml" in suffixes else "capture" if suffixes & {".pcap", ".pcapng", ".cap"} else ""
    return f"; tightlink {command} {file} -o DIR makes one" if command and file.is_file() else ""


def check_writable(folder: Path, *, of: Path | None = None) -> None:
    """Refuse a folder that can neither be made nor written to.

    Args:
        folder: It may be missing.
        of: The file that is to be in it, which the error names.

    Raises:
        TightlinkError: It, or what would be above it, is a file or may not be written to.
    """
    if folder.exists() and not folder.is_dir():
        raise TightlinkError(f"{folder}: expected a folder, and it is a file")
    if folder.is_symlink() and not folder.exists():
        raise TightlinkError(f"{folder}: expected a folder, and it is a link to one that is not there")
    named = of or folder
    above = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not above.is_dir():
        raise TightlinkError(f"{named}: cannot be written to: {above} is a file")
    if not os.access(above, os.W_OK | os.X_OK):
        # As an absolute path: this folder's own is a dot.
        raise TightlinkError(f"{named}: cannot be written to: permission for {above.absolute()} is denied")


def check_stored(file: str | os.PathLike[str], most: int = LARGEST_TABLE) -> os.stat_result:
    """Refuse a file that a scenario or another text names, where it may have no end or is too large to read.

    Raises:
        OSError: It is not there, is a device or a pipe, or has more bytes than ``most``.
    """
    found = Path(file).stat()
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
        raise OSError(errno.EINVAL, "a device or a pipe", os.fspath(file))
    if found.st_size > most:
        raise _too_large(file, most)
    return found


def content(file: str | os.PathLike[str], most: int = LARGEST_TABLE) -> bytes:
    """The content of a file of somebody else's, which may be a device or a pipe without an end.

    Raises:
        OSError: It cannot be read, or has more bytes than ``most``.
    """
    with Path(file).open("rb") as opened:
        return read_bounded(opened, file, most)


def read_bounded(opened: io.BufferedIOBase, file: str | os.PathLike[str], most: int = LARGEST_TABLE) -> bytes:
    """What is left to read of a file that is open, of which the name is for the error.

    Raises:
        OSError: It cannot be read, or has more bytes than ``most``.
    """
    found = bytearray()
    while piece := opened.read(_PIECE):
        found += piece
        if len(found) > most:
            raise _too_large(file, most)
    return bytes(found)


def _too_large(file: str | os.PathLike[str], most: int) -> OSError:
    return OSError(errno.EFBIG, f"more than {most:,} bytes", os.fspath(file))


def check_decoded(place: Path) -> None:
    """Refuse a place for tables with a name that is no text: polars and DuckDB open none.

    Raises:
        TightlinkError: It, or a folder above it, has bytes in its name that are not UTF-8.
    """
    try:
        os.fsencode(place.absolute()).decode()
    except UnicodeDecodeError:
        raise TightlinkError(f"{place}: expected a path in UTF-8, as tables are read from no other") from None


def check_takes_files(folder: Path) -> None:
    """Refuse a folder in which nothing can be made, by making something: permissions do not tell it everywhere.

    Raises:
        TightlinkError: It, or what would be above it, takes no files.
    """
    check_writable(folder)
    above = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    try:
        Path(tempfile.mkdtemp(prefix=".", suffix=".tmp", dir=above)).rmdir()
    except OSError as error:
        reason = os.strerror(error.errno or errno.EIO).lower()
        raise TightlinkError(f"{folder}: takes no files ({reason})") from None


def check_empty(
    folder: Path, what: str = "", marker: str = "", *, ours: Callable[[str], bool] = lambda _: False
) -> None:
    """Refuse a folder for results that cannot be written to, or that holds something else.

    Args:
        folder: It may be missing.
        what: What may be there, such as "run"; without it nothing.
        marker: Name of the file by which a folder that holds that is known.
        ours: Whether a file of some name may be there without it.

    Raises:
        TightlinkError: It cannot, or does.
    """
    check_decoded(folder)
    check_writable(folder)
    if not folder.exists() or (marker and (folder / marker).exists()):
        return
    if not all(ours(each.name) for each in folder.iterdir()):
        other = f" and holds no {what}" if what else ""
        raise TightlinkError(f"{folder}: the folder is not empty{other}; choose another one")


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text file under a temporary name, then give it its own, in place of an older one.

    Missing folders are made. A process that is killed meanwhile leaves no half file of that name.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_text(Path(folder) / "new" / "a.txt", "hello").read_text()
        'hello'
    """
    # Names of files may have bytes that are not UTF-8: JSON and people read them as escapes.
    return write_bytes(path, text.encode(errors="backslashreplace"))


def write_new(file: Path, text: str) -> Path:
    """Write a text file that must not be there yet; one of the same content is left as it is.

    Raises:
        TightlinkError: Something else is there, or its folder can neither be made nor written to.
    """
    content = text.encode(errors="backslashreplace")
    if file.is_file() and file.read_bytes() == content:
        return file
    check_new(file)
    return write_bytes(file, content)


def write_bytes(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write a file of any kind in the same way."""
    with whole(path) as temporary, temporary.open("xb") as file:
        file.write(content)
    return Path(path)


def before_written(target: Path, place: Path | None = None) -> Path:
    """The temporary name of a file or a folder that this process writes, which is no other writer's.

    Args:
        target: The file or folder.
        place: The folder to write it in; without one it is that of the target.
    """
    name = f".{_begun(target.name)}.{platform.node()}-{os.getpid()}-{secrets.token_hex(4)}.tmp"
    return (target.parent if place is None else place) / name


def _begun(name: str) -> str:
    """As much of a name as leaves room for the rest of a temporary one."""
    room = _LONGEST_NAME - _OF_WRITER - len(os.fsencode(platform.node()))
    while len(os.fsencode(name)) > room:
        name = name[:-1]
    return name


@contextmanager
def whole(path: str | os.PathLike[str], *, parents: bool = True, leftovers: bool = True) -> Iterator[Path]:
    """Give a temporary name to write a file under, which then takes the place of an older one; an error leaves that.

    The name is no other writer's, in this process or another one.

    Args:
        path: The file.
        parents: Whether missing folders are made, above that of the file.
        leftovers: Whether to remove what killed processes left half written of this file, for which its folder is read.

    Raises:
        OSError: It cannot be written; the error names the file, not the temporary one.
    """
    target = Path(path)
    temporary = before_written(target)
    try:
        target.parent.mkdir(parents=parents, exist_ok=True)
        if leftovers:
            with suppress(OSError):
                remove_leftovers(target.parent, target.name)
        yield temporary
        temporary.replace(target)
    except OSError as error:
        raise of_file(error, target) from None
    finally:
        # A folder that takes no files has none of this name, and says so in another way.
        with suppress(OSError):
            temporary.unlink()


def of_file(error: OSError, path: str | os.PathLike[str]) -> OSError:
    """The same error of the system, with the name of the file that a user knows."""
    if error.errno is None:
        return OSError(errno.EIO, str(error), str(path))
    return OSError(error.errno, os.strerror(error.errno), str(path))


def lock(descriptor: int) -> bool:
    """Whether this process is now alone with an open file; the system takes the lock back when the process ends.

    Raises:
        OSError: The file system knows no locks.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            # A byte beyond its content: what is locked there cannot be read either.
            os.lseek(descriptor, 1 << 20, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def run_python(file: Path, what: str) -> ModuleType:
    """Run a Python file of the user's, for what it defines; ``what`` says in messages what that should be.

    Raises:
        TightlinkError: There is no such file, it is none of Python, or it fails.
    """
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if not file.is_file() or spec is None or spec.loader is None:
        raise TightlinkError(f"{file}: expected a Python file {what}, of which the name ends with .py")
    module = importlib.util.module_from_spec(spec)
    # Pickling and inspect look classes up there.
    sys.modules[file.stem] = module
    # Beside a file of the user's nothing is left.
    keeps, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    # It finds what lies beside it, as where Python runs it; what is imported later goes before that.
    beside = str(file.absolute().parent)
    found_before = beside in sys.path
    sys.path.insert(0, beside)
    try:
        with errors_of(file):
            spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = keeps
        sys.path.remove(beside)
        if not found_before:
            sys.path.append(beside)
    return module


@contextmanager
def errors_of(file: Path) -> Iterator[None]:
    """Say in one sentence where a user's Python file fails; errors that are not of it stay as they are.

    Raises:
        TightlinkError: The file fails.
    """
    try:
        yield
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        place = [frame for frame in frames if Path(frame.filename) == file.absolute()]
        if not place and not isinstance(error, SyntaxError):
            raise
        line = f", line {place[-1].lineno}" if place else ""
        kind = "" if isinstance(error, TightlinkError) else f"{type(error).__name__}: "
        raise TightlinkError(f"{file}{line}: {kind}{error}") from error


def remove_leftovers(folder: Path, name: str | None = None) -> None:
    """Remove what processes of this machine that were killed left half written in a folder, or of one file there."""
    written = ".*" if name is None else re.escape(_begun(name))
    pattern = re.compile(rf"\.{written}\.{re.escape(platform.node())}-(\d+)-\w+\.tmp")
    for file in folder.glob(".*.tmp"):
        found = pattern.fullmatch(file.name)
        if found and not _runs(int(found[1])):
            if file.is_dir() and not file.is_symlink():
                shutil.rmtree(file, ignore_errors=True)
            else:
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
