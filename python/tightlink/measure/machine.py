"""What measuring needs of a machine, and what of it is not there, each in one sentence."""

from __future__ import annotations

import functools
import os
import shutil
from typing import Literal

from tightlink.errors import TightlinkError
from tightlink.measure.forwarding import try_out
from tightlink.measure.testbed import Bed

Need = Literal["tun", "packet", "forwarding", "iperf3", "ping"]


@functools.cache
def missing(need: Need) -> str | None:
    """Why something is not there, or nothing where it is.

    ``tun``: hosts as namespaces with TUN devices; ``packet``: with packet sockets instead; ``forwarding``: a router
    that is the kernel, with a processor beside that of its sender; ``iperf3`` and ``ping``: the programs.
    """
    try:
        if need == "tun":
            with Bed() as bed:
                bed.add_host("host")
                os.close(bed.add_tun("host", "10.0.0.1/32"))
        elif need == "packet":
            with Bed() as bed:
                for host in ("host", "links"):
                    bed.add_host(host)
                bed.add_wire(("host", "10.0.0.1/32"), ("links", None))
                os.close(bed.packet_socket("links", "wire0"))
        elif need == "forwarding":
            try_out()
        elif shutil.which(need) is None:
            return f"{need} is not installed"
    except TightlinkError as error:
        return str(error)
    return None


def check_tun() -> None:
    """Refuse a machine whose hosts cannot have TUN devices, and say what works instead."""
    if (why := missing("tun")) is not None:
        instead = ["--device packet needs none"] if missing("packet") is None else []
        raise TightlinkError("; ".join([why, *instead, "tightlink run simulates the scenario without it"]))
