"""``tightlink measure path`` and ``tightlink measure serve``: the path to a host, from both of its ends."""

import functools
from pathlib import Path

from tightlink import units
from tightlink.analysis.path.answer import PathAnswer, judged, of_others, of_round_trips
from tightlink.analysis.path.estimate import PacketTrains, overload
from tightlink.commands.options import LARGEST_PORT, Json, Output, option, whole
from tightlink.commands.table_options import with_table_options
from tightlink.console import FAILED, print_json, print_table, rounded, say, warned, watching
from tightlink.errors import TightlinkError
from tightlink.files import check_new, check_takes_files, write_text
from tightlink.measure import path as probes
from tightlink.measure.iperf3 import transfer
from tightlink.measure.listener import serve as listen
from tightlink.measure.path import PINGS, Plan, pings, resolved
from tightlink.measure.system import need_linux
from tightlink.measure.traffic import Address
from tightlink.measure.visitor import NobodyListensError
from tightlink.numbers import NONE


def serve(address: str, *, port: int = 5202, visits: int | None = None) -> int:
    """Be the other end of "tightlink measure path": receive its datagrams or send them back, until Ctrl-C.

    Args:
        address: Address of this machine to listen at, and at no other.
        port: Port, of TCP and UDP.
        visits: End after so many visits; a whole measurement makes five.
    """
    need_linux()
    try:
        most = None if visits is None else whole("--visits", visits, 1, 10**9)
        listen(address, whole("--port", port, 1, LARGEST_PORT), visits=most, say=say)
    except KeyboardInterrupt:
        say("ended")
    return 0


@with_table_options
def path(
    host: str,
    *,
    port: int = 5202,
    payload: str = "1400 B",
    trains: int = 25,
    train_packets: int = 24,
    overload_packets: int = 1500,
    json_: Json = False,
    output: Output = None,
) -> int:
    """Measure the path to a host: round trip, rate of the bottleneck, queue; and how sure they are.

    Args:
        host: Name or address of the host, where "tightlink measure serve" runs; without it only ping and iperf3 tell.
        port: Port at which it listens.
        payload: Payload of the datagrams of trains and overload; no larger than the path takes whole.
        trains: Trains that are sent.
        train_packets: Datagrams of each.
        overload_packets: Datagrams with which the queue is filled, at most.
        output: File for a scenario with this path, which "tightlink plan path --path" takes, too.
    """
    need_linux()
    check_new(output)
    if output is not None:
        check_takes_files(output.parent)
    size = int(option("--payload", payload, units.SIZE))
    to = resolved(host, whole("--port", port, 1, LARGEST_PORT))
    plan = Plan(
        payload_bytes=whole("--payload", size, 200, 8_900),
        trains=whole("--trains", trains, 20, 1_000),
        train_packets=whole("--train-packets", train_packets, 20, 200),
        overload_packets=whole("--overload-packets", overload_packets, 100, 50_000),
        version=6 if ":" in str(to[0]) else 4,
    )
    try:
        answer = _probed(host, to, plan)
    except NobodyListensError as error:
        say(str(error))
        answer = _alone(host, to, plan)
    if json_:
        print_json(answer.as_json())
    else:
        _show(answer)
    if output is not None and answer.whole:
        write_text(output, answer.scenario(plan.packet_bytes))
        say(f"wrote {output}")
    return _warned(answer, output)


def _probed(host: str, to: Address, plan: Plan) -> PathAnswer:
    """With the help of a listener."""
    say(f"sending at most {plan.packets} datagrams, {units.format_size(plan.bytes)}, to {to[0]} port {to[1]}")
    with watching(f"measuring the path to {host}"):
        round_trips = probes.echoes(to, plan)
        try:
            sent = probes.trains(to, plan, round_trips)
        except TightlinkError as error:
            if not round_trips:
                raise
            # The other end may have left meanwhile: what was measured before stays.
            return of_round_trips(host, round_trips_s=round_trips, why=str(error))
        trains = PacketTrains(probes.of_trains(sent, plan), plan.train_packets, plan.packet_bytes)
        known = functools.partial(judged, host, round_trips_s=round_trips, trains=trains)
        rough = trains.rate_bps()
        try:
            flooded = None if rough is None else probes.overload(to, plan, rough.value)
        except TightlinkError as error:
            return known(flood=None, overflowed=sent.overflowed, no_flood=str(error))
    flood = None
    if flooded is not None:
        flood = overload(flooded.seq, flooded.sent_s, flooded.received_seq, flooded.delay_s, plan.packet_bytes)
    overflowed = sent.overflowed + (0 if flooded is None else flooded.overflowed)
    return known(flood=flood, overflowed=overflowed)


def _alone(host: str, to: Address, plan: Plan) -> PathAnswer:
    """Without it: round trips by ping, and what iperf3 carries, if a server of it runs there."""
    say(f"sending {2 * PINGS} pings to {to[0]}, and 5 s of TCP if an iperf3 server runs there")
    doubts = []
    carried = None
    with watching(f"measuring the path to {host}"):
        try:
            round_trips = pings(str(to[0]), plan)
        except TightlinkError as error:
            round_trips = {}
            doubts.append(("rtt", str(error)))
        try:
            carried = transfer(str(to[0]), flows=4, seconds=5).goodput_bps
        except TightlinkError as error:
            doubts.append(("bandwidth", str(error)))
    return of_others(host, round_trips_s=round_trips, carried_bps=carried, doubts=doubts)


def _show(answer: PathAnswer) -> None:
    rows = []
    for name, value, write in (
        ("bandwidth", answer.bandwidth_bps, units.format_rate),
        ("rtt", answer.rtt_s, units.format_time),
        ("queue", answer.queue_packets, lambda packets: f"{packets:.3g} packets"),
    ):
        cells = [NONE] * 3 if value is None else [rounded(each, write) for each in (value.value, value.low, value.high)]
        sure = "not known" if value is None else "no" if answer.doubts_of(name) else "yes"
        rows.append([name, *cells, sure])
    print_table([f"path to {answer.host}", "value", "from", "to", "sure"], rows)


def _warned(answer: PathAnswer, output: Path | None) -> int:
    if output is not None and not answer.whole:
        say(f"{output}: not written, as not all of the path is known")
    code = warned([f"{what}: {why}" for what, why in answer.doubts])
    return FAILED if answer.bandwidth_bps is None and answer.rtt_s is None else code
