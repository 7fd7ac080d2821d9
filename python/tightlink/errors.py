"""What Tightlink raises when a user's input is wrong: one clear sentence each, never a traceback.

Example:
    >>> error = ScenarioError(
    ...     'a rate such as "2 Mbit/s"', key="link.a.rate", value="2 mbps",
    ...     file="base.toml", suggestion='"2 Mbit/s"',
    ... )
    >>> print(error)
    base.toml: link.a.rate = "2 mbps": expected a rate such as "2 Mbit/s"; did you mean "2 Mbit/s"?
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

#: Stands for "there is no value": the key itself is what is wrong or missing.
ABSENT: Final = object()

_LONGEST_VALUE = 60
_MOST_NAMES = 12
#: Letters of a beginning by which a name is known.
_BEGINNING = 3
#: What a terminal obeys instead of showing it: controls of C0 and C1, separators of lines, controls of the direction of
#: text, and halves of surrogate pairs, as which Python has the bytes of names that are not UTF-8.
_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
#: A table of one key in what is expected.
_EXAMPLE: Final = re.compile(r"\{ (\w+) = … \}")
_SHORT_ESCAPES: Final = {"\n": r"\n", "\t": r"\t"}
#: Bytes that are not UTF-8 are surrogates from here on (PEP 383).
_UNDECODED: Final = range(0xDC80, 0xDD00)
_LAST_BYTE: Final = 0xFF


class TightlinkError(Exception):
    """What Tightlink refuses to do, with the reason in one sentence: the base class of all its errors."""


class UnreadableError(TightlinkError, OSError):
    """A file that the system cannot read, with the arguments of Python's own error, which this is, too.

    >>> str(UnreadableError(2, "No such file or directory", "trace.pcap"))
    'trace.pcap: cannot be read: no such file or directory'
    """

    def __str__(self) -> str:
        return f"{self.filename}: cannot be read: {str(self.strerror).lower()}"


class CallError(TightlinkError, TypeError):
    """A call of a function with arguments that it does not have, or without those that it needs."""


class TightlinkWarning(UserWarning):
    """A warning that must be read before results are trusted: category of all that Tightlink warns of."""


class Argument(str):
    """The place of a value that stands in no file: an argument of a function, of which the command has an option.

    >>> Argument("design_seed"), Argument("design_seed").option
    ('design_seed', '--design-seed')
    """

    __slots__ = ()

    @property
    def option(self) -> str:
        """How the command calls it."""
        return f"--{self.replace('_', '-')}"


class ScenarioError(TightlinkError):
    """A scenario, or an option that changes it, that cannot be understood or simulated.

    Args:
        expected: What would have been right, to follow "expected" (or a whole statement when
            ``statement`` is true).
        key: Full dotted path of the key, such as ``link.bottleneck.rate``.
        value: What was found there, or `ABSENT`.
        file: Name of the file that the value came from, or the `Argument`.
        suggestion: What the user probably meant, as it would be written.
        statement: Whether ``expected`` stands by itself instead of following "expected".
    """

    def __init__(
        self,
        expected: str,
        *,
        key: str | None = None,
        value: object = ABSENT,
        file: str | None = None,
        suggestion: str | None = None,
        statement: bool = False,
    ) -> None:
        self.expected = expected
        self.key = key
        self.value = value
        self.file = file
        self.suggestion = suggestion
        self.statement = statement
        #: Whether it is of what Python gave, and has values as Python has them.
        self.in_python = False
        #: Further problems of the same scenario, in the order of the file.
        self.others: tuple[ScenarioError, ...] = ()
        super().__init__(expected)

    def sentence(self) -> str:
        """This problem alone, in one line."""
        place = [visible(self.file, keep="")] if self.file else []
        # An argument of a function is one of Python, unless the command made it an option.
        in_python = self.in_python or isinstance(self.file, Argument)
        if self.key:
            key = visible(self.key, keep="")
            place.append(key if self.value is ABSENT else f"{key} = {show(self.value, in_python=in_python)}")
        elif self.value is not ABSENT:
            place.append(show(self.value, in_python=in_python))
        expected = _EXAMPLE.sub(r'{"\1": …}', self.expected) if in_python else self.expected
        place.append(expected if self.statement else f"expected {expected}")
        meant = as_python(self.suggestion) if in_python and self.suggestion else self.suggestion
        ending = f"; did you mean {visible(meant, keep='')}?" if meant else ""
        return ": ".join(place) + ending

    def __str__(self) -> str:
        return "\n".join([self.sentence(), *(other.sentence() for other in self.others)])

    def located(self, file: str | None) -> ScenarioError:
        """The same error with the name of the file, where it has none yet."""
        for error in (self, *self.others):
            if error.file is None:
                error.file = file
        return self

    def of_command(self) -> ScenarioError:
        """The same error with the command's options in place of arguments."""
        for error in (self, *self.others):
            if isinstance(error.file, Argument):
                error.file = error.file.option
            if isinstance(error.key, Argument):
                error.key = error.key.option
        return self


