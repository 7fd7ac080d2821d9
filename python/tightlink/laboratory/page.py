"""The file of a laboratory: engine, scenario, sliders and charts in one HTML page that needs no network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import tightlink
from tightlink.errors import Argument, ScenarioError, TightlinkError
from tightlink.files import check_page, write_text
from tightlink.laboratory.changes import Document
from tightlink.laboratory.chosen import bottleneck, chosen, prepared
from tightlink.laboratory.engine import engine
from tightlink.laboratory.resolved import Resolved
from tightlink.laboratory.sliders import Slider
from tightlink.laboratory.text import rendered, settings
from tightlink.lazy import _core
from tightlink.plots import palette
from tightlink.scenario import Scenario, toml
from tightlink.scenario.overrides import override
from tightlink.scenario.scatter import Scatter
from tightlink.scenario.traffic import Bulk
from tightlink.scenario.users import Users
from tightlink.tables import TOTALS

_ASSETS: Final = Path(__file__).with_name("assets")
#: Modules in the order in which they need each other.
_MODULES: Final = (
    "format",
    "engine",
    "palette",
    "plots",
    "bands",
    "totals",
    "packets",
    "controls",
    "sweep",
    "svg",
    "exports",
    "lab",
)
_IMPORTS: Final = re.compile(r"^import\b[^;]*;\n|^export\b(?! default)\s*", re.MULTILINE)
_GENERATOR: Final = '<meta name="generator" content="Tightlink laboratory">'


def write(
    path: str | os.PathLike[str],
    scenario: Scenario,
    *,
    sliders: Sequence[str] = (),
    text: str | Path = "",
    title: str = "",
    warnings: list[str] | None = None,
) -> Path:
    """Write a laboratory: one HTML file that opens offline.

    Args:
        path: The file to write. An older laboratory in its place is replaced, another file is not.
        scenario: What it begins with.
        sliders: ``key=v1,v2,…`` or ranges; without any, sensible ones are chosen.
        text: A lesson in Markdown, or its file, in which ``{set: key=value}`` is a button; its images become part of
            the page.
        title: What stands above it (default: the name of the scenario's file).
        warnings: Takes a sentence for each slider with positions that are errors.

    Raises:
        ScenarioError: A slider, or a button of the text, does not fit the scenario.
        TightlinkError: The scenario cannot be simulated in a browser, or another file is there.
    """
    target = Path(path)
    check_new_laboratory(target)
    folder = text.parent if isinstance(text, Path) else Path()
    lesson = toml.read(text) if isinstance(text, Path) else text
    given = data(scenario, sliders=sliders, text=lesson, title=title, folder=folder)
    if warnings is not None:
        warnings += [_wrong(slider) for slider in given["sliders"] if slider["errors"]]
    return write_text(target, _page(given, engine()))


def _wrong(slider: dict[str, Any]) -> str:
    """What is wrong at the positions of a slider."""
    errors = list(slider["errors"].values())
    which = f"{len(errors)} of {len(slider['texts'])} positions of {slider['key']} are errors"
    right = [place for place in range(len(slider["texts"])) if place not in slider["errors"]]
    if len(errors) > len(right) > 1:
        # The scenario's own value alone is no part of a range.
        which += f", all but {_parts(slider['texts'], right)}"
    return f"{which}: {errors[0]}" if len(errors) == 1 else f"{which}, the first: {errors[0]}"


def _parts(texts: Sequence[str], places: Sequence[int]) -> str:
    """Some positions of a slider, those beside each other as a range.

    >>> _parts(["1 s", "2 s", "3 s", "4 s", "5 s"], [0, 1, 2, 4])
    '1 s to 3 s, 5 s'
    """
    runs = [[place for _, place in run] for _, run in groupby(enumerate(places), lambda each: each[1] - each[0])]
    return ", ".join(texts[run[0]] + (f" to {texts[run[-1]]}" if len(run) > 1 else "") for run in runs)


def check_new_laboratory(target: Path) -> None:
    """Refuse to write a laboratory where something else is, or where no browser would open it.

    Raises:
        TightlinkError: A folder, or a file that is no laboratory, has its name; or that does not end in .html.
    """
    if target.is_dir():
        raise TightlinkError(f"{target}: it is a folder; expected a file, such as {target / 'lab.html'}")
    check_page(target)
    if target.exists() and _GENERATOR not in target.read_text("utf-8", "replace")[:2000]:
        raise TightlinkError(f"{target}: another file has this name, and is not overwritten; expected a new one, by -o")


def data(
    scenario: Scenario,
    *,
    sliders: Sequence[str | Slider] = (),
    text: str = "",
    title: str = "",
    coarse: bool = False,
    folder: Path = Path(),
) -> dict[str, Any]:
    """What a laboratory shows and simulates, without its engine; images of its text are in a folder."""
    return described(document_of(scenario, sliders, text, coarse=coarse), text=text, title=title, folder=folder)


def document_of(scenario: Scenario, sliders: Sequence[str | Slider], text: str, *, coarse: bool = False) -> Document:
    """A scenario with its sliders; those of the buttons of a text are among them.

    Args:
        scenario: What it begins with.
        sliders: Sliders, or ``key=v1,v2,…``; without any, sensible ones are chosen.
        text: A lesson in Markdown.
        coarse: Whether sliders that are chosen have a third of their positions.

    Raises:
        ScenarioError: A slider does not fit the scenario, or a browser cannot simulate it.
    """
    _check(scenario)
    resolved, made = _sliders(scenario, sliders, text, coarse=coarse)
    return Document(resolved.scenario, made, resolved)


def described(document: Document, *, text: str, title: str, folder: Path = Path()) -> dict[str, Any]:
    """A scenario with its sliders as the page reads it."""
    base, made = document.base, document.sliders
    own = base.written()
    return {
        "title": title or (Path(base.file).stem if base.file else "scenario"),
        "sliders": [_described(number, made, own, document) for number in range(len(made))],
        "template": toml.dump(_template(own, made)),
        "document": document.to_dict(),
        "duration": base.duration,
        "totals": TOTALS,
        "timed": any(isinstance(traffic, Bulk) and traffic.bytes is not None for traffic in base.traffic.values()),
        "palette": palette.for_page(),
        "text": rendered(text, lambda key, value: _place(made, key, value), folder) if text else "",
        "version": f"Tightlink {tightlink.__version__}, engine behaviour {_core.engine_behaviour}",
    }


def _described(number: int, made: Sequence[Slider], own: dict[str, Any], document: Document) -> dict[str, Any]:
    """A slider as the page shows it; a value that the scenario leaves to its profile has no text."""
    slider = made[number]
    literals: list[str | None] = [toml.literal(_below(slider, value, made)) for value in slider.values]
    if not _is_written(own, slider.key):
        literals[slider.start] = None
    errors = [document.error(number, place) for place in range(len(literals))]
    return {
        "key": slider.key,
        "texts": slider.texts,
        "literals": literals,
        "start": slider.start,
        "choice": slider.is_choice,
        "errors": {place: error for place, error in enumerate(errors) if error},
    }


def _check(scenario: Scenario) -> None:
    """Refuse what a browser cannot simulate."""
    for name, traffic in scenario.traffic.items():
        if isinstance(traffic, Users | Scatter):
            raise ScenarioError(
                f"flows: a laboratory has no {traffic.kind}, of which a browser cannot hold as many as matter",
                key=f"traffic.{name}.kind",
                value=traffic.kind,
                file=scenario.file,
            )
    for flow in scenario.resolve()["flows"]:
        congestion = flow["transport"].get("tcp", {}).get("congestion", {})
        if "external" in json.dumps(congestion):
            raise ScenarioError(
                "a control of the engine: one that is written in Python does not run in a browser",
                key=f"traffic.{flow['group']}.tcp.congestion",
                file=scenario.file,
            )


def _sliders(
    scenario: Scenario, given: Sequence[str | Slider], text: str, *, coarse: bool
) -> tuple[Resolved, list[Slider]]:
    """The scenario that sliders begin with, and these, with the values that buttons of the text set."""
    keys = [each.partition("=")[0].strip() if isinstance(each, str) else each.key for each in given]
    base = prepared(scenario, [key.partition(".queue.")[0] for key in keys if ".queue." in key])
    if not given and (slowest := bottleneck(scenario)) is not None:
        base = prepared(scenario, [slowest])
    parsed = [Slider.parse(each, base) if isinstance(each, str) else each for each in given]
    resolved = Resolved(base)
    made = parsed or chosen(resolved, coarse=coarse)
    for key, value in (_meant(made, *entry) for button in settings(text) for entry in button):
        number = _slider(made, key, value)
        if number is None:
            try:
                made.append(Slider.of(key, [value], base))
            except ScenarioError as error:
                error.file = Argument("text")
                raise
        elif made[number].place(value) is None:
            made[number] = Slider.of(made[number].key, [*made[number].values, value], base)
    keys = [slider.key for slider in made]

    def place(slider: Slider) -> tuple[int, int]:
        tables = [number for number, key in enumerate(keys) if slider.key.startswith(f"{key}.")]
        return min(tables, default=keys.index(slider.key)), slider.key.count(".")

    # A key comes before those in its table, and these right after it.
    return resolved, sorted(made, key=place)


def _meant(made: Sequence[Slider], key: str, value: object) -> tuple[str, object]:
    """What a button sets: the kind of a queue is a value of the slider over whole queues, where there is one."""
    for slider in made:
        tables = [table for table in slider.values if isinstance(table, dict)]
        if f"{slider.key}.kind" == key and tables:
            other = {"kind": value} | {name: each for name, each in tables[0].items() if name == "limit"}
            return slider.key, next((table for table in tables if table["kind"] == value), other)
    return key, value


def _slider(made: Sequence[Slider], key: str, value: object) -> int | None:
    """The slider that a button means: of the key, or of the limit or the kind of a queue that is written as one."""
    wanted = [key] if isinstance(value, dict) else [f"{key}.limit", key]
    keys = [slider.key for slider in made]
    if isinstance(value, str) and any(value == text for s in made if s.key == key and s.is_choice for text in s.texts):
        return keys.index(key)
    return next((keys.index(each) for each in wanted if each in keys), None)


def _place(made: Sequence[Slider], key: str, value: object) -> tuple[int, int]:
    key, value = _meant(made, key, value)
    number = _slider(made, key, value)
    assert number is not None
    slider = made[number]
    place = slider.place(value)
    return number, slider.texts.index(str(value)) if place is None else place


def _template(own: dict[str, Any], made: Sequence[Slider]) -> dict[str, Any]:
    """The scenario with a token where each slider stands."""
    found = own
    for number, slider in enumerate(made):
        if not any(slider.key.startswith(f"{other.key}.") for other in made):
            found = override(found, slider.key, f"@slider{number}@")
    return found


def _below(slider: Slider, value: object, made: Sequence[Slider]) -> object:
    """A value of a slider with the tokens of those of keys in it."""
    if not isinstance(value, dict):
        return value
    for number, other in enumerate(made):
        if other.key.startswith(f"{slider.key}."):
            value = override(value, other.key.removeprefix(f"{slider.key}."), f"@slider{number}@")
    return value


def _is_written(table: Any, key: str) -> bool:
    for part in key.split("."):
        if not isinstance(table, dict) or part not in table:
            return False
        table = table[part]
    return True


def script(*more: str) -> str:
    """The modules of the page, and others of the assets, as one script: what they import stands in it."""
    return "\n".join(_IMPORTS.sub("", asset(f"{name}.js")) for name in (*_MODULES, *more))


def asset(name: str) -> str:
    """Read a text that the page contains."""
    return (_ASSETS / name).read_text(encoding="utf-8")


def style() -> str:
    """The style sheets of the page."""
    return asset("uplot.css") + asset("lab.css")


def _page(given: dict[str, Any], module: bytes) -> str:
    packed = base64.b64encode(module).decode()
    code = [asset("uplot.js"), f"{script()}\nopenPage();\n"]
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()}'" for each in code)
    policy = (
        f"default-src 'none'; script-src {hashes} 'wasm-unsafe-eval' blob:; worker-src blob:; "
        "style-src 'unsafe-inline'; img-src data: blob:"
    )
    # The engine's own text: JavaScript would round what is in it.
    shown = {key: value for key, value in given.items() if key != "document"}
    scripts = "\n".join(f"<script>{each}</script>" for each in code)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{_GENERATOR}
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(given["title"])}: laboratory</title>
<style>{style()}</style>
</head>
<body class="lab-frame">
<main id="lab"></main>
<script type="application/json" id="given">{as_json(shown)}</script>
<script type="application/json" id="document">{as_json(given["document"])}</script>
<script type="text/plain" id="worker">{asset("worker.js")}</script>
<script type="text/plain" id="engine">{packed}</script>
{scripts}
</body>
</html>
"""


def as_json(value: object) -> str:
    """JSON for the inside of a script element: nothing in it ends that element."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
