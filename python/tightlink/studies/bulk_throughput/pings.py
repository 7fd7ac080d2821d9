"""Loss as a ping sees it, beside TCP's own: a packet of 100 B each second through the same queue.

The document pinged during some 20 measurements of 10 s, which makes some 200 pings for each window and
number of flows. Here 20 pings, each once a second, run beside one transfer, spread over the second: their
two kilobytes a second take no part of the path worth mentioning.
"""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.analysis.bulk_cells import cell
from tightlink.analysis.bulk_path import BOTTLENECK, company
from tightlink.experiment.claims import holds_if
from tightlink.experiment.execute import Task
from tightlink.reduce import mean_of
from tightlink.report import Chart, Section, Text, charts
from tightlink.scenario import Cbr, Udp
from tightlink.studies.bulk_throughput.lines import rank_correlation
from tightlink.studies.bulk_throughput.paths import CALTECH, DOCUMENT
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.experiment.claims import Claim
    from tightlink.run import Run
    from tightlink.scenario import Scenario

_PINGS: Final = 20
_PING: Final = "ping"
_PACKETS: Final = "ping"
_BYTES: Final = "ping-bytes"
#: Some 80 full packets, and no whole number of them: there is room for a ping when there is none for a packet.
_SIZE: Final = "120 KiB"
_PLACE: Final = f"{DOCUMENT}, Caltech and summary"
#: "Much lower": half.
_MUCH: Final = 0.5
_GROWS: Final = 0.5


def scenario(window: int, flows: int) -> Scenario:
    """A transfer to Caltech with pings beside it."""
    ping = Cbr(
        flows=_PINGS,
        interval="1 s",
        start=[f"{1000 * index // _PINGS} ms" for index in range(_PINGS)],
        udp=Udp(datagram="100 B"),
        **company(flows),
    )
    return CALTECH.path.scenario(window, flows, traffic={_PING: ping})


def tasks() -> list[Task]:
    """The grid of Caltech with pings, at a queue that counts packets and at one that counts bytes."""
    return [
        *(Task(f"{_PACKETS}/{window}/{flows}", scenario(window, flows)) for window, flows in CALTECH.cells),
        *(
            Task(f"{_BYTES}/{window}/{flows}", scenario(window, flows).set(f"topology.{BOTTLENECK}.queue", _SIZE))
            for window, flows in CALTECH.cells
        ),
    ]


def losses(runs: Mapping[str, Run], queue: str = _PACKETS) -> pl.DataFrame:
    """A row for each cell: TCP's loss, and that of the pings."""
    rows = []
    for window, flows in CALTECH.cells:
        run = runs[f"{queue}/{window}/{flows}"]
        pings = run.flows.filter(pl.col("label").str.starts_with(_PING))
        rows.append({
            "window_packets": window,
            "flows": flows,
            "tcp": cell(run, CALTECH.path)["loss"],
            "ping": int(pings["packets_dropped"].sum()) / int(pings["packets_sent"].sum()),
            "pings": int(pings["packets_sent"].sum()),
        })  # fmt: skip
    return pl.DataFrame(rows)


def claims(runs: Mapping[str, Run]) -> Iterator[Claim]:
    """What the document says of the two losses."""
    found = losses(runs)
    tcp, ping = _means(found)
    tcp_bytes, ping_bytes = _means(losses(runs, _BYTES))
    yield holds_if(
        "caltech.ping-below-tcp", "Pings lose much less than TCP does", _PLACE, ping / tcp, ping < _MUCH * tcp,
        f"Mean losses over the grid: pings {percent(ping, 2)}, TCP {percent(tcp, 2)}, with about "
        f"{int(found['pings'][0])} pings a cell. The ACKs clock TCP's packets into the places that others leave, "
        "while a ping comes at any time, mostly to a full queue. The document compares measured pings.",
    )  # fmt: skip
    yield holds_if(
        "caltech.ping-below-tcp-bytes", "Pings lose much less than TCP does, at a queue that counts bytes",
        "this study", ping_bytes / tcp_bytes, ping_bytes < _MUCH * tcp_bytes,
        f"A queue of {_SIZE}, which is no multiple of 1500 B: pings lose {percent(ping_bytes, 2)}, TCP "
        f"{percent(tcp_bytes, 2)}. Packets of 100 B fit where ones of 1500 B do not: the packets' sizes, "
        "as the document suspects.",
    )  # fmt: skip
    for kind, words in (("tcp", "TCP's loss"), ("ping", "the loss of pings")):
        over = _over(found, "flows", kind, line="window_packets")
        yield holds_if(
            f"caltech.{kind}-over-flows", f"Caltech, with pings: {words} grows with the number of flows", _PLACE,
            over, over > _GROWS, "Mean rank correlation over the windows.",
        )  # fmt: skip
    windows = {kind: _over(found, "window_packets", kind, line="flows") for kind in ("tcp", "ping")}
    yield holds_if(
        "caltech.ping-over-windows", "How the loss of pings depends on the window is less clear than on the flows",
        _PLACE, windows["ping"], windows["ping"] < _over(found, "flows", "ping", line="window_packets"),
        f"Mean rank correlation with the window; TCP's is {windows['tcp']:.2f}.",
    )  # fmt: skip


def by_flows(runs: Mapping[str, Run]) -> pl.DataFrame:
    """Mean losses over the windows: a row for each number of flows and kind of packet, ``of``."""
    names = {_PACKETS: "queue of 80 packets", _BYTES: f"queue of {_SIZE}"}
    frames = [
        losses(runs, queue)
        .group_by("flows", maintain_order=True)
        .agg(pl.col("tcp", "ping").mean())
        .unpivot(["tcp", "ping"], index="flows", variable_name="of", value_name="loss")
        .with_columns(pl.col("of").replace({"tcp": f"TCP, {words}", "ping": f"pings, {words}"}))
        for queue, words in names.items()
    ]
    return pl.concat(frames).sort("of", "flows")


def section(runs: Mapping[str, Run]) -> Section:
    """The part of the report."""
    (tcp, ping), (tcp_bytes, ping_bytes) = (_means(losses(runs, queue)) for queue in (_PACKETS, _BYTES))
    finding = (
        f"At a queue that counts packets, as ns-2's does, pings lose {percent(ping, 1)} where TCP loses "
        f"{percent(tcp, 1)}: more, not less. At one of {_SIZE} they lose {percent(ping_bytes, 2)} beside TCP's "
        f"{percent(tcp_bytes, 1)}, which is more like what the document measured."
    )
    text = (
        "The document found far less loss with pings than its simulator predicts for TCP, and suspects the packets' "
        "sizes and the ways of measuring. Both play a part. TCP's packets are clocked by ACKs into the places that "
        "others leave, and are lost when the window grows; a ping comes at any time, and finds the queue full as often "
        "as it is full. But where a queue counts bytes, 100 bytes mostly fit in when 1500 do not."
    )
    chart = charts.line(by_flows(runs), "flows", "loss", by="of", x_title="flows")
    return Section("Pings beside TCP", finding, [Text(text), Chart(chart, "Means over the windows, Caltech.")])


def _means(found: pl.DataFrame) -> tuple[float, float]:
    return mean_of(found["tcp"]), mean_of(found["ping"])


def _over(found: pl.DataFrame, x: str, y: str, *, line: str) -> float:
    parts = found.sort(x).group_by(line, maintain_order=True)
    return fmean(value for _, part in parts if (value := rank_correlation(part, x, y)) is not None)
