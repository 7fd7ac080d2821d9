"""The four-tier network by its twenty parameters: levels, values, scale, and the command that writes it."""

from __future__ import annotations

import json
import re
from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from statistics import fmean
from typing import Any

import pytest

import tightlink as tl
from tightlink import _core
from tightlink.analysis.responses.nist import responses
from tightlink.cli import main
from tightlink.scenario import PARAMETERS
from tightlink.scenario.four_tier.routers import kept
from tightlink.scenario.network import Network
from tightlink.scenario.paths import Router

ROUTERS = {"direct": 6, "fast": 28, "normal": 105}


def chosen(**given: Any) -> tl.FourTier:
    """Of values in the forms that files have, too."""
    return tl.FourTier(**given)


def sources(scenario: tl.Scenario) -> int:
    return sum(site["sources"] for site in scenario.resolve()["users"][0]["sites"])


def test_the_twenty_are_in_order_and_of_one_type() -> None:
    assert [each.id for each in PARAMETERS.values()] == [f"X{place}" for place in range(1, 21)]
    assert [*PARAMETERS, "scale", "routers", "nist"] == list(tl.FourTier.model_fields)
    for name, each in PARAMETERS.items():
        assert each.low != each.high
        for level, value in (("low", each.low), ("high", each.high)):
            by_level, by_value = chosen(**{name: level}), chosen(**{name: value})
            assert by_level.value(name) == by_value.value(name)
            assert by_level.scenario() == by_value.scenario()


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_changes_what_is_simulated(name: str) -> None:
    assert chosen(**{name: "high"}).scenario().resolve() != chosen(**{name: "low"}).scenario().resolve()


def test_the_largest_condition_of_experiment_1a() -> None:
    largest = tl.FourTier(network_speed="high", sources="high", source_distribution="high").scenario()
    assert sources(largest) == 278_000
    backbone = next(link for link in largest.resolve()["links"] if link["name"] == "net.backbone_link[0]")
    assert (backbone["rate_pps"], backbone["rate_bps"]) == (16e6, 192e9)


def test_the_sources_of_experiment_2a() -> None:
    """300 a router, three shares of them: 89 at normal routers would be the document's 26,085, and 90 is three tenths."""
    web = tl.FourTier(sources=300).scenario()
    assert sources(web) == 6 * 270 + 28 * 540 + 105 * 90 == 26_190


@pytest.mark.parametrize("scale", [1.0, 0.1, 0.01])
def test_scale_divides_sources_speeds_and_buffers(scale: float) -> None:
    parts = tl.FourTier(buffers="high", source_distribution="high", receiver_distribution="high", scale=scale)
    resolved = parts.scenario().resolve()
    users = resolved["users"][0]
    assert {(site["sources"], site["receivers"]) for site in users["sites"]} == {(1000 * scale, 4000 * scale)}
    assert len(users["sites"]) == sum(ROUTERS.values())
    rates = {link["name"].partition("[")[0]: link["rate_pps"] for link in resolved["links"]}
    full = {"backbone": 8e6, "pop": 1e6, "direct": 1e6, "fast": 2e5, "normal": 1e5}
    assert rates == pytest.approx({f"net.{group}_link": rate * scale for group, rate in full.items()})
    queue = next(link["queue"]["limit"]["packets"] for link in resolved["links"] if "direct_link" in link["name"])
    round_trip = float(str(parts.scenario().explicit().written()["topology"]["net"]["rtt"]).removesuffix(" ms")) / 1e3
    assert queue == pytest.approx(1e6 * scale * round_trip, rel=0.05)
    # What a user sees of the network's edge stays.
    assert [kind["rate_pps"] for kind in users["interfaces"]] == [8e3, 80e3]


PARTS = {1 / 6: (2, 4, 17), 1 / 3: (2, 9, 35), 0.5: (3, 14, 52), 5 / 6: (5, 23, 87)}


