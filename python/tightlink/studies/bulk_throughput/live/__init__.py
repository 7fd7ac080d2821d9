"""What is measured: some cells of the document's grids over a link in real time, beside the same cells simulated."""

from __future__ import annotations

from tightlink.studies.bulk_throughput.live.measurements import measurements
from tightlink.studies.bulk_throughput.live.observe import observe
from tightlink.studies.bulk_throughput.live.report import report

__all__ = ["measurements", "observe", "report"]
