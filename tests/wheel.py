"""Installs a wheel where nothing else is, and runs every command once as its user would: ``make check-wheel``.

The environment is new, ``PATH`` has no compiler, and the folder in which commands run has nothing of the sources: what
they need comes from ``tightlink new examples``. A command that is not in the list fails the check.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Final

from bare import SYSTEM, environment
from programs import commands as commands_of_tightlink

ROOT: Final = Path(__file__).parent.parent
#: Seconds that no command may take longer than.
_PATIENCE_S: Final = 300
#: A measurement that the machine was too busy for says so; it was installed all the same.
_BUSY: Final = "tightlink: lateness: "
#: Where this system has no namespaces, or no program of others, a sentence says what to install or to allow.
_MISSING: Final = re.compile(r"tightlink: .*(is not installed|namespaces|/dev/net/tun|engine for browsers)")

#: Every command, in an order in which each finds what it reads. ``?`` before it: may lack what the system must have.
COMMANDS: Final = """
    new examples examples
    list studies
    run examples/one-flow.toml -o one --trace --tr out.tr --pcap out.pcapng
    run examples/one-flow.toml -o other --set link.bottleneck.queue="5 packets"
    run examples/open-window.toml -o long --set observe.interval="50 ms"
    run examples/queues.toml --show-config
    run examples/queues.toml -o queued --set duration="10 s" --trace
    run examples/one-flow.toml --report one.html --plot one.svg
    validate examples/one-flow.toml examples/chain.toml
    schema -o scenario.schema.json
    completion bash
    compare one other -o compared
    report one
    ?report one --with-lab
    ?lab examples/one-flow.toml -o lab.html
    ?new lessons lessons
    sweep examples/one-flow.toml --vary link.bottleneck.queue="5 packets,10 packets" -j 2 -o swept
    query swept "select count(*) as runs from runs"
    sweep examples/screening.toml --design fractional --resolution 4 --replications 2 -j 2 -o screened
        --vary topology.net.bottleneck.queue="10 packets,50 packets" --vary traffic.bulk.tcp.recovery=newreno,sack
        --vary traffic.bulk.tcp.delayed_acks=false,true
    study one-flow -j 2 -o studied
    study evaluation --congestion cubic,reno --tests ramp-up -o evaluated
    new network lte -o lte.toml
    new study my_study
    study my_study.py --claims
    run lte.toml --set duration="2 s"
    new four-tier --set sources=high --set duration="2 s" --scale 0.01
    plan maxflow examples/slow-router.toml --set duration="1 s"
    plan packetize --bitrate "64 kbit/s" --limit-pps 4000
    plan path --bandwidth "10 Mbit/s" --rtt "162 ms" --queue 80 --flows 1,4
    capture examples/slow-uploads.pcapng.gz -o captured --interval "100 ms"
    report captured
    plot swept
    plot one overview -o overview.pdf
    analyze saturation examples/link-sweep.csv -o link.png
    analyze regimes examples/router-load.csv -o router.png
    analyze effects screened --responses goodput_bps,loss -o effects.png
    analyze ten-steps screened --response goodput_bps -o ten.png
    analyze correlation examples/controls-compared.csv -o correlation.png
    analyze pca examples/controls-compared.csv --by congestion -o components.png
    analyze clusters examples/controls-compared.csv --algorithm congestion -o clusters.png
    analyze outliers examples/controls-compared.csv --algorithm congestion -o outliers.png
    analyze ranks examples/controls-compared.csv --algorithm congestion --responses own_bps -o ranks.png
    analyze fairness examples/controls-compared.csv --algorithm congestion --own own_bps --standard standard_bps
        --available rate -o shares.png
    analyze explore examples/controls-compared.csv --algorithm congestion -o explored.html
    analyze oscillation long --begin "3 s" -o oscillation.png
    analyze synchronization queued -o losses.png
    analyze markov states.csv --step "2 s" -o chain.png
    analyze traffic long --column utilization -o traffic.png
    analyze arrivals one -o arrivals.png
    analyze sizes examples/controls-compared.csv --column own_bps -o sizes.png
    analyze cross-correlation long "bottleneck queue_packets" "ftp cwnd_packets" -o lags.png
    analyze pinger average_rtt-100-by-node-2014-09-10.txt
    ?measure examples/one-flow.toml --set profile="linux" --set duration="1 s"
    ?emulate examples/one-flow.toml --duration "100 ms"
    &measure serve 127.0.0.1 --port 5299
    ?measure path 127.0.0.1 --port 5299 --trains 20 --overload-packets 100
    ?measure tcp --host 127.0.0.1 --windows 8K --flows 1 -o grid
    ?measure udp-sweep --host 127.0.0.1 --payloads 1000 --rates "100 packets/s" -o datagrams
