"""The charts, tables and figures of the report, whose text is ``report.md``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from tightlink.experiment.claims import Claim
from tightlink.numbers import NONE
from tightlink.reduce import largest, smallest
from tightlink.report import Text
from tightlink.studies.claims_table import failed, figure
from tightlink.studies.expressions import Names
from tightlink.studies.report_text import page
from tightlink.studies.router_response.observe.regions import Probed, Routers, Videos, clear
from tightlink.studies.router_response.observe.response import GRID_PER_S
from tightlink.studies.router_response.report import charts
from tightlink.studies.router_response.setup import costs, document, laws, video
from tightlink.studies.router_response.setup.document import LENGTHS, ONSETS_MBIT, ONSETS_PER_S, SHORTEST, per_s
from tightlink.studies.router_response.setup.network import REFINED
from tightlink.studies.router_response.setup.variants import VARIANTS
from tightlink.studies.study import Report
from tightlink.studies.words import MBIT, percent

_METRICS: Final = {"packets_per_s": "packet rate", "throughput_bps": "bit rate", "packet_bytes": "packet length"}
#: The variants whose curve differs from router A's.
_DRAWN: Final = {
    "A": "router A", "A, no interrupts": "no interrupts", "A, plain mean": "meter: plain mean",
    "A, linear": "72 % as the true load",
}  # fmt: skip


def report(observed: Mapping[str, Any], claims: Mapping[str, Claim]) -> Report:
    """The report's text, tables and charts."""
    found = observed["routers"]
    of_three, of_six = ({law.title: observed[f"{law.name}.{of}"] for law in laws.LAWS} for of in ("bic", "aicc"))
    governs, titles = found.of_grid.governs, {law.name: law.title for law in laws.LAWS}
    names = {
        "failed": failed(claims, "document"),
        "own": failed(claims, "ours"),
        "costs": vars(costs) | vars(laws),
        "network": vars(document) | vars(video),
        "short": found.probes(SHORTEST),
        "most": found.probes(SHORTEST, grid=True).sort("b_packets_per_s").row(-1, named=True),
        "on_grid": found.of_grid.sentence().replace("load stops", "On the document's grid load stops"),
        "always_busy": costs.reading(1.0),
        "after_a_minute": costs.LOW_LOAD + costs.moved(costs.WINDOW_S // costs.METER_EVERY_S) * (1 - costs.LOW_LOAD),
        "governs": f"The {_METRICS[governs]} governs: {percent(found.of_grid.explained.sure)} of resampled tables "
        "agree."
        if governs
        else "What governs cannot be told.",
        "per_byte": found.variants["A, cost per byte"].regimes.sentence(),
        "best_law": min(of_three, key=of_three.__getitem__),
        "best_of_six": min(of_six, key=of_six.__getitem__),
        "simulated": "; ".join(
            f"{titles[law]}: " + ", ".join(f"{size} B {observed[f'{law}.{size}.per_s']:,.0f}" for size in ONSETS_PER_S)
            for law in found.by_law
        ),
        "twice": per_s(ONSETS_MBIT[SHORTEST] * MBIT, SHORTEST) / ONSETS_PER_S[SHORTEST] - 1,
        "between_us": {place: 1e6 * (1 - costs.LOW_LOAD) / rate for place, rate in enumerate((5000, 1 / 0.3e-3))},
        "interrupt_us": {share: 1e6 * costs.interrupt_s(share) for share in (7, 10)},
    }
    blocks = {
        "load-over-rate": charts.load_over_rate(found, claims),
        "true-and-reported": charts.true_and_reported(found, observed["watched"]),
        "load-over-bits": charts.load_over_bits(found, claims),
        "router-b": charts.router_b(found, claims),
        "loss": charts.loss(found),
        "variant-curves": charts.variant_curves(found, _DRAWN),
        "videos": charts.videos(observed["videos"]),
        "contradicted": _contradicted(claims),
        **_of_routers(found, claims),
        **_of_laws(of_three, of_six),
        **_of_variants(found),
        **_of_videos(observed["videos"]),
    }
    over_rate, over_bits = blocks["router-b"]
    loss_over_bits, loss_over_rate = blocks["loss"]
    figures = {
        "load-over-bit-rate-a": blocks["load-over-bits"],
        "load-over-bit-rate-b": over_bits,
        "load-over-packet-rate-a": blocks["load-over-rate"],
        "load-over-packet-rate-b": over_rate,
        "loss-over-bit-rate": loss_over_bits,
        "loss-over-packet-rate": loss_over_rate,
    }
    return page(Path(__file__).parent.with_suffix(".md"), Names(names, observed), blocks, figures=figures)


def _contradicted(claims: Mapping[str, Claim]) -> Text:
    """The claims of the document that do not hold, and why."""
    contradicted = (claim for claim in claims.values() if claim.holds is False and claim.origin == "document")
    return Text("\n".join(
        f"- *{claim.statement}* ({claim.source.partition(', ')[2]}). Here: {claim.observed_text}. {claim.reason}"
        for claim in contradicted
    ))  # fmt: skip


def _of_routers(found: Routers, claims: Mapping[str, Claim]) -> dict[str, Any]:
    """Onsets, losses, what governs, and the document's own figures side by side."""
    onsets, lost = [], []
    for size in LENGTHS:
        own, rate = found.probes(size, grid=True), found.onset_per_s(size) if size in REFINED else None
        printed = [figure(claims, f"onset.{size}{of}") if rate else None for of in ("", ".bit-rate")]
        mbit = rate * 8 * size / MBIT if rate else None
        onsets.append((f"{size} B", printed[0], rate, _between(found, size), printed[1], mbit))
        fastest = own.row(-1, named=True)
        rates = (fastest[name] for name in ("nominal_packets_per_s", "offered_packets_per_s"))
        shares = (100 * fastest[name] for name in ("lost_input_ring", "lost_output_ring"))
        full = largest(own["throughput_bps"]) / MBIT
        lost.append((f"{size} B", full, *rates, *shares, fastest["packets_per_s"]))
    explained, coincide = found.of_grid.explained, {True: "yes", False: "no"}
    governs = (
        (_METRICS[metric], explained.r2[metric].value, explained.importance[metric].value, 100 * spread.variation,
         coincide[spread.coincide])
        for metric, spread in found.of_grid.spreads.items()
    )  # fmt: skip
    printed_rates = (
        (f"{length} B", rate, 8 * length * rate / MBIT, ONSETS_MBIT[length], per_s(ONSETS_MBIT[length] * MBIT, length))
        for length, rate in ONSETS_PER_S.items()
    )
    return {
        "onsets": onsets,
        "lost": lost,
        "governs": governs,
        "printed": printed_rates,
    }


def _between(found: Routers, size: int) -> str:
    if size in REFINED:
        return str(found.length(size).onset).removeprefix("between ")
    own = next(length for length in found.of_grid.lengths if length.packet_bytes == size)
    return f"{str(own.onset).removeprefix('between ')} (grid)"


def _of_laws(of_three: Mapping[str, float], of_six: Mapping[str, float]) -> dict[str, Any]:
    """Three laws beside the document's onsets, and what a packet costs the two routers."""
    rows = [
        (law.title, len(law.terms(LENGTHS[0])), *map(law.onset_per_s, LENGTHS), of_three[law.title], of_six[law.title])
        for law in laws.LAWS
    ]
    routers = (
        (name, own.interrupt_us, own.per_packet_us, own.packet_s * 1e6, words)
        for name, own, words in (
            ("A", costs.A, "mean onset 4102/s; the serial link still full at 5,000/s; the fall from 3 Mbit/s on"),
            ("B", costs.B, "66 % at 2.2 Mbit/s of 65 B; interrupt in the same proportion"),
        )
    )
    printed = ("document", None, *map(ONSETS_PER_S.get, LENGTHS), None, None)
    return {
        "laws": [*rows, printed],
        "costs": routers,
    }


def _of_variants(found: Routers) -> dict[str, Any]:
    """Other routers and links, and the two readings of 72 %."""
    probed, rows = {"A": Probed(found.every, found.control), **found.variants}, []
    titles = {"A": "as documented"} | {setting.name: setting.title for setting in VARIANTS}
    for (table, own), title in zip(probed.values(), titles.values(), strict=True):
        long = table.filter(pl.col("packet_bytes") == LENGTHS[-1]).sort("offered_packets_per_s")
        rows.append((
            title,
            str(own.onset).removeprefix("between ") if own.onset is not None else NONE,
            "bit/s" if own.governs == "throughput_bps" else "packets/s",
            _METRICS.get(own.governs or "", NONE),
            100 * largest(table["load"]),
            "yes" if any(length.decline is not None for length in own.lengths) else "no",
            largest(long["throughput_bps"]) / MBIT,
            1e3 * smallest(long.filter(pl.col("loss") == 0)["one_way_delay_mean_s"]),
        ))  # fmt: skip
    at = per_s(document.LEVEL_BPS, SHORTEST)
    columns = {}
    for name, title in (("A", "72 % is a level"), ("A, linear", "72 % is the load")):
        short = probed[name].table.filter(pl.col("packet_bytes") == SHORTEST).sort("offered_packets_per_s")
        rates, loads = short["offered_packets_per_s"].to_numpy(), short["load"].to_numpy()
        two, grid, five, ten = (float(value) for value in np.interp([at, *GRID_PER_S, 10_000], rates, loads))
        busy, of_b = short.row(-1, named=True)["load_busy"], short.sort("b_packets_per_s")["b_load"][-1]
        columns[title] = [*map(percent, (two, grid, five, float(loads.max()), ten, busy, of_b))]
    statements = [
        "65 B, 2 Mbit/s: approaches 72 %", "65 B, 3,333/s (1.73 Mbit/s)", "65 B, 5,000/s (2.6 Mbit/s): still at 72 %",
        "never reads more than 72 %", "65 B, 10,000/s: falls", "… while the CPU is really busy",
        "router B: 66 % at 2.2 Mbit/s",
    ]  # fmt: skip
    return {
        "variants": rows,
        "readings": pl.DataFrame({"statement": statements} | columns),
    }


def _of_videos(found: Videos) -> dict[str, Any]:
    """What `packetize` recommends beside what was lost."""
    limit = found.limit_per_s
    rows = []
    for others in video.BACKGROUNDS_PER_S:
        said = clear(limit, others)
        own = found.lost.filter((pl.col("background_per_s") == others) & (pl.col("frames sent") == "spread"))
        lossless = own.filter(pl.col("loss") == 0)["payload_bytes"].to_list()
        rows.append((
            others,
            f"{said.smallest} to {said.longest} B" if said.smallest else "none",
            f"{said.recommended} B" if said.recommended else NONE,
            ", ".join(f"{size} B" for size in lossless) or "none",
        ))  # fmt: skip
    alone = found.lost.filter((pl.col("background_per_s") == 0) & (pl.col("frames sent") == "at once"))
    slots = alone.select("payload_bytes", "loss_run_max_packets", lost_packets="loss").join(
        found.in_bytes.select("payload_bytes", lost_bytes="loss"), on="payload_bytes", maintain_order="left"
    )
    return {"packetize": rows, "slots": slots}
