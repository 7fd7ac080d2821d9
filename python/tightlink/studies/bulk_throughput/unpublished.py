"""What the document says of its measurements, which were never published: nothing here can be tested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tightlink.experiment.claims import untestable
from tightlink.studies.bulk_throughput.paths import DOCUMENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tightlink.experiment.claims import Claim

_WHY: Final = "The measured goodputs were not published; tightlink predict --observed tests such statements."
_STATEMENTS: Final = (
    ("in2p3.residuals", "IN2P3: (o − s) / o is typically better than 30 %", "IN2P3", _WHY),
    ("caltech.qualitative", "Caltech: quite good qualitative agreement", "Caltech", _WHY),
    ("caltech.residuals", "Caltech: with more than 3 flows (o − s) / o is within ± 20 %", "Caltech", _WHY),
    ("caltech.few-flows", "Caltech: poor agreement with few flows", "Caltech", _WHY),
    ("caltech.underestimate", "Caltech: the simulator underestimates with many flows", "Caltech", _WHY),
    ("caltech.r2-origin", "Caltech: R² is 0.7746 for a line through the origin", "Caltech",
     f"{_WHY} Being less than that of the free line, it is about the mean."),
    ("caltech.r2-free", "Caltech: R² is 0.802 for a free line", "Caltech", _WHY),
    ("caltech.bandwidth", "Caltech: the bottleneck measured by pipechar is 45 Mbit/s", "Caltech",
     "A measurement; \"from 25 to 35 Mbit/s\", as the document goes on, is LBNL's sentence."),
    ("caltech.ping-measured", "Caltech: measured pings lose much less than simulated TCP", "Caltech",
     "The measured pings were not published; claims caltech.ping-… simulate them."),
    ("lbnl.uniform", "LBNL: the simulated goodputs are more uniform than those measured", "LBNL", _WHY),
    ("lbnl.few-flows", "LBNL: poor agreement with 4 flows or fewer", "LBNL", _WHY),
    ("summary.r2-daresbury", "Daresbury: R² of simulated and observed goodput is 0.885", "summary", _WHY),
    ("summary.r2-in2p3", "IN2P3: R² of simulated and observed goodput is 0.85", "summary", _WHY),
    ("summary.r2-caltech", "Caltech: R² of simulated and observed goodput is 0.785", "summary",
     f"{_WHY} It is neither of the two that the text gives, 0.7746 and 0.802."),
    ("summary.r2-lbnl", "LBNL: R² of simulated and observed goodput is 0.2", "summary", _WHY),
    ("summary.small-windows", "Many hosts are set to windows of 64 kB or less", "summary",
     "A statement on the hosts of 2000; tightlink predict --max-window says what it costs."),
)  # fmt: skip


def claims() -> Iterator[Claim]:
    """All of them, open."""
    for name, statement, where, reason in _STATEMENTS:
        yield untestable(name, statement, f"{DOCUMENT}, {where}", reason)
