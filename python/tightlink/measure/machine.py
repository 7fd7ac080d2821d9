"""What measuring needs of a machine, and what of it is not there, each in one sentence."""

from __future__ import annotations

import functools
import os
import shutil
from typing import Literal

from tightlink.errors import TightlinkError

Need = Literal["tun", "iperf3", "ping"]


@functools.cache
def missing(need: Need) -> str | None:
    """Why something is not there, or nothing where it is.

    Args:
        need: ``tun``, hosts as namespaces with TUN devices; ``iperf3`` or ``ping``, the programs.
    """
    if need != "tun":
        return None if shutil.which(need) else f"{need} is not installed"
    from tightlink.measure.testbed import Bed

    try:
        with Bed() as bed:
            bed.add_host("host")
            os.close(bed.add_tun("host", "10.0.0.1/32"))
    except TightlinkError as error:
        return str(error)
    return None
