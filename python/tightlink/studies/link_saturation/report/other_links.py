"""The parts of the report on other links with the same interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.report import Chart, Row, Section, Table, Text, charts
from tightlink.studies.link_saturation.observe.other_links import row
from tightlink.studies.link_saturation.setup.document import FRAGMENT_LIMIT_BYTES, LARGEST_BYTES, SMALLEST_BYTES
from tightlink.studies.link_saturation.setup.interface import SMALLEST_FRAME_BYTES
from tightlink.studies.link_saturation.setup.sweeps import (
    BARE_LINE,
    FRAGMENTS,
    GIGABIT,
    GIGABIT_JUMBO,
    JUMBO_FRAMES,
    MAIN,
    SLOW,
)

if TYPE_CHECKING:
    from tightlink.studies.link_saturation.observe import Observed

_MBIT: Final = 1e6
_PERCENT: Final = 100


def sections(observed: Observed) -> list[Section]:
    """Fragments and jumbo frames; other bandwidths; the smallest frame."""
    return [_large_section(observed), _bandwidth_section(observed), _smallest_section(observed)]


def _large_section(observed: Observed) -> Section:
    whole, cut = observed.tables[MAIN.name], observed.tables[FRAGMENTS.name]
    jumbo = observed.tables[JUMBO_FRAMES.name]
    lost = 1 - row(cut, FRAGMENT_LIMIT_BYTES)["goodput_bps"] / row(whole, LARGEST_BYTES)["goodput_bps"]
    won = jumbo["goodput_bps"].to_list()[-1] / row(whole, LARGEST_BYTES)["goodput_bps"] - 1
    finding = (
        f"One byte above 1472 B costs {_PERCENT * lost:.1f} % of the goodput, the line time of a second frame that is "
        f"almost empty; frames of 9000 B win {_PERCENT * won:.1f} %, all of it headers and gaps."
    )
    text = (
        "A datagram that does not fit is cut into fragments, each with an IP header of its own and a frame of its own. "
        "At 1475 B the second one carries 3 B of data and 20 B of header, padded to the smallest frame of 64 B, not "
        "the 3 B that the document has. The interface processes twice the packets and is still faster than the line. A "
        "third frame begins the same way at 2953 B."
    )
    near = pl.concat(
        table.filter(pl.col("datagram_bytes").is_between(1000, 3000)).select(
            "datagram_bytes", "goodput_bps", mtu=pl.lit(words)
        )
        for table, words in ((whole, "1500 B, whole"), (cut, "1500 B, in fragments"), (jumbo, "9000 B"))
    )
    chart = charts.points(
        near, "datagram_bytes", "goodput_bps", by="mtu", x_title="payload of a datagram (B)", height=280,
        x_domain=(1000, 3050), y_domain=(85 * _MBIT, 100 * _MBIT),
    )  # fmt: skip
    return Section(
        "Fragments and jumbo frames", finding, [Text(text), Chart(chart, "The upright axis begins at 85 Mbit/s.")]
    )


def _bandwidth_section(observed: Observed) -> Section:
    tables = {sweep.name: observed.tables[sweep.name] for sweep in (SLOW, MAIN, GIGABIT)}
    fast = row(tables[GIGABIT.name], LARGEST_BYTES)
    jumbo = row(observed.tables[GIGABIT_JUMBO.name], JUMBO_FRAMES.payloads[-1])
    finding = (
        "The same interface never saturates at 10 Mbit/s and always does at 1 Gbit/s, where packets of 1450 B bring "
        f"{fast['goodput_bps'] / _MBIT:.0f} Mbit/s and jumbo frames {jumbo['goodput_bps'] / _MBIT:.0f}."
    )
    rows = []
    for sweep in (SLOW, MAIN, GIGABIT):
        found = observed.main.compared[sweep.name]
        small, large = row(tables[sweep.name], SMALLEST_BYTES), row(tables[sweep.name], LARGEST_BYTES)
        rows.append(
            {
                "link": sweep.name,
                "packets/s at 25 B": small["packets_per_s"],
                "goodput Mbit/s at 25 B": small["goodput_bps"] / _MBIT,
                "at 1450 B": large["goodput_bps"] / _MBIT,
                "interface % at 25 B": _PERCENT * min(1.0, small["load"]),
                "found (frames)": found.sentence(),
            }
        )
    formats: dict[str, Any] = {
        "packets/s at 25 B": ",.0f", "goodput Mbit/s at 25 B": ".2f", "at 1450 B": ".1f", "interface % at 25 B": ".0f",
    }  # fmt: skip
    joined = pl.concat(
        table.select("payload_bytes", "packets_per_s", "goodput_bps", link=pl.lit(name))
        for name, table in tables.items()
    )
    both = [
        charts.points(
            joined, "payload_bytes", column, by="link", x_title="payload (B)", title=title, height=260,
            y_scale="log", y_domain=domain, x_domain=(0, 1500),
        )
        for column, title, domain in (
            ("goodput_bps", "Goodput", (2e6, 3e8)), ("packets_per_s", "Packet rate", (500.0, 50_000.0)),
        )
    ]  # fmt: skip
    return Section("10 Mbit/s and 1 Gbit/s", finding, [Row(both), Table(pl.DataFrame(rows), "", formats)])


def _smallest_section(observed: Observed) -> Section:
    table = observed.tables[BARE_LINE.name]
    top, kink = table["packets_per_s"].to_list()[0], observed.main.bare_line.better.critical_bytes
    finding = (
        f"Without any interface the line alone has a largest packet rate, {top:,.0f}/s, as no frame is shorter than "
        f"{SMALLEST_FRAME_BYTES} B: below 18 B of payload it looks saturated, and no processor is."
    )
    text = (
        "Frames of less than 64 B are padded; with preamble and gap each takes at least 84 B of line time, 6.72 µs "
        f"at 100 Mbit/s. The same analysis finds the kink where it is: {kink.value:.0f} B of "
        "IP packet, 18 B of payload. The document's smallest frame, 71 B, is just above it, so padding plays no "
        "part in its figures; a sweep that goes lower would mix two causes."
    )
    chart = charts.points(
        table.filter(pl.col("datagram_bytes") <= 150).select("datagram_bytes", "packets_per_s", "goodput_bps"),
        "datagram_bytes", "packets_per_s", x_title="payload (B)", height=240, y_domain=(0, 160_000),
    )  # fmt: skip
    return Section(
        "The smallest frame", finding, [Text(text), Chart(chart, "100 Mbit/s, packets cost the sender nothing.")]
    )
