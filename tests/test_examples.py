"""The README's examples and the examples folder say what is true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import tightlink as tl

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_two_examples_of_the_readme_give_the_same_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    from_toml = tl.loads(_blocks("toml")[0])
    names: dict[str, Any] = {}
    exec(compile(_blocks("python")[0], "README.md", "exec"), names)
    assert names["scenario"] == from_toml
    assert names["run"].manifest["digest"] == tl.simulate(from_toml).manifest["digest"]
    assert "ftp" in capsys.readouterr().out


def test_the_readme_shows_an_example_file() -> None:
    assert _blocks("toml")[0] == (ROOT / "examples" / "one-flow.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_examples_run(file: Path) -> None:
    scenario = tl.load(file)
    brief = scenario.set("duration", "1 s")
    if file.stem == "fat-tree-k16":
        # 1024 hosts have a million packet hops in so much time.
        brief = scenario.set_all({"duration": "4 ms", "traffic.answers.stop": "4 ms"})
    assert tl.simulate(brief).manifest["packet_hops"] > 0
    assert tl.loads(scenario.to_toml()) == scenario.written_out()
