"""What a report says of users and of scattered datagrams: over time, by period, by kind of transfer."""

from __future__ import annotations

from typing import Any, Final

from tightlink.analysis.responses.nist import RESPONSES, over_time, responses
from tightlink.diagnosis import percent
from tightlink.lazy import pl
from tightlink.numbers import grouped, several
from tightlink.report import charts
from tightlink.report.blocks import Block, Chart, Row, Section, Table
from tightlink.run import Run

_HEIGHT: Final = 160


def sections(run: Run) -> list[Section]:
    """All that there is to say of users and of scattered datagrams; nothing of runs without them."""
    found = []
    if "users" in run.tables:
        labels = run.users["label"].unique(maintain_order=True).to_list()
        found += [_over_time(run, label, alone=len(labels) == 1) for label in labels]
        found += [_by_period(run), _transfers(run)]
    if "scatter" in run.tables:
        labels = run.scatter["label"].unique(maintain_order=True).to_list()
        found += [_datagrams(run, label, alone=len(labels) == 1) for label in labels]
    return found


def losses(lost: int, sent: int, word: str) -> str:
    """How many of what was sent were lost, or nothing where none was.

    >>> losses(1, 1200, "packet"), losses(7, 1200, "packet"), losses(0, 1, "packet")
    ('1 of 1,200 packets was lost', '7 of 1,200 packets were lost', '')
    """
    return f"{grouped(lost)} of {several(sent, word)} {'was' if lost == 1 else 'were'} lost" if lost else ""


def lead(run: Run) -> str | None:
    """Users and datagrams in a sentence each; nothing of runs without them."""
    said = []
    if "users" in run.tables:
        users = run.users
        last = users.filter(users["time_s"] == users["time_s"].max())
        sources = sum(int(last[f"sources_{state}"].sum()) for state in ("transmitting", "connecting", "thinking"))
        sent, delivered, completed = (
            int(users[name].sum()) for name in ("packets_sent", "packets_delivered", "transfers_completed")
        )
        lost = percent(max(0.0, 1 - delivered / sent)) if sent else "none"
        said.append(
            f"{grouped(sources)} sources completed {grouped(completed)} transfers; of {grouped(sent)} packets {lost} "
            "were lost or under way at the end."
        )
    if "scatter" in run.tables:
        scatter = run.scatter
        sent, dropped = int(scatter["packets_sent"].sum()), int(scatter["packets_dropped"].sum())
        if dropped:
            said.append(f"{losses(dropped, sent, 'datagram')}.")
    return " ".join(said) or None


def _over_time(run: Run, label: str, *, alone: bool) -> Section:
    users = run.users.filter(pl.col("label") == label)
    series = over_time(run).filter(pl.col("label") == label)
    length = pl.col("time_s") - pl.col("time_s").shift(1).fill_null(0.0)
    states = {"transmitting": pl.col("sources_transmitting"), "connecting": pl.col("sources_connecting")}
    ways = {"entering": pl.col("packets_sent") / length, "leaving": pl.col("packets_delivered") / length}
    delays = {"round trip": pl.col("rtt_mean_s"), "queueing": pl.col("queueing_delay_mean_s")}
    blocks: list[Block] = [
        Row(
            [
                _lines(users, states, "sources", "state", "sources"),
                _lines(users, ways, "packets_per_s", "direction", "packets/s"),
            ],
            "Sources that transmit or connect, the others think; packets that enter and leave the network.",
        ),
        Row(
            [
                charts.line(series, "time_s", "loss", title="loss", height=_HEIGHT),
                _lines(users, delays, "delay_s", "delay", "delay"),
            ],
            "1 − leaving / entering in each interval: packets under way count, so that it can be below zero for a "
            "moment. Round-trip time, and what of it is queueing.",
        ),
    ]
    ends = run.long_lived.filter(pl.col("label") == label)
    if ends.height:
        begin = pl.col("time_s").shift(1).over("flow").fill_null(0.0)
        rates = ends.with_columns(packets_per_s=pl.col("packets_delivered") / (pl.col("time_s") - begin))
        caption = "Transfers without end."
        blocks.append(Chart(charts.line(rates, "time_s", "packets_per_s", by="flow", height=_HEIGHT), caption))
    return Section("Users over time" if alone else f"Users {label} over time", "", blocks)


def _lines(frame: pl.DataFrame, parts: dict[str, pl.Expr], value: str, by: str, title: str) -> Any:
    """A chart of several columns that have one unit."""
    named = {name: {by: pl.lit(name), value: part.cast(pl.Float64)} for name, part in parts.items()}
    listed = pl.concat([frame.select("time_s", **columns) for columns in named.values()])
    return charts.line(listed, "time_s", value, by=by, title=title, height=_HEIGHT)


def _by_period(run: Run) -> Section:
    """A row for each response, a column for each period."""
    found = responses(run)
    periods = found["period"].unique(maintain_order=True).to_list()
    index = ["label", "response", "number"]
    wide = found.pivot("period", index=index, values="value", maintain_order=True)
    meanings = {each.name: each.meaning for each in RESPONSES}
    other = "packets per second of this transfer without end, or of a transmitting source on such a path"
    wide = wide.with_columns(meaning=pl.col("response").replace_strict(meanings, default=other))
    if found["label"].n_unique() == 1:
        wide = wide.drop("label")
    caption = (
        "By period, with the numbers of NIST SP 500-282. Counts are means over intervals of "
        f"{run.manifest['scenario']['observe']['interval']}, ratios those of the sums, times in seconds."
    )
    return Section("Responses", "", [Table(wide, caption, dict.fromkeys(periods, _short))])


def _short(value: float) -> str:
    return grouped(f"{float(f'{value:.4g}'):.10f}".rstrip("0").rstrip("."))


def _transfers(run: Run) -> Section:
    found = run.transfers
    shown = found.with_columns(mean_time_s=pl.col("seconds") / pl.col("completed")).drop("seconds")
    if found["label"].n_unique() <= 1:
        shown = shown.drop("label")
    caption = "By the period of their end: kind of file, classes of the two routers, the slower interface, control."
    return Section("Transfers", "", [Table.first(shown, 200, "rows", caption)])


def _datagrams(run: Run, label: str, *, alone: bool) -> Section:
    sent, dropped = pl.col("packets_sent"), pl.col("packets_dropped")
    frame = run.scatter.filter(pl.col("label") == label).with_columns(loss=pl.when(sent > 0).then(dropped / sent))
    metrics = ["packets_in_network", "loss", "one_way_delay_mean_s", "hops_mean"]
    row = Row(charts.small_multiples(frame, "time_s", metrics), "Datagrams under way, lost, and what the others took.")
    return Section("Datagrams over time" if alone else f"Datagrams {label} over time", "", [row])
