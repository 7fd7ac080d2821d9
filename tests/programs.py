"""Programs that only some tests need: without them these are skipped, and the reason names the package."""

from __future__ import annotations

import shutil
from importlib.resources import files
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclopts import App

#: The Debian package of each program; `make system-packages` installs those of other projects.
PACKAGES: Final = {
    "awk": "mawk",
    "chromium": "chromium",
    "dumpcap": "wireshark-common",
    "ip": "iproute2",
    "iperf3": "iperf3",
    "make": "make",
    "ns": "ns2",
    "nsenter": "util-linux",
    "pdftotext": "poppler-utils",
    "ping": "iputils-ping",
    "setpriv": "util-linux",
    "ss": "iproute2",
    "tc": "iproute2",
    "tcptrace": "tcptrace",
    "tshark": "tshark",
    "unshare": "util-linux",
    "zstd": "zstd",
}
#: The browser in which reports are opened.
CHROMIUM: Final = shutil.which("chromium") or shutil.which("google-chrome")


def commands() -> list[str]:
    """Every command of Tightlink with its subcommands, as a user types them."""
    from tightlink.cli import app

    def below(app: App, before: str) -> Iterator[str]:
        for name in app:
            if not name.startswith("-"):
                if app[name].default_command is not None:
                    yield before + name
                yield from below(app[name], f"{before}{name} ")

    return list(below(app, ""))


def lacking(*names: str) -> str | None:
    """The first of some programs that is not installed, with its package, as a reason to skip."""
    name = next((name for name in names if shutil.which(name) is None), None)
    return None if name is None else f"{name} is not installed (Debian: apt install {PACKAGES[name]})"


def lacking_engine_for_browsers() -> str | None:
    """Why there are no laboratories: their engine is not built."""
    built = files("tightlink.laboratory").joinpath("engine.wasm").is_file()
    return None if built else "the engine for browsers is not built (make lab-engine)"


def need(*names: str) -> None:
    """Skip the test that asks for programs which are not installed."""
    if (why := lacking(*names)) is not None:
        pytest.skip(why)


def needs(*names: str) -> pytest.MarkDecorator:
    """A mark that skips tests where one of some programs is not installed."""
    why = lacking(*names)
    return pytest.mark.skipif(why is not None, reason=str(why))


needs_engine_for_browsers: Final = pytest.mark.skipif(
    lacking_engine_for_browsers() is not None, reason=str(lacking_engine_for_browsers())
)
needs_browser: Final = pytest.mark.skipif(CHROMIUM is None, reason=str(lacking("chromium")))
