"""What a flow gets that arrives when others have settled (experiment ``newcomers``).

A control that gives up little after a loss leaves little to those who come later, of its own kind too. Users' transfers
are too short to tell; here flows without end hold one link for a minute, then one more of the same control arrives.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink import units
from tightlink.experiment.claims import Claim, holds_if
from tightlink.experiment.execute import Task
from tightlink.report import Section, Table, Text
from tightlink.scenario import Scenario
from tightlink.studies.congestion_control import document
from tightlink.studies.congestion_control.part import Part

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.run import Run

NAME: Final = "newcomers"
CONTROLS: Final = ("bic", "compound", "fast", "fast-at", "highspeed", "htcp", "scalable", "reno")
RATES: Final = ("20 Mbit/s", "100 Mbit/s")
#: One way: half of a round trip.
DELAYS: Final = ("20 ms", "80 ms")
BUFFERS: Final = ("0.25 BDP", "1 BDP")
#: The document's low and high initial slow-start threshold.
THRESHOLDS: Final = ("100 packets", "unlimited")
SETTLED: Final = (1, 4)
_ARRIVES_S: Final = 60
_WATCHED_S: Final = 60
_UNFAIR: Final = ("scalable", "bic", "highspeed")
_NEWCOMER: Final = "newcomer"


@dataclass(frozen=True)
class Setting:
    """A link, and how many flows hold it already."""

    rate: str
    delay: str
    buffer: str
    threshold: str
    settled: int

    def scenario(self, control: str) -> Scenario:
        """Settled flows from the start on, one more of the same control later; nothing else differs between them."""
        transport: dict[str, Any] = {"congestion": control, "window": "100000 packets"}
        if self.threshold != "unlimited":
            transport["initial_ssthresh"] = self.threshold
        flow = {"kind": "bulk", "from": "sender", "to": "receiver", "tcp": transport}
        start = {"first": "0 s", "every": "0.1 s"}
        return Scenario.from_dict({
            "profile": "rfc",
            "duration": f"{_ARRIVES_S + _WATCHED_S} s",
            "link": {
                "access": {"ends": ["sender", "router"], "rate": "1 Gbit/s", "delay": "0.1 ms",
                           "queue": "100000 packets"},
                "bottleneck": {"ends": ["router", "receiver"], "rate": self.rate, "delay": self.delay,
                               "queue": self.buffer},
            },
            "traffic": {
                "settled": {**flow, "flows": self.settled, "start": start},
                _NEWCOMER: {**flow, "start": f"{_ARRIVES_S} s"},
            },
        })  # fmt: skip


def _runs() -> Iterator[tuple[str, str, Setting]]:
    """The name of each run, its control and its setting."""
    for place, values in enumerate(product(RATES, DELAYS, BUFFERS, THRESHOLDS, SETTLED)):
        for control in CONTROLS:
            yield f"{NAME}/{place:02}/{control}", control, Setting(*values)


def tasks() -> list[Task]:
    """All runs."""
    return [Task(name, setting.scenario(control)) for name, control, setting in _runs()]


def read(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each run: its setting and ``share``, the newcomer's goodput over an equal part of the link's rate."""
    return pl.DataFrame([_row(control, setting, runs[name].flows) for name, control, setting in _runs()])


def _row(control: str, setting: Setting, flows: pl.DataFrame) -> dict[str, Any]:
    newcomer = flows.filter(pl.col("label") == _NEWCOMER)["goodput_bps"].item()
    return {
        "control": control,
        "rate": setting.rate,
        "delay": setting.delay,
        "buffer": setting.buffer,
        "initial_ssthresh": setting.threshold,
        "settled": setting.settled,
        "share": newcomer / (units.rate(setting.rate) / (setting.settled + 1)),
    }


def by_control(table: pl.DataFrame) -> pl.DataFrame:
    """Of each control the mean and the smallest share, the least first."""
    share = pl.col("share")
    return (
        table.group_by("control", maintain_order=True)
        .agg(mean=share.mean(), smallest=share.min(), largest=share.max(), settings=pl.len())
        .sort("mean")
    )


def claims(table: pl.DataFrame) -> Iterator[Claim]:
    """Scalable, BIC and HSTCP leave least."""
    ordered = by_control(table)
    least = ordered["control"].to_list()[: len(_UNFAIR)]
    standard = ordered.filter(pl.col("control") == "reno")["mean"].item()
    for control in _UNFAIR:
        mean = ordered.filter(pl.col("control") == control)["mean"].item()
        yield holds_if(
            f"{NAME}.{control}", f"{control} is among the three most unfair to flows that newly arrive",
            document.FAIRNESS, mean, control in least,
            f"Mean part of an equal share that a newcomer of its kind gets in its first {_WATCHED_S} s; least: "
            f"{', '.join(least)}; standard TCP leaves {standard:.2f}.",
        )  # fmt: skip


def section(table: pl.DataFrame) -> Section:
    """What newcomers get, by control and setting."""
    import altair as alt

    from tightlink.report import Chart

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
                f"of the link's rate for each flow; the newcomer's goodput is that of its first {_WATCHED_S} s."
            ),
            Chart((points + equal).properties(width="container", height=220), "A tick for each setting."),
            Table(ordered, "Share of the newcomer: mean, smallest and largest over the settings."),
        ],
    )


def part(runs: Mapping[str, Run]) -> Part:
    """What the experiment shows."""
    table = read(runs)
    return Part(list(claims(table)), section(table))
