"""The folder of an experiment, in which one process at a time works.

A lock of the system, which ends with the process that has it, however it ends: a lock file that a killed process left
keeps nobody out.

Example:
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as parent, occupied(f"{parent}/sweep", "sweep.json", "sweep") as place:
    ...     _ = (place.folder / "sweep.json").write_text("{}")
    ...     try:
    ...         with occupied(place.folder, "sweep.json", "sweep"):
    ...             pass
    ...     except TightlinkError as error:
    ...         print(str(error).partition("another tightlink")[1])
    another tightlink
"""

from __future__ import annotations

import atexit
import errno
import json
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tightlink import arguments
from tightlink.checksums import DamagedError, write_json
from tightlink.errors import TightlinkError
from tightlink.experiment.campaign import KEPT
from tightlink.experiment.stored import marker_of
from tightlink.files import check_empty, lock, of_file, remove_leftovers

_LOCK: Final = ".lock"
#: File systems that know no such locks answer so; every writer has other temporary names there, too.
_NO_LOCKS: Final = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
#: Who has just locked a folder writes who it is within moments, or has ended.
_TRIES: Final = 10
_PAUSE_S: Final = 0.02
#: Folders that go when Python ends.
_TEMPORARY: Final[set[Path]] = set()


def place_of(output: str | os.PathLike[str] | None) -> Path:
    """The folder for results; without one, a temporary one that goes when Python ends."""
    if output is not None:
        return arguments.path("output", output)
    folder = Path(tempfile.mkdtemp(prefix="tightlink-"))
    _TEMPORARY.add(folder)
    # Not with what is made of it: lazy frames, as of `sweep(…).runs`, read the files when they are collected.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@dataclass
class Workplace:
    """A folder in which this process alone works."""

    folder: Path
    marker: str
    """Name of the file by which the folder is known for what it holds."""
    what: str
    """What it holds, such as "sweep"."""
    _descriptor: int
    _marked: dict[str, Any] = field(default_factory=dict)

    def mark(self, value: Mapping[str, Any]) -> None:
        """Write the file that marks the folder."""
        self._marked = dict(value)
        write_json(self.folder / self.marker, value)

    def claim(
        self,
        own: Mapping[str, Any],
        key: str,
        another: Callable[[Mapping[str, Any]], str],
        recognised: Callable[[DamagedError], bool],
        same: Callable[[Mapping[str, Any]], bool] = lambda _: False,
    ) -> None:
        """Make the folder known for what it is to hold, unless it holds something else.

        ``own`` is the marker of a folder that is begun, ``key`` what of it tells folders apart; that of a folder that
        continues is left as it is. ``another`` says in words what a folder with another marker holds, and
        ``recognised`` whether what else is there shows what it holds, so that a damaged marker can be made again.
        ``same`` says whether a marker that tells another folder is one of an older version that means the same.

        Raises:
            DamagedError: The marker is damaged, and nothing else shows what the folder holds.
            TightlinkError: It holds something else, or a newer version wrote it.
        """
        marker, held = self.folder / self.marker, None
        try:
            held = marker_of(marker, needed=False) if marker.exists() else None
        except DamagedError as error:
            if not recognised(error):
                raise
        if held is not None and held.get(key) != own[key]:
            if not same(held):
                raise TightlinkError(f"{self.folder}: holds {another(held)}; choose another folder")
            held = {**held, key: own[key]}
        self.mark(held or own)

    def check(self) -> None:
        """Refuse to continue in a folder that was removed, or replaced by another one."""
        if not _is_at(self._descriptor, self.folder / _LOCK):
            raise TightlinkError(
                f"{self.folder}: the folder was removed while a {self.what} worked in it; the same command, or call, "
                "begins again"
            )

    def leave(self) -> None:
        """Give the folder up, with its marker if it came back without it."""
        if _is_at(self._descriptor, self.folder / _LOCK):
            # Windows removes no file that is open; the lock ends with the descriptor there, too.
            with suppress(PermissionError):
                (self.folder / _LOCK).unlink(missing_ok=True)
        elif self._marked and not (self.folder / self.marker).exists() and any(self.folder.glob("*")):
            write_json(self.folder / self.marker, self._marked)
        os.close(self._descriptor)


@contextmanager
def occupied(folder: str | os.PathLike[str], marker: str, what: str) -> Iterator[Workplace]:
    """Work in a folder for results, which is made if it is missing, and keep others out meanwhile.

    It is new or empty, or has the file ``marker``, by which it is known for what it holds, such as a "sweep".

    Raises:
        TightlinkError: It holds something else, or another process works there.
        KeyboardInterrupt: Somebody ended it, with what becomes of what is finished.
    """
    place = Path(folder)
    check_folder(place, marker, what)
    place.mkdir(parents=True, exist_ok=True)
    workplace = Workplace(place, marker, what, _locked(place))
    try:
        # What another process began meanwhile counts.
        check_folder(place, marker, what)
        for part in (place, *(each for each in place.iterdir() if each.is_dir())):
            remove_leftovers(part)
        yield workplace
        workplace.check()
    except FileNotFoundError:
        workplace.check()
        raise
    except KeyboardInterrupt:
        raise KeyboardInterrupt(*([] if place in _TEMPORARY else [KEPT])) from None
    finally:
        workplace.leave()


def check_folder(folder: Path, marker: str, what: str) -> None:
    """Refuse a folder that holds something else, or that cannot be written to."""
    check_empty(folder, what, marker, ours=lambda name: name == _LOCK or name.endswith(".tmp"))


def _locked(folder: Path) -> int:
    """The descriptor of the folder's lock file, locked."""
    file = folder / _LOCK
    for _ in range(_TRIES):
        try:
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise of_file(error, file) from None
        try:
            alone = lock(descriptor)
        except OSError as error:
            alone = True
            if error.errno not in _NO_LOCKS:
                os.close(descriptor)
                raise of_file(error, file) from None
        if not alone:
            os.close(descriptor)
            raise TightlinkError(
                f"{folder}: another tightlink{_owner(file)} works in this folder; wait for its end, or choose another "
                "folder"
            )
        # Whoever had it may have removed the file between the two.
        if _is_at(descriptor, file):
            owner = json.dumps({"pid": os.getpid(), "host": platform.node()})
            try:
                os.ftruncate(descriptor, 0)
                os.lseek(descriptor, 0, os.SEEK_SET)
                os.write(descriptor, owner.encode())
            except OSError as error:
                file.unlink(missing_ok=True)
                os.close(descriptor)
                raise of_file(error, file) from None
            return descriptor
        os.close(descriptor)
    raise TightlinkError(f"{folder}: others begin and end to work in this folder all the time; choose another folder")


def _owner(file: Path) -> str:
    """Who has the lock, in words."""
    for _ in range(_TRIES):
        with suppress(OSError, ValueError, KeyError, TypeError):
            held = json.loads(file.read_text(encoding="utf-8"))
            there = "" if held["host"] == platform.node() else f" on {held['host']}"
            return f" (pid {held['pid']}{there})"
        time.sleep(_PAUSE_S)
    return ""


def _is_at(descriptor: int, file: Path) -> bool:
    """Whether an open file is the one of this name."""
    try:
        return os.path.samestat(os.fstat(descriptor), file.stat())
    except OSError:
        return False
