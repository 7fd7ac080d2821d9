"""The engine of a laboratory: a WebAssembly module that comes with the package, if it was built."""

from __future__ import annotations

import gzip
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from tightlink.errors import TightlinkError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def engine() -> bytes:
    """Read the WebAssembly module of the engine, packed by gzip.

    Raises:
        TightlinkError: It was not built; the message says how to get it.
    """
    check_engine()
    return _packed(_module().read_bytes())


@lru_cache(maxsize=1)
def _packed(module: bytes) -> bytes:
    # Kept, as packing takes longer than the rest of a laboratory.
    return gzip.compress(module, mtime=0)


def check_engine() -> None:
    """Refuse what needs the engine for browsers before anything else takes its time.

    Raises:
        TightlinkError: It was not built; the message says how to get it.
    """
    if not _module().is_file():
        raise TightlinkError(
            "the engine for browsers is not in this installation: make lab-engine builds it in the sources, and "
            "published wheels of tightlink contain it"
        )


def _module() -> Traversable:
    return files("tightlink.laboratory").joinpath("engine.wasm")
