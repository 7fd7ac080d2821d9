"""The pack for queues: the tests of RFC 7928, each queue with its defaults over one bottleneck.

Its levels of congestion are numbers of flows here, from fewer than its formulas have (§8.2.2 to §8.2.4: 7, 16 and 23
for this path) to more; what drop-tail loses with each stands in the same table. BBR is what is aggressive, LEDBAT what
gives way, with the target of RFC 6817, where §5.4 recommends 5 ms, and a gain of 10, which RFC 6817 forbids.
"""

from collections.abc import Mapping
from typing import Final

from tightlink.run import Run
from tightlink.scenario import Cbr, Link, Udp
from tightlink.studies.evaluation.setup import aqm_load, queued
from tightlink.studies.evaluation.setup.pack import tests
from tightlink.studies.evaluation.setup.path import RECEIVER, SENDER, VOICE, Path, two_round_trips
from tightlink.studies.evaluation.setup.queued import completed, goodput, made, of_flows, several, short
from tightlink.studies.evaluation.setup.samples import flows_of, loss_of

#: A control that takes what it can, and one that gives way (RFC 6817).
AGGRESSIVE: Final = "bbr"
SCAVENGER: Final = "ledbat"
#: Flows that load the link: little, as medium congestion has them, and far more.
LEVELS: Final = (2, 16, 64)
#: What the stream that does not answer takes of the link: more than half of it (§5.3).
STREAM: Final = 0.6
#: What a stream takes of it that is more than all.
FLOOD: Final = 1.2
#: Initial windows of short transfers, in packets: of RFC 3390, and of RFC 6928.
INITIAL: Final = (3, 10)
ROUND_TRIPS_MS: Final = (20, 100)
_HOSTS: Final = {"own": "host_own", "standard": "host_standard"}


def _stream(share: float) -> Cbr:
    return Cbr(from_=SENDER, to=RECEIVER, rate=f"{share * queued.PATH.rate_mbit:g} Mbit/s", udp=Udp(datagram="1500 B"))


def _over(run: Run) -> float:
    return goodput(run, "own") / goodput(run, "standard")


def _taken(run: Run) -> dict[str, float | None]:
    own = goodput(run, "own")
    return {"scavenger_share": own / (own + goodput(run, "standard"))}


def _beside_stream(run: Run) -> dict[str, float | None]:
    return {"goodput_bps": goodput(run, "flows"), "stream_loss": loss_of(run, "stream")}


def _of_bursts(run: Run) -> dict[str, float | None]:
    delay = flows_of(run, "voice")["one_way_delay_p95_s"].item()
    found = completed(run)
    return {**found, "voice_delay_p95_s": delay, "voice_loss": loss_of(run, "voice")}


def _two_round_trips(path: Path, _: object) -> Mapping[str, Link]:
    return two_round_trips(path, dict(zip(_HOSTS.values(), ROUND_TRIPS_MS, strict=True)), "1 Gbit/s")


_SENDERS: Final = tests(
    {
        "tcp-friendly": made(lambda _: {"flows": several()}, of_flows),
        "congestion-levels": made(
            lambda flows: {"flows": several(flows)}, of_flows, {f"{flows} flows": flows for flows in LEVELS}
        ),
        "initial-windows": made(
            lambda packets: {"long": several(1), "short": short(tcp={"initial_window": f"{packets} packets"})},
            completed,
            {f"{packets} packets": packets for packets in INITIAL},
        ),
        "aggressive": made(
            lambda _: {"standard": several(queued.FLOWS // 2), "own": several(queued.FLOWS // 2, AGGRESSIVE)},
            lambda run: {"aggressive_over_standard": _over(run)},
        ),
        "less-than-best-effort": made(lambda _: {"standard": several(1), "own": several(1, SCAVENGER)}, _taken),
        "rtt-fairness": made(
            lambda _: {name: several(2, start=None, **{"from": host}) for name, host in _HOSTS.items()},
            lambda run: {"short_over_long_rtt": _over(run)},
            {" and ".join(f"{round_trip} ms" for round_trip in ROUND_TRIPS_MS): None},
            links=_two_round_trips,
        ),
        "unresponsive": made(lambda _: {"flows": several(), "stream": _stream(STREAM)}, _beside_stream),
        "overload": made(lambda _: {"stream": _stream(FLOOD)}, lambda run: {"stream_loss": loss_of(run, "stream")}),
        "bursts": made(lambda _: {"long": several(1), "short": short(), "voice": VOICE}, _of_bursts),
    },
    vars(queued) | globals(),
)
TESTS: Final = _SENDERS | aqm_load.TESTS
