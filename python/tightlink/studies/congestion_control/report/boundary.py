"""The section on where FAST oscillates."""

from __future__ import annotations

import polars as pl

from tightlink.report import Chart, Section, Table, Text
from tightlink.studies.congestion_control.observe.boundary import SWINGS, Boundary
from tightlink.studies.congestion_control.setup.boundary import BUFFERS


def section(found: Boundary) -> Section:
    """The boundary as a table: for each product of flows and alpha, the buffers at which windows oscillate."""
    import altair as alt

    shown = found.table.with_columns(
        label=pl.when(pl.col("swing") > SWINGS).then(pl.lit("oscillates")).otherwise(pl.lit("comes to rest")),
        queued=pl.col("flows") * pl.col("alpha_packets"),
    )
    points = alt.Chart(shown.filter(pl.col("control") == "fast")).mark_point(filled=True, size=60).encode(
        x=alt.X("queued:Q", title="flows × alpha (packets)").scale(type="log"),
        y=alt.Y("buffer_packets:Q", title="buffer (packets)").scale(type="log"),
        color=alt.Color("label:N", title=""),
        shape=alt.Shape("label:N", title=""),
        tooltip=["alpha_packets", "flows", "buffer_packets", "swing", "period_s", "loss"],
    )  # fmt: skip
    ends = pl.DataFrame({"queued": [BUFFERS[0], BUFFERS[-1]], "buffer_packets": [BUFFERS[0], BUFFERS[-1]]})
    line = alt.Chart(ends).mark_line(strokeDash=[4, 3], color="gray").encode(x="queued:Q", y="buffer_packets:Q")
    by_control = found.table.group_by("control", "alpha_packets", maintain_order=True).agg(
        settings=pl.len(), oscillates=(pl.col("swing") > SWINGS).sum(), loss=pl.col("loss").mean()
    )
    return Section(
        "Where FAST oscillates",
        "A flow of FAST keeps alpha packets queued; where there is no room for those of all flows, windows swing.",
        [
            Text(
                "Flows without end over one link of 100 Mbit/s and 40 ms, for every alpha, number of flows and buffer. "
                "The dashed line is buffer = flows × alpha."
            ),
            Chart((points + line).properties(width="container", height=320), "Hover a point for amplitude and loss."),
            Table(by_control, "Settings in which windows oscillate."),
        ],
    )
