"""Scenarios from TOML, and what was understood back to TOML."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final

from tightlink import arguments, control
from tightlink.calls import answered
from tightlink.errors import Argument, ScenarioError, located
from tightlink.scenario import toml
from tightlink.scenario.as_keys import as_keys
from tightlink.scenario.model import Scenario
from tightlink.scenario.overrides import in_unit_of_before, override
from tightlink.scenario.profiles import PROFILES

#: What TOML has, and names of files seldom have.
_TEXT: Final = re.compile(r"\n|^\s*[\w.]+\s*=\s*[\"'{\[]")
#: The name of a file, which is no TOML.
_NAME: Final = re.compile(r"[^\n=#\"']+\.toml")


@answered(as_keys("tl.load(…, set={{{key}: {value}}})"))
def load(path: str | os.PathLike[str], *, set: Mapping[str, object] | None = None) -> Scenario:  # noqa: A002
    """Read a scenario file.

    Args:
        path: TOML file.
        set: Keys to change, by their full dotted paths.

    Raises:
        ScenarioError: The file or a change is wrong; the message says where and what was expected.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import tightlink as tl
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "wire.toml"
        ...     _ = file.write_text('duration = "10 s"')
        ...     tl.load(file, set={"duration": "20 s"}).duration
        '20 s'
    """
    arguments.path("path", path)
    name = str(path)
    try:
        text = toml.read(name)
    except ScenarioError:
        if _TEXT.search(name):
            expected = "the name of a file; tl.loads takes the text of a scenario"
            raise ScenarioError(expected, key=Argument("path"), value=name) from None
        raise
    return loads(text, set=set, file=name)


@answered(as_keys("tl.loads(…, set={{{key}: {value}}})"))
def loads(text: str, *, set: Mapping[str, object] | None = None, file: str | None = None) -> Scenario:  # noqa: A002
    """Read a scenario from TOML text.

    Args:
        text: What a scenario's file has.
        set: Keys to change, by their full dotted paths.
        file: The name that errors give.

    Raises:
        ScenarioError: The text or a change is wrong.

    Example:
        >>> loads('duration = "10 s"').duration
        '10 s'
        >>> loads('duration = 10')
        Traceback (most recent call last):
        tightlink.errors.ScenarioError: duration = 10: expected a unit, too: a time such as "10 ms"; did you mean "10 s"?
    """  # noqa: E501
    changes = {} if set is None else dict(arguments.table("set", set, 'a table, such as {"duration": "10 s"}'))
    given: object = text
    if isinstance(given, os.PathLike) or (file is None and isinstance(given, str) and _NAME.fullmatch(given)):
        meant = f"tl.load({os.fspath(given)!r})"
        raise ScenarioError(f"the TOML text of a scenario; {meant} reads one from its file", key=Argument("text"))
    if isinstance(given, Mapping):
        raise ScenarioError("the TOML text of a scenario; tl.Scenario.from_dict takes a table", key=Argument("text"))
    with located(file):
        data = before = toml.parse(text)
        if isinstance(data.get("scenario"), str):
            raise ScenarioError("an experiment, not a scenario: tightlink sweep takes it", statement=True)
        for key, value in changes.items():
            data = override(data, key, value)
    try:
        return Scenario.from_dict(data, file=file, changed=tuple(changes))
    except ScenarioError as error:
        raise in_unit_of_before(error, before) from None


def loads_stored(text: str, file: str) -> Scenario:
    """Read the scenario of a stored run, whose congestion controls were known where it ran, if not here."""
    data = toml.parse(text)
    for traffic in data.get("traffic", {}).values():
        tcp = traffic.get("tcp", {})
        match tcp.get("congestion"):
            case str(name):
                tcp["congestion"] = control.stored(name)
            case {"kind": str(name)}:
                tcp["congestion"]["kind"] = control.stored(name)
    return Scenario.from_dict(data, file=file)


def understood(scenario: Scenario) -> str:
    """The scenario as TOML with every default filled in, and what the profile adds as a comment."""
    profile = PROFILES[scenario.profile]
    tcp, udp = profile.tcp, profile.udp
    comment = (
        f"# Profile {profile.name}: TCP adds {tcp.header_bytes} B to each segment, an ACK or SYN has "
        f"{tcp.ack_bytes} B, UDP adds {udp.header_bytes} B.\n"
    )
    return comment + scenario.explicit().to_toml()
