"""Limits of queues: packets, bytes, times and bandwidth-delay products, of what empties the queue."""

from __future__ import annotations

import pytest

import tightlink as tl
from one_link import resolve, simple


@pytest.mark.parametrize(
    ("queue", "limit"),
    [
        ('"20 packets"', {"packets": 20}),
        ('"64 KiB"', {"bytes": 65536}),
        ('"unlimited"', "unlimited"),
        ('{ kind = "drop-tail", limit = "5 packets" }', {"packets": 5}),
        # 2 Mbit/s × 20 ms = 5000 B = 4.8 packets of 1040 B
        ('"1 BDP"', {"packets": 5}),
        ('"2.08 BDP"', {"packets": 10}),
    ],
)
def test_queues(queue: str, limit: object) -> None:
    resolved = resolve(simple(f", queue = {queue}"))
    assert [link["queue"]["limit"] for link in resolved["links"]] == [limit, limit]


def test_a_queue_in_bdp_of_what_a_shaper_lets_through_of_each_path_and_of_a_spare_link() -> None:
    """40 ms of 10 Mbit/s are 33.3 packets of 1500 B, whatever the line could do; of a link that nobody takes, nothing is."""
    scenario = tl.loads("""
        duration = "1 s"
        routing.ecmp = "packet"
        link.in = { ends = ["a", "r"], rate = "100 Mbit/s", delay = "10 ms", queue = "1 BDP", shaper = { rate = "10 Mbit/s", burst = "15 kB" } }
        link.p = { ends = ["r", "b"], rate = "100 Mbit/s", delay = "10 ms", queue = "1 BDP" }
        link.q = { ends = ["r", "b"], rate = "100 Mbit/s", delay = "10 ms", queue = "1 BDP" }
        link.spare = { ends = ["b", "c"], rate = "100 Mbit/s", delay = "10 ms", queue = "1 BDP" }
        traffic.t = { kind = "bulk", from = "a", to = "b" }
    """)
    queues = {link["name"]: link["queue"]["limit"]["packets"] for link in scenario.resolve()["links"]}
    assert [queues[name] for name in ("in", "p", "q", "spare")] == [34, 334, 334, 1]


@pytest.mark.parametrize(
    ("keys", "limit"),
    [
        ('queue = "20 ms"', {"bytes": 250_000}),
        ('queue = "20 ms", shaper = { rate = "10 Mbit/s", burst = "15 kB" }', {"bytes": 25_000}),
        ('queue = { kind = "cake", rate = "8 Mbit/s", limit = "20 ms" }', {"bytes": 20_000}),
        # 1544 bytes of tokens for each 1500 in the queue.
        ('queue = { kind = "cake", rate = "8 Mbit/s", limit = "20 ms", overhead = "44 B" }', {"bytes": 19_430}),
        ('queue = { kind = "cake", rate = "8 Mbit/s", limit = "1 BDP" }', {"packets": 14}),
        ('queue = { kind = "cake", rate = "200 Mbit/s", limit = "20 ms" }', {"bytes": 250_000}),
    ],
)
def test_a_queue_in_time_or_bdp_is_of_what_empties_it(keys: str, limit: object) -> None:
    scenario = tl.loads(f"""
        duration = "1 s"
        link.in = {{ ends = ["a", "b"], rate = "100 Mbit/s", delay = "10 ms", {keys}, reverse.queue = "unlimited" }}
        traffic.t = {{ kind = "bulk", from = "a", to = "b" }}
    """)
    assert scenario.resolve()["links"][0]["queue"]["limit"] == limit


def test_a_queue_in_bdp_takes_the_longest_path_and_the_largest_packet() -> None:
    resolved = resolve(
        'profile = "ns2"\nduration = "10 s"\n'
        'topology.net = { kind = "dumbbell", pairs = 2, bottleneck = { rate = "10 Mbit/s", delay = "8 ms", '
        'queue = "1 BDP" }, access = { rate = "100 Mbit/s", delay = ["1 ms", "6 ms"] } }\n'
        'traffic.t = { kind = "bulk", flows = 2, from = "net.left[*]", to = "net.right[*]" }\n'
        'traffic.u = { kind = "cbr", from = "net.left[0]", to = "net.right[0]", rate = "1 Mbit/s", udp.payload = "4000 B" }'
    )
    # 10 Mbit/s × 40 ms = 50,000 B = 12.5 packets of 4000 B
    assert [link["queue"]["limit"]["packets"] for link in resolved["links"][:2]] == [13, 13]
