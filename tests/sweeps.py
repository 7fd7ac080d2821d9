"""What tests of sweeps share: keys that they vary, and what a folder holds."""

from __future__ import annotations

from pathlib import Path

QUEUE = "link.bottleneck.queue"
WINDOW = "traffic.ftp.tcp.window"


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != "report.html"
    }