@pytest.mark.parametrize("part", PARTS)
def test_fewer_routers_are_each_what_they_are(part: float) -> None:
    whole = tl.FourTier(scale=0.1, buffers="high", crowd="high", long_lived_flows=True)
    thin = whole.model_copy(update={"routers": part})
    (all_users,), (users,) = whole.scenario().resolve()["users"], thin.scenario().resolve()["users"]
    kept = {site["node"]: site for site in users["sites"]}
    assert [site for site in all_users["sites"] if site["node"] in kept] == users["sites"]
    assert tuple(Counter(site["class"] for site in users["sites"]).values()) == PARTS[part]
    assert thin.scenario().resolve()["links"] == whole.scenario().resolve()["links"]
    assert {key: users[key] for key in ("interfaces", "think", "files", "tcp")} == {
        key: all_users[key] for key in ("interfaces", "think", "files", "tcp")
    }
    # The crowd is in proportion, and each direct router is an end of at most one transfer without end.
    assert users["crowd"]["sites"] == list(range(round(6 * part)))
    ends = [flow[end] for flow in users["long_lived"] for end in ("from", "to")]
    assert len(ends) == len(set(ends)) == PARTS[part][0] // 2 * 2
    assert set(ends) <= set(range(PARTS[part][0]))


@pytest.mark.parametrize("sources", ["low", "high"])
@pytest.mark.parametrize("receivers", ["low", "high"])
@pytest.mark.parametrize("part", PARTS)
def test_a_router_has_the_load_that_it_has_in_the_whole_network(part: float, sources: str, receivers: str) -> None:
    """What is sent to a receiver is all that is sent, over all receivers: within 3 %, whole numbers allow no more."""

    def load(part: float) -> float:
        chosen = tl.FourTier(scale=0.1, routers=part, source_distribution=sources, receiver_distribution=receivers)  # type: ignore[arg-type]
        (users,) = chosen.scenario().resolve()["users"]
        return float(
            sum(site["sources"] for site in users["sites"]) / sum(site["receivers"] for site in users["sites"])
        )

    assert load(part) == pytest.approx(load(1.0), rel=0.03)


@pytest.mark.parametrize("variant", ["abilene", "isp"])
def test_direct_routers_that_are_kept_are_as_far_apart_as_all(variant: str) -> None:
    """Of all sets of so many, by the class of paths whose mean round trip is farthest off."""
    network = Network(chosen(topology=variant).scenario().explicit())
    router = Router.of(network)

    def round_trip(one: str, other: str) -> float:
        ends = network.nodes[one], network.nodes[other]
        there, back = router.path(*ends) or [], router.path(*reversed(ends)) or []
        return sum(network.hops[hop].delay for hop in (*there, *back))

    others = {name: [f"net.{name}[{index}]" for index in range(size)] for name, size in ROUTERS.items()}
    trips = {pair: round_trip(*pair) for name in ROUTERS for pair in product(others["direct"], others[name])}

    def means(direct: tuple[int, ...]) -> list[float]:
        ends = [f"net.direct[{index}]" for index in direct]
        targets = others | {"direct": ends}
        return [fmean(trips[pair] for pair in product(ends, targets[name]) if pair[0] != pair[1]) for name in ROUTERS]

    whole = means(tuple(range(6)))

    def farthest(direct: tuple[int, ...]) -> float:
        return max(abs(own / of_all - 1) for own, of_all in zip(means(direct), whole, strict=True))

    for count in (2, 3, 4, 5):
        assert min(combinations(range(6), count), key=farthest) == kept(variant, Fraction(count, 6))["direct"]


def test_a_scale_says_what_it_distorts(capsys: pytest.CaptureFixture[str]) -> None:
    """Experiment 1b at 1/100, its slow network: the figures are those of the two scenarios."""
    small = tl.FourTier(network_speed="6000 packets/ms", sources="high", scale=0.001)
    said = small.distortion(of=0.1)
    assert said is not None
    figures = []
    for scale in (0.001, 0.1):
        resolved = small.model_copy(update={"scale": scale}).scenario().resolve()
        behind = {site["class"]: site["sources"] for site in resolved["users"][0]["sites"]}
        link = next(link for link in resolved["links"] if link["name"] == "net.normal_link[0]")
        interface = resolved["users"][0]["interfaces"][0]["rate_pps"] / link["rate_pps"]
        in_a_round_trip = f"{link['rate_pps'] * 0.0231:.3g}"
        queue = link["queue"]["limit"]["packets"]
        figures.append(("/".join(str(behind[place]) for place in range(3)), queue, in_a_round_trip, f"{interface:.2g}"))
    for own, whole in zip(*figures, strict=True):
        assert f"{own} (at scale 0.1: {whole})" in said
    assert small.distortion(of=0.001) is None
    assert tl.FourTier(routers=0.5).distortion() is None
    assert main(["new", "four-tier", "--scale", "0.1", "--set", "sources=high"]) == 0
    assert str(tl.FourTier(scale=0.1, sources="high").distortion()) in " ".join(capsys.readouterr().err.split())
    assert main(["new", "four-tier"]) == 0
    assert capsys.readouterr().err == ""


