"""What the main sweep shows: packet rates, throughput, loss, and how well eq. 7 describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.reduce import largest, smallest
from tightlink.studies.link_saturation.observe.saturation import FRAME, PAYLOAD
from tightlink.studies.link_saturation.setup.document import CRITICAL_BYTES, PLATEAU_MBIT
from tightlink.studies.link_saturation.setup.interface import PER_BYTE_S, PER_PACKET_S
from tightlink.studies.link_saturation.setup.sweeps import NO_BYTES, PAUSED, SLOW_RECEIVERS, SLOWER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.studies.link_saturation.observe.saturation import Found

_MBIT: Final = 1e6
_PERCENT: Final = 100
#: How far eq. 7 may be off to be accurate: ours, as the document gives no figure.
_ACCURATE: Final = 0.05


def values(found: Found, tables: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    """What claims compare, by name: main.… of all sizes, saturated.… of those below the critical one, and others."""
    table, saturated = found.table, found.saturated
    rates, bits = (saturated[name].to_list() for name in ("packets_per_s", "frame_throughput_bps"))
    critical = found.law(FRAME, "cost").critical_bytes.value
    limits = table.with_columns(low=pl.col("frame_bytes") < critical)
    constant = found.compared[NO_BYTES.name].better.critical_bytes.value
    flat = tables[NO_BYTES.name].filter(pl.col("frame_bytes") < constant)["packets_per_s"].to_list()
    both = (PAYLOAD, FRAME)
    each: dict[str, object] = {
        "interface.per_byte_s": PER_BYTE_S,
        "interface.per_packet_s": PER_PACKET_S,
        "main.throughput_falls": all(
            bool((table[reading.throughput].diff().drop_nulls() > 0).all()) for reading in both
        ),
        "main.loss_most": largest(table["loss"]),
        "main.by_interface_least": smallest(limits.filter("low")["limited_by_sender_rate"]),
        "main.by_link_least": smallest(limits.filter(~pl.col("low"))["limited_by_network"]),
        "saturated.smallest_per_s": rates[0],
        "saturated.largest_per_s": rates[-1],
        "saturated.rate_keeps_rising": bool((saturated["packets_per_s"].diff().drop_nulls() < 0).all()),
        "saturated.smallest_bps": bits[0],
        "saturated.largest_bps": bits[-1],
        "no-bytes.smallest_per_s": flat[0],
        "no-bytes.largest_per_s": flat[-1],
    }
    each |= _flow_control(tables)
    for share, sweep in zip(SLOWER, SLOW_RECEIVERS, strict=True):
        each[f"receiver.loss_most_{_PERCENT * share:.0f}"] = largest(tables[sweep.name]["loss"])
    for reading in both:
        own = saturated.filter(pl.col(reading.size) < CRITICAL_BYTES)
        law = own[reading.size] / CRITICAL_BYTES * PLATEAU_MBIT * _MBIT
        errors = (law / own[reading.throughput] - 1).abs()
        each |= {
            f"eq7.{reading.name}.accurate": sum(error <= _ACCURATE for error in errors.to_list()) / errors.len(),
            f"eq7.{reading.name}.error_most": largest(errors),
            f"eq7.{reading.name}.off_most_bps": largest((law - own[reading.throughput]).abs()),
        }
    return each


def _flow_control(tables: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    """The slowest receiver, with Ethernet flow control over without it: what is sent, what arrives, what is lost."""
    off, on = tables[SLOW_RECEIVERS[-1].name], tables[PAUSED.name]
    sent_off, sent_on = (table["packets_per_s"] / (1 - table["loss"]) for table in (off, on))
    return {
        "flow-control.slower": SLOWER[-1],
        "flow-control.sent_least": smallest(sent_on / sent_off),
        "flow-control.arrives_off_most": largest((on["packets_per_s"] / off["packets_per_s"] - 1).abs()),
        "flow-control.lost_off_most": largest(off["loss"]),
        "flow-control.lost_on_most": largest(on["loss"]),
    }
