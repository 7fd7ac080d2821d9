"""Laboratories in notebooks: what Python has of them, and what a browser shows with a stub of the notebook's model."""

from __future__ import annotations

import base64
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
import traitlets

import tightlink as tl
from browser import browser
from programs import needs_browser, needs_engine_for_browsers
from tightlink.laboratory import widget
from tightlink.laboratory.page import as_json

if TYPE_CHECKING:
    from pathlib import Path

RATES = ["link.bottleneck.rate=1 Mbit/s,4 Mbit/s", "traffic.ftp.tcp.congestion=cubic"]


@pytest.fixture
def lab(one_flow: str, monkeypatch: pytest.MonkeyPatch) -> widget.Widget:
    """A laboratory of one flow, without the engine for browsers."""
    monkeypatch.setattr(widget, "engine", lambda: b"")
    return tl.lab(tl.loads(one_flow), sliders=RATES)


def test_its_run_is_that_of_the_positions(lab: widget.Widget, one_flow: str) -> None:
    scenario = tl.loads(one_flow)
    assert lab.positions == [1, 0]
    assert lab.run.manifest["digest"] == tl.simulate(scenario).manifest["digest"]
    assert lab.run is lab.run
    lab.positions = [2, 1]
    moved = scenario.set_all({"link.bottleneck.rate": "4 Mbit/s", "traffic.ftp.tcp.congestion": "cubic"})
    assert lab.scenario.resolve() == moved.resolve()
    assert lab.run.manifest["digest"] == tl.simulate(moved).manifest["digest"]
    assert isinstance(lab.run, tl.Run)


@pytest.mark.parametrize(
    ("positions", "sentence"), [([1], "one for each of 2 sliders"), ([1, 2], "tcp.congestion = 2: expected a whole")]
)
def test_positions_that_are_not_there_are_one_sentence(positions: list[int], sentence: str, lab: widget.Widget) -> None:
    with pytest.raises(traitlets.TraitError, match=sentence):
        lab.positions = positions
    assert lab.positions == [1, 0]


def test_what_is_not_for_a_browser_is_refused(small_users: str) -> None:
    with pytest.raises(tl.ScenarioError, match="a browser cannot hold"):
        tl.lab(tl.loads(small_users))


def test_without_anywidget_it_says_what_to_install(one_flow: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "tightlink.laboratory.widget")
    with pytest.raises(tl.TightlinkError, match=r'anywidget is needed here .*: pip install "anywidget[^"]*"$'):
        tl.lab(tl.loads(one_flow))


#: What a notebook does with a widget, in short.
NOTEBOOK = """<!doctype html><meta charset="utf-8"><style>%s</style><div id="cell"></div><script type="module">
const state = %s, esm = %s, heard = new Map();
state._engine = new DataView(Uint8Array.from(atob(state._engine), (letter) => letter.charCodeAt(0)).buffer);
const model = {
    get: (name) => state[name],
    set: (name, value) => { state[name] = value; heard.get(`change:${name}`)?.(); },
    save_changes: () => (window.saved = [...(window.saved ?? []), state.positions]),
    on: (event, listener) => heard.set(event, listener),
    off: (event) => heard.delete(event),
};
window.model = model;
// As JupyterLab takes keys for its cells.
document.addEventListener("keydown", (event) => event.preventDefault());
const { default: made } = await import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })));
window.close_ = await made.render({ model, el: document.getElementById("cell") });
</script>"""


@needs_browser
@needs_engine_for_browsers
def test_a_notebook_shows_it_and_hears_of_its_sliders(one_flow: str, tmp_path: Path) -> None:
    made = tl.lab(tl.loads(one_flow), sliders=RATES, title="a </script> b")
    state: dict[str, Any] = {name: getattr(made, name) for name in ("_given", "_document", "_worker", "positions")}
    state["_engine"] = base64.b64encode(made._engine).decode()
    file = tmp_path / "notebook.html"
    file.write_text(NOTEBOOK % (made._css, as_json(state), as_json(made._esm)), encoding="utf-8")
    with browser(tmp_path / "profile") as page:
        page.open(file.as_uri())
        page.wait("Boolean(window.close_)")
        assert page.run("document.querySelectorAll('.lab canvas').length") >= 4
        assert page.run("document.querySelector('.lab').dataset.digest") == made.run.manifest["digest"]
        assert page.run("window.saved ?? []") == []
        # Somebody moves a slider.
        page.run(
            "{ const rate = document.querySelector('.lab input'); rate.value = '2'; rate.dispatchEvent(new Event('input')); }"
        )
        assert page.wait("window.saved") == [[2, 0]]
        made.positions = page.run("model.get('positions')")
        assert page.run("document.querySelector('.lab').dataset.digest") == made.run.manifest["digest"]
        # Python does.
        page.run("model.set('positions', [0, 1])")
        page.wait("document.querySelector('.lab').dataset.positions === '0,1'")
        made.positions = [0, 1]
        assert page.run("document.querySelector('.lab').dataset.digest") == made.run.manifest["digest"]
        assert json.loads(page.run("JSON.stringify(window.saved.at(-1))")) == [0, 1]
        # Somebody presses a key.
        page.run("document.querySelector('.lab input').focus()")
        for kind in ("keyDown", "keyUp"):
            page.send(
                "Input.dispatchKeyEvent", type=kind, key="ArrowRight", code="ArrowRight", windowsVirtualKeyCode=39
            )
        page.wait("document.querySelector('.lab').dataset.positions === '1,1'")
        page.run("close_()")
        assert page.console == []
