"""The text beside a laboratory: Markdown in which ``{set: key=value}`` is a button that moves a slider.

Example:
    >>> settings("Now {set: link.wire.queue=200 packets} and look.")
    [[('link.wire.queue', '200 packets')]]
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from typing import Final

from tightlink.errors import Argument, ScenarioError
from tightlink.scenario import parse_option

_SET: Final = re.compile(r"\{set:((?:[^{}\n]|\{[^{}\n]*\})*)\}")


def settings(text: str) -> list[list[tuple[str, object]]]:
    """What each button of a text sets: keys and values; several with ``&`` between them.

    Raises:
        ScenarioError: It is not ``key=value``.
    """
    return [_parsed(match[1]) for match in _SET.finditer(text)]


def rendered(text: str, places: Callable[[str, object], tuple[int, int]]) -> str:
    """The text as HTML; its own HTML stays text, and ``places`` has the slider of a key, the position of a value."""
    from markdown_it import MarkdownIt

    buttons: list[str] = []

    def noted(match: re.Match[str]) -> str:
        moves = [places(key, value) for key, value in _parsed(match[1])]
        label = html.escape(", ".join(f"{_last(key)} = {_word(value)}" for key, value in _parsed(match[1])))
        moved = html.escape(json.dumps(moves))
        buttons.append(f'<button type="button" class="set" data-moves="{moved}">{label}</button>')
        return f"\ue000{len(buttons) - 1}\ue001"

    page = str(MarkdownIt("commonmark", {"html": False}).enable("table").render(_SET.sub(noted, text)))
    return re.sub("\ue000(\\d+)\ue001", lambda match: buttons[int(match[1])], page)


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
