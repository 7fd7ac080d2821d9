"""The engine of a laboratory: a WebAssembly module that comes with the package, if it was built."""

from __future__ import annotations

import gzip
from importlib.resources import files

from tightlink.errors import TightlinkError


def engine() -> bytes:
    """Read the WebAssembly module of the engine, packed by gzip.

    Raises:
        TightlinkError: It was not built; the message says how to get it.
    """
    try:
        return gzip.compress(files("tightlink.laboratory").joinpath("engine.wasm").read_bytes(), mtime=0)
    except FileNotFoundError:
        raise TightlinkError(
            "the engine for browsers is not in this installation: make lab-engine builds it in the sources, and "
            "published wheels of tightlink contain it"
        ) from None
