"""The report, whose text is ``report.md``, and its figures for papers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from tightlink.analysis.path.response import C_DELAYED, C_EVERY
from tightlink.experiment.claims import Claim
from tightlink.report import charts
from tightlink.studies.claims_table import failed
from tightlink.studies.expressions import Names
from tightlink.studies.one_flow import setup
from tightlink.studies.one_flow.observe.cases import BULK_FAIR, BULK_GOOD
from tightlink.studies.one_flow.observe.competing import beside_long, curves, fitted
from tightlink.studies.one_flow.report import cases
from tightlink.studies.one_flow.setup import BASE, CASES
from tightlink.studies.report_text import page
from tightlink.studies.study import Report

#: The document's mean queue, in packets, and its Mbit.
_QUEUE: Final = 14.5
_MBIT: Final = 2**20
_COUNTED: Final = ("None", "One", "Two", "Three", "Four", "Five", "Six", "All")


def report(observed: Mapping[str, Any], claims: Mapping[str, Claim]) -> Report:
    """The report's text, tables and charts."""
    tcp, udp, runs = (observed[name] for name in ("tcp", "udp", "runs"))
    blocks = (
        cases.tables(tcp, udp, runs, claims)
        | _of_competing(observed["competing"])
        | _of_responses(observed["response"])
    )
    for transport, found in (("tcp", tcp), ("udp", udp)):
        blocks |= {f"{name}.{transport}": row for name, row in cases.small_charts(found).items()}
    same = (all(claims[f"{case.name}.{count}"].holds for count in ("packets-sent", "kilobytes")) for case in CASES)
    names = {
        "failed": failed(claims, "document"),
        "setup": vars(setup),
        "same": _COUNTED[sum(same)],
        "counted": {
            transport: {name: cases.counted(own) for name, own in found.items()}
            for transport, found in (("tcp", tcp), ("udp", udp))
        },
        "idle": {name: 1 - own.run.links["utilization"][0] for name, own in tcp.items()},
        "printed_sent": claims["queue-5.packets-sent"].expected,
        "printed_dropped": claims["queue-5.packets-dropped"].expected,
        "really_limits": cases.really_limits(tcp, runs),
        "good": cases.good(blocks["quality"]),
        "bulk_good": BULK_GOOD,
        "bulk_fair": BULK_FAIR,
        "c_every": C_EVERY,
        "c_delayed": C_DELAYED,
        "c_tahoe": fitted(observed["response"].filter(pl.col("forced") == "random"), "Tahoe"),
        "uneven": observed["competing"]["many"].sort("jain").row(0, named=True),
        "notes": _notes(),
    }
    figures = {
        **{
            f"cases-{transport}": cases.grid({case.title: blocks[f"{case.name}.{transport}"] for case in CASES})
            for transport in ("tcp", "udp")
        },
        "response-random": blocks["random-loss"],
        "response-queue": blocks["queue-loss"],
        "phase": blocks["phase"],
        "beside-udp": blocks["beside"],
    }
    return page(
        Path(__file__).parent.with_suffix(".md"), Names(names, observed), blocks,
        picture="What the document missed: the window", figures=figures,
    )  # fmt: skip


def _notes() -> dict[str, float]:
    """The document's arithmetic on its own constants, which no run can contradict."""
    own_ms = 1e3 * 8 * BASE.payload_bytes / (BASE.rate_bps / 1e6 * _MBIT)
    waiting_ms = _QUEUE * own_ms
    total_ms = waiting_ms + own_ms + 1e3 * BASE.delay_s
    return {"queue": _QUEUE, "own_ms": own_ms, "waiting_ms": waiting_ms, "total_ms": total_ms}


# The charts and tables on competing flows, the response function and phase effects.


def _of_competing(competing: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """TCP beside UDP, peaks against means, and phase effects."""
    shown = competing["curve"].with_columns(pl.col("smoothed_bps") / 1e3, pl.col("system_bps") / 1e3)
    titles = {"smoothed_bps": "instant throughput, smoothed (α = 0.95)", "system_bps": "system throughput"}
    return {
        "beside": charts.line(
            beside_long(competing["beside"]), "offered_percent", "throughput_bps", by="flow",
            x_title="UDP offers (% of the link)", height=240,
        ),
        "peaks": [
            charts.line(
                shown, "time_s", column, title=title, x_title="time (s)", y_title="kbit/s", height=160,
                y_domain=(0, 10_500), most=1200,
            )
            for column, title in titles.items()
        ],
        "phase": charts.line(
            competing["phase"].with_columns(pl.col("share") * 100), "extra_ms", "share", by="kind",
            x_title="longer round trip of the second flow (ms)", y_title="share of the second flow (%)",
            y_domain=(0, 100), height=260,
        ),
    }  # fmt: skip


def _of_responses(mean: pl.DataFrame) -> dict[str, Any]:
    """The response function, at random and at forced loss."""
    drawn, shown = (frame.with_columns(pl.col("loss") * 100) for frame in (curves(), mean))
    both = {
        f"{forced}-loss": charts.points(
            shown.filter(pl.col("forced") == forced).drop("forced"), "loss", "packets_per_rtt", by="variant",
            curves=drawn, curve="curve", x_scale="log", y_scale="log", x_domain=(0.01, 20), y_domain=(0.8, 150),
            x_title="loss (%)", y_title="packets per round trip", title=title, height=380,
        )
        for forced, title in (("random", "Loss at random on the link"), ("queue", "Loss forced by the queue's length"))
    }  # fmt: skip
    words = pl.struct("forced", "setting").map_elements(_words, return_dtype=pl.String)
    return both | {"responses": mean.with_columns(lost=words)}


def _words(setting: dict[str, str]) -> str:
    """Where packets are lost: "0.5 % on the link", "queue of 3 packets"."""
    value = setting["setting"].partition("-")[2]
    return f"queue of {value} packets" if setting["forced"] == "queue" else f"{float(value) * 100:g} % on the link"
