"""Keys that do nothing in a scenario: errors where nobody could mean them, warnings of the run where a sweep may."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

import tightlink as tl
from tightlink import cli, console
from tightlink.lazy import _core
from tightlink.scenario.congestion import has_slow_start
from tightlink.scenario.idle import idle

BASE: Final = """
duration = "1 s"
link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms", queue = "40 packets" }
traffic.ftp = { kind = "bulk", from = "a", to = "b" }
traffic.call = { kind = "cbr", from = "a", to = "b", interval = "20 ms" }
"""
QUEUE, BLEACH, DSCP, ECN = "link.wire.queue", "link.wire.ecn", "traffic.call.dscp", "traffic.call.udp.ecn"
NOISE: Final = {"kind": "ornstein-uhlenbeck", "mean": "5 Mbit/s", "deviation": "9 Mbit/s", "least": "1 Mbit/s"}
THRESHOLD: Final = {"kind": "threshold", "limit": "40 packets", "mark": "10 packets"}


def _warnings(**changes: Any) -> list[str]:
    return idle(tl.loads(BASE).set_all(changes).resolve())


@pytest.mark.parametrize(
    ("changes", "warning", "with_effect"),
    [
        (
            {DSCP: "EF"},
            "dscp of call does nothing, as no queue tells classes apart; those of kind strict, drr and cake do",
            {QUEUE: {"kind": "strict", "limit": "40 packets", "order": ["EF"]}},
        ),
        (
            {QUEUE: {"kind": "drr", "limit": "40 packets"}},
            "the queue of wire has one class, as no traffic has another dscp; fq-codel tells flows apart",
            {DSCP: "EF"},
        ),
        ({ECN: "ect1"}, "udp.ecn of call does nothing, as no queue makes congestion marks; ", {QUEUE: THRESHOLD}),
        ({BLEACH: "bleach"}, 'ecn = "bleach" of wire does nothing, as no traffic can be marked; ', {ECN: "ect1", QUEUE: THRESHOLD}),
        ({QUEUE: THRESHOLD}, "queues of wire make congestion marks, and no traffic can be marked; ", {ECN: "ect0"}),
        ({QUEUE: {"kind": "codel", "ecn": True}}, "queues of wire make congestion marks, ", {"traffic.ftp.tcp.ecn": True}),
        (
            {QUEUE: {"kind": "cake", "rate": "10 Mbit/s"}},
            "the shaper of CAKE at wire shapes nothing, as its rate is not below that of the link",
            {QUEUE: {"kind": "cake", "rate": "9 Mbit/s"}},
        ),
        (
            {"link.wire.rate": NOISE},
            "the rate of wire is 6.94 Mbit/s in the mean, not 5 Mbit/s, as rate.least cuts what would be below it",
            {"link.wire.rate": {**NOISE, "deviation": "2 Mbit/s"}},
        ),
        (
            {"traffic.ftp.tcp.window": "800000 packets"},
            "the window of ftp is larger than any that TCP can advertise, 1 GiB (RFC 7323 §2.3)",
            {"traffic.ftp.tcp.window": "1 GiB"},
        ),
    ],
)  # fmt: skip
def test_what_does_nothing_is_said(changes: dict[str, Any], warning: str, with_effect: dict[str, Any]) -> None:
    assert _warnings(**changes)[0].startswith(warning)
    assert _warnings(**{**changes, **with_effect}) == []


def test_what_a_queue_does_by_default_is_nothing_to_warn_of() -> None:
    assert _warnings(**{QUEUE: {"kind": "fq-codel"}}) == _warnings(**{QUEUE: {"kind": "cake"}}) == _warnings() == []


def test_a_run_has_the_warning() -> None:
    scenario = tl.loads(BASE).set(DSCP, "EF")
    run = tl.simulate(scenario)
    assert run.warnings == idle(scenario.resolve())
    assert run.manifest["digest"] == tl.simulate(tl.loads(BASE)).manifest["digest"]


@pytest.mark.parametrize(
    ("own", "warns"),
    [
        ({"rate": "80 Mbit/s", "delay": "2 ms"}, True),
        ({"rate": "80 Mbit/s"}, False),
        ({"queue": "50 packets"}, False),
        # Its uplink is left.
        ({"network": "dsl", "rate": "80 Mbit/s", "delay": "2 ms"}, False),
        ({"network": "dsl", "rate": "80 Mbit/s", "delay": "2 ms", "reverse": {"rate": "2 Mbit/s"}}, True),
    ],
)
def test_a_network_of_which_a_link_leaves_nothing_is_said(own: dict[str, Any], warns: bool) -> None:  # noqa: FBT001
    """``--set link.NAME.network=wifi`` on a link that has a rate and a delay changes no result."""
    air = {"ends": ["a", "b"], "network": "wifi"} | own
    call = {"kind": "cbr", "from": "a", "to": "b", "interval": "20 ms"}
    run = tl.simulate(tl.Scenario.from_dict({"duration": "1 s", "link": {"air": air}, "traffic": {"call": call}}))
    said = f'network = "{air["network"]}" of air does nothing but for the queue, as rate and delay'
    assert [text.startswith(said) for text in run.warnings] == [True] * warns


def test_who_checks_a_scenario_hears_of_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "base.toml"
    file.write_text(BASE)
    assert cli.main(["validate", str(file), "--set", f"{DSCP}=EF"]) == 0
    assert f"warning: {file}: dscp of call does nothing" in capsys.readouterr().err
    assert cli.main(["run", str(file), "--set", f"{DSCP}=EF"]) == console.CAUTION


@pytest.mark.parametrize("control", ["bbr", "bbr3", "ledbat", "vivace"])
def test_controls_without_slow_start(control: str) -> None:
    assert not has_slow_start(control)
    key, kind = (
        "traffic.ftp.tcp.slow_start",
        {"traffic.ftp.tcp.congestion": control, "traffic.ftp.tcp.recovery": "rack"},
    )
    with pytest.raises(tl.ScenarioError, match=f"expected nothing here, as {control} does not begin with slow start"):
        tl.loads(BASE).set_all({**kind, key: "hystart"}).resolve()
    # Rapid start paces, and the profile's own is what is there anyway.
    scenario = tl.loads(BASE).set_all(kind)
    for start in ("rapid", "standard"):
        scenario.set(key, start).resolve()
    assert _digest(scenario, "hystart") == _digest(scenario, "standard")
    assert scenario.explicit().resolve() == scenario.resolve()


def test_controls_with_slow_start() -> None:
    scenario = tl.loads(BASE).set("traffic.ftp.tcp.congestion", "cubic")
    assert _digest(scenario, "hystart") != _digest(scenario, "standard")


def _digest(scenario: tl.Scenario, slow_start: str) -> str:
    """Of the tables that the engine makes with a slow start, whether or not a scenario may say so."""
    tables = scenario.resolve()
    tables["flows"][0]["transport"]["tcp"]["slow_start"] = slow_start
    return str(json.loads(_core.simulate(json.dumps(tables)).manifest())["digest"])


def test_a_timer_that_begins_below_its_least() -> None:
    scenario = tl.loads(BASE)
    with pytest.raises(tl.ScenarioError, match=r"expected at least rto\.min, which is 1 s"):
        scenario.set("traffic.ftp.tcp.rto.initial", "0.1 s").resolve()
    # The profile's own gives way.
    above = scenario.set("traffic.ftp.tcp.rto.min", "2 s")
    assert above.explicit().resolve() == above.resolve()
