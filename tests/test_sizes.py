"""Traffic that mixes packets of several sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import tightlink as tl
from tightlink.analysis.networks.flow_limits import flow_limits

if TYPE_CHECKING:
    from pathlib import Path

WIRE = """
duration = "20 s"
seed = 7
link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "1 ms", queue = "100 packets" }
"""
MODES = (
    '{ ack = { size = "40 B", share = 0.55 }, old = { size = "576 B", share = "20 %" }, full = { size = "1500 B" } }'
)
KINDS = {
    "cbr": 'kind = "cbr", rate = "2 Mbit/s"',
    "paced": 'kind = "cbr", interval = "1 ms"',
    "on-off": 'kind = "on-off", rate = "2 Mbit/s", on = "1 s", off = "1 s"',
    "saturate": 'kind = "saturate"',
}
SHARES = {40: 0.55, 576: 0.2, 1500: 0.25}
MEAN = sum(size * share for size, share in SHARES.items())


def mixed(kind: str, sizes: str = MODES, more: str = "") -> tl.Scenario:
    return tl.loads(f'{WIRE}\ntraffic.t = {{ {KINDS[kind]}, from = "a", to = "b", sizes = {sizes} {more} }}')


def one(run: tl.Run, column: str) -> float:
    return float(run.flows[column][0])


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_engine_reads(kind: str) -> None:
    (flow,) = mixed(kind).resolve()["flows"]
    sizes = [{"bytes": size, "share": share} for size, share in SHARES.items()]
    udp = {"payload_bytes": 1472, "header_bytes": 28, "fragment_header_bytes": 20, "sizes": sizes}
    assert flow["transport"] == {"udp": udp}


@pytest.mark.parametrize("kind", KINDS)
def test_there_and_back_to_toml(kind: str) -> None:
    scenario = mixed(kind)
    assert tl.loads(scenario.to_toml()) == scenario
    explicit = tl.loads(scenario.explicit().to_toml())
    assert explicit.explicit() == explicit == scenario.explicit()
    assert explicit.resolve() == scenario.resolve()


def test_python_objects_are_the_same_model() -> None:
    sizes = {
        "ack": tl.DatagramSize(size="40 B", share=0.55),
        "old": tl.DatagramSize(size="576 B", share=0.2),
        "full": tl.DatagramSize(size="1500 B"),
    }
    traffic = tl.Cbr(from_="a", to="b", rate="2 Mbit/s", sizes=sizes)
    assert traffic == mixed("cbr").traffic["t"]


@pytest.mark.parametrize("profile", ["rfc", "ns2"])
def test_a_rate_is_kept_and_bytes_are_counted_as_they_were_sent(profile: str) -> None:
    run = tl.simulate(mixed("cbr").set("profile", profile), trace=True)
    assert one(run, "bytes_sent") * 8 / 20 == pytest.approx(2e6, rel=1500 * 8 / 20 / 2e6)
    sent = run.packets.filter(event="+")
    assert one(run, "bytes_sent") == sent["size_bytes"].sum()
    received = run.packets.filter(event="r")
    assert one(run, "throughput_bps") == received["size_bytes"].sum() * 8 / 20
    header = 0 if profile == "ns2" else 28
    assert one(run, "goodput_bps") == (received["size_bytes"] - header).sum() * 8 / 20
    # Some may be on the wire when the run ends.
    assert received["size_bytes"].sum() <= run.links["bytes_out"][0] <= sent["size_bytes"].sum()
    counts = dict(sent["size_bytes"].value_counts().iter_rows())
    for size, share in SHARES.items():
        # Four standard deviations of a binomial distribution.
        assert counts[size] == pytest.approx(share * sent.height, abs=4 * (share * (1 - share) * sent.height) ** 0.5)
    # Each is followed by the next one when it would be through at this rate.
    late = sent["time_s"].diff() - sent["size_bytes"].shift(1) * 8 / 2e6
    assert late.abs().to_list()[1:] == pytest.approx([0.0] * (sent.height - 1), abs=1e-9)


def test_an_interval_is_kept() -> None:
    run = tl.simulate(mixed("paced"))
    assert one(run, "packets_sent") == 20_000
    assert one(run, "bytes_sent") == pytest.approx(20_000 * MEAN, rel=0.03)


def test_a_saturating_source_fills_the_line() -> None:
    run = tl.simulate(mixed("saturate"))
    assert run.links["utilization"][0] == pytest.approx(1.0)
    assert one(run, "packets_dropped") == 0
    assert one(run, "bytes_delivered") / one(run, "packets_delivered") == pytest.approx(MEAN, rel=0.03)


def test_traces_have_the_sizes(tmp_path: Path) -> None:
    file = tmp_path / "out.tr"
    run = tl.simulate(mixed("on-off"), trace=True, tr=file)
    lines = [line.split() for line in file.read_text(encoding="ascii").splitlines()]
    assert [int(line[5]) for line in lines] == run.packets["size_bytes"].to_list()
    assert {int(line[5]) for line in lines} == set(SHARES)


def test_one_size_is_no_mix() -> None:
    traffic = f'{KINDS["on-off"]}, from = "a", to = "b", udp.datagram = "576 B"'
    plain = tl.simulate(tl.loads(f"{WIRE}\ntraffic.t = {{ {traffic} }}"))
    run = tl.simulate(mixed("on-off", '{ only = { size = "576 B" } }'))
    for key in ("digest", "random_draws"):
        assert run.manifest[key] == plain.manifest[key]


def test_a_mix_has_a_random_stream_of_its_own() -> None:
    other = 'traffic.u = { kind = "on-off", interval = "10 ms", on = "1 s", off = "1 s", from = "b", to = "a" }\n'

    def bursts(sizes: str) -> list[float]:
        text = (
            WIRE
            + other
            + f'traffic.t = {{ kind = "on-off", interval = "10 ms", on = "1 s", off = "1 s", from = "a", to = "b" {sizes} }}'
        )
        sent = tl.simulate(tl.loads(text), trace=True).packets.filter(event="+")
        return sorted(sent["time_s"].to_list())

    assert bursts(f", sizes = {MODES}") == bursts("")


def test_a_mix_hangs_on_the_seed_alone() -> None:
    first, again, other = (tl.simulate(mixed("cbr"), seed=seed).manifest["digest"] for seed in (1, 1, 2))
    assert first == again != other


def test_sizes_are_where_two_come_apart() -> None:
    # Half of the packets need 12 µs of a link that has time for 30 µs of two: it is the mean that counts.
    run = tl.simulate(mixed("cbr").set("traffic.t.rate", "9.9 Mbit/s"))
    assert one(run, "packets_dropped") == 0
    assert run.links["utilization"][0] == pytest.approx(0.99, abs=0.002)


WRONG = [
    ("cbr", "{}", "", "traffic.t.sizes: expected at least one size"),
    ("cbr", '{ a = { size = "40 B", share = 0.5 } }', "", "traffic.t.sizes: expected shares that sum to 1, not 0.5"),
    ("cbr", '{ a = { size = "40 B" }, b = { size = "50 B" } }', "", "traffic.t.sizes.b.share: expected a share: only one"),
    ("cbr", "{ a = { size = 40 } }", "", "traffic.t.sizes.a.size = 40: expected a unit, too: a size"),
    ("cbr", '{ a = { size = "28 B" } }', "", 'traffic.t.sizes.a.size = "28 B": expected more than the 28 B of its headers'),
    ("on-off", '{ a = { size = "70 kB" } }', "", 'traffic.t.sizes.a.size = "70 kB": expected an IP packet of at most'),
    ("saturate", '{ a = { size = "1501 B" } }', "", "expected at most 1500 B, the MTU of link wire: these datagrams are not sent in fragments"),
    ("cbr", MODES, ', udp.payload = "100 B"', 'traffic.t.udp.payload = "100 B": expected either sizes or the one size of all'),
    ("cbr", MODES, ", tcp = {}", "traffic.t.sizes: expected nothing here: TCP sends segments of tcp.payload"),
    ("cbr", '{ a = { size = "40 B", part = 1 } }', "", "traffic.t.sizes.a.part: unknown key; expected one of size, share"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "sizes", "more", "message"), WRONG)
def test_what_is_wrong_is_said(kind: str, sizes: str, more: str, message: str) -> None:
    with pytest.raises(tl.ScenarioError) as caught:
        mixed(kind, sizes, more).set("link.wire.mtu", "1500 B").resolve()
    assert message in str(caught.value)


def test_other_traffic_has_no_sizes() -> None:
    with pytest.raises(tl.ScenarioError, match=r"traffic\.t\.sizes: unknown key"):
        tl.loads(f'{WIRE}\ntraffic.t = {{ kind = "bulk", from = "a", to = "b", sizes = {MODES} }}')


def test_a_fast_rate_counts_the_smallest() -> None:
    scenario = mixed("cbr", '{ a = { size = "100 B", share = 0.5 }, b = { size = "1500 B" } }')
    scenario.set("traffic.t.rate", "800 Gbit/s").resolve()
    with pytest.raises(tl.ScenarioError, match="a rate with at least 1 ns from packet to packet"):
        scenario.set("traffic.t.rate", "801 Gbit/s").resolve()


def test_queues_in_bandwidth_delay_products_count_the_largest() -> None:
    # 10 Mbit/s × 2 ms are 2500 B.
    (forward, _) = mixed("cbr").set("link.wire.queue", "1 BDP").resolve()["links"]
    assert forward["queue"]["limit"] == {"packets": 2}


def test_flow_limits_need_one_size() -> None:
    with pytest.raises(tl.ScenarioError, match=r"traffic\.t\.sizes: expected packets of one size"):
        flow_limits(mixed("cbr"))
    assert flow_limits(mixed("cbr"), packet_bytes=576).packet_bytes == 576
