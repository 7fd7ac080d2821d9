"""The charts, tables and figures of the report, whose text is ``report.md``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from tightlink import plots
from tightlink.reduce import largest
from tightlink.report import Table, charts
from tightlink.studies.claims_table import figure
from tightlink.studies.expressions import Names
from tightlink.studies.link_saturation.observe import saturation
from tightlink.studies.link_saturation.observe.bifurcation import branches, critical_payload, series
from tightlink.studies.link_saturation.observe.saturation import FRAME, PAYLOAD, READINGS
from tightlink.studies.link_saturation.observe.variations import row
from tightlink.studies.link_saturation.setup import interface, variations
from tightlink.studies.link_saturation.setup.interface import (
    CRITICAL_BYTES,
    FRAGMENTS,
    GIGABIT,
    GIGABIT_JUMBO,
    HEADER_BYTES,
    JUMBO_FRAMES,
    LARGEST_BYTES,
    MAIN,
    PAUSED,
    SLOW,
    SLOW_RECEIVERS,
    SLOWER,
    SMALLEST_BYTES,
    TCP_BOTH,
    TCP_OUT,
)  # fmt: skip
from tightlink.studies.report_text import page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.experiment.claims import Claim
    from tightlink.run import Run
    from tightlink.studies.link_saturation.observe import Observed
    from tightlink.studies.link_saturation.observe.saturation import Found
    from tightlink.studies.study import Report

_PERCENT: Final = 100
_MBIT: Final = 1e6
#: Axes of payloads, throughputs and packet rates.
_PAYLOAD: Final[dict[str, Any]] = {"x_title": "payload (B)", "x_domain": (0, 1500)}
_BITS: Final = (0, 105 * _MBIT)
_RATES: Final = (0, 35_000)
_LAWS: Final = {"ideal": "ideal law", "cost": "cost per packet and byte"}


def report(observed: Observed, claims: Mapping[str, Claim]) -> Report:
    """The whole report."""
    found, tables = observed.main, observed.tables
    whole = row(tables[MAIN.name], LARGEST_BYTES)["goodput_bps"]
    names = {
        "failed": sum(claim.holds is False for claim in claims.values()),
        "here": {claim.id: claim.observed_text for claim in claims.values()},
        "setup": vars(interface) | vars(variations),
        "frame": found.law(FRAME, "cost"),
        "payload": found.law(PAYLOAD, "cost"),
        "first": found.table.row(0, named=True),
        "last": found.table.row(-1, named=True),
        "drained": observed.perturbed.filter(pl.col("drained_s").is_not_null()).sort("payload_bytes"),
        "lost": 1 - row(tables[FRAGMENTS.name], interface.FRAGMENT_LIMIT_BYTES)["goodput_bps"] / whole,
        "won": tables[JUMBO_FRAMES.name]["goodput_bps"].to_list()[-1] / whole - 1,
        "fast": row(tables[GIGABIT.name], LARGEST_BYTES)["goodput_bps"],
        "jumbo": row(tables[GIGABIT_JUMBO.name], JUMBO_FRAMES.payloads[-1])["goodput_bps"],
        "bare": tables[interface.BARE_LINE.name],
        "mixed_off": largest((observed.mixes["packets_per_s"] / observed.mixes["uniform"] - 1).abs()),
        "tcp": {key: found.compared[sweep.name].better for key, sweep in (("out", TCP_OUT), ("both", TCP_BOTH))},
    }
    blocks = (
        _of_sweep(found, claims)
        | _of_laws(found)
        | _of_bifurcation(found, observed.perturbed, observed.runs)
        | _of_links(observed)
        | _of_receivers(tables)
        | _of_mixes(observed.mixes, found.table)
        | _of_connections(observed)
        | _of_density(observed)
    )
    return page(
        Path(__file__).with_suffix(".md"), Names(names, observed.values, observed), blocks,
        draw=partial(_draw, observed),
    )  # fmt: skip


def _labelled(parts: Mapping[str, pl.DataFrame], label: str) -> pl.DataFrame:
    """Frames one below the other, each with its own value in a column."""
    return pl.concat(frame.with_columns(pl.lit(words).alias(label)) for words, frame in parts.items())


def _over_payload(frame: pl.DataFrame, y: str, by: str, **keys: Any) -> Any:
    return charts.points(frame, "payload_bytes", y, by=by, **_PAYLOAD | keys)


def _of_sweep(found: Found, claims: Mapping[str, Claim]) -> dict[str, Any]:
    """The main sweep, figure 2 of the document, beside the figures that it prints."""
    table = found.table
    law, payloads = found.law(FRAME, "cost"), np.arange(10.0, 1501.0, 10.0)
    frames = payloads + HEADER_BYTES
    limits = {
        "what the line carries": law.line_rate_bps.value / 8 / (frames + law.overhead_bytes.value),
        "what the interface processes": 1 / (law.per_packet_s.value + law.per_byte_s.value * frames),
    }
    drawn = {
        words: pl.DataFrame({"payload_bytes": payloads, "packets_per_s": rates}).filter(
            pl.col("packets_per_s") <= _RATES[1]
        )
        for words, rates in limits.items()
    }
    printed = {
        SMALLEST_BYTES: "rate.smallest-packets", CRITICAL_BYTES: "rate.free-flow-end",
        LARGEST_BYTES: "rate.largest-packets",
    }  # fmt: skip
    shares = {SMALLEST_BYTES: "share.payload", CRITICAL_BYTES: "plateau.frame"}
    bits = {words: table.select("payload_bytes", throughput_bps=reading.throughput)
            for words, reading in (("simulated, with headers", FRAME), ("simulated, goodput", PAYLOAD))}  # fmt: skip
    over = {words: table.select("packets_per_s", pl.col(reading.throughput).alias("throughput_bps"), "payload_bytes")
            for words, reading in (("goodput", PAYLOAD), ("with headers", FRAME))}  # fmt: skip
    heads = {
        "payload B": pl.col("datagram_bytes"), "packets/s": pl.col("packets_per_s"),
        "goodput Mbit/s": pl.col("goodput_bps") / _MBIT, "with headers Mbit/s": pl.col("frame_throughput_bps") / _MBIT,
        "line busy %": _PERCENT * pl.col("utilization"),
        "interface %": _PERCENT * pl.col("load").clip(upper_bound=1), "lost %": _PERCENT * pl.col("loss"),
    }  # fmt: skip
    formats = {
        "packets/s": ",.0f", "goodput Mbit/s": ".2f", "with headers Mbit/s": ".2f", "line busy %": ".1f",
        "interface %": ".1f", "lost %": ".2f",
    }  # fmt: skip
    shown = (SMALLEST_BYTES, 100, 200, 300, 400, 425, 450, 475, 600, 800, 1000, 1200, LARGEST_BYTES)
    return {
        "rate": _over_payload(
            _labelled({
                "simulated": table.select("payload_bytes", "packets_per_s"),
                "document": _printed(claims, printed, "packets_per_s", 1e3),
            }, "source"),
            "packets_per_s", "source", curves=_labelled(drawn, "limit"), curve="limit",
            title="Packet rate over payload", y_domain=_RATES,
        ),
        "throughput": _over_payload(
            _labelled(bits | {
                "document": _printed(claims, shares, "throughput_bps", interface.BANDWIDTH_BPS / _PERCENT),
            }, "source"),
            "throughput_bps", "source", title="Throughput over payload", y_domain=_BITS,
        ),
        "over-rate": charts.points(
            _labelled(over, "counted as"), "packets_per_s", "throughput_bps", by="counted as",
            title="Throughput over packet rate", x_domain=_RATES, y_domain=_BITS,
        ),
        "sizes": Table(table.filter(pl.col("datagram_bytes").is_in(shown)).select(**heads), formats=formats),
    }  # fmt: skip


def _printed(claims: Mapping[str, Claim], sizes: Mapping[int, str], column: str, unit: float) -> pl.DataFrame:
    """What the document prints for some payloads."""
    figures = [figure(claims, name) * unit for name in sizes.values()]
    return pl.DataFrame({"payload_bytes": [float(size) for size in sizes], column: figures})


def _of_laws(found: Found) -> dict[str, Any]:
    """Both laws, in each reading of a packet's size."""
    rows = [
        {
            "p counts": reading.name,
            "law": _LAWS[law.name],
            "plateau (Mbit/s)": law.throughput_max_bps.value / _MBIT,
            "critical size (B)": law.critical_bytes.value,
            "from": law.critical_bytes.low,
            "to": law.critical_bytes.high,
            "packets/s there": law.packets_per_s_max.value,
            "AICc": law.fit.aicc,
            "free-flow slope": own.free_flow.slope.value if own.free_flow else None,
        }
        for reading in READINGS
        for own in (found.by_reading[reading.name],)
        for law in own.laws
    ]
    formats = {
        "plateau (Mbit/s)": ".2f", "critical size (B)": ".0f", "from": ".0f", "to": ".0f", "packets/s there": ",.0f",
        "AICc": ".0f", "free-flow slope": ".4f",
    }  # fmt: skip
    sizes = np.arange(60.0, 1501.0, 10.0)
    readings = [
        charts.points(
            found.by_reading[reading.name].points.select("packet_bytes", "throughput_bps", "regime"),
            "packet_bytes", "throughput_bps", by="regime", curve="law", x_title=f"{reading.name} (B)", title=title,
            height=300, y_domain=_BITS, x_domain=(0, 1550),
            curves=_labelled({
                words: pl.DataFrame(
                    {"packet_bytes": sizes, "throughput_bps": found.law(reading, name).throughput_bps(sizes)}
                )
                for name, words in _LAWS.items()
            }, "law"),
        )
        for reading, title in ((PAYLOAD, "Goodput over payload"), (FRAME, "Throughput over frame"))
    ]  # fmt: skip
    return {"readings": readings, "laws": Table(pl.DataFrame(rows), formats=formats)}


