"""Notes on the text: what follows from the document's own constants, and so is no claim."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from tightlink.report import Section, Text
from tightlink.studies.bulk_throughput.setup import paths

if TYPE_CHECKING:
    from tightlink.studies.bulk_throughput.setup.paths import Place

#: The document's list of windows in bytes (l. 33).
_LISTED: Final = (8760, 16060, 32120, 64240, 128480, 511000, 1022000)
#: Its products of bandwidth and round trip, in whole kB (l. 233–252).
_PRODUCTS_KB: Final[dict[Place, int]] = {
    paths.DARESBURY: 203, paths.IN2P3[1]: 630, paths.CALTECH_10MS: 56, paths.LBNL: 13,
}  # fmt: skip
#: ATM cells a second on an E3 line of 34.368 Mbit/s: with PLCP nine in 125 µs (ETS 300 214), and 530 bytes of them in
#: 125 µs with the later framing of G.832 (G.804, section 6).
_PLCP: Final = 9 / 125e-6
_G832: Final = 530 / 53 / 125e-6
_CELL_BYTES: Final = 48
#: AAL5's trailer (I.363.5), and LLC with SNAP (RFC 2684, 5.1), around an IP packet.
_AROUND_BYTES: Final = 8 + 8


def section() -> Section:
    """The part of the report."""
    packet_bytes = paths.IN2P3[1].path.packet_bytes
    needed = math.ceil((packet_bytes + _AROUND_BYTES) / _CELL_BYTES)

    def mbit(cells_per_s: float) -> tuple[str, str]:
        """What is left beside the cells' headers, and for full packets."""
        return f"{cells_per_s * _CELL_BYTES * 8 / 1e6:.2f}", f"{cells_per_s / needed * packet_bytes * 8 / 1e6:.1f}"

    (plcp, plcp_packets), (g832, g832_packets) = mbit(_PLCP), mbit(_G832)
    products = ", ".join(
        f"{place.path.bdp_bytes / 1e3:g} ({place.site}: {printed})" for place, printed in _PRODUCTS_KB.items()
    )
    payload = paths.DARESBURY.path.payload_bytes
    left_out = [f"{size} kB" for window, size in paths.KILOBYTES.items() if window * payload not in _LISTED]
    atm = (
        f"**34 → 28 Mbit/s** (l. 94–97): an E3 line of 34.368 Mbit/s with PLCP carries {_PLCP:.0f} cells a second, "
        f"{plcp} Mbit/s without their headers: about 28. **pipechar's 27** (l. 100): {packet_bytes} B take "
        f"{needed} cells with AAL5 and LLC/SNAP, which leaves {plcp_packets} Mbit/s to full packets. Both figures are "
        "right, for two layers; a simulator that knows no cells should be given the second. With the framing of G.832 "
        f"they would be {g832} and {g832_packets}."
    )
    rtt = (
        f"**Bandwidth × round trip** (l. 233–252), in kB, as printed: {products}. For Caltech the summary has "
        f"{1e3 * paths.CALTECH_10MS.path.rtt_s:g} ms where the text has {1e3 * paths.CALTECH.path.rtt_s:g} (l. 144): "
        "the document contradicts itself, and both are simulated."
    )
    windows = (
        f"**Windows in bytes** (l. 33): a slip; {len(_LISTED)} sizes for {len(paths.WINDOWS)} windows, and it "
        f"leaves out {' and '.join(left_out)}."
    )
    finding = "The document's own constants give its bandwidths and products, but for two slips."
    return Section("Notes on the text", finding, [Text(text) for text in (atm, rtt, windows)])
