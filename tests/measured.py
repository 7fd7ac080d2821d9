"""Scenarios that tests measure."""

from __future__ import annotations

FTP = """
profile = "linux"
duration = "1.5 s"
link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "20 packets" }
traffic.ftp = { kind = "bulk", from = "a", to = "b", start = "0.1 s", tcp = { congestion = "reno", payload = "1000 B", window = "20 packets" } }
observe.interval = "0.5 s"
"""
VOICE = """
profile = "linux"
duration = "1 s"
link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "20 packets" }
traffic.voice = { kind = "cbr", from = "a", to = "b", rate = "3 Mbit/s", udp.datagram = "1000 B" }
"""
