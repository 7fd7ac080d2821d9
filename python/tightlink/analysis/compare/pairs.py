"""Values of two runs, paired by whose they are and what they are.

Example:
    >>> first, second = (
    ...     pl.DataFrame({"entity": names, "metric": "goodput_bps", "value": values})
    ...     for names, values in ((["a", "b"], [2.0, 4.0]), (["b", "c"], [3.0, 1.0]))
    ... )
    >>> values, alone = paired("flows", first, second)
    >>> values.rows()
    [('flows', 'b', 'goodput_bps', 4.0, 3.0, -0.25)]
    >>> alone.select("side", "entity", "value").rows()
    [('first', 'a', 2.0), ('second', 'c', 1.0)]
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from tightlink.diagnosis.delay_variation import COLUMNS, with_delay_variation
from tightlink.lazy import pl
from tightlink.run import Run
from tightlink.tables import RENAMED, TABLES, counted, measured

#: The two sides, the columns of their values.
SIDES: Final = ("first", "second")
#: Tables over time, with whose values they are, beside the series.
_OVER_TIME: Final = {"users": "label", "scatter": "label"}
#: Numbers that are names, and columns that there are twice.
_LEFT_OUT: Final = frozenset({"flow", *RENAMED})
#: ADDRESS:PORT-ADDRESS:PORT, with what tells a second connection of the same from the first.
_LABEL: Final = re.compile(r"(.+):(\d+)-(.+):(\d+)(?: #\d+)?")
#: Columns of flows in which datagrams have zeros that say nothing.
_OF_TCP: Final = ("packets_retransmitted", "timeouts")


def totals(run: Run, name: str, key: str) -> pl.DataFrame:
    """``entity``, ``metric``, ``value`` of a table."""
    if name not in run.tables:
        return pl.DataFrame(schema={"entity": pl.String, "metric": pl.String, "value": pl.Float64})
    frame = with_delay_variation(run) if name == "flows" else run.table(name)
    if "size_class" in frame.columns:
        sizes = pl.when(pl.col("size_class") != "all").then(pl.format(": {}", "size_class")).otherwise(pl.lit(""))
        frame = frame.with_columns(pl.col(key) + sizes)
    # Captures may have the same addresses and ports twice.
    place = pl.int_range(pl.len()).over(key) + 1
    entity = pl.when(place > 1).then(pl.format("{} #{}", pl.col(key), place)).otherwise(pl.col(key))
    if name == "flows":
        tcp = pl.col("transport") != "udp"
        frame = frame.with_columns(pl.when(tcp).then(pl.col(column)).alias(column) for column in _OF_TCP)
    numbers = [each.name for each in TABLES[name] if each.type != "text" and each.name not in _LEFT_OUT]
    there = [name for name in (*numbers, *COLUMNS) if name in frame.columns]
    return unpivoted(frame.with_columns(entity=entity), ["entity"], there).select("entity", "metric", "value")


def samples(run: Run) -> pl.DataFrame:
    """``time_s``, ``entity``, ``metric``, ``value`` of all that was sampled."""
    empty = pl.DataFrame(schema={"time_s": pl.Float64, "entity": pl.String, "metric": pl.String, "value": pl.Float64})
    parts = [empty]
    if "series" in run.tables:
        parts.append(run.series.select(empty.columns).with_columns(pl.col("value").cast(pl.Float64)))
    for name, key in _OVER_TIME.items():
        if name in run.tables:
            long = unpivoted(run.table(name), ["time_s", key], [*counted(name), *measured(name)])
            parts.append(long.select("time_s", pl.col(key).alias("entity"), "metric", "value"))
    return pl.concat(parts)


def common(first: pl.DataFrame, second: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What both have sampled, in the time in which both did; the rest as it is."""
    keys = ["entity", "metric"]
    time = pl.col("time_s")
    ends = [side.group_by(keys).agg(begin=time.min(), end=time.max()) for side in (first, second)]
    both = ends[0].join(ends[1], on=keys, suffix="_other").select(
        *keys, begin=pl.max_horizontal("begin", "begin_other"), end=pl.min_horizontal("end", "end_other")
    )  # fmt: skip
    inside = pl.col("begin").is_null() | time.is_between("begin", "end")

    def cut(side: pl.DataFrame) -> pl.DataFrame:
        joined = side.join(both, on=keys, how="left", maintain_order="left")
        return joined.filter(inside).select(side.columns)

    return cut(first), cut(second)


