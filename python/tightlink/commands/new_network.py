"""The command ``tightlink new network``: a scenario of a ready network."""

from tightlink.commands.options import Output
from tightlink.console import print_verbatim
from tightlink.files import write_new
from tightlink.scenario.new import network_toml


def network(name: str, *, output: Output = None) -> None:
    """Print the scenario of a download over a ready network, with where its numbers are from as comments.

    Args:
        name: Its name, as "tightlink list networks" has them.
        output: File to write it to instead.
    """
    text = network_toml(name)
    if output is None:
        print_verbatim(text)
        return
    print_verbatim(f"{write_new(output, text)}\n")
