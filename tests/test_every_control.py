"""Every congestion control alone over buffers from a tenth of a bandwidth-delay product to ten, beside its own kind, beside CUBIC,
and after an outage: what its source lets it do, on a path of 20 Mbit/s and 40 ms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

import tightlink as tl
from tightlink import _core
from tightlink.diagnosis.kinds import BY_DELAY, BY_RATE

#: Packets of 1500 B that the path holds.
BDP = 20e6 * 0.04 / (8 * 1500)
PATH = """\
profile = "rfc"
duration = "60 s"
link.wire = { ends = ["a", "b"], rate = "20 Mbit/s", delay = "20 ms" }
"""
#: Three of the sixty seconds, for slow start and for mending what it loses. Ours.
START = 0.05
BUFFERS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True)
class Expected:
    """What the source of a control lets it do."""

    keeps: float | None
    """The share of the window that a loss leaves: the window is never below it, so neither is what is used of the link."""
    uses: float = 1.0
    """What it uses of the link where the buffer does not bound it."""
    packets: float | None = None
    """Packets that it lets wait at most on average, where it goes by delays."""
    fair: bool = True
    """Two of a kind have rates within a factor of two of each other."""
    gives_way: bool = False
    """CUBIC gets at least half beside it."""


#: LEDBAT's target is 100 ms (RFC 6817), LEDBAT++'s 60 ms; it stands back for a tenth of the time (section 4.4 of its draft).
EXPECTED = {
    "reno": Expected(0.5),
    "cubic": Expected(0.7),
    "bic": Expected(0.8),
    # RFC 3649: 0.5 up to 38 packets, and more above.
    "highspeed": Expected(0.5),
    # What two flows have stays in proportion (Kelly 2003; Chiu, Jain 1989: multiplicative increase does not converge).
    "scalable": Expected(0.875, fair=False),
    "htcp": Expected(0.5),
    "compound": Expected(0.5),
    "vegas": Expected(0.5, packets=4, gives_way=True),
    # It sets the window to the bandwidth-delay product that it measures.
    "westwood": Expected(0.5),
    "veno": Expected(0.5),
    "illinois": Expected(0.5),
    "yeah": Expected(0.5),
    "hybla": Expected(0.5),
    "fast": Expected(0.5, packets=20),
    # Alone it keeps 20 packets; two have half of the rate each, where its tuning has one of them keep 8, and rates follow that.
    "fast-at": Expected(0.5, packets=20, fair=False),
    # A late flow takes what an earlier one has left in the queue for the delay of an empty path (RFC 6817 section 4.4).
    "ledbat": Expected(0.5, packets=0.1 / 0.04 * BDP, fair=False, gives_way=True),
    "ledbat++": Expected(0.5, uses=0.75, packets=0.06 / 0.04 * BDP, gives_way=True),
    "copa": Expected(None, packets=8),
    "vivace": Expected(None, uses=0.85, packets=0.5 * BDP, gives_way=True),
    "bbr": Expected(None),
    "bbr3": Expected(None, uses=0.9),
}
#: With the 200 packets of its default, three times what the buffers of the pairs hold, FAST goes by losses.
OPTIONS = {"fast": '{ kind = "fast", alpha = "20 packets" }'}
#: These answer marks: test_marks.py and the study l4s have them over queues that mark.
MARKED = {"dctcp", "prague", "prices"}


def scenario(buffer: float, *controls: str, duration: str = "60 s", **more: Any) -> tl.Scenario:
    """A flow of each control, two seconds apart, over a queue of so many bandwidth-delay products."""
    text = PATH
    for place, control in enumerate(controls):
        congestion = OPTIONS.get(control, f'"{control}"')
        tcp = f'{{ congestion = {congestion}, recovery = "rack", window = "10000 packets", rto.min = "200 ms" }}'
        text += f'traffic.f{place} = {{ kind = "bulk", from = "a", to = "b", start = "{2 * place} s", tcp = {tcp} }}\n'
    queue = f"{max(2, round(buffer * BDP))} packets"
    return tl.loads(text).set_all({"link.wire.queue": queue, "duration": duration, **more})


def rates(*controls: str) -> list[float]:
    """Goodputs beside each other, in a queue of one bandwidth-delay product."""
    return tl.simulate(scenario(1.0, *controls, duration="120 s")).flows["goodput_bps"].to_list()


def test_every_control_is_here() -> None:
    assert EXPECTED.keys() | MARKED == dict(_core.congestion()).keys(), "a line of EXPECTED, or in MARKED"


def test_the_diagnosis_knows_what_goes_by_delays() -> None:
    by_delays = {name for name, expected in EXPECTED.items() if expected.packets is not None}
    assert by_delays <= BY_DELAY | BY_RATE, "diagnosis/kinds.py"
    assert by_delays >= BY_DELAY


@pytest.mark.parametrize("control", EXPECTED)
def test_alone_it_uses_what_its_cut_leaves(control: str) -> None:
    """A window that a loss finds at 1 + b products of bandwidth and delay, and cuts to a share of that, never uses less of the
    link than that share of 1 + b. What goes by rates has no such bound in a short buffer, and half is ours."""
    expected = EXPECTED[control]
    for buffer in BUFFERS:
        wire = tl.simulate(scenario(buffer, control)).links.row(0, named=True)
        keeps = expected.keeps * (1 + buffer) if expected.keeps is not None else (0.5 if buffer < 0.5 else 1.0)
        assert wire["utilization"] >= min(keeps, expected.uses) - START, buffer
        if expected.packets is not None:
            assert wire["queue_mean_packets"] <= expected.packets, buffer


@pytest.mark.parametrize("control", [name for name, expected in EXPECTED.items() if expected.fair])
def test_two_of_a_kind_are_within_a_factor_of_two(control: str) -> None:
    one, two = rates(control, control)
    assert 0.5 < one / two < 2


@pytest.mark.parametrize("control", EXPECTED)
def test_beside_cubic_neither_starves(control: str) -> None:
    """A tenth of the link is ours (RFC 9743 section 5.3.1 has no number); what is made to give way has no such bound."""
    cubic, other = rates("cubic", control)
    assert cubic + other > 0.85 * 20e6
    if EXPECTED[control].gives_way:
        assert other < cubic
    else:
        assert min(cubic, other) > 0.1 * 20e6


@pytest.mark.parametrize("control", EXPECTED)
def test_the_link_is_full_again_soon_after_an_outage(control: str) -> None:
    """A queue of one product outlives two seconds without a link, and what had no room is lost among packets that are only late.
    Ten seconds, five times as long, are ours, as in the pack rfc9743."""
    run = tl.simulate(
        scenario(
            1.0,
            control,
            duration="45 s",
            **{"link.wire.outages": {"schedule": [{"at": "20 s", "for": "2 s"}]}},
            observe={"interval": "1 s"},
        )
    )
    series = run.series.filter((run.series["entity"] == "f0") & (run.series["metric"] == "throughput_bps"))
    after = series.filter((series["time_s"] > 32) & (series["time_s"] < 45))["value"].to_list()
    assert sum(after) / len(after) > (EXPECTED[control].uses - START) * 20e6
