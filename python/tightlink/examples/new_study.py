"""A study of your own: how the delay of one flow depends on its window. Run it: tightlink study new_study.py"""

import tightlink as tl
from tightlink.experiment.metrics import metrics
from tightlink.report import charts
from tightlink.studies.cases import Cases
from tightlink.studies.report_text import page

BASE = tl.loads("""
profile = "ns2"
duration = "10 s"
link.bottleneck = { ends = ["sender", "receiver"], rate = "2 Mbit/s", delay = "10 ms", queue = "50 packets" }
traffic.ftp = { kind = "bulk", from = "sender", to = "receiver", start = "0.1 s" }
""")
WINDOWS = Cases(
    "{window}", lambda window: BASE.set("traffic.ftp.tcp.window", f"{window} packets"), {"window": (2, 8, 32)}
)
CLAIMS = """
[[claims]]
id = "delay-32"
statement = "Thirty-two packets make a round trip of W·S/R, less the way of the ACK"
source = "RTT = W·S/R"
origin = "theory"
observed = "windows.32.one_way_delay_mean_s * 1e3"
expected = "{(32 * 1040 * 8 / 2e6 - 0.010 - 0.00016) * 1e3}"
relative = 0.05
tolerance_from = "the window is smaller in slow start"
unit = "ms"

[[claims]]
id = "full-8"
statement = "Eight packets fill the link"
source = "W > R·RTT"
origin = "theory"
observed = "windows.8.goodput_bps / 1e6"
holds = "windows.8.goodput_bps > 1.9e6"
unit = "Mbit/s"
"""
REPORT = """
# Window and delay
One flow, {len(windows.window)} windows.

## Delay follows the window
> From {windows.first.one_way_delay_mean_s:ms 0} to {windows.last.one_way_delay_mean_s:ms 0}: what the path does not hold
> waits in the queue.

[[delays]]
"""
STUDY = tl.Study(
    "new-study",
    "how the delay of one flow depends on its window",
    tasks=WINDOWS.tasks,
    observe=lambda runs: {"windows": WINDOWS.table(runs, metrics)},
    claims=CLAIMS,
    report=lambda found, _: page(
        REPORT, found, {"delays": charts.line(found["windows"], "window", "one_way_delay_mean_s")}
    ),
)
