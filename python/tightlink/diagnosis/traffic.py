"""The diagnosis of users and scatter: of a network whose flows are too many to be told one by one, by its links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tightlink.diagnosis.answers import Cause, Diagnosis
from tightlink.diagnosis.bounds import SATURATED, saturated_links
from tightlink.diagnosis.words import ms, named, percent, sentence, small_percent
from tightlink.lazy import pl

if TYPE_CHECKING:
    from tightlink.run import Run

#: Waits below this are not worth a sentence.
_NOTHING_S: Final = 0.0001


def of_traffic(run: Run) -> tuple[Diagnosis, ...]:
    """What bounds the users, or the scatter, of a simulated run; nothing where there are none."""
    if run.source != "simulation" or "links" not in run.tables:
        return ()
    groups = tuple(name for name, traffic in run.scenario.traffic.items() if traffic.kind in {"users", "scatter"})
    if not groups or run.links.is_empty():
        return ()
    links = run.links.sort("utilization", descending=True)
    cause = _cause(links)
    return (Diagnosis(groups, (cause,), None, (), f"{cause.text}. {_longest_wait(links)}"),)


def _cause(links: pl.DataFrame) -> Cause:
    """What bounds traffic of many: links that are saturated, or what it sends; the busiest link comes first."""
    full = links.filter(links["utilization"] >= SATURATED)
    if full.is_empty():
        busiest = links.row(0, named=True)
        text = f"no link is saturated: the busiest, {busiest['link']}, is {percent(busiest['utilization'])} busy"
        return Cause("application", None, "likely", "", text)
    busy = dict(full.select("link", "utilization").iter_rows())
    return Cause("saturated_link", None, "certain", named(busy), saturated_links(busy))


def _longest_wait(links: pl.DataFrame) -> str:
    """Where packets wait longest, if that is worth a word, and what the queues lose."""
    longest = links.sort("queueing_delay_mean_s", descending=True, nulls_last=True).row(0, named=True)
    mean, p95 = longest["queueing_delay_mean_s"], longest["queueing_delay_p95_s"]
    said = []
    if (mean or 0.0) >= _NOTHING_S:
        said.append(f"packets wait longest at {longest['link']}, {ms(mean)} ({ms(p95)} at p95)")
    most = links.sort("packets_dropped", descending=True).row(0, named=True)
    if most["packets_dropped"] > 0:
        place = "there" if said and most["link"] == longest["link"] else f"at {most['link']}"
        lost = small_percent(most["packets_dropped"] / most["packets_in"])
        said.append(f"most are dropped {place}, {lost} of those that come")
    text = ", and ".join(said) if said else "queues are short, and nothing is dropped"
    return f"{sentence(text)}."
