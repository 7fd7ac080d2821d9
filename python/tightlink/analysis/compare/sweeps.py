"""Runs of two sweeps, matched by what was varied: combination by combination, and replications with replications.

A key that only one of the two varied has one value in the other. Where that is one of the levels, those runs alone have
a counterpart; otherwise each level is held against that value. Levels are no replications: what is averaged over these
is the mean of one combination, or of several in each replication.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tightlink.errors import TightlinkError
from tightlink.experiment.factors import as_text, same, value_at
from tightlink.experiment.folder import Experiment
from tightlink.experiment.summary import cell, copied, metric_names, without_censored
from tightlink.lazy import pl
from tightlink.scenario import Scenario, loads_stored, parse_value
from tightlink.scenario.toml import literal, parse

_SEED: Final = "seed"
#: What tells replications apart: the seed, and which of several runs with it.
BLOCK: Final = (_SEED, "repeat")
#: Whether a run is one of several copies, of which the spread says nothing.
COPIED: Final = "copied"
#: Levels up to which each is named.
_MOST_LEVELS: Final = 6
#: What runs have in common of which nothing was varied but the seed.
_ANY: Final = "any seed"


def varied(sides: Sequence[Experiment], frames: Sequence[pl.DataFrame]) -> list[str]:
    """What was varied in both, as one of them says or as the names of columns tell; nothing of replications alone."""
    factors = [[key for group in side.description.get("factors", []) for key in group] for side in sides]
    # Of other columns with a dot the first word is the name of a traffic group.
    dotted = [name for name in frames[0].columns if "." in name and name.partition(".")[0] in Scenario.model_fields]
    keys = list(dict.fromkeys([*factors[0], *factors[1]])) or dotted
    shared = [key for key in keys if all(key in frame.columns for frame in frames)]
    replicated = any(side.description.get("factors") == [] for side in sides)
    if not shared and not (replicated and all("factors" in side.description for side in sides)):
        what = ", ".join([*factors[0], *factors[1]])
        said = f"the two varied nothing in common ({what})" if what else "nothing says what was varied"
        raise TightlinkError(f"{said}: expected by or --by with columns of runs.parquet that both have")
    return shared


def levels_of(frame: pl.DataFrame, key: str) -> str:
    """The levels of a key, in words."""
    names = [str(level) for level in frame[key].unique(maintain_order=True)]
    if len(names) > _MOST_LEVELS:
        return f"{names[0]}, {names[1]}, … {names[-1]} ({len(names)} levels)"
    return ", ".join(names)


def matched(
    sides: Sequence[Experiment],
    frames: Sequence[pl.DataFrame],
    shared: Sequence[str],
    names: Sequence[str],
    *,
    over_others: bool,
) -> tuple[list[pl.DataFrame], tuple[str, ...]]:
    """The runs of both that are done, with what they have in common as ``entity``, their ``BLOCK`` and their metrics.

    What else was varied is averaged over (``over_others``), or told apart. Notes say what only one of the two varied.
    """
    done = [frame.filter(pl.col("status") == "done") if "status" in frame.columns else frame for frame in frames]
    others = [[key for key in side.varied if key not in {*shared, _SEED}] for side in sides]
    notes = [
        f"{name}: {copied(copies, frame.select(cell()).n_unique())}"
        for side, frame, name in zip(sides, frames, names, strict=True)
        if (copies := side.description.get("copies"))
    ]
    keys = [list(shared), list(shared)]
    for place, (name, other) in enumerate(zip(names, reversed(names), strict=True)):
        for key in list(others[place]):
            levels = levels_of(done[place], key)
            if over_others:
                notes.append(f"{key}: values of {name} are means over its levels {levels}")
                continue
            value = _value(sides[1 - place], key)
            level = next((each for each in done[place][key].unique(maintain_order=True) if _same(each, value)), None)
            if level is not None:
                # Those runs of the one have what all runs of the other have.
                done[1 - place] = done[1 - place].with_columns(pl.lit(level, done[place].schema[key]).alias(key))
                keys = [[*each, key] for each in keys]
                others[place].remove(key)
                notes.append(f"{key}: {name} has {levels}, and {other} has {level} alone")
            else:
                has = "does not set it" if value is None else f"has {_shown(value)}"
                notes.append(f"{key}: each level of {name} ({levels}) is held against {other}, which {has}")
    runs = [
        frame.select(
            _named(each).alias("_shared"),
            _named([] if over_others else own).alias("_own"),
            *_block(frame, each, known=bool(side.varied)),
            cell().is_in(side.description.get("copies", [])).alias(COPIED),
            *metric_names(frame, [*each, *own]),
        )
        for side, frame, each, own in zip(sides, done, keys, others, strict=True)
    ]
    return [without_censored(_paired(runs, place), pl.col("entity")) for place in (0, 1)], tuple(notes)


def _value(side: Experiment, key: str) -> Any:
    """The value of a key that a sweep did not vary, as its scenario writes it or by default; nothing if unknown."""
    written = side.description.get("scenario", "")
    if not written:
        return None
    found: Any = parse(written)
    for part in key.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return value_at(loads_stored(written, str(side.folder)), key) if found is None else found


def with_defaults(side: Experiment, own: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """The scenario of a sweep with the defaults that it has where the other alone writes a key."""
    lacking = [key for key in other if key not in own]
    if not own or not lacking:
        return dict(own)
    scenario = loads_stored(side.description["scenario"], str(side.folder))
    values = {key: value_at(scenario, key) for key in lacking}
    # Of a table the keys in it are told.
    known = {key: value for key, value in values.items() if value is not None and not isinstance(value, Mapping)}
    return {**own, **{key: value if isinstance(value, str) else literal(value) for key, value in known.items()}}


def _shown(value: Any) -> str:
    """A value in words; of a table, such as a queue with all its defaults, its kind."""
    return as_text(value.get("kind", value) if isinstance(value, Mapping) else value)


def _same(level: Any, value: Any) -> bool:
    """Whether a level, as the table of runs has it, is a value of a scenario."""
    return value is not None and same(parse_value(level) if isinstance(level, str) else level, value)


def _named(keys: Sequence[str]) -> pl.Expr:
    """The levels of some keys, in words; those that a combination leaves alone have none."""
    named = [pl.when(pl.col(key).cast(pl.String) != "").then(pl.format(f"{key} = {{}}", pl.col(key))) for key in keys]
    return pl.concat_str(named, separator=", ", ignore_nulls=True) if named else pl.lit("")


def _block(frame: pl.DataFrame, keys: Sequence[str], *, known: bool) -> list[pl.Expr]:
    """The seed of each run, if there is one, and which it is of those of its combination with that seed."""
    seed = pl.col(_SEED) if _SEED in frame.columns else pl.lit(None, dtype=pl.Int64).alias(_SEED)
    group = cell() if known else _named(keys)
    return [seed, pl.int_range(pl.len()).over(group, seed).alias("repeat")]


def _paired(runs: Sequence[pl.DataFrame], place: int) -> pl.DataFrame:
    """The replications of one side, once for each of those that the other has beside them, as ``entity``.

    Of several combinations a replication has their mean, where none of them lacks it.
    """
    kinds = [side.select("_shared", pl.col("_own").alias(f"_own{at}")).unique(maintain_order=True)
             for at, side in enumerate(runs)]  # fmt: skip
    both = kinds[0].join(kinds[1], on="_shared", how="full", coalesce=True, maintain_order="left_right")
    own, other = pl.col("_own0"), pl.col("_own1")
    against = pl.when(own.is_not_null() & (other != "")).then(pl.format(" against {}", other)).otherwise(pl.lit(""))
    first = pl.when(own.is_null()).then(other).otherwise(own)
    parts = [pl.when(part != "").then(part) for part in (pl.col("_shared"), first)]
    left = pl.coalesce(pl.concat_str(parts, separator=", ", ignore_nulls=True).replace("", None), pl.lit(_ANY))
    named = both.with_columns(entity=left + against).drop_nulls(f"_own{place}")
    side = runs[place].rename({"_own": f"_own{place}"})
    each = side.join(named, on=["_shared", f"_own{place}"], how="inner", maintain_order="left_right")
    metrics = [name for name in runs[place].columns if name not in {"_shared", "_own", *BLOCK, COPIED}]
    found = each.group_by("entity", *BLOCK, maintain_order=True).agg(
        pl.col(metrics).mean(), pl.len().alias("_runs"), pl.col(COPIED).all()
    )
    return found.filter(pl.col("_runs") == pl.col("_runs").max().over("entity")).drop("_runs")
