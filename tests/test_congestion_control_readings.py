"""Which of our responses a row of the document's table of effects is, as the other rows tell."""

from __future__ import annotations

import math

import polars as pl
import pytest

from tightlink.studies.congestion_control.observe.readings import Readings
from tightlink.studies.congestion_control.setup import document


def _effects(signs: dict[str, dict[str, str]], first: dict[str, str]) -> pl.DataFrame:
    """Effects that stand out: of each response by parameter, and of some by their sign alone."""
    names = document.NAME_OF
    return pl.DataFrame([
        {"factor": names[parameter], "response": response, "sign": sign, "mark": "**", "p_joint": 0.001}
        for response, row in {**signs, **{name: {"X4": sign} for name, sign in first.items()}}.items()
        for parameter, sign in row.items()
    ])  # fmt: skip


def test_an_effect_is_not_tested_by_a_reading_that_it_helped_to_find() -> None:
    """Y9 is one of two delays; a wrong sign of X2 must not make it the other one, whose sign would be right."""
    of_rtt = {"X1": "−", "X2": "−", "X3": "+"}
    of_queueing = {"X1": "+", "X2": "+", "X3": "−"}
    readings = Readings(_effects({"rtt_mean_s": of_rtt, "queueing_delay_mean_s": of_queueing}, {}))
    response, agreement = readings.response("Y9", "X2")
    assert response == "rtt_mean_s"
    assert agreement == pytest.approx(2 / math.sqrt(2 * 2.5))
    assert readings.sign("Y9", "X2") == "−"
    assert readings.effect("X5", "rtt_mean_s") is None


def test_what_can_be_told_is_not_read() -> None:
    """Y2 is what the slide on the number of sources transmitting is about: the same six parameters, and no other row."""
    assert [number for number, marks in document.effects().items() if set(marks) == set(document.SIX)] == ["Y2"]
    assert Readings(_effects({}, {})).response("Y2", "X1") == ("sources_transmitting", 1.0)


def test_readings_that_say_different_things_are_disputed() -> None:
    """Without X7 Y3 is a window, whose other effects are right, and without X5 a rate of completions for that reason."""
    turned = {"+": "−", "−": "+"}
    marks = {name: sign for name, (sign, _) in document.effects()["Y3"].items()}
    window, rate = (marks | {name: turned[marks[name]]} for name in ("X7", "X5"))
    readings = Readings(_effects({"cwnd_mean_packets": window, "completion_rate": rate}, {}))
    assert readings.response("Y3", "X7")[0] == "cwnd_mean_packets"
    assert readings.response("Y3", "X5")[0] == "completion_rate"
    assert "cwnd_mean_packets" in readings.disputed("Y3", "X7")
    assert "completion_rate" in readings.disputed("Y3", "X5")
    assert not readings.disputed("Y3", "X1")


def test_the_level_of_a_parameter_is_told_by_the_other_responses() -> None:
    marks = document.effects()
    ours = {"packets_leaving": {name: sign for name, (sign, _) in marks["Y12"].items() if name not in document.UNKNOWN}}
    turned = {"+": "−", "−": "+"}
    same = {"first_pps": "+", "second_pps": "+", "third_pps": "+"}
    for level, long_lived in ((1, same), (-1, {name: turned[sign] for name, sign in same.items()})):
        readings = Readings(_effects(ours, long_lived))
        # Y13 and Y14 have + of X4: what they say here is not asked of themselves.
        assert readings.orientation("X4", "Y12") == level
        assert readings.sign("Y14", "X4") == "+"
    one = Readings(_effects(ours, {}))
    assert (one.orientation("X4", "Y14"), one.sign("Y14", "X4")) == (0, "")
