"""A laboratory in a real JupyterLab, in Chromium: shown, moved by keys, and read by the next cell."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

import tightlink as tl
from browser import Page, browser
from ports import unused_port
from programs import needs_browser, needs_engine_for_browsers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    needs_browser,
    needs_engine_for_browsers,
    pytest.mark.skipif(
        importlib.util.find_spec("jupyterlab") is None, reason="jupyterlab is not installed (pip install jupyterlab)"
    ),
]

CELLS = [
    'import tightlink as tl\nlab = tl.lab(tl.load("one-flow.toml"))\nlab',
    'print(type(lab.run).__name__, lab.run.manifest["digest"])',
]
NOTEBOOK = "window.jupyterapp.shell.currentWidget"
LAB = "document.querySelector('.jp-OutputArea .lab')"


@contextmanager
def jupyter(folder: Path) -> Iterator[str]:
    """JupyterLab over a folder, with separate settings; the address of a notebook in it."""
    cells: list[dict[str, object]] = [
        {
            "cell_type": "code",
            "id": f"c{number}",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": cell,
        }
        for number, cell in enumerate(CELLS)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (folder / "lab.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    port = unused_port()
    given = {
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": port,
        "ServerApp.port_retries": 0,
        "ServerApp.root_dir": folder,
        "IdentityProvider.token": "here",
        "LabApp.expose_app_in_browser": True,
        "LabApp.news_url": None,
    }
    own = {name: str(folder / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")}
    options = ["--no-browser", "--allow-root", *(f"--{name}={value}" for name, value in given.items())]
    with (folder / "said").open("w") as said:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options], env={**os.environ, **own}, stdout=said, stderr=said
        )
    try:
        end = time.monotonic() + 60
        while not _answers(f"http://127.0.0.1:{port}/api?token=here"):
            assert server.poll() is None, (folder / "said").read_text()
            assert time.monotonic() < end, (folder / "said").read_text()
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/lab/tree/lab.ipynb?token=here"
    finally:
        server.terminate()
        server.wait(timeout=60)


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5):
            return True
    except (urllib.error.URLError, ConnectionError):
        return False


def run_cell(page: Page, number: int) -> None:
    page.run(f"{NOTEBOOK}.content.activeCellIndex = {number}")
    page.run("void window.jupyterapp.commands.execute('notebook:run-cell')")


def test_jupyterlab_shows_it_and_its_next_cell_reads_the_run(one_flow: str, tmp_path: Path) -> None:
    scenario = tl.loads(one_flow)
    folder = tmp_path / "notebooks"
    folder.mkdir()
    (folder / "one-flow.toml").write_text(one_flow, encoding="utf-8")
    with jupyter(folder) as address, browser(tmp_path / "profile") as page:
        page.size(1400, 1000)
        page.open(address)
        page.wait(f"window.jupyterapp && {NOTEBOOK}?.sessionContext?.session?.kernel?.connectionStatus === 'connected'")
        run_cell(page, 0)
        page.wait(f"Boolean({LAB}?.dataset.digest)")
        assert page.run(f"{LAB}.dataset.digest") == tl.simulate(scenario).manifest["digest"]
        # Beside the files, whatever is in the notebook's width.
        assert page.run(f"{LAB}.querySelectorAll('.wide').length") == 2
        assert page.run(
            f"[...{LAB}.querySelectorAll('.wide')].every((each) => each.getBoundingClientRect().right"
            f" <= {LAB}.closest('.jp-OutputArea').getBoundingClientRect().right)"
        )
        assert (
            page.run(f"(({{scrollWidth, clientWidth}}) => scrollWidth - clientWidth)({LAB}.querySelector('.wide'))")
            == 0
        )
        # JupyterLab would take the key for its cells.
        page.run(f"{LAB}.querySelector('input[type=range]').focus()")
        for kind in ("keyDown", "keyUp"):
            page.send(
                "Input.dispatchKeyEvent", type=kind, key="ArrowRight", code="ArrowRight", windowsVirtualKeyCode=39
            )
        page.wait(f"{LAB}.dataset.digest !== '{tl.simulate(scenario).manifest['digest']}'")
        moved = page.run(f"{LAB}.querySelector('input[type=range]').getAttribute('aria-valuetext')")
        digest = tl.simulate(scenario.set("link.bottleneck.rate", moved)).manifest["digest"]
        assert page.run(f"{LAB}.dataset.digest") == digest
        run_cell(page, 1)
        page.wait(
            f"[...document.querySelectorAll('.jp-OutputArea-output')].some((each) => each.innerText.trim() === 'Run {digest}')"
        )
