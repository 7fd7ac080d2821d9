"""Store what study bulk-throughput measured of Linux, so that who does not measure has it beside the simulation.

    python benchmarks/bulk_linux.py FOLDER --command "tightlink study bulk-throughput --live -j 2" --commit COMMIT

FOLDER is that of a study that measured. Writes studies/bulk_throughput/linux.csv: a row for each cell, medians of its
measurements; before them where and when it was measured, with which commit and command.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tightlink.run import open_run
from tightlink.studies.bulk_throughput.live import measured
from tightlink.studies.bulk_throughput.observe.linux import STORED
from tightlink.studies.bulk_throughput.setup.linux import cells
from tightlink.studies.live import machine


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--command", required=True)
    parser.add_argument("--commit", required=True)
    given = parser.parse_args()
    live = given.folder / "live"
    runs = {
        f"live/{path.parent.relative_to(live).as_posix()}": open_run(path.parent)
        for path in sorted(live.rglob("manifest.json"))
    }
    table = measured(runs, cells())
    days = sorted({str(run.manifest["began"])[:10] for run in runs.values()})
    head = [machine([*runs.values()]), f"On {' and '.join(days)}, commit {given.commit}: {given.command}"]
    rows = table.write_csv()
    STORED.write_text("".join(f"# {line}\n" for line in head) + rows, encoding="utf-8")
    print(f"{table.height} of {len(cells())} cells, {len(runs)} measurements: {STORED}")


if __name__ == "__main__":
    main()
