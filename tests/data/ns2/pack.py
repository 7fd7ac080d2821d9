"""Make a file of this folder from a trace of ns-2: pack.py TRACE FILE.csv.xz."""

from __future__ import annotations

import lzma
import sys
from itertools import pairwise
from pathlib import Path

#: Columns of a trace that are kept, by their place in it.
KEPT = {"event": 0, "time_us": 1, "from": 2, "to": 3, "type": 4, "size_bytes": 5, "flow": 7, "seq": 10, "uid": 11}


def pack(trace: str) -> bytes:
    rows = [line.split() for line in trace.splitlines()]
    lines = []
    for name, place in KEPT.items():
        values = [row[place] for row in rows]
        if name in {"time_us", "seq", "uid"}:
            scale = 1e6 if name == "time_us" else 1
            numbers = [round(float(value) * scale) for value in values]
            values = [str(later - sooner) for sooner, later in pairwise([0, *numbers])]
        lines.append(",".join([name, *values]) + "\n")
    return lzma.compress("".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME)


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(pack(Path(sys.argv[1]).read_text(encoding="utf-8")))
