"""What is said of open-loop transfers: whose links and waits are theirs, what holds them, and what helps."""

from __future__ import annotations

import polars as pl

import tightlink as tl
from tightlink.diagnosis import Diagnosis
from tightlink.diagnosis.paths import Paths

RACK = """
profile = "linux"
duration = "120 ms"
topology.net = { kind = "leaf-spine", leaves = 1, spines = 1, hosts = 8, link = { rate = "10 Gbit/s", delay = "1 us", queue = "2 MB" } }
"""
ELEPHANTS = """
traffic.elephant = { kind = "bulk", from = "net.host[1]", to = "net.host[0]" }
traffic.elephant2 = { kind = "bulk", from = "net.host[2]", to = "net.host[0]" }
traffic.mice = { kind = "transfers", from = ["net.host[3]", "net.host[4]"], to = "net.host[0]", arrivals = "2000 transfers/s", size = "10 kB" }
"""


def test_flows_share_a_link_that_send_at_the_same_time() -> None:
    """240 short transfers come within the time of two bulk flows, and few of them are under way at once."""
    run = tl.simulate(tl.loads(RACK + ELEPHANTS))
    link, bulk = "net.host_link[0].reverse", run.flows.filter(label="elephant").row(0, named=True)
    each = run.completions.filter(label="mice").select("start_s", "completion_s")
    ends = (pl.col("start_s") + pl.col("completion_s")).fill_null(0.12).clip(upper_bound=0.12)
    at_once = 2 + each.select(ends - pl.col("start_s")).sum().item() / (bulk["stop_s"] - bulk["start_s"])
    assert run.completions.height > 200
    assert Paths(run).sharing(link, bulk) == round(at_once) < 12
    assert f"shared by {round(at_once)} flows" in _found_bulk(run).answer


def _found_bulk(run: tl.Run) -> Diagnosis:
    return next(each for each in run.why().diagnoses if "elephant" in each.flows)
