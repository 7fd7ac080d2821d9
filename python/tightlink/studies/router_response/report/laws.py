"""The part of the report on what a packet costs by its length: bytes, or pools of buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tightlink.report import Format, Section, Table, Text
from tightlink.studies.router_response.setup import laws
from tightlink.studies.router_response.setup.document import LENGTHS, ONSETS_PER_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.studies.router_response.observe.regions import Routers


def section(found: Routers, values: Mapping[str, object]) -> Section:
    """Three laws beside the document's onsets, and what would tell them apart."""
    of_three = {law.name: law.fit(laws.IN_PACKETS).bic for law in laws.LAWS}
    of_six = {law.name: law.fit(laws.ALL).aicc for law in laws.LAWS}
    rows = [
        {
            "law": law.title,
            "costs fitted": len(law.terms(LENGTHS[0])),
            **{f"{size} B": law.onset_per_s(size) for size in LENGTHS},
            "BIC, three onsets": of_three[law.name],
            "AICc, six onsets": of_six[law.name],
        }
        for law in laws.LAWS
    ]
    printed = {f"{size} B": ONSETS_PER_S.get(size) for size in LENGTHS}
    rows.append(
        {"law": "document", "costs fitted": None, **printed, "BIC, three onsets": None, "AICc, six onsets": None}
    )
    formats: dict[str, Format] = {f"{size} B": ",.0f" for size in LENGTHS}
    formats |= {"BIC, three onsets": ".1f", "AICc, six onsets": ".1f"}
    best, all_of = (min(criteria, key=criteria.__getitem__) for criteria in (of_three, of_six))
    titles = {law.name: law.title for law in laws.LAWS}
    simulated = "; ".join(
        f"{titles[name]}: " + ", ".join(f"{size} B {values[f'{name}.{size}.per_s']:,.0f}" for size in ONSETS_PER_S)
        for name in found.by_law
    )
    finding = (
        f"Over the three onsets in packets/s the best law is: {titles[best]}. Over all six that are printed it is: "
        f"{titles[all_of]}. The figures cannot name the cause."
    )
    text = (
        "The document lays its result to buffers that are counted in packets. IOS takes a buffer from the first of "
        f"its pools that holds the packet: small ({laws.POOL_BYTES['small']} B), middle ({laws.POOL_BYTES['middle']} "
        f"B), big ({laws.POOL_BYTES['big']} B; Cisco, Buffer Tuning for all Cisco Routers, document 15091). If buffers "
        "cost, the cost of a packet steps from pool to pool; if copying costs, it grows with each byte. From packet "
        "to packet 4290, 4092 and 3925 per second are two steps of nearly one height, which no line over 65, 130 and "
        "1500 B follows. But they are interpolations, two of the document's figures for 65 B are further apart than "
        "those of 65 and 1500 B, and IOS's pools hold packets that are process-switched, which the document does not "
        "say of its own.\n\n"
        f"Simulated, the processor is asked for more than it has from so many packets/s on: {simulated}; with one cost "
        f"from {found.found.onset} for all.\n\n"
        "What would decide: the document measured 90 and 1200 B, too, and prints no onset of them. By pool 90 B begin "
        "where 65 B do and 1200 B where 1500 B do; lengths on both sides of 104 and of 600 B would show a step."
    )
    caption = (
        "Onsets in packets/s, each law fitted to the three that are printed in packets/s; of criteria less is better"
    )
    return Section("Bytes, or pools of buffers", finding, [Text(text), Table(pl.DataFrame(rows), caption, formats)])
