"""What queues on the path add to the round trips of a captured flow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tightlink.diagnosis import evidence
from tightlink.diagnosis.answers import Delay
from tightlink.diagnosis.vantage import path_rtt_s
from tightlink.diagnosis.words import ms

#: Less is not said beside a mean.
_NOTHING_S: Final = 0.0001


def delay_of(row: Mapping[str, Any]) -> Delay | None:
    """What queues add to the round trips of a flow that was captured at its sender, or between both ends."""
    shortest = row["rtt_min_s"]
    if not shortest or not row["rtt_mean_s"] or row["rtt_samples"] < evidence.FEW_SAMPLES:
        return None
    if evidence.acks_wait_for_answers(row):
        return None
    # Percentiles are known within 1 %: they may be below the shortest.
    p95 = max(0.0, row["rtt_p95_s"] - shortest)
    if evidence.acks_are_delayed(row):
        median = max(0.0, row["rtt_median_s"] - shortest)
        text = (
            f"queues on the path add {ms(median)} (median) to a shortest RTT of {ms(shortest)}, and the receiver "
            "delays some ACKs"
        )
        return Delay("", median, None, shortest, True, text)  # noqa: FBT003
    mean = row["rtt_mean_s"] - shortest
    if mean > max(p95, _NOTHING_S):
        # A few long ones lift the mean above what 95 % do not exceed.
        most = f"under {ms(p95)}" if p95 >= _NOTHING_S else "nothing"
        text = f"queues on the path add {most} to 95 % of the round trips, of which the shortest is {ms(shortest)}"
    else:
        upper = f" ({ms(p95)} at p95)" if p95 > mean else ""
        text = f"queues on the path add {ms(mean)}{upper} to a shortest RTT of {ms(shortest)}"
    return Delay("", mean, p95, shortest, True, text)  # noqa: FBT003


def echoed_delay(row: Mapping[str, Any]) -> Delay:
    """The delay that a capture at the receiver tells, where it found a queue."""
    shortest = path_rtt_s(row)
    median, p95 = row["rtt_echoed_median_s"] - shortest, row["rtt_echoed_p95_s"] - shortest
    whole = "the handshake's" if row["initial_rtt_s"] else "a shortest"
    text = f"queues on the path add {ms(median)} (median; {ms(p95)} at p95) to {whole} RTT of {ms(shortest)}"
    return Delay("", median, p95, shortest, True, text)  # noqa: FBT003
