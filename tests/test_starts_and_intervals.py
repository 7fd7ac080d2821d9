"""When flows start, and when they send: intervals, on and off times, drawn or not."""

from __future__ import annotations

import pytest

import tightlink as tl
from one_link import ONE, resolve, simple


def test_starts_are_the_nearest_doubles() -> None:
    text = simple(flow=', flows = 11, start = { first = "0.1 s", every = "0.13 s" }')
    starts = [flow["start_s"] for flow in resolve(text)["flows"]]
    assert starts == [float(f"{0.1 + 0.13 * i:.2f}") for i in range(11)]
    assert [flow["label"] for flow in resolve(text)["flows"]][::10] == ["t[0]", "t[10]"]


def test_random_starts_depend_on_seed_group_and_index_alone() -> None:
    def starts(flows: str, seed: int = 1) -> list[float]:
        text = simple(flow=f'{flows}, start = {{ first = "100 ms", within = "800 ms" }}')
        return [flow["start_s"] for flow in tl.loads(text).set("seed", seed).resolve()["flows"]]

    drawn = starts(", flows = 400")
    assert starts(", flows = 3") == drawn[:3]
    assert starts("") == drawn[:1]
    assert all(0.1 <= start < 0.9 for start in drawn)
    assert sum(drawn) / 400 == pytest.approx(0.5, abs=4 * 0.8 / (12 * 400) ** 0.5)
    assert not set(drawn) & set(starts(", flows = 400", seed=2))
    # The same on every machine, and in every release.
    assert drawn[0] == 0.10583427708871468


def test_replications_start_random_flows_at_other_times() -> None:
    base = tl.loads(simple(flow=', start = { within = "800 ms" }'))
    starts = tl.sweep(base, replications=2).flows.collect()["start_s"]
    assert starts.n_unique() == len(starts) == 2


@pytest.mark.parametrize("transport", ['udp.payload = "972 B"', 'tcp.payload = "948 B"'])
def test_a_rate_counts_the_headers(transport: str) -> None:
    base = 'duration = "1 s"\nlink.a = { ends = ["x", "y"], rate = "1 Gbit/s" }\n'
    traffic = f'traffic.u = {{ kind = "cbr", from = "x", to = "y", rate = "8 Mbit/s", {transport} }}'
    assert resolve(base + traffic)["flows"][0]["traffic"]["pace"] == {"rate_bps": 8e6}
    # A packet of 1000 B each millisecond, from 0 to 999 ms on, with those of TCP's handshake.
    (sent,) = tl.simulate(tl.loads(base + traffic)).flows["packets_sent"]
    assert sent == (1000 if "udp" in transport else 1002)


def test_on_off() -> None:
    text = ONE.format(link="") + (
        'traffic.t = { kind = "on-off", from = "x", to = "y", rate = "1 Mbit/s", on = "500 ms", off = "1 s" }\n'
        'traffic.p = { kind = "on-off", from = "x", to = "y", rate = "1 Mbit/s", on = "500 ms", off = "1 s", distribution = "pareto" }\n'
    )
    first, second = (flow["traffic"] for flow in resolve(text)["flows"])
    assert first["pace"] == {"rate_bps": 1e6}
    assert first["on"] == {"distribution": "exponential", "mean_s": 0.5}
    assert second["off"] == {"distribution": "pareto", "mean_s": 1.0, "shape": 1.5}


def test_constant_on_and_off_times_make_a_square_wave() -> None:
    text = (
        'duration = "60 s"\nobserve.interval = "500 ms"\nlink.a = { ends = ["x", "y"], rate = "10 Mbit/s" }\n'
        'traffic.t = { kind = "on-off", from = "x", to = "y", rate = "800 kbit/s", on = "1 s", off = "500 ms", '
        'distribution = "constant", udp.datagram = "1000 B" }'
    )
    wave = tl.simulate(tl.loads(text))
    assert wave.flows["packets_sent"].to_list() == [40 * 100]
    rates = wave.series.filter(entity="t", metric="throughput_bps")["value"]
    assert rates.to_list() == pytest.approx([8e5, 8e5, 0] * 39 + [8e5, 8e5], rel=0.03, abs=1)


def test_intervals_are_drawn_or_not() -> None:
    base = tl.loads("""
        duration = "20 s"
        link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "1 ms", queue = "unlimited" }
        traffic.calls = { kind = "cbr", from = "a", to = "b", rate = "5 Mbit/s", random = "exponential" }
        """)
    constant = base.set("traffic.calls.random", None)
    assert constant.resolve() == base.set_all({"traffic.calls.random": False}).resolve()
    waits = [tl.simulate(each).links["queueing_delay_mean_s"][0] for each in (constant, base)]
    assert waits[0] == 0
    # M/D/1 at half the rate: half of what a packet takes.
    took = 8 * tl.simulate(base).links["bytes_out"][0] / tl.simulate(base).links["packets_out"][0] / 10e6
    assert waits[1] == pytest.approx(took / 2, rel=0.1)
    with pytest.raises(tl.ScenarioError, match='random = "poisson": expected true, false or "exponential"'):
        base.set("traffic.calls.random", "poisson")


def test_datagrams_of_two_sizes_are_a_poisson_process_by_interval_alone() -> None:
    """M/G/1 at half the rate (Pollaczek, Khinchine); by ``rate`` an interval is longer behind a larger packet."""
    base = tl.loads("""
        duration = "400 s"
        link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "1 ms", queue = "unlimited" }
        [traffic.calls]
        kind = "cbr"
        from = "a"
        to = "b"
        interval = "1.28 ms"
        random = "exponential"
        sizes = { small = { size = "100 B", share = 0.5 }, large = { size = "1500 B" } }
        """)
    first_s, second_s = 0.64e-3, (0.08e-3**2 + 1.2e-3**2) / 2
    theory_s = 0.5 / first_s * second_s / 2 / (1 - 0.5)
    by_rate = base.set_all({"traffic.calls.interval": None, "traffic.calls.rate": "5 Mbit/s"})
    waits_s = [tl.simulate(each).links["queueing_delay_mean_s"][0] for each in (base, by_rate)]
    assert waits_s[0] == pytest.approx(theory_s, rel=0.02)
    assert waits_s[1] < 0.95 * theory_s
    assert "not by ``rate`` with several" in (
        tl.Cbr.model_json_schema()["properties"]["random"].get("description") or ""
    )
