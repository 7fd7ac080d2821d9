"""Congestion controls written in Python: equal to those of the engine where they do the same; what they hear and set."""

from __future__ import annotations

import math
from pathlib import Path
from typing import ClassVar

import polars as pl
import pytest

import tightlink as tl

KEY = "traffic.ftp.tcp.congestion"
pytestmark = pytest.mark.usefixtures("forgotten_controls")


def test_reno_in_python_is_reno(controlled: tl.Scenario) -> None:
    class PythonReno(tl.CongestionControl):
        def on_ack(self, ack: tl.Ack) -> None:
            if self.cwnd < self.ssthresh:
                self.cwnd += min(ack.acked, 1)
            else:
                self.cwnd += min(ack.acked / self.cwnd, 1)

    for recovery in ("reno", "newreno", "sack"):
        mine, theirs = (
            tl.simulate(controlled.set_all({KEY: name, "traffic.ftp.tcp.recovery": recovery}))
            for name in ("python-reno", "reno")
        )
        assert mine.flows["congestion"].to_list() == ["python-reno"]
        assert mine.flows.drop("congestion").equals(theirs.flows.drop("congestion"))
        assert mine.links.equals(theirs.links)


def test_a_window_that_is_paced_in_python_is_paced_as_the_engine_does(controlled: tl.Scenario) -> None:
    class Spread(tl.CongestionControl):
        def on_ack(self, ack: tl.Ack) -> None:
            self.pacing_rate = None
            self.cwnd += min(ack.acked, 1) if self.cwnd < self.ssthresh else min(ack.acked / self.cwnd, 1)

    mine = tl.simulate(controlled.set(KEY, Spread))
    theirs = tl.simulate(controlled.set_all({"traffic.ftp.tcp.pacing": True}))
    assert mine.flows.drop("congestion").equals(theirs.flows.drop("congestion"))


def test_a_rate_is_kept(controlled: tl.Scenario) -> None:
    class Steady(tl.CongestionControl):
        pacing_rate = 500.0

        def on_ack(self, ack: tl.Ack) -> None:
            self.cwnd += 10 * ack.acked

    flow = tl.simulate(controlled.set(KEY, Steady).set("observe.interval", "1 s"))
    # 500 packets of 1500 B a second are 6 of 10 Mbit/s: nothing waits, but for those that left before an RTT was known.
    assert 500 * (10 - 2 * 0.0412) < flow.flows["packets_sent"].item() < 500 * 10
    assert flow.flows["packets_dropped"].item() == 0
    assert flow.links["queueing_delay_p95_s"][0] < 0.001
    paced = flow.series.filter(pl.col("metric") == "pacing_rate_bps")["value"].drop_nans()
    assert set(paced) == {500 * 1500 * 8.0}


@pytest.mark.parametrize("recovery", ["sack", "rack"])
def test_samples_tell_of_each_delivery_and_the_window_is_theirs_in_recovery(
    controlled: tl.Scenario, recovery: str
) -> None:
    window, samples = 25.0, []

    class Fixed(tl.CongestionControl):
        def on_sample(self, sample: tl.RateSample) -> None:
            samples.append(sample)
            self.cwnd, self.pacing_rate = window, 2000.0

    scenario = controlled.set_all({KEY: Fixed, "traffic.ftp.tcp.recovery": recovery, "link.wire.loss": 0.01})
    run = tl.simulate(scenario)
    assert sum(sample.newly_delivered for sample in samples) == samples[-1].total_delivered
    lost = sum(sample.newly_lost for sample in samples)
    assert lost == pytest.approx(run.flows["packets_retransmitted"].item(), abs=2)
    assert any(sample.recovering for sample in samples)
    # What arrives together passes for faster than the link for as long as a packet takes.
    assert max(sample.rate for sample in samples) < 1.1 * 10e6 / (1500 * 8)
    assert all(sample.in_flight <= window for sample in samples)
    # The window of 25 packets over a round trip of 41.2 ms, whatever is lost.
    rate = run.flows["packets_sent"].item() / 10
    assert rate == pytest.approx(window / 0.0412, rel=0.05)
    short = controlled.set_all({KEY: Fixed, "traffic.ftp.tcp.recovery": "newreno"})
    with pytest.raises(
        tl.ScenarioError, match=r'"newreno": expected "sack" or "rack" with fixed, which samples the rate'
    ):
        tl.simulate(short)