def _of_bifurcation(found: Found, perturbed: pl.DataFrame, runs: Mapping[str, Run]) -> dict[str, Any]:
    """Both branches, and how disturbed links return to one."""
    drawn = branches(found).filter(pl.col("throughput_bps") <= 150 * _MBIT)
    # Both halves meet at the critical size, so each is one line.
    lines = {
        words: drawn.filter(pl.col("stable").is_null() | (pl.col("stable") == stable)).select(
            "packet_bytes", "throughput_bps"
        )
        for words, stable in (("stable", True), ("unstable", False))
    }
    heads = {
        "payload B": pl.col("payload_bytes"), "stable branch": pl.col("branch"),
        "starts %": _PERCENT * pl.col("start"), "ends %": _PERCENT * pl.col("end"), "returned": pl.col("returned"),
        "back after s": pl.col("settled_s"), "queue empty after s": pl.col("drained_s"),
    }  # fmt: skip
    formats = {"starts %": "+.0f", "ends %": "+.2f", "back after s": ".2f", "queue empty after s": ".2f"}
    filled = perturbed.filter(pl.col("disturbance") == variations.QUEUE).select(**heads)
    return {
        "branches": charts.points(
            _frames(found), "packet_bytes", "throughput_bps", curves=_labelled(lines, "branch"), curve="branch",
            height=320, x_title="frame (B), from large to small", x_domain=(1520, 0), y_domain=(0, 150 * _MBIT),
        ),
        # The size next to the critical one takes longest.
        "returns": [_returns(found, runs, size, 1.2 if size == 400 else 0.4) for size in (100, 400, 1000)],
        "filled": Table(filled, formats=formats),
    }  # fmt: skip


