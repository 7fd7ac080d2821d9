"""The scenario of small sweeps."""

from __future__ import annotations

from typing import Final

SCENARIO: Final = """\
profile = "ns2"
duration = "1 s"
link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }
traffic.ftp = { kind = "bulk", from = "a", to = "b" }
traffic.noise = { kind = "on-off", from = "a", to = "b", rate = "1 Mbit/s", on = "50 ms", off = "100 ms" }
observe.interval = "100 ms"
"""
