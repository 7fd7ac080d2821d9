"""``tightlink plan path --path``: a path that a scenario describes, as ``measure path`` writes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Said = Callable[..., tuple[int, str, str]]

PATH = """
duration = "10 s"
link.path = { ends = ["here", "there"], rate = "2 Mbit/s", delay = "10 ms", queue = "20 packets" }
traffic.bulk = { kind = "bulk", from = "here", to = "there" }
"""


def test_predict_takes_a_path_from_a_scenario(tmp_path: Path, said: Said) -> None:
    file = tmp_path / "path.toml"
    file.write_text(PATH)
    code, of_file, _ = said("plan", "path", "--path", str(file), "--flows", "1", "--json")
    assert code == 0
    given = ["--bandwidth", "2 Mbit/s", "--rtt", "20 ms", "--queue", "20"]
    assert said("plan", "path", *given, "--flows", "1", "--json")[1] == of_file
    other = json.loads(said("plan", "path", "--path", str(file), "--queue", "5", "--flows", "1", "--json")[1])
    assert other["path"]["queue_packets"] == 5
    # An upload over a line that is written as a download's.
    file.write_text(
        PATH.replace('"20 packets" }', '"20 packets", reverse = { rate = "1 Mbit/s", queue = "9 packets" } }')
        .replace('from = "here", to = "there"', 'from = "there", to = "here"')
    )  # fmt: skip
    back = json.loads(said("plan", "path", "--path", str(file), "--flows", "1", "--json")[1])["path"]
    assert (back["bandwidth_bps"], back["queue_packets"]) == (1e6, 9)


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        (PATH.replace("20 packets", "1 BDP"), [], 'path.toml: link.path.queue = "1 BDP": expected a queue in packets'),
        (PATH.replace("2 Mbit/s", "2 packets/ms"), [], 'link.path.rate = "2 packets/ms": expected a rate in bit/s'),
        (
            PATH + 'link.b = { ends = ["there", "x"], rate = "1 Mbit/s", delay = "1 ms" }',
            [],
            "link: expected a scenario of one link",
        ),
        (PATH, ["--bandwidth", "2 Mbit/s", "--rtt", "20 ms", "--queue", "20"], "--path = "),
    ],
)
def test_predict_refuses_a_scenario_that_is_no_path(
    text: str, options: list[str], problem: str, tmp_path: Path, said: Said
) -> None:
    file = tmp_path / "path.toml"
    file.write_text(text)
    code, _, err = said("plan", "path", "--path", str(file), *options)
    assert code == 2
    assert problem in err
