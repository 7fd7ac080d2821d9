"""Studies with a part that is measured."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import tightlink as tl
from tightlink import cli
from tightlink.experiment.claims import holds_if
from tightlink.experiment.execute import Task
from tightlink.measure import measuring
from tightlink.measure.machine import missing
from tightlink.measure.relay import SpoiledError
from tightlink.run import Framed, Run
from tightlink.studies.live import Live, LiveFindings, measure_all
from tightlink.studies.one_flow import live
from tightlink.studies.study import Findings, Study, run_study

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

needs_hosts = pytest.mark.skipif(bool(missing("tun")), reason=str(missing("tun")))

SHORT = """
profile = "linux"
duration = "0.5 s"
link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "20 packets" }
traffic.voice = { kind = "cbr", from = "a", to = "b", rate = "1 Mbit/s", udp.datagram = "1000 B" }
"""


def _like_measured(simulated: Run, **changes: Any) -> Run:
    """A simulated run that says that it was measured."""
    manifest = {
        "source": "measurement",
        "identity": "x",
        "scenario": simulated.scenario.explicit().written(),
        "relay": {"lateness": {"p99_s": 1e-4}},
        "host": {"kernel": "Linux 6"},
        **changes,
    }
    return Run(simulated.scenario, manifest, Framed({name: simulated.table(name) for name in simulated.tables}))


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Measurements that were asked for; they are simulated."""
    asked: list[str] = []

    def measure(scenario: tl.Scenario, **_: Any) -> Run:
        asked.append(scenario.duration)
        return _like_measured(tl.simulate(scenario, trace=True))

    monkeypatch.setattr(measuring, "measure", measure)
    return asked


def _study(tasks: Callable[[], list[Task]]) -> Study:
    def findings(_: Mapping[str, Run]) -> Findings:
        return Findings("A study", "", [], [], lambda _: [])

    def measured(found: Mapping[str, Run], runs: Mapping[str, Run]) -> LiveFindings:
        packets = {
            name: (run.flows["packets_sent"][0], runs[name].flows["packets_sent"][0]) for name, run in found.items()
        }
        return LiveFindings([holds_if("same", "Both send as much", "here", str(packets), holds=True)], [])

    return Study("tiny", "", tasks, findings, live=Live(lambda: [Task("live/voice", tl.loads(SHORT))], measured))


def test_what_is_measured_is_beside_what_is_simulated(tmp_path: Path, calls: list[str]) -> None:
    study = _study(lambda: [Task("voice", tl.loads(SHORT))])
    assert run_study(study, tmp_path / "out", 1, lambda _: None, live=True) == 0
    assert calls == ["0.5 s"]
    claims = json.loads((tmp_path / "out" / "claims.json").read_text())
    assert claims[0]["observed"] == "{'live/voice': (63, 63)}"
    assert "tightlink study tiny --live" in (tmp_path / "out" / "report.html").read_text()
    # What is there is not measured again.
    assert run_study(study, tmp_path / "out", 1, lambda _: None, live=True) == 0
    assert calls == ["0.5 s"]


def test_without_live_nothing_is_measured(tmp_path: Path, calls: list[str]) -> None:
    assert run_study(_study(lambda: [Task("voice", tl.loads(SHORT))]), tmp_path / "out", 1, lambda _: None) == 0
    assert calls == []
    assert not (tmp_path / "out" / "live").exists()


def test_another_measurement_is_not_taken_for_it(tmp_path: Path, calls: list[str]) -> None:
    task = Task("live/voice", tl.loads(SHORT))
    measure_all([task], tmp_path, lambda _: None)
    other = Task("live/voice", tl.loads(SHORT).set("duration", "0.25 s"))
    with pytest.raises(tl.TightlinkError, match="there is another measurement; choose another folder"):
        measure_all([other], tmp_path, lambda _: None)
    assert calls == ["0.5 s"]


def test_studies_without_a_live_part_say_so(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["study", "link-saturation", "--live", "-o", str(tmp_path / "out")]) == 2
    says = '--live = "link-saturation": expected nothing here: nothing of this study is measured'
    assert capfd.readouterr().err == f"tightlink: {says}\n"
    assert not (tmp_path / "out").exists()


def test_a_busy_machine_fails_a_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def spoiled(*_: Any, **__: Any) -> int:
        raise SpoiledError("lateness: too much")

    monkeypatch.setattr("tightlink.studies.run", spoiled)
    assert cli.main(["study", "one-flow", "--live", "-o", str(tmp_path / "out")]) == 1
    says = "lateness: too much; what is finished is kept, and the same command goes on from there"
    assert capfd.readouterr().err == f"tightlink: {says}\n"


def test_one_flow_measured() -> None:
    """With simulated runs in the place of measured ones every claim about the two holds, and so do the document's."""
    runs = {task.name: tl.simulate(task.scenario, trace=True) for task in live.tasks()}
    found = live.findings({name: _like_measured(run) for name, run in runs.items()}, runs)
    assert len({claim.id for claim in found.claims}) == len(found.claims) == 6 * 3 + 3 + 7 * 2
    assert [claim.id for claim in found.claims if not claim.holds] == []
    table = found.tables["live"]
    assert table["sent_measured"].to_list() == table["sent_simulated"].to_list()
    assert table.row(0, named=True)["sent_document"] == 2385


def test_packets_of_the_live_cases_are_those_of_the_document() -> None:
    for case in live.CASES:
        (flow,) = live.scenario(case).resolve()["flows"]
        tcp = flow["transport"]["tcp"]
        assert tcp["payload_bytes"] + tcp["header_bytes"] == case.packet_bytes
        assert tcp["delayed_ack_s"] is None


@needs_hosts
def test_measured_for_real(tmp_path: Path) -> None:
    try:
        found = measure_all([Task("live/voice", tl.loads(SHORT))], tmp_path, lambda _: None)
    except SpoiledError as error:
        pytest.skip(str(error))
    assert found["live/voice"].flows["packets_sent"][0] == pytest.approx(63, abs=2)
    assert (tmp_path / "live" / "voice" / "manifest.json").exists()
