"""What is measured: some cells of the document's grids over a link in real time, beside the same cells simulated."""

from __future__ import annotations

from tightlink.studies.bulk_throughput.live.observe import observe
from tightlink.studies.bulk_throughput.live.report import report
from tightlink.studies.bulk_throughput.live.setup import measurements, tasks

__all__ = ["measurements", "observe", "report", "tasks"]
