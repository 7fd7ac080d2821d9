"""How fast a laboratory is in Chromium: one move of a slider, from the wish to the drawn charts.

    python benchmarks/lab.py

Simulation in the worker, drawing, and all of it, each the median of five moves; and the engine natively, with the same
samples. Their ratios depend on the machine less than the times do.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

import tightlink as tl
from tightlink.laboratory import write

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from browser import browser  # noqa: E402

TEN = """
duration = "10 s"
link.wire = { ends = ["a", "b"], rate = "100 Mbit/s", delay = "10 ms", queue = "200 packets" }
traffic.bulk = { kind = "bulk", flows = 10, from = "a", to = "b" }
"""
MOVE = """(async () => {
    const page = document.getElementById("lab");
    await page.laboratory.simulate([%d]);
    return [page.dataset.simulatedMs, page.dataset.drawnMs, page.dataset.wholeMs].map(Number);
})()"""
MOVES = 5


def main() -> None:
    scenarios = {name: tl.load(ROOT / "benchmarks" / f"{name}.toml") for name in ("w2-100", "w3")}
    scenarios |= {"ten flows": tl.loads(TEN), "one-flow": tl.load(ROOT / "examples" / "one-flow.toml")}
    print(f"{'':10} {'simulated':>10} {'drawn':>8} {'whole':>8} {'natively':>9}  (ms)")
    with tempfile.TemporaryDirectory() as folder, browser(Path(folder, "profile")) as page:
        page.size(1400, 1000)
        for name, scenario in scenarios.items():
            file = write(Path(folder, f"{name}.html"), scenario, sliders=["seed=1,2"])
            page.open("about:blank")
            page.open(file.as_uri())
            page.wait("Boolean(document.getElementById('lab')?.dataset.digest)")
            found = [page.run(MOVE % (move % 2)) for move in range(MOVES)]
            simulated, drawn, whole = (statistics.median(column) for column in zip(*found, strict=True))
            sampled = scenario.set("observe.interval", f"{tl.units.time(scenario.duration) / 600:.6g} s")
            natively = statistics.median(tl.simulate(sampled).manifest["timing"]["wall_s"] for _ in range(5)) * 1e3
            print(f"{name:10} {simulated:10.0f} {drawn:8.0f} {whole:8.0f} {natively:9.0f}")


if __name__ == "__main__":
    main()
