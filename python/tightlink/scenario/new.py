"""New scenarios to start from: a download over a ready network.

Example:
    >>> print(network_toml("rack")[:85])
    # Rack in a data centre: a server at its switch, with microseconds and little buffer.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from tightlink.calls import answered
from tightlink.scenario import toml
from tightlink.scenario.as_keys import as_keys
from tightlink.scenario.links import Link
from tightlink.scenario.model import Scenario
from tightlink.scenario.networks import ReadyNetwork, ready_network
from tightlink.scenario.observe import Observe
from tightlink.scenario.traffic import Bulk


@answered(as_keys("tl.network(…).set({key}, {value})"))
def network(name: str) -> Scenario:
    """A scenario to start from: a download over a ready network, observed each 100 ms.

    Args:
        name: Of the network, as ``tightlink list networks`` has them.

    Raises:
        ScenarioError: There is no network of this name.

    Example:
        >>> import tightlink as tl
        >>> tl.network("lte").link["access"].network
        'lte'
    """
    ends = ready_network(name).ends
    return Scenario(
        profile="linux",
        duration="30 s",
        link={"access": Link(ends=ends, network=name)},
        traffic={"download": Bulk(from_=ends[0], to=ends[1])},
        observe=Observe(interval="100 ms"),
    )


def network_toml(name: str) -> str:
    """The scenario of `network` as TOML, with each key of the network written out below where its value is from."""
    ready = ready_network(name)
    head, _, after = network(name).to_toml().partition(f'network = "{name}"\n')
    lines = "\n".join(_link(ready))
    return f"# {ready.title}: {ready.about}.\n{head}{lines}\n{after}"


def _link(ready: ReadyNetwork) -> Iterator[str]:
    for key, value, source in ready.rows():
        yield from textwrap.wrap(source, 80, initial_indent="# ", subsequent_indent="# ")
        if isinstance(value, dict):
            yield from toml.lines_of(value, f"{key}.")
        else:
            yield f"{key} = {toml.literal(value)}"
