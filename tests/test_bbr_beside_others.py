"""BBR flows that begin together over paths of unlike lengths, beside what Linux gave them."""

from __future__ import annotations

from random import Random

import polars as pl
import pytest

import tightlink as tl

UNLIKE = """
profile = "linux"
duration = "12 s"
link.near = { ends = ["h1", "a"], rate = "1 Gbit/s", delay = "0 s" }
link.far = { ends = ["h2", "a"], rate = "1 Gbit/s", delay = "10 ms" }
link.wire = { ends = ["a", "b"], rate = "8 Mbit/s", delay = "10 ms", queue = "100 packets" }
traffic.short = { kind = "bulk", from = "h1", to = "b", tcp.congestion = "bbr" }
traffic.long = { kind = "bulk", from = "h2", to = "b", tcp.congestion = "bbr" }
"""


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_handshake_knows_a_path_that_data_never_see_empty(seed: int) -> None:
    """`tightlink measure` of this scenario, Linux 6.18, three times: 3.11, 3.11, 3.08 and 4.49, 4.48, 4.52 Mbit/s. A tenth is what
    measured cells are held to (docs/validation.md). Without the round trip of the handshake the longer flow has 5.2."""
    goodput = tl.simulate(tl.loads(UNLIKE).set("seed", seed)).flows["goodput_bps"]
    assert goodput.to_list() == pytest.approx([3.10e6, 4.50e6], rel=0.1)


def test_both_versions_know_their_path_by_the_handshake() -> None:
    """The window in front of the first probe of the round trip. Of version 1 Linux's own, 46 to 50 packets in three measurements of
    4 s, within the tenth that measured cells are held to; of version 3 twice the path's product at most, and some packets."""
    for control in ("bbr", "bbr3"):
        scenario = tl.loads(UNLIKE).set_all(
            {"traffic.long.tcp.congestion": control, "traffic.short.tcp.congestion": control}
        )
        run = tl.simulate(scenario.set_all({"observe.interval": "100 ms", "duration": "4 s"}))
        window = run.series.filter(entity="long", metric="cwnd_packets")["value"][-1]
        rate = float(run.flows["throughput_bps"][1]) / (8 * 1500)
        if control == "bbr":
            assert 46 / 1.1 < window < 50 * 1.1
        else:
            assert window < 2.25 * rate * 0.0415 + 12


#: Before a host that takes up to 0.1 ms for a packet, as the hosts of measurements do (`benchmarks/changing_links.py`): those that take
#: none are in step with the bucket, and lose 8 %.
POLICED = """
profile = "linux"
duration = "12 s"
link.wire = { ends = ["a", "b"], rate = "100 Mbit/s", delay = "20 ms", queue = "2 packets", shaper = { rate = "10 Mbit/s", burst = "60 kB" } }
link.host = { ends = ["host", "a"], rate = "1 Gbit/s", delay = "0 ms", jitter = { kind = "uniform", most = "0.1 ms" } }
traffic.f = { kind = "bulk", from = "host", to = "b", tcp.congestion = { kind = "bbr" } }
"""
SHALLOW = """
profile = "linux"
duration = "12 s"
link.wire = { ends = ["a", "b"], rate = "5 Mbit/s", delay = "20 ms", queue = "17 packets" }
"""


def _lost(scenario: tl.Scenario) -> float:
    """The share of packets that find the link full."""
    wire = tl.simulate(scenario).links.row(by_predicate=pl.col("link") == "wire", named=True)
    return float(wire["packets_dropped"] / wire["packets_in"])


def test_the_rate_of_a_token_bucket_is_found() -> None:
    """`tightlink measure` of this scenario, Linux 6.18, nine times: 7.0 to 7.7 % lost, 7.4 % on average; within a tenth, as above. A
    run differs from the next by the seed (7.1 to 8.5 %), so that eight are compared. Without it each loses more than that."""
    scenarios = [tl.loads(POLICED).set("seed", seed) for seed in range(1, 9)]
    losses = [_lost(scenario) for scenario in scenarios]
    assert sum(losses) / len(losses) == pytest.approx(0.074, rel=0.1)
    without = [_lost(scenario.set_all({"traffic.f.tcp.congestion.policers": False})) for scenario in scenarios[:3]]
    assert min(without) > 1.1 * 0.074
    assert sum(without) / len(without) > 0.09


def test_a_shallow_queue_is_no_place_to_probe() -> None:
    """Four flows that begin within 40 ms, as those of a measurement do. Linux 6.18 lost 10.9 to 16.6 % of the packets in twelve
    measurements, 13.9 % on average; a run differs from the next by the starts, so that eight of them are compared."""
    losses = []
    for seed in range(8):
        random = Random(seed)
        flows = {
            f"f{place}": {
                "kind": "bulk", "from": "a", "to": "b", "tcp": {"congestion": "bbr"}, "start": f"{40 * random.random():.3f} ms",
            }
            for place in range(4)
        }  # fmt: skip
        losses.append(_lost(tl.loads(SHALLOW).set_all({"traffic": flows, "seed": seed})))
    assert 0.109 < sum(losses) / len(losses) < 0.166
