"""A router whose processor time is spent, not added up: devices are its input rings, a thread is its processor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tightlink.errors import TightlinkError
from tightlink.lazy import pl
from tightlink.measure.hosts import Device
from tightlink.measure.plan import Plan
from tightlink.measure.relay import Relayed


def input_ring(plan: Plan, device: Device) -> int:
    """The packets that a router's input rings hold."""
    if plan.processor is None:
        raise AssertionError("a relay is not told to spend the time of no processor")
    if device != "tun":
        raise TightlinkError(f"a device of kind {device} is no input ring of a router that spends its time: take tun")
    name, _, processor = plan.processor
    limit: Mapping[str, Any] | str = processor["input_ring"]
    if isinstance(limit, str) or "packets" not in limit:
        raise TightlinkError(f"the input ring of {name} must be in packets where its time is spent")
    return int(limit["packets"])


def as_router(relayed: Relayed, dropped: int, *, load: float | None = None) -> Relayed:
    """What a link did as a router that spends its time: with what its input ring dropped, and what the kernel saw."""
    nodes = relayed.tables["nodes"].with_columns(
        pl.col("packets_in") + dropped,
        dropped_input_ring=pl.lit(dropped, pl.Int64),
        load_reported=pl.lit(load, pl.Float64),
    )
    return replace(relayed, tables={**relayed.tables, "nodes": nodes})
