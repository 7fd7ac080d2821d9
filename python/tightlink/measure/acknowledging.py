"""How late receivers acknowledged: what a busy machine does to TCP while the link itself is on time.

A receiver acknowledges at once when a second segment with data has come since its last ACK (RFC 5681 §4.2). On a
machine that has no time for its hosts the ACKs come later, and together. Controls that go by rates and delays keep that
much more in the queue: BBR makes room in its window for all that is acknowledged at once.

Example:
    >>> import polars as pl
    >>> rows = [
    ...     ("r", 0.010, "a", "b", "tcp", 1500), ("r", 0.011, "a", "b", "tcp", 1500), ("+", 0.013, "b", "a", "ack", 52),
    ...     ("r", 0.014, "a", "b", "tcp", 1500), ("+", 0.054, "b", "a", "ack", 52),
    ... ]
    >>> names = ["event", "time_s", "from", "to", "type", "size_bytes"]
    >>> late_s(pl.DataFrame(rows, schema=names, orient="row"), comes=("a", "b"), leaves=("b", "a")).round(6).to_list()
    [0.002]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from tightlink import units
from tightlink.lazy import pl
from tightlink.measure.traced import carries, is_on

#: Of the bound on packets of the link, 1 % of the time through a full queue: so of receivers it is a tenth, within
#: which delays are to agree (docs/validation.md).
_BOUNDS: Final = 10


def late_s(packets: pl.DataFrame, *, comes: tuple[str, str], leaves: tuple[str, str]) -> pl.Series:
    """How long each ACK that was due at once took to come to its first link, in seconds.

    Of the packets of one TCP flow in the order of their times: ``comes`` are the ends of the link by which data come to
    the receiver, ``leaves`` those of the first link on the way of its ACKs.
    """
    data = (pl.col("event") == "r") & is_on(comes) & carries()
    answers = (pl.col("event") == "+") & is_on(leaves)
    seen = packets.filter(data | answers).select("time_s", answers=answers)
    # What came before an ACK, and the ACK.
    waits = seen.group_by(pl.col("answers").shift(1, fill_value=False).cum_sum(), maintain_order=True).agg(
        due_s=pl.col("time_s").get(1, null_on_oob=True),
        ack_s=pl.col("time_s").filter("answers").last(),
        segments=(~pl.col("answers")).sum(),
    )
    return waits.filter(pl.col("segments") > 1).select((pl.col("ack_s") - pl.col("due_s")).drop_nulls())["ack_s"]


def of_receivers(flows: Iterable[pl.Series]) -> dict[str, Any]:
    """How late the receivers of all flows were: of how many ACKs, and quantiles of the time, in seconds."""
    late = pl.concat([pl.Series(dtype=pl.Float64), *flows])
    quantiles = {f"p{share}_s": late.quantile(share / 100, "equiprobable") for share in (50, 99)}
    return {"acks": late.len(), **quantiles, "max_s": late.max()}


def warnings(receivers: dict[str, Any], bound_s: float) -> list[str]:
    """What must be said of receivers, over a link whose packets are late after so many seconds."""
    if (receivers["max_s"] or 0.0) <= _BOUNDS * bound_s:
        return []
    late = units.format_time(round(receivers["max_s"], 5))
    return [f"the machine was busy: ACKs left up to {late} late, which lengthens queues under BBR and others like it"]
