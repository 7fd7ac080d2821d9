"""The figure that one wants of a run first: rates, windows and queues over the same time, or what limited its flows."""

from __future__ import annotations

from typing import Final

from tightlink.errors import TightlinkError
from tightlink.lazy import Axes, Figure, pl
from tightlink.plots import labels, palette
from tightlink.plots.figures import limited_by, series
from tightlink.plots.observed import observed
from tightlink.plots.style import LEGEND, SIZE, figure
from tightlink.run import Run

#: Panels from top to bottom: of each the first series that the run has.
_PANELS: Final = (("throughput_bps", "goodput_bps"), ("cwnd_packets", "in_flight_bytes"), ("queue_packets",))
#: Of the figure, and of a panel, in inches.
_WIDTH: Final = SIZE[0] * 1.3
_HEIGHT: Final = 1.7
#: Links whose queues are drawn, the busiest first.
_MOST_LINKS: Final = 4
#: Flows that are drawn, from the slowest to the fastest: more lines could not be told apart.
_MOST_FLOWS: Final = 20
#: An axis that ends below it has nothing but zeros.
_FLAT: Final = 0.1
#: Names beyond these are left out of a legend, which would hide what is drawn.
_MOST_NAMES: Final = 8
#: Letters for which there is room in a line of a legend; a line's picture takes as much as some.
_LETTERS: Final = 76
_OF_LINE: Final = 7


def overview(run: Run) -> Figure:
    r"""A run in one figure: its rates, congestion windows and queues over time, as far as it has them.

    A simulation that was not observed over time is simulated again for it, if that takes a second at most;
    else it gets what limited each flow instead; a run without flows its busiest links.

    Args:
        run: Simulated, measured or captured.

    Returns:
        A figure of matplotlib; `save` writes it, and a notebook shows it.

    Raises:
        TightlinkError: The run has neither series nor flows nor links.

    Example:
        >>> scenario = tl.loads('''
        ... duration = "2 s"
        ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "20 packets" }
        ... traffic.ftp = { kind = "bulk", from = "a", to = "b" }
        ... observe.interval = "100 ms"
        ... ''')
        >>> [ax.get_ylabel().replace('\n', ' ') for ax in tl.plots.overview(tl.simulate(scenario)).axes]
        ['throughput (Mbit/s)', 'cong. window (packets)', 'queue (packets)']
    """
    run = observed(run, "series")
    wanted = _drawn(run) if "series" in run.tables else []
    if not wanted:
        drawn, (ax,) = figure((_WIDTH, SIZE[1]))
        if "flows" in run.tables and run.flows.height:
            limited_by(run, ax=ax)
        elif "links" in run.tables:
            _busiest(run, ax)
        else:
            raise TightlinkError(f"this {run.source} has nothing to draw: no series, no flows, no links")
        return drawn
    drawn, panels = figure((_WIDTH, _HEIGHT * len(wanted)), len(wanted))
    for ax, (metric, names) in zip(panels, wanted, strict=True):
        # All at once, for they share one scale: kilobits of one flow beside megabits of another would be a lie.
        series(run, metric, names, ax=ax, linewidth=1)
        if (legend := ax.get_legend()) is not None:
            legend.remove()
        if 1 < len(names) <= _MOST_NAMES or metric == "queue_packets":
            # Above what is drawn, which fills its panel.
            columns = max(1, min(len(names), _LETTERS // (max(map(len, names)) + _OF_LINE)))
            ax.legend(**LEGEND, loc="lower right", bbox_to_anchor=(1, 1), ncols=columns, borderaxespad=0.1)
        elif len(names) > _MOST_NAMES:
            ax.set_title(f"{len(names)} of {run.flows.height} flows" if len(names) < run.flows.height else "all flows",
                         fontsize=8, fontweight="normal", loc="right")  # fmt: skip
        ax.set_ylim(bottom=0, top=None if ax.get_ylim()[1] > _FLAT else 1)
        # A long title would run into the panel above.
        ax.set_ylabel(ax.get_ylabel().replace("congestion window", "cong. window").replace(" (", "\n("))
    for ax in panels[:-1]:
        ax.set_xlabel("")
    return drawn


def _drawn(run: Run) -> list[tuple[str, list[str]]]:
    """Which series are drawn, and of what."""
    table = run.series
    there = {metric: set(part["entity"]) for (metric,), part in table.group_by("metric", maintain_order=True)}
    busiest = busiest_links(run)[0]["link"].to_list()
    flows = run.flows["label"].to_list() if "flows" in run.tables else []
    found = []
    for choices in _PANELS:
        metric = next((each for each in choices if each in there), None)
        if metric is None:
            continue
        order = busiest if metric == "queue_packets" else flows
        names = [name for name in dict.fromkeys(order) if name in there[metric]]
        if metric != "queue_packets" and len(names) > _MOST_FLOWS:
            names = spread(run.flows.filter(pl.col("label").is_in(names)), _MOST_FLOWS)["label"].to_list()
        if metric == "queue_packets":
            # The busiest is drawn even where nothing ever waits: that is an answer, too.
            waiting = table.filter(pl.col("metric") == "queue_packets", pl.col("value") > 0)["entity"]
            names = [name for name in names if name in {names[0], *waiting}][:_MOST_LINKS]
        found += [(metric, names)] if names else []
    return found


def busiest_links(run: Run) -> tuple[pl.DataFrame, str]:
    """The links that carried something, the busiest first, and the column by which: bytes where no rate is known."""
    by = "bytes_out" if run.links["utilization"].is_null().all() else "utilization"
    return run.links.filter(pl.col(by) > 0).sort(by, descending=True, maintain_order=True), by


def spread(flows: pl.DataFrame, most: int) -> pl.DataFrame:
    """All flows, or some from the slowest to the fastest."""
    if flows.height <= most:
        return flows
    ranked = flows.sort("goodput_bps", maintain_order=True)
    return ranked[[round(place * (ranked.height - 1) / (most - 1)) for place in range(most)]]


def _busiest(run: Run, ax: Axes) -> None:
    _, by = busiest_links(run)
    rows = run.links.sort(by, descending=True, nulls_last=True, maintain_order=True).head(10)
    across = labels.axis_of(rows, by)
    places = list(range(rows.height))
    ax.barh(places, rows[by].fill_null(0) * across.factor, height=0.7, color=palette.SERIES[0])
    ax.set_yticks(places, rows["link"].to_list())
    ax.set(ylim=(rows.height - 0.5, -0.5), xlabel=across.title)
    if by == "utilization":
        ax.set_xlim(0, 100)
    ax.grid(visible=False)
