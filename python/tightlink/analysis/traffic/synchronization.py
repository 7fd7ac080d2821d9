"""Loss synchronization: do flows that share a link lose packets in the same congestion events, beyond chance?

Of each congestion event the share of the flows active then that lost packets in it, or had some marked; the mean over
events is the global synchronization ratio of RFC 7928 section 2.4. Large events hit many flows in any case. So beside
it stands the share that is expected if the dropped packets were drawn at random from all that came to the link in that
time, which hits flows in proportion to their packets (`tightlink.analysis.traffic.random_drops`). That share is exact,
and so is the variance of the mean over events, which is approximately normal; where events are few, drops are drawn
instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from tightlink import units
from tightlink.analysis.estimates import Estimate
from tightlink.analysis.traffic.by_chance import p_value
from tightlink.analysis.traffic.congestion_events import hits
from tightlink.analysis.traffic.losses import Place, of_run
from tightlink.analysis.traffic.random_drops import drawn, missed, variance
from tightlink.analysis.traffic.values import positive
from tightlink.analysis.traffic.window_correlation import Windows, windows
from tightlink.errors import TightlinkError, did_you_mean, one_of
from tightlink.experiment.precision import half_width
from tightlink.lazy import NDArray, np, pl, stats
from tightlink.numbers import percent, several
from tightlink.reduce import largest, mean_of, smallest
from tightlink.run import Run

#: Below this probability synchronization is not chance, as of the other analyses of traffic.
LEVEL: Final = 0.01
#: The mean of fewer events is not taken for normal: drops are drawn.
_FEW: Final = 10
#: So often, enough for p at `LEVEL`; with this seed, so that the same events have the same p.
_DRAWS: Final = 999
_SEED: Final = 1
#: Means of shares that differ by less are the same.
_SAME: Final = 1e-9
#: Where events take more of the time than this, they are longer than the pauses that tell them apart.
_MOSTLY: Final = 0.5
#: Less is not written.
_LEAST_P: Final = 0.001


@dataclass(frozen=True)
class Synchronization:
    """How far flows lose packets in the same congestion events."""

    round_trip_s: float
    """Drops that are no further apart are one event."""
    rate: Estimate
    """Mean share of the active flows that lost packets in an event, with its 95 % interval (Student's t), none where
    all events have the same share."""
    by_chance: float
    """The same as expected if the dropped packets were drawn at random from those that came. Not of captures, as flows
    do not retransmit at random: one hole a round trip."""
    p: float
    """Probability by that hypothesis of a mean that is as far from the expected one, on either side."""
    time_in_events: float
    """Share of the time from the first packet to the last that lies within events."""
    events: pl.DataFrame
    """``begin_s``, ``end_s``, ``packets_dropped``, ``packets_marked``, ``flows_active``, ``flows_lost`` (that lost
    packets, or had some marked), ``share``, ``by_chance``."""
    flows: pl.DataFrame
    """``flow``, ``packets``, ``packets_dropped`` and ``packets_marked`` (in events), ``events`` (in which it was
    active), ``events_lost`` (in which it lost packets, or had some marked), ``share``, ``by_chance``."""
    losses: pl.DataFrame
    """``begin_s`` of each event with each ``flow`` that lost packets in it, or had some marked."""
    windows: Windows | None = None
    """Of the flows' congestion windows, where they were observed."""
    untold: int = 0
    """Packets that the queue marked, where a trace does not tell whose they are; they are in no event."""
    round_trip_given: bool = False
    """Whether it is no median of the flows' mean round-trip times."""
    retransmitted: bool = False
    """Whether retransmissions stand for drops, as of captures."""

    @property
    def apart(self) -> bool:
        """Whether pauses tell events apart; where drops hardly pause, nobody can say what is one event."""
        return self.time_in_events <= _MOSTLY

    @property
    def synchronized(self) -> bool:
        """Whether more flows lose together than by chance."""
        return self._told and self.rate.value > self.by_chance

    @property
    def desynchronized(self) -> bool:
        """Whether fewer flows lose together than by chance."""
        return self._told and self.rate.value < self.by_chance

    @property
    def _told(self) -> bool:
        return self.apart and self.p <= LEVEL

    def sentence(self) -> str:
        """The finding, for people."""
        p = f"p < {_LEAST_P}" if self.p < _LEAST_P else f"p = {self.p:.2g}"
        if self.synchronized:
            verdict = f"synchronized beyond chance ({p})"
        elif self.desynchronized:
            verdict = f"less synchronized than by chance ({p})"
        elif not self.apart:
            verdict = f"events take {percent(self.time_in_events)} of the time, and are hardly told apart"
        else:
            verdict = f"chance can explain it ({p})"
        events = several(self.events.height, "congestion event")
        said = f"in {events} {_shares(self.rate)} of the active flows {self._suffered()} on average"
        if self.retransmitted and self.apart:
            return said
        return f"{said}{'' if self.retransmitted else f', {percent(self.by_chance)} by chance'}: {verdict}"

    def _suffered(self) -> str:
        if self.retransmitted:
            return "retransmitted packets"
        dropped, marked = (self.events[f"packets_{what}"].sum() > 0 for what in ("dropped", "marked"))
        if marked:
            return "lost packets or had some marked" if dropped else "had packets marked"
        return "lost packets"

    def counted(self) -> str:
        """What is one event, and what does not count, for people."""
        what = "retransmissions, which stand for drops," if self.retransmitted else "drops"
        if self.events["packets_marked"].sum():
            what = "drops and marks"
        trip = units.format_time(float(f"{self.round_trip_s:.3g}"))
        taken = "as given" if self.round_trip_given else "the median of the flows' means"
        said = f"{what} that follow each other within a round trip, {trip} ({taken}), are one event"
        if self.untold:
            marked = several(self.untold, "packet")
            said += f"; {marked} that the queue marked do not count, as a trace does not tell whose they are"
        return said


def synchronization(
    run: Run,
    link: str | None = None,
    *,
    round_trip_s: float | None = None,
    begin_s: float = 0.0,
    end_s: float = math.inf,
) -> dict[str, Synchronization]:
    """Ask whether TCP flows that share a link lose packets in the same congestion events.

    Args:
        run: With the table ``packets``: simulated or measured with a trace, or a capture, of which retransmissions
            stand for drops, and hosts for links.
        link: Only this one; without it all at which two flows or more are active in a congestion event.
        round_trip_s: Drops that are no further apart are one event (default: the median of the flows' mean round-trip
            times).
        begin_s: Time before which no drop counts.
        end_s: Time after which no drop counts.

    Returns:
        What was found at each link, by its name: ``rate``, the mean share of flows that lose in an event, with its 95
        % interval, that ``by_chance``, ``p``, and tables of events and flows.

    Raises:
        TightlinkError: There is no such table or link, no drop, no event with two active flows, or no round trip.

    Example:
        >>> scenario = tl.Scenario(
        ...     duration="60 s",
        ...     link={"wire": tl.Link(ends=("a", "b"), rate="10 Mbit/s", delay="20 ms", queue="1 BDP")},
        ...     traffic={"bulk": tl.Bulk(from_="a", to="b", flows=3)},
        ... )
        >>> found = tl.analyze.synchronization(tl.simulate(scenario, trace=True), begin_s=5)
        >>> found["wire"].rate.value > found["wire"].by_chance
        True
    """
    found = of_places(of_run(run), link, round_trip_s=round_trip_s, begin_s=begin_s, end_s=end_s)
    if "series" not in run.tables:
        return found
    return {
        name: replace(each, windows=windows(run.series, each.flows["flow"].to_list(), begin_s=begin_s, end_s=end_s))
        for name, each in found.items()
    }


def of_places(
    places: Sequence[Place],
    link: str | None = None,
    *,
    round_trip_s: float | None = None,
    begin_s: float = 0.0,
    end_s: float = math.inf,
) -> dict[str, Synchronization]:
    """The same of what `tightlink.analysis.traffic.losses` gives, without windows."""
    if round_trip_s is not None:
        positive("round_trip_s", round_trip_s)
    names = [place.name for place in places]
    if link is not None and link not in names:
        raise TightlinkError(f"no packets of TCP at a link {link}: expected {one_of(names)}{did_you_mean(link, names)}")
    chosen = [place for place in places if link in {None, place.name}]
    during = pl.col("time_s").is_between(begin_s, end_s)
    losing = [(place, lost) for place in chosen if not (lost := place.lost.filter(during)).is_empty()]
    if not losing:
        raise TightlinkError(_nothing(chosen, link))
    found = {}
    for place, lost in losing:
        trip_s = round_trip_s or place.round_trip_s
        if trip_s is None:
            known = "no round-trip time of its flows is known: expected one, as --round-trip or round_trip_s"
            raise TightlinkError(f"{place.name}: {known}")
        each = _of_place(place, lost, trip_s, place.offered.filter(during)["time_s"])
        if each is not None:
            found[place.name] = replace(each, round_trip_given=round_trip_s is not None)
    if not found:
        raise TightlinkError("only one flow is active in each congestion event: expected two or more that share a link")
    return found


def _of_place(place: Place, lost: pl.DataFrame, round_trip_s: float, seen: pl.Series) -> Synchronization | None:
    hit = hits(place.offered, lost, round_trip_s)
    # Who is alone loses alone.
    hit = hit.filter(pl.len().over("event") > 1)
    if hit.is_empty():
        return None
    hit = hit.with_columns(lost=pl.col("packets_dropped") + pl.col("packets_marked"))
    parts = [(part["packets"].to_numpy(), int(part["lost"].sum()))
             for part in hit.partition_by("event", maintain_order=True)]  # fmt: skip
    hit = hit.with_columns(
        hit=pl.col("lost") > 0,
        by_chance=pl.Series(1 - np.concatenate([missed(packets, drops) for packets, drops in parts])),
    )
    shares = {"share": pl.col("hit").mean(), "by_chance": pl.col("by_chance").mean()}
    events = hit.group_by("event", maintain_order=True).agg(
        pl.col("begin_s", "end_s").first(),
        pl.col("packets_dropped", "packets_marked").sum(),
        flows_active=pl.len(),
        flows_lost=pl.col("hit").sum(),
        **shares,
    )
    rate = _mean(events["share"])
    by_chance = mean_of(events["by_chance"])
    flows = hit.group_by("flow", maintain_order=True).agg(
        pl.col("packets", "packets_dropped", "packets_marked").sum(),
        events=pl.len(),
        events_lost=pl.col("hit").sum(),
        **shares,
    )
    named = pl.col("flow").map_elements(place.label, return_dtype=pl.String)
    times = pl.concat([seen, lost["time_s"]])
    span = largest(times) - smallest(times)
    found = Synchronization(
        round_trip_s=round_trip_s,
        rate=rate,
        by_chance=by_chance,
        p=_p(abs(rate.value - by_chance), by_chance, parts),
        time_in_events=float((events["end_s"] - events["begin_s"]).sum()) / span if span else 0.0,
        events=events.drop("event"),
        flows=flows.sort("flow").with_columns(named),
        losses=hit.filter("hit").select("begin_s", named),
        untold=place.untold,
        retransmitted=place.retransmitted,
    )
    if not place.retransmitted:
        return found
    events, flows = (table.drop("by_chance") for table in (found.events, found.flows))
    return replace(found, by_chance=math.nan, p=math.nan, events=events, flows=flows)


def _mean(shares: pl.Series) -> Estimate:
    """The mean of shares, with its interval, which ends where shares do; none where all are the same."""
    value, half = mean_of(shares), half_width(shares.to_list()) or math.nan
    if math.isnan(half):
        return Estimate(value, math.nan, math.nan)
    return Estimate(value, max(value - half, 0.0), min(value + half, 1.0))


def _p(distance: float, by_chance: float, events: Sequence[tuple[NDArray[np.int64], int]]) -> float:
    """The probability of a mean as far from the expected one by chance: of events by packets of flows and drops."""
    count = len(events)
    if count < _FEW:
        random = np.random.default_rng(_SEED)
        shares = [drawn(packets, drops, random, _DRAWS) / len(packets) for packets, drops in events]
        return p_value(distance - _SAME, np.abs(np.mean(shares, axis=0) - by_chance))
    of_mean = sum(variance(packets, drops) / len(packets) ** 2 for packets, drops in events) / count**2
    # Where as many flows lose in any case, the mean is the expected one.
    return float(2 * stats.norm.sf(distance / math.sqrt(of_mean))) if of_mean else 1.0


def _shares(rate: Estimate) -> str:
    if math.isnan(rate.low):
        return percent(rate.value)
    return f"{percent(rate.value)} ({percent(rate.low).removesuffix(' %')} to {percent(rate.high)})"


def _nothing(places: Sequence[Place], link: str | None) -> str:
    if any(place.retransmitted for place in places):
        return "no packet of TCP was retransmitted in that time: expected a capture with losses"
    where = "at any link" if link is None else f"at {link}"
    marked = sum(place.untold for place in places)
    marks = f"; {several(marked, 'packet')} were marked, of which a trace does not tell whose" if marked else ""
    return f"no packet of TCP was dropped or marked {where} in that time: expected a run with drops{marks}"
