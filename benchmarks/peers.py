"""The simulators that are compared: how each is found, built, run and counted."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workloads import HERE, Settings, Workload

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Measurement:
    """One timed run. Goodput counts payload and header of what arrived in order, in Mbit/s."""

    run_wall_s: float
    process_wall_s: float
    goodput_mbps: float
    peak_rss_bytes: int
    crossings: int | None
    events: int | None
    packets: int | None


class PeerError(Exception):
    """A peer did not give a figure; the message says why."""


def run_process(
    command: Sequence[str], timeout: float, fine: Sequence[int] = (0,), cwd: str | None = None
) -> tuple[str, float]:
    """The output and the wall seconds of a program that ends with an exit code that is fine."""
    began = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False, cwd=cwd)
    except subprocess.TimeoutExpired:
        raise PeerError(f"took longer than {timeout:g} s (--timeout)") from None
    wall = time.perf_counter() - began
    if done.returncode not in fine:
        said = (done.stderr or done.stdout).strip().splitlines() or ["nothing"]
        telling = next((line for line in said if "error:" in line), said[-1])
        raise PeerError(f"{Path(command[0]).name}: exit {done.returncode}: {telling}")
    return done.stdout, wall


class Peer:
    """A simulator in one configuration."""

    key: str
    label: str
    #: None: all workloads. Else what `--peers` leaves to it unless `--everywhere` is given.
    workloads: tuple[str, ...] | None = None
    slow = False
    #: Whether it takes networks that are a chain or a dumbbell, and others.
    chains = True
    others = False

    def takes(self, workload: Workload) -> bool:
        """Whether it can run a workload at all."""
        return self.chains if workload.chain else self.others

    def absent(self) -> str | None:
        """Why it cannot run here, or None."""
        raise NotImplementedError

    def measure(self, workload: Workload, timeout: float) -> Measurement:
        raise NotImplementedError

    def count(self, workload: Workload, counts: Counts, timeout: float) -> Counted | None:  # noqa: ARG002
        """Link crossings and what identifies the run, where measure() does not know them."""
        return None


class Tightlink(Peer):
    others = True

    def __init__(self, python: str, threads: int = 1) -> None:
        self.python, self.threads = python, threads
        self.key = "tightlink" if threads == 1 else f"tightlink-{threads}"
        self.label = "Tightlink" if threads == 1 else f"Tightlink, {threads} threads"

    def absent(self) -> str | None:
        try:
            run_process([self.python, "-c", "import tightlink._core"], 60)
        except (OSError, PeerError) as failure:
            return f"{self.python} cannot import tightlink ({failure})"
        return None

    def measure(self, workload: Workload, timeout: float) -> Measurement:
        command = [self.python, "-m", "tightlink", "run", str(workload.path), "--json"]
        command += ["--threads", str(self.threads)]
        with tempfile.TemporaryDirectory() as elsewhere:
            # 3: finished, with a warning.
            output, wall = run_process(command, timeout, fine=(0, 3), cwd=elsewhere)
        said = json.loads(output)
        manifest, flows = said["manifest"], said["flows"]
        timing = manifest["timing"]
        payload_bits = sum(flow["goodput_bps"] * (flow["stop_s"] - flow["start_s"]) for flow in flows)
        return Measurement(
            run_wall_s=timing["wall_s"],
            process_wall_s=wall,
            goodput_mbps=1e-6 * payload_bits * workload.wire_per_payload / workload.duration,
            peak_rss_bytes=timing["peak_rss_bytes"],
            crossings=manifest["packet_hops"],
            events=manifest["events"],
            packets=None,
        )


@dataclass(frozen=True)
class Counted:
    """What a peer's untimed run counted; the timed run must deliver the same packets."""

    crossings: int
    packets: int


