"""The section on what newcomers get."""

from __future__ import annotations

import polars as pl

from tightlink.report import Chart, Section, Table, Text
from tightlink.studies.congestion_control.observe.newcomers import by_control
from tightlink.studies.congestion_control.setup.newcomers import BUFFERS, RATES, SETTLED, WATCHED_S
from tightlink.studies.congestion_control.setup.one_link import DELAYS, THRESHOLDS


def section(table: pl.DataFrame) -> Section:
    """What newcomers get, by control and setting."""
    import altair as alt

    ordered = by_control(table)
    points = alt.Chart(table).mark_tick(thickness=2).encode(
        x=alt.X("share:Q", title="newcomer's goodput over an equal share"),
        y=alt.Y("control:N", title="", sort=ordered["control"].to_list()),
        color=alt.Color("delay:N", title="one-way delay"),
        tooltip=table.columns,
    )  # fmt: skip
    equal = alt.Chart(pl.DataFrame({"share": [1.0]})).mark_rule(strokeDash=[4, 3], color="gray").encode(x="share:Q")
    return Section(
        "What newcomers get",
        "A flow that arrives when others of the same control have held the link for a minute.",
        [
            Text(
                f"{len(RATES) * len(DELAYS) * len(BUFFERS) * len(THRESHOLDS) * len(SETTLED)} settings of one link: "
                f"{', '.join(RATES)}; {', '.join(DELAYS)}; buffers of {', '.join(BUFFERS)}; initial thresholds of "
                f"{', '.join(THRESHOLDS)}; {' or '.join(map(str, SETTLED))} settled flows. An equal share is one part "
                f"of the link's rate for each flow; the newcomer's goodput is that of its first {WATCHED_S} s."
            ),
            Chart((points + equal).properties(width="container", height=220), "A tick for each setting."),
            Table(ordered, "Share of the newcomer: mean, smallest and largest over the settings."),
        ],
    )
