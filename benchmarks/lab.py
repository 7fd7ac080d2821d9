"""How fast a laboratory is in Chromium: one move of a slider, from the wish to the drawn charts, and dragging.

    python benchmarks/lab.py [--drag SECONDS] [--markdown]

Simulation in the worker, drawing, and all of it, each the fastest of some moves, which other programs disturb least;
and the engine natively, with the same samples, in turns. Their ratio depends on the machine less than the times do.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

import tightlink as tl
from tightlink.laboratory import write

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from browser import browser  # noqa: E402

if TYPE_CHECKING:
    from browser import Page

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
#: Moves a slider with every picture that the screen shows, as fast as a hand can; how often the charts were drawn.
DRAG = """(async () => {
    const { controls, charts } = document.getElementById("lab").laboratory;
    const draw = charts.draw, end = performance.now() + %f;
    let drawn = 0, place = 0;
    charts.draw = (...given) => { drawn += 1; draw.apply(charts, given); };
    while (performance.now() < end) {
        controls.move([[0, (place += 1) %% controls.given.sliders[0].texts.length]]);
        await new Promise(requestAnimationFrame);
    }
    charts.draw = draw;
    return drawn;
})()"""
MEMORY = """(async () => {
    const { engine } = document.getElementById("lab").laboratory;
    const heard = engine.worker.onmessage;
    const found = await new Promise((resolve) => {
        engine.worker.onmessage = (event) => event.data.memory ? resolve(event.data.memory) : heard(event);
        engine.worker.postMessage({ memory: true });
    });
    engine.worker.onmessage = heard;
    return found;
})()"""
MOVES = 15
MIB = 2**20


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--drag", type=float, default=10.0, help="seconds for which a slider is dragged")
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder, browser(Path(folder, "profile")) as page:
        page.size(1400, 1000)
        rows = [moved(page, Path(folder), name, scenario) for name, scenario in scenarios().items()]
        dragged = drag(page, Path(folder), given.drag)
        version = page.send("Browser.getVersion")["product"]
    print(f"{version}, {os.cpu_count()} processors, load average {load:.1f} before, {os.getloadavg()[0]:.1f} after\n")
    style = "ASCII_MARKDOWN" if given.markdown else "NOTHING"
    with pl.Config(tbl_formatting=style, tbl_hide_column_data_types=True, tbl_hide_dataframe_shape=True,
                   tbl_rows=-1, tbl_cols=-1, tbl_width_chars=120, float_precision=2):  # fmt: skip
        print(pl.DataFrame(rows))
    print(f"\n{dragged}")


def scenarios() -> dict[str, tl.Scenario]:
    found = {name.upper(): tl.load(ROOT / "benchmarks" / f"{name}.toml") for name in ("w1", "w2-10", "w2-100", "w3")}
    return found | {"ten flows": tl.loads(TEN), "one-flow": tl.load(ROOT / "examples" / "one-flow.toml")}


def opened(page: Page, file: Path) -> None:
    page.open("about:blank")
    page.open(file.as_uri())
    page.wait("Boolean(document.getElementById('lab')?.dataset.digest)")


def moved(page: Page, folder: Path, name: str, scenario: tl.Scenario) -> dict[str, object]:
    """Simulation, drawing and all of it, in ms, and the same simulation natively, in turns."""
    opened(page, write(folder / f"{name}.html", scenario, sliders=["seed=1,2"]))
    # None of them is sampled by itself.
    sampled = scenario.set("observe.interval", f"{tl.units.time(scenario.duration) / 600:.6g} s")
    found = []
    natively = []
    for move in range(MOVES):
        found.append(page.run(MOVE % (move % 2)))
        run = tl.simulate(sampled, seed=1 + move % 2)
        natively.append(run.manifest["timing"]["wall_s"] * 1e3)
    simulated, drawn, whole = map(min, zip(*found, strict=True))
    return {
        "scenario": name,
        "M packet-hops": run.manifest["packet_hops"] / 1e6,
        "simulated ms": round(simulated, 1),
        "drawn ms": round(drawn, 1),
        "whole ms": round(whole, 1),
        "natively ms": round(min(natively), 1),
        "of native speed": min(natively) / simulated,
    }


def drag(page: Page, folder: Path, seconds: float) -> str:
    """How often charts are drawn while a slider is dragged, and what that takes of memory."""
    opened(page, write(folder / "dragged.html", tl.loads(TEN), sliders=["link.wire.rate=80 Mbit/s..120 Mbit/s"]))
    drawn, used = [], []
    for _ in range(10):
        drawn.append(page.run(DRAG % (seconds * 100)) / seconds * 10)
        page.send("HeapProfiler.collectGarbage")
        used.append((page.send("Runtime.getHeapUsage")["usedSize"] / MIB, page.run(MEMORY) / MIB))
    first, last = used[0], used[-1]
    return (
        f"Dragging a slider of the ten flows for {seconds:g} s: {sum(drawn) / 10:.1f} redraws a second, in the best "
        f"tenth {max(drawn):.1f}. Memory after a tenth {first[0]:.1f} MiB of the page and {first[1]:.1f} MiB of the "
        f"engine, at the end {last[0]:.1f} and {last[1]:.1f} MiB."
    )


if __name__ == "__main__":
    main()
