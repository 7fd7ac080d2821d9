"""The command ``tightlink capture``."""

from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

from tightlink.capture import capture as read
from tightlink.commands.capture_output import show
from tightlink.commands.options import JsonOf, Output
from tightlink.commands.run_output import check_shown, described, write_shown
from tightlink.commands.table_options import with_table_options
from tightlink.console import print_json, print_why, say, warned, watching
from tightlink.errors import ScenarioError

#: Tables that are printed as JSON: those of which the rows are few.
_PRINTED: Final = ("flows", "connections", "quic", "links", "interfaces", "protocols", "tunnels")


@with_table_options
def capture(
    file: Annotated[Path, Parameter(allow_leading_hyphen=True)],
    *,
    output: Output = None,
    interval: str = "1 s",
    rate: str | None = None,
    connections: int | None = None,
    packets: Annotated[bool, Parameter(negative="")] = False,
    only: str | None = None,
    report: Path | None = None,
    json_: JsonOf = False,
) -> int:
    """Read a capture (pcap or pcapng) and print its flows, protocols and interfaces; or a trace of ns-2.

    Args:
        file: The capture or the trace, compressed (gzip, bzip2, xz, zstd) or not; - is standard input.
        output: Folder to write the tables to; without it nothing is written.
        interval: Interval at which rates and losses are sampled, such as "100 ms".
        rate: Capacity of each link that was captured, such as "1 Gbit/s", for their utilization (default: what a pcapng
            file says).
        connections: Connections to list at most, the largest; half as many are followed at a time, and each takes about
            2 KB of memory (default: 262144).
        packets: Keep a row for every packet, and what was found of it; needs --output.
        only: Packets to read: of an address such as 10.0.0.1, a port such as :443, or a flow by its name and what comes
            back.
        report: File to write the report to, one HTML file.
        json_: Print manifest, flows, connections, quic, links, interfaces, protocols and tunnels as JSON; of a trace
            flows and links.
    """
    if packets and output is None:
        raise ScenarioError("--output beside it: they are written, not printed", key="--packets", value=True)
    check_shown(report, None)
    with watching(f"reading {file}") as watch:
        run = read(file, interval=interval, rate=rate, connections=connections, packets=packets, only=only, watch=watch)
    if output is not None:
        run.save(output)
        say(f"wrote {output}")
    write_shown(run, report, None)
    if json_:
        print_json(described(run, _PRINTED))
    else:
        print_why(run.why())
        show(run)
    return warned(run.warnings)
