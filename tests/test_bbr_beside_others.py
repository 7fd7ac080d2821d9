"""BBR flows that begin together over paths of unlike lengths, beside what Linux gave them."""

from __future__ import annotations

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
