"""The part of the report on what a packet costs the two routers."""

from __future__ import annotations

import polars as pl

from tightlink.report import Format, Section, Table, Text
from tightlink.studies.router_response.setup import costs
from tightlink.studies.router_response.setup.document import INTERVALS_MS, LENGTHS
from tightlink.studies.words import percent


def section() -> Section:
    """The routers' costs, and how sure they are."""
    rows = [
        {
            "router": name,
            "interrupt µs": own.interrupt_us,
            "then per packet µs": own.per_packet_us,
            "together µs": own.packet_s * 1e6,
            "from": words,
        }
        for name, own, words in (
            ("A", costs.A, "mean onset 4102/s; the serial link still full at 5,000/s; the fall from 3 Mbit/s on"),
            ("B", costs.B, "66 % at 2.2 Mbit/s of 65 B; interrupt in the same proportion"),
        )
    ]
    formats: dict[str, Format] = {name: ".1f" for name in rows[0] if "µs" in name}
    low, high = (1e6 * (1 - costs.LOW_LOAD) / rate for rate in (5000, 1 / 0.3e-3))
    text = (
        "The document prints readings, not costs. One set for each router, for all lengths, follows from five of its "
        "figures by closed formulas (module `costs`); the claims that repeat these figures say so, and everything "
        f"else is prediction. Low-priority work asks for {percent(costs.LOW_LOAD)}: background of "
        f"{costs.BACKGROUND_MS} ms every {costs.BACKGROUND_EVERY_MS} ms (chosen) and {costs.METER_MS} ms of the meter "
        f"every 5 s (from the fall); {percent(costs.GUARANTEED)} of what interrupts leave are guaranteed to it "
        "(chosen, the usual setting of such routers).\n\n"
        "How sure? The printed onsets lie between probes at 3,333 and 5,000 packets/s, so a packet costs router A "
        f"between {low:.0f} and {high:.0f} µs; where between is the authors' interpolation. How much of it is "
        "interrupt hangs on the chosen background: "
        f"{1e6 * costs.interrupt_s(7):.0f} µs with 7 % of it, {1e6 * costs.interrupt_s(10):.0f} µs with 10 %. Regions, "
        "ends and what governs do not."
    )
    finding = f"A packet costs router A {costs.A.packet_s * 1e6:.0f} µs and router B {costs.B.packet_s * 1e6:.0f} µs."
    probes = (
        f"Probes: lengths {', '.join(map(str, LENGTHS))} B at {len(INTERVALS_MS)} inter-arrival times from "
        "0.1 to 100 ms, 120 s each; extra ones, of 80 s, from 3,000 to 6,000 packets/s by 100 and to 10,000 by 500."
    )
    return Section("The two routers", finding, [Text(text), Table(pl.DataFrame(rows), "", formats), Text(probes)])
