r"""How help pages look: descriptions fill their lines, and an example can be copied from a terminal of 80 columns.

Example:
    >>> print(*example('sweep one.toml --vary queue="5 packets,20 packets"', width=40).splitlines()[1:], sep="\n")
      tightlink sweep one.toml --vary \
        queue="5 packets,20 packets"
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from attrs import evolve
from cyclopts.help.formatters.default import DefaultFormatter
from cyclopts.help.inline_text import InlineText

from tightlink import shell

if TYPE_CHECKING:
    from cyclopts.help import HelpPanel

#: Of a terminal that does not say how wide it is.
_WIDTH: Final = 80
#: What a shell takes for one word; quotes may stand within it.
_WORD: Final = re.compile(r'(?:"[^"]*"|\S)+')


class HelpFormatter(DefaultFormatter):
    """Panels of a help page whose descriptions are folded by the terminal alone, not where the source is."""

    def __call__(self, console: Any, options: Any, panel: HelpPanel) -> None:
        """Print one panel of a help page."""
        entries = [evolve(entry, description=_joined(entry.description)) for entry in panel.entries]
        super().__call__(console, options, panel.copy(entries=entries))


def _joined(description: Any) -> Any:
    """A description in one line; what comes behind it, such as a default, stays as it is."""
    if not isinstance(description, InlineText):
        return description
    from rich.text import Text

    joined = InlineText(Text(" ".join(str(description.primary_renderable).split())))
    for text in description.texts:
        joined.append(text)
    return joined


def options(listed: Mapping[str, str]) -> str:
    """Options with what they mean, for the text below a help page.

    >>> print(options({"scale": "part of the network, such as 0.1"}))
      --scale  part of the network, such as 0.1
    """
    indent = max(map(len, listed)) + len("  --  ")
    each = (f"{'  --' + option:{indent}}{text}" for option, text in listed.items())
    return "\n".join(textwrap.fill(line, _WIDTH, subsequent_indent=" " * indent) for line in each)


def example(words: str, width: int = _WIDTH) -> str:
    """The text below a help page that shows a command as it is typed, in lines that a shell joins."""
    lines = ["  tightlink"]
    for word in _WORD.findall(words):
        if len(lines[-1]) + len(word) + len("  \\") > width and not shell.WINDOWS:
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += f" {word}"
    return "\n".join(["Example:", *lines])
