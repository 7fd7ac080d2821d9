"""What a path will carry, which window and how many flows to take, and what would change it.

Example:
    >>> from tightlink.analysis.path.bulk_path import BulkPath
    >>> found = predict(BulkPath(bandwidth_bps=2e6, rtt_s=0.04, queue_packets=20), flows=(1, 2), default_window=4)
    >>> found.baseline["limit"], found.choice.clean, found.choice.best["goodput_bps"] > found.baseline["goodput_bps"]
    ("receiver's window", True, True)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tightlink.analysis.path.bulk_path import BOTTLENECK, BulkPath
from tightlink.analysis.path.cells import simulate_cells
from tightlink.analysis.path.choice import LITTLE, Choice, choose
from tightlink.errors import TightlinkError
from tightlink.lazy import _core, np, pl
from tightlink.reduce import largest, samples, smallest
from tightlink.scenario.congestion import works_with
from tightlink.scenario.values import LARGEST_WINDOW_BYTES
from tightlink.simulate import simulate

FLOWS: Final = (1, 2, 3, 4, 6, 8, 10, 15, 20, 30, 40)
#: What a host gives a connection that asks for nothing: 64 KiB, without the option of RFC 7323 the most there is.
DEFAULT_WINDOW_BYTES: Final = 65_536
#: Windows to try, as shares of the bandwidth-delay product and of the queue that the flows divide among them.
_WINDOWS: Final = ((0.25, 0), (0.5, 0), (0.75, 0), (1, 0), (1, 0.25), (1, 0.5), (1, 0.9), (2, 2))
_LEAST_WINDOW: Final = 2
#: Samples of the queue in a run, for its 95 % quantile.
_SAMPLES: Final = 200
_QUANTILE: Final = 0.95
#: Transfers up to here are simulated to their end, and of longer ones the beginning.
_SIMULATED_S: Final = 60.0
#: For times as long as expected, in case the start takes long.
_PATIENCE: Final = 4
#: Share of the bandwidth with which nothing is left to gain.
_FULL: Final = 0.99
#: Windows that differ by less than this share are as good.
_NEAR: Final = 1 / 64


@dataclass(frozen=True)
class Upgrade:
    """A change of path or stack, and what it does to the single default flow and to the cheapest setting."""

    name: str
    default_bps: float
    window_packets: int
    """Window that suits the changed path, for as many flows as the cheapest setting has."""
    chosen_bps: float
    loss: float


@dataclass(frozen=True)
class Prediction:
    """Everything that is predicted of a path; rows are those of `searched`, with ``rtt_p95_s``."""

    path: BulkPath
    cells: pl.DataFrame
    choice: Choice
    baseline: dict[str, Any]
    upgrades: tuple[Upgrade, ...]
    left_out: dict[str, str]
    """Congestion controls that were not simulated, with the reason."""
    max_window: int | None
    headroom: float
    little: float


def predict(  # noqa: PLR0913
    path: BulkPath,
    *,
    flows: Sequence[int] = FLOWS,
    default_window: int | None = None,
    max_window: int | None = None,
    headroom: float = 0.0,
    little: float = LITTLE,
    jobs: int = 1,
) -> Prediction:
    """Simulate a path with all that could be chosen, and choose.

    Windows are in packets, that of the single flow which all is compared with 64 KiB by default. ``headroom`` is the
    share of the bandwidth to leave unused, ``little`` the largest loss that counts as little. The result does not
    depend on how many runs are simulated at a time.
    """
    usual = default_window or path.window_packets(DEFAULT_WINDOW_BYTES)
    usual = min(usual, max_window or usual)
    places = [(window, count) for count in flows for window in windows(path, count, max_window)]
    cells = searched(path, dict.fromkeys([(usual, 1), *places]), little=little, jobs=jobs)
    baseline = cells.row(0, named=True)
    choice = choose(cells, little=little, most_bps=(1 - headroom) * path.most_bps if headroom > 0 else None)
    loaded = [_with_p95(path, row) for row in (choice.best, choice.cheapest, baseline)]
    return Prediction(
        path,
        cells,
        Choice(loaded[0], loaded[1], choice.clean),
        loaded[2],
        tuple(_upgrades(path, cells, usual, choice.cheapest["flows"], max_window, little, jobs)),
        {name: why for name in _controls() if (why := _unsuitable(path, name))},
        max_window,
        headroom,
        little,
    )


def windows(path: BulkPath, flows: int, most: int | None = None) -> list[int]:
    """Windows worth trying for a number of flows, in packets: up to what fills the path and the queue, and TCP has.

    >>> from tightlink.analysis.path.bulk_path import BulkPath
    >>> windows(BulkPath(10e6, 0.162), 4)
    [9, 18, 27, 35, 40, 45, 53, 110]
    """
    product = path.bdp_bytes / path.payload_bytes
    found = {
        max(_LEAST_WINDOW, math.ceil((share * product + part * path.queue_packets) / flows)) for share, part in _WINDOWS
    }
    most_of_tcp = path.window_packets(LARGEST_WINDOW_BYTES)
    return sorted({min(window, most or window, most_of_tcp) for window in found})


def transfer_s(path: BulkPath, row: dict[str, Any], size_bytes: int) -> float:
    """How long a transfer takes, its start included: a long one continues at the rate that it has behind its start."""
    estimate = 8 * size_bytes / row["goodput_bps"]
    if estimate > _SIMULATED_S:
        whole_s = min(max(_SIMULATED_S, 2 * path.duration_s), estimate)
        half, whole = (_carried(path.changed(duration_s=part * whole_s), row) for part in (0.5, 1.0))
        return float(whole_s + (size_bytes - whole) / (whole - half) * whole_s / 2 if whole > half else estimate)
    patient = path.changed(duration_s=max(path.duration_s, _PATIENCE * estimate))
    each = math.ceil(size_bytes / row["flows"])
    run = simulate(patient.scenario(row["window_packets"], row["flows"], bytes_each=each))
    bulk = run.flows.head(row["flows"])
    delivered = int(smallest(bulk["packets_delivered"]))
    if delivered * path.payload_bytes < each:
        return float(estimate)
    return largest(bulk["stop_s"])


def _carried(path: BulkPath, row: dict[str, Any]) -> float:
    """Payload in bytes that a setting has carried at the end."""
    cells = simulate_cells(path, [(row["window_packets"], row["flows"])])
    return float(cells["goodput_bps"][0]) * path.duration_s / 8


def _upgrades(  # noqa: PLR0913, PLR0917
    path: BulkPath, known: pl.DataFrame, usual: int, flows: int, most: int | None, little: float, jobs: int
) -> list[Upgrade]:
    """What each change brings; of the path as it is, the cells are ``known``, that of the usual window first."""
    changes: list[tuple[str, BulkPath, int | None, int]] = [
        ("as it is", path, most, usual),
        ("twice the bandwidth", path.changed(bandwidth_bps=2 * path.bandwidth_bps), most, usual),
        ("twice the queue", path.changed(queue_packets=2 * path.queue_packets), most, usual),
        *((f"recovery {name}", path.changed(recovery=name), most, usual)
          for name in ("tahoe", "sack") if name != path.recovery and works_with(path.congestion, name)),
        *((f"congestion control {name}", path.changed(congestion=name), most, usual)
          for name in _controls() if name != path.congestion and not _unsuitable(path, name)),
        ("window limit of the BDP", path, max(most or 0, path.bdp_packets), path.bdp_packets),
    ]  # fmt: skip
    found = []
    for name, changed, limit, default in changes:
        places = dict.fromkeys([(default, 1), *((window, flows) for window in windows(changed, flows, limit))])
        same = (changed, limit, default) == (path, most, usual)
        cells = known if same else searched(changed, places, little=little, jobs=jobs)
        choice = choose(cells[[place for place, count in enumerate(cells["flows"]) if count == flows]], little=little)
        found.append(Upgrade(name, float(cells["goodput_bps"][0]), choice.best["window_packets"],
                             choice.best["goodput_bps"], choice.best["loss"]))  # fmt: skip
    return found


def _controls() -> list[str]:
    return [name for name, _ in _core.congestion()]


def _unsuitable(path: BulkPath, name: str) -> str | None:
    """Why a congestion control cannot be simulated on a path, or says nothing there; nothing where it can."""
    if not works_with(name, path.recovery):
        return f"needs recovery {' or '.join(_core.congestion_recoveries(name))}, and the hosts have {path.recovery}"
    if _core.reads_marks(name):
        return "reads congestion marks, and the queue at the bottleneck makes none"
    return None


def _with_p95(path: BulkPath, row: dict[str, Any]) -> dict[str, Any]:
    scenario = path.scenario(row["window_packets"], row["flows"], seed=row["seed"], sample_s=path.duration_s / _SAMPLES)
    run = simulate(scenario)
    if path.line:
        # Of what the round trip has beside the queue, such as ACKs that wait and jitter, no series tells.
        return row | {"rtt_p95_s": float(np.nanmean(run.flows.head(row["flows"])["rtt_p95_s"].to_numpy()))}
    queue = samples(run.series, "queue_packets", BOTTLENECK)["value"]
    waiting = queue.quantile(_QUANTILE, "nearest")
    if waiting is None:
        raise TightlinkError("the run is too short to sample its queue")
    return row | {"rtt_p95_s": path.rtt_s + waiting * path.packet_s}


def searched(path: BulkPath, places: Iterable[tuple[int, int]], *, little: float, jobs: int = 1) -> pl.DataFrame:
    """Cells of windows and numbers of flows, and those between, by bisection, where a loss above ``little`` sets in.

    A grid alone has its best cell far below that window, and another limit of windows, which is another grid, a better
    one.

    >>> path = BulkPath(bandwidth_bps=10e6, rtt_s=0.6, queue_packets=100)
    >>> cells = searched(path, [(33, 4), (65, 4)], little=0.001)
    >>> [(row["window_packets"], row["loss"] <= 0.001) for row in cells.sort("window_packets").iter_rows(named=True)]
    [(33, True), (49, True), (57, True), (58, False), (59, False), (61, False), (65, False)]
    """
    cells = simulate_cells(path, places, jobs=jobs)
    # Who allows more loss is not to miss the window that is best without it.
    for bound in dict.fromkeys([min(little, LITTLE), little]):
        while between := _between(path, cells, bound):
            cells = cells.vstack(simulate_cells(path, between, jobs=jobs))
    return cells


def _between(path: BulkPath, cells: pl.DataFrame, little: float) -> list[tuple[int, int]]:
    """By number of flows: the middle of the last window with little loss and the first one with more, if far apart."""
    # On lists: of tables as short as these a query of polars takes as long as their runs.
    by_flows: dict[int, list[tuple[float, float, int]]] = {}
    for flows, *numbers in cells["flows", "loss", "goodput_bps", "window_packets"].iter_rows():
        by_flows.setdefault(flows, []).append(tuple(numbers))
    found = []
    for flows, part in by_flows.items():
        few = [(goodput, place, window) for place, (loss, goodput, window) in enumerate(part) if loss <= little]
        most, _, best = max(few, default=(math.inf, 0, 0))
        above = [window for loss, _, window in part if loss > little and window > best]
        if most >= _FULL * path.most_bps or not above:
            continue
        high = min(above)
        low = max(window for _, _, window in few if window < high)
        if high - low > max(1, _NEAR * low):
            found.append(((low + high) // 2, flows))
    return found
