"""What is observed: named values that claims compare, and the tables that the report shows."""

from collections.abc import Mapping
from typing import Any

from tightlink.run import Run
from tightlink.studies.one_flow.observe import cases, competing
from tightlink.studies.one_flow.setup import CASES


def observe(runs: Mapping[str, Run]) -> dict[str, Any]:
    """From runs to values and tables, by name; ``response`` has loss and packets a round trip, means over seeds."""
    tcp, udp = (
        {case.name: cases.measure(case, runs[f"{transport}/{case.name}"]) for case in CASES}
        for transport in ("tcp", "udp")
    )
    points, beside = competing.points(runs), competing.tables(runs)
    values = cases.values(tcp, udp, runs) | competing.response_values(points, runs) | competing.values(beside, runs)
    mean = competing.means(points)
    return values | {"tcp": tcp, "udp": udp, "response": mean, "competing": beside, "runs": runs}
