"""Scenarios in TOML that several tests use; fixtures of the same names, in small letters, give them."""

from __future__ import annotations

ONE_FLOW = """\
profile = "ns2"
duration = "10 s"
link.bottleneck = { ends = ["sender", "receiver"], rate = "2 Mbit/s", delay = "10 ms", queue = "20 packets", reverse.queue = "50 packets" }
traffic.ftp = { kind = "bulk", from = "sender", to = "receiver", start = "0.1 s", tcp = { congestion = "reno", recovery = "reno", payload = "1000 B", window = "20 packets" } }
"""

NOISE = """\
traffic.noise = { kind = "on-off", from = "sender", to = "receiver", rate = "1 Mbit/s", on = "50 ms", off = "100 ms" }
"""

DUMBBELL = """\
profile = "ns2"
duration = "10 s"
topology.net = { kind = "dumbbell", pairs = 100, bottleneck = { rate = "1 Gbit/s", delay = "20 ms", queue = "1000 packets" }, access = { rate = "10 Gbit/s", delay = "1 ms", queue = "100000 packets" } }
traffic.bulk = { kind = "bulk", flows = 100, from = "net.left[*]", to = "net.right[*]", start = { first = "1 ms", every = "10 ms" }, tcp = { congestion = "reno", recovery = "newreno", payload = "1460 B", window = "1000000 packets", initial_window = "10 packets", initial_ssthresh = "46 packets" } }
"""

MIXED = """\
duration = "2 s"
seed = 7
link.wire = { ends = ["a", "b"], rate = "5 Mbit/s", delay = "5 ms", queue = "1 BDP", framing = { overhead = "38 B", smallest = "84 B" }, loss = "0.1 %" }
topology.lot = { kind = "chain", hops = 3, hop = { rate = ["4 Mbit/s", "3 Mbit/s", "2 Mbit/s"], delay = "1 ms" }, pairs = 2, access = { rate = "1 Gbit/s" }, access_right = { delay = ["1 ms", "2 ms"] } }
traffic.web = { kind = "bulk", flows = 3, from = "lot.left[*]", to = "lot.right[*]", bytes = "100 kB", start = ["0 s", "0.1 s", "0.2 s"], tcp = { window = "64 KiB", initial_ssthresh = "unlimited", rto.min = "0.2 s" } }
traffic.voice = { kind = "cbr", from = "a", to = "b", rate = "64 kbit/s", udp.datagram = "200 B" }
traffic.burst = { kind = "on-off", from = "b", to = "a", interval = "2 ms", on = "50 ms", off = "100 ms", distribution = "pareto", shape = 1.2 }
observe = { interval = "100 ms", flows = "group" }
"""

SMALL_USERS = """\
duration = "2 s"
link.wire = { ends = ["a", "b"], rate = "50 Mbit/s", delay = "2 ms" }
traffic.web = { kind = "users", think = "0.2 s", places.both = { at = ["a", "b"], sources = 3, receivers = 3 }, interfaces.ethernet.rate = "100 Mbit/s", files.page.mean = "20 packets", long_lived.copy = { from = "a", to = "b" } }
observe = { interval = "100 ms", periods = { begin = ["0 s", "1 s"], rest = ["1 s", "2 s"] } }
"""

CONTROLLED = """\
profile = "rfc"
duration = "10 s"
link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", queue = "20 packets" }
traffic.ftp = { kind = "bulk", from = "a", to = "b", tcp = { congestion = "reno" } }
"""
