"""Values on the laws of a packet's cost, by its length: which of them the document's onsets prefer, and by how much."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tightlink.studies.router_response.observe.regions import full
from tightlink.studies.router_response.setup import laws
from tightlink.studies.router_response.setup.probes import REFINED

if TYPE_CHECKING:
    from tightlink.studies.router_response.observe.regions import Routers


def values(found: Routers) -> dict[str, object]:
    """What claims compare, by name: LAW.… of what is simulated, LAW.bic and LAW.aicc of the document's figures.

    BIC is of the three onsets in packets/s, for which AICc does not exist; AICc of all six that are printed.
    """
    each: dict[str, object] = {"laws.figures": len(laws.ALL)}
    for law in laws.LAWS:
        each |= {f"{law.name}.bic": law.fit(laws.IN_PACKETS).bic, f"{law.name}.aicc": law.fit(laws.ALL).aicc}
    for name, own in found.by_law.items():
        each |= {f"{name}.governs": own.governs or "nothing", f"{name}.governs_sure": own.explained.sure}
        each |= {f"{name}.variation.{metric}": spread.variation for metric, spread in own.spreads.items()}
        for size in REFINED:
            # Not by the reading, which samples that are missed make uneven just there.
            each[f"{name}.{size}.per_s"] = full(found.law_tables[name].filter(pl.col("packet_bytes") == size))
    for size in REFINED:
        each[f"pools.{size}.packet_us"] = laws.POOLS.packet_s(size) * 1e6
    return each