def means(samples: pl.DataFrame) -> pl.DataFrame:
    """The mean of each metric of each entity over its samples."""
    return samples.group_by("entity", "metric", maintain_order=True).agg(pl.col("value").mean())


def paired(table: str, first: pl.DataFrame, second: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What both sides have, with the change from the first to the second; and what one has."""
    keys = ["entity", "metric"]
    sides = [side.rename({"value": name}) for name, side in zip(SIDES, (first, second), strict=True)]
    joined = sides[0].join(sides[1], on=keys, how="full", coalesce=True, maintain_order="left_right")
    joined = joined.select(pl.lit(table).alias("table"), *keys, *SIDES)
    before, after = (pl.col(name) for name in SIDES)
    change = pl.when(before == after).then(0.0).when(before != 0).then((after - before) / before.abs())
    values = joined.drop_nulls(SIDES).with_columns(change=change)
    alone = [
        joined.filter(pl.col(other).is_null())
        .select(pl.lit(side).alias("side"), "table", *keys, pl.col(side).alias("value"))
        .drop_nulls("value")
        for side, other in (SIDES, SIDES[::-1])
    ]
    return values, pl.concat(alone)


def unpivoted(frame: pl.DataFrame, keys: Sequence[str], numbers: Sequence[str]) -> pl.DataFrame:
    """The numbers of a table below each other, as ``metric`` and ``value`` beside the keys; without those missing."""
    values = frame.select(*keys, *(pl.col(name).cast(pl.Float64) for name in numbers))
    long = values.unpivot(numbers, index=list(keys), variable_name="metric", value_name="value")
    return long.with_columns(pl.col("value").fill_nan(None)).drop_nulls("value")


def same_service(first: Mapping[str, float], second: Mapping[str, float]) -> tuple[dict[str, str], dict[str, str]]:
    """Names for flows of two captures that are the same service; those with one name need none.

    A client takes another port for each connection, so that captures before and after a change have no name in common.
    The nth connection of a service on one side, by when they began, is that of the other. ``#2`` and so on tell more.

    >>> sides = ({"a:5001-b:80": 0.1, "a:5002-b:80": 0.0}, {"a:6001-b:80": 0.0, "c:6002-b:80": 0.0})
    >>> same_service(*sides)
    ({'a:5002-b:80': 'a:*-b:80'}, {'a:6001-b:80': 'a:*-b:80'})
    """
    found = [
        _services({name: begin for name, begin in side.items() if name not in other})
        for side, other in ((first, second), (second, first))
    ]
    names: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for service in found[0]:
        both = zip(found[0][service], found[1].get(service, []), strict=False)
        for place, pair in enumerate(both, start=1):
            name = service if place == 1 else f"{service} #{place}"
            for side, label in zip(names, pair, strict=True):
                side[label] = name
    return names


def _services(flows: Mapping[str, float]) -> dict[str, list[str]]:
    """Labels of the flows of each service, the first first."""
    found = defaultdict(list)
    for label in sorted(flows, key=lambda label: flows[label]):
        match = _LABEL.fullmatch(label)
        if match is not None:
            source, from_port, target, to_port = match.groups()
            # Ports of clients are the higher ones.
            from_port, to_port = ("*", to_port) if int(from_port) > int(to_port) else (from_port, "*")
            found[f"{source}:{from_port}-{target}:{to_port}"].append(label)
    return found
