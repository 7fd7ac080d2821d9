"""Claims about what is counted: packets, kilobytes and losses of the seven cases, and of ns-2.35.

The expected figures are the document's and those of ns-2.35 (Debian package ns2 2.35+dfsg-5) with the
same scenario; what is observed comes from this run's tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tightlink.experiment.claims import Claim, exact
from tightlink.studies.one_flow.cases import BY_NAME, CASES, DOCUMENT, OLD_TIMER
from tightlink.studies.one_flow.measures import Measured, measure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.run import Run

_NS2: Final = "ns-2.35"
_PERCENT: Final = 100
_SEE: Final = "Another version's timer: see the packets sent."


@dataclass(frozen=True)
class Counts:
    """Packets sent (enqueued, SYN included), packets dropped, KiB enqueued and not dropped."""

    sent: int
    dropped: int
    kilobytes: float


#: The document's, as printed.
PUBLISHED: Final = {
    "base": Counts(2385, 0, 2421.289062),
    "packet-100": Counts(9491, 0, 1297.5),
    "packet-4000": Counts(630, 0, 2481.640625),
    "bandwidth-1mbit": Counts(1204, 0, 1221.835938),
    "queue-50": Counts(2385, 0, 2421.289062),
    "queue-5": Counts(2097, 40, 2088.164062),
    "delay-100ms": Counts(911, 0, 924.257812),
}
#: Those of ns-2.35 where they differ: with its own lower bound of the timer, and with that of 2003.
_NS2_QUEUE_5: Final = Counts(2286, 46, 2274.023438)
_NS2_OLD_TIMER: Final = Counts(2094, 42, 2083.085938)
#: Packets sent and dropped over UDP by ns-2.35.
_NS2_UDP: Final = {
    "base": (3094, 600),
    "packet-100": (30938, 6169),
    "packet-4000": (774, 136),
    "bandwidth-1mbit": (2476, 1219),
    "queue-50": (3094, 570),
    "queue-5": (3094, 615),
    "delay-100ms": (3094, 600),
}


def claims(tcp: Mapping[str, Measured], udp: Mapping[str, Measured], runs: Mapping[str, Run]) -> Iterator[Claim]:
    """Every count of the document, then those of ns-2.35 that the document does not have."""
    old = measure(BY_NAME["queue-5"], runs[OLD_TIMER])
    for case in CASES:
        reason = _other_version(tcp["queue-5"], old) if case.name == "queue-5" else ""
        published = PUBLISHED[case.name]
        yield from _counts(case.name, case.title, DOCUMENT, published, tcp[case.name], reason)
        yield exact(
            f"{case.name}.loss",
            f"{case.title}: total losses",
            f"{DOCUMENT}, {case.title}",
            round(_PERCENT * published.dropped / published.sent, 6),
            round(_PERCENT * tcp[case.name].loss, 6),
            unit="%",
            reason=reason and _SEE,
        )
    yield from _counts("ns2.queue-5", "queue of 5 packets in ns-2.35", _NS2, _NS2_QUEUE_5, tcp["queue-5"])
    yield from _counts(
        "ns2.queue-5-minrto-1s", "queue of 5 packets in ns-2.35 with minrto 1 s", _NS2, _NS2_OLD_TIMER, old
    )
    for case in CASES:
        sent, dropped = _NS2_UDP[case.name]
        yield exact(
            f"ns2.udp.{case.name}",
            f"UDP, {case.title}: packets sent and dropped in ns-2.35",
            _NS2,
            f"{sent}, {dropped}",
            f"{udp[case.name].sent}, {udp[case.name].dropped}",
        )


def _counts(  # noqa: PLR0917
    key: str, title: str, source: str, expected: Counts, measured: Measured, reason: str = ""
) -> Iterator[Claim]:
    place = source if source == _NS2 else f"{source}, {title}"
    rows = (
        ("packets-sent", "packets sent", expected.sent, measured.sent, "packets"),
        ("packets-dropped", "packets dropped", expected.dropped, measured.dropped, "packets"),
        ("kilobytes", "KB sent", expected.kilobytes, measured.printed_kilobytes, "KB"),
    )
    for name, words, document, ours, unit in rows:
        why = reason if name == "packets-sent" else reason and _SEE
        yield exact(f"{key}.{name}", f"{title}: {words}", place, document, ours, unit=unit, reason=why)


def _other_version(measured: Measured, old: Measured) -> str:
    return (
        f"The document's ns-2 was another version. ns-2.35 sends {_NS2_QUEUE_5.sent} and drops "
        f"{_NS2_QUEUE_5.dropped}, as here ({measured.sent}, {measured.dropped}); with the retransmission timer's lower "
        f"bound of that day, 1 s instead of 0.2 s, ns-2.35 and this run send {old.sent} and drop {old.dropped}, which "
        "comes near. The other six cases lose nothing, never wait for the timer, and agree to the last digit."
    )
