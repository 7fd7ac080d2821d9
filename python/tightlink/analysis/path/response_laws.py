"""Windows of congestion controls at a given loss, from the rules of their sources, round trip by round trip.

Where a source has no formula, or one for losses at equal distances only, this has the answer: a window that grows
once a round trip and is cut at each loss, without queue, timeout or delayed ACK.

Example:
    >>> periodic = mean_window(Reno(), 1e-4, rtt_s=0.1, losses=400)
    >>> at_random = mean_window(Reno(), 1e-4, rtt_s=0.1, losses=4000, seed=1)
    >>> round(periodic / 122.47, 2), 1.0 < at_random / periodic < 1.1
    (1.0, True)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

from tightlink.lazy import np

#: Losses before the mean is taken.
_SETTLING = 100


class Law(Protocol):
    """How a window grows and what a loss leaves of it."""

    def increment(self, window: float, since_s: float, rtt_s: float, /) -> float:
        """Packets that the window grows by in a round trip, some time after the last loss."""

    def cut(self, window: float) -> float:
        """The window after a loss."""


def mean_window(law: Law, loss: float, *, rtt_s: float, losses: int, seed: int | None = None) -> float:
    """Packets per round trip, the mean over so many losses; the law is used up, as it remembers.

    With a seed the distances between losses are random, as if each packet were lost by itself; else all are equal.
    """
    draw = None if seed is None else np.random.default_rng(seed)
    increment = law.increment
    # Where Reno would be: a beginning that is soon forgotten.
    window, sent, rounds = max(2.0, 1 / math.sqrt(loss)), 0.0, 0.0
    for number in range(losses + _SETTLING):
        left = 1 / loss if draw is None else float(draw.exponential(1 / loss))
        packets, passed = 0.0, 0.0
        while left > window:
            left -= window
            packets += window
            passed += 1
            window += increment(window, passed * rtt_s, rtt_s)
        share = left / window
        packets, passed = packets + left, passed + share
        window += share * increment(window, passed * rtt_s, rtt_s)
        window = max(1.0, law.cut(window))
        if number >= _SETTLING:
            sent, rounds = sent + packets, rounds + passed
    return sent / rounds


@dataclass
class Reno:
    """Standard TCP (RFC 5681)."""

    packets_per_ack: int = 1

    def increment(self, _window: float, _since_s: float, _rtt_s: float, /) -> float:
        """A packet per window of ACKs."""
        return 1 / self.packets_per_ack

    def cut(self, window: float) -> float:
        """Halve the window at a loss (RFC 5681)."""
        return window / 2


@dataclass
class HighSpeed:
    """HighSpeed TCP, the equations of RFC 3649 §5 and §7."""

    low: float = 38.0
    high: float = 83_000.0
    high_p: float = 1e-7
    low_p: float = 1e-3
    high_decrease: float = 0.1

    def __post_init__(self) -> None:
        """What is the same for every window."""
        self._span = math.log(self.high / self.low)
        self._exponent = math.log(self.high_p / self.low_p) / self._span

    def increment(self, window: float, _since_s: float, _rtt_s: float, /) -> float:
        """The increase a(w) of RFC 3649 §7."""
        if window <= self.low:
            return 1.0
        b = self._decrease(window)
        p = self.low_p * math.pow(window / self.low, self._exponent)
        return window * window * p * 2 * b / (2 - b)

    def cut(self, window: float) -> float:
        """(1 − b(w)) w."""
        return window * (1 - self._decrease(window))

    def _decrease(self, window: float) -> float:
        if window <= self.low:
            return 0.5
        share = math.log(window / self.low) / self._span
        return 0.5 + (self.high_decrease - 0.5) * share


@dataclass
class Scalable:
    """Scalable TCP (Kelly 2003): a packet per hundred, an eighth less."""

    a: float = 0.01
    b: float = 0.125
    low: float = 16.0

    def increment(self, window: float, _since_s: float, _rtt_s: float, /) -> float:
        """A hundredth of the window; like Reno up to the legacy window."""
        # ACK by ACK, so that a round trip compounds.
        return 1.0 if window <= self.low else window * math.expm1(self.a)

    def cut(self, window: float) -> float:
        """Seven eighths; half up to the legacy window."""
        return window * (0.5 if window <= self.low else 1 - self.b)


@dataclass
class HTcp:
    """H-TCP (draft-leith-tcp-htcp-06) on a path without queue, where β is 0.8, without its test of the bandwidth."""

    beta: float = 0.8

    def increment(self, _window: float, since_s: float, rtt_s: float, /) -> float:
        """2 (1 − β) α(Δ), with α scaled by the round trip over 100 ms."""
        past_s = since_s - 1.0
        if past_s <= 0:
            return 2 * (1 - self.beta)
        alpha = max(1.0, (1 + 10 * past_s + past_s * past_s / 4) / min(10.0, max(0.5, 0.1 / rtt_s)))
        return 2 * (1 - self.beta) * alpha

    def cut(self, window: float) -> float:
        """The window after a loss, β w."""
        return self.beta * window


@dataclass
class Bic:
    """BIC (Xu, Harfoush, Rhee 2004) with the constants of the authors' Linux module."""

    low: float = 14.0
    most: float = 16.0
    beta: float = 0.8
    top: float = field(default=0.0, init=False)

    def increment(self, window: float, _since_s: float, _rtt_s: float, /) -> float:
        """Quarters of the way to the window of the last loss, slowly past it, then faster."""
        if window <= self.low:
            return 1.0
        if window < self.top:
            way = (self.top - window) / 4
            return 0.2 if way <= 1 else min(way, self.most)
        return 0.2 if window < self.top + 4 else min((window - self.top) / 3, self.most)

    def cut(self, window: float) -> float:
        """β w, and the new target: lower where the last one was not reached."""
        self.top = window * (1 + self.beta) / 2 if window < self.top else window
        return window * (0.5 if window <= self.low else self.beta)


@dataclass
class Cubic:
    """CUBIC as RFC 9438 has it, window by window."""

    c: float = 0.4
    beta: float = 0.7
    fast_convergence: bool = True
    top: float = field(default=0.0, init=False)
    _begin: float = field(default=0.0, init=False)
    _reno: float = field(default=0.0, init=False)
    _prior: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        """Begin as after a loss."""
        self._settle()

    def _settle(self) -> None:
        """The time K of the cubic function and its plateau, which are the same until the next loss (§4.2)."""
        self._k = math.cbrt(max(0.0, self.top - self._begin) / self.c)
        self._most = max(self.top, self._begin)

    def increment(self, window: float, since_s: float, rtt_s: float, /) -> float:
        """Towards the cubic function a round trip ahead, or Reno's window where that is more (§4.2, §4.3)."""
        reno = self._reno
        reno += 3 * (1 - self.beta) / (1 + self.beta) if reno < self._prior else 1.0
        self._reno = reno
        k, top = self._k, self._most
        if self.c * (since_s - k) ** 3 + top < reno:
            return max(0.0, reno - window)
        ahead = self.c * (since_s + rtt_s - k) ** 3 + top
        return min(max(ahead - window, 0.0), window / 2)

    def cut(self, window: float) -> float:
        """β w; W_max is lower where the last one was not reached (§4.7)."""
        self._prior = window
        lower = self.fast_convergence and window < self.top
        self.top = window * (1 + self.beta) / 2 if lower else window
        self._begin = self._reno = self.beta * window
        self._settle()
        return self._begin
