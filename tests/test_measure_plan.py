"""Scenarios as hosts around emulated links: what comes of them, and which are refused, each in one sentence."""

from __future__ import annotations

import pytest

import tightlink as tl
from in_real_time import needs_links
from tightlink.measure.plan import Plan
from tightlink.measure.settings import differences, largest_of_programs, largest_packet, of_hosts
from tightlink.measure.sides import Route

WIRE = """
duration = "2 s"
link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }
"""
CHAIN = """
duration = "2 s"
link.first = { ends = ["a", "x"], rate = "100 Mbit/s", delay = "1 ms" }
link.middle = { ends = ["x", "y"], rate = "2 Mbit/s", delay = "10 ms" }
link.last = { ends = ["y", "b"], rate = "100 Mbit/s", delay = "2 ms" }
"""
FTP = 'traffic.ftp = { kind = "bulk", from = "a", to = "b" }\n'
BACK = 'traffic.back = { kind = "cbr", from = "b", to = "a", rate = "64 kbit/s", udp.payload = "100 B" }\n'


def _plan(text: str, *links: str) -> Plan:
    return Plan.of(tl.loads(text, file="x.toml"), links=links)


def test_one_link(one_flow: str) -> None:
    plan = _plan(one_flow)
    assert plan.links == ("bottleneck",)
    assert [(host.name, host.address, host.side) for host in plan.hosts.values()] == [
        ("sender", "10.64.0.1", 0),
        ("receiver", "10.64.128.1", 1),
    ]
    assert [link["name"] for link in plan.directions] == ["bottleneck", "bottleneck.reverse"]
    assert plan.routes == (Route((0, 1), (0,)), Route((1, 0), (1,)))
    assert plan.processor is None
    assert plan.warnings == ()


def test_delays_of_the_other_links_are_kept() -> None:
    plan = _plan(CHAIN + FTP + BACK)
    assert plan.links == ("middle",)
    assert [(route.before_s, route.beyond_s) for route in plan.routes] == [(0.001, 0.002), (0.002, 0.001)]
    assert plan.warnings == ("taken as free, but for their delays: first, last",)
    assert {host.name: host.side for host in plan.hosts.values()} == {"a": 0, "b": 1}


def test_hosts_may_be_at_unlike_distances() -> None:
    far = 'link.way = { ends = ["c", "x"], rate = "1 Gbit/s", delay = "5 ms" }\n'
    plan = _plan(CHAIN + far + FTP + 'traffic.far = { kind = "bulk", from = "c", to = "b" }\n')
    there, back = ([route for route in plan.routes if route.links == (link,)] for link in (0, 1))
    assert [(route.hosts, route.before_s, route.beyond_s) for route in there] == [
        (None, 0.005, 0.002),
        (("a", "b"), 0.001, 0.002),
        (("c", "b"), 0.005, 0.002),
    ]
    assert [route.hosts for route in back] == [None, ("b", "a"), ("b", "c")]
    assert plan.round_trip_s("a", "b") == pytest.approx(0.026)


def test_a_group_has_a_side(dumbbell: str) -> None:
    plan = _plan(dumbbell)
    assert plan.links == ("net.bottleneck",)
    assert len(plan.of_side(0)) == len(plan.of_side(1)) == 100
    assert plan.hosts["net.right[99]"].address == "10.64.128.100"
    assert (plan.routes[0].before_s, plan.routes[0].beyond_s) == (0.001, 0.001)
    assert plan.warnings == ("taken as free, but for their delays: net.access_left[*], net.access_right[*]",)


def test_the_link_can_be_chosen() -> None:
    plan = _plan(CHAIN + FTP, "last")
    assert plan.links == ("last",)
    assert plan.warnings[0] == "first, middle would not be faster than last: taken as free"
    with pytest.raises(tl.ScenarioError, match=r'^link = "midle": .*; did you mean "middle"\?$'):
        _plan(CHAIN + FTP, "midle")


