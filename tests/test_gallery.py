"""What the gallery says of its pictures is what their blocks simulate."""

from __future__ import annotations

import math
import runpy
from functools import cache
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest

import tightlink as tl

FOLDER: Final = Path(__file__).parent.parent / "docs" / "gallery"


@cache
def blocks(page: str) -> dict[str, dict[str, Any]]:
    """The names that the blocks of a page have set, at each of its pictures."""
    followed = runpy.run_path(str(FOLDER / "make.py"))["followed"]
    return {file.removesuffix(".svg"): dict(names) for file, names in followed(FOLDER / f"{page}.md")}


def column(table: pl.DataFrame, name: str, **where: Any) -> list[Any]:
    return table.filter(**where)[name].to_list()


def test_bbr_takes_a_short_buffer_and_cubic_fills_a_long_one() -> None:
    table = blocks("competing-flows")["bbr-cubic"]["table"]
    bbr, cubic = (column(table, "goodput_bps", label=label) for label in ("bbr", "cubic"))
    assert bbr[0] > 2 * cubic[0]
    assert bbr[-1] < cubic[-1] / 2


def test_long_paths_lose_with_reno_less_with_cubic_and_win_with_bbr() -> None:
    table = blocks("competing-flows")["rtt-fairness"]["table"]
    reno, cubic, bbr = (column(table, "long.share", control=name) for name in ("reno", "cubic", "bbr"))
    assert max(reno[1:] + cubic[1:]) < 0.5 < min(bbr[1:])
    assert all(first < second for first, second in zip(reno[1:], cubic[1:], strict=True))
    assert bbr == sorted(bbr)


def test_udp_takes_what_it_wants_and_leaves_the_rest_to_tcp() -> None:
    table = blocks("competing-flows")["udp-tcp"]["table"]
    stream, tcp = (column(table, "goodput_bps", flow=name) for name in ("voice", "ftp"))
    assert stream == pytest.approx(column(table, "stream_bps", flow="voice"), rel=0.05)
    assert tcp == sorted(tcp, reverse=True)


def test_the_long_flow_of_a_parking_lot_gets_a_sixth_of_a_short_one() -> None:
    run = tl.simulate(tl.load(FOLDER.parent.parent / "examples" / "parking-lot.toml"))
    long, *short = run.flows["goodput_bps"]
    assert long / (sum(short) / 3) == pytest.approx(1 / 6, rel=0.1)
    # Mathis et al. (1997): three queues to lose packets at, and the longer round trip, a fifth.
    rtt, *shorter = run.flows["rtt_mean_s"]
    assert long / (sum(short) / 3) == pytest.approx(sum(shorter) / 3 / rtt / math.sqrt(3), rel=0.2)


def test_only_hystart_leaves_slow_start_before_the_queue_overflows() -> None:
    base = blocks("one-flow")["overshoot"]["base"]
    hystart, *others = (
        tl.simulate(base.set("traffic.flow.tcp.slow_start", kind)).flows["packets_dropped"].item()
        for kind in ("hystart", "standard", "hystart++", "search")
    )
    assert hystart < min(others) / 10


def test_four_bdp_of_buffer_add_200_ms() -> None:
    parts = blocks("one-flow")["buffer-delay"]["parts"]
    assert [part["value"].min() for part in parts] == pytest.approx([0.05] * 3, rel=0.01)
    assert parts[-1]["value"].max() == pytest.approx(0.25, rel=0.01)


def test_many_flows_need_less_buffer_than_one() -> None:
    table = blocks("queues")["buffer-size"]["table"]
    one, many = (column(table, "utilization", flows=name) for name in ("1 flow", "16 flows"))
    assert min(one[-1], many[-1]) > 0.98
    assert all(more > less for more, less in zip(many, one, strict=True))
