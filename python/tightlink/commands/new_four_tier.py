"""The command ``tightlink new four-tier``."""

from fractions import Fraction
from typing import Annotated, Any

from cyclopts import Parameter

from tightlink.console import print_verbatim, say
from tightlink.errors import ScenarioError
from tightlink.scenario import PARAMETERS, FourTier, parse_option
from tightlink.scenario.overrides import override


def four_tier(
    *,
    set_: Annotated[list[str] | None, Parameter(name="--set", negative="")] = None,
    routers: str = "1",
    scale: float = 1.0,
    nist: bool = False,
) -> None:
    """Print the scenario of a four-tier network with users, as TOML.

    Args:
        set_: name=low, name=high or name=value for one of the twenty parameters; may be repeated.
        routers: Part of the access routers of each class that have users, such as 1/3; each stays what it is.
        scale: Sources and speeds, of those of the whole network: 1, or a part such as 0.1; a warning says what that
            distorts.
        nist: Congestion controls and timeouts as NIST has them, where that is known and differs.
    """
    values: dict[str, Any] = {}
    for name, value in map(parse_option, set_ or []):
        values = override(values, name, value)
    for name in ("scale", "routers", "nist"):
        if name in values:
            expected = f"one of the twenty parameters; the size is set by options, such as --{name}"
            raise ScenarioError(expected, key=name)
    try:
        chosen = FourTier(**values, routers=_part(routers), scale=scale, nist=nist)
        scenario = chosen.scenario()
        scenario.resolve()
    except ScenarioError as error:
        # It was made from options, not from a file.
        for problem in (error, *error.others):
            problem.file = None
        raise
    if (note := chosen.distortion()) is not None:
        say(note)
    print_verbatim(_header(chosen) + scenario.to_toml())


def _part(text: str) -> float:
    """A part of the access routers: 1/3 is what nobody would write as a decimal."""
    try:
        return float(Fraction(text))
    except (ValueError, ZeroDivisionError):
        raise ScenarioError("a part of the access routers, such as 1/3 or 0.5", key="--routers", value=text) from None


def _header(chosen: FourTier) -> str:
    """The parameters as a comment: a file by itself would not say why it is as it is."""
    written = dict.fromkeys(PARAMETERS, "low") | chosen.written()
    lines = [f"#   {PARAMETERS[name].id} {name} = {written[name]}\n" for name in PARAMETERS]
    size = f"scale {chosen.scale:g}" + (
        "" if chosen.routers == 1 else f" with {chosen.routers:.4g} of its access routers"
    )
    return f"# The four-tier network at {size}, by its twenty parameters:\n{''.join(lines)}\n"