@contextmanager
def located(file: str | None) -> Iterator[None]:
    """Within it, errors of a scenario get the name of its file, where they have none yet."""
    try:
        yield
    except ScenarioError as error:
        raise error.located(file) from None


def not_installed(error: ModuleNotFoundError) -> str:
    """One sentence on a package that is missing, with the line that installs it.

    >>> not_installed(ModuleNotFoundError("No module named 'markdown_it'", name="markdown_it"))
    'markdown_it is needed here and is not installed: pip install "markdown-it-py>=3,<5"'
    """
    from importlib.metadata import PackageNotFoundError, requires

    module = (error.name or str(error)).partition(".")[0]
    try:
        needed = [name.partition(";") for name in requires("tightlink") or []]
    except PackageNotFoundError:
        needed = []
    # A distribution that is not called as its module begins with its name, as markdown-it-py does.
    start = module.replace("_", "-").lower()
    markers = {marker.strip() for name, _, marker in needed if name.lower().startswith(start)}
    # What is optional is needed together: dask alone makes no cluster.
    optional = {marker for marker in markers if "extra" in marker}
    found = [
        name.strip()
        for name, _, marker in needed
        if (marker.strip() in optional if optional else name.lower().startswith(start))
    ]
    line = " ".join(f'"{name}"' for name in found or [module])
    return f"{module} is needed here and is not installed: pip install {line}"


def visible(text: str, *, keep: str = "\n\t") -> str:
    r"""Text of others with each control character as an escape, so that no terminal obeys it.

    Args:
        text: A name, a message, a cell: whatever others may have written.
        keep: Control characters that stay; none of them where the text must be one line.

    >>> visible("a\x1b[31m\tb\u202e\udcff"), visible("a\nb", keep="")
    ('a\\x1b[31m\tb\\u202e\\xff', 'a\\nb')
    """
    return _CONTROLS.sub(lambda found: found[0] if found[0] in keep else _escaped(found[0]), text)


def escaped_in_text(text: str) -> str:
    r"""The same for the inside of JSON's and TOML's quotes: one value, written in another way.

    >>> escaped_in_text("a\x9b\u202e")
    'a\\u009b\\u202e'
    """
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _escaped(character: str) -> str:
    code = ord(character)
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    code = code - 0xDC00 if code in _UNDECODED else code
    return f"\\x{code:02x}" if code <= _LAST_BYTE else f"\\u{code:04x}"


def as_python(written: str) -> str:
    """A table, a list or a truth value of TOML as Python has it; anything else as it is.

    >>> as_python('{ kind = "codel" }'), as_python("true"), as_python('"20 packets"'), as_python("link.bottleneck")
    ('{"kind": "codel"}', 'True', '"20 packets"', 'link.bottleneck')
    """
    try:
        value = tomllib.loads(f"value = {written}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return written
    return _python(value) if isinstance(value, dict | list | bool) else written


def _python(value: object) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f'"{key}": {_python(item)}' for key, item in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_python, value)) + "]"
        case bool() | None:
            return repr(value)
        case _:
            return _show(value)


