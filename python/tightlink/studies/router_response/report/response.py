"""The parts of the report on the router's response: onset, reading, bit rate, loss, and what governs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.reduce import largest
from tightlink.report import Chart, Format, Row, Section, Table, Text
from tightlink.studies.claims_table import figure
from tightlink.studies.router_response.report import charts
from tightlink.studies.router_response.setup import costs
from tightlink.studies.router_response.setup.document import LENGTHS, SHORTEST
from tightlink.studies.router_response.setup.probes import REFINED
from tightlink.studies.words import MBIT, mbit, per_s, percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.experiment.claims import Claim
    from tightlink.studies.router_response.observe import Observed
    from tightlink.studies.router_response.observe.regions import Routers

_METRICS: Final = {"packets_per_s": "packet rate", "throughput_bps": "bit rate", "packet_bytes": "packet length"}


def sections(observed: Observed, claims: Mapping[str, Claim]) -> list[Section]:
    """All parts, the answer first."""
    return [
        _onset(observed.routers, claims),
        _reading(observed),
        _over_bits(observed.routers, claims),
        _loss(observed.routers),
        _governs(observed.routers),
    ]


def _onset(found: Routers, claims: Mapping[str, Claim]) -> Section:
    rows = [
        {
            "length": f"{size} B",
            "document: packets/s": figure(claims, f"onset.{size}") if size in REFINED else None,
            "here: packets/s": found.onset_per_s(size) if size in REFINED else None,
            "between": _between(found, size),
            "document: Mbit/s": figure(claims, f"onset.{size}.bit-rate") if size in REFINED else None,
            "here: Mbit/s": found.onset_per_s(size) * 8 * size / MBIT if size in REFINED else None,
        }
        for size in LENGTHS
    ]
    formats: dict[str, Format] = {
        "document: packets/s": ".0f", "here: packets/s": ".0f", "document: Mbit/s": ".1f", "here: Mbit/s": ".2f"
    }  # fmt: skip
    finding = f"{found.of_grid.sentence()}: that is all that the document's grid can say.".replace(
        "load stops", "On the document's grid load stops"
    )
    text = (
        f"The curves of five packet lengths lie on each other: what differs by a factor of 23 in bit/s is the same in "
        f"packets/s. The document prints an onset for three lengths (dashed), but its probes step from 3,333 to 5,000 "
        "packets/s and then to 10,000: its onsets are interpolations, and each of its unstable and highly unstable "
        f"regions is a single probe. With probes every 100 packets/s the unstable region begins {found.found.onset} "
        f"packets/s for each length, and with more beyond the reading of 65 B falls {found.fall} packets/s."
    )
    return Section(
        "Where the router gives way",
        finding,
        [Text(text), Chart(charts.load_over_rate(found, claims), "Dashed lines and diamonds: figures of the document. "
              "Shaded: regions as found with the extra probes."),
         Table(pl.DataFrame(rows), "Onset of the unstable region of router A", formats)],
    )  # fmt: skip


def _reading(observed: Observed) -> Section:
    short = observed.routers.probes(SHORTEST)
    top = largest(short["load"])
    last = short.row(-1, named=True)
    finding = (
        f"The reading never exceeds {percent(top)} because it has not forgotten the time before the probe, and it "
        f"falls to {percent(last['load'])} while the CPU is busy throughout: it is the meter that gets no turn."
    )
    text = (
        "The router's one-minute load is a decaying average: a low-priority process moves it every 5 s by a twelfth "
        f"of the difference. {costs.SAMPLES} such steps after a probe began, a CPU that is always busy reads "
        f"{percent(costs.reading(1.0))}. So 72 % is not a load but a *level*: saturation, seen through the device's "
        "average. That the document took its readings about a minute after the first packet is what it says itself.\n\n"
        "Past the onset low-priority work lives on what it is guaranteed. As each arrival costs an interrupt, even "
        "if the packet is then dropped, there is ever less left to be guaranteed a share of; once a sample takes "
        "more than 5 s, updates are missed and the reading stays behind."
    )
    return Section("What the router reports", finding, [Text(text), Row(charts.true_and_reported(observed))])


def _over_bits(found: Routers, claims: Mapping[str, Claim]) -> Section:
    most = found.probes(SHORTEST, grid=True).sort("b_packets_per_s").row(-1, named=True)
    finding = (
        f"Over bit rate each length has a curve of its own. Router B sees only what the serial link lets through: "
        f"with 65 B at most {per_s(most['b_packets_per_s'])}, where it reads {percent(most['b_load'])}."
    )
    text = (
        f"The shaded regions are those of 65 B. The document has three onsets for these packets, just over 2 Mbit/s, "
        f"2.5 Mbit/s and 4290 packets/s ({mbit(4290 * 8 * 65)}), and 4.6 Mbit/s for 1500 B, of which its 3925 "
        f"packets/s make {mbit(3925 * 8 * 1500, 1)}."
    )
    return Section(
        "The same over bit rate, and router B",
        finding,
        [Text(text), Chart(charts.load_over_bits(found, claims)), Row(charts.router_b(found, claims))],
    )


def _loss(found: Routers) -> Section:
    rows = []
    for size in LENGTHS:
        own = found.probes(size, grid=True)
        fastest = own.row(-1, named=True)
        rows.append(
            {
                "length": f"{size} B",
                "link full at (Mbit/s)": largest(own["throughput_bps"]) / MBIT,
                "at 0.1 ms: sent by the clock (packets/s)": fastest["nominal_packets_per_s"],
                "reach router A": fastest["offered_packets_per_s"],
                "lost at input rings %": 100 * fastest["lost_input_ring"],
                "lost at output rings %": 100 * fastest["lost_output_ring"],
                "delivered (packets/s)": fastest["packets_per_s"],
            }
        )
    formats: dict[str, Format] = {name: ".0f" for name in rows[0] if "packets/s" in name or name.startswith("reach")}
    formats |= {"link full at (Mbit/s)": ".2f", "lost at input rings %": ".1f", "lost at output rings %": ".1f"}
    finding = (
        "Loss starts where the serial link is full, at 2.0 to 2.2 Mbit/s counted as the document counts; from the "
        "onset on the CPU adds its own, at the input ring."
    )
    text = (
        "The serial frame is 6 B shorter than the document's packet length, which counts Ethernet's header: that is "
        "why the link is full at 2.2 Mbit/s with 65 B. At equal bit rate short packets lose more, as they are more; "
        "at equal packet rate long ones do, as the link fits fewer of them. In livelock less than the link's share "
        "arrives: at 10,000 packets/s of 65 B most are dropped after their interrupt was paid for."
    )
    return Section("Loss", finding, [Text(text), Row(charts.loss(found)), Table(pl.DataFrame(rows), "", formats)])


def _governs(found: Routers) -> Section:
    explained, spreads = found.of_grid.explained, found.of_grid.spreads
    rows: list[dict[str, Any]] = [
        {
            "metric": words,
            "R² alone": explained.r2[metric].value,
            "share of R²": explained.importance[metric].value,
            "onsets vary by %": 100 * spreads[metric].variation,
            "onsets coincide": "yes" if spreads[metric].coincide else "no",
        }
        for metric, words in _METRICS.items()
        if metric in spreads
    ]
    bytes_ = found.variants["A, cost per byte"]
    finding = (
        f"The {_METRICS[found.of_grid.governs]} governs: {percent(explained.sure)} of resampled tables agree."
        if found.of_grid.governs
        else "What governs cannot be told."
    )
    text = (
        "Load in the stable region, explained by each quantity alone and by all three together (R² shared out), and "
        "how far apart the onsets of the lengths are in each. The same analysis of a router with a cost per byte "
        f"comes out the other way: {bytes_.sentence()}."
    )
    formats: dict[str, Format] = {"R² alone": ".3f", "share of R²": ".3f", "onsets vary by %": ".0f"}
    return Section("What governs the load", finding, [Text(text), Table(pl.DataFrame(rows), "", formats)])


def _between(found: Routers, size: int) -> str:
    if size in REFINED:
        return str(found.length(size).onset).removeprefix("between ")
    own = next(length for length in found.of_grid.lengths if length.packet_bytes == size)
    return f"{str(own.onset).removeprefix('between ')} (grid)"
