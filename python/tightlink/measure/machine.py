"""What measuring needs of a machine, and what of it is not there, each in one sentence."""

from __future__ import annotations

import functools
import os
import shutil
from typing import Literal

from tightlink.errors import TightlinkError
from tightlink.measure.forwarding import try_out
from tightlink.measure.testbed import Bed

Need = Literal["tun", "forwarding", "iperf3", "ping"]


@functools.cache
def missing(need: Need) -> str | None:
    """Why something is not there, or nothing where it is.

    Args:
        need: ``tun``, hosts as namespaces with TUN devices; ``forwarding``, a router that is the kernel, with a
            processor beside that of its sender; ``iperf3`` or ``ping``, the programs.
    """
    try:
        if need == "tun":
            with Bed() as bed:
                bed.add_host("host")
                os.close(bed.add_tun("host", "10.0.0.1/32"))
        elif need == "forwarding":
            try_out()
        elif shutil.which(need) is None:
            return f"{need} is not installed"
    except TightlinkError as error:
        return str(error)
    return None
