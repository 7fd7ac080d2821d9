"""Response functions: how many packets a TCP flow gets through in a round trip at a given loss."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Final

from tightlink.errors import TightlinkError

#: Mathis et al. 1997, with an ACK for every packet, √(3/2), and for every second one, √(3/4).
C_EVERY: Final = math.sqrt(3 / 2)
C_DELAYED: Final = math.sqrt(3 / 4)


def mathis(loss: float, c: float = C_EVERY) -> float:
    """Mathis' response function, C / √p packets per round trip: an upper bound where losses cause no timeout.

    M. Mathis, J. Semke, J. Mahdavi, T. Ott: The Macroscopic Behavior of the TCP Congestion Avoidance
    Algorithm, CCR 27(3), 1997: BW = (MSS / RTT) · C / √p.

    Args:
        loss: p, the share of packets lost.
        c: √(3/2) where each packet is acknowledged (`C_EVERY`), √(3/4) where every second one is (`C_DELAYED`).

    Returns:
        Packets per round trip; times the payload in bits over the round-trip time they are a rate in bit/s.

    Raises:
        TightlinkError: The loss is no share above zero, or the constant is not above zero.

    Example:
        >>> round(tl.analyze.mathis(0.01), 3)
        12.247
    """
    _check_loss(loss)
    _check("c", c, lambda number: number > 0, "above zero")
    return c / math.sqrt(loss)


def pftk(loss: float, *, rtt_s: float, rto_s: float, per_ack: int = 1, window: float = math.inf) -> float:
    """Padhye's response function (PFTK): packets per round trip, with timeouts and the receiver's window.

    J. Padhye, V. Firoiu, D. Towsley, J. Kurose: Modeling TCP Throughput: A Simple Model and its
    Empirical Validation, SIGCOMM 1998: their approximation in closed form.

    Args:
        loss: p, the share of packets lost.
        rtt_s: Round-trip time, in seconds.
        rto_s: T₀, the first retransmission timeout, in seconds.
        per_ack: b, packets acknowledged by an ACK.
        window: The receiver's window, in packets.

    Returns:
        Packets per round trip, at most ``window``.

    Raises:
        TightlinkError: The loss is no share above zero, or another value is not above zero (``rto_s`` may be zero).

    Example:
        >>> round(tl.analyze.pftk(0.01, rtt_s=0.1, rto_s=0.2), 3)
        11.718
    """
    _check_loss(loss)
    for name, value in {"rtt_s": rtt_s, "per_ack": per_ack, "window": window}.items():
        _check(name, value, lambda number: number > 0, "above zero")
    _check("rto_s", rto_s, lambda number: number >= 0, "that is not negative")
    b, p = per_ack, loss
    avoidance = rtt_s * math.sqrt(2 * b * p / 3)
    timeouts = rto_s * min(1, 3 * math.sqrt(3 * b * p / 8)) * p * (1 + 32 * p * p)
    return min(window, rtt_s / (avoidance + timeouts))


def _check_loss(loss: float) -> None:
    expected = "above 0, up to 1, such as 0.01: without losses they do not limit a flow"
    _check("loss", loss, lambda number: 0 < number <= 1, expected)


def _check(name: str, value: object, right: Callable[[float], bool], expected: str) -> None:
    if not isinstance(value, Real) or not right(float(value)):
        raise TightlinkError(f"{name} = {value!r}: expected a number {expected}")


def fitted_c(losses: list[float], packets: list[float]) -> float:
    """The constant C of `mathis` that fits points best on logarithmic axes: the mean of W·√p.

    >>> round(fitted_c([0.01, 0.04], [12.0, 6.0]), 6)
    1.2
    """
    logs = [math.log(count * math.sqrt(loss)) for loss, count in zip(losses, packets, strict=True)]
    return math.exp(sum(logs) / len(logs))