class Counts:
    """The peers' untimed runs, in the build folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, dict[str, int]] = {}
        if path.exists():
            self.known = json.loads(path.read_text())

    def look_up(self, identity: str, count: Callable[[], Measurement]) -> Counted:
        key = hashlib.sha256(identity.encode()).hexdigest()[:16]
        if key not in self.known:
            run = count()
            assert run.crossings is not None
            assert run.packets is not None
            self.known[key] = {"crossings": run.crossings, "packets": run.packets}
            fresh = self.path.with_suffix(".new")
            fresh.write_text(json.dumps(self.known, indent=1) + "\n")
            fresh.replace(self.path)
        return Counted(**self.known[key])


class ScriptedPeer(Peer):
    """A peer that runs our script and prints a line of JSON: see ns2.tcl and ns3.cc."""

    source: Path
    #: What the timed runs set, and what the counting run sets instead: the same simulation.
    variant: Settings
    count_variant: Settings

    def command(self, settings: Settings) -> list[str]:
        raise NotImplementedError

    def version(self) -> str:
        raise NotImplementedError

    def settings(self, workload: Workload) -> Settings:
        """What the script is told of a workload."""
        return workload.settings

    def run(self, workload: Workload, variant: Settings, timeout: float) -> Measurement:
        command = self.command(self.settings(workload) | variant)
        output, wall = run_process(command, timeout)
        said = json.loads(output.splitlines()[-1])
        return Measurement(
            run_wall_s=said["run_wall_s"],
            process_wall_s=wall,
            goodput_mbps=said["goodput_mbps"],
            peak_rss_bytes=said["peak_rss_bytes"],
            crossings=said["crossings"],
            events=said.get("events"),
            packets=said["packets"],
        )

    def measure(self, workload: Workload, timeout: float) -> Measurement:
        return self.run(workload, self.variant, timeout)

    def count(self, workload: Workload, counts: Counts, timeout: float) -> Counted | None:
        variant = self.count_variant | {"mode": "count"}
        settings = sorted((self.settings(workload) | variant).items())
        identity = json.dumps([self.version(), self.source.read_text(), settings])
        return counts.look_up(identity, lambda: self.run(workload, variant, timeout))


class Ns2(ScriptedPeer):
    source = HERE / "ns2.tcl"

    def __init__(self, key: str, label: str, headers: str, scheduler: str = "Calendar") -> None:
        self.key, self.label = key, label
        self.variant = {"headers": headers, "scheduler": scheduler}
        self.count_variant = {"headers": "lean", "scheduler": scheduler}

    def absent(self) -> str | None:
        return None if shutil.which("ns") else "no `ns` on the path (Debian: ns2)"

    def version(self) -> str:
        with tempfile.NamedTemporaryFile("w", suffix=".tcl") as script:
            script.write("puts [ns-version]; exit 0\n")
            script.flush()
            return "ns-" + run_process(["ns", script.name], 60)[0].strip()

    def command(self, settings: Settings) -> list[str]:
        return ["ns", str(self.source), *(f"{key}={value}" for key, value in settings.items())]


class Ns3(ScriptedPeer):
    source = HERE / "ns3.cc"
    slow = True
    modules = (
        "core", "network", "internet", "applications", "point-to-point", "traffic-control",
        "nix-vector-routing", "stats",
    )  # fmt: skip

    def __init__(self, routing: str, workloads: tuple[str, ...], prefix: Path, build: Path) -> None:
        self.key, self.label = f"ns3-{routing}", f"ns-3 {routing}"
        self.workloads = workloads
        self.variant, self.count_variant = {"routing": routing}, {"routing": "nix"}
        self.prefix, self.build = prefix, build
        self.core = self.find_core()

    def find_core(self) -> Path | None:
        """Debian calls it libns3-core.so, ns-3's own build libns3.41-core-default.so."""
        folders = (self.prefix / "lib", self.prefix / "lib64", *self.prefix.glob("lib/*-linux-gnu"))
        for folder in folders:
            for library in sorted(folder.glob("libns3*-core*.so")):
                return library
        return None

    def absent(self) -> str | None:
        if self.core is None:
            return f"no libns3*-core*.so under {self.prefix} (Debian: libns3-dev; or --ns3-prefix)"
        if not shutil.which("g++"):
            return "no g++ to build ns3.cc with"
        try:
            self.compile()
        except PeerError as failure:
            return str(failure)
        return None

    def version(self) -> str:
        assert self.core is not None
        found = re.search(r"libns3\.(\d+)-", self.core.name) or re.search(r"\.so\.(\d+)", self.core.resolve().name)
        return f"ns-3.{found[1]}" if found else "ns-3"

    @property
    def program(self) -> Path:
        identity = f"{self.core} {self.source.read_text()}"
        return self.build / f"ns3-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"

    def compile(self) -> None:
        assert self.core is not None
        if self.program.exists():
            return
        libraries = [
            str(self.core.with_name(self.core.name.replace("-core", f"-{module}", 1))) for module in self.modules
        ]
        unfinished = self.program.with_suffix(".new")
        command = ["g++", "-O3", "-DNDEBUG", "-std=c++17", f"-I{self.prefix / 'include'}"]
        command += [str(self.source), "-o", str(unfinished), *libraries]
        command += [f"-Wl,-rpath,{self.core.parent}"]
        progress(f"building {self.source.name} against {self.core}")
        run_process(command, 600)
        unfinished.replace(self.program)

    def command(self, settings: Settings) -> list[str]:
        # ns-3 has but one TCP here: NewReno with SACK, for every `recovery`.
        known = {key: value for key, value in settings.items() if key != "recovery"}
        return [str(self.program), *(f"--{key}={value}" for key, value in known.items())]


#: Prints what `ns3_paths.cc` reads: the network, the flows and their paths, as Tightlink resolves them.
_PATHS = """
import sys
import tightlink as tl
resolved = tl.load(sys.argv[1]).resolve()
tcp = resolved["flows"][0]["transport"]["tcp"]
windows = [int(tcp[f"{name}_packets"]) for name in ("initial_window", "initial_ssthresh")]
print("run", resolved["duration_s"], len(resolved["nodes"]), tcp["payload_bytes"], *windows)
for link in resolved["links"]:
    print("link", *(link[key] for key in ("from", "to", "rate_bps", "delay_s")), link["queue"]["limit"]["packets"])
for flow in resolved["flows"]:
    print("flow", *(flow[key] for key in ("from", "to", "start_s")), flow["traffic"]["bytes"])
    for key in ("path", "reverse_path"):
        print("path", *flow[key])
"""


class Ns3Paths(Ns3):
    """ns-3 over any network, with the paths that Tightlink's flows take."""

    source = HERE / "ns3_paths.cc"
    modules = ("core", "network", "internet", "applications", "point-to-point", "traffic-control", "stats")
    chains, others = False, True

    def __init__(self, python: str, prefix: Path, build: Path) -> None:
        super().__init__("paths", ("w5",), prefix, build)
        self.python = python
        self.variant, self.count_variant = {"mode": "time"}, {}

    def settings(self, workload: Workload) -> Settings:
        text = run_process([self.python, "-c", _PATHS, str(workload.path)], 600)[0]
        paths = self.build / f"{workload.name}.paths"
        paths.write_text(text)
        return {"file": str(paths), "sha256": hashlib.sha256(text.encode()).hexdigest()}

    def command(self, settings: Settings) -> list[str]:
        return [str(self.program), settings["file"], settings["mode"]]
