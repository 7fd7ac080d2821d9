"""iperf3 as a program: what it says wrongly, that it hangs, and that it ends with us."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tightlink.errors import TightlinkError
from tightlink.measure import iperf3

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


def test_iperf3_ends_with_us_even_if_we_are_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number = tmp_path / "number"
    script = f"import os, time; open({str(number)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    fake_iperf3(tmp_path, script, monkeypatch)
    program = "from tightlink.measure.iperf3 import transfer; transfer('127.0.0.1', seconds=50)"
    child = subprocess.Popen([sys.executable, "-c", program])
    try:
        for _ in range(200):
            if number.exists() and number.read_text():
                break
            time.sleep(0.05)
        process = Path("/proc") / number.read_text()
        assert process.exists()
    finally:
        child.kill()
        child.wait(10)
    for _ in range(100):
        if not process.exists() or "(zombie)" in (process / "status").read_text():
            return
        time.sleep(0.05)
    pytest.fail("iperf3 is still there")
