"""The pack for queues: the tests of RFC 7928, each queue with its defaults over one bottleneck.

Sections are those of the RFC. What it leaves open is chosen here and said in each test: a bottleneck of 20 Mbit/s and
40 ms with a limit of two bandwidth-delay products; CUBIC where it wants a control like standard TCP's, BBR where it
wants an aggressive one, LEDBAT where it wants one that gives way. Its levels of congestion are numbers of flows here;
what drop-tail loses with each stands in the same table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import polars as pl

from tightlink.reduce import jain
from tightlink.run import Run
from tightlink.scenario import Bulk, Cbr, Link, Scenario, Udp
from tightlink.studies.evaluation.setup.pack import Headline, Test
from tightlink.studies.evaluation.setup.path import BOTTLENECK, RECEIVER, SENDER, VOICE, Path
from tightlink.studies.evaluation.setup.samples import flows_of, loss_of
from tightlink.studies.evaluation.setup.short_flows import completions

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
_SHARED_MS: Final = 10
SHORT_BYTES: Final = 100_000
_SHORT_FLOWS: Final = 40
_INTERVAL_MS: Final = 1000
_STREAM: Final = Cbr(from_=SENDER, to=RECEIVER, rate=f"{STREAM * PATH.rate_mbit:g} Mbit/s", udp=Udp(datagram="1500 B"))
_SHORT: Final = PATH.bulk(
    STANDARD, flows=_SHORT_FLOWS, bytes=f"{SHORT_BYTES} B", start={"first": "10 s", "every": "1 s"}
)


def _shared(run: Run) -> dict[str, float | None]:
    """What every test says of the bottleneck."""
    link = run.links.row(by_predicate=pl.col("link") == BOTTLENECK, named=True)
    delays = {f"queueing_{name}_s": link[f"queueing_delay_{name}_s"] for name in ("mean", "p95", "p99")}
    return {**delays, "utilization": link["utilization"]}


def _several(flows: int, congestion: str = STANDARD) -> Bulk:
    return PATH.bulk(congestion, flows=flows, start={"every": "0.05 s"})


def _of_flows(run: Run) -> dict[str, float | None]:
    flows = flows_of(run, "flows")
    throughput, shares = float(flows["throughput_bps"].sum()), flows["goodput_bps"].to_list()
    return {"throughput_bps": throughput, "loss": loss_of(run, "flows"), "jain": jain(shares)}


def _goodput(run: Run, group: str) -> float:
    return math.fsum(flows_of(run, group)["goodput_bps"])


def _over(measure: str, run: Run) -> dict[str, float | None]:
    return {measure: _goodput(run, "own") / _goodput(run, "standard")}


def _taken(run: Run) -> dict[str, float | None]:
    own = _goodput(run, "own")
    return {"scavenger_share": own / (own + _goodput(run, "standard"))}


def _beside_stream(run: Run) -> dict[str, float | None]:
    return {"goodput_bps": _goodput(run, "flows"), "stream_loss": loss_of(run, "stream")}


def _of_bursts(run: Run) -> dict[str, float | None]:
    delay = flows_of(run, "voice")["one_way_delay_p95_s"].item()
    short = completions(run, _SHORT_FLOWS, SHORT_BYTES)
    return {**short, "voice_delay_p95_s": delay, "voice_loss": loss_of(run, "voice")}


def _round_trips(path: Path) -> dict[str, Link]:
    """Two hosts before the bottleneck, one nearer than the other."""
    links: dict[str, Link] = {BOTTLENECK: path.link(delay=f"{_SHARED_MS / 2:g} ms")}
    for name, round_trip in zip(("own", "standard"), ROUND_TRIPS_MS, strict=True):
        delay = f"{(round_trip - _SHARED_MS) / 2:g} ms"
        links[f"to_{name}"] = Link(ends=(f"host_{name}", SENDER), rate="1 Gbit/s", delay=delay, queue="unlimited")
    return links


def _test(  # noqa: PLR0913, PLR0917
    name: str,
    title: str,
    about: str,
    traffic: Callable[[Any], Mapping[str, Any]],
    measure: Callable[[Run], dict[str, float | None]],
    headlines: Sequence[Headline],
    settings: Mapping[str, Any] | None = None,
    links: Callable[[Path], dict[str, Link]] | None = None,
    *,
    plane: bool = False,
) -> Test:
    """A test with the background traffic that all have; what the bottleneck says comes first."""

    def scenarios(queue: Any, setting: Any, seed: int) -> list[Scenario]:
        path = PATH.beside(queue)
        return [
            path.scenario(
                {**traffic(setting), **PATH.background()},
                duration_s=DURATION_S,
                interval_ms=_INTERVAL_MS,
                seed=seed,
                links=None if links is None else links(path),
            )
        ]

    return Test(
        name,
        title,
        about,
        lambda: settings or {PATH.label: None},
        scenarios,
        lambda _, run: _shared(run) | measure(run),
        headlines,
        plane=plane,
    )


FRIENDLY: Final = _test(
    "tcp-friendly",
    "Flows of standard TCP",
    f"{FLOWS} long flows of {STANDARD} for {DURATION_S} s (RFC 7928 §5.1): what a packet waits for, what is lost, what "
    "of the link is used, and Jain's index of their goodputs.",
    lambda _: {"flows": _several(FLOWS)},
    _of_flows,
    [
        Headline("p95 queueing delay", "queueing_p95_s"),
        Headline("utilization", "utilization"),
        Headline("loss", "loss"),
        Headline("Jain's index", "jain"),
    ],
    plane=True,
)
_LEVELS_TEST: Final = _test(
    "congestion-levels",
    "Mild, medium and heavy congestion",
    f"{', '.join(map(str, LEVELS))} long flows of {STANDARD} (RFC 7928 §8.2): whether the delay stays where it was as "
    "the load grows.",
    lambda flows: {"flows": _several(flows)},
    _of_flows,
    [
        Headline(f"p95 queueing delay, {LEVELS[0]} flows", "queueing_p95_s", f"{LEVELS[0]} flows"),
        Headline(f"the same, {LEVELS[-1]} flows", "queueing_p95_s", f"{LEVELS[-1]} flows"),
    ],
    {f"{flows} flows": flows for flows in LEVELS},
)
_AGGRESSIVE_TEST: Final = _test(
    "aggressive",
    "An aggressive control beside standard TCP",
    f"{FLOWS // 2} flows of {AGGRESSIVE} beside {FLOWS // 2} of {STANDARD} (RFC 7928 §5.2): what one gets over what "
    "the other gets, where 1 is fair.",
    lambda _: {"standard": _several(FLOWS // 2), "own": _several(FLOWS // 2, AGGRESSIVE)},
    partial(_over, "aggressive_over_standard"),
    [Headline(f"{AGGRESSIVE} over {STANDARD}", "aggressive_over_standard")],
)
_UNRESPONSIVE_TEST: Final = _test(
    "unresponsive",
    "A stream that does not answer",
    f"A stream of {100 * STREAM:.0f} % of the link, which does not answer to losses, beside {FLOWS} flows of "
    f"{STANDARD} (RFC 7928 §5.3): what the flows get, and what the stream loses.",
    lambda _: {"flows": _several(FLOWS), "stream": _STREAM},
    _beside_stream,
    [
        Headline("goodput beside a stream", "goodput_bps"),
        Headline("loss of the stream", "stream_loss"),
    ],
)
_SCAVENGER_TEST: Final = _test(
    "less-than-best-effort",
    "A control that gives way",
    f"A flow of {SCAVENGER} beside one of {STANDARD} (RFC 7928 §5.4): the share that it takes. A short queue, and "
    "flows that take turns, leave it nothing to give way to.",
    lambda _: {"standard": _several(1), "own": _several(1, SCAVENGER)},
    _taken,
    [Headline(f"share of {SCAVENGER}", "scavenger_share")],
)
_ROUND_TRIPS_TEST: Final = _test(
    "rtt-fairness",
    "Round trips of two lengths",
    f"Two flows of {STANDARD} with round trips of {ROUND_TRIPS_MS[0]} ms beside two with {ROUND_TRIPS_MS[1]} ms "
    "(RFC 7928 §6): what the first get over what the others get, where 1 is fair.",
    lambda _: {name: PATH.bulk(STANDARD, **{"from": f"host_{name}"}, flows=2) for name in ("own", "standard")},
    partial(_over, "short_over_long_rtt"),
    [Headline("short over long round trips", "short_over_long_rtt")],
    {" and ".join(f"{round_trip} ms" for round_trip in ROUND_TRIPS_MS): None},
    _round_trips,
)
_BURSTS_TEST: Final = _test(
    "bursts",
    "Bursts, and a call, beside a long flow",
    f"{_SHORT_FLOWS} transfers of {SHORT_BYTES // 1000} kB with an initial window of 10 packets, and a call, beside "
    f"one long flow of {STANDARD} (RFC 7928 §7.2): how long the transfers take, and what the call's packets wait for "
    "and lose.",
    lambda _: {"long": _several(1), "short": _SHORT, "voice": VOICE},
    _of_bursts,
    [
        Headline("median time of short transfers", "completion_median_s"),
        Headline("p95 one-way delay of a call", "voice_delay_p95_s"),
        Headline("loss of the call", "voice_loss"),
    ],
)
TESTS: Final = (
    FRIENDLY,
    _LEVELS_TEST,
    _AGGRESSIVE_TEST,
    _SCAVENGER_TEST,
    _ROUND_TRIPS_TEST,
    _UNRESPONSIVE_TEST,
    _BURSTS_TEST,
)
#: Those in which all flows fill the queue.
FILLING: Final = tuple(test.name for test in TESTS[:5])
