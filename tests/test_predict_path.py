"""``tightlink plan path --path``: a path that a scenario describes, as ``measure path`` writes it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

import tightlink as tl
from tightlink.scenario.networks import networks

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


LINE = 'rate = "20 Mbit/s", delay = "50 ms", queue = "200 packets"'


@pytest.mark.usefixtures("few_controls")
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("there", "back"),
    [
        (LINE, 'rate = "0.2 Mbit/s", delay = "50 ms", queue = "100 packets"'),
        (f'{LINE}, shaper = {{ rate = "4 Mbit/s", burst = "20 kB" }}', f'{LINE}, shaper = "none"'),
        (f"{LINE}, loss = {{ every = 200 }}", f"{LINE}, loss = 0"),
        (f'{LINE}, outages.schedule = [{{ at = "3 s", for = "2 s" }}]', f'{LINE}, outages = "none"'),
        (f'{LINE}, jitter = {{ kind = "uniform", most = "100 ms" }}', f'{LINE}, jitter = "none"'),
        (f'{LINE}, mtu = "1000 B", framing.overhead = "250 B"', f'{LINE}, mtu = "1000 B", framing.overhead = "9 B"'),
        (LINE, LINE.replace("50 ms", "90 ms")),
    ],
)
def test_what_a_file_says_of_its_link_counts(
    there: str, back: str, *, turned: bool, tmp_path: Path, said: Said
) -> None:
    first, second = (back, there) if turned else (there, back)
    ends = ("there", "here") if turned else ("here", "there")
    tcp = f'window = "172 packets", payload = "{960 if "mtu" in there else 1460} B", recovery = "newreno"'
    file = tmp_path / "path.toml"
    file.write_text(f"""
        profile = "ns2"
        duration = "10 s"
        link.path = {{ ends = {list(ends)}, {first}, reverse = {{ {second} }} }}
        traffic.data = {{ kind = "bulk", from = "here", to = "there", tcp = {{ {tcp} }} }}
    """)
    windows = ["--max-window", "172 packets", "--default-window", "172 packets"]
    code, out, err = said("plan", "path", "--path", str(file), "--flows", "1", *windows, "--json")
    assert code == 0, err
    predicted = json.loads(out)["settings"]["default"]
    (flow,) = tl.simulate(tl.load(file)).flows.iter_rows(named=True)
    assert predicted["goodput_bps"] == pytest.approx(flow["goodput_bps"], rel=0.02)
    assert predicted["loss"] == 0
    if json.loads(out)["path"]["line"]:
        assert predicted["rtt_loaded_s"] == pytest.approx(flow["rtt_mean_s"], rel=0.05)


@pytest.mark.usefixtures("few_controls")
def test_what_a_file_says_of_its_link_is_named(tmp_path: Path, said: Said) -> None:
    file = tmp_path / "path.toml"
    more = 'loss = "1 %", framing.overhead = "38 B", duplicate = 0, reverse = { rate = "1 Mbit/s", loss = 0 }'
    file.write_text(PATH.replace('"20 packets"', f'"20 packets", {more}'))
    out = " ".join(said("plan", "path", "--path", str(file), "--flows", "1")[1].split())
    assert "beside these as the file has them: framing, loss, reverse.rate, reverse.queue, reverse.loss flows" in out
    assert re.search(r"(no|%) loss in the queue", out)


@pytest.mark.usefixtures("few_controls")
def test_what_of_a_file_does_not_count_is_said(tmp_path: Path, said: Said) -> None:
    file = tmp_path / "path.toml"
    file.write_text(
        PATH + 'node.here.processor.per_packet = "1 ms"\n'
        'traffic.call = { kind = "cbr", from = "here", to = "there", rate = "1 Mbit/s" }\n'
    )
    code, _, err = said("plan", "path", "--path", str(file), "--flows", "1")
    err = " ".join(err.split())
    assert code == 3
    assert "--path does not count node.here.processor: transfers are at most as fast as predicted" in err
    assert "--path does not count the traffic of the file (bulk, call): others leave a transfer less" in err


def test_numbers_beside_a_file_leave_what_else_its_link_has(tmp_path: Path, said: Said) -> None:
    file = tmp_path / "path.toml"
    file.write_text('duration = "1 s"\nlink.phone = { ends = ["net", "phone"], network = "lte" }')
    given = ["--bandwidth", "20 Mbit/s", "--rtt", "60 ms", "--queue", "100", "--flows", "1"]
    code, out, err = said("plan", "path", "--path", str(file), *given, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["path"]["line"]["arq"]["after"] == networks()["lte"].link["arq"]["after"]


@pytest.mark.usefixtures("few_controls")
def test_bandwidth_is_that_of_the_token_bucket(tmp_path: Path, said: Said) -> None:
    file = tmp_path / "path.toml"
    line = LINE.replace("50 ms", "5 ms") + ', shaper = { rate = "4 Mbit/s", burst = "10 kB" }'
    file.write_text(PATH.partition("link")[0] + f'link.path = {{ ends = ["here", "there"], {line} }}')
    of_file = json.loads(said("plan", "path", "--path", str(file), "--flows", "1", "--json")[1])
    assert of_file["path"]["bandwidth_bps"] == 4e6
    changes = {each["name"]: each["chosen_bps"] for each in of_file["upgrades"]}
    assert changes["twice the bandwidth"] == pytest.approx(2 * changes["as it is"], rel=0.02)
    given = ["--bandwidth", "10 Mbit/s", "--flows", "1", "--json"]
    wide = json.loads(said("plan", "path", "--path", str(file), *given)[1])["settings"]["best"]
    assert wide["goodput_bps"] == pytest.approx(10e6 * 1460 / 1500, rel=0.02)


@pytest.mark.usefixtures("few_controls")
@pytest.mark.parametrize(
    ("queue", "packets"), [("100 ms", 16), ("30 kB", 20), ("1 KiB", 1), ("1 BDP", None), ("30 packets", 30)]
)
def test_a_queue_is_that_of_a_run_in_any_unit(queue: str, packets: int | None, tmp_path: Path, said: Said) -> None:
    file = tmp_path / "path.toml"
    file.write_text(PATH.replace("20 packets", queue))
    code, out, _ = said("plan", "path", "--path", str(file), "--flows", "1", "--json")
    assert code != 2
    limit = tl.load(file).resolve()["links"][0]["queue"]["limit"]
    expected = limit["packets"] if packets is None else packets
    assert json.loads(out)["path"]["queue_packets"] == expected
    # And where it is an option: it took packets alone.
    given = ["--bandwidth", "2 Mbit/s", "--rtt", "20 ms", "--queue", queue]
    assert json.loads(said("plan", "path", *given, "--flows", "1", "--json")[1])["path"]["queue_packets"] == expected


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        (
            PATH.replace("20 packets", "unlimited"),
            [],
            'path.toml: link.path.queue = "unlimited": expected a queue in packets, bytes, time or BDP',
        ),
        (
            PATH.replace("20 packets", "1 BDP"),
            ["--rtt", "9 ms"],
            'link.path.queue = "1 BDP": expected a queue in packets',
        ),
        (PATH.replace("2 Mbit/s", "2 packets/ms"), [], 'link.path.rate = "2 packets/ms": expected a rate in bit/s'),
        (
            PATH + 'link.b = { ends = ["there", "x"], rate = "1 Mbit/s", delay = "1 ms" }',
            [],
            "link: expected a scenario of one link",
        ),
        (
            PATH.replace('packets" }', 'packets", reverse.delay.schedule = [{ at = "0 s", delay = "9 ms" }] }'),
            [],
            "path.toml: link.path.reverse.delay = ",
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
