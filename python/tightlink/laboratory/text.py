"""The text beside a laboratory: Markdown in which ``{set: key=value}`` is a button that moves a slider.

Example:
    >>> settings("Now {set: link.wire.queue=200 packets} and look.")
    [[('link.wire.queue', '200 packets')]]
"""

from __future__ import annotations

import base64
import html
import json
import mimetypes
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from tightlink.errors import Argument, ScenarioError
from tightlink.files import check_stored
from tightlink.scenario import parse_option
from tightlink.scenario.problems import why_unreadable

_LARGEST_IMAGE: Final = 64 * 2**20
_SET: Final = re.compile(r"\{set:((?:[^{}\n]|\{[^{}\n]*\})*)\}")
#: What was meant for a button and would stay text.
_NEARLY: Final = re.compile(r"\{(?!set:)\s*set\b[^{}\n]*=[^{}\n]*\}", re.IGNORECASE)


def settings(text: str) -> list[list[tuple[str, object]]]:
    """What each button of a text sets: keys and values; several with ``&`` between them.

    Raises:
        ScenarioError: It is not ``key=value``, or not written as a button is.
    """
    if nearly := _NEARLY.search(text):
        raise ScenarioError("a button as {set: key=value}", value=nearly[0], file=Argument("text"))
    return [_parsed(match[1]) for match in _SET.finditer(text)]


def rendered(text: str, places: Callable[[str, object], tuple[int, int]], folder: Path) -> str:
    """The text as HTML, with the images that it shows in it, as the page is one file; its own HTML stays text.

    Args:
        text: A lesson in Markdown.
        places: The slider of a key, and the position of a value.
        folder: Where images are.

    Raises:
        ScenarioError: An image cannot be read, or is elsewhere.
    """
    from markdown_it import MarkdownIt

    buttons: list[str] = []

    def noted(match: re.Match[str]) -> str:
        moves = [places(key, value) for key, value in _parsed(match[1])]
        label = html.escape(", ".join(f"{_last(key)} = {_word(value)}" for key, value in _parsed(match[1])))
        moved = html.escape(json.dumps(moves))
        buttons.append(f'<button type="button" class="set" data-moves="{moved}">{label}</button>')
        return f"\ue000{len(buttons) - 1}\ue001"

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(_SET.sub(noted, text))
    for token in (inner for each in tokens for inner in each.children or () if inner.type == "image"):
        token.attrSet("src", _embedded(str(token.attrs["src"]), folder))
    page = str(markdown.renderer.render(tokens, markdown.options, {}))
    return re.sub("\ue000(\\d+)\ue001", lambda match: buttons[int(match[1])], page)


def _embedded(address: str, folder: Path) -> str:
    """An image of a text as what a page can hold."""
    if address.startswith("data:"):
        return address
    file = folder / unquote(address)
    kind = mimetypes.guess_type(file.name)[0] or ""
    if "://" in address or not kind.startswith("image/"):
        expected = "an image in a file, such as figure.png or figure.svg, as the page fetches nothing"
    else:
        try:
            check_stored(file, _LARGEST_IMAGE)
            return f"data:{kind};base64,{base64.b64encode(file.read_bytes()).decode()}"
        except OSError as error:
            expected = f"an image that can be read: {why_unreadable(error)}"
    raise ScenarioError(expected, value=address, file=Argument("text"))


def _last(key: str) -> str:
    """The last part of a key, and of the kind of a queue or a control whose it is."""
    parts = key.split(".")
    return " ".join(parts[-2:]) if parts[-1] in {"kind", "limit"} else parts[-1].replace("_", " ")


def _word(value: object) -> object:
    return value["kind"] if isinstance(value, dict) and "kind" in value else value


def _parsed(text: str) -> list[tuple[str, object]]:
    try:
        return [parse_option(part) for part in text.split("&")]
    except ScenarioError as error:
        raise ScenarioError(error.expected, value=text.strip(), file=Argument("text")) from None
