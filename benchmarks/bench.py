#!/usr/bin/env python3
"""The same workloads here, in ns-2 and in ns-3, in alternation: packet-hops per second and ratios.

    python benchmarks/bench.py                        # every workload, every peer that is installed
    python benchmarks/bench.py w1 w2-100 --peers tightlink,ns2 --repeats 9
    python benchmarks/bench.py --markdown > table.md  # progress goes to stderr

A workload is a scenario file beside this one; Tightlink runs the file itself, the peers get the
same network, traffic and TCP as settings. What is timed is the run phase alone, by each program's
own clock: no topology, no routes, no scenario parsing. Peers take turns (A B C A B C ...), each run
in its own process, and a ratio is the median of the ratios within the rounds, because the
speed of a shared machine drifts by more than what is to be measured.

A packet-hop is one data packet or ACK crossing one link. The peers' crossings come from a separate,
untimed run, kept in counts.json in the build folder. Peers whose goodputs differ by more than 2 %
did not do the same work: their ratio is printed in brackets and means nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figures import FIGURES, GOODPUT_TOLERANCE, RATIOS, Ratio, Series, figures_row, ratio_row, ratios, table
from peers import Counts, Ns2, Ns3, Ns3Paths, Peer, PeerError, ScriptedPeer, Tightlink, progress
from workloads import HERE, WORKLOADS, Workload, read_workload

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Load by others from which on timings are not worth publishing.
BUSY = 0.5
#: From the first, every ratio is taken.
PEERS = "tightlink,ns2,ns2-default,ns3-nix,ns3-global,ns3-paths"


def measure(workload: Workload, peers: Sequence[Peer], counts: Counts, options: Any) -> list[Series]:
    all_series = [Series(peer) for peer in peers]
    for series in all_series:
        try:
            series.counted = series.peer.count(workload, counts, options.timeout)
        except PeerError as failure:
            series.failure = str(failure)
    for turn in range(options.repeats):
        for series in all_series:
            if series.failure or (series.peer.slow and turn >= options.slow_repeats):
                continue
            try:
                run = series.peer.measure(workload, options.timeout)
                series.add(run)
            except PeerError as failure:
                series.failure = str(failure)
                progress(f"  {workload.name} {series.peer.label}: {failure}")
                continue
            progress(
                f"  {workload.name} round {turn + 1} {series.peer.label}: {run.run_wall_s:.3f} s, "
                f"{series.rates()[-1] / 1e6:.2f} M packet-hops/s, {run.goodput_mbps:.3f} Mbit/s"
            )
    return all_series


def circumstances(versions: dict[str, str]) -> dict[str, Any]:
    def git(*arguments: str) -> str:
        done = subprocess.run(["git", "-C", str(HERE.parent), *arguments], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    commit = git("rev-parse", "--short=12", "HEAD") or "none"
    if git("status", "--porcelain", "--untracked-files=no"):
        commit += " with changes"
    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists() and (found := re.search(r"model name\s*: (.*)", cpuinfo.read_text())):
        processor = found[1]
    return {
        "commit": commit,
        "command": shlex.join(["python", "benchmarks/bench.py", *sys.argv[1:]]),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine": f"{os.cpu_count()} x {processor}, {platform.system()} {platform.release()}",
        "versions": versions,
        "load_before": round(os.getloadavg()[0], 2),
    }


def print_report(
    results: Sequence[tuple[Workload, list[Series]]],
    all_ratios: Sequence[Ratio],
    skipped: dict[str, str],
    where: dict[str, Any],
    *,
    markdown: bool,
) -> None:
    bullet = "- " if markdown else ""
    print(f"{bullet}commit: {where['commit']}; date: {where['date']}")
    command = f"`{where['command']}`" if markdown else where["command"]
    print(f"{bullet}command: {command}")
    print(f"{bullet}machine: {where['machine']}")
    print(f"{bullet}load average before and after: {where['load_before']}, {where['load_after']}")
    if max(where["load_before"], where["load_after"] - 1) > BUSY:
        print(f"{bullet}others were busy on this machine: not figures to publish")
    print(f"{bullet}peers: " + "; ".join(f"{k}: {v}" for k, v in where["versions"].items()))
    for label, reason in skipped.items():
        print(f"{bullet}{label} skipped: {reason}")
    rows = [figures_row(workload, s) for workload, series in results for s in series if s.runs]
    print("\n" + table(FIGURES, rows, markdown=markdown))
    for workload, series in results:
        for s in series:
            if s.failure:
                print(f"\n{workload.name.upper()} {s.peer.label} failed: {s.failure}")
    if all_ratios:
        print("\n" + table(RATIOS, [ratio_row(ratio) for ratio in all_ratios], markdown=markdown))
    if not all(ratio.meaningful for ratio in all_ratios):
        print(f"\nIn brackets: the goodputs differ by more than {GOODPUT_TOLERANCE:.0%}; such a ratio means nothing.")


def raw_json(results: Sequence[tuple[Workload, list[Series]]], where: dict[str, Any]) -> dict[str, Any]:
    return where | {
        "results": [
            {
                "workload": workload.name, "peer": s.peer.key, "failure": s.failure,
                "runs": [vars(run) | {"crossings": s.hops(run)} for run in s.runs],
            }
            for workload, series in results
            for s in series
        ]
    }  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    venv = HERE.parent / ".venv" / "bin" / "python"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(WORKLOADS))
    parser.add_argument("--peers", default=PEERS, help=f"default {PEERS}; also ns2-splay, tightlink-2 (two threads)")
    parser.add_argument("--repeats", type=int, default=5, help="rounds (default 5)")
    parser.add_argument("--slow-repeats", type=int, default=1, help="rounds of ns-3 (default 1)")
    parser.add_argument("--everywhere", action="store_true", help="ns-3 on every workload: hours")
    parser.add_argument("--timeout", type=float, default=1800, help="seconds a run (default 1800)")
    parser.add_argument("--markdown", action="store_true", help="tables for docs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every run there")
    folder = "folder for ns3.cc's program and the counts (default benchmarks/build)"
    parser.add_argument("--build", type=Path, default=HERE / "build", help=folder)
    python = str(venv) if venv.exists() else sys.executable
    parser.add_argument("--python", default=python, help="the Python that has tightlink")
    prefix = Path("/usr")
    parser.add_argument("--ns3-prefix", type=Path, default=prefix, help="where ns-3 is installed (default /usr)")
    options = parser.parse_args(arguments)

    for name in options.workloads:
        if name not in WORKLOADS:
            parser.error(f"no workload {name!r}; there are {', '.join(WORKLOADS)}")
    if options.repeats < 1 or options.slow_repeats < 0:
        parser.error("--repeats is at least 1, --slow-repeats at least 0")
    options.build.mkdir(parents=True, exist_ok=True)
    options.build = options.build.resolve()

    prefix, build = options.ns3_prefix, options.build
    roster: dict[str, Peer] = {
        peer.key: peer
        for peer in (
            Tightlink(options.python),
            Tightlink(options.python, threads=2),
            Ns2("ns2", "ns-2 lean headers", "lean"),
            Ns2("ns2-default", "ns-2 default headers", "default"),
            Ns2("ns2-splay", "ns-2 lean, Splay", "lean", "Splay"),
            Ns3("nix", ("w1", "w2-10", "w2-100", "w3"), prefix, build),
            Ns3("global", ("w1", "w2-100"), prefix, build),
            Ns3Paths(options.python, prefix, build),
        )
    }
    wanted = options.peers.split(",")
    if unknown := [key for key in wanted if key not in roster]:
        parser.error(f"no peer {unknown[0]!r}; there are {', '.join(roster)}")

    skipped: dict[str, str] = {}
    present: list[Peer] = []
    for key in wanted:
        if reason := roster[key].absent():
            skipped[roster[key].label] = reason
            progress(f"{roster[key].label} skipped: {reason}")
        else:
            present.append(roster[key])
    versions = {p.key: p.version() for p in present if isinstance(p, ScriptedPeer)}
    where = circumstances(versions)

    counts = Counts(options.build / "counts.json")
    results: list[tuple[Workload, list[Series]]] = []
    all_ratios: list[Ratio] = []
    for name in options.workloads or WORKLOADS:
        workload = read_workload(name)
        able = [peer for peer in present if peer.takes(workload)]
        peers = [peer for peer in able if options.everywhere or peer.workloads is None or name in peer.workloads]
        series = measure(workload, peers, counts, options)
        results.append((workload, series))
        all_ratios += ratios(name, series, versions)
    where["load_after"] = round(os.getloadavg()[0], 2)

    print_report(results, all_ratios, skipped, where, markdown=options.markdown)
    if options.json:
        options.json.write_text(json.dumps(raw_json(results, where), indent=1) + "\n")
    return 1 if any(s.failure for _, series in results for s in series) else 0


if __name__ == "__main__":
    sys.exit(main())
