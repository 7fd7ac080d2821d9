"""Runs a command as somebody without optional programs and without privileges would: ``make test-bare``.

``PATH`` is a folder of links to Python, the Rust toolchain and what every system has. Root becomes an ordinary user of
its own user namespace, where the kernel allows that: files stay its own, all privileges are gone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

#: What an installation from source takes, by the README.
TOOLCHAIN: Final = ("python3", "cargo", "rustc", "cc", "ld", "as", "ar", "make")
#: Packages that no Debian system is without: coreutils, bash, dash, findutils, grep, gzip, mawk, sed, util-linux.
SYSTEM: Final = """
    awk basename bash cat chmod cp cut date dd df dirname echo env expr false find grep gunzip gzip head hostname id kill
    ln ls mawk mkdir mktemp mv nproc nsenter paste pwd readlink realpath rm rmdir sed seq setpriv sh sleep sort stat stty
    tail tee test timeout touch tr true uname uniq unshare wc which whoami xargs zcat
""".split()


def environment(folder: Path, programs: Iterable[str] = (*TOOLCHAIN, *SYSTEM)) -> dict[str, str]:
    """The environment in which only some programs are found: links to them are made in a folder."""
    for name in programs:
        if (place := shutil.which(name)) is not None:
            (folder / name).symlink_to(place)
    return {**os.environ, "PATH": str(folder)}


def without_privileges() -> list[str]:
    """The words before a command that take root's privileges away; none for who has none."""
    if os.getuid() != 0:
        return []
    words = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--"]
    if subprocess.run([*words, "true"], capture_output=True, check=False, timeout=60).returncode != 0:
        print("user namespaces are not allowed here: the tests keep the privileges of root", file=sys.stderr)
        return []
    return words


def main() -> int:
    """Run the command of the arguments and return its exit code."""
    with tempfile.TemporaryDirectory(prefix="tightlink-bare-") as folder:
        command = [*without_privileges(), *sys.argv[1:]]
        return subprocess.run(command, env=environment(Path(folder)), check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
