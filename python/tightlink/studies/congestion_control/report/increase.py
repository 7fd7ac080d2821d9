"""The section on how soon a flow has all of a link."""

from __future__ import annotations

import polars as pl

from tightlink.report import Chart, Section, Table, Text
from tightlink.studies.congestion_control.setup.increase import RATE, WATCHED_S
from tightlink.studies.congestion_control.setup.one_link import DELAYS


def section(table: pl.DataFrame) -> Section:
    """Times to a full link by control and threshold, what a loss costs, and what a threshold does under congestion."""
    import altair as alt

    alone = table.filter(pl.col("load") == "alone")
    points = alt.Chart(alone).mark_point(filled=True, size=60).encode(
        x=alt.X("full_s:Q", title="time to a full link (s)").scale(type="log"),
        y=alt.Y("control:N", title=""),
        color=alt.Color("initial_ssthresh:N", title="initial threshold"),
        shape=alt.Shape("delay:N", title="one-way delay"),
        tooltip=table.columns,
    )  # fmt: skip
    by_control = alone.group_by("control", maintain_order=True).agg(
        low_s=pl.col("full_s").filter(pl.col("initial_ssthresh") != "unlimited").mean(),
        high_s=pl.col("full_s").filter(pl.col("initial_ssthresh") == "unlimited").mean(),
        kept=pl.col("kept").fill_nan(None).median(),
    )
    congested = table.filter(pl.col("load") == "congested").pivot(
        "initial_ssthresh", index=["control", "delay"], values="goodput_bps", aggregate_function="mean"
    )
    return Section(
        "How soon a flow has all of a link",
        "With a high initial threshold slow start decides, with a low one the control; under congestion neither.",
        [
            Text(
                f"One flow over {RATE} and a buffer of 1 BDP, delays of {' and '.join(DELAYS)} each way, watched for "
                f"{WATCHED_S['alone']} s; one that has not filled the link by then stands at that time. Then, three "
                "times, beside 20 flows of standard TCP with a buffer of a tenth of that."
            ),
            Chart(points.properties(width="container", height=220), "Until the window is what the path holds."),
            Table(by_control, "Time to a full link, and the part of a window that is left after a loss."),
            Table(congested, "Mean goodput of the flow under heavy congestion, by its initial threshold."),
        ],
    )
