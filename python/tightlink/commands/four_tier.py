"""The command ``tightlink four-tier``."""

from typing import Annotated, Any

from cyclopts import Parameter

from tightlink.console import print_verbatim
from tightlink.errors import ScenarioError
from tightlink.scenario import PARAMETERS, FourTier, parse_option
from tightlink.scenario.overrides import override


def four_tier(
    *,
    set_: Annotated[list[str] | None, Parameter(name="--set", negative="")] = None,
    scale: float = 1.0,
) -> None:
    """Print the scenario of a four-tier network with users, as TOML.

    Parameters
    ----------
    set_
        name=low, name=high or name=value for one of the twenty parameters; may be repeated.
    scale
        Size of the network: 1, or a part of it such as 0.1.
    """
    values: dict[str, Any] = {}
    for name, value in map(parse_option, set_ or []):
        values = override(values, name, value)
    if "scale" in values:
        raise ScenarioError("one of the twenty parameters; the size has an option of its own, --scale", key="scale")
    try:
        chosen = FourTier(**values, scale=scale)
        scenario = chosen.scenario()
        scenario.resolve()
    except ScenarioError as error:
        # It was made from options, not from a file.
        for problem in (error, *error.others):
            problem.file = None
        raise
    print_verbatim(_header(chosen) + scenario.to_toml())


def _header(chosen: FourTier) -> str:
    """The parameters as a comment: a file by itself would not say why it is as it is."""
    written = dict.fromkeys(PARAMETERS, "low") | chosen.written()
    lines = [f"#   {PARAMETERS[name].id} {name} = {written[name]}\n" for name in PARAMETERS]
    return f"# The four-tier network at scale {chosen.scale:g}, by its twenty parameters:\n{''.join(lines)}\n"