def test_reports_come_once_a_round_trip(controlled: tl.Scenario) -> None:
    told: list[tl.Report] = []
    losses: list[tl.Loss] = []

    class Listening(tl.CongestionControl):
        def on_report(self, report: tl.Report) -> None:
            told.append(report)
            self.ssthresh = min(self.ssthresh, 100.0)

        def on_loss(self, loss: tl.Loss) -> float | None:
            losses.append(loss)
            assert math.isfinite(self.cwnd)
            return super().on_loss(loss)

    run = tl.simulate(controlled.set_all({KEY: Listening, "link.wire.queue": "1000 packets"}))
    # It stays at the threshold, so that nothing is lost.
    assert losses == []
    assert run.flows["packets_dropped"].item() == 0
    times = [report.now_s for report in told]
    assert times == sorted(times)
    assert all(
        report.interval_s == pytest.approx(after - before)
        for before, after, report in zip(times, times[1:], told[1:], strict=False)
    )
    # A round trip holds the window, and takes as long as its packets take on the line.
    steady = told[len(told) // 2]
    assert steady.rtt_s == pytest.approx(100 * 1500 * 8 / 10e6, rel=0.02)
    assert steady.interval_s == pytest.approx(steady.rtt_s, rel=0.05)
    assert steady.delivered == pytest.approx(100, abs=4)
    assert 0.04 < steady.rtt_base_s < 0.045 < steady.rtt_min_s <= steady.rtt_s
    assert sum(report.delivered for report in told) <= run.flows["packets_delivered"].item()


def test_options_are_parameters(controlled: tl.Scenario) -> None:
    made: list[tuple[float, bool]] = []

    class Choosy(tl.CongestionControl):
        def __init__(self, share: float = 0.5, *, often: bool = False) -> None:
            made.append((share, often))

        def on_report(self, report: tl.Report) -> None:
            """Keep the window."""

    tl.simulate(controlled.set(KEY, {"kind": Choosy, "share": 0.25, "often": True}))
    tl.simulate(controlled.set(KEY, "choosy"))
    assert made == [(0.25, True), (0.5, False)]
    with pytest.raises(tl.ScenarioError, match=r'congestion\.shar: unknown key.*did you mean "share"'):
        controlled.set(KEY, {"kind": "choosy", "shar": 1}).resolve()
    with pytest.raises(tl.ScenarioError, match=r"often = 2(.0)?: expected true or false"):
        controlled.set(KEY, {"kind": "choosy", "often": 2}).resolve()


def test_what_a_loss_sets_is_taken_over(controlled: tl.Scenario) -> None:
    """Returned or set, both with a threshold beside the window: whichever way, it is the same run."""
    seen: list[tuple[float, float]] = []

    class Returns(tl.CongestionControl):
        def on_report(self, _report: tl.Report) -> None:
            seen.append((self.cwnd, self.ssthresh))

        def on_loss(self, loss: tl.Loss) -> float | None:
            self.ssthresh = 1000
            return loss.in_use / 4

    class Sets(Returns):
        def on_loss(self, loss: tl.Loss) -> None:
            self.cwnd, self.ssthresh = loss.in_use / 4, 1000

    returned, assigned = (tl.simulate(controlled.set(KEY, each)) for each in (Returns, Sets))
    assert returned.flows.drop("congestion").equals(assigned.flows.drop("congestion"))
    assert {threshold for _, threshold in seen} == {math.inf, 1000}


def test_what_a_timeout_sets_is_taken_over(controlled: tl.Scenario) -> None:
    after: list[tuple[float, float]] = []

    class Bold(tl.CongestionControl):
        asked = False

        def on_ack(self, ack: tl.Ack) -> None:
            if self.asked:
                after.append((self.cwnd, self.ssthresh))
                self.asked = False
            self.cwnd += ack.acked / self.cwnd

        def on_timeout(self, _loss: tl.Loss) -> None:
            self.cwnd, self.ssthresh, self.asked = 5, 40, True

    outage = {"flush": True, "schedule": [{"at": "3 s", "for": "300 ms"}]}
    tl.simulate(controlled.set_all({KEY: Bold, "link.wire.outages": outage}))
    assert after
    assert all(window == (5, 40) for window in after)


def test_a_timeout_is_answered_as_a_loss_however_that_says_it(controlled: tl.Scenario) -> None:
    class Sets(tl.CongestionControl):
        def on_loss(self, loss: tl.Loss) -> None:
            self.cwnd = loss.in_use / 2

    outage = {"flush": True, "schedule": [{"at": "3 s", "for": "300 ms"}]}
    dark = controlled.set("link.wire.outages", outage)

    class Returns(tl.CongestionControl):
        def on_report(self, _report: tl.Report) -> None:
            """Leave the window."""

    mine, theirs = (tl.simulate(dark.set(KEY, each)) for each in (Sets, Returns))
    assert mine.flows["timeouts"].item() > 0
    assert mine.flows.drop("congestion").equals(theirs.flows.drop("congestion"))


def test_a_control_knows_its_connection_when_it_begins(controlled: tl.Scenario) -> None:
    known: list[tuple[object, ...]] = []

    class Knowing(tl.CongestionControl):
        def __init__(self) -> None:
            known.append((self.flow, self.seed, self.payload_bytes, self.cwnd, self.ssthresh))
            self.cwnd, self.ssthresh = 3, 20

        def on_ack(self, ack: tl.Ack) -> None:
            known.append((self.cwnd, self.ssthresh, ack.in_flight))

    tcp = {"congestion": Knowing, "payload": "1000 B", "initial_window": "4 packets", "initial_ssthresh": "30 packets"}
    tl.simulate(controlled.set_all({"traffic.ftp.tcp": tcp, "traffic.ftp.flows": 2, "seed": 7, "duration": "1 s"}))
    assert known[:2] == [("ftp[0]", 7, 1000, 4, 30), ("ftp[1]", 7, 1000, 4, 30)]
    # What it leaves there is what the connection begins with.
    assert known[2] == (3, 20, 3)


def test_growth_by_reports_is_standard_after_losses(controlled: tl.Scenario) -> None:
    """A packet a round trip by reports, and by ACKs: the same rate, as a report after a loss is no round trip early."""

    class Reports(tl.CongestionControl):
        def on_report(self, report: tl.Report) -> None:
            if report.in_use and self.cwnd >= self.ssthresh:
                self.cwnd += 1

    rates = {}
    for name, each in (("reports", Reports), ("reno", "reno")):
        settings = {KEY: each, "traffic.ftp.tcp.recovery": "sack", "link.wire.loss": 0.01, "duration": "60 s"}
        runs = [tl.simulate(controlled.set_all(settings | {"seed": seed})) for seed in (1, 2, 3)]
        rates[name] = sum(run.flows["goodput_bps"].item() for run in runs)
    assert rates["reports"] == pytest.approx(rates["reno"], rel=0.06)


def test_what_a_control_believes_is_sampled(controlled: tl.Scenario, tmp_path: Path) -> None:
    class Told(tl.CongestionControl):
        sampled: ClassVar = ["doubled", "late_s"]
        late_s: float | None = None

        @property
        def doubled(self) -> float:
            return 2 * self.cwnd

        def on_report(self, report: tl.Report) -> None:
            self.late_s = report.rtt_s - report.rtt_base_s if report.now_s > 5 else None

    scenario = controlled.set_all({KEY: Told, "traffic.ftp.flows": 2, "observe": {"interval": "1 s"}})
    run = tl.simulate(scenario)
    wide = run.series.filter(entity="ftp[1]").pivot("metric", index="time_s", values="value")
    # The window that the control was shown last, of which the engine's may have grown since.
    assert (wide["doubled"] <= 2 * wide["cwnd_packets"]).all()
    assert wide.filter(pl.col("late_s").is_not_null())["time_s"].min() == 6.0
    assert run.series.filter(metric="doubled")["entity"].unique().sort().to_list() == ["ftp[0]", "ftp[1]"]
    assert tl.simulate(scenario.set("observe", None)).flows.equals(run.flows)
    run.save(tmp_path / "run")
    assert tl.open_run(tmp_path / "run").series.equals(run.series)
    assert '"doubled"' in run.report(tmp_path / "run.html").read_text(encoding="utf-8")

    class Wrong(Told):
        sampled: ClassVar = ["name"]

    with pytest.raises(
        tl.TightlinkError, match=r"the sample of name of ftp\[0\]: ValueError: it is 'wrong': expected a number"
    ):
        tl.simulate(scenario.set(KEY, Wrong))
    for names, said in (
        ("cwnd", "a tuple of names"),
        (("rtt_s",), "a metric of that name"),
        (("a b",), "an attribute"),
    ):
        with pytest.raises(TypeError, match=said):
            type("Misnamed", (Told,), {"sampled": names})


@pytest.mark.parametrize(
    ("congestion", "metrics"),
    [
        ("bbr", ["bandwidth_bps", "rtt_base_s"]),
        ("bbr3", ["bandwidth_bps", "rtt_base_s"]),
        ("cubic", ["plateau_packets"]),
        ("reno", []),
    ],
)
def test_what_controls_of_the_engine_believe_is_sampled_with_their_phases(
    controlled: tl.Scenario, congestion: str, metrics: list[str]
) -> None:
    changes = {KEY: congestion, "observe": {"interval": "1 s", "transport": True}, "profile": "linux"}
    series = tl.simulate(controlled.set_all(changes)).series
    believed = {"bandwidth_bps", "rtt_base_s", "plateau_packets", "marked_share"}
    assert sorted(believed & {*series["metric"]}) == metrics
    last = {row["metric"]: row["value"] for row in series.filter(time_s=9.0).to_dicts()}
    if "bandwidth_bps" in metrics:
        # The link's rate; the handshake's round trip, of two packets of 52 B, is that of an empty path.
        assert last["bandwidth_bps"] == pytest.approx(10e6, rel=0.02)
        assert last["rtt_base_s"] == pytest.approx(0.04 + 2 * 52 * 8 / 10e6)


def test_a_control_hears_that_a_reduction_is_undone(controlled: tl.Scenario) -> None:
    heard: list[tuple[float, float]] = []

    class Undone(tl.CongestionControl):
        def on_report(self, report: tl.Report) -> None:
            self.cwnd += report.in_use

        def on_loss(self, loss: tl.Loss) -> float:
            self.before = self.cwnd
            return loss.in_use / 2

        def on_undo(self) -> None:
            heard.append((self.cwnd, self.before))

    # Packets that others overtake by far more than RACK allows at first, and none that is lost.
    late = {"probability": "0.2 %", "delay": "30 ms"}
    wire = {"link.wire.queue": "10000 packets", "link.wire.reorder": late}
    run = tl.simulate(controlled.set_all({KEY: Undone, "profile": "linux", "duration": "5 s", **wire}))
    assert run.links["packets_dropped"].sum() == 0
    assert heard
    assert all(cwnd >= before for cwnd, before in heard)
    with pytest.raises(TypeError, match="did you mean on_undo"):
        type("Misnamed", (tl.CongestionControl,), {"on_undone": lambda _: None})


def test_handshakes_and_acks_in_recovery_are_told(controlled: tl.Scenario) -> None:
    """Each ACK of new data is one of both kinds; the first packet that is lost is covered by one in recovery or at its end."""
    heard: dict[str, list[tl.Ack]] = {"open": [], "recovery": []}
    begun: list[tl.Handshake] = []

    class Counting(tl.CongestionControl):
        def on_handshake(self, handshake: tl.Handshake) -> None:
            begun.append(handshake)
            self.cwnd = 4

        def on_ack(self, ack: tl.Ack) -> None:
            heard["open"].append(ack)
            self.cwnd += min(ack.acked / self.cwnd, 1)

        def on_recovery_ack(self, ack: tl.Ack) -> None:
            assert not ack.in_use
            heard["recovery"].append(ack)

    losing = controlled.set_all({KEY: Counting, "link.wire.loss": {"packets": [200, 201, 203, 300]}})
    run = tl.simulate(losing.set("observe.interval", "20 ms"))
    assert [handshake.rtt_s for handshake in begun] == pytest.approx([0.04], rel=0.01)
    assert run.series.filter(metric="cwnd_packets")["value"].drop_nans()[2] == pytest.approx(4, abs=1)
    assert len(heard["recovery"]) > 1
    through = [ack.through for ack in heard["open"] + heard["recovery"]]
    assert len(set(through)) == len(through)
    assert all(ack.through <= ack.highest for each in heard.values() for ack in each)


def test_slow_start_is_of_a_class_that_hears_of_acks(controlled: tl.Scenario) -> None:
    """Under profile linux, whose ACKs are of two packets, the window doubles, and no HyStart ends that."""

    class Doubling(tl.CongestionControl):
        def on_ack(self, ack: tl.Ack) -> None:
            self.cwnd += ack.acked

    roomy = {
        "profile": "linux",
        "link.wire.queue": "10000 packets",
        "duration": "1 s",
        "observe": {"interval": "10 ms"},
    }
    windows = [
        tl.simulate(controlled.set_all({**roomy, KEY: name})).series.filter(metric="cwnd_packets")["value"].drop_nans()
        for name in (Doubling, "reno")
    ]
    assert windows[0].equals(windows[1])
    with pytest.raises(tl.ScenarioError, match=r"slow_start = .hystart.: expected nothing here, as doubling does not"):
        controlled.set_all({KEY: Doubling, "traffic.ftp.tcp.slow_start": "hystart"}).resolve()
