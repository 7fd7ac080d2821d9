"""Other links with the same interface: fragments, jumbo frames, 10 Mbit/s and 1 Gbit/s, the smallest frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.analysis.saturation import find
from tightlink.experiment.claims import Claim, exact, holds_if, within
from tightlink.report import Chart, Row, Section, Table, Text, charts
from tightlink.studies.link_saturation.document import (
    DOCUMENT,
    FRAGMENT_LIMIT_BYTES,
    LARGEST_BYTES,
    MEAN_FRAGMENT_BYTES,
    SECOND_FRAGMENT_BYTES,
    SMALLEST_BYTES,
    half_digit,
)
from tightlink.studies.link_saturation.interface import SMALLEST_FRAME_BYTES
from tightlink.studies.link_saturation.readings import in_frames
from tightlink.studies.link_saturation.sweeps import (
    BARE_LINE,
    FRAGMENTS,
    GIGABIT,
    GIGABIT_JUMBO,
    JUMBO_FRAMES,
    MAIN,
    SLOW,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.run import Run

_MBIT: Final = 1e6
_PERCENT: Final = 100
_MTU: Final = 1500
_SETUP: Final = f"{DOCUMENT}, section 3"
_RESULTS: Final = f"{DOCUMENT}, section 4"
#: Rates that are the same, but for what counting whole packets leaves.
_SAME: Final = 0.001
#: Resamples where intervals are not shown.
_FEW: Final = 19
_LARGEST_WHOLE: Final = 1472


def claims(runs: Mapping[str, Run]) -> Iterator[Claim]:
    """What the document says of fragments, larger packets and other bandwidths."""
    yield from _fragments(runs)
    yield from _jumbo(runs)
    yield from _bandwidths(runs)


def _fragments(runs: Mapping[str, Run]) -> Iterator[Claim]:
    whole, cut = _row(MAIN.table(runs), LARGEST_BYTES), _row(FRAGMENTS.table(runs), FRAGMENT_LIMIT_BYTES)
    frames = cut["packets_per_s"] * 8 * FRAGMENT_LIMIT_BYTES / cut["goodput_bps"]
    edge = {size: _row(FRAGMENTS.table(runs), size) for size in (_LARGEST_WHOLE, _LARGEST_WHOLE + 1)}
    per_datagram = {size: row["packets_per_s"] * 8 * size / row["goodput_bps"] for size, row in edge.items()}
    yield exact(
        "fragments.limit", "A datagram of 1475 B is two frames", _SETUP, 2, round(frames),
        reason="So is any above 1472 B, which is 1500 B with 28 B of headers: "
        f"{', '.join(f'{size} B {round(count)}' for size, count in per_datagram.items())}.",
    )  # fmt: skip
    mean = cut["packet_bytes"]
    yield exact(
        "fragments.second", "The second frame of a datagram of 1475 B carries 3 B", _SETUP, SECOND_FRAGMENT_BYTES,
        round(2 * mean - _MTU), unit="B",
        reason="The document forgets that each fragment has an IP header of its own: 3 B of data and 20 B of header. "
        "Ethernet pads the frame to 64 B. Here: twice the mean packet, less 1500 B.",
    )  # fmt: skip
    yield within(
        "fragments.mean", "The average frame payload drops to about 750 B", _SETUP, MEAN_FRAGMENT_BYTES, mean,
        tolerance=half_digit(MEAN_FRAGMENT_BYTES), unit="B",
        reason='The same slip: (1500 + 23) / 2 instead of (1500 + 3) / 2. "About": half of the last digit.',
    )  # fmt: skip
    step = 1 - cut["goodput_bps"] / whole["goodput_bps"]
    before = MAIN.table(runs)["goodput_bps"].to_list()
    yield holds_if(
        "fragments.step", "Throughput changes suddenly at the fragmentation limit", _SETUP,
        f"{whole['goodput_bps'] / _MBIT:.1f} to {cut['goodput_bps'] / _MBIT:.1f} Mbit/s",
        cut["goodput_bps"] < whole["goodput_bps"] and step > 10 * abs(before[-1] / before[-2] - 1),
        f"Goodput falls by {_PERCENT * step:.1f} % from 1450 to 1475 B, after rising by "
        f"{_PERCENT * (before[-1] / before[-2] - 1):.2f} % in the step before: it is the line time of a second frame. "
        "The interface, with two packets to process, is still faster than the line.",
    )  # fmt: skip


def _jumbo(runs: Mapping[str, Run]) -> Iterator[Claim]:
    normal, jumbo = _row(MAIN.table(runs), LARGEST_BYTES), _row(JUMBO_FRAMES.table(runs), JUMBO_FRAMES.payloads[-1])
    fast, fast_jumbo = (
        _row(sweep.table(runs), size)
        for sweep, size in ((GIGABIT, LARGEST_BYTES), (GIGABIT_JUMBO, JUMBO_FRAMES.payloads[-1]))
    )
    yield holds_if(
        "jumbo.higher", "Jumbo frames give higher throughput", _RESULTS,
        f"{normal['goodput_bps'] / _MBIT:.1f} to {jumbo['goodput_bps'] / _MBIT:.1f} Mbit/s",
        jumbo["goodput_bps"] > normal["goodput_bps"], "Goodput of 1450 and 8950 B at 100 Mbit/s.",
    )  # fmt: skip
    yield holds_if(
        "jumbo.cause", "Jumbo frames do so by sparing per-packet work: at 100 Mbit/s", _RESULTS,
        f"interface busy {_PERCENT * normal['load']:.0f} %", normal["load"] >= 1,
        "Not on this link: at 1450 B the interface waits for the line. What jumbo frames save here is the line time of "
        f"headers, preamble and gap, {_PERCENT * (jumbo['goodput_bps'] / normal['goodput_bps'] - 1):.1f} %.",
    )  # fmt: skip
    yield holds_if(
        "jumbo.cause-gigabit", "Jumbo frames do so by sparing per-packet work: at 1 Gbit/s", _RESULTS,
        f"{fast['goodput_bps'] / _MBIT:.0f} to {fast_jumbo['goodput_bps'] / _MBIT:.0f} Mbit/s",
        fast["load"] >= 1 and fast_jumbo["goodput_bps"] > fast["goodput_bps"],
        "There the same interface is what limits, and six times the packet is "
        f"{fast_jumbo['goodput_bps'] / fast['goodput_bps']:.1f} times the goodput.",
    )  # fmt: skip


def _bandwidths(runs: Mapping[str, Run]) -> Iterator[Claim]:
    slow, usual, fast = (_row(sweep.table(runs), SMALLEST_BYTES) for sweep in (SLOW, MAIN, GIGABIT))
    rates = [row["packets_per_s"] for row in (slow, usual, fast)]
    yield holds_if(
        "bandwidth.any", "An adapter of 10, 100, 1000 Mbit/s has a largest packet rate",
        _RESULTS,
        ", ".join(f"{rate / 1e3:.1f}" for rate in rates) + " thousand/s",
        abs(rates[1] / rates[2] - 1) < _SAME and slow["load"] < 1,
        "At 25 B. The rate is the interface's own and the same at 100 and 1000 Mbit/s; at 10 Mbit/s the line is full "
        f"first, and the interface is busy for {_PERCENT * slow['load']:.0f} % of the time: it never saturates.",
    )  # fmt: skip


def sections(runs: Mapping[str, Run]) -> list[Section]:
    """Fragments and jumbo frames; other bandwidths; the smallest frame."""
    return [_large_section(runs), _bandwidth_section(runs), _smallest_section(runs)]


def _large_section(runs: Mapping[str, Run]) -> Section:
    whole, cut = MAIN.table(runs), FRAGMENTS.table(runs)
    jumbo = JUMBO_FRAMES.table(runs)
    lost = 1 - _row(cut, FRAGMENT_LIMIT_BYTES)["goodput_bps"] / _row(whole, LARGEST_BYTES)["goodput_bps"]
    won = jumbo["goodput_bps"].to_list()[-1] / _row(whole, LARGEST_BYTES)["goodput_bps"] - 1
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


def _bandwidth_section(runs: Mapping[str, Run]) -> Section:
    tables = {sweep.name: sweep.table(runs) for sweep in (SLOW, MAIN, GIGABIT)}
    fast, jumbo = _row(tables[GIGABIT.name], LARGEST_BYTES), _row(GIGABIT_JUMBO.table(runs), JUMBO_FRAMES.payloads[-1])
    finding = (
        "The same interface never saturates at 10 Mbit/s and always does at 1 Gbit/s, where packets of 1450 B bring "
        f"{fast['goodput_bps'] / _MBIT:.0f} Mbit/s and jumbo frames {jumbo['goodput_bps'] / _MBIT:.0f}."
    )
    rows = []
    for sweep in (SLOW, MAIN, GIGABIT):
        found = in_frames(sweep, runs)
        small, large = _row(tables[sweep.name], SMALLEST_BYTES), _row(tables[sweep.name], LARGEST_BYTES)
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


def _smallest_section(runs: Mapping[str, Run]) -> Section:
    table = BARE_LINE.table(runs)
    found = find(table, resamples=_FEW)
    top = table["packets_per_s"].to_list()[0]
    finding = (
        f"Without any interface the line alone has a largest packet rate, {top:,.0f}/s, as no frame is shorter than "
        f"{SMALLEST_FRAME_BYTES} B: below 18 B of payload it looks saturated, and no processor is."
    )
    text = (
        "Frames of less than 64 B are padded; with preamble and gap each takes at least 84 B of line time, 6.72 µs "
        f"at 100 Mbit/s. The same analysis finds the kink where it is: {found.better.critical_bytes.value:.0f} B of "
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


def _row(table: pl.DataFrame, size: int) -> dict[str, Any]:
    return table.row(by_predicate=pl.col("datagram_bytes") == size, named=True)
