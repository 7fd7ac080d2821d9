"""From the trace of a relay to the tables of a run: what flows and links did between the start and the end.

Of a flow are asked, beside the packets as `in_time` gives them: its number, the links that its sender's packets cross,
and, where it matters, the propagation from the sender to the first of these, in seconds.

Example:
    >>> import polars as pl
    >>> times = {"+": 0.1, "-": 0.1, "r": 0.2}
    >>> rows = [(event, time, "a", "b", "udp", 1000, 0, 0, "", "") for event, time in times.items()]
    >>> names = ["event", "time_s", "from", "to", "type", "size_bytes", "flow", "uid", "reason", "mark"]
    >>> packets = pl.DataFrame(rows, schema=names, orient="row")
    >>> of_flow(packets, 0, way=[("a", "b")])["one_way_delay_mean_s"]
    0.1
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tightlink.lazy import np, pl
from tightlink.measure.up_time import UpTime
from tightlink.tables import DELAY_STATISTICS, RENAMED

#: The links that packets cross, in this order, by the nodes at the ends of each.
Way = Sequence[tuple[str, str]]

#: The largest segment without payload, in bytes: headers of IP and TCP, 40 bytes of options.
_BARE: Final = 80
_BITS: Final = 8
#: A link that is busy for this share of a round trip is saturated (`crates/sim/src/network/saturation.rs`).
_THROUGHOUT: Final = 0.95
_MOST_ROUNDS: Final = 100_000
#: What is added to a delay at least before it is classed, in seconds.
_RESOLUTION_S: Final = 1e-6
#: Why packets are dropped in front of a line, or in a ring.
_AT_QUEUE: Final = ("queue", "input ring", "output ring", "queue management")
#: Keys of a link whose packets take now this long, now that.
_CHANGING: Final = ("rate", "shaper", "arq")
#: What is shorter is no wait, in seconds.
_NO_WAIT_S: Final = 1e-9
#: Why packets are dropped that count as the link's; the others are a processor's or a host's.
_OF_LINK: Final = ("queue", "output ring", "queue management", "wire")


def in_time(trace: pl.DataFrame, flows: Mapping[int, int], *, shift_s: float, duration_s: float) -> pl.DataFrame:
    """The trace in the time of the scenario, from its beginning to its end, with the numbers of its flows.

    ``flows`` are the scenario's numbers of those flows of the trace that it has.
    """
    numbers = pl.col("flow").replace_strict(dict(flows), default=None, return_dtype=pl.Int64)
    times = [(pl.col(name) + shift_s).alias(name) for name in ("time_s", "due_s") if name in trace.columns]
    shifted = trace.with_columns(*times, numbers.alias("flow"))
    return shifted.filter(pl.col("time_s").is_between(0.0, duration_s, closed="left"))


def first_s(packets: pl.DataFrame, flow: int, *, way: Way, before_s: float = 0.0, data: bool = False) -> float | None:
    """When the first packet of a flow, or its first with data, was sent, in seconds, if one came to its first link."""
    offered = _on(packets, way[0]).filter((pl.col("flow") == flow) & (pl.col("event") == "+"))
    first = (offered.filter(carries()) if data else offered)["time_s"].min()
    return first - before_s if isinstance(first, float) else None


def of_flow(packets: pl.DataFrame, flow: int, *, way: Way, before_s: float = 0.0) -> dict[str, Any]:
    """The columns of the table ``flows`` that the trace knows."""
    own = _on_way(packets, flow, way)
    # The first ACK of the sender completes the handshake; others acknowledge nothing that counts.
    carried = own.filter(pl.col("type") != "ack")
    handshake = own.filter((pl.col("type") == "ack") & (pl.col("event") == "+")).height > 0
    arrived = _on(carried, way[-1]).filter(event="r")
    # What an input ring drops never comes to the link. A copy that a link made is first received: nobody sent it.
    sent = carried.unique("uid", keep="first", maintain_order=True).filter(pl.col("event") != "r")
    delays = delays_of_flow(packets, flow, way=way, before_s=before_s)
    one_way = of_delays("one_way_delay", delays["one_way_delay"])
    return {
        "packets_sent": sent.height + handshake,
        "packets_delivered": arrived.height + handshake,
        "packets_dropped": carried.filter(pl.col("event") == "d").height,
        "packets_marked": arrived.filter(pl.col("mark") == "CE").height,
        "bytes_sent": int(sent["size_bytes"].sum()),
        "bytes_delivered": int(arrived["size_bytes"].sum()),
        **one_way,
        **of_delays("queueing_delay", delays["queueing_delay"]),
        "jitter_mean_s": delays["one_way_delay"].diff().abs().mean(),
        **{old: one_way[new] for old, new in RENAMED.items()},
    }


def delays_of_flow(packets: pl.DataFrame, flow: int, *, way: Way, before_s: float = 0.0) -> dict[str, pl.Series]:
    """How long each packet with data that arrived took in seconds, and how long of that it waited."""
    carried = _on_way(packets, flow, way).filter(pl.col("type") != "ack")
    data = _on(carried, way[-1]).filter(carries(), event="r")
    sent_s = _on(carried, way[0]).filter(event="+").select("uid", sent_s="time_s")
    delays = data.join(sent_s, on="uid", maintain_order="left").select(pl.col("time_s") - pl.col("sent_s") + before_s)
    waited = _waited(carried).filter(pl.col("uid").is_in(data["uid"].implode()))
    waited = waited.group_by("uid", maintain_order=True).sum()
    return {"one_way_delay": delays.to_series(), "queueing_delay": waited["waited_s"]}


def delays_of_link(packets: pl.DataFrame, ends: tuple[str, str]) -> pl.Series:
    """How long each packet waited at a link that was transmitted, in seconds."""
    return _waited(_on(packets, ends))["waited_s"]


def steps(delays: pl.Series) -> pl.DataFrame:
    """How delays are distributed, in classes as the engine has them (`crates/sim/src/delays.rs`).

    A class is 1/64 wide of what exceeds the shortest delay, with a resolution added.

    >>> import polars as pl
    >>> steps(pl.Series([0.01, 0.01, 0.03])).rows()
    [(0.0100006103515625, 2), (0.03, 1)]
    """
    values = delays.drop_nulls().to_numpy()
    base_s = values.min(initial=math.inf)
    resolution_s = max(_RESOLUTION_S, base_s / 16) if values.size else _RESOLUTION_S
    fraction, exponent = np.frexp(values - base_s + resolution_s)
    longest_s = np.ldexp((np.floor(128 * fraction) + 1) / 128, exponent) - resolution_s + base_s
    at_most_s, counts = np.unique(np.minimum(longest_s, values.max(initial=0.0)), return_counts=True)
    return pl.DataFrame({"at_most_s": at_most_s, "packets": counts}, {"at_most_s": pl.Float64, "packets": pl.Int64})


def of_delays(name: str, delays: pl.Series) -> dict[str, float | None]:
    """The columns of a delay: mean, median, 95th and 99th percentile, largest; null where there is none.

    A percentile is the smallest delay that so many per cent do not exceed, as in simulated tables.

    >>> import polars as pl
    >>> of_delays("rtt", pl.Series([0.01, 0.03]))["rtt_p50_s"]
    0.01
    """
    found: dict[str, float | None] = {}
    for key, (_, share) in DELAY_STATISTICS.items():
        value = delays.mean() if share is None else delays.quantile(share, "equiprobable")
        found[f"{name}_{key}_s"] = float(value) if isinstance(value, int | float) else None
    return found


def _waited(own: pl.DataFrame) -> pl.DataFrame:
    """How long each packet waited that was transmitted, at each link."""
    at = ("uid", "from", "to")
    joined = own.filter(pl.col("event") == "+").select(*at, joined_s="time_s")
    begun = own.filter(pl.col("event") == "-").select(*at, "time_s")
    return begun.join(joined, on=at, maintain_order="left").select(
        "uid", waited_s=pl.col("time_s") - pl.col("joined_s")
    )


def with_queueing_delays(links: pl.DataFrame, packets: pl.DataFrame) -> pl.DataFrame:
    """The table ``links`` with how long packets waited by their trace."""
    rows = links.iter_rows(named=True)
    found = [of_delays("queueing_delay", delays_of_link(packets, (row["from"], row["to"]))) for row in rows]
    return links.with_columns(pl.DataFrame(found, {name: links.schema[name] for name in found[0]}) if found else [])


def of_link(
    packets: pl.DataFrame,
    link: Mapping[str, Any],
    ends: tuple[str, str],
    duration_s: float,
    *,
    marked: int = 0,
    capacity_bps: float | None = None,
) -> dict[str, Any]:
    """A row of the table ``links``."""
    own = _on(packets, ends)
    offered, lost = (own.filter(pl.col("event") == event) for event in ("+", "d"))
    lost = lost.filter(pl.col("reason").is_in(_OF_LINK))
    started = _services(own, link)
    out = started.filter(pl.col("until_s") < duration_s)
    (used,) = _used(own, started, link, [duration_s], None if capacity_bps is None else [capacity_bps])["value"]
    on_wire = lost.filter(pl.col("reason") == "wire").height
    waiting = _waiting(own)
    steps = waiting.select(pl.col("waiting") * (pl.col("time_s").shift(-1).fill_null(duration_s) - pl.col("time_s")))
    return {
        "link": link["name"],
        "from": ends[0],
        "to": ends[1],
        "packets_in": offered.height,
        "packets_out": out.height,
        "packets_dropped": lost.height,
        "packets_lost": on_wire,
        "packets_marked": marked,
        "bytes_out": int(out["size_bytes"].sum()),
        "utilization": used,
        "queue_mean_packets": float(steps.to_series().sum()) / duration_s,
        "queue_max_packets": int(waiting["waiting"].max() or 0),  # type: ignore[arg-type]  # a column of integers
        **of_delays("queueing_delay", delays_of_link(packets, ends)),
    }


def full_share(
    packets: pl.DataFrame,
    links: Sequence[tuple[Mapping[str, Any], tuple[str, str]]],
    *,
    round_trip_s: float,
    start_s: float,
    stop_s: float,
) -> float:
    """The share of a flow's time in which a link was saturated: busy for 95 % of a round trip, as simulations count.

    A packet that waits on a line for the end of an outage does not keep it busy. The links are those that the sender's
    packets cross, each with the nodes at its ends.
    """
    lasts = stop_s - start_s
    if lasts <= 0:
        return 0.0
    rounds = max(1, min(_MOST_ROUNDS, round(lasts / round_trip_s) if round_trip_s > 0 else _MOST_ROUNDS))
    times = [lasts * number / rounds for number in range(1, rounds + 1)]
    full = pl.Series([False] * rounds)
    for link, ends in links:
        served = _services(_on(packets, ends), link).select(pl.col("time_s", "until_s") - start_s)
        # What began before the flow counts from its start on.
        served = served.filter(pl.col("until_s") > 0).with_columns(pl.col("time_s").clip(lower_bound=0.0))
        up_s = np.diff(UpTime(link, stop_s).until(start_s + np.array([0.0, *times])))
        full |= _busy(served, times)["value"] >= _THROUGHOUT + 1 - up_s / times[0]
    return float(full.mean() or 0.0)  # type: ignore[arg-type]  # a column of truth values


def series_of_link(
    packets: pl.DataFrame,
    link: Mapping[str, Any],
    ends: tuple[str, str],
    times: Sequence[float],
    capacities_bps: Sequence[float] | None = None,
) -> pl.DataFrame:
    """Samples of a link: packets that wait, its utilization and its drops in the interval that ends then.

    Where its rate changes or it is down at times, it has what it could have sent in each interval, and of that the
    utilization is a share.
    """
    own = _on(packets, ends)
    waiting = _waiting(own).group_by("time_s", maintain_order=True).agg(pl.col("waiting").last())
    queue = (
        _at(times)
        .join_asof(waiting, on="time_s", strategy="backward")
        .select("time_s", value=pl.col("waiting").fill_null(0).cast(pl.Float64))
    )
    # What is served across the end of an interval counts in both, each with its part.
    used = _used(own, _services(own, link), link, times, capacities_bps)
    lost = own.filter((pl.col("event") == "d") & pl.col("reason").is_in(_OF_LINK))
    drops = _counted(lost.with_columns(value=1.0), times)
    found = {"queue_packets": queue, "utilization": used.drop_nulls(), "packets_dropped": drops}
    if capacities_bps is not None:
        found["capacity_bps"] = _at(times).with_columns(value=pl.Series(capacities_bps, dtype=pl.Float64))
    return _long(found, link["name"])


def series_of_flow(
    packets: pl.DataFrame, flow: int, label: str, way: Way, times: Sequence[float], *, header_bytes: int | None = None
) -> pl.DataFrame:
    """Samples of a flow: its throughput in the interval that ends then.

    The headers of its datagrams give the goodput as well; there are none over TCP.
    """
    own = (pl.col("flow") == flow) & (pl.col("event") == "r") & (pl.col("type") != "ack")
    arrived = _on(packets, way[-1]).filter(own).with_columns(pl.col("size_bytes").cast(pl.Float64))
    interval_s = times[0] if times else 1.0
    headers = {"throughput_bps": 0} | ({} if header_bytes is None else {"goodput_bps": header_bytes})
    found = {}
    for metric, header in headers.items():
        bits = arrived.with_columns(value=_BITS * (pl.col("size_bytes") - header))
        found[metric] = _counted(bits, times).with_columns(pl.col("value") / interval_s)
    return _long(found, label)


def sampled(
    time_s: Sequence[float], values: Sequence[float], metric: str, entity: str, times: Sequence[float]
) -> pl.DataFrame:
    """Samples taken at some times as they stood at others: the last one before each."""
    types = {"time_s": pl.Float64, "value": pl.Float64}
    frame = pl.DataFrame({"time_s": list(time_s), "value": list(values)}, types, strict=False).sort("time_s")
    held = _at(times).join_asof(frame, on="time_s", strategy="backward").drop_nulls()
    return _long({metric: held}, entity)


def _on_way(packets: pl.DataFrame, flow: int, way: Way) -> pl.DataFrame:
    return packets.filter((pl.col("flow") == flow) & pl.any_horizontal(is_on(ends) for ends in way))


def _on(packets: pl.DataFrame, ends: tuple[str, str]) -> pl.DataFrame:
    return packets.filter(is_on(ends))


def carries() -> pl.Expr:
    """Of packets of a flow: those that carry data."""
    return (pl.col("type") == "udp") | ((pl.col("type") == "tcp") & (pl.col("size_bytes") > _BARE))


def is_on(ends: tuple[str, str]) -> pl.Expr:
    """Whether a packet is on a link, of which these are the ends."""
    return (pl.col("from") == ends[0]) & (pl.col("to") == ends[1])


def _services(own: pl.DataFrame, link: Mapping[str, Any]) -> pl.DataFrame:
    """The packets that entered a link's line, with the time until which each was there.

    Where that differs from packet to packet, it is when the next one enters the line that has waited, which the line
    does not let wait longer; if that has not waited, as long as the nominal rate says.
    """
    until_s = pl.col("time_s") + _served_s(link)
    started = own.filter(pl.col("event") == "-")
    if not any(key in link for key in _CHANGING):
        nominal = started.with_columns(until_s=until_s)
        if "outages" not in link or nominal.is_empty():
            return nominal
        # While it is down nothing of it is transmitted.
        up = UpTime(link, float(nominal["until_s"].max()))  # type: ignore[arg-type]  # a column of numbers
        served_s = nominal["until_s"] - nominal["time_s"]
        if link["outages"]["flush"]:
            # What is on the line then, or comes, is lost at once.
            sent_s = np.diff(up.until(nominal.select("time_s", "until_s").to_numpy()))[:, 0]
            return nominal.with_columns(until_s=pl.col("time_s") + pl.Series(sent_s))
        return nominal.with_columns(until_s=pl.Series(up.time(up.until(nominal["time_s"]) + served_s.to_numpy())))
    waited = started.join(_waited(own), on="uid", maintain_order="left")
    next_s, next_waited = pl.col("time_s").shift(-1), pl.col("waited_s").shift(-1) > _NO_WAIT_S
    return waited.with_columns(until_s=pl.when(next_waited).then(next_s).otherwise(pl.min_horizontal(until_s, next_s)))


def _used(
    own: pl.DataFrame,
    started: pl.DataFrame,
    link: Mapping[str, Any],
    times: Sequence[float],
    capacities_bps: Sequence[float] | None,
) -> pl.DataFrame:
    """The share of each interval during which a line was busy; where it has a capacity, how much of that was sent."""
    if capacities_bps is None:
        return _busy(started.select("time_s", "until_s"), times)
    lost = own.filter((pl.col("event") == "d") & (pl.col("reason") == "wire")).select("uid", lost_s="time_s")
    left = started.join(lost, on="uid", how="left", maintain_order="left")
    # What is on a line when it goes down is lost, a propagation later, and was sent in part.
    flushed_s = pl.col("lost_s") - link["delay_s"] - pl.col("time_s")
    flushes = link.get("outages", {}).get("flush", False)
    part = (flushed_s / _served_s(link)).clip(0.0, 1.0).fill_null(1.0) if flushes else pl.lit(1.0)
    sent = left.select("time_s", "until_s", value=part * _framed_bits(link))
    possible = pl.Series(capacities_bps, dtype=pl.Float64) * (times[0] if times else 1.0)
    return _spread(sent, times).with_columns(pl.when(possible > 0).then((pl.col("value") / possible).clip(0.0, 1.0)))


def _served_s(link: Mapping[str, Any]) -> pl.Expr:
    """How long a packet is on the line."""
    if link["rate_pps"] is not None:
        return pl.lit(1.0 / link["rate_pps"])
    return _framed_bits(link) / float(link["rate_bps"])


def _framed_bits(link: Mapping[str, Any]) -> pl.Expr:
    """The bits of a packet with its framing."""
    framing = link["framing"]
    size: pl.Expr = (pl.col("size_bytes") + framing["overhead_bytes"]).clip(lower_bound=framing["smallest_bytes"])
    return size * _BITS


def _waiting(own: pl.DataFrame) -> pl.DataFrame:
    """How many packets wait at a link from each time on; none is counted that is refused, or served at once."""
    dropped = own.filter((pl.col("event") == "d") & pl.col("reason").is_in(_AT_QUEUE)).select("uid", lost_s="time_s")
    offered = own.filter(pl.col("event") == "+").join(dropped, on="uid", how="left", maintain_order="left")
    # What is lost later than it came has waited.
    joined = offered.filter(pl.col("lost_s").is_null() | (pl.col("lost_s") > pl.col("time_s")))
    begun = own.filter((pl.col("event") == "-") & pl.col("uid").is_in(joined["uid"].implode()))
    changes = pl.concat([
        joined.select("time_s", change=pl.lit(1, pl.Int64), order=pl.lit(1)),
        begun.select("time_s", change=pl.lit(-1, pl.Int64), order=pl.lit(0)),
        joined.drop_nulls("lost_s").select(time_s="lost_s", change=pl.lit(-1, pl.Int64), order=pl.lit(0)),
    ])  # fmt: skip
    # Who is served at once leaves at the instant at which it comes: the departure first, or it would have waited.
    return changes.sort("time_s", "order").select("time_s", waiting=pl.col("change").cum_sum())


def _at(times: Sequence[float]) -> pl.DataFrame:
    return pl.DataFrame({"time_s": times}, schema={"time_s": pl.Float64})


def _counted(events: pl.DataFrame, times: Sequence[float]) -> pl.DataFrame:
    """The sum of ``value`` in the interval that ends at each time."""
    total = events.sort("time_s").select("time_s", total=pl.col("value").cum_sum())
    held = _at(times).join_asof(total, on="time_s", strategy="backward")
    return _differences(held.with_columns(pl.col("total").fill_null(0.0)))


def _busy(started: pl.DataFrame, times: Sequence[float]) -> pl.DataFrame:
    """The share of each interval during which packets were on the line, of which at most one is at a time."""
    interval_s = times[0] if times else 1.0
    spent = started.with_columns(value=pl.col("until_s") - pl.col("time_s"))
    return _spread(spent, times).with_columns(pl.col("value") / interval_s)


def _spread(started: pl.DataFrame, times: Sequence[float]) -> pl.DataFrame:
    """The sum of ``value`` in the interval that ends at each time, each spread evenly over its time on the line."""
    begun = started.sort("time_s").with_columns(before=pl.col("value").cum_sum() - pl.col("value"))
    held = _at(times).join_asof(begun.with_columns(begun_s="time_s"), on="time_s")
    lasts = pl.col("until_s") - pl.col("begun_s")
    part = pl.when(lasts > 0).then(((pl.col("time_s") - pl.col("begun_s")) / lasts).clip(0.0, 1.0)).otherwise(1.0)
    return _differences(held.with_columns(total=(pl.col("before") + part * pl.col("value")).fill_null(0.0)))


def _differences(held: pl.DataFrame) -> pl.DataFrame:
    """What was added to a total since the time before."""
    return held.select("time_s", value=pl.col("total").diff().fill_null(pl.col("total")))


def _long(found: Mapping[str, pl.DataFrame], entity: str) -> pl.DataFrame:
    columns = [pl.col("time_s"), pl.lit(entity).alias("entity")]
    return pl.concat([
        frame.select(*columns, pl.lit(metric).alias("metric"), pl.col("value")) for metric, frame in found.items()
    ])  # fmt: skip
