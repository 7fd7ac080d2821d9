"""What is observed: named values that claims compare, and the tables that the report shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tightlink.run import Run
from tightlink.studies.one_flow.observe import cases, company
from tightlink.studies.one_flow.observe.company import Company


def observe(runs: Mapping[str, Run]) -> dict[str, Any]:
    """From runs to values and tables, by name; ``response`` has loss and packets a round trip, means over seeds."""
    tcp, udp = (cases.measured_cases(runs, transport) for transport in ("tcp", "udp"))
    mean, beside = company.means(company.points(runs)), Company.of(runs)
    values = cases.values(tcp, udp, runs) | company.response_values(mean, runs) | company.values(beside, runs)
    return values | {"tcp": tcp, "udp": udp, "response": mean, "company": beside, "runs": runs}
