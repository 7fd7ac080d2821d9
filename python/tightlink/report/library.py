"""What draws the charts of a page.

Example:
    >>> "vegaEmbed" in library()
    True
"""

from __future__ import annotations

import contextlib
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from tightlink.files import write_text


def library() -> str:
    """Vega, Vega-Lite and vega-embed in one script. Making it takes seconds, so the user's cache keeps it."""
    import vl_convert

    kept = _cached(f"vega-{version('vl-convert-python')}.js")
    if kept is not None:
        # What is empty or no text was damaged, and is made again.
        with contextlib.suppress(OSError, ValueError):
            if script := kept.read_text(encoding="utf-8"):
                return script
    # Its types want an argument that it does without.
    script = str(cast("Any", vl_convert).javascript_bundle()).replace("</script", "<\\/script")
    if kept is not None:
        # A cache that cannot be written is none.
        with contextlib.suppress(OSError):
            write_text(kept, script)
    return script


def _cached(name: str) -> Path | None:
    """Where the user's cache has a file, by the XDG Base Directory Specification; nothing without a home."""
    given = os.environ.get("XDG_CACHE_HOME")
    if given and Path(given).is_absolute():
        return Path(given, "tightlink", name)
    try:
        return Path.home() / ".cache" / "tightlink" / name
    except RuntimeError:
        return None
