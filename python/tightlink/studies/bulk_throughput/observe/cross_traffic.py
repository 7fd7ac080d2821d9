"""How cross traffic widens the interval of one measurement; observed goodputs against predicted ones."""

from collections.abc import Mapping, Sequence

import polars as pl

from tightlink.analysis.path.cells import cell
from tightlink.analysis.path.cross_traffic import MOMENTS, spread
from tightlink.analysis.path.residuals import with_residuals
from tightlink.run import Run
from tightlink.studies.bulk_throughput.setup import cross_traffic as setup
from tightlink.studies.bulk_throughput.setup.paths import CHOSEN, DARESBURY, Alternative, Place


def goodputs(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each run: what is transferred, mean share, hour, weekend, its weight, goodput."""
    rows = []
    for setting, (window, flows) in setup.SETTINGS.items():
        calm = cell(runs[f"{DARESBURY.name}/{window}/{flows}"], DARESBURY.path)["goodput_bps"]
        for share in setup.SHARES:
            for place, moment in enumerate(MOMENTS):
                then = moment.path(DARESBURY.path.changed(cross=share))
                for seed in setup.SEEDS:
                    name = setup.name(share, window, flows, place, seed)
                    goodput = cell(runs[name], then)["goodput_bps"] if share else calm
                    rows.append((setting, share, moment.hour, moment.weekend, moment.weight, goodput))
    return pl.DataFrame(rows, ["setting", "share", "hour", "weekend", "weight", "goodput_bps"], orient="row")


def intervals(found: pl.DataFrame) -> pl.DataFrame:
    """Mean and 95 % interval of one measurement, for each setting and share."""
    rows = []
    for (setting, share), part in found.group_by("setting", "share", maintain_order=True):
        estimate = spread(part["goodput_bps"].to_list(), part["weight"].to_list())
        rows.append({
            "setting": setting, "share": share, "mean_bps": estimate.value, "low_bps": estimate.low,
            "high_bps": estimate.high, "width": (estimate.high - estimate.low) / estimate.value,
        })  # fmt: skip
    return pl.DataFrame(rows)


def points(
    place: Place,
    runs: Mapping[str, Run],
    observed: Sequence[setup.Observation] | None = None,
    under: Alternative = CHOSEN,
) -> pl.DataFrame:
    """A row for each measurement: what was observed, what the quiet path predicts, and the residuals.

    Without other measurements, those with the study's traffic.
    """
    return with_residuals(pl.DataFrame([
        {
            "window_packets": each.window,
            "flows": each.flows,
            "observed_bps": cell(runs[each.name], each.path)["goodput_bps"],
            "predicted_bps": cell(runs[under.task(each.prediction)], place.path)["goodput_bps"],
        }
        for each in (setup.observations(place) if observed is None else observed)
    ]))  # fmt: skip
