"""The report's parts on other routers and links, on the two readings of 72 %, and for who streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from tightlink.reduce import largest, smallest
from tightlink.report import Chart, Format, Row, Section, Table, Text
from tightlink.studies.router_response.observe.load import GRID_PER_S
from tightlink.studies.router_response.observe.video import clear
from tightlink.studies.router_response.report import charts
from tightlink.studies.router_response.setup import video
from tightlink.studies.router_response.setup.document import LENGTHS, LEVEL_BPS, SHORTEST, per_s
from tightlink.studies.router_response.setup.variants import VARIANTS
from tightlink.studies.words import MBIT, percent

if TYPE_CHECKING:
    from tightlink.studies.router_response.observe import Observed
    from tightlink.studies.router_response.observe.regions import Routers
    from tightlink.studies.router_response.observe.video import Videos

_METRICS: Final = {"packets_per_s": "packet rate", "throughput_bps": "bit rate", "packet_bytes": "length", None: "–"}
#: The variants whose curve differs from router A's.
_DRAWN: Final = {
    "A": "router A",
    "A, no interrupts": "no interrupts",
    "A, plain mean": "meter: plain mean",
    "A, linear": "72 % as the true load",
}


def sections(observed: Observed) -> list[Section]:
    """All three parts of the report."""
    return [_variants(observed.routers), _readings(observed.routers), _designer(observed.videos)]


def _variants(found: Routers) -> Section:
    rows = []
    for name, title, own in (
        ("A", "as documented", found.control),
        *((setting.name, setting.title, found.variants[setting.name]) for setting in VARIANTS),
    ):
        table = found.every if name == "A" else found.variant_tables[name]
        long = table.filter(pl.col("packet_bytes") == LENGTHS[-1]).sort("offered_packets_per_s")
        light = long.filter(pl.col("loss") == 0)
        rows.append(
            {
                "router": title,
                "unstable from": str(own.onset).removeprefix("between ") if own.onset is not None else "–",
                "in": "bit/s" if own.governs == "throughput_bps" else "packets/s",
                "governs": _METRICS[own.governs],
                "highest reading %": 100 * largest(table["load"]),
                "reading falls": "yes" if any(length.decline is not None for length in own.lengths) else "no",
                "1500 B: link full at Mbit/s": largest(long["throughput_bps"]) / MBIT,
                "1500 B: latency ms, unloaded": 1e3 * smallest(light["one_way_delay_mean_s"]),
            }
        )
    formats: dict[str, Format] = {
        "highest reading %": ".0f", "1500 B: link full at Mbit/s": ".2f", "1500 B: latency ms, unloaded": ".1f"
    }  # fmt: skip
    finding = (
        "A slower serial link, a satellite's delay and rings that count bytes leave the onset where it is; a cost per "
        "byte instead of per packet moves it to a bit rate; without interrupts there is no highly unstable region."
    )
    return Section(
        "Otherwise: other links, other routers",
        finding,
        [
            Table(pl.DataFrame(rows), "Each with 65 and 1500 B; fewer probes, hence wider brackets", formats),
            Chart(charts.variants(found, _DRAWN)),
        ],
    )


def _readings(found: Routers) -> Section:
    at = per_s(LEVEL_BPS, SHORTEST)
    columns = {}
    for name, title in (("A", "72 % is a level"), ("A, linear", "72 % is the load")):
        own = found.every if name == "A" else found.variant_tables[name]
        short = own.filter(pl.col("packet_bytes") == SHORTEST).sort("offered_packets_per_s")
        rates, loads = short["offered_packets_per_s"].to_numpy(), short["load"].to_numpy()
        two, grid, five, ten = (float(value) for value in np.interp([at, *GRID_PER_S, 10_000], rates, loads))
        busy = short.row(-1, named=True)
        columns[title] = [
            percent(two),
            percent(grid),
            percent(five),
            percent(float(loads.max())),
            percent(ten),
            percent(busy["load_busy"]),
            percent(short.sort("b_packets_per_s")["b_load"][-1]),
        ]
    statements = {
        "statement": [
            "65 B, 2 Mbit/s: approaches 72 %",
            "65 B, 3,333/s (1.73 Mbit/s)",
            "65 B, 5,000/s (2.6 Mbit/s): still at 72 %",
            "never reads more than 72 %",
            "65 B, 10,000/s: falls",
            "… while the CPU is really busy",
            "router B: 66 % at 2.2 Mbit/s",
        ]
    }
    finding = (
        "Read as the true load at 3,846 packets/s, 72 % makes a packet cost 187 µs and the router saturate at "
        "5,348/s: no level at 72 %, no onset at 4,000. Read as a level, it explains both."
    )
    text = (
        "The simple reading, a load in proportion to the rate and a plain mean over a minute, meets the 72 % at "
        "2 Mbit/s and nothing that follows: at 5,000 packets/s it reads far above 72 %, and as nothing is guaranteed "
        "to the meter, the reading drops to nothing at once."
    )
    return Section("Two readings of 72 %", finding, [Text(text), Table(pl.DataFrame(statements | columns))])


def _designer(found: Videos) -> Section:
    limit = found.limit_per_s
    rows = []
    for others in video.BACKGROUNDS_PER_S:
        said = clear(limit, others)
        own = found.lost.filter((pl.col("background_per_s") == others) & (pl.col("frames sent") == "spread"))
        lossless = own.filter(pl.col("loss") == 0)["payload_bytes"].to_list()
        rows.append(
            {
                "other packets/s": others,
                "packetize: clear payloads": f"{said.smallest} to {said.longest} B" if said.smallest else "none",
                "packetize recommends": f"{said.recommended} B" if said.recommended else "–",
                "simulated without loss (spread)": ", ".join(f"{size} B" for size in lossless) or "none",
            }
        )
    alone = found.lost.filter((pl.col("background_per_s") == 0) & (pl.col("frames sent") == "at once"))
    slots = alone.select("payload_bytes", "loss_run_max_packets", lost_packets="loss").join(
        found.in_bytes.select("payload_bytes", lost_bytes="loss"), on="payload_bytes", maintain_order="left"
    )
    table = slots.select(
        pl.col("payload_bytes").alias("payload B"),
        (100 * pl.col("lost_packets")).alias("lost %, rings in packets"),
        pl.col("loss_run_max_packets").alias("longest loss run (packets)"),
        (100 * pl.col("lost_bytes")).alias("lost %, rings in bytes"),
    )
    formats: dict[str, Format] = {name: ".2f" for name in table.columns if name.startswith("lost")}
    formats |= {"longest loss run (packets)": ".0f"}
    finding = (
        "Long packets, spread over the frame's interval, keep a video clear until the router itself gives way; "
        "short ones make the router unstable by themselves, and lose their key frames to its slots."
    )
    text = (
        f"A video of 1 Mbit/s and {video.FRAMES_PER_S} frames/s through router A, beside packets of 65 B that leave "
        "over another link: they take CPU time, and none of the serial link. `tightlink packetize --bitrate "
        "'1 Mbit/s' --frame-rate 25 --limit-pps … --background-pps …` finds the payloads that keep the sum of packets "
        f"under the router's {limit:,.0f} per second. It takes all frames for equal: a key frame is 3.75 times the "
        "mean, and in short packets more than the 40 slots of the output ring, even alone on the path (second "
        "table). There, and only there, does it matter that buffers count packets."
    )
    return Section(
        "For who streams: which packets for a video",
        finding,
        [
            Text(text),
            Row(charts.videos(found)),
            Table(
                pl.DataFrame(rows), f"packetize with a limit of {limit:,.0f} packets/s, and what the simulation says"
            ),
            Table(table, "No other traffic, a frame's packets at once", formats),
        ],
    )