def test_a_router_at_an_end_keeps_its_processor() -> None:
    plan = _plan(CHAIN + FTP + 'node.y.processor = { per_packet = "100 us" }\n')
    assert plan.processor is not None
    name, side, processor = plan.processor
    assert (name, side, processor["per_packet_s"]) == ("y", 1, 1e-4)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            CHAIN.replace('"10 ms"', '"10 ms", flow_control = true') + FTP + 'node.y.processor = { per_packet = "100 us" }\n',
            "x.toml: link.middle.flow_control: flow control cannot be had in real time: ",
        ),
        (
            CHAIN.replace('"1 ms"', '"1 ms", loss = "1 %"') + FTP,
            "x.toml: link.first: first loses packets, and only middle is emulated; link in Python, or --link middle,first, emulates both: ",
        ),
        (
            CHAIN + 'link.second = { ends = ["a", "x"], rate = "1 Gbit/s", delay = "5 ms" }\n' + FTP
            + 'traffic.other = { kind = "bulk", from = "a", to = "b", path = ["second", "middle", "last"], '
            'reverse_path = ["last.reverse", "middle.reverse", "second.reverse"] }\n',
            "x.toml: traffic.other: before and behind the link its delays are 0.005 and 0.002 s, "
            "and those of ftp, between the same hosts, 0.001 and 0.002 s: ",
        ),
        (
            WIRE + FTP + BACK.replace("udp.payload = ", 'udp = { ecn = "ect1", payload = ').replace(" }\n", " } }\n"),
            "x.toml: traffic.back.udp.ecn: datagrams are sent without ECN in real time: ",
        ),
        (
            WIRE + FTP + 'node.a.processor = { per_packet = "1 us" }\n',
            "x.toml: node.a.processor: a is a host, whose interface is the machine's own: ",
        ),
        (
            WIRE.replace('"10 ms"', '"10 ms", one_way = true') + BACK.replace('"b", to = "a"', '"a", to = "b"'),
            "x.toml: link.wire: wire goes one way only: ",
        ),
    ],
    ids=["queue", "loss", "delays", "datagrams", "interface", "one-way"],
)  # fmt: skip
def test_refused(text: str, says: str) -> None:
    with pytest.raises(tl.ScenarioError) as error:
        _plan(text)
    assert str(error.value) == says + "not a scenario that an emulated link can carry"


def test_users_are_refused(small_users: str) -> None:
    with pytest.raises(tl.ScenarioError, match='traffic of kind "users" has no flows that hosts could send'):
        _plan(small_users)


def test_transports_begin_as_the_profile_says(one_flow: str) -> None:
    ns2 = of_hosts(_plan(one_flow))
    assert ns2["sender"].metrics == {"initcwnd": 2, "rto_min": 200}
    assert ns2["receiver"].metrics == {"quickack": 1}
    assert ns2["sender"].system["net.ipv4.tcp_timestamps"] == ns2["receiver"].system["net.ipv4.tcp_sack"] == "0"
    assert ns2["sender"].system["net.ipv4.tcp_slow_start_after_idle"] == "0"
    assert largest_packet(_plan(one_flow)) == 1040
    linux = of_hosts(_plan('profile = "linux"\n' + WIRE + FTP))
    assert linux["a"].metrics == {"initcwnd": 10, "rto_min": 200}
    assert linux["b"].metrics == {}
    assert linux["a"].system["net.ipv4.tcp_slow_start_after_idle"] == "1"
    kept = of_hosts(_plan('profile = "linux"\n' + WIRE + FTP.replace(" }", ", tcp.slow_start_after_idle = false }")))
    assert kept["a"].system["net.ipv4.tcp_slow_start_after_idle"] == "0"
    assert linux["a"].system["net.ipv4.tcp_timestamps"] == linux["b"].system["net.ipv4.tcp_sack"] == "1"
    # Segments without offloads take a multiple of their payload in a buffer: its own largest one holds 2.6 MB of them.
    assert int(linux["a"].system["net.ipv4.tcp_wmem"].split()[2]) >= 4 * (3 << 20)
    assert "net.ipv4.tcp_wmem" not in linux["b"].system


@pytest.mark.parametrize(
    ("link", "traffic", "mtu"),
    [
        ("", 'kind = "cbr", rate = "1 Mbit/s", udp.payload = "1000 B"', 1500),
        ("", 'kind = "bulk", tcp.payload = "20 B"', 1500),
        (', mtu = "1280 B"', 'kind = "cbr", rate = "1 Mbit/s", udp.payload = "100 B"', 1280),
        (', mtu = "9000 B"', 'kind = "bulk", tcp.payload = "1448 B"', 9000),
    ],
)
def test_programs_of_an_emulation_have_the_mtu_of_the_links_and_not_that_of_the_traffic(
    link: str, traffic: str, mtu: int
) -> None:
    wire = f'duration = "1 s"\nlink.wire = {{ ends = ["a", "b"], rate = "2 Mbit/s"{link} }}\n'
    assert largest_of_programs(_plan(f'{wire}traffic.t = {{ from = "a", to = "b", {traffic} }}\n')) == mtu


