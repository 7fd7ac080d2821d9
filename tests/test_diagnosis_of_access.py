"""Why is it slow at home? Numbers of access links: rates, queues in bandwidth-delay products, what a wire adds."""

from __future__ import annotations

import re
from typing import Any, Final

import polars as pl
import pytest

import tightlink as tl
from tightlink.diagnosis import Diagnosis
from tightlink.run import Run

#: A download whose ACKs share a slow way up with an upload.
ASYMMETRIC: Final = """
profile = "linux"
duration = "20 s"
link.l = { ends = ["net", "home"], rate = "100 Mbit/s", delay = "10 ms", queue = "200 packets", reverse = { rate = "2 Mbit/s", queue = "100 packets" } }
traffic.down = { kind = "bulk", from = "net", to = "home" }
traffic.up = { kind = "bulk", from = "home", to = "net" }
"""
CALL: Final = 'traffic.call = { kind = "cbr", from = "a", to = "b", interval = "20 ms", udp.payload = "160 B" }\n'
#: A slow link in bursts, beside a call.
SLOW: Final = f"""
profile = "linux"
duration = "30 s"
link.l = {{ ends = ["a", "b"], rate = "2 Mbit/s", delay = "5 ms", queue = "1000 packets" }}
{CALL}"""
#: A radio link that transmits a fifth of its frames once more.
ARQ: Final = """
duration = "10 s"
link.l = { ends = ["a", "b"], rate = "20 Mbit/s", delay = "10 ms", queue = "100 packets", loss = "20 %", arq = { after = "8 ms" } }
traffic.v = { kind = "cbr", from = "a", to = "b", rate = "18 Mbit/s", udp.datagram = "1500 B" }
"""


def _run(text: str, changes: dict[str, Any] | None = None) -> Run:
    return tl.simulate(tl.loads(text).set_all(changes or {}))


def _told(text: str, flow: str, changes: dict[str, Any] | None = None) -> Diagnosis:
    return _run(text, changes).why(flow).diagnoses[0]


def _row(run: Run, flow: str) -> dict[str, Any]:
    return run.flows.row(by_predicate=pl.col("label") == flow, named=True)


def test_one_queue_has_one_bdp() -> None:
    said = re.findall(r"100 packets, ([^)]*)\)", str(_run(ASYMMETRIC).why()).replace("\n  ", " "))
    assert said == ["23 BDP of up"] * 2
    steps = {"schedule": [{"at": "0 s", "rate": "20 Mbit/s"}, {"at": "2 s", "rate": "4 Mbit/s"}], "period": "4 s"}
    changes = {"link.l": {"ends": ["a", "b"], "rate": steps, "delay": "20 ms", "queue": "1 BDP"}}
    text = 'duration = "8 s"\nlink.l = { ends = ["a", "b"], rate = "1 Mbit/s" }\n'
    text += 'traffic.d = { kind = "bulk", from = "a", to = "b", tcp.window = "500 packets" }'
    assert "(40 packets, 1 BDP)" in _told(text, "d", changes).sentence
    long = changes | {"link.l.queue": "300 packets"}
    found = _told(text, "d", long)
    assert "(300 packets, 7.3 BDP)" in found.sentence
    assert any("a queue of one BDP at its highest rate (69 packets)" in each.text for each in found.suggestions)


def test_a_rate_that_fits_what_retransmissions_leave() -> None:
    first = _told(ARQ, "v").suggestions[0]
    assert first.changes == {"traffic.v.rate": "13 Mbit/s"}
    assert _row(_run(ARQ, first.changes), "v")["packets_dropped"] == 0


@pytest.mark.parametrize("most", [0.1, 6.0])
def test_jitter_adds_no_more_than_it_can(most: float) -> None:
    """What a flow waits beyond the mean packet is queue."""
    jitter = {"kind": "uniform", "most": f"{most} ms"}
    text = SLOW + 'traffic.up = { kind = "bulk", from = "a", to = "b", start = "10 s", bytes = "2 MB" }'
    changes = {
        "link.l.rate": "20 Mbit/s",
        "link.l.queue": "100 ms",
        "link.l.jitter": jitter,
        "traffic.up.bytes": "10 MB",
    }
    run = _run(text, changes)
    for flow, ways in (("up", 2), ("call", 1)):
        told = run.why(flow).diagnoses[0]
        adds = re.search(r"jitter of [^;]* adds ([0-9.]*) ms", told.sentence)
        assert (adds is None) == (most < 1)
        assert adds is None or float(adds[1]) <= ways * most
        assert told.delay is not None
        assert told.delay.mean_s >= _row(run, flow)["queueing_delay_mean_s"] - 1e-9