def show(value: object, *, in_python: bool = False) -> str:
    """Write a value as it would stand in a scenario file, or in Python, shortened to one line.

    >>> show("2 mbps"), show(True), show(["a", "b"]), show(None)
    ('"2 mbps"', 'true', '["a", "b"]', 'none')
    >>> show({"kind": "cubic", "hystart": True}, in_python=True)
    '{"kind": "cubic", "hystart": True}'
    """
    text = _python(value) if in_python else _show(value)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def _show(value: object) -> str:  # noqa: PLR0911
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case str():
            text = value if len(value) <= _LONGEST_VALUE else value[:_LONGEST_VALUE] + "…"
            escaped = text.replace("\\", "\\\\").replace('"', '\\"')
            printable = (c if c.isprintable() else f"\\u{ord(c):04x}" for c in escaped)
            return '"' + "".join(printable) + '"'
        case list() | tuple():
            return "[" + ", ".join(_show(item) for item in value[:_LONGEST_VALUE]) + "]"
        case dict():
            pairs = list(value.items())[:_LONGEST_VALUE]
            return "{ " + ", ".join(f"{key} = {_show(item)}" for key, item in pairs) + " }"
        case type():
            return value.__name__
        case int() if value.bit_length() > 4 * _LONGEST_VALUE:
            return "a number of many digits"
        case _:
            return str(value)


def closest(word: str, known: Iterable[str], *, likeness: float = 0.6) -> str | None:
    """The known name that the user probably meant, or nothing.

    One that has all of several words, in another order, too; or one like it; or the only one that begins so.

    >>> closest("botleneck", ["access", "bottleneck"]), closest("cwnd", ["cwnd_packets", "rtt_s"])
    ('bottleneck', 'cwnd_packets')
    >>> closest("one-way delay p99", ["mean one-way delay", "call p99 one-way delay"])
    'call p99 one-way delay'
    """
    names = list(known)
    folded = {name.casefold(): name for name in reversed(names)}
    if word.casefold() in folded:
        return folded[word.casefold()]
    short = word[:_LONGEST_VALUE].casefold()
    words = set(short.split())
    holding = [name for name in folded if words <= set(name.split())] if len(words) > 1 else []
    if holding:
        return folded[min(holding, key=lambda name: len(name.split()))]
    matches = difflib.get_close_matches(short, folded, n=1, cutoff=likeness)
    if not matches and len(short) >= _BEGINNING:
        begun = [name for name in folded if name.startswith(short)]
        matches = begun if len(begun) == 1 else []
    return folded[matches[0]] if matches else None


def in_quotes(word: object, known: Iterable[str]) -> str | None:
    """The known name that the user probably meant as a file has it, or nothing: for ``suggestion``.

    >>> in_quotes("cubik", ["cubic", "reno"]), in_quotes(3, ["cubic"])
    ('"cubic"', None)
    """
    meant = closest(word, known) if isinstance(word, str) else None
    return f'"{meant}"' if meant else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the known one that was probably meant, if there is one.

    >>> did_you_mean("queue_packet", ["queue_packets"]), did_you_mean("x", ["queue_packets"])
    ('; did you mean queue_packets?', '')
    """
    meant = closest(word, known)
    return f"; did you mean {meant}?" if meant else ""


def one_of(names: Iterable[str]) -> str:
    """A list of names for an error: ``one of a, b, c``, cut where it gets long.

    >>> one_of(["bulk", "cbr"])
    'one of bulk, cbr'
    """
    known = list(names)
    shown = ", ".join(known[:_MOST_NAMES])
    if len(known) > _MOST_NAMES:
        return f"one of {shown}, … ({len(known)} in all)"
    return f"one of {shown}" if len(known) > 1 else shown
