"""Models of a wire's losses: in a scenario, in what is printed of it, and in a run."""

from typing import Any

import pytest

import tightlink as tl


def over(loss: object, *, duration: str = "2 s", rate: str = "1 Mbit/s", reverse: object = None) -> tl.Scenario:
    """Datagrams of 500 B every 10 ms, 200 in two seconds, over a wire that loses some."""
    link: dict[str, object] = {"ends": ["a", "b"], "rate": rate, "loss": loss}
    if reverse is not None:
        link["reverse"] = {"loss": reverse}
    return tl.Scenario.from_dict({
        "duration": duration,
        "link": {"wire": link},
        "traffic": {"t": {"kind": "cbr", "from": "a", "to": "b", "rate": "400 kbit/s", "udp": {"datagram": "500 B"}}},
    })  # fmt: skip


def lost(loss: object, **other: Any) -> int:
    return int(tl.simulate(over(loss, **other)).links["packets_lost"][0])


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        ({"packets": [3, 7, 8]}, 3),
        ({"kind": "pattern", "packets": [3, 7, 8]}, 3),
        ({"every": 50}, 4),
        ({"packets": [1], "every": 100, "from": "1 s"}, 2),
        ({"from": "500 ms", "to": "700 ms"}, 20),
        ({"schedule": [{"at": "0 s", "loss": 0}, {"at": "500 ms", "loss": 1}], "period": "1 s"}, 100),
        ({"kind": "gilbert-elliott", "to_bad": 1, "to_good": 1, "loss_bad": 0}, 0),
        (tl.LossPattern(packets=[3], to="1 s"), 1),
    ],
    ids=str,
)
def test_what_is_chosen_is_lost(loss: object, expected: int) -> None:
    assert lost(loss) == expected


def test_a_table_replaces_the_losses_of_the_other_direction() -> None:
    scenario = over({"kind": "bit-errors", "rate": 1e-6}, reverse={"packets": [1]})
    there, back = scenario.resolve()["links"]
    assert there["loss"] == {"kind": "bit-errors", "rate": 1e-6}
    assert back["loss"] == {"kind": "pattern", "packets": [1], "every": None, "from_s": 0.0, "until_s": None}


def test_a_fraction_is_what_it_was() -> None:
    assert over("1 %").resolve()["links"][0]["loss"] == 0.01


def test_options_can_be_set_one_by_one() -> None:
    scenario = over({"kind": "gilbert-elliott", "to_bad": 0.01, "to_good": 0.5})
    assert scenario.set("link.wire.loss.loss_bad", "50 %").resolve()["links"][0]["loss"]["loss_bad"] == 0.5


WRONG = [
    (
        {"kind": "gilbert-eliot", "to_bad": 0.1, "to_good": 0.1},
        'kind = "gilbert-eliot"',
        'did you mean "gilbert-elliott"',
    ),
    ({"rate": 1e-6}, "link.wire.loss.kind", "gilbert-elliott, bit-errors, pattern"),
    ({"kind": "gilbert-elliott", "to_bad": 0.1}, "link.wire.loss.to_good", "needed"),
    ({"kind": "gilbert-elliott", "to_bad": 0.1, "to_good": 0}, "to_good = 0", "never left"),
    ({"kind": "bit-errors", "rate": 0}, "loss.rate = 0", "above 0 and below 1"),
    ({"packets": [3, 3]}, "packets = [3, 3]", "rise"),
    ({"packets": [0]}, "packets[0] = 0", "from 1"),
    ({"packets": []}, "packets", ""),
    ({"kind": "pattern"}, "link.wire.loss", "packets, every, from or to"),
    ({"from": "2 s", "to": "1 s"}, 'to = "1 s"', "after from"),
    ({"schedule": [{"at": "1 s", "loss": 0}]}, "schedule[0].at", "from the start"),
    ({"schedule": [{"at": "0 s", "loss": 0}, {"at": "0 s", "loss": 1}]}, "schedule[1].at", "after that of the step"),
    ({"schedule": [{"at": "0 s", "loss": 0}], "period": "0.5 s", "packets": [1]}, "loss.packets", ""),
    (
        {"schedule": [{"at": "0 s", "loss": 0}, {"at": "2 s", "loss": 1}], "period": "1 s"},
        'period = "1 s"',
        "last step",
    ),
    ("gilbert-elliott", 'loss = "gilbert-elliott"', "table"),
    (2, "loss = 2", "fraction from 0 to 1"),
]


@pytest.mark.parametrize(("loss", "where", "why"), WRONG, ids=lambda value: str(value)[:60])
def test_what_is_wrong_is_said_in_a_sentence(loss: object, where: str, why: str) -> None:
    with pytest.raises(tl.ScenarioError) as caught:
        over(loss).resolve()
    text = str(caught.value)
    assert where in text, text
    assert why in text, text
    assert "\n" not in text