"""

#: Tables that users have and Tightlink does not bring.
FILES: Final = {
    "states.csv": "entity,time_s,state\n" + "".join(
        f"{task},{time},{state}\n"
        for task in range(20)
        for time, state in ((0, "waiting"), (4 + task % 5, "running"), (12 + task % 7, "completed"))
    ),
    "average_rtt-100-by-node-2014-09-10.txt": "0 1 2 3\npinger.example.edu www.example.org 150.5 151.0 . 160.2\n",
}  # fmt: skip


def main() -> int:
    """Install the wheel that the argument names, run all commands, and return how many of them failed."""
    wheel = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="tightlink-wheel-") as temporary:
        place = Path(temporary)
        venv.create(place / "env")
        (place / "path").mkdir()
        words = environment(place / "path", SYSTEM)
        words["PATH"] = f"{place / 'env' / 'bin'}:{words['PATH']}"
        words.pop("VIRTUAL_ENV", None)
        here = place / "work"
        here.mkdir()
        user = User(here, words)
        # By the pip that is there, as to install another takes seconds. Python compiles what it imports; compiling all of
        # it takes as long as the installation.
        pip = [sys.executable, "-m", "pip", "--python", str(place / "env" / "bin" / "python"), "install", "--quiet"]
        user.run([*pip, "--disable-pip-version-check", "--no-compile", str(wheel)])
        user.check_commands()
        user.check_readme()
        user.check_files()
        for failure in user.failures:
            print(failure, file=sys.stderr)
        print(f"{user.done} commands of {wheel.name} ran, {len(user.failures)} failures")
        return len(user.failures)


class User:
    """Somebody who types commands in a folder of their own."""

    def __init__(self, here: Path, environment: dict[str, str]) -> None:
        self.here = here
        self.environment = environment
        self.failures: list[str] = []
        self.done = 0

    def run(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        """A program and what it printed."""
        return subprocess.run(
            words, cwd=self.here, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False, timeout=_PATIENCE_S,
        )  # fmt: skip

    def check_commands(self) -> None:
        """Every command of the list, and whether the list has every command."""
        for name, text in FILES.items():
            (self.here / name).write_text(text, encoding="utf-8")
        lines = re.sub(r"\n {5,}", " ", COMMANDS).split("\n")
        commands = [line.strip() for line in lines if line.strip()]
        background: list[subprocess.Popen[bytes]] = []
        try:
            for command in commands:
                mark = command[0] if command[0] in "?&" else ""
                words = ["tightlink", *shlex.split(command.removeprefix(mark))]
                if mark == "&":
                    background.append(subprocess.Popen(words, cwd=self.here, env=self.environment))
                    continue
                done = self.run(words)
                # 3: finished, and a claim does not hold or a warning is to be read.
                lacks = mark == "?" and (_BUSY in done.stdout or _MISSING.search(done.stdout))
                if (done.returncode not in {0, 3} and not lacks) or "Traceback" in done.stdout:
                    self.failures.append(f"tightlink {command}: exit code {done.returncode}\n{done.stdout}")
                self.done += 1
        finally:
            for process in background:
                process.terminate()
                process.wait(timeout=30)
        typed = [f"{command.lstrip('?&')} " for command in commands]
        for name in commands_of_tightlink():
            if not any(command.startswith(f"{name} ") for command in typed):
                self.failures.append(f"tightlink {name}: not in the list")

    def check_readme(self) -> None:
        """The README's Python, and that it runs from the wheel."""
        for code in re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE):
            done = self.run(["python", "-W", "error", "-c", code])
            if done.returncode != 0:
                self.failures.append(f"README.md: {done.stdout}")

    def check_files(self) -> None:
        """That every file of the package is there, and what is imported: no command reads the texts of all studies."""
        sources = ROOT / "python"
        where = Path(self.run(["python", "-c", "import tightlink; print(tightlink.__file__)"]).stdout.strip()).parent
        if "site-packages" not in where.parts:
            self.failures.append(f"imported from {where}")
        for file in (sources / "tightlink").rglob("*"):
            if "__pycache__" not in file.parts and not (where.parent / file.relative_to(sources)).exists():
                self.failures.append(f"not in the wheel: {file.relative_to(sources)}")


if __name__ == "__main__":
    raise SystemExit(min(1, main()))
