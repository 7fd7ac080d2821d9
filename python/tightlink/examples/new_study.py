"""A study of your own: how the delay of one flow depends on its window. Run it: tightlink study new_study.py"""

import polars as pl

import tightlink as tl
from tightlink.report import Chart, Section, charts
from tightlink.studies.study import Report

WINDOWS = (2, 4, 8, 16, 32)
BASE = tl.loads("""
profile = "ns2"
duration = "10 s"
link.bottleneck = { ends = ["sender", "receiver"], rate = "2 Mbit/s", delay = "10 ms", queue = "50 packets" }
traffic.ftp = { kind = "bulk", from = "sender", to = "receiver", start = "0.1 s" }
""")
CLAIMS = """
[[claims]]
id = "delay-32"
statement = "Thirty-two packets make a round trip of W·S/R, less the way of the ACK"
source = "RTT = W·S/R"
origin = "theory"
observed = "window-32.delay_ms"
expected = "{(32 * 1040 * 8 / 2e6 - 0.010 - 0.00016) * 1e3}"
relative = 0.05
tolerance_from = "the window is smaller in slow start"
unit = "ms"

[[claims]]
id = "full-8"
statement = "Eight packets fill the link"
source = "W > R·RTT"
origin = "theory"
observed = "window-8.goodput_mbit"
holds = "window-8.goodput_mbit > 1.9"
unit = "Mbit/s"
"""


def tasks() -> dict[str, tl.Scenario]:
    """Scenarios to simulate, by name."""
    return {f"window-{window}": BASE.set("traffic.ftp.tcp.window", f"{window} packets") for window in WINDOWS}


def observe(runs: dict[str, tl.Run]) -> dict[str, float]:
    """Named values from the tables of the runs."""
    values = {}
    for name, run in runs.items():
        flow = run.flows.row(0, named=True)
        values[f"{name}.delay_ms"] = flow["one_way_delay_mean_s"] * 1e3
        values[f"{name}.goodput_mbit"] = flow["goodput_bps"] / 1e6
    return values


def report(values: dict[str, float], _claims: object) -> Report:
    """What the report shows beside the claims."""
    delays = [values[f"window-{window}.delay_ms"] for window in WINDOWS]
    chart = charts.line(
        pl.DataFrame({"window (packets)": WINDOWS, "delay (ms)": delays}), "window (packets)", "delay (ms)"
    )
    finding = f"From {delays[0]:.0f} to {delays[-1]:.0f} ms: what the path does not hold waits in the queue."
    return Report(
        "Window and delay", "One flow, five windows.", [Section("Delay follows the window", finding, [Chart(chart)])]
    )


STUDY = tl.Study("new-study", "how the delay of one flow depends on its window", tasks, observe, CLAIMS, report)
