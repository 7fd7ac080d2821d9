"""Keys of transports, and what profiles have in place of those that nobody wrote."""

from __future__ import annotations

from typing import Any

import pytest

import tightlink as tl
from one_link import resolve, simple


def test_rfc_defaults() -> None:
    resolved = resolve(
        'duration = "1 s"\nlink.a = { ends = ["x", "y"], rate = "1 Mbit/s" }\n'
        'traffic.t = { kind = "bulk", from = "x", to = "y" }\n'
        'traffic.u = { kind = "cbr", from = "x", to = "y", interval = "1 ms", udp.datagram = "65 B" }'
    )
    assert resolved["profile"] == "rfc"
    assert resolved["links"][0]["mtu_bytes"] == 1500
    assert resolved["links"][0]["queue"]["limit"] == {"packets": 1000}
    assert resolved["flows"][0]["transport"]["tcp"] == {
        "congestion": "reno",
        "recovery": "sack",
        "payload_bytes": 1448,
        "header_bytes": 52,
        "ack_bytes": 52,
        "window_packets": 10000.0,
        "initial_window_packets": 10.0,
        "initial_ssthresh_packets": None,
        "slow_start": "standard",
        "max_ssthresh_packets": None,
        "delayed_ack_s": 0.2,
        "rto": {"initial_s": 1.0, "min_s": 1.0, "max_s": 60.0, "granularity_s": 0.001},
        "limited_transmit": True,
        "pacing": False,
        "ecn": False,
    }
    udp = {"payload_bytes": 37, "header_bytes": 28, "fragment_header_bytes": 20, "sizes": []}
    assert resolved["flows"][1]["transport"] == {"udp": udp}
    assert resolved["flows"][1]["traffic"] == {"kind": "cbr", "pace": {"interval_s": 0.001}}


LINUX = """
profile = "linux"
duration = "1 s"
link.a = { ends = ["x", "y"], rate = "10 Mbit/s", delay = "10 ms" }
traffic.t = { kind = "bulk", from = "x", to = "y" }
"""


def test_hystart_belongs_to_cubic_and_marks_to_dctcp() -> None:
    def tcp(**settings: object) -> dict[str, Any]:
        changed = {f"traffic.t.tcp.{key}": value for key, value in settings.items()}
        spec: dict[str, Any] = tl.loads(LINUX, set=changed).resolve()["flows"][0]["transport"]["tcp"]
        return spec

    assert (tcp()["congestion"]["kind"], tcp()["recovery"], tcp()["slow_start"], tcp()["ecn"]) == (
        "cubic", "rack", "hystart", False
    )  # fmt: skip
    assert tcp()["window_packets"] == 3 * 2**20 // 1448
    assert tcp(congestion="reno")["slow_start"] == "byte-counting"
    assert tcp(congestion={"kind": "cubic", "beta": 0.5})["slow_start"] == "hystart"
    assert tcp(congestion="dctcp")["ecn"] is True
    assert tcp(slow_start="limited")["max_ssthresh_packets"] == 100
    assert tcp(slow_start="limited", max_ssthresh="1 BDP")["max_ssthresh_packets"] == 17


def test_hosts_take_time_if_it_is_said() -> None:
    told = [tl.loads(LINUX, set={"traffic.t.tcp.processing_delay": text}) for text in ("0 s", "0.1 ms")]
    taken = [scenario.resolve()["flows"][0]["transport"]["tcp"].get("processing_delay_s") for scenario in told]
    assert taken == [None, 1e-4]
    digests = [tl.simulate(scenario).manifest["digest"] for scenario in (tl.loads(LINUX), *told)]
    assert digests[0] == digests[1] != digests[2]


def test_marks_cannot_be_refused_to_a_control_that_reads_them() -> None:
    scenario = tl.loads(LINUX, set={"traffic.t.tcp.congestion": "dctcp", "traffic.t.tcp.ecn": False})
    with pytest.raises(tl.ScenarioError, match=r"traffic\.t\.tcp\.ecn = false: its congestion control reads"):
        tl.simulate(scenario)


def test_ns2_has_no_rack() -> None:
    scenario = tl.loads(LINUX, set={"profile": "ns2", "traffic.t.tcp.recovery": "rack"})
    with pytest.raises(tl.ScenarioError, match=r'traffic\.t\.tcp\.recovery = "rack": profile ns2 has no'):
        tl.simulate(scenario)


@pytest.mark.parametrize(
    ("window", "packets"),
    [('"20 packets"', 20.0), ('"64 KiB"', 65.0), ('"1 BDP"', 5.0), ('"3 BDP"', 15.0)],
)
def test_windows(window: str, packets: float) -> None:
    tcp = resolve(simple(flow=f", tcp.window = {window}"))["flows"][0]["transport"]["tcp"]
    assert tcp["window_packets"] == packets
    assert tcp["initial_ssthresh_packets"] == packets


def test_the_window_after_a_timeout_is_a_key_only_where_it_is_not_one_packet() -> None:
    """So that scenarios, and what is stored of them, stay what they were."""

    def tcp(keys: str) -> dict[str, object]:
        found: dict[str, object] = resolve(simple(flow=keys))["flows"][0]["transport"]["tcp"]
        return found

    usual = tcp("")
    assert "loss_window_packets" not in usual
    assert tcp(', tcp.loss_window = "1 packet"') == usual
    assert tcp(', tcp.loss_window = "4 packets"') == usual | {"loss_window_packets": 4.0}
    assert tcp(', tcp.loss_window = "2500 B"') == usual | {"loss_window_packets": 2.0}


def test_pacing_is_off_until_it_is_asked_for() -> None:
    assert resolve(simple())["flows"][0]["transport"]["tcp"]["pacing"] is False
    assert resolve(simple(flow=", tcp.pacing = true"))["flows"][0]["transport"]["tcp"]["pacing"] is True


@pytest.mark.parametrize(
    ("traffic", "largest"),
    [('kind = "bulk"', "1368 B"), ('kind = "video", rate = "2 Mbit/s"', "1392 B")],
)
def test_what_fits_a_path_is_what_fits_its_smallest_mtu(traffic: str, largest: str) -> None:
    """A VPN behind a DSL line: what is meant for the first link that is too narrow would not fit the second."""
    text = f"""
profile = "linux"
duration = "1 s"
link.dsl = {{ ends = ["office", "isp"], rate = "10 Mbit/s", mtu = "1492 B" }}
link.tunnel = {{ ends = ["isp", "hq"], rate = "1 Gbit/s", mtu = "1420 B" }}
traffic.x = {{ from = "office", to = "hq", {traffic} }}
"""
    with pytest.raises(tl.ScenarioError, match=f'link tunnel has an MTU of 1420 B; did you mean "{largest}"'):
        tl.loads(text).resolve()
    key = "tcp" if "bulk" in traffic else "udp"
    assert tl.loads(text).set(f"traffic.x.{key}.payload", largest).resolve()
