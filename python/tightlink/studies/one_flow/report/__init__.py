"""The report, whose text is ``report.md``, and its figures for papers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from tightlink.analysis.path.response import C_DELAYED, C_EVERY
from tightlink.experiment.claims import Claim
from tightlink.studies.expressions import Names
from tightlink.studies.one_flow import setup
from tightlink.studies.one_flow.observe.cases import BULK_FAIR, BULK_GOOD
from tightlink.studies.one_flow.observe.company import fitted
from tightlink.studies.one_flow.report import cases, company
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
        | company.blocks(observed["company"])
        | company.responses(observed["response"])
    )
    for transport, found in (("tcp", tcp), ("udp", udp)):
        axes = cases.domains(found)
        blocks |= {f"{name}.{transport}": cases.small_charts(own, axes) for name, own in found.items()}
    same = (all(claims[f"{case.name}.{count}"].holds for count in ("packets-sent", "kilobytes")) for case in CASES)
    names = {
        "failed": sum(claim.holds is False for claim in claims.values()),
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
        "uneven": observed["company"].many.sort("jain").row(0, named=True),
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
    return {
        "queue": _QUEUE, "own_ms": own_ms, "waiting_ms": waiting_ms,
        "total_ms": waiting_ms + own_ms + 1e3 * BASE.delay_s,
    }  # fmt: skip
