"""Queues, evaluated: their tests, what these show, and names with options."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import tightlink as tl
from evaluations import SEEDS
from tightlink.cli import main
from tightlink.studies.evaluation.setup import aqm, chosen, competing, queued, trials
from tightlink.studies.evaluation.setup.path import BACKGROUND
from tightlink.studies.evaluation.setup.subjects import subject, subjects

pytestmark = pytest.mark.usefixtures("small_pack")


def test_queues_are_set_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """RFC 7928: turns of flows keep a call from a long flow's queue, and a stream from others' shares."""
    out = tmp_path / "out"
    queues = ["--queues", "drop-tail, fq-codel:target=4 ms"]
    arguments = ["study", "evaluation", *queues, "--tests", "bursts", "-o", str(out), "-j", "2"]
    assert main(arguments) == 0
    assert capsys.readouterr().out.splitlines()[0].split() == ["measure", "drop-tail", "fq-codel:target=4", "ms"]
    assert main([*arguments, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["queues"]["fq-codel:target=4 ms"] == {"kind": "fq-codel", "target": "4 ms"}
    delays = {
        row["queue"]: row["value"] - queued.PATH.rtt_ms / 2e3
        for row in printed["summary"]
        if row["measure"] == "voice_delay_p95_s"
    }
    # A call waits for a packet in service, at most.
    assert delays["fq-codel:target=4 ms"] < 2 * queued.PATH.packet_s + 0.0005 < 0.02 < delays["drop-tail"]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Queues, evaluated" in page
    found = tl.evaluate(["fq-codel", {"kind": "drop-tail"}], queues=True, tests=["unresponsive"], jobs=2)
    kept = {
        label: found.values[f"{label}.unresponsive.{queued.PATH.label}.goodput_bps"] or 0
        for label in ("fq-codel", "drop-tail")
    }
    # Four of five shares, less headers and random traffic; and what a stream of more than half of the link leaves.
    assert kept["fq-codel"] > 0.7 * queued.PATH.rate_bps > 0.5 * queued.PATH.rate_bps > kept["drop-tail"]


def test_a_queue_that_is_to_mark_has_senders_that_say_ect() -> None:
    """RFC 7928, 4.5: `ecn = true` of a queue had no effect, as no sender understood marks."""
    found = tl.evaluate(["pie", "pie:ecn=true"], queues=True, tests=["tcp-friendly"], jobs=2).values
    drops, marks = (found[f"{label}.tcp-friendly.{queued.PATH.label}.loss"] or 0 for label in ("pie", "pie:ecn=true"))
    assert marks < drops / 2


def test_every_test_of_queues_has_numbers_of_every_queue() -> None:
    kinds = competing.kinds()
    assert {"drop-tail", "cake", "dualpi2", "fq-pie", "cobalt"} <= set(kinds)
    planned = trials(subjects(["cake"], "queue"), chosen("queue"))
    assert {trial.test.name for trial in planned} == set(aqm.TESTS)
    for trial in planned[:: len(SEEDS)]:
        measured = trial.test.made.measure(trial.value, *(tl.simulate(task.scenario) for task in trial.tasks()))
        assert all(measured[headline.measure] is not None for headline in trial.test.headlines), trial.test.name


def test_queues_differ_where_the_load_does() -> None:
    """RFC 7928, 4.5, 5.3, 8.2.6, 9.2 and 10: what each section is about is what its test shows."""
    names = ["ecn", "overload", "varying-capacity", "two-way", "two-bottlenecks"]
    found = tl.evaluate(["drop-tail", "codel", "pie", "fq-codel"], queues=True, tests=names, jobs=2).values
    here = queued.PATH.label

    def of(queue: str, test: str, measure: str, setting: str = here) -> float:
        value = found[f"{queue}.{test}.{setting}.{measure}"]
        assert value is not None
        return value

    # Marks replace drops; a queue without them marks nothing.
    assert of("drop-tail", "ecn", "marked") == 0 < of("codel", "ecn", "marked")
    assert of("codel", "ecn", "loss") < of("drop-tail", "ecn", "loss")
    # What is too much is lost by all; CoDel is slow to find how much (RFC 8289 is for senders that answer), PIE is not.
    for queue in ("drop-tail", "codel", "pie"):
        lost = 1 - 1 / (aqm.FLOOD + BACKGROUND)
        assert of(queue, "overload", "stream_loss") == pytest.approx(lost, abs=0.02)
    assert of("pie", "overload", "queueing_p95_s") < 0.5 * of("codel", "overload", "queueing_p95_s")
    # As many packets are ten times as long in time where the rate is a tenth; what looks at time notices.
    stays, codel, pie = (
        of(name, "varying-capacity", "queueing_peak_s", "every 20 s") for name in ("drop-tail", "codel", "pie")
    )
    assert stays > 1.5 * max(codel, pie)
    # Flows over two bottlenecks have two queues and the losses of both, but where flows take turns.
    through = {name: of(name, "two-bottlenecks", "through_over_one") for name in ("drop-tail", "fq-codel")}
    assert through["drop-tail"] < 0.6 < through["fq-codel"]
    # Data and ACKs share a queue: without turns of flows that costs throughput.
    assert of("codel", "two-way", "utilization") < of("fq-codel", "two-way", "utilization")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("threshold", 'queues: threshold:mark: this key is needed, such as mark = "20 packets"'),
        ("codel:targt=2 ms", "queues: codel:targt: unknown key"),
        ("foo", 'queues = "foo": expected one of drop-tail'),
    ],
)
def test_wrong_options_of_queues_are_named_as_they_are_listed(given: str, said: str) -> None:
    with pytest.raises(tl.ScenarioError, match=f"^{re.escape(said)}"):
        subject(given, "queue")
