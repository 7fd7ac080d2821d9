"""Smoothed noise: what a running mean or another filter of finite length makes of noise that has no period.

A mean over m values takes some frequencies away and leaves humps between them, so that what was noise goes up and down
(E. Slutzky: The Summation of Random Causes as the Source of Cyclic Processes, Econometrica 5(2), 1937). Such humps are
no narrower than 1 / m cycles per value: they are told from an oscillation by the spectrum that each filter has.

Example:
    >>> running_mean = np.ones(10) / 10
    >>> [round(float(power), 3) for power in power_response(running_mean, 20)[:4]]
    [1.0, 0.409, 0.0, 0.049]
"""

from __future__ import annotations

from collections.abc import Iterator

from tightlink.lazy import Array, np

#: Lengths up to here are tried one by one, longer ones in steps of this share.
_EACH = 100
_STEP = 0.02
_LONGEST = 1000
#: A filter fits at least so many times into a series: with fewer, its humps are few frequencies each.
_TIMES = 6
#: Deviations of Gaussian filters: from less than a value on, in steps of this share.
_NARROWEST = 0.6
_WIDER = 0.07


def filters(count: int) -> Iterator[Array]:
    """The filters that a series of so many values may have come through: the weights of each, which add up to 1.

    Running means, once and twice, and those that libraries have beside them: Hann's, Gauss's, and the least squares of
    A. Savitzky, M. J. E. Golay: Smoothing and Differentiation of Data, Analytical Chemistry 36(8), 1964.
    """
    longest = min(count // _TIMES, _LONGEST)
    for length in _lengths(longest):
        mean = np.full(length, 1 / length)
        yield mean
        if 2 * length - 1 <= longest:
            yield np.convolve(mean, mean)
        if length > 2:  # noqa: PLR2004
            yield _normal(np.hanning(length + 2)[1:-1])
        if length % 2 and length > 3:  # noqa: PLR2004
            yield _parabola(length)
    deviation = _NARROWEST
    while 8 * deviation < longest:
        half = int(4 * deviation + 0.5)
        yield _normal(np.exp(-0.5 * (np.arange(-half, half + 1) / deviation) ** 2))
        deviation *= 1 + _WIDER


def power_response(weights: Array, steps: int) -> Array:
    """By what a filter multiplies power, at 0, 1, … of so many steps to a cycle per value, up to half of them."""
    from scipy import fft

    response: Array = np.abs(fft.rfft(weights, steps)) ** 2
    return response


def expected_response(weights: Array, count: int) -> Array:
    """The same as the periodogram of so many values has it in the mean, at 0, 1, … cycles in the series.

    The series ends somewhere, which fills what a filter takes away. At lag h there are only count − h pairs.
    """
    from scipy import fft

    lags = np.correlate(weights, weights, "full")[len(weights) - 1 :]
    lags *= 1 - np.arange(len(lags)) / count
    around = np.zeros(count)
    around[: len(lags)] = lags
    around[count - len(lags) + 1 :] += lags[:0:-1]
    expected: Array = np.maximum(fft.rfft(around).real, 0)
    return expected


def _lengths(longest: int) -> list[int]:
    lengths = list(range(2, min(longest, _EACH) + 1))
    while lengths and (more := int(lengths[-1] * (1 + _STEP)) + 1) <= longest:
        lengths.append(more)
    return lengths


def _normal(weights: Array) -> Array:
    normal: Array = weights / weights.sum()
    return normal


def _parabola(length: int) -> Array:
    """The value in the middle of a parabola through so many."""
    places = np.arange(length) - length // 2
    weights: Array = np.linalg.pinv(np.stack([np.ones(length), places, places**2], axis=1))[0]
    return weights
