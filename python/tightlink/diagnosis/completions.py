"""Completion times of flows whose bytes the scenario gives.

Example:
    >>> import tightlink as tl
    >>> run = tl.simulate(tl.network("dsl").set_all({"duration": "4 s", "traffic.download.bytes": "1 MB"}))
    >>> of_flows(run).select("label", "completion_s").rows()[0][0]
    'download'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tightlink.lazy import pl
from tightlink.tables import schema

if TYPE_CHECKING:
    from tightlink.run import Run


def open_loop(run: Run) -> frozenset[str]:
    """Names of the groups of open-loop transfers of a run's scenario.

    >>> sorted(open_loop(tl.simulate(tl.network("dsl").set("duration", "1 s"))))
    []
    """
    return frozenset(name for name, traffic in run.scenario.traffic.items() if traffic.kind == "transfers")


def of_flows(run: Run) -> pl.DataFrame:
    """The flows of a run whose bytes are given: ``label``, ``completion_s`` and ``slowdown``, none where not complete.

    Without open-loop transfers, of which the table of flows has a row for each group, even where that is of one; empty
    where it has no row for each flow.
    """
    if "completions" not in run.tables:
        return pl.DataFrame(schema={"label": pl.String, "completion_s": pl.Float64, "slowdown": pl.Float64})
    member = pl.format("{}[{}]", "label", "transfer")
    # One flow of a group that could have several is called as these are.
    single = (pl.len().over("label") == 1) & pl.col("label").is_in(run.flows["label"].implode())
    label = pl.when(single).then(pl.col("label")).otherwise(member)
    alone = run.completions.filter(~pl.col("label").is_in(open_loop(run)))
    each = alone.select(label.alias("label"), "completion_s", "slowdown")
    return each.join(run.flows.select("label"), on="label", how="semi", maintain_order="left")


def of_groups(run: Run) -> pl.DataFrame:
    """The table ``completion_times`` without the flows that are alone: what these took stands beside them."""
    if "completion_times" not in run.tables:
        return pl.DataFrame(schema=schema("completion_times"))
    each = of_flows(run)["label"].implode()
    is_there = pl.col("label").is_in(each) | pl.format("{}[0]", "label").is_in(each)
    return run.completion_times.filter(~((pl.col("transfers") == 1) & is_there))


def with_completions(run: Run, flows: pl.DataFrame | None = None) -> pl.DataFrame:
    """The table ``flows``, or what was made of it, with a column ``completion_s`` where bytes of flows are given."""
    flows, each = run.flows if flows is None else flows, of_flows(run).drop("slowdown")
    return flows.join(each, on="label", how="left", maintain_order="left") if each.height else flows
