"""The charts, tables and figures of the report, whose text is ``report.md``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from tightlink.experiment.claims import Claim
from tightlink.report import charts
from tightlink.studies.claims_table import failed
from tightlink.studies.expressions import Names
from tightlink.studies.link_saturation.report import sweep
from tightlink.studies.link_saturation.report.sweep import BITS, PAYLOAD_AXIS, PERCENT, RATES, labelled, over_payload
from tightlink.studies.link_saturation.setup import interface, sweeps
from tightlink.studies.report_text import page
from tightlink.studies.study import Report
from tightlink.studies.words import MBIT


def report(observed: Mapping[str, Any], claims: Mapping[str, Claim]) -> Report:
    """The report's text, tables and charts."""
    found = observed["found"]
    names = {
        "failed": failed(claims, "document"),
        "here": {claim.id: claim.observed_text for claim in claims.values()},
        "drained": observed["perturbed"].filter(pl.col("drained_s").is_not_null()).sort("payload_bytes"),
    }
    blocks = (
        sweep.of_sweep(found, claims)
        | sweep.of_laws(found)
        | sweep.of_bifurcation(found, observed["perturbed"], observed["runs"])
        | _of_links(observed)
        | _of_receivers(observed)
        | _of_mixes(observed["mixes"], found.table)
        | _of_connections(observed)
        | _of_density(observed)
    )
    over_payloads, over_frames = blocks["readings"]
    figures = {
        "throughput-over-size-payload": over_payloads,
        "throughput-over-size-frame": over_frames,
        "rate-over-size": blocks["rate"],
        "throughput-over-rate": blocks["over-rate"],
        "bifurcation": blocks["branches"],
        "bifurcation-reduced": sweep.reduced(found),
        "fundamental-diagrams": blocks["diagrams"],
    }
    return page(Path(__file__).parent.with_suffix(".md"), Names(names, observed), blocks, figures=figures)


def _of_links(observed: Mapping[str, Any]) -> dict[str, Any]:
    """Fragments and jumbo frames; other bandwidths; the smallest frame."""
    rows, titles = [], {sweeps.NAMED[name].name: name for name in ("slow", "main", "gigabit")}
    for title, name in titles.items():
        small, large = (
            observed[name].row(by_predicate=pl.col("datagram_bytes") == size, named=True)
            for size in (interface.SMALLEST_BYTES, interface.LARGEST_BYTES)
        )
        goodputs = (each["goodput_bps"] / MBIT for each in (small, large))
        said = observed["found"].compared[name].sentence()
        rows.append((title, small["packets_per_s"], *goodputs, PERCENT * min(1.0, small["load"]), said))
    links = {
        title: observed[name].select("payload_bytes", "packets_per_s", "goodput_bps") for title, name in titles.items()
    }
    bare = observed["bare"].filter(pl.col("datagram_bytes") <= 150)
    return {
        "fragments": charts.points(
            labelled(by_frames(observed), "mtu"), "datagram_bytes", "goodput_bps", by="mtu",
            x_title="payload of a datagram (B)", height=280, x_domain=(1000, 3050), y_domain=(85 * MBIT, 100 * MBIT),
        ),
        "bandwidths": [
            over_payload(
                labelled(links, "link"), column, "link", title=title, height=260, y_scale="log", y_domain=domain
            )
            for column, title, domain in (
                ("goodput_bps", "Goodput", (2e6, 3e8)), ("packets_per_s", "Packet rate", (500.0, 50_000.0)),
            )
        ],
        "links": rows,
        "bare-line": charts.points(
            bare.select("datagram_bytes", "packets_per_s", "goodput_bps"), "datagram_bytes", "packets_per_s",
            x_title="payload (B)", height=240, y_domain=(0, 160_000),
        ),
    }  # fmt: skip


def by_frames(observed: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Goodputs over the size of datagrams, by the largest frame and by whether one was enough for a datagram."""
    main, fragments, jumbo = (
        observed[name].select("datagram_bytes", "goodput_bps").filter(pl.col("datagram_bytes").is_between(1000, 3000))
        for name in ("main", "fragments", "jumbo")
    )
    usual, whole = pl.concat([main, fragments]), pl.col("datagram_bytes") <= sweeps.WHOLE_BYTES
    return {"1500 B, whole": usual.filter(whole), "1500 B, in fragments": usual.filter(~whole), "9000 B": jumbo}


def _of_receivers(observed: Mapping[str, Any]) -> dict[str, Any]:
    """Slower receivers: whether one could explain the small loss that the document reports."""
    percents = [f"{PERCENT * share:.0f}" for share in sweeps.SLOWER]
    slower = {f"{percent} % slower": observed[f"receiver-{percent}"] for percent in percents}
    paused = {f"{percents[-1]} %, flow control": observed["paused"]}
    table = labelled({"never the limit": observed["main"]} | slower | paused, "receiver")
    shown = table.with_columns(lost_percent=PERCENT * pl.col("loss"))
    kinds = (("lost_percent", "Lost", "lost (%)"), ("packets_per_s", "Delivered", None))
    both = [
        over_payload(
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
        "mixed, at the mean by bytes": found.select(payload_bytes="by_bytes", packets_per_s="packets_per_s"),
    }
    drawn = labelled(rates, "sizes")
    return {
        "mixed-rates": over_payload(
            drawn, "packets_per_s", "sizes", x_title="mean payload (B)", height=280, y_domain=RATES
        )
    }


def _of_connections(observed: Mapping[str, Any]) -> dict[str, Any]:
    """TCP over the sweep, and the fundamental diagrams."""
    named = {"main": "UDP", "tcp-out": "TCP, sending costs", "tcp-both": "TCP, receiving costs as much"}
    swept = {
        words: observed[name].select("payload_bytes", "packets_per_s", "goodput_bps") for name, words in named.items()
    }
    critical = 2200 / 100
    vehicles = pl.DataFrame({
        "vehicles": [0.0, critical, critical, 140.0], "flow": [0.0, 2200.0, 2200.0, 0.0],
        "regime": ["free flow", "free flow", "congested", "congested"],
    })  # fmt: skip
    density = observed["density"]
    return {
        "tcp": [
            over_payload(labelled(swept, "transport"), column, "transport", title=title, height=280, y_domain=domain)
            for column, title, domain in (("goodput_bps", "Goodput", BITS), ("packets_per_s", "Packet rate", RATES))
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


def _of_density(observed: Mapping[str, Any]) -> dict[str, Any]:
    """Figure 2 as a flow–density curve, random arrivals below the critical load, and maximum flows."""
    density, phases, flows = observed["size-density"], observed["phases"], observed["maxflow"]
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
        "cuts": charts.points(
            flows.select("payload_bytes", "throughput_bps"), "payload_bytes", "throughput_bps",
            curves=labelled(cuts, "cut"), curve="cut", y_title=None, height=300, y_domain=BITS, **PAYLOAD_AXIS,
        ),
    }  # fmt: skip
