"""Reading TOML with errors that name file and line, and writing it.

Example:
    >>> print(dump({"seed": 1, "link": {"a": {"ends": ["x", "y"], "reverse": {"rate": "1 Mbit/s"}}}}))
    seed = 1
    <BLANKLINE>
    [link.a]
    ends = ["x", "y"]
    reverse.rate = "1 Mbit/s"
    <BLANKLINE>
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tightlink.errors import ScenarioError, escaped_in_text
from tightlink.files import content
from tightlink.scenario.problems import why_unreadable

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_PLACE: Final = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", re.DOTALL)
_LARGEST_FILE: Final = 64 * 2**20
#: How pcapng and pcap files begin.
_CAPTURES: Final = (b"\n\r\r\n", b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d")
#: What the parser says of a line in which a value in quotes would be right.
_NO_TEXT: Final = r"Expected newline or end of document after a statement|Unclosed inline table|Unclosed array"
#: What the parser says, in words that help; and what stands in the line.
_MEANT: Final = (
    (r"Cannot overwrite a value", r"", "a key stands there twice"),
    (r"Cannot declare \((.*?),?\) twice", r"", "the table {0} stands there twice"),
    (r"Cannot mutate immutable namespace \((.*?),?\)", r"", "{0} stands in braces: what else it has belongs into them"),
    (r".*", r"[\u201c\u201d\u201e\u2018\u2019]", 'text stands in straight quotes, as in "10 ms"'),
    (r".*", r"=\s*\d+,\d", 'a quantity is text with a point, as in "1.5 Mbit/s"'),
    (_NO_TEXT, r"[=\[,]\s*([\d._]+\s*[A-Za-z\u00b5%][\w/%]*)", 'a quantity is text in quotes: "{0}"'),
    (r"Expected '=' after a key.*", r":", "a key is followed by =, not by :"),
    (r"Expected '\]' at the end of a table declaration", r"\[\w+ ", "a table is called as in [link.NAME]"),
    (
        r"Invalid initial character for a key part",
        r"",
        "a table in braces ends in its line; [link.NAME] is for more",
    ),
    (r"Invalid value", r"", "expected text in quotes, a number, true, false, a list in brackets or a table in braces"),
)
#: Tables and lists within each other, at most; no scenario has half as many.
DEEPEST: Final = 32
_BETWEEN_KEYS: Final = re.compile(r"[=,{}\[\]\n]+")
_PART: Final = re.compile(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""", re.ASCII)


def read(path: str | Path) -> str:
    """The text of a scenario file."""
    file = Path(path)
    try:
        # Some editors put a byte order mark before the text, or end lines in other ways.
        return content(file, _LARGEST_FILE).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise ScenarioError(_no_text(file, error), file=str(path), statement=True) from None
    except OSError as error:
        why = f"cannot be read: {why_unreadable(error)}"
        if (file / _STORED).is_file():
            why += f"; the scenario of this run is {file / _STORED}"
        raise ScenarioError(why, file=str(path), statement=True) from None
    except ValueError as error:
        raise ScenarioError(why_unreadable(error), file=repr(str(path)), statement=True) from None


#: What helps against other encodings.
_SAVE: Final = "save it as UTF-8"
#: The scenario of a run that was written to a folder.
_STORED: Final = "scenario.toml"


def _no_text(file: Path, error: UnicodeDecodeError) -> str:
    """What a file is that is no text in UTF-8."""
    with file.open("rb") as opened:
        begin = opened.read(4)
    if begin[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return f"text in UTF-16: {_SAVE}"
    if begin[:2] == b"\x1f\x8b" or begin in _CAPTURES:
        return "no scenario, which is text; tightlink capture reads captures"
    no_text = f"not UTF-8 text (byte {error.start})"
    return no_text if b"\0" in error.object else f"{no_text}: {_SAVE}"


def parse(text: str) -> dict[str, Any]:
    """The tables of a TOML text."""
    if not isinstance(text, str):
        raise ScenarioError(f"expected text, not {type(text).__name__}", statement=True)
    # Long keys take tomllib more than a minute, and deep tables all that walks through them.
    if any(_is_long_key(piece) for piece in _BETWEEN_KEYS.split(text)):
        raise too_deep()
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = _PLACE.fullmatch(str(error))
        if match is None:
            message = f"not valid TOML: {error}"
        elif match[2] is None:
            message = f"not valid TOML at the end of the file: {_meant(match[1], '')}"
        else:
            line = text.split("\n")[int(match[2]) - 1]
            message = f"not valid TOML at line {match[2]}, column {match[3]}: {_meant(match[1], line)}"
        raise ScenarioError(message, statement=True) from None
    except RecursionError:
        raise too_deep() from None
    except ValueError:
        # Python makes no number of thousands of digits.
        raise ScenarioError("not valid TOML: a number has too many digits", statement=True) from None
    check_depth(data)
    return data


def _meant(said: str, line: str) -> str:
    """What the parser says of a line, with what is probably wrong there."""
    for pattern, there, meant in _MEANT:
        found, stands = re.fullmatch(pattern, said), re.search(there, line)
        if found and stands:
            keys = [key.replace("', '", ".").strip("'") for key in (*found.groups(), *stands.groups())]
            return f"{said} ({meant.format(*keys)})"
    return said


def too_deep() -> ScenarioError:
    """The error where tables or lists are nested too deeply."""
    return ScenarioError("not a scenario: tables or lists are nested too deeply", statement=True)


def check_depth(data: object) -> None:
    """An error where tables or lists are nested deeper than in any scenario."""
    level: list[Any] = [data]
    for _ in range(DEEPEST):
        tables = (value.values() if isinstance(value, dict) else value for value in level)
        level = [inner for table in tables for inner in table if isinstance(inner, dict | list)]
        if not level:
            return
    raise too_deep()


def _is_long_key(piece: str) -> bool:
    return piece.count(".") >= DEEPEST and all(_PART.fullmatch(part.strip()) for part in piece.split("."))


def dump(data: Mapping[str, Any]) -> str:
    """Write a scenario's dictionary: one section for each named link, topology and traffic."""
    lines = list(lines_of({key: value for key, value in data.items() if not isinstance(value, dict)}))
    for table, entries in data.items():
        if not isinstance(entries, dict):
            continue
        if entries and all(isinstance(entry, dict) for entry in entries.values()):
            for name, entry in entries.items():
                lines += ["", f"[{_key(table)}.{_key(name)}]", *lines_of(entry)]
        else:
            lines += ["", f"[{_key(table)}]", *lines_of(entries)]
    return "\n".join(lines) + "\n"


def lines_of(table: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """The keys of a table, a line for each value, with the path of the table before them."""
    for key, value in table.items():
        path = prefix + _key(key)
        if isinstance(value, dict) and value:
            yield from lines_of(value, path + ".")
        else:
            yield f"{path} = {literal(value)}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def literal(value: object) -> str:
    """Write one value as it stands in a scenario file."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value)
        case str():
            return _text(value)
        case list():
            return "[" + ", ".join(literal(item) for item in value) + "]"
        case dict():
            return "{ " + ", ".join(f"{_key(key)} = {literal(item)}" for key, item in value.items()) + " }"
        case _:
            raise TypeError(f"{type(value).__name__} has no place in a scenario")


def _text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped_in_text(escaped)}"'
