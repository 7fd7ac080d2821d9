"""The pack for queues: the tests of RFC 7928, each queue with its defaults over one bottleneck.

Sections are those of the RFC. What it leaves open is chosen here and said in each test: a bottleneck of 20 Mbit/s and
40 ms with a limit of two bandwidth-delay products; CUBIC where it wants a control like standard TCP's, BBR where it
wants an aggressive one, LEDBAT where it wants one that gives way. Its levels of congestion are numbers of flows here;
what drop-tail loses with each stands in the same table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import polars as pl

from tightlink.reduce import jain
from tightlink.run import Run
from tightlink.scenario import Bulk, Cbr, Scenario, Udp
from tightlink.studies.evaluation.setup.pack import Made, tests
from tightlink.studies.evaluation.setup.path import BOTTLENECK, RECEIVER, SENDER, VOICE, Path, two_round_trips
from tightlink.studies.evaluation.setup.samples import completions, flows_of, loss_of

PATH: Final = Path(rate_mbit=20, rtt_ms=40, buffer_bdp=2)
FLOWS: Final = 4
#: The control that most senders have (RFC 9438), one that takes what it can, and one that gives way (RFC 6817).
STANDARD: Final = "cubic"
AGGRESSIVE: Final = "bbr"
SCAVENGER: Final = "ledbat"
DURATION_S: Final = 60
#: Flows that load the link: mild, medium, heavy.
LEVELS: Final = (2, 16, 64)
#: What the stream that does not answer takes of the link.
STREAM: Final = 0.5
ROUND_TRIPS_MS: Final = (20, 100)
SHORT_BYTES: Final = 100_000
SHORT_FLOWS: Final = 40
_STREAM: Final = Cbr(from_=SENDER, to=RECEIVER, rate=f"{STREAM * PATH.rate_mbit:g} Mbit/s", udp=Udp(datagram="1500 B"))
_SHORT: Final = PATH.bulk(
    STANDARD, flows=SHORT_FLOWS, bytes=f"{SHORT_BYTES} B", start={"first": "10 s", "every": "1 s"}
)
_HOSTS: Final = {"own": "host_own", "standard": "host_standard"}


def _several(flows: int, congestion: str = STANDARD) -> Bulk:
    return PATH.bulk(congestion, flows=flows, start={"every": "0.05 s"})


def _of_flows(run: Run) -> dict[str, float | None]:
    flows = flows_of(run, "flows")
    throughput, shares = float(flows["throughput_bps"].sum()), flows["goodput_bps"].to_list()
    return {"throughput_bps": throughput, "loss": loss_of(run, "flows"), "jain": jain(shares)}


def _goodput(run: Run, group: str) -> float:
    return math.fsum(flows_of(run, group)["goodput_bps"])


def _over(run: Run) -> float:
    return _goodput(run, "own") / _goodput(run, "standard")


def _taken(run: Run) -> dict[str, float | None]:
    own = _goodput(run, "own")
    return {"scavenger_share": own / (own + _goodput(run, "standard"))}


def _beside_stream(run: Run) -> dict[str, float | None]:
    return {"goodput_bps": _goodput(run, "flows"), "stream_loss": loss_of(run, "stream")}


def _of_bursts(run: Run) -> dict[str, float | None]:
    delay = flows_of(run, "voice")["one_way_delay_p95_s"].item()
    short = completions(run, SHORT_FLOWS, SHORT_BYTES)
    return {**short, "voice_delay_p95_s": delay, "voice_loss": loss_of(run, "voice")}


def _marks(queue: Mapping[str, Any]) -> bool:
    """Whether a queue was asked to mark packets, which needs senders that say ECT; by default it has none."""
    return queue.get("ecn") is True or "mark" in queue


def _made(
    traffic: Callable[[Any], Mapping[str, Any]],
    measure: Callable[[Run], dict[str, float | None]],
    settings: Mapping[str, Any] | None = None,
    hosts: Mapping[str, float] | None = None,
) -> Made:
    """A test with the background traffic that all have; what the bottleneck says comes first."""

    def scenarios(queue: Any, setting: Any, seed: int) -> list[Scenario]:
        path, flows = PATH.beside(queue), {**traffic(setting), **PATH.background()}
        links = None if hosts is None else two_round_trips(path, hosts, "1 Gbit/s")
        scenario = path.scenario(flows, duration_s=DURATION_S, interval_ms=1000, seed=seed, links=links)
        senders = [name for name, each in flows.items() if isinstance(each, Bulk)] if _marks(queue) else []
        return [scenario.set_all({f"traffic.{name}.tcp.ecn": True for name in senders})]

    def measured(_: Any, run: Run) -> dict[str, float | None]:
        link = run.links.row(by_predicate=pl.col("link") == BOTTLENECK, named=True)
        delays = {f"queueing_{name}_s": link[f"queueing_delay_{name}_s"] for name in ("mean", "p95", "p99")}
        return delays | {"utilization": link["utilization"]} | measure(run)

    return Made(lambda: settings or {PATH.label: None}, scenarios, measured)


TESTS: Final = tests(
    {
        "tcp-friendly": _made(lambda _: {"flows": _several(FLOWS)}, _of_flows),
        "congestion-levels": _made(
            lambda flows: {"flows": _several(flows)}, _of_flows, {f"{flows} flows": flows for flows in LEVELS}
        ),
        "aggressive": _made(
            lambda _: {"standard": _several(FLOWS // 2), "own": _several(FLOWS // 2, AGGRESSIVE)},
            lambda run: {"aggressive_over_standard": _over(run)},
        ),
        "less-than-best-effort": _made(lambda _: {"standard": _several(1), "own": _several(1, SCAVENGER)}, _taken),
        "rtt-fairness": _made(
            lambda _: {name: PATH.bulk(STANDARD, **{"from": host}, flows=2) for name, host in _HOSTS.items()},
            lambda run: {"short_over_long_rtt": _over(run)},
            {" and ".join(f"{round_trip} ms" for round_trip in ROUND_TRIPS_MS): None},
            dict(zip(_HOSTS.values(), ROUND_TRIPS_MS, strict=True)),
        ),
        "unresponsive": _made(lambda _: {"flows": _several(FLOWS), "stream": _STREAM}, _beside_stream),
        "bursts": _made(lambda _: {"long": _several(1), "short": _SHORT, "voice": VOICE}, _of_bursts),
    },
    globals(),
)