def _frames(found: Found) -> pl.DataFrame:
    return found.table.select(packet_bytes="frame_bytes", throughput_bps="frame_throughput_bps")


def _returns(found: Found, runs: Mapping[str, Run], size: int, until_s: float) -> Any:
    plateau = size < critical_payload(found)
    parts = {
        kind: series(runs[variations.perturbation_key(kind, size)], kind, plateau=plateau)
        for kind in variations.PERTURBATION_KINDS
    }
    return charts.line(
        _labelled(parts, "disturbance").filter(pl.col("time_s") <= until_s), "time_s", "throughput_bps",
        by="disturbance", title=f"{size} B", x_title="time (s)", height=170, y_domain=_BITS, y_title=None,
    )  # fmt: skip


def _of_links(observed: Observed) -> dict[str, Any]:
    """Fragments and jumbo frames; other bandwidths; the smallest frame."""
    tables, rows = observed.tables, []
    for sweep in (SLOW, MAIN, GIGABIT):
        small, large = (row(tables[sweep.name], size) for size in (SMALLEST_BYTES, LARGEST_BYTES))
        rows.append(
            {
                "link": sweep.name,
                "packets/s at 25 B": small["packets_per_s"],
                "goodput Mbit/s at 25 B": small["goodput_bps"] / _MBIT,
                "at 1450 B": large["goodput_bps"] / _MBIT,
                "interface % at 25 B": _PERCENT * min(1.0, small["load"]),
                "found (frames)": observed.main.compared[sweep.name].sentence(),
            }
        )
    formats = {
        "packets/s at 25 B": ",.0f", "goodput Mbit/s at 25 B": ".2f", "at 1450 B": ".1f", "interface % at 25 B": ".0f",
    }  # fmt: skip
    named = ((MAIN, "1500 B, whole"), (FRAGMENTS, "1500 B, in fragments"), (JUMBO_FRAMES, "9000 B"))
    near = {
        words: tables[sweep.name].filter(pl.col("datagram_bytes").is_between(1000, 3000)).select(
            "datagram_bytes", "goodput_bps"
        )
        for sweep, words in named
    }  # fmt: skip
    links = {
        sweep.name: tables[sweep.name].select("payload_bytes", "packets_per_s", "goodput_bps")
        for sweep in (SLOW, MAIN, GIGABIT)
    }
    bare = tables[interface.BARE_LINE.name].filter(pl.col("datagram_bytes") <= 150)
    return {
        "fragments": charts.points(
            _labelled(near, "mtu"), "datagram_bytes", "goodput_bps", by="mtu", x_title="payload of a datagram (B)",
            height=280, x_domain=(1000, 3050), y_domain=(85 * _MBIT, 100 * _MBIT),
        ),
        "bandwidths": [
            _over_payload(
                _labelled(links, "link"), column, "link", title=title, height=260, y_scale="log", y_domain=domain
            )
            for column, title, domain in (
                ("goodput_bps", "Goodput", (2e6, 3e8)), ("packets_per_s", "Packet rate", (500.0, 50_000.0)),
            )
        ],
        "links": Table(pl.DataFrame(rows), formats=formats),
        "bare-line": charts.points(
            bare.select("datagram_bytes", "packets_per_s", "goodput_bps"), "datagram_bytes", "packets_per_s",
            x_title="payload (B)", height=240, y_domain=(0, 160_000),
        ),
    }  # fmt: skip


