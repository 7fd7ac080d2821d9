"""How exact an emulated link is: rate, drops, delays and lateness against what the model says, with our own sender.

Usage: python benchmarks/relay.py [--seconds S] [--device tun|packet]…
"""

from __future__ import annotations

import argparse
import getpass
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import tightlink as tl
from tightlink.measure import metadata
from tightlink.measure.emulation import Emulation
from tightlink.measure.measuring import measure
from tightlink.measure.plan import Plan
from tightlink.measure.probe import receive_udp, send_udp
from tightlink.measure.traffic import Constant, UdpFlow

if TYPE_CHECKING:
    from tightlink.run import Run

HEADERS = 28
PORT = 9000


@dataclass(frozen=True)
class Path:
    """A link."""

    name: str
    rate_bps: float
    delay_s: float
    queue: int

    def plan(self) -> Plan:
        wire = tl.Link(
            ends=("a", "b"),
            rate=f"{self.rate_bps:.0f} bit/s",
            delay=f"{self.delay_s * 1e3:g} ms",
            queue=f"{self.queue} packets",
        )
        traffic = {"cbr": tl.Cbr(from_="a", to="b", interval="1 ms", udp={"datagram": "1500 B"})}
        return Plan.of(tl.Scenario(profile="linux", duration="10 s", link={"wire": wire}, traffic=traffic))

    def takes_s(self, size: int) -> float:
        """Seconds of a packet on the line."""
        return 8 * size / self.rate_bps


PATHS = (
    Path("2 Mbit/s, 10 ms, 20", 2e6, 0.01, 20),
    Path("10 Mbit/s, 81 ms, 80", 10e6, 0.081, 80),
    Path("45 Mbit/s, 12 ms, 80", 45e6, 0.012, 80),
    Path("100 Mbit/s, 0.1 ms, 80", 100e6, 0.0001, 80),
)
#: Carries more packets a second than are sent.
FAST = Path("1 Gbit/s, 10 ms, 1000", 1e9, 0.01, 1000)


@dataclass(frozen=True)
class Traffic:
    """What was sent and received, and what the relay says of it."""

    sent: int
    refused: int
    arrived_s: np.ndarray[Any, Any]
    delay_s: np.ndarray[Any, Any]
    overflowed: int
    run: Run

    @property
    def late(self) -> dict[str, float]:
        found: dict[str, float] = self.run.manifest["relay"]["lateness"]
        return found


def send(path: Path, device: Any, size: int, interval_s: float, seconds: float) -> Traffic:
    """A stream of datagrams over its own link; no lateness is too much, as it is what is to be seen."""
    plan = path.plan()
    with Emulation(plan, device, late_s=60.0, trace=True) as emulation:
        address = (plan.hosts["b"].address, PORT)
        with emulation.bed.socket("a", 2) as out, emulation.bed.socket("b", 2) as end:
            end.bind(address)
            flow = UdpFlow(address, payload_bytes=size - HEADERS, pattern=Constant(interval_s), stop_s=seconds)
            found: list[Any] = []

            def receive() -> None:
                found.append(receive_udp(end, limit_s=seconds + 30, idle_s=1.0))

            receiver = threading.Thread(target=receive)
            receiver.start()
            time.sleep(0.1)
            sent = send_udp([flow], limit_s=seconds + 20, ends=[out])
            receiver.join()
        run = emulation.finish()
    (received,) = found
    delay_s = (received.received_ns - received.sent_ns) / 1e9
    arrived_s = (received.received_ns - received.received_ns[0]) / 1e9
    return Traffic(len(sent.seq), sent.refused, arrived_s, delay_s, received.overflowed, run)


def journeys(run: Run) -> pl.DataFrame:
    """The packets that got through, in order: when they came, when they began and should have arrived, in seconds."""
    there = run.packets.filter(pl.col("from") == "a")
    came = there.filter(pl.col("event") == "+").select("uid", came_s="time_s")
    begun = there.filter(pl.col("event") == "-").select("uid", begun_s="time_s")
    delivered = run.table("deliveries").filter(pl.col("from") == "a").select("uid", "due_s")
    return delivered.join(came, on="uid").join(begun, on="uid").sort("due_s")


def beyond_s(traffic: Traffic) -> np.ndarray[Any, Any]:
    """How much longer each packet took, from sender to receiver, than the link should take."""
    found = journeys(traffic.run)
    return traffic.delay_s - (found["due_s"] - found["came_s"]).to_numpy()


def rate_bps(path: Path, traffic: Traffic, size: int) -> float:
    """What arrived in the longest time in which the line did not pause, as the receiver's clock sees it."""
    begun_s = journeys(traffic.run)["begun_s"].to_numpy()
    pauses = np.flatnonzero(np.diff(begun_s) > path.takes_s(size) + 1e-9) + 1
    bounds = np.concatenate([[0], pauses, [len(begun_s)]])
    longest = int(np.argmax(np.diff(bounds)))
    first, last = bounds[longest], bounds[longest + 1] - 1
    return float(8 * size * (last - first) / (traffic.arrived_s[last] - traffic.arrived_s[first]))


def other_fates(path: Path, run: Run, size: int) -> int:
    """Packets whose outcome is not that of a plain drop-tail queue which gets them when the relay got them."""
    there = run.packets.filter(pl.col("from") == "a")
    dropped = set(there.filter(pl.col("event") == "d")["uid"])
    waiting: deque[float] = deque()
    free_s, wrong = -1.0, 0
    for uid, now_s in there.filter(pl.col("event") == "+").select("uid", "time_s").iter_rows():
        while waiting and waiting[0] <= now_s:
            waiting.popleft()
        full = len(waiting) >= path.queue
        if not full:
            free_s = max(free_s, now_s) + path.takes_s(size)
            waiting.append(free_s)
        wrong += full != (uid in dropped)
    return wrong


