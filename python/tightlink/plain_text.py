r"""What is printed where an encoding lacks its characters: ASCII in a C locale, a code page in a pipe of Windows.

Example:
    >>> "−16 % ± 2, Başar".encode("latin-1", instead()).decode("latin-1")
    '-16 % ± 2, Ba\\u015far'
"""

from __future__ import annotations

import codecs
import io
import sys
from typing import Final

#: Signs that stand in sentences and tables, as they are typed.
_TYPED: Final = {
    "−": "-", "–": "-", "×": "x", "·": "*", "±": "+/-", "÷": "/", "→": "->", "…": "...", "µ": "u", "≥": ">=", "≤": "<=",
    "²": "^2", "³": "^3", "’": "'",
}  # fmt: skip
#: Characters beyond this one have escapes of eight digits.
_LAST_OF_FOUR: Final = 0xFFFF


def instead() -> str:
    """The name of the handler of errors that writes something else, for `str.encode` and streams.

    Signs are written as they are typed, letters as the escapes of JSON and TOML: text that is not ours loses nothing.
    """
    codecs.register_error("tightlink", _typed)
    return "tightlink"


def typed(word: str) -> str:
    r"""A word of the command line that is UTF-8, where the locale, such as C, has Python take it for another encoding.

    >>> typed("plain"), typed(b"caf\xc3\xa9".decode("ascii", "surrogateescape"))
    ('plain', 'café')
    """
    try:
        return word.encode("ascii", "surrogateescape").decode()
    except UnicodeError:
        return word


def print_anywhere() -> None:
    """Let standard output and standard error take every character, whatever their encoding."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
            stream.reconfigure(errors=instead())


def _typed(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_TYPED.get(character) or _escaped(ord(character)) for character in lacking), error.end


def _escaped(code: int) -> str:
    return f"\\u{code:04x}" if code <= _LAST_OF_FOUR else f"\\U{code:08x}"
