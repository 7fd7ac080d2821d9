"""Why is a captured flow slow? What its packets tell, row by row."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tightlink.diagnosis import CAUSES, Why
from tightlink.diagnosis.captured import of_captured

UNKNOWN: Final = {
    "transport": "tcp", "state": "complete", "zero_windows": 0, "lost_segments": 0, "acked_unseen": 0,
    "spurious_retransmissions": 0, "packets_retransmitted": 0, "retransmissions": 0, "fast_retransmissions": 0,
    "data_packets": 1000, "payload_bytes": 1_448_000, "in_flight_max_bytes": 14_480, "window_full": 0, "acks": 500,
    "window_max_bytes": 65535, "rtt_min_s": 0.02, "rtt_median_s": 0.02, "rtt_mean_s": 0.02, "rtt_p95_s": 0.02,
    "initial_rtt_s": 0.02, "mss_bytes": 1448, "options": "sack", "goodput_bps": 1e6, "start_s": 0.0, "stop_s": 11.6,
    "label": "a-b", "rtt_samples": 500, "idle_s": 0.0, "idle_beyond_rtt_s": 0.0, "window_limited_s": 0.0,
    "duplicate_acks": 0, "delivered_bytes": 1_448_000,
}  # fmt: skip


#: Captured at the receiver after the handshake.
LATE: Final = {
    "initial_rtt_s": None, "state": "partial", "rtt_min_s": 4e-6, "rtt_median_s": 1.2e-5, "rtt_mean_s": 8e-5,
    "rtt_p95_s": 5e-5, "idle_s": 11.0, "idle_beyond_rtt_s": 11.0, "mss_bytes": None, "options": "",
}  # fmt: skip


REQUEST: Final = {"data_packets": 1, "payload_bytes": 18, "delivered_bytes": 18, "in_flight_max_bytes": 18}


LARGE: Final = {"goodput_bps": 26e6, "in_flight_max_bytes": 400_000, "window_max_bytes": 3_000_000}


#: Captured in the middle of a path of 40 ms.
BETWEEN: Final = {"initial_rtt_s": 0.04, "rtt_max_s": 0.09, "rtt_echoed_median_s": 0.02}


def test_names_of_others_are_no_markup() -> None:
    row = {**UNKNOWN, "label": "<b>"}
    assert "&lt;b&gt;" in Why(tuple(of_captured([row])))._repr_html_()


@pytest.mark.parametrize(
    ("changed", "cause", "said"),
    [
        ({"state": "refused", "rtt_min_s": None}, "not_connected", "was refused"),
        ({"zero_windows": 3, "window_limited_s": 4.0}, "slow_receiver", "closed its window 3 times"),
        (
            {"data_packets": 0, "payload_bytes": 0, "acks": 0, "rtt_samples": 0},
            "unknown",
            "no data of it were captured",
        ),
        ({"acks": 0, "rtt_samples": 0, "in_flight_max_bytes": 0}, "unknown", "no ACKs of it were captured"),
        ({"rtt_samples": 0, "in_flight_max_bytes": 0}, "unknown", "too little was kept of its packets"),
        # A window of which the scale was not captured is larger than what is in flight.
        (
            {"window_max_bytes": 1610, "in_flight_max_bytes": 80_000, "state": "partial", "rtt_median_s": 0.08},
            "saturated_link",
            "packets wait in a queue",
        ),
        # Or it is full: times 1024 it is what is in flight; of another size, no power of two makes it that.
        (
            {"window_max_bytes": 13, "in_flight_max_bytes": 13_312, "state": "partial", "options": ""},
            "unknown",
            "the application, the receiver's window, whose scale was not captured, or a congestion control",
        ),
        (
            {"window_max_bytes": 10, "in_flight_max_bytes": 13_312, "state": "partial", "options": ""},
            "application",
            "offers no more: at most 13312 bytes are in flight",
        ),
        # Once in a long transfer is not what bounds it.
        (
            {"zero_windows": 1, "window_limited_s": 0.5, "rtt_median_s": 0.08, "in_flight_max_bytes": 60_000},
            "saturated_link",
            "its receiver closed its window once, 4 % of the time",
        ),
        ({"idle_s": 9.0}, "application", "nothing is in flight 78 % of the time"),
        (
            {"idle_s": 9.0, "rtt_median_s": 0.08, "in_flight_max_bytes": 60_000},
            "application",
            "of the time; a link of the path is saturated",
        ),
        (
            {"idle_s": 2.0, "rtt_median_s": 0.08, "in_flight_max_bytes": 60_000},
            "saturated_link",
            "nothing is in flight 17 % of the time",
        ),
        # Two bytes in an hour are no slow start.
        ({"idle_s": 11.5, "payload_bytes": 2, "in_flight_max_bytes": 2}, "application", "has nothing to send"),
        (
            {"window_limited_s": 9.0, "window_max_bytes": 600_000, "in_flight_max_bytes": 300_000},
            "receiver_window",
            "has no room 78 % of the time",
        ),
        # At the receiver a pause is a round trip longer.
        ({"rtt_min_s": 1e-5, "idle_s": 11.0, "idle_beyond_rtt_s": 6.0}, "application", "in flight 52 % of the time"),
        ({"rtt_min_s": 1e-5, "idle_s": 6.0, "idle_beyond_rtt_s": 0.1}, "unknown", "at the receiver cannot tell"),
        # Its timestamps come back with the data: a queue stands, or what is lost is what so few segments in flight allow.
        (
            {"rtt_min_s": 1e-5, "rtt_echoed_median_s": 0.05, "rtt_echoed_p95_s": 0.07},
            "saturated_link",
            "queues on the path add 30 ms (median; 50 ms at p95) to the handshake's RTT of 20 ms",
        ),
        # Or some wait, and too many are lost for the window: the queue overflows.
        (
            {
                "rtt_min_s": 1e-5,
                "rtt_echoed_median_s": 0.022,
                "rtt_echoed_p95_s": 0.05,
                "packets_retransmitted": 25,
                "lost_segments": 25,
                "goodput_bps": 40e6,
                "window_max_bytes": 500_000,
            },
            "saturated_link",
            "queues on the path add 2 ms (median; 30 ms at p95) to the handshake's RTT of 20 ms",
        ),
        (
            {
                "rtt_min_s": 1e-5,
                "rtt_echoed_median_s": 0.021,
                "packets_retransmitted": 4,
                "lost_segments": 4,
                "goodput_bps": 12e6,
            },
            "losses",
            "0.4 % of the segments",
        ),
        # Segments that others overtook are no losses, whatever tshark calls what fills their gaps.
        (
            {"rtt_min_s": 1e-5, "lost_segments": 90, "fast_retransmissions": 90},
            "unknown",
            "90 gaps in what was captured, most of packets that others overtook",
        ),
        # What had arrived already was retransmitted in vain, or is a copy that the path made.
        (
            {"rtt_min_s": 1e-5, "packets_retransmitted": 40, "retransmissions": 40},
            "unknown",
            "40 segments retransmitted in vain, or duplicated by the path",
        ),
        # Of packets of many segments, as hosts capture that leave segmentation to their interface, few segments are lost.
        (
            {"payload_bytes": 40_000_000, "delivered_bytes": 40_000_000, "packets_retransmitted": 20},
            "application",
            "offers no more",
        ),
        # Many losses are many at either end.
        ({"rtt_min_s": 1e-5, "packets_retransmitted": 70, "lost_segments": 50}, "losses", "7 % of the segments"),
        # The largest window may be that of the SYN.
        ({"rtt_min_s": 1e-5}, "unknown", "whether later windows were smaller is not in the tables"),
        # A SYN that was answered late: round trips of data are much shorter, and one is as long as the handshake.
        (
            {"initial_rtt_s": 0.22, "rtt_max_s": 0.22, "rtt_min_s": 0.04, "rtt_mean_s": 0.0405, "rtt_p95_s": 0.04},
            "application",
            "add nothing to 95 % of the round trips, of which the shortest is 40 ms",
        ),
        # Timestamps that come back at once say so, too.
        ({"initial_rtt_s": 0.22, "rtt_echoed_median_s": 9e-5}, "application", "a shortest RTT of 20 ms"),
        # More in flight than its window is impossible: the handshake is no round trip of the path.
        (
            {"initial_rtt_s": 0.22, "rtt_max_s": 0.5, "goodput_bps": 3.8e6, "window_max_bytes": 60_000},
            "application",
            "a shortest RTT of 20 ms",
        ),
        # In the middle of the path: of its 50 ms, all round trips lack 30.
        (
            {
                "initial_rtt_s": 0.05,
                "rtt_max_s": 0.02,
                "idle_s": 6.0,
                "goodput_bps": 9.2e6,
                "in_flight_max_bytes": 64_000,
            },
            "receiver_window",
            "captured between both ends: of the path's shortest RTT of 50 ms, 30 ms are on the sender's side",
        ),
        # With queues: one behind the capture point, which no receiver has; and one before it, which timestamps tell.
        (
            {
                "initial_rtt_s": 0.05,
                "rtt_max_s": 0.4,
                "rtt_min_s": 0.004,
                "rtt_median_s": 0.18,
                "rtt_prompt_p95_s": 0.2,
                "in_flight_max_bytes": 60_000,
            },
            "saturated_link",
            "46 ms are on the sender's side",
        ),
        (
            {"initial_rtt_s": 0.05, "rtt_max_s": 0.4, "rtt_echoed_median_s": 0.19, "goodput_bps": 2e6},
            "saturated_link",
            "30 ms are on the sender's side",
        ),
        # At the receiver segments behind a gap are acknowledged late, and most of the others at once.
        (
            {"rtt_min_s": 1e-5, "rtt_median_s": 2e-5, "rtt_max_s": 0.4, "rtt_prompt_p95_s": 0.03},
            "unknown",
            "captured at the receiver",
        ),
        # Three duplicate ACKs ask for each of what was lost behind the capture point.
        (
            {"rtt_min_s": 1e-5, "packets_retransmitted": 40, "retransmissions": 40, "duplicate_acks": 300},
            "losses",
            "4 % of the segments",
        ),
        # Nothing in flight for 9 s after its last segment, until the other end resets.
        (
            {"state": "reset", "idle_s": 9.0, "after_s": 9.0, "packets_sent": 1001, "to": "10.0.0.2"},
            "application",
            "add 0 ms to a shortest RTT of 20 ms; the connection was reset by 10.0.0.2",
        ),
        (
            {"stalled_s": 5.8, "longest_stall_s": 4.0, "idle_s": 0.0},
            "outage",
            "nothing gets through 50 % of the time, 4 s at a stretch",
        ),
        # A receiver sees the same stall as a pause.
        (
            {"rtt_min_s": 1e-5, "stalled_s": 5.8, "longest_stall_s": 0.4, "idle_s": 6.0, "idle_beyond_rtt_s": 5.9},
            "timeouts",
            "until something is retransmitted after a timeout",
        ),
        (
            {"stalled_s": 1.5, "longest_stall_s": 0.4},
            "application",
            "nothing gets through 13 % of the time",
        ),
        # SYNs that were lost are no losses of data.
        (
            {"syns_retransmitted": 2, "handshake_s": 3.0, "packets_retransmitted": 2, "data_packets": 100},
            "application",
            "the handshake took about 3 s, 26 % of the time, for 2 SYNs were retransmitted",
        ),
        (
            {"syns_retransmitted": 1, "handshake_s": 9.0, "packets_retransmitted": 1, "data_packets": 100},
            "handshake",
            "for a SYN was retransmitted",
        ),
        # A mirror port: each packet twice.
        (
            {
                "packets_sent": 1004,
                "packets_retransmitted": 502,
                "duplicate_acks": 250,
                "delivered_bytes": 724_000,
            },
            "application",
            "each packet was captured twice",
        ),
        # No segment of full size is acknowledged.
        (
            {
                "packets_retransmitted": 5,
                "delivered_bytes": 37,
                "in_flight_max_bytes": 1448,
                "from": "10.0.0.1",
            },
            "path_mtu",
            "the path's MTU is smaller",
        ),
        (
            {"rtt_min_s": 1e-5, "data_packets": 1, "payload_bytes": 37, "lost_segments": 1, "goodput_bps": 1e3},
            "unknown",
            "segments that it sent before its end never came",
        ),
        # Of a window of which the scale is not known nothing is excluded, or said to be unscaled.
        (
            {"mss_bytes": None, "options": "", "window_full": 9, "in_flight_max_bytes": 65_000, "goodput_bps": 26e6},
            "receiver_window",
            "options of the SYN were not captured, and the window may be a multiple of that",
        ),
        (
            {"state": "partial", "window_max_bytes": 468, "in_flight_max_bytes": 350_000},
            "unknown",
            "the receiver's window, whose scale was not captured",
        ),
        # A few long round trips lift the mean, and nothing else.
        ({"rtt_mean_s": 0.0203, "rtt_p95_s": 0.0202}, "application", "add under 0.2 ms to 95 % of the round trips"),
        # Four of 1000 allow 19 segments in flight, and no more of an application's few.
        (
            {"packets_retransmitted": 4, "goodput_bps": 12e6, "in_flight_max_bytes": 90_000},
            "losses",
            "0.4 % of the segments",
        ),
        ({"packets_retransmitted": 4, "goodput_bps": 1e6}, "application", "offers no more"),
        # The median is short, and one round trip in twenty says that a queue stands now and then.
        (
            {"rtt_p95_s": 0.09, "rtt_prompt_p95_s": 0.09, "rtt_mean_s": 0.025, "in_flight_max_bytes": 150_000},
            "saturated_link",
            "70 ms at p95",
        ),
        # Round trips of single segments are long, and those of several are not.
        ({"rtt_p95_s": 0.062, "rtt_prompt_p95_s": 0.021}, "application", "and the receiver delays some ACKs"),
        (
            {"rtt_p95_s": 0.062, "in_flight_max_bytes": 400},
            "application",
            "less than a segment, and wait for delayed ACKs, as small writes do (Nagle)",
        ),
        (
            {"spurious_retransmissions": 1, "in_flight_max_bytes": 5000},
            "application",
            "1 segment retransmitted in vain",
        ),
        ({"lost_segments": 2, "in_flight_max_bytes": 5000}, "application", "2 gaps in what was captured"),
        (
            {"window_full": 200, "window_max_bytes": 3000, "in_flight_max_bytes": 3000, "state": "partial"},
            "receiver_window",
            "the window may be a multiple of that",
        ),
        ({"in_flight_max_bytes": 350_000}, "unknown", "a congestion control that holds back"),
        # A connection of which the beginning was not captured: RTTs of microseconds are a receiver's, or a short path's.
        (LATE, "unknown", "RTTs of 0.012 ms may be the receiver's own delay as well as a path's"),
        (
            {**LATE, "lost_segments": 16, "fast_retransmissions": 10, "retransmissions": 4, "packets_retransmitted": 1},
            "unknown",
            "16 gaps in what was captured, of packets that were lost before it or that others overtook",
        ),
        ({**LATE, "silent_s": 8.0}, "application", "nothing is in flight 69 % of the time"),
        ({**LATE, "idle_s": 0.1, "in_flight_max_bytes": 20_000}, "application", "a shortest RTT of 0.004 ms"),
        (
            {"initial_rtt_s": None, "state": "partial", "idle_s": 9.0},
            "unknown",
            "or where the capture was not taken at the sender: the handshake, which would tell, was not captured",
        ),
        ({"initial_rtt_s": None, "state": "partial", "idle_s": 9.0, "silent_s": 8.0}, "application", "nothing to send"),
        # Its window is full over half of the round trip, if this was captured between both ends.
        (
            {"initial_rtt_s": None, "state": "partial", "window_max_bytes": 15_000, "options": ""},
            "unknown",
            "the application, the receiver's window, whose scale was not captured, or",
        ),
        # At the receiver a window without its scale is no bound of what exceeds it.
        (
            {"rtt_min_s": 1e-5, "mss_bytes": None, "options": "", "goodput_bps": 36e6},
            "unknown",
            "the receiver's window is not known, as options of the SYN were not captured",
        ),
        (
            {"rtt_min_s": 1e-5, "mss_bytes": None, "options": "", "goodput_bps": 26e6},
            "receiver_window",
            "options of the SYN were not captured, and the window may be a multiple of that",
        ),
        # A mirror port beside losses, and of a flow whose ACKs carry data: samples tell.
        (
            {
                "packets_sent": 2004,
                "data_packets": 2000,
                "packets_retransmitted": 1026,
                "duplicate_acks": 320,
                "delivered_bytes": 715_000,
                "doubled": True,
                "goodput_bps": 8e6,
            },
            "losses",
            "losses keep the window small (2.4 % of the segments are retransmitted)",
        ),
        # What waits before a capture at the sender is not seen.
        ({"idle_s": 9.0, "steady": True}, "unknown", "or the sender's own link carries no more"),
        ({"idle_s": 9.0, "steady": True, "payload_bytes": 700_000}, "application", "has nothing to send"),
        (
            {"in_flight_max_bytes": 350_000, "steady": True},
            "unknown",
            "the application, the sender's own link, of which",
        ),
        # Only its FIN was retransmitted, and one segment of few is no share.
        ({**REQUEST, "packets_sent": 5, "packets_retransmitted": 2}, "application", "at most 18 bytes are in flight"),
        ({**REQUEST, "data_packets": 2, "packets_retransmitted": 1}, "application", "at most 18 bytes are in flight"),
        # Slow start holds nothing back that is less than the first window.
        ({"payload_bytes": 7500, "in_flight_max_bytes": 3048}, "application", "at most 3048 bytes are in flight"),
        ({"payload_bytes": 20_000, "in_flight_max_bytes": 20_000}, "application", "at most 20000 bytes"),
        (
            {"payload_bytes": 31_000, "in_flight_max_bytes": 20_000, "data_end_s": 0.08},
            "slow_start",
            "the transfer ends after 4 round trips",
        ),
        # Losses that allow a fifth of what is in flight do not hold it back.
        (
            {**LARGE, "packets_retransmitted": 22},
            "unknown",
            "the 45 segments in flight on average are 5.4 times what Reno or CUBIC keep where so many are lost one by one",
        ),
        (
            {**LARGE, "packets_retransmitted": 22, "rtt_mean_s": 0.028},
            "saturated_link",
            "packets wait in a queue, which overflows: 2.2 % of the segments",
        ),
        # The ACK of a spurious retransmission is no round trip of the path, as handshake and timestamps say.
        (
            {**BETWEEN, "rtt_min_s": 1.5e-5, "spurious_retransmissions": 178},
            "application",
            "of the path's shortest RTT of 40 ms, 20 ms are on the sender's side",
        ),
        # What is before the capture point and what is behind it are the handshake's, however much is behind.
        (
            {**BETWEEN, "initial_rtt_s": 0.0312, "rtt_echoed_median_s": 0.0103},
            "application",
            "of the path's shortest RTT of 31.2 ms, 11.2 ms are on the sender's side",
        ),
        # Without timestamps a queue hides whether the handshake was slow.
        (
            {"initial_rtt_s": 0.041, "rtt_max_s": 0.1},
            "application",
            "the handshake took 41 ms: either it was slow, or part of the path lies before the capture point",
        ),
        (
            {"lost_segments": 90, "out_of_order": 90, "times_backwards": 300},
            "application",
            "300 packets of the file are not in the order of time",
        ),
        (
            {"lost_segments": 90, "out_of_order": 90},
            "application",
            "the sender's host reorders packets, or the capture",
        ),
        # A window without room is what bounds a flow, though ACKs that wait for the application look like a queue.
        (
            {"window_limited_s": 11.0, "window_max_bytes": 80_000, "rtt_median_s": 0.04, "in_flight_max_bytes": 50_000},
            "receiver_window",
            "has no room 95 % of the time",
        ),
        (
            {
                "rtt_min_s": 3e-6,
                "rtt_median_s": 0.019,
                "rtt_prompt_p95_s": 0.019,
                "rtt_max_s": 0.044,
                "rtt_echoed_median_s": 0.02,
            },
            "unknown",
            "ACKs come 19 ms after their data, as where the application there reads slowly; captured at the receiver",
        ),
        # A receiver that reads no more: behind the last data only probes of its window pass.
        (
            {"zero_windows": 6, "keep_alives": 5, "after_s": 100.0, "window_limited_s": 100.0},
            "slow_receiver",
            "closed its window, and the last 100 s passed without data",
        ),
        # Where most gaps are of what was overtaken, what comes late may be, too.
        (
            {
                "rtt_min_s": 1e-5,
                "lost_segments": 1202,
                "out_of_order": 4884,
                "fast_retransmissions": 812,
                "packets_retransmitted": 127,
            },
            "unknown",
            "what was lost is not told apart from what others overtook",
        ),
    ],
)
def test_what_a_capture_tells(changed: dict[str, Any], cause: str, said: str) -> None:
    ((diagnosis),) = of_captured([{**UNKNOWN, **changed}])
    assert diagnosis.causes[0].name == cause, diagnosis.sentence
    assert said in diagnosis.sentence


#: Some segments over a line that takes long for each.
SLOW: Final = {
    "rtt_min_s": 0.02, "rtt_median_s": 0.09, "rtt_prompt_p95_s": 0.1, "rtt_mean_s": 0.09, "rtt_p95_s": 0.1,
    "in_flight_max_bytes": 4 * 1448, "goodput_bps": 515e3, "steady": True,
}  # fmt: skip
#: No room in the window for most of the time, though what is in flight does not fill it on average.
WITHOUT_ROOM: Final = {"window_limited_s": 8.0, "in_flight_max_bytes": 65_000, "goodput_bps": 4e6, "window_full": 9}
#: As much as slow start sends, and the first window in flight.
FIRST: Final = {"payload_bytes": 50_000, "delivered_bytes": 50_000, "data_packets": 35, "stop_s": 0.1}
STALLED: Final = {"stalled_s": 8.0, "longest_stall_s": 3.0, "packets_retransmitted": 9, "repaired": 9}


@pytest.mark.parametrize(
    ("changed", "causes", "said"),
    [
        # Where a link of four segments is idle at times, the last of them is back within 2.33 round trips of a SYN.
        (SLOW, ["saturated_link"], "packets wait in a queue"),
        ({**SLOW, "rtt_min_s": 0.04}, ["application"], "or its control heeds delay and holds back"),
        ({**SLOW, "rtt_prompt_p95_s": 0.04}, ["application"], "offers no more"),
        ({**SLOW, "goodput_bps": 128e3}, ["application"], "offers no more"),
        # A window that does not change has no room behind a segment that was lost.
        (
            {**WITHOUT_ROOM, "window_median_bytes": 65_535, "packets_retransmitted": 30, "goodput_bps": 1e6},
            ["losses"],
            "3 % of the segments",
        ),
        (
            {**WITHOUT_ROOM, "window_median_bytes": 65_535},
            ["receiver_window"],
            "window of 65535 bytes has no room 69 %",
        ),
        (
            {**WITHOUT_ROOM, "window_median_bytes": 20_000},
            ["receiver_window"],
            "the application there reads too slowly",
        ),
        ({"window_max_bytes": 14_480, "window_full": 9}, ["receiver_window"], "14480 bytes is full at times, and no"),
        (FIRST, ["slow_start"], "after 5 round trips"),
        ({**FIRST, "packets_retransmitted": 2}, ["losses"], "5.7 % of the segments"),
        (
            {**FIRST, "window_reductions": 1},
            ["unknown"],
            "after marks of a queue (ECN: the sender reduced it once for them)",
        ),
        (
            {"packets_retransmitted": 2, "fast_retransmissions": 2, "in_flight_max_bytes": 400_000, "goodput_bps": 9e6},
            ["unknown"],
            "a window that is small after losses (2 segments are retransmitted)",
        ),
        # What is sent between stalls tells of nothing else.
        (STALLED, ["outage"], "nothing gets through 69 % of the time"),
        ({**STALLED, **FIRST, "stalled_s": 0.05}, ["outage"], "nothing gets through 50 % of the time"),
    ],
)
def test_what_is_no_cause_is_not_told(changed: dict[str, Any], causes: list[str], said: str) -> None:
    ((diagnosis),) = of_captured([{**UNKNOWN, **changed}])
    assert [cause.name for cause in diagnosis.causes] == causes, diagnosis.sentence
    assert said in diagnosis.sentence


@pytest.mark.parametrize(
    ("handshake_s", "of"), [(1.04, "a shortest"), (0.035, "a shortest"), (0.0143, "the handshake's")]
)
def test_timestamps_tell_the_path_of_a_handshake_that_waited(handshake_s: float, of: str) -> None:
    """At the receiver: of a handshake a packet was lost, or waited in the queue of another flow."""
    own = dict.fromkeys(("rtt_min_s", "rtt_median_s", "rtt_mean_s", "rtt_p95_s", "rtt_prompt_p95_s", "rtt_max_s"), 1e-5)
    echoed = {"rtt_echoed_min_s": 0.0143, "rtt_echoed_median_s": 0.0345, "rtt_echoed_p95_s": 0.0446}
    (found,) = of_captured([{**UNKNOWN, **own, **echoed, "initial_rtt_s": handshake_s}])
    assert found.causes[0].name == "saturated_link", found.sentence
    assert f"queues on the path add 20.2 ms (median; 30.3 ms at p95) to {of} RTT of 14." in found.sentence


@pytest.mark.parametrize(("pause_s", "cause"), [(0.5, "losses"), (4.0, "application")])
def test_pauses_of_a_round_trip_through_a_queue_are_no_application(pause_s: float, cause: str) -> None:
    """At the receiver ten pauses, of a handshake of 0.4 s and round trips of 0.5 s."""
    own = dict.fromkeys(("rtt_min_s", "rtt_median_s", "rtt_mean_s", "rtt_p95_s", "rtt_prompt_p95_s"), 1e-5)
    echoed = {"rtt_echoed_min_s": 0.4, "rtt_echoed_median_s": 0.5, "rtt_echoed_p95_s": 0.55, "initial_rtt_s": 0.4}
    idle = {"idle_s": 10 * pause_s, "idle_beyond_rtt_s": 10 * (pause_s - 0.4), "stop_s": 13 * pause_s}
    lost = {"lost_segments": 60, "packets_retransmitted": 60, "retransmissions": 60}
    (found,) = of_captured([{**UNKNOWN, **own, **echoed, **idle, **lost, "goodput_bps": 2e5}])
    assert found.causes[0].name == cause, found.sentence


def test_without_the_handshake_the_shortest_round_trip_may_have_a_queue() -> None:
    late = {"initial_rtt_s": None, "state": "partial", "rtt_echoed_min_s": 0.0, "rtt_echoed_median_s": 0.0}
    (found,) = of_captured([{**UNKNOWN, **late, "packets_retransmitted": 30, "retransmissions": 30}])
    assert "(CoDel), or a queue that never empties, which a capture" in found.sentence
    assert "to a shortest RTT of 20 ms, unless that has a queue, too: the handshake was not captured" in found.sentence
    (whole,) = of_captured([{**UNKNOWN, "packets_retransmitted": 30, "retransmissions": 30}])
    assert "never empties" not in whole.sentence
    assert "unless" not in whole.sentence


@pytest.mark.parametrize("count", [1000, 3061])
def test_three_losses_are_three_of_any_number(count: int) -> None:
    """Of 3061 segments a share of 3 / 3061 is 2.9999999999999996."""
    allowed = {"packets_retransmitted": 3, "retransmissions": 3, "data_packets": count, "payload_bytes": count * 1448}
    (found,) = of_captured([{**UNKNOWN, **allowed, "goodput_bps": 16e6, "in_flight_max_bytes": 400_000}])
    assert found.causes[0].name == "losses", found.sentence


def test_segments_that_reach_their_receiver_fit_the_path() -> None:
    """The first one was lost five times, behind which others were captured at the receiver."""
    own = dict.fromkeys(("rtt_min_s", "rtt_median_s", "rtt_mean_s", "rtt_p95_s", "rtt_prompt_p95_s"), 1e-5)
    first = {"delivered_bytes": 0, "packets_retransmitted": 5, "lost_segments": 1, "data_packets": 8}
    (found,) = of_captured([{**UNKNOWN, **own, **first, "payload_bytes": 11_584}])
    assert found.causes[0].name != "path_mtu", found.sentence


def test_a_hosts_own_delay_is_no_slow_application() -> None:
    """On a path of 50 us, ACKs that come 34 us after their data were held back by nobody."""
    fast = {"initial_rtt_s": 49e-6, "rtt_min_s": 1e-5, "rtt_median_s": 34e-6, "rtt_prompt_p95_s": 35e-6}
    echoed = {"rtt_echoed_min_s": 45e-6, "rtt_echoed_median_s": 48e-6, "rtt_echoed_p95_s": 49e-6}
    (found,) = of_captured([{**UNKNOWN, **fast, **echoed, "rtt_mean_s": 34e-6, "rtt_p95_s": 36e-6}])
    assert "captured at the receiver" in found.sentence
    assert "reads slowly" not in found.sentence


def test_what_losses_allow_is_compared_with_the_time_in_which_a_flow_sends() -> None:
    changed = {**LARGE, "goodput_bps": 10e6, "packets_retransmitted": 22}
    (always,), (seldom,) = (of_captured([{**UNKNOWN, **changed, "idle_s": idle_s}]) for idle_s in (0.0, 8.7))
    assert [cause.name for cause in always.causes] == ["losses"]
    assert [cause.name for cause in seldom.causes] == ["application"]


@pytest.mark.parametrize(
    ("label", "transport", "said"),
    [
        ("a:5000-b:53", "udp", "the application sets the rate of its datagrams"),
        ("a:5000-b:4433", "udp", "the application sets the rate of its datagrams; whether it has a congestion control"),
        ("a:50000-b:443", "udp", "datagrams, likely of QUIC"),
        ("a:5555-b:4789", "udp", "packets of a tunnel, into which is not looked"),
        ("a-b", "gre", "packets of a tunnel"),
        ("a-b", "icmp", "ICMP messages, such as pings or errors"),
        ("fe80::1-ff02::16", "icmpv6", "ICMPv6 messages, such as neighbour discovery"),
    ],
)
def test_what_flows_without_connections_carry(label: str, transport: str, said: str) -> None:
    (diagnosis,) = of_captured([{"label": label, "transport": transport, "from": "a", "to": "b"}])
    assert said in diagnosis.sentence
    assert all(cause.name in CAUSES for cause in diagnosis.causes)


def test_errors_that_reached_the_sender_are_told() -> None:
    hole = {"packets_retransmitted": 5, "delivered_bytes": 0, "in_flight_max_bytes": 1448, "from": "a", "to": "b"}
    error = {"label": "r-a", "transport": "icmp", "from": "r", "to": "a"}
    first, _ = of_captured([{**UNKNOWN, **hole}, error])
    assert "r sent the sender ICMP messages, which may say so (fragmentation needed)" in first.sentence