def test_programs_of_an_emulation_have_the_mtu_of_ethernet_where_links_have_none(one_flow: str) -> None:
    assert largest_of_programs(_plan(one_flow)) == 1500
    assert largest_of_programs(_plan(one_flow.replace('"1000 B"', '"8960 B"'))) == 9000


def test_what_linux_does_its_own_way_is_known(one_flow: str) -> None:
    assert differences(_plan('profile = "linux"\n' + WIRE + FTP)) == []
    assert "traffic.ftp.tcp.recovery" in differences(_plan(one_flow))
    slow = FTP.replace("}", ', tcp.processing_delay = "1 ms" }')
    assert differences(_plan('profile = "linux"\n' + WIRE + slow)) == ["traffic.ftp.tcp.processing_delay"]


@pytest.mark.parametrize(
    ("tcp", "says"),
    [
        ('congestion = "veno"', 'x.toml: traffic.ftp.tcp.congestion = "veno": expected one that Linux has: reno, cubic, bbr'),
        (
            'congestion = { kind = "cubic", beta = 0.5 }',
            'x.toml: traffic.ftp.tcp.congestion = "cubic": expected its options as they are in Linux',
        ),
        (
            'recovery = "tahoe"',
            'x.toml: traffic.ftp.tcp.recovery = "tahoe": expected a recovery that Linux has: reno, newreno, sack or rack',
        ),
        (
            'payload = "30 B"',
            'x.toml: traffic.ftp.tcp.payload = "30 B": expected packets of at least 88 B with their headers, as Linux sends no smaller ones',
        ),
    ],
)  # fmt: skip
def test_what_linux_does_not_have_is_refused(tcp: str, says: str) -> None:
    plan = _plan(WIRE + f'traffic.ftp = {{ kind = "bulk", from = "a", to = "b", tcp = {{ {tcp} }} }}\n')
    with pytest.raises(tl.ScenarioError) as error:
        (largest_packet if "payload" in tcp else of_hosts)(plan)
    assert str(error.value) == says


def test_a_host_is_one_way_only() -> None:
    other = 'traffic.other = { kind = "bulk", from = "a", to = "b", tcp.initial_window = "4 packets" }\n'
    says = "traffic.other.tcp.initial_window: a has one value for all of its connections, and traffic.ftp.tcp"
    with pytest.raises(tl.ScenarioError, match=says):
        of_hosts(_plan(WIRE + FTP + other))


@needs_links
@pytest.mark.parametrize("device", ["tun", "packet"])
@pytest.mark.parametrize("pairs", [1, 2])
def test_packets_of_hosts_come_to_the_link(device: str, pairs: int) -> None:
    import os
    import select
    import sys

    from tightlink.measure.hosts import lay_out
    from tightlink.measure.testbed import Bed

    text = f"""
duration = "2 s"
topology.net = {{ kind = "dumbbell", pairs = {pairs}, bottleneck = {{ rate = "2 Mbit/s", delay = "20 ms" }}, access.rate = "1 Gbit/s" }}
traffic.bulk = {{ kind = "bulk", flows = {pairs}, from = "net.left[*]", to = "net.right[*]" }}
"""
    plan = _plan(text)
    with Bed() as bed:
        hosts = lay_out(bed, plan, device)  # type: ignore[arg-type]
        try:
            last = f"net.left[{pairs - 1}]"
            there = plan.hosts[f"net.right[{pairs - 1}]"].address
            assert hosts.not_set == []
            receiver = bed.popen(f"net.right[{pairs - 1}]", [sys.executable, "-c", _RECEIVER, there])
            sending = f"import socket; socket.socket(type=2).sendto(bytes(5), ('{there}', 9))"
            for _ in range(40):
                assert bed.run(last, [sys.executable, "-c", sending], timeout_s=10).code == 0
                assert select.select([hosts.ports[0]], [], [], 10)[0]
                frame = os.read(hosts.ports[0], 2000)
                packet = frame if device == "tun" else frame[14:]
                assert len(packet) == 33
                assert packet[12:16] == bytes(map(int, plan.hosts[last].address.split(".")))
                # It arrives as it is: checksums and hardware addresses are right.
                os.write(hosts.ports[1], frame)
                if receiver.poll() is not None:
                    break
            assert receiver.finish(5).output == "5\n"
        finally:
            hosts.close()


_RECEIVER = """
import socket, sys
receiver = socket.socket(type=socket.SOCK_DGRAM)
receiver.bind((sys.argv[1], 9))
receiver.settimeout(20)
print(len(receiver.recv(100)))
"""
