"""Congestion controls in C, as Linux's kernel has them: equal to the engine's where they do the same, and mistakes told."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import tightlink as tl
from tightlink import control

KEY = "traffic.ftp.tcp.congestion"
pytestmark = [
    pytest.mark.usefixtures("forgotten_controls"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="cc is not installed (Debian: apt install gcc libc6-dev)"),
]

#: Standard TCP, by what the kernel gives to modules.
RENO = """
#include <net/tcp.h>
static int thousandths = 500;
module_param(thousandths, int, 0644);
static u8 small = 7;
module_param_named(other, small, byte, 0644);
static u32 losses(struct sock *sk) { return max(tcp_snd_cwnd(tcp_sk(sk)) * thousandths / 1000, 2U); }
static struct tcp_congestion_ops ops = {
    .name = "Plain_1", .ssthresh = losses, .cong_avoid = tcp_reno_cong_avoid, .undo_cwnd = tcp_reno_undo_cwnd, MORE
};
static int __init begin(void) { return tcp_register_congestion_control(&ops); }
module_init(begin);
"""
#: Sends by a rate of 500 packets of 1448 B a second, and a window that never limits it.
STEADY = RENO.replace(
    "static struct",
    """
static void steady(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
    if (rs->rtt_us > 0 && tcp_min_rtt(tcp_sk(sk)) != ~0U)
        tcp_snd_cwnd_set(tcp_sk(sk), 100);
    sk->sk_pacing_rate = 500 * tcp_sk(sk)->mss_cache;
}
static struct""",
    1,
).replace("MORE", ".cong_control = steady")


@pytest.fixture
def scenario(controlled: tl.Scenario) -> tl.Scenario:
    """Over a link that loses, as hosts of Linux do."""
    return controlled.set_all({"profile": "linux", "link.wire.loss": "0.2 %"})


def _load(folder: Path, text: str, name: str = "tcp_plain.c") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    [found] = control.load(folder / name)
    return found


def _same(one: tl.Run, other: tl.Run) -> bool:
    return one.flows.drop("congestion").equals(other.flows.drop("congestion")) and one.links.equals(other.links)


def test_standard_tcp_of_the_kernel_is_the_engines(scenario: tl.Scenario, tmp_path: Path) -> None:
    name = _load(tmp_path, RENO.replace("MORE", ""))
    assert name == "linux-plain-1"
    mine, theirs = (tl.simulate(scenario.set(KEY, each)) for each in (name, "reno"))
    assert theirs.flows["packets_retransmitted"].item() > 5
    assert _same(mine, theirs)


def test_parameters_are_options_of_each_flow(scenario: tl.Scenario, tmp_path: Path) -> None:
    name = _load(tmp_path, RENO.replace("MORE", ""))
    found = control.find(name)
    assert found is not None
    assert found.options() == {"thousandths": 500, "other": 7}
    gentle = tl.simulate(scenario.set(KEY, {"kind": name, "thousandths": 875}))
    plain = tl.simulate(scenario.set(KEY, {"kind": name, "thousandths": 500}))
    assert gentle.flows["goodput_bps"].item() > plain.flows["goodput_bps"].item()
    assert _same(plain, tl.simulate(scenario.set(KEY, "reno")))
    with pytest.raises(tl.ScenarioError, match=r"congestion\.thousands: unknown key; .*mean .thousandths"):
        tl.simulate(scenario.set(KEY, {"kind": name, "thousands": 1}))
    with pytest.raises(tl.ScenarioError, match=r"congestion\.thousandths = 0\.5: expected a whole number, such as 500"):
        tl.simulate(scenario.set(KEY, {"kind": name, "thousandths": 0.5}))
    with pytest.raises(
        tl.TightlinkError, match=r"__init__ of ftp: TightlinkError: other = 256: expected a whole number of 1"
    ):
        tl.simulate(scenario.set(KEY, {"kind": name, "other": 256}))


def test_a_module_that_needs_marks_gets_them(scenario: tl.Scenario, tmp_path: Path) -> None:
    name = _load(tmp_path, RENO.replace("MORE", ".flags = TCP_CONG_NEEDS_ECN"))
    queue = {"link.wire.queue": {"kind": "codel", "ecn": True}, "link.wire.loss": 0}
    flow = tl.simulate(scenario.set_all({**queue, KEY: name})).flows
    assert flow["packets_marked"].item() > 0
    assert flow["packets_dropped"].item() == 0


def test_a_module_by_rate_is_paced(scenario: tl.Scenario, tmp_path: Path) -> None:
    name = _load(tmp_path, STEADY)
    flow = tl.simulate(scenario.set_all({KEY: name, "link.wire.loss": 0})).flows
    # But for the first round trips, of which nothing is known.
    assert 500 * 9.8 < flow["packets_sent"].item() < 500 * 10 + 20
    assert flow["packets_dropped"].item() == 0


def test_states_come_in_the_order_of_the_kernel(scenario: tl.Scenario, tmp_path: Path) -> None:
    """A loss: threshold, state Recovery; when it is mended: the event, state Open. Else the window becomes 2 for good."""
    checks = """
