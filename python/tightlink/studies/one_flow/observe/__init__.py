"""What is observed: named values that claims compare, and the tables that the report shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from tightlink.run import Run
from tightlink.studies.one_flow.observe import cases, company
from tightlink.studies.one_flow.observe.cases import Measured
from tightlink.studies.one_flow.observe.company import Company


@dataclass(frozen=True)
class Observed:
    """All that was observed."""

    values: Mapping[str, object]
    tcp: Mapping[str, Measured]
    udp: Mapping[str, Measured]
    response: pl.DataFrame
    """Loss and packets a round trip, means over seeds."""
    company: Company
    runs: Mapping[str, Run]


def observe(runs: Mapping[str, Run]) -> Observed:
    """From runs to values and tables."""
    tcp, udp = (cases.measured_cases(runs, transport) for transport in ("tcp", "udp"))
    mean, beside = company.means(company.points(runs)), company.Company.of(runs)
    values = cases.values(tcp, udp, runs) | company.response_values(mean, runs) | company.values(beside, runs)
    return Observed(values, tcp, udp, mean, beside, runs)
