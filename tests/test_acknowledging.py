"""How late receivers acknowledged, from a trace of the link."""

from __future__ import annotations

import polars as pl
import pytest

from tightlink.measure.acknowledging import late_s, of_receivers, warnings


def trace(*rows: tuple[str, float]) -> pl.DataFrame:
    """Data that is delivered ("r") and ACKs that come to the link ("+"), with their times in milliseconds."""
    kinds = {"r": ("r", "a", "b", "tcp", 1500), "+": ("+", "b", "a", "ack", 52)}
    made = [(*kinds[event][:1], ms / 1e3, *kinds[event][1:]) for event, ms in rows]
    return pl.DataFrame(made, schema=["event", "time_s", "from", "to", "type", "size_bytes"], orient="row")


@pytest.mark.parametrize(
    ("rows", "late_ms"),
    [
        ([], []),
        # One segment may wait for another (delayed ACKs).
        ([("r", 1), ("+", 41)], []),
        ([("r", 1), ("r", 2), ("+", 2.5)], [0.5]),
        # It was due at the second, whatever came then.
        ([("r", 1), ("r", 2), ("r", 3), ("r", 4), ("+", 12)], [10]),
        ([("r", 1), ("r", 2), ("+", 3), ("+", 4), ("r", 5), ("r", 6), ("+", 6)], [1, 0]),
        # The end of the run is no ACK.
        ([("r", 1), ("r", 2)], []),
    ],
)
def test_an_ack_is_due_with_the_second_segment(rows: list[tuple[str, float]], late_ms: list[float]) -> None:
    assert (late_s(trace(*rows), comes=("a", "b"), leaves=("b", "a")) * 1e3).to_list() == pytest.approx(late_ms)


def test_receivers_of_all_flows_are_one() -> None:
    found = of_receivers([pl.Series([0.001] * 99), pl.Series([0.02])])
    assert found == {"acks": 100, "p50_s": 0.001, "p99_s": 0.001, "max_s": 0.02}
    assert of_receivers([]) == {"acks": 0, "p50_s": None, "p99_s": None, "max_s": None}


def test_what_a_control_would_notice_is_said() -> None:
    late = of_receivers([pl.Series([0.02])])
    assert warnings(late, bound_s=0.002) == []
    (said,) = warnings(late, bound_s=0.0019)
    assert said.startswith("the machine was busy: ACKs left up to 20 ms late, which lengthens")
    assert warnings(of_receivers([]), bound_s=0.0) == []
