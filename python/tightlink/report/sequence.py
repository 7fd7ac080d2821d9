"""The sequence–time chart of one flow: what it sent and when, what came back, what was lost."""

from __future__ import annotations

import shlex
from typing import Final, TypeAlias

from tightlink.errors import Argument, ScenarioError, did_you_mean, one_of
from tightlink.lazy import pl
from tightlink.numbers import grouped, several
from tightlink.reduce import samples
from tightlink.report import charts
from tightlink.report.blocks import Chart, Section
from tightlink.run import CAPTURE, Run

#: When a part of a run begins and ends, in seconds; nothing where it does with the run.
Between: TypeAlias = tuple[float | None, float | None]

_SENT: Final = "sent"
_AGAIN: Final = "retransmitted"
_ACKED: Final = "acknowledged"
_LOST: Final = "lost"
#: What tshark's rules call a segment that was retransmitted.
_FINDINGS: Final = ("retransmission", "fast retransmission", "spurious retransmission")
_MOST_NAMED: Final = 20


def section(run: Run, flow: str, between_s: Between = (None, None)) -> Section:
    """Sequence numbers of a flow over time; all, or those between two times in seconds."""
    number = _number(run, flow)
    found = (_captured if run.source == CAPTURE else _traced)(run, number)
    begin_s, end_s = between_s
    if begin_s is not None:
        found = found.filter(pl.col("time_s") >= begin_s)
    if end_s is not None:
        found = found.filter(pl.col("time_s") <= end_s)
    if found.is_empty():
        when = "" if between_s == (None, None) else " between these times"
        raise _wrong(flow, f"none of its packets is in the table packets{when}")
    counts = {kind: found.filter(pl.col("kind") == kind).height for kind in (_SENT, _AGAIN, _LOST, _ACKED)}
    said = [f"{several(counts[_SENT], 'packet')} sent for the first time, {grouped(counts[_AGAIN])} retransmitted"]
    if run.source != CAPTURE:
        said.append(f"{grouped(counts[_LOST])} lost")
    unit = "bytes from the beginning of the connection" if run.source == CAPTURE else "packets"
    caption = f"{', '.join(said)}. Sequence numbers in {unit}."
    if max(counts.values()) > charts.MOST_IN_SEQUENCE:
        part = f'--sequence {shlex.quote(flow)} --from "3 s" --to "4 s"'
        caption += f" To see every packet of a part, draw only that: tightlink report FOLDER {part}."
    return Section(f"Sequence numbers of {flow}", "", [Chart(charts.sequence(found), caption)])


def _number(run: Run, flow: str) -> int:
    names = run.flows["label"].to_list()
    if flow in names:
        return int(run.flows["flow"][names.index(flow)])
    listed = one_of(names) if len(names) <= _MOST_NAMED else f"one of {len(names)} flows, such as {names[0]}"
    raise _wrong(flow, f"there is no such flow: expected {listed}{did_you_mean(flow, names)}")


def _wrong(flow: str, said: str) -> ScenarioError:
    return ScenarioError(said, key=Argument("sequence"), value=flow, statement=True)


def _traced(run: Run, number: int) -> pl.DataFrame:
    """Points of a flow of a packet trace: ``time_s``, ``sequence``, ``kind``."""
    origin, transport = run.flows.filter(pl.col("flow") == number).select("from", "transport").row(0)
    data = run.packets.filter((pl.col("flow") == number) & (pl.col("type") != "ack"))
    if transport == "tcp":
        # A connection opens with packets without payload, which have no number yet.
        data = data.filter((pl.col("seq") != 0) | (pl.col("size_bytes") == pl.col("size_bytes").max()))
    sent = data.filter((pl.col("event") == "+") & (pl.col("from") == origin))
    first = pl.col("seq").is_first_distinct()
    acks = (pl.col("flow") == number) & (pl.col("type") == "ack") & (pl.col("event") == "r") & (pl.col("to") == origin)
    acknowledged = run.packets.filter(acks).with_columns(pl.col("seq").cum_max())
    return pl.concat(
        [
            _kind(sent.filter(first), _SENT),
            _kind(acknowledged, _ACKED),
            _kind(sent.filter(~first), _AGAIN),
            _kind(data.filter(pl.col("event") == "d"), _LOST),
        ]
    )


def _captured(run: Run, number: int) -> pl.DataFrame:
    """Points of a flow of a capture; what was acknowledged is known at intervals."""
    of = run.flows.filter(pl.col("flow") == number).row(0, named=True)
    data = (pl.col("flow") == number) & (pl.col("type") != "ack") & (pl.col("from") == of["from"])
    packets = run.packets.filter(data).drop_nulls("seq")
    findings = run.table("findings").filter(pl.col("finding").is_in(_FINDINGS))["uid"]
    again = pl.col("uid").is_in(findings.to_list()) | ~pl.col("seq").is_first_distinct()
    packets = packets.filter(pl.col("seq") > 0).with_columns(again=again)
    series = samples(run.series, "acknowledged_bytes", of["label"])
    acked = series.select("time_s", sequence=pl.col("value"), kind=pl.lit(_ACKED))
    return pl.concat(
        [_kind(packets.filter(~pl.col("again")), _SENT), acked, _kind(packets.filter(pl.col("again")), _AGAIN)]
    )


def _kind(packets: pl.DataFrame, kind: str) -> pl.DataFrame:
    return packets.select("time_s", sequence=pl.col("seq").cast(pl.Float64), kind=pl.lit(kind))
