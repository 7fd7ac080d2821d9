"""iperf3 as a program: what it says wrongly, that it hangs, and that it ends with us."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from processes import lives
from tightlink.errors import TightlinkError
from tightlink.measure import iperf3
from waiting import soon

HERE = "127.0.0.1"


def fake_iperf3(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "iperf3"
    program.write_text(f"#!{sys.executable}\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


def test_the_traps_of_iperf3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_iperf3(tmp_path, "import time; time.sleep(60)", monkeypatch)
    monkeypatch.setattr(iperf3, "_PATIENCE_S", 0.2)
    with pytest.raises(TightlinkError, match=r"no end after 1.2 s: the server hangs"):
        iperf3.transfer(HERE, seconds=1)
    monkeypatch.setattr(iperf3, "_PATIENCE_S", 20)
    # An error with exit code 0 and a warning on standard error; then words that are no JSON; then another JSON.
    for script, expected in (
        (
            "import sys; print('warning: x', file=sys.stderr); print('{\"error\": \"the server is busy\"}')",
            "iperf3: the server is busy",
        ),
        ("import sys; print('iperf3: unknown option', file=sys.stderr); sys.exit(1)", "iperf3: unknown option"),
        ("print('{\"start\": 1}')", "an answer of iperf3 that cannot be understood"),
        ("print('[]')", "an answer of iperf3 that cannot be understood"),
    ):
        fake_iperf3(tmp_path, script, monkeypatch)
        for test in (iperf3.transfer, lambda host: iperf3.datagrams(host, payload_bytes=100, rate_bps=1e6)):
            with pytest.raises(iperf3.Iperf3Error, match=expected):
                test(HERE)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(TightlinkError, match="iperf3 is not installed here: install it"):
        iperf3.transfer(HERE)


DONE = {
    "start": {"version": "iperf 3.12"},
    "end": {"sum": {"packets": 9, "lost_packets": 2, "seconds": 1, "jitter_ms": 0}},
}
BETWEEN = [
    "error - the server is busy running a test. try again later",
    "error - unable to receive control message: Connection reset by peer",
    "error - unable to connect to server: Connection refused",
]


def answering(*answers: object) -> str:
    """A script that gives one answer after the other, and then the last of them."""
    return f"""
import json
from pathlib import Path
asked = Path(__file__).with_name("asked")
number = len(asked.read_text()) if asked.exists() else 0
asked.write_text("." * (number + 1))
print(json.dumps({list(answers)!r}[min(number, {len(answers) - 1})]))
"""


def test_a_server_between_two_tests_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has the last one for a moment, then leaves whoever waits for it, and then listens nowhere."""
    errors = [{"error": text} for text in BETWEEN]
    fake_iperf3(tmp_path, answering(errors[0], DONE, *errors, DONE), monkeypatch)
    monkeypatch.setattr(iperf3, "_answered", set())
    monkeypatch.setattr(iperf3, "_BETWEEN_S", 60)
    for asked in (2, 6):
        assert iperf3.datagrams(HERE, payload_bytes=100, rate_bps=1e6).received == 7
        assert (tmp_path / "asked").read_text() == asked * "."


@pytest.mark.parametrize("error", BETWEEN)
def test_a_server_that_stays_busy_or_never_was_there_is_said(
    error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_iperf3(tmp_path, answering({"error": error}), monkeypatch)
    monkeypatch.setattr(iperf3, "_answered", set())
    monkeypatch.setattr(iperf3, "_BETWEEN_S", 60 if "refused" in error else 0)
    with pytest.raises(iperf3.Iperf3Error, match=f"^iperf3: {error.removeprefix('error - ')}$"):
        iperf3.datagrams(HERE, payload_bytes=100, rate_bps=1e6)


def test_iperf3_ends_with_us_even_if_we_are_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number = tmp_path / "number"
    script = f"import os, time; open({str(number)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    fake_iperf3(tmp_path, script, monkeypatch)
    program = "from tightlink.measure.iperf3 import transfer; transfer('127.0.0.1', seconds=50)"
    child = subprocess.Popen([sys.executable, "-c", program])
    try:
        assert soon(lambda: number.exists() and number.read_text())
        process = Path("/proc") / number.read_text()
        assert process.exists()
    finally:
        child.kill()
        child.wait(10)
    assert soon(lambda: not lives(int(process.name)), within_s=20), "iperf3 is still there"