struct seen { u32 thresholds, recoveries, completed, opened, wrong; };
static u32 count_losses(struct sock *sk)
{
    struct seen *seen = inet_csk_ca(sk);
    seen->thresholds++;
    return max(tcp_snd_cwnd(tcp_sk(sk)) / 2, 2U);
}
static void state(struct sock *sk, u8 new_state)
{
    struct seen *seen = inet_csk_ca(sk);
    if (new_state == TCP_CA_Open)
        seen->wrong += ++seen->opened != seen->completed || inet_csk(sk)->icsk_ca_state != TCP_CA_Recovery;
    else
        seen->wrong += new_state != TCP_CA_Recovery || ++seen->recoveries != seen->thresholds;
}
static void event(struct sock *sk, enum tcp_ca_event what)
{
    struct seen *seen = inet_csk_ca(sk);
    seen->wrong += what != CA_EVENT_COMPLETE_CWR || ++seen->completed != seen->recoveries;
}
static void grow(struct sock *sk, u32 ack, u32 acked)
{
    struct seen *seen = inet_csk_ca(sk);
    if (seen->wrong || inet_csk(sk)->icsk_ca_state != TCP_CA_Open)
        tcp_snd_cwnd_set(tcp_sk(sk), 2);
    else
        tcp_reno_cong_avoid(sk, ack, acked);
}
static struct"""
    text = RENO.replace("static struct", checks, 1).replace("= losses", "= count_losses")
    text = text.replace("= tcp_reno_cong_avoid", "= grow").replace("MORE", ".set_state = state, .cwnd_event = event")
    pattern = scenario.set("link.wire.loss", {"packets": [100, 900, 1700]})
    mine, theirs = (tl.simulate(pattern.set(KEY, each)) for each in (_load(tmp_path, text), "reno"))
    assert theirs.flows["timeouts"].item() == 0
    assert _same(mine, theirs)


def test_what_another_module_declares_is_taken_from_beside_it(scenario: tl.Scenario, tmp_path: Path) -> None:
    (tmp_path / "tcp_half.h").write_text("u32 half(struct sock *sk);\n", encoding="utf-8")
    half = (
        "#include <net/tcp.h>\nu32 half(struct sock *sk) { return tcp_reno_ssthresh(sk); }\nEXPORT_SYMBOL_GPL(half);\n"
    )
    (tmp_path / "tcp_half.c").write_text(half, encoding="utf-8")
    text = '#include "tcp_half.h"\n' + RENO.replace("= losses", "= half").replace("MORE", "")
    assert _same(*(tl.simulate(scenario.set(KEY, each)) for each in (_load(tmp_path, text), "reno")))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "int x = ;\n",
            r"tcp_x\.c, line 1: expected expression before ';' token: expected a congestion control of Linux",
        ),
        (
            "#include <net/tcp.h>\nint f(void) { return tcp_new_thing(); }\n",
            r"tcp_x\.c, line 2: .*tcp_new_thing.*: expected",
        ),
        ("extern int y;\nint *x = &y;\n", r"tcp_x\.c: y is not declared: expected a congestion control"),
        ("int x;\n", r"tcp_x\.c: registers no congestion control: expected a module of Linux"),
        ("static int f(void) { return -1; }\nmodule_init(f);\n", r"registers no congestion control"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(tl.TightlinkError, match=said):
        _load(tmp_path, text, "tcp_x.c")


def test_a_module_that_is_not_given_is_told_of(scenario: tl.Scenario) -> None:
    with pytest.raises(tl.ScenarioError, match=r"a module of Linux needs its source: .* --controls tcp_cubic\.c$"):
        scenario.set(KEY, "linux-cubic").resolve()


def test_what_is_missing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(tl.TightlinkError, match=r"none\.c: expected a file of C with a congestion control of Linux"):
        control.load(tmp_path / "none.c")
    monkeypatch.setitem(os.environ, "PATH", str(tmp_path))
    with pytest.raises(tl.TightlinkError, match=r"tcp_plain\.c: cc, a C compiler, is not installed \(Debian"):
        _load(tmp_path, RENO.replace("MORE", ""))