def test_what_nist_does_otherwise() -> None:
    """After a timeout the initial window, one slow start for all controls, H-TCP without its scaling."""
    usual, nist = (
        tl.FourTier(initial_window="high", nist=nist).scenario().resolve()["users"][0] for nist in (False, True)
    )
    assert nist["tcp"] == usual["tcp"] | {"loss_window_packets": 4.0}
    assert nist["controls"] == usual["controls"]

    def controls(chosen: Any) -> list[Any]:
        users = tl.FourTier(congestion=chosen, nist=True).scenario().resolve()["users"][0]
        return [each["congestion"] for each in users["controls"]]

    (fast,) = controls("fast")
    assert (fast["kind"], fast["mi_threshold"], fast["alpha"]) == ("fast", 1000.0, 200.0)
    (own,) = controls({"kind": "fast", "mi_threshold": "1 ms"})
    assert own["mi_threshold"] == 0.001
    htcp, reno = controls({"htcp": 0.5, "reno": 0.5})
    assert (htcp["kind"], htcp["low_speed_scaling"], htcp["rtt_scaling"], htcp["bandwidth_switch"]) == ("htcp", 0, 0, 1)
    assert reno == "reno"


def test_periods_follow_the_duration() -> None:
    low = tl.FourTier(crowd="high").scenario().resolve()
    assert [(period["start_s"], period["stop_s"]) for period in low["observe"]["periods"]] == [
        (600.0, 900.0), (900.0, 1200.0), (1200.0, 1500.0),
    ]  # fmt: skip
    crowd = low["users"][0]["crowd"]
    assert (crowd["start_s"], crowd["stop_s"], crowd["mean_packets"]) == (900.0, 1200.0, 100_000.0)
    assert crowd["sites"] == [0, 1, 2, 3, 4, 5]
    long = tl.FourTier(duration="1 h").scenario().resolve()
    assert [period["start_s"] for period in long["observe"]["periods"]] == [1440.0, 2160.0, 2880.0]


