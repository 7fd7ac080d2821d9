"""A run: its tables as polars frames, its manifest, its scenario."""

from __future__ import annotations

import html
import importlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, overload

from tightlink import arguments, units
from tightlink.calls import answered
from tightlink.errors import CallError, TightlinkError, closest, did_you_mean, show
from tightlink.lazy import Axes, Figure, pl
from tightlink.run.folder import CAPTURE, SIMULATION, TRACE, read, save
from tightlink.run.tables import Framed, Simulated, Source
from tightlink.scenario import Scenario
from tightlink.tables import CAPTURED, HOW_TO, TABLES

if TYPE_CHECKING:
    from tightlink.diagnosis import Why

#: Endings of files of figures.
_PICTURES: Final = (".png", ".svg", ".pdf", ".jpg", ".jpeg", ".eps", ".tif", ".tiff", ".webp")


class Run:
    """One execution of a scenario: its tables as polars frames, its manifest, its scenario.

    Made by `tightlink.simulate`, `tightlink.capture` and `tightlink.open_run`. What was captured or traced somewhere
    has no scenario. Columns of tables end in their unit, such as ``goodput_bps`` and ``rtt_mean_s``.

    Example:
        >>> import tightlink as tl
        >>> run = tl.simulate(tl.network("dsl").set("duration", "2 s"))
        >>> run
        <Run (simulation, 2 s, seed 1): flows, links, nodes, series>
        >>> run.table("flows").equals(run.flows)
        True
        >>> run.plot("queue_packets", "access").get_ylabel()
        'queue (packets)'
    """

    def __init__(self, scenario: Scenario | None, manifest: Mapping[str, Any], source: Source) -> None:
        self._scenario = scenario
        self.manifest = dict(manifest)
        """Source, scenario as understood, seed, version, engine_behaviour, digest, counts, warnings, timing."""
        self._source = source
        self._frames: dict[str, pl.DataFrame] = {}

    @property
    def scenario(self) -> Scenario:
        """The scenario as it was given.

        Raises:
            TightlinkError: Nobody gave one: the run was captured.
        """
        if self._scenario is None:
            raise TightlinkError(f"this run is a {self.source}, not of a scenario")
        return self._scenario

    @property
    def source(self) -> str:
        """Where it comes from: simulation, measurement, capture, or a trace of ns-2."""
        return str(self.manifest.get("source", SIMULATION))

    @property
    def stored_bytes(self) -> int:
        """Size of its tables on disk; 0 if it was not saved."""
        return self._source.stored_bytes

    @property
    def tables(self) -> list[str]:
        """The names of the tables that this run has."""
        return self._source.names

    @answered()
    def table(self, name: str) -> pl.DataFrame:
        """A table by its name.

        Raises:
            TightlinkError: The run does not have it; the message says how to get it.
        """
        if name not in self._frames:
            arguments.text("name", name, 'the name of a table, such as "flows"')
            if name not in self.tables:
                if name not in TABLES:
                    raise TightlinkError(
                        f'no table is called "{name}"; there are {", ".join(self.tables)}'
                        f"{did_you_mean(name, self.tables)}"
                    )
                raise TightlinkError(f"this run has no table {name}: {self._how_to_get(name)}")
            self._frames[name] = self._source.read(name)
        return self._frames[name]

    # Hidden from type checkers, which would take any name for one that there is.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say what was probably meant by a name that there is not."""
            meant = None
            if not name.startswith("_"):
                attributes = [each for each in dir(type(self)) if not each.startswith("_")]
                meant = closest(name, [*attributes, *TABLES])
                if meant in TABLES and meant not in attributes:
                    meant = f"table({show(meant)})"
                columns = ((table, closest(name, [column.name for column in TABLES[table]])) for table in self.tables)
                meant = meant or next((f"{table}[{show(column)}]" for table, column in columns if column), None)
            ending = f"; did you mean run.{meant}?" if meant else ""
            raise AttributeError(f"a run has no attribute {name!r}{ending}", name=name, obj=self)

        def __getitem__(self, name: object) -> Any:
            """Say how a table is asked for by whoever takes a run for a table of tables."""
            meant = f"; run.table({show(name)}) is one of its tables" if name in TABLES else ""
            raise CallError(f"a run is not subscriptable{meant}")

    def __reduce__(self) -> tuple[Any, ...]:
        # For other processes: the engine's memory stays where it is, and folders are found from anywhere.
        source = self._source
        if isinstance(source, Simulated):
            source = Framed({name: self.table(name) for name in self.tables})
        return Run, (self._scenario, self.manifest, source)

    def unread(self) -> Run:
        """The same run with none of its tables in memory: what is read of it goes with it."""
        return Run(self._scenario, self.manifest, self._source)

    def _how_to_get(self, table: str) -> str:
        """What to do for a table that is not there."""
        if self.source in {CAPTURE, TRACE} and table not in CAPTURED[self.source]:
            return f"a {self.source} does not tell it"
        return HOW_TO.get(table, "its source does not give it")

    @property
    def flows(self) -> pl.DataFrame:
        """Totals of each flow: counts, rates, delays, and shares of the time in which something limited it.

        Such as ``label``, ``goodput_bps``, ``packets_dropped``, ``one_way_delay_p95_s``, ``limited_by_network``.
        """
        return self.table("flows")

    @property
    def links(self) -> pl.DataFrame:
        """Totals of each direction of each link: counts, utilization, queue and queueing delay.

        Such as ``link``, ``utilization``, ``packets_dropped``, ``queue_mean_packets``, ``queueing_delay_p95_s``.
        """
        return self.table("links")

    @property
    def nodes(self) -> pl.DataFrame:
        """Totals of each node: packets, drops of its rings, and, where it has a processor, load.

        Such as ``node``, ``packets_served``, ``dropped_input_ring``, ``load_true``, ``load_reported``.
        """
        return self.table("nodes")

    @property
    def series(self) -> pl.DataFrame:
        """Samples over time, with columns time_s, entity, metric and value; needs ``observe.interval``."""
        return self.table("series")

    @property
    def delays(self) -> pl.DataFrame:
        """How queueing delays, one-way delays and round-trip times are distributed; needs ``observe.delays``."""
        return self.table("delays")

    @property
    def users(self) -> pl.DataFrame:
        """What all users did, a row for each interval: how many think, connect and send; for runs with users."""
        return self.table("users")

    @property
    def user_paths(self) -> pl.DataFrame:
        """What users did between each pair of classes of routers, a row for each interval."""
        return self.table("user_paths")

    @property
    def transfers(self) -> pl.DataFrame:
        """Users' transfers, by period, file, path, interface and congestion control."""
        return self.table("transfers")

    @property
    def completions(self) -> pl.DataFrame:
        """Open-loop transfers and flows with ``bytes``: a row for each with its size, completion time and slowdown."""
        return self.table("completions")

    @property
    def completion_times(self) -> pl.DataFrame:
        """Mean and quantiles of completion times and slowdowns, by traffic group and size."""
        return self.table("completion_times")

    @property
    def long_lived(self) -> pl.DataFrame:
        """Users' transfers without end (`LongLived`), a row for each in each interval."""
        return self.table("long_lived")

    @property
    def scatter(self) -> pl.DataFrame:
        """What became of scattered datagrams (`Scatter`), a row for each interval."""
        return self.table("scatter")

    @property
    def packets(self) -> pl.DataFrame:
        """What happened to every packet, a row for each event, with its time; needs ``trace=True``."""
        return self.table("packets")

    @property
    def warnings(self) -> list[str]:
        """What must be read before the result is trusted."""
        return list(self.manifest.get("warnings", []))

    @property
    def part(self) -> str | None:
        """What of it was simulated until it was interrupted, such as "396 s of 20000 s"; nothing of a whole run."""
        until_s = self.manifest.get("part_until_s")
        return None if until_s is None else f"{units.format_time(float(f'{until_s:.4g}'))} of {self.scenario.duration}"

    @answered()
    def why(self, flow: str | None = None) -> Why:
        """Why the flows are as fast as they are, what that does to delay, and what would help.

        Args:
            flow: Name of a flow, or of a group such as "upload" for upload[0], upload[1], …; without it all flows.

        Raises:
            TightlinkError: There is no such flow.

        Example:
            >>> import tightlink as tl
            >>> run = tl.simulate(tl.network("dsl").set("duration", "2 s"))
            >>> run.why("download").diagnoses[0].causes[0].name
            'saturated_link'
        """
        from tightlink.diagnosis import why

        return why(self, flow)

    @overload
    def plot(self) -> Figure: ...
    @overload
    def plot(self, metric: str, entity: str | Sequence[str] | None = None, *, ax: Axes | None = None) -> Axes: ...
    @answered()
    def plot(
        self, metric: str | None = None, entity: str | Sequence[str] | None = None, *, ax: Axes | None = None
    ) -> Figure | Axes:
        """Draw the run: all of it in one figure, or one of its series.

        Args:
            metric: A series, such as "queue_packets" (``tightlink list metrics``); without it the figure that one
                wants first: rates, congestion windows and queues over time, or what limited each flow.
            entity: Which link, node or flow has the series, or several of them; without it all that have it.
            ax: Where the series is drawn; without it in a new figure.

        Returns:
            The figure, or with ``metric`` its axes.

        Raises:
            TightlinkError: The run has no such series.
        """
        plots = _above("plots")
        if isinstance(metric, str | os.PathLike) and Path(metric).suffix.lower() in _PICTURES:
            picture = Path(metric) if Path(metric).suffix.lower() in _PICTURES[:3] else Path(metric).with_suffix(".png")
            write = f"tl.plots.write(run.plot(), {show(os.fspath(picture))})"
            raise TightlinkError(f"plot: {show(os.fspath(metric))} is no metric; {write} writes a picture")
        if metric is None:
            if entity is not None or ax is not None:
                raise TightlinkError("plot: entity and ax are of one series; expected its metric, too")
            drawn: Figure = plots.overview(self)
            return drawn
        axes: Axes = plots.series(self, metric, entity, ax=ax)
        return axes

    @answered()
    def report(self, path: str | os.PathLike[str], *, sequence: str | None = None) -> Path:
        """Write the run's report, one HTML file that opens offline, and return where it is.

        Args:
            path: The file, which is replaced if it is there.
            sequence: Name of a flow whose sequence numbers are drawn over time; the run needs its packets.

        Raises:
            TightlinkError: There is no such flow, or it has no packets.
            OSError: The file cannot be written.
        """
        target = arguments.path("path", path)
        if sequence is not None:
            arguments.text("sequence", sequence, "the name of a flow")
        written: Path = _above("report").write_run(self, target, name=target.stem, sequence=sequence)
        return written

    @answered()
    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the run into a folder, which appears complete or not at all.

        Args:
            folder: A new or empty folder, or one that holds this same run already.

        Raises:
            TightlinkError: The folder holds something else; nothing is written.
            OSError: It cannot be written.
        """
        return save(arguments.path("folder", folder), self._scenario, self.manifest, self._source)

    def __repr__(self) -> str:
        return f"<Run ({self._facts()}): {', '.join(self.tables)}>"

    def _repr_html_(self) -> str:
        """For notebooks: what ran, and its totals as its report has them."""
        warned = "".join(f"<p><b>Warning:</b> {html.escape(text)}</p>" for text in self.warnings)
        return f"<p><b>Run</b>: {html.escape(self._facts())}</p>{warned}{_above('report').totals(self)}"

    def _facts(self) -> str:
        lasted = [] if self._scenario is None else [self._scenario.duration]
        if self.part:
            lasted = [f"a part, {self.part}"]
        seed = [f"seed {self.manifest['seed']}"] if "seed" in self.manifest else []
        return ", ".join([self.source, *lasted, *seed])


@answered()
def open_run(folder: str | os.PathLike[str]) -> Run:
    """Open a run that was saved; its tables are read when they are asked for.

    Args:
        folder: Where `Run.save` or ``tightlink run -o`` wrote it.

    Raises:
        TightlinkError: The folder holds no run, or a damaged one.

    Example:
        >>> import tempfile
        >>> import tightlink as tl
        >>> run = tl.simulate(tl.network("dsl").set("duration", "1 s"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = tl.open_run(run.save(f"{folder}/run"))
        ...     again.tables, again.flows.equals(run.flows)
        (['flows', 'links', 'nodes', 'series'], True)
    """
    return Run(*read(arguments.path("folder", folder)))


def _above(name: str) -> Any:
    """A module of what stands on runs, by its name: a run knows nothing of it until it is asked for."""
    return importlib.import_module(f"tightlink.{name}")
