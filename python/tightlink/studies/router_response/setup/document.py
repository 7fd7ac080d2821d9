"""What the document prints: its probes, and the figures from which the routers' costs follow.

M. Paredes-Farrera, M. Fleury, M. Ghanbari: Router Response to Traffic at a Bottleneck Link, 2006.

Example:
    >>> len(INTERVALS_MS), INTERVALS_MS[:2], INTERVALS_MS[-2:]
    (28, (0.1, 0.2), (90.0, 100.0))
    >>> datagram_bytes(65), serial_bytes(65)
    (51, 59)
"""

from typing import Final

#: Packet lengths in bytes. They count Ethernet's header.
LENGTHS: Final = (65, 90, 130, 1200, 1500)
SHORTEST: Final = LENGTHS[0]
#: 0.1, 0.2 … 0.9, 1 … 9, 10 … 90, 100 ms: 28, though the document says 30.
INTERVALS_MS: Final = (*(n / 10 for n in range(1, 10)), *map(float, range(1, 10)), *(10.0 * n for n in range(1, 11)))
DOCUMENT_DURATION_S: Final = 120
SERIAL_BPS: Final = 2e6
#: Ethernet's header, which a packet length counts.
ETHERNET_HEADER: Final = 14
#: A frame on the serial line has these instead: 4,231/s at 65 B fill 2 Mbit/s with 8.1.
SERIAL_OVERHEAD: Final = 8
#: Header, checksum, preamble and gap of Ethernet.
ETHERNET_OVERHEAD: Final = 38
INPUT_RING: Final = 75
OUTPUT_RING: Final = 40
LINUX_QUEUE: Final = 100

#: Onset of the unstable region of router A, packets/s by packet length (section III-2).
ONSETS_PER_S: Final = {65: 4290.0, 130: 4092.0, 1500: 3925.0}
#: The same in Mbit/s (section III-1), where it prints 4.6 for 1500 B: 3925 packets/s are 47.
ONSETS_MBIT: Final = {65: 2.5, 130: 4.2, 1500: 46.0}
#: The highest reported load of router A.
LEVEL: Final = 0.72
#: Where it reaches that level at 65 B, and where the unstable region ends.
LEVEL_BPS: Final = 2e6
FALL_BPS: Final = 3e6
#: Router B's last point at 65 B.
B_END_BPS: Final = 2.2e6
B_READING: Final = 0.66


def per_s(bits_per_s: float, length: int) -> float:
    """Packets/s of a bit rate, which counts whole packet lengths.

    >>> round(per_s(2.2e6, 65))
    4231
    """
    return bits_per_s / (8 * length)


FALL_PER_S: Final = per_s(FALL_BPS, SHORTEST)
B_END_PER_S: Final = per_s(B_END_BPS, SHORTEST)


def datagram_bytes(length: int) -> int:
    """The IP packet in a packet of the document's length."""
    return length - ETHERNET_HEADER


def serial_bytes(length: int) -> int:
    """The frame on the serial line."""
    return datagram_bytes(length) + SERIAL_OVERHEAD
