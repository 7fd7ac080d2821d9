"""Why is it slow? What bounds the rate of each flow of a run, what that does to delay, and what would help.

Simulated and measured flows account for their time (``limited_by_*``), and their scenario tells their paths. Of
captured flows the packets tell what they can, and the diagnosis says what they cannot.

Example:
    >>> scenario = tl.loads('''
    ... profile = "ns2"
    ... duration = "10 s"
    ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "100 ms", queue = "20 packets" }
    ... traffic.ftp = { kind = "bulk", from = "a", to = "b" }
    ... ''')
    >>> found = tl.simulate(scenario).why("ftp")
    >>> found.causes[0].name, found.causes[0].certainty, found.suggestions[0].changes
    ('receiver_window', 'certain', {'traffic.ftp.tcp.window': '49 packets'})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from tightlink import arguments
from tightlink.diagnosis.answers import Cause, Delay, Diagnosis, Suggestion, Why
from tightlink.diagnosis.words import named, percent
from tightlink.errors import TightlinkError, closest
from tightlink.lazy import pl

if TYPE_CHECKING:
    from tightlink.diagnosis.commands import Changed, Typed
    from tightlink.diagnosis.filling import Filling
    from tightlink.run import Run

__all__ = ["CAUSES", "Cause", "Delay", "Diagnosis", "Suggestion", "Why", "percent", "why"]

#: Names of causes, with what each says.
CAUSES: Final = {
    "saturated_link": "a link of the path is always busy",
    "router_packet_rate": "a router's processor forwards no more packets per second",
    "ack_path": "the link by which ACKs return is always busy",
    "receiver_window": "the receiver's window is smaller than what the path holds",
    "application": "there is nothing more to send",
    "sender_packet_rate": "the sender's interface takes no more packets per second",
    "send_buffer": "the sender's socket buffer takes no more",
    "outage": "a link of the path is down",
    "random_loss": "losses on a wire keep the congestion window below what the path holds",
    "reordering": "packets that overtake each other are taken for lost",
    "small_queue": "a queue of less than the path holds loses packets, and the link idles after each loss",
    "policer": "a policer drops what exceeds its rate",
    "early_drops": "what an active queue management drops leaves the window below what the path holds",
    "losses": "losses keep the window small; a capture does not tell of which kind",
    "falling_rate": "a link whose rate changes carries less than what comes at times",
    "recovery": "the window is recovering from losses at a queue that is long enough",
    "timeouts": "after losses at a queue, nothing is sent until retransmission timeouts",
    "congestion_marks": "marks keep the congestion window below what the path holds",
    "slow_start": "slow start is not over when the transfer is",
    "window_growth": "the congestion window still grows",
    "control": "a congestion control that heeds delay holds back",
    "pacing": "the control sends at a rate that it has measured or chosen",
    "handshake": "the connection is not established yet",
    "last_ack": "all is sent, and the last ACK is awaited",
    "slow_receiver": "the application at the receiver reads too slowly",
    "path_mtu": "segments of full size do not get through",
    "not_connected": "the connection was refused, or nobody answered",
    "unknown": "cannot be told from this source",
}
#: Flows that are looked at, those with most bytes; more are left out, and counted.
_MOST_FLOWS: Final = 5000


def why(run: Run, flow: str | None = None, *, command: Typed | None = None) -> Why:
    """Why the flows of a run are as fast as they are.

    Args:
        run: Simulated, measured or captured.
        flow: Name of a flow, or of a group such as "upload" for upload[0], upload[1], …; without it all flows.
        command: What was typed to make the run, and the changes of the scenario that were typed beside it, to which
            suggestions add theirs; without it the command that simulates the scenario's file.

    Raises:
        TightlinkError: There is no such flow.
    """
    from tightlink.diagnosis.traffic import of_traffic

    flow = None if flow is None else arguments.text("flow", flow, "the name of a flow or of a group")
    users = of_traffic(run) if flow is None else ()
    if "flows" not in run.tables:
        return Why(users, part=run.part)
    flows = run.flows
    if flow is not None:
        flows = flows.filter((flows["label"] == flow) | (flows["label"].str.split("[").list.first() == flow))
        if flows.is_empty():
            raise _unknown(run, flow)
    found = cache(lambda: _found(run, command))
    if "completion_times" in run.tables:
        from tightlink.diagnosis.completions import open_loop
        from tightlink.diagnosis.transfers import of_transfers

        many = open_loop(run)
        if transfers := [row for row in flows.iter_rows(named=True) if row["label"] in many]:
            users = (*of_transfers(run, transfers, *found()), *users)
        flows = flows.filter(~flows["label"].is_in(list(many)))
        if flows.is_empty():
            return Why(users, part=run.part)
    left_out = max(0, flows.height - _MOST_FLOWS)
    if left_out:
        flows = _largest(flows).head(_MOST_FLOWS)
    return Why((*_diagnoses(run, flows, found), *users), left_out, run.part)


def _largest(flows: pl.DataFrame) -> pl.DataFrame:
    """Flows with most bytes first; those of which that is not known last."""
    return flows.sort("bytes_sent", descending=True, nulls_last=True, maintain_order=True)


def _found(run: Run, command: Typed | None) -> tuple[Filling, Changed]:
    """Who fills queues in the run of a scenario, and the changes of that which can be suggested."""
    from tightlink.diagnosis.commands import Changed
    from tightlink.diagnosis.filling import Filling
    from tightlink.diagnosis.paths import paths_of

    paths = paths_of(run)
    return Filling(run, paths), Changed(run, command, small=paths.small)


def _diagnoses(run: Run, flows: pl.DataFrame, found: Callable[[], tuple[Filling, Changed]]) -> list[Diagnosis]:
    if "connections" in run.tables:
        return _of_capture(run, flows)
    if run.source == "trace":
        return []
    from tightlink.diagnosis.accounted import Accounted

    return Accounted(run, *found()).of(flows.to_dicts())


def _of_capture(run: Run, flows: pl.DataFrame) -> list[Diagnosis]:
    """Of flows of a capture, by what the others tell, too: copies, what comes back, errors of routers."""
    from tightlink.diagnosis import over_time
    from tightlink.diagnosis.captured import of_captured

    asked = flows["flow"].to_list()
    looked_at = pl.concat([flows, _largest(run.flows).head(_MOST_FLOWS)]).unique("flow", maintain_order=True)
    tables = [run.table(name) for name in ("connections", "quic") if name in run.tables]
    wanted = looked_at["flow"].to_list()
    details = {row["flow"]: row for table in tables for row in table.filter(table["flow"].is_in(wanted)).to_dicts()}
    # The longest round trip is that of connections: it has the SYN, also where that was retransmitted.
    ranked = [
        {**known, **_known(row), "rtt_max_s": known.get("rtt_max_s"), **_round_trips(row, known)}
        for row in _largest(looked_at).iter_rows(named=True)
        for known in (details.get(row["flow"], {}),)
    ]
    told = over_time.told(run.series, ranked) if "series" in run.tables else {}
    backwards = {"times_backwards": run.manifest.get("times_backwards", 0)}
    return of_captured([{**row, **told.get(row["label"], {}), **backwards} for row in ranked], set(asked))


def _known(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a row says: nulls must not hide what another one knows."""
    return {name: value for name, value in row.items() if value is not None} | {
        name: None for name in ("packets_retransmitted", "goodput_bps") if row[name] is None
    }


def _round_trips(row: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Round trips of a TCP flow without what was retransmitted (Karn's rule), like mean and p95 of ``flows``."""
    if row["transport"] != "tcp" or not known.get("rtt_samples"):
        return {}
    # From the last SYN on; of the others that of the first one may be the shortest, though it was lost.
    whole = known["initial_rtt_s"]
    shortest = known["rtt_min_s"] if whole is None else min(known["rtt_min_s"], whole)
    if row["rtt_p50_s"] is not None:
        return {"rtt_min_s": shortest, "rtt_median_s": row["rtt_p50_s"]}
    return {"rtt_samples": 0, **dict.fromkeys(("rtt_min_s", "rtt_median_s", "rtt_mean_s", "rtt_p95_s"), shortest)}


def _unknown(run: Run, flow: str) -> TightlinkError:
    labels = run.flows["label"].to_list()
    groups = list(dict.fromkeys(label.partition("[")[0] for label in labels))
    meant = closest(flow, [*groups, *labels])
    known = f'did you mean "{meant}"?' if meant else f"there are {named(groups)}"
    return TightlinkError(f'no flow is called "{flow}"; {known}')
