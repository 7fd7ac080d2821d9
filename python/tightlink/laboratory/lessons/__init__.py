"""Lessons: laboratories with a text, of which each is a scenario (NAME.toml) and a text (NAME.md) beside this module.

What the buttons of a text set has a slider, and so has what stands here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tightlink.files import check_same, write_bytes
from tightlink.laboratory.page import check_new_laboratory, write
from tightlink.scenario import load
from tightlink.shell import broken, quoted

__all__ = ["LESSONS", "command", "write_lessons"]

_HERE: Final = Path(__file__).resolve().parent
_CONTROLS: Final = "reno,cubic,vegas,compound,bbr,bbr3"
_BUFFERS: Final = "0.1 BDP,0.2 BDP,0.3 BDP,0.5 BDP,0.7 BDP,1 BDP,1.5 BDP,2 BDP,3 BDP,4 BDP,6 BDP,8 BDP"
_PACKETS: Final = (
    "5 packets,10 packets,20 packets,40 packets,60 packets,100 packets,200 packets,400 packets,1000 packets"
)

_WINDOWS: Final = "1 packet,2 packets,4 packets,6 packets,8 packets,10 packets,15 packets,20 packets,30 packets"

#: Title and sliders of each lesson.
LESSONS: Final[dict[str, tuple[str, list[str]]]] = {
    "hidden-window": ("The window that nobody wrote", [
        f"traffic.ftp.tcp.window={_WINDOWS}",
        f"link.bottleneck.queue.limit={_PACKETS}",
        "link.bottleneck.rate=500 kbit/s,1 Mbit/s,2 Mbit/s,4 Mbit/s,8 Mbit/s",
        "link.bottleneck.delay=1 ms,2 ms,5 ms,10 ms,20 ms,50 ms,100 ms",
    ]),
    "bufferbloat": ("Bufferbloat, and what CoDel does", [
        "link.uplink.queue.kind=drop-tail,pie,codel,fq-codel", f"link.uplink.queue.limit={_PACKETS}",
        "link.uplink.rate=2 Mbit/s,5 Mbit/s,10 Mbit/s,20 Mbit/s,50 Mbit/s", "traffic.upload.flows=1..10",
        f"traffic.upload.tcp.congestion={_CONTROLS}",
    ]),
    "bbr-beside-cubic": ("BBR beside CUBIC, over the buffer", [
        f"link.bottleneck.queue.limit={_BUFFERS}", "link.bottleneck.rate=5 Mbit/s,10 Mbit/s,20 Mbit/s,50 Mbit/s",
        "link.bottleneck.delay=5 ms,10 ms,20 ms,40 ms,80 ms", f"traffic.bbr.tcp.congestion={_CONTROLS}",
        f"traffic.cubic.tcp.congestion={_CONTROLS}",
    ]),
    "phase-effects": ("A millisecond decides: phase effects", [
        "link.far.delay=4 ms,5 ms,6 ms,7 ms,8 ms,9 ms,10 ms,11 ms,12 ms,13 ms,14 ms,15 ms",
        "link.bottleneck.loss=0.0,0.0001,0.001,0.01", "link.bottleneck.queue.kind=drop-tail,red,pie,codel",
    ]),
    "slow-start-overshoot": ("Slow start overshoots", [
        "traffic.file.tcp.slow_start=standard,byte-counting,hystart,hystart++,limited",
        "traffic.file.tcp.initial_window=2 packets,4 packets,10 packets,20 packets,40 packets",
        f"link.bottleneck.queue.limit={_PACKETS}", "link.bottleneck.rate=10 Mbit/s,20 Mbit/s,50 Mbit/s,100 Mbit/s",
        "traffic.file.tcp.recovery=newreno,sack,rack",
    ]),
    "packets-against-bits": ("Packets per second against bits per second", [
        "traffic.stream.udp.datagram=100 B,150 B,200 B,300 B,500 B,700 B,1000 B,1500 B",
        "node.router.processor.per_packet=20 us,50 us,100 us,200 us,400 us",
        "link.wan.rate=5 Mbit/s,10 Mbit/s,20 Mbit/s,100 Mbit/s",
        "traffic.stream.rate=1 Mbit/s,2 Mbit/s,4 Mbit/s,6 Mbit/s,8 Mbit/s",
    ]),
    "l4s": ("Low delay without losses: L4S beside CUBIC", [
        "link.bottleneck.queue.kind=drop-tail,codel,fq-codel,dualpi2", f"link.bottleneck.queue.limit={_PACKETS}",
        "link.bottleneck.rate=10 Mbit/s,20 Mbit/s,40 Mbit/s,100 Mbit/s",
        "link.bottleneck.delay=2 ms,5 ms,10 ms,20 ms,40 ms", "traffic.prague.tcp.congestion=prague,dctcp,cubic,reno",
    ]),
}  # fmt: skip


def command(name: str) -> str:
    """The command that writes the laboratory of a lesson, beside its scenario and its text."""
    title, sliders = LESSONS[name]
    options = [f"--title {quoted(title)}", *(f"--slider {quoted(slider)}" for slider in sliders)]
    return "\n".join(broken([f"tightlink lab {name}.toml --text {name}.md", *options], ""))


def write_lessons(folder: Path) -> list[Path]:
    """Write all lessons into a folder: laboratories, and beside each its scenario and its text.

    Returns:
        The laboratories.

    Raises:
        TightlinkError: A file is there already that is another one.
    """
    sources = {
        f"{name}{suffix}": (_HERE / f"{name}{suffix}").read_bytes() for name in LESSONS for suffix in (".toml", ".md")
    }
    for file, content in sources.items():
        check_same(folder / file, content)
    for name in LESSONS:
        check_new_laboratory(folder / f"{name}.html")
    made = [
        write(
            folder / f"{name}.html",
            load(_HERE / f"{name}.toml"),
            sliders=sliders,
            text=_HERE / f"{name}.md",
            title=title,
        )
        for name, (title, sliders) in LESSONS.items()
    ]
    for file, content in sources.items():
        write_bytes(folder / file, content)
    return made