def _of_receivers(tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """Slower receivers: what the document's small loss says of its own."""
    slower = {
        f"{_PERCENT * share:.0f} % slower": tables[sweep.name]
        for sweep, share in zip(SLOW_RECEIVERS, SLOWER, strict=True)
    }
    paused = {f"{_PERCENT * SLOWER[-1]:.0f} %, flow control": tables[PAUSED.name]}
    table = _labelled({"never the limit": tables[MAIN.name]} | slower | paused, "receiver")
    shown = table.with_columns(lost_percent=_PERCENT * pl.col("loss"))
    kinds = (("lost_percent", "Lost", "lost (%)"), ("packets_per_s", "Delivered", None))
    both = [
        _over_payload(
            shown.select("payload_bytes", "receiver", column), column, "receiver", title=title, y_title=words,
            height=280,
        )
        for column, title, words in kinds
    ]  # fmt: skip
    return {"receivers": both}


def _of_mixes(found: pl.DataFrame, uniform: pl.DataFrame) -> dict[str, Any]:
    """Mixes of sizes beside the main sweep."""
    rates = {
        "equal packets": uniform.select("payload_bytes", "packets_per_s"),
        "mixed, at their mean size": found.select("payload_bytes", "packets_per_s"),
        "mixed, at the mean by bytes": found.select("packets_per_s", payload_bytes="by_bytes").select(
            "payload_bytes", "packets_per_s"
        ),
    }
    heads = {
        "mix": pl.col("mix"), "mean payload B": pl.col("payload_bytes"), "packets/s": pl.col("packets_per_s"),
        "equal packets/s": pl.col("uniform"), "goodput Mbit/s": pl.col("goodput_bps") / _MBIT,
        "jitter µs": pl.col("jitter_rfc3550_s") * 1e6,
    }  # fmt: skip
    formats = {
        "mean payload B": ".1f", "packets/s": ",.0f", "equal packets/s": ",.0f", "goodput Mbit/s": ".2f",
        "jitter µs": ".1f",
    }  # fmt: skip
    return {
        "mixed-rates": _over_payload(
            _labelled(rates, "sizes"), "packets_per_s", "sizes", x_title="mean payload (B)", height=280,
            y_domain=_RATES,
        ),
        "mixes": Table(found.select(**heads), formats=formats),
    }  # fmt: skip


def _of_connections(observed: Observed) -> dict[str, Any]:
    """TCP over the sweep, and the fundamental diagrams."""
    named = ((MAIN, "UDP"), (TCP_OUT, "TCP, sending costs"), (TCP_BOTH, "TCP, receiving costs as much"))
    swept = {
        words: observed.tables[sweep.name].select("payload_bytes", "packets_per_s", "goodput_bps")
        for sweep, words in named
    }
    critical = 2200 / 100
    vehicles = pl.DataFrame(
        {
            "vehicles": [0.0, critical, critical, 140.0],
            "flow": [0.0, 2200.0, 2200.0, 0.0],
            "regime": ["free flow", "free flow", "congested", "congested"],
        }
    )
    density = observed.density
    return {
        "tcp": [
            _over_payload(_labelled(swept, "transport"), column, "transport", title=title, height=280, y_domain=domain)
            for column, title, domain in (("goodput_bps", "Goodput", _BITS), ("packets_per_s", "Packet rate", _RATES))
        ],
        "diagrams": [
            charts.points(
                density, "connections", "packets_per_s", by="bottleneck", title="Packets: flow over TCP connections",
                x_title="connections", y_title="flow (packets/s)", height=300, x_domain=(0, 66), y_domain=(0, 32_000),
            ),
            charts.line(
                vehicles, "vehicles", "flow", by="regime", title="Vehicles: flow over density",
                x_title="density (vehicles/km)", y_title="flow (vehicles/h)", height=300, x_domain=(0, 140),
                y_domain=(0, 2500),
            ),
        ],
        "speed": charts.points(
            density.filter(pl.col("packets_per_s") > 0), "connections", "each_packets_per_s", by="bottleneck",
            title="Speed: packets/s of each connection", x_title="connections", y_title="packets/s each", height=240,
            x_scale="log", y_scale="log", x_domain=(1, 64), y_domain=(10, 10_000),
        ),
    }  # fmt: skip


def _of_density(observed: Observed) -> dict[str, Any]:
    """Figure 2 as a flow–density curve, random arrivals below the critical load, and maximum flows."""
    density, phases, flows = saturation.size_density_table(observed.main), observed.phases, observed.flows
    heads = {
        "load": pl.col("load"), "correlation time ms": 1e3 * pl.col("correlation_s"),
        "mean delay ms": 1e3 * pl.col("one_way_delay_s"), "speed %": _PERCENT * pl.col("speed"),
    }  # fmt: skip
    formats = {"load": ".2f", "correlation time ms": ".1f", "mean delay ms": ".2f", "speed %": ".0f"}
    cuts = {words: flows.select("payload_bytes", throughput_bps=name)
            for name, words in (("links", "by the links, bit/s"), ("both", "by links and interface"))}  # fmt: skip
    kinds = (
        ("packets_per_s", "Flow over density", "flow (packets/s)", (0, 32_000)),
        ("speed_mbit", "Speed over density", "throughput with headers (Mbit/s)", (0, 105)),
    )
    return {
        "size-density": [
            charts.points(
                density, "packets_per_kb", column, by="regime", title=title, x_title="density (packets/kB)",
                y_title=words, height=260, x_domain=(0, 15), y_domain=domain,
            )
            for column, title, words, domain in kinds
        ],
        "correlations": charts.points(
            phases.with_columns(gap=1 - pl.col("load"), heavy=pl.lit("simulated")), "gap", "correlation_s", by="heavy",
            x_title="1 − load", y_title="correlation time (s)", x_scale="log", y_scale="log", height=260,
        ),
        "loads": Table(phases.select(**heads), formats=formats),
        "cuts": charts.points(
            flows.select("payload_bytes", "throughput_bps"), "payload_bytes", "throughput_bps",
            curves=_labelled(cuts, "cut"), curve="cut", y_title=None, height=300, y_domain=_BITS, **_PAYLOAD,
        ),
    }  # fmt: skip


def _draw(observed: Observed, folder: Path) -> list[Path]:
    """Draw the figures for papers, as SVG and PNG."""
    found = observed.main
    written: list[Path] = []
    for reading in (PAYLOAD, FRAME):
        own = found.by_reading[reading.name]
        written += plots.save(plots.throughput_over_size(own), folder, f"throughput-over-size-{reading.name}")
    frames = found.by_reading[FRAME.name]
    written += plots.save(plots.rate_over_size(frames), folder, "rate-over-size")
    written += plots.save(plots.throughput_over_rate(frames), folder, "throughput-over-rate")
    for reduced, name in ((False, "bifurcation"), (True, "bifurcation-reduced")):
        written += plots.save(plots.bifurcation(branches(found), _frames(found), reduced=reduced), folder, name)
    return [*written, *_fundamental(folder, observed.density)]


def _fundamental(folder: Path, density: pl.DataFrame) -> list[Path]:
    """Packets and vehicles beside each other."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(plots.STYLE):
        figure = Figure(figsize=(2 * plots.SIZE[0], plots.SIZE[1]), layout="constrained")
        left, right = figure.subplots(1, 2)
        large = density.filter(pl.col("bottleneck") == variations.LARGE.name)
        plots.fundamental_diagram(large, density="connections", flow="packets_per_s", title="TCP connections", ax=left)
        plots.vehicle_traffic(ax=right)
    return plots.save(figure, folder, "fundamental-diagrams")
