"""The command ``tightlink plan packetize``."""

from tightlink import units
from tightlink.analysis.limits.packetize import Bottleneck, Stream
from tightlink.analysis.limits.packetize import packetize as lengths_of
from tightlink.commands.options import Json, number, option, plain, share
from tightlink.commands.plan_packetize_output import Answer, as_json, show
from tightlink.commands.table_options import with_table_options
from tightlink.console import CAUTION, print_json
from tightlink.errors import ScenarioError


@with_table_options
def packetize(
    *,
    bitrate: str,
    limit_pps: float,
    background_pps: float = 0,
    headers: str = "28 B",
    mtu: str = "1500 B",
    link: str | None = None,
    max_delay: str | None = None,
    frame_rate: float | None = None,
    key_frame: float | None = None,
    ring: str | None = None,
    loss: str | None = None,
    json_: Json = False,
) -> int:
    """Say which packet length keeps a stream clear of a router's packet limit, and why.

    Args:
        bitrate: Bit rate of the stream without headers, such as "1.5 Mbit/s".
        limit_pps: Packets per second from which the router is unstable.
        background_pps: Packets per second of all other traffic through it.
        headers: Headers of each packet down to IP: 28 B for UDP, 40 B for RTP.
        mtu: Largest IP packet.
        link: Rate of the link that the stream must fit, such as "2 Mbit/s"; without it any rate fits.
        max_delay: Longest time to fill a packet, such as "30 ms"; without it any time will do.
        frame_rate: Frames per second, if it is video; packets do not hold parts of two frames.
        key_frame: Size of the largest frame over that of a mean one, such as 4, for --ring (default: 1).
        ring: What the ring holds where packets wait, such as "75 packets", for the burst of a frame.
        loss: Share of packets lost, such as "0.5 %", for the share of frames that it hits.
    """
    for name, value in (("--ring", ring), ("--loss", loss)):
        if value is not None and frame_rate is None:
            raise ScenarioError("--frame-rate beside it: it is frames that it is about", key=name, value=value)
    if key_frame is not None and ring is None:
        expected = "--ring beside it: it is what must hold such a frame"
        raise ScenarioError(expected, key="--key-frame", value=plain(key_frame))
    if key_frame is not None and key_frame < 1:
        raise ScenarioError("at least 1: no largest frame is below the mean", key="--key-frame", value=plain(key_frame))
    limit, background = number("--limit-pps", limit_pps), number("--background-pps", background_pps, zero=True)
    if background >= limit:
        expected = f"less than --limit-pps, which is {plain(limit_pps)}: the router is unstable without the stream"
        raise ScenarioError(expected, key="--background-pps", value=plain(background_pps))
    stream = Stream(
        bitrate_bps=option("--bitrate", bitrate, units.RATE),
        headers_bytes=int(option("--headers", headers, units.SIZE, zero=True)),
        frames_per_s=None if frame_rate is None else number("--frame-rate", frame_rate),
        largest_frame=number("--key-frame", 1 if key_frame is None else key_frame),
    )
    mtu_bytes = int(option("--mtu", mtu, units.SIZE))
    if mtu_bytes <= stream.headers_bytes:
        raise ScenarioError(f"more than the {stream.headers_bytes} B of headers", key="--mtu", value=mtu)
    bottleneck = Bottleneck(
        limit_packets_per_s=limit,
        background_packets_per_s=background,
        link_bps=None if link is None else option("--link", link, units.RATE),
        ring_packets=None if ring is None else int(option("--ring", ring, units.PACKETS)),
    )
    delay = None if max_delay is None else option("--max-delay", max_delay, units.TIME)
    found = lengths_of(stream, bottleneck, mtu_bytes=mtu_bytes, max_delay_s=delay)
    lost = None if loss is None else float(share("--loss", loss))
    answer = Answer(stream, bottleneck, found, mtu_bytes, delay, lost)
    if json_:
        print_json(as_json(answer))
    else:
        show(answer)
    return 0 if found.smallest is not None else CAUTION