def micro(seconds: float) -> str:
    return f"{1e6 * seconds:.1f}"


def lateness(traffic: Traffic) -> list[str]:
    return [micro(traffic.late[name]) for name in ("p50_s", "p99_s", "p999_s", "max_s")]


def elsewhere(traffic: Traffic) -> str:
    """Packets lost where no queue was: between the sender and the relay, and between the relay and the receiver."""
    link = traffic.run.links.row(0, named=True)
    return f"{traffic.sent - link['packets_in'] + traffic.late['packets'] - len(traffic.arrived_s):.0f}"


def overloaded(path: Path, device: str, seconds: float) -> list[str]:
    """One and a half times what the link carries."""
    size = 1000
    traffic = send(path, device, size, path.takes_s(size) / 1.5, seconds)
    link = traffic.run.links.row(0, named=True)
    excess_s = beyond_s(traffic)
    return [
        path.name,
        device,
        f"{100 * (rate_bps(path, traffic, size) / path.rate_bps - 1):+.4f}",
        f"{link['packets_dropped']} of {link['packets_in']}",
        str(other_fates(path, traffic.run, size)),
        elsewhere(traffic),
        f"{1e3 * (path.delay_s + path.queue * path.takes_s(size)):.1f}",
        micro(np.quantile(excess_s, 0.5)),
        micro(np.quantile(excess_s, 0.99)),
        *lateness(traffic),
    ]


def alone(path: Path, device: str, seconds: float) -> list[str]:
    """Small packets that never wait."""
    traffic = send(path, device, 100, 0.02, seconds)
    excess_s = beyond_s(traffic)
    quantiles = (micro(np.quantile(excess_s, share)) for share in (0.5, 0.99))
    return [path.name, device, *quantiles, micro(excess_s.max()), *lateness(traffic)]


def fast(device: str, seconds: float, rate: float) -> list[str]:
    """Many packets a second."""
    traffic = send(FAST, device, 100, 1 / rate, seconds)
    relay = traffic.run.manifest["relay"]
    return [
        device,
        f"{traffic.sent / seconds:.0f}",
        elsewhere(traffic),
        f"{100 * relay['cpu_s'] / relay['duration_s']:.0f}",
        *lateness(traffic),
    ]


#: Of a chain: its links, and packets a second that cross some of them.
LINKS, CHAIN_PPS = 4, 4000


def chain(hosts: int, seconds: float) -> list[str]:
    """Links in a row; half of the hosts send to the others, some from end to end, some over one link."""
    ends = [(f"n{place}", f"n{place + 1}") for place in range(LINKS)]
    own = {"rate": "100 Mbit/s", "delay": "5 ms", "queue": "300 packets"}
    links = {f"l{place}": {"ends": list(each), **own} for place, each in enumerate(ends)}
    traffic: dict[str, dict[str, Any]] = {}
    for number in range(hosts // 2):
        here, there = ends[number % LINKS] if number % 2 == 0 else ("n0", f"n{LINKS}")
        for side, near in ((f"s{number}", here), (f"r{number}", there)):
            links[side] = {"ends": [side, near], "rate": "10 Gbit/s"}
        interval = f"{1e3 * hosts / 2 / CHAIN_PPS:g} ms"
        cbr = {"kind": "cbr", "interval": interval, "udp": {"datagram": "500 B"}}
        traffic[f"t{number}"] = {"from": f"s{number}", "to": f"r{number}", **cbr}
    wanted = {"profile": "linux", "duration": f"{seconds:g} s", "link": links, "traffic": traffic}
    run = measure(tl.Scenario.from_dict(wanted), links=[f"l{place}" for place in range(LINKS)], late_s=60.0)
    relay = run.manifest["relay"]
    late = (micro(relay["lateness"][name]) for name in ("p50_s", "p99_s", "p999_s", "max_s"))
    return [str(hosts), f"{100 * relay['cpu_s'] / relay['duration_s']:.0f}", *late]


def table(header: list[str], rows: list[list[str]]) -> None:
    print("| " + " | ".join(header) + " |")
    print("| " + " | ".join("---" if place < 1 else "---:" for place in range(len(header))) + " |")
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=4.0, help="of each measurement")
    parser.add_argument("--device", action="append", choices=["tun", "packet"])
    options = parser.parse_args()
    devices, seconds = options.device or ["tun", "packet"], options.seconds
    late = ["late: p50 µs", "p99", "p99.9", "most"]
    known, before = metadata.machine(), metadata.load()
    beyond = ["beyond the model: p50 µs", "p99"]
    counted = ["rate %", "dropped", "other outcome", "lost elsewhere", "full queue ms"]
    both = [(path, device) for path in PATHS for device in devices]
    table(["path", "device", *counted, *beyond, *late], [overloaded(*each, seconds) for each in both])
    table(["path", "device", *beyond, "most", *late], [alone(*each, seconds) for each in both])
    table(
        ["device", "packets/s", "lost elsewhere", "CPU %", *late],
        [fast(device, seconds, rate) for device in devices for rate in (10e3, 30e3)],
    )
    table(["hosts", "CPU %", *late], [chain(hosts, seconds) for hosts in (4, 10, 40, 200)])
    busy = metadata.between(before, metadata.load())
    print(
        f"user {getpass.getuser()}; {known['cpus']} x {known['cpu']}, {known['kernel']}; load average "
        f"{busy['load_average_before'][0]:.1f} before, {busy['load_average_after'][0]:.1f} after; processors "
        f"{100 * busy['cpu_busy']:.0f} % busy, {100 * busy['cpu_steal']:.1f} % stolen"
    )


if __name__ == "__main__":
    main()