def test_values_of_their_own() -> None:
    scenario = chosen(
        network_speed="9.6 Gbit/s",
        larger_files={"movie": {"share": 0.01, "times": 100}},
        patience=tl.Patience(least="1 min", rate="1 packet/s"),
        congestion={"reno": 0.75, "cubic": "25 %"},
        source_distribution=tl.Distribution(direct=1, fast=0, normal=1),
        long_lived_flows=True,
        sources=10,
    ).scenario()
    resolved = scenario.resolve()
    (users,) = resolved["users"]
    assert resolved["links"][0]["rate_bps"] == 19.2e9
    assert [(file["name"], file["mean_packets"]) for file in users["files"]] == [
        ("web-object", 50.0),
        ("movie", 5000.0),
    ]
    assert users["files"][0]["share"] == 0.99
    assert users["patience"] == {"least_s": 60.0, "packets_per_s": 1.0}
    assert users["controls"] == [{"share": 0.75, "congestion": "reno"}, {"share": 0.25, "congestion": "cubic"}]
    assert {site["class"]: site["sources"] for site in users["sites"]} == {0: 15, 1: 0, 2: 15}
    assert [(flow["from"], flow["to"]) for flow in users["long_lived"]] == [(0, 3), (1, 4), (2, 5)]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"network_speed": "hgh"}, 'network_speed = "hgh": expected one of low, high; did you mean "high"?'),
        (
            {"network_speed": 3},
            'expected a unit, too: a rate such as "2 Mbit/s" or a packet rate such as "20 packets/ms"',
        ),
        ({"netwrk_speed": "low"}, "unknown key; expected one of network_speed, propagation_delay, buffers, "),
        ({"scale": 2}, "scale = 2: expected a number above 0 and up to 1"),
        (
            {"scale": 0.001},
            "scale = 0.001: expected a scale that keeps the order of the levels of buffers: low and high have 3 and 3 "
            "packets in the queue of a normal router, in the whole network 74 and 2310",
        ),
        (
            {"scale": 0.001, "buffers": "rtt*c"},
            "of source_distribution: low and high have 167 and 139 sources, in the whole network 87300 and 139000",
        ),
        ({"nist": "yes"}, 'nist = "yes": expected true or false'),
        ({"routers": 0}, "routers = 0: expected a number above 0 and up to 1"),
        ({"routers": "half"}, 'routers = "half": expected a number above 0 and up to 1'),
        ({"sources": 0}, "expected a whole number from 1 to 1000000"),
        ({"topology": "isb"}, 'expected one of abilene, isp; did you mean "isp"?'),
        ({"patience": {"least": "3 s"}}, "patience.rate: this key is needed"),
        ({"crowd": "on"}, 'crowd = "on": expected a table'),
        ({"congestion": {"reno": 2}}, "congestion.reno = 2: expected a fraction"),
        ({"congestion": {"reno": 0.5, "cubic": 0.6}}, "traffic.users.controls: expected shares that sum to 1, not 1.1"),
        ({"larger_files": {"movie": {"share": 0.1}}}, "larger_files.movie.times: this key is needed"),
        ({"source_distribution": {"direct": 0, "fast": 0, "normal": 0}}, "expected at least one source somewhere"),
    ],
)
def test_what_is_wrong(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(tl.ScenarioError) as caught:
        chosen(**given).scenario().resolve()
    assert sentence in str(caught.value)


def test_the_command_writes_the_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    options = [
        "--set",
        "network_speed=high",
        "--set",
        "larger_files.movie.share=0.1",
        "--set",
        "larger_files.movie.times=9",
    ]
    assert main(["new", "four-tier", *options, "--scale", "0.1"]) == 0
    text = capsys.readouterr().out
    movie = {"movie": {"share": 0.1, "times": 9}}
    assert tl.loads(text) == chosen(network_speed="high", larger_files=movie, scale=0.1).scenario()
    assert "#   X1 network_speed = high\n" in text
    assert re.findall(r"^# .* (\d[.\d]*), by", text, re.MULTILINE) == ["0.1"]
    assert main(["new", "four-tier", "--routers", "1/3"]) == 0
    text = capsys.readouterr().out
    assert tl.loads(text) == tl.FourTier(routers=1 / 3).scenario()
    assert "with 0.3333 of its access routers" in text
    assert main(["new", "four-tier", "--scale", "0.001"]) == 2
    assert "expected a scale that keeps the order" in capsys.readouterr().err
    assert main(["new", "four-tier", "--routers", "third"]) == 2
    assert '--routers = "third": expected a part of the access routers' in capsys.readouterr().err
    assert main(["new", "four-tier", "--set", "routers=0.5"]) == 2
    assert "such as --routers" in capsys.readouterr().err
    assert main(["new", "four-tier", "--set", "network_sped=high"]) == 2
    assert "network_sped: unknown key" in capsys.readouterr().err
    assert main(["list", "parameters"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(PARAMETERS)


def test_a_small_network_runs_and_responds() -> None:
    scenario = tl.FourTier(long_lived_flows="high", duration="10 s", scale=0.01).scenario()
    run = tl.simulate(scenario)
    found = {(row["period"], row["response"]): row["value"] for row in responses(run).iter_rows(named=True)}
    assert {period for period, _ in found} == {"before", "congestion", "after"}
    assert len(found) == 3 * (22 + 3)
    for period in ("before", "congestion", "after"):
        assert 0 < found[period, "share_transmitting"] < 1
        # Without queues, between the nearest and the farthest of Abilene's routers.
        propagation = found[period, "rtt_mean_s"] - found[period, "queueing_delay_mean_s"]
        assert 0.0004 < propagation < 0.055
    assert json.loads(json.dumps(run.manifest))["packet_hops"] > 0


@pytest.mark.parametrize("name", [name for name, _ in _core.congestion()])
def test_every_control_can_be_chosen(name: str) -> None:
    """Also the one that begins like a level: highspeed."""
    assert tl.FourTier(congestion=name).scenario().written()["traffic"]["users"]["tcp"]["congestion"] == name


def test_the_command_refuses_an_unknown_control(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "four-tier", "--set", "congestion=hihg"]) == 2
    assert "expected one of reno, cubic, bic" in capsys.readouterr().err


def test_a_crowd_is_seen_from_its_period_on() -> None:
    def values(crowd: str) -> dict[tuple[str, str], float]:
        found = responses(tl.simulate(chosen(crowd=crowd, duration="50 s", scale=0.01).scenario()))
        return {
            (period, name): value for period, name, value in found.select("period", "response", "value").iter_rows()
        }

    without, crowded = values("low"), values("high")
    change = {key: crowded[key] / value for key, value in without.items() if value and crowded[key]}
    assert {factor for (period, _), factor in change.items() if period == "before"} == {1.0}
    for period in ("congestion", "after"):
        assert change[period, "sources_transmitting"] > 1.05
        assert change[period, "packets_leaving"] > 1.05
        assert change[period, "transfers_completed"] < 1
