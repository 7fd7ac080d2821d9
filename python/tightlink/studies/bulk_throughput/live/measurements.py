"""What is measured on real hosts: the cells of `tightlink.studies.bulk_throughput.setup.linux`, some by iperf3, too."""

from __future__ import annotations

from typing import Final

from tightlink.studies.bulk_throughput.setup.linux import ECHO_S, cells
from tightlink.studies.live import Firm, Measurement

IPERF3: Final = "iperf3"


def measurements() -> list[Measurement]:
    """The cells, measured: by the probe, whose windows are exact, until their medians are firm; some by iperf3."""
    from tightlink.measure.machine import missing

    own = [Measurement(each.name, each.scenario, echo_s=ECHO_S, firm=Firm(each.goodput_bps)) for each in cells()]
    if missing(IPERF3) is not None:
        return own
    return own + [
        Measurement(f"{IPERF3}/{each.name}", each.scenario, sender=IPERF3, echo_s=ECHO_S)
        for each in cells()
        if each.witnessed
    ]
