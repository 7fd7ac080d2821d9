#!/usr/bin/env python3
"""Fills in the tables of the reference pages from the code, between their markers.

    python docs/reference/make.py          # rewrite what has changed
    python docs/reference/make.py --check  # say which pages are out of date; exit code 1 if any is

A page holds prose and, for each table, a pair of markers: ``<!-- made: NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import inspect
import re
import sys
from dataclasses import asdict
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tightlink import _core, units
from tightlink.analysis.responses.nist import RESPONSES
from tightlink.cli import app, default_text
from tightlink.scenario import PARAMETERS, PROFILES, Scenario
from tightlink.scenario.congestion import Option, options
from tightlink.scenario.networks import networks
from tightlink.scenario.queues import KINDS as QUEUES
from tightlink.scenario.toml import literal
from tightlink.scenario.transfers import PAIRS
from tightlink.studies import named
from tightlink.studies import names as studies
from tightlink.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tightlink.scenario import Profile

HERE: Final = Path(__file__).resolve().parent
_REGION: Final = re.compile(r"(<!-- made: ([\w.-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_SCHEMA: Final = Scenario.json_schema()
_DEFAULT: Final = re.compile(r" \(default:? ([^()]*)\)")

#: The tables of a scenario: where they stand, and the model that says what they may hold.
KEYS: Final = {
    "scenario": "Scenario",
    "link": "Link",
    "reverse": "Reverse",
    **{kind: model.__name__ for kind, model in QUEUES.items()},
    "rate-schedule": "RateSchedule",
    "rate-step": "RateStep",
    "rate-trace": "RateTrace",
    "rate-table": "RateTable",
    "aggregating": "AggregatingRate",
    "random-walk": "RandomWalk",
    "markov": "Markov",
    "rate-state": "RateState",
    "ornstein-uhlenbeck": "OrnsteinUhlenbeck",
    "delay-schedule": "DelaySchedule",
    "delay-step": "DelayStep",
    "delay-table": "DelayTable",
    "delay-random-walk": "DelayRandomWalk",
    "delay-markov": "DelayMarkov",
    "delay-state": "DelayState",
    "delay-ornstein-uhlenbeck": "DelayOrnsteinUhlenbeck",
    "delay-redraw": "DelayRedraw",
    "leo": "LeoDelay",
    "uniform-jitter": "UniformJitter",
    "normal-jitter": "NormalJitter",
    "pareto-jitter": "ParetoJitter",
    "gamma-jitter": "GammaJitter",
    "jitter-table": "JitterTable",
    "outages": "Outages",
    "outage": "Outage",
    "random-outages": "RandomOutages",
    "reorder": "Reorder",
    "shaper": "Shaper",
    "arq": "Arq",
    "gilbert-elliott": "GilbertElliott",
    "bit-errors": "BitErrors",
    "loss-pattern": "LossPattern",
    "loss-schedule": "LossSchedule",
    "loss-step": "LossStep",
    "loss-table": "LossTable",
    "framing": "Framing",
    "dumbbell": "Dumbbell",
    "chain": "Chain",
    "parking-lot": "ParkingLot",
    "fat-tree": "FatTree",
    "leaf-spine": "LeafSpine",
    "graph": "Graph",
    "edge": "Edge",
    "graph-link": "GraphLink",
    "abilene-four-tier": "AbileneFourTier",
    "tier-link": "TierLink",
    "group": "GroupLink",
    "spread": "Spread",
    "node": "Node",
    "processor": "Processor",
    "background": "Background",
    "meter": "Meter",
    "traffic": "Flow",
    "starts": "Starts",
    "bulk": "Bulk",
    "saturate": "Saturate",
    "cbr": "Cbr",
    "on-off": "OnOff",
    "video": "Video",
    "transfers": "Transfers",
    "size-distribution": "SizeDistribution",
    "users": "Users",
    "place": "Place",
    "interface": "Interface",
    "think": "Think",
    "file": "File",
    "control": "Control",
    "patience": "Patience",
    "crowd": "Crowd",
    "long-lived": "LongLived",
    "scatter": "Scatter",
    "datagram-size": "DatagramSize",
    "tcp": "Tcp",
    "rto": "Rto",
    "udp": "Udp",
    "routing": "Routing",
    "observe": "Observe",
}
#: What every kind of traffic has: listed once.
_SHARED: Final = ("from", "to", "flows", "start", "stop", "path", "reverse_path", "dscp", "tcp", "udp")
_OF_TRAFFIC: Final = ("Flow", "Bulk", "Saturate", "Cbr", "OnOff", "Video")
#: Defaults that are words, not values.
_WORDS: Final = ("nothing", "none", "without end", "no series", "the duration", "the rest", "the first", "never")
#: The section of scenario.md that explains a model.
_SECTIONS: Final = {
    "Reverse": "reverse",
    **{model.__name__: "queues" for model in QUEUES.values()},
    "Framing": "framing",
    **dict.fromkeys(
        ("RateSchedule", "RateStep", "RateTrace", "RateTable", "AggregatingRate", "RandomWalk", "Markov", "RateState"),
        "rates-that-change",
    ),
    "OrnsteinUhlenbeck": "rates-that-change",
    **dict.fromkeys(
        (
            "DelaySchedule",
            "DelayStep",
            "DelayTable",
            "DelayRandomWalk",
            "DelayMarkov",
            "DelayState",
            "DelayOrnsteinUhlenbeck",
            "DelayRedraw",
            "LeoDelay",
        ),
        "delays-that-change",
    ),
    **dict.fromkeys(("UniformJitter", "NormalJitter", "ParetoJitter", "GammaJitter", "JitterTable"), "jitter"),
    **dict.fromkeys(("GilbertElliott", "BitErrors", "LossPattern", "LossSchedule", "LossStep", "LossTable"), "losses"),
    **dict.fromkeys(("Outages", "Outage", "RandomOutages"), "outages"),
    "Reorder": "packets-out-of-order",
    "Shaper": "shaper",
    "Arq": "retransmissions-of-a-link",
    "Duplex": "link",
    "GroupLink": "access-and-hop",
    "GroupReverse": "access-and-hop",
    "Spread": "access-and-hop",
    "Edge": "edges-of-a-graph",
    "GraphLink": "links-of-a-graph",
    "TierLink": "links-of-the-four-tiers",
    "Starts": "start",
    "Place": "places",
    "Interface": "interfaces",
    "Think": "think",
    "File": "files",
    "Control": "controls",
    "Patience": "patience",
    "Crowd": "crowd",
    "LongLived": "long-lived-transfers",
    "SizeDistribution": "sizes-of-transfers",
    "DatagramSize": "sizes",
    "Tcp": "tcp",
    "Udp": "udp",
    "Rto": "rto",
    "Observe": "observe",
    "Routing": "routing",
    "Processor": "processor",
    "Background": "background",
    "Meter": "meter",
}


#: How names are written, of which a schema knows only that they are text.
_NAMES: Final = {
    "profile": tuple(PROFILES),
    "congestion": tuple(name for name, _ in _core.congestion()),
    "recovery": tuple(name for name, _ in _core.recoveries()),
    "slow_start": ("standard", "byte-counting", "hystart", "hystart++", "search", "rapid", "limited"),
    "distribution": ("exponential", "pareto"),
    "average": ("window", "exponential"),
    "from": ("sender", "net.left[*]"),
    "to": ("receiver", "net.right[*]"),
}
_FORMS: Final = {
    "ends": '`["sender", "receiver"]`',
    "path": '`["first", "second"]`',
    "reverse_path": '`["second.reverse", "first.reverse"]`',
    "loss": '`0.01`, `"1 %"` or [table](#losses)',
    "GroupLink.loss": '`0.01`, `"1 %"` or [table](#losses) or a list of them',
    **dict.fromkeys(("duplicate", "Reorder.probability"), '`0.01`, `"1 %"`'),
    **dict.fromkeys(("LossStep.loss", "to_bad", "to_good", "loss_good", "loss_bad"), '`0.01`, `"1 %"`'),
    "BitErrors.rate": "`1e-6`",
    **dict.fromkeys(("Link.rate", "Reverse.rate"), '`"2 Mbit/s"`, `"20 packets/ms"` or [table](#rates-that-change)'),
    **dict.fromkeys(("Link.delay", "Reverse.delay"), '`"10 ms"`, `"5 us"` or [table](#delays-that-change)'),
    "jitter": '[table](#jitter) or `"none"`',
    "arq": '[table](#retransmissions-of-a-link) or `"none"`',
    "outages": '[table](#outages) or `"none"`',
    "GroupLink.outages": '[table](#outages) or `"none"` or a list of them',
    **dict.fromkeys(("Link.reorder", "Reverse.reorder"), '[table](#packets-out-of-order) or `"none"`'),
    "shaper": '[table](#shaper) or `"none"`',
    "RateSchedule.schedule": "[list of steps](#rates-that-change)",
    "DelaySchedule.schedule": "[list of steps](#delays-that-change)",
    "Markov.states": "[list of states](#rates-that-change)",
    "DelayMarkov.states": "[list of states](#delays-that-change)",
    "Outages.schedule": "[list of outages](#outages)",
    "Arq.retransmissions": "`7`",
    "GammaJitter.shape": "`2.0`",
    "DelayOrnsteinUhlenbeck.deviation": '`"5 ms"`',
    "RateTrace.trace": '`"downlink.trace"`',
    **dict.fromkeys(("RateTable.table", "DelayTable.table", "LossTable.table"), '`"lte.csv"`, `"lte.parquet"`'),
    "deviation": "`0.2`",
    "OnOff.distribution": '`"exponential"`, `"pareto"`, `"constant"`',
    "ParetoJitter.shape": "`2.5`",
    **dict.fromkeys(("OrnsteinUhlenbeck.mean", "OrnsteinUhlenbeck.deviation"), '`"20 Mbit/s"`'),
    **dict.fromkeys(
        ("NormalJitter.mean", "NormalJitter.deviation", "ParetoJitter.mean", "UniformJitter.most"), '`"5 ms"`'
    ),
    **dict.fromkeys(("RateStep.at", "DelayStep.at"), '`"2 s"`, `"150 ms"`'),
    "JitterTable.quantiles": '`["0 ms", "1 ms", "9 ms"]`',
    "RateState.mean": '`"2 s"`',
    **dict.fromkeys(("LossPattern.from", "LossPattern.to", "LossStep.at", "Outage.at"), '`"2 s"`, `"150 ms"`'),
    "LossPattern.packets": "`[3, 7, 8]`",
    "LossSchedule.schedule": "[list of steps](#losses)",
    "weight": "`0.002`",
    "gamma": "`0.001`",
    "alpha": "`0.1`",
    "phi": "`1.001`",
    "max_probability": '`0.1`, `"10 %"`',
    "shape": "`1.5`",
    "frames_per_second": "`25`",
    "key_frame_ratio": "`5`",
    "variation": "`0.2`",
    "guaranteed": '`0.05`, `"5 %"`',
    "TierLink.queue": '`"20 packets"`, `"64 KiB"`, `"unlimited"` or [table](#queues), with a limit or without',
    "at": '`"net.fast[*]"`, `["a", "b"]`',
    "share": '`0.2`, `"20 %"`',
    "sending_at_start": '`0.2`, `"20 %"`',
    "periods": '`{ calm = ["10 min", "15 min"] }`',
    "DualPi2.alpha": "`0.16`",
    "beta": "`3.2`",
    "coupling": "`2`",
    "classic_share": '`0.1`, `"10 %"`',
    "weights": "`{ EF = 3, CS1 = 0.5 }`",
    "Drr.mark": '`"20 packets"` or `{ EF = "5 packets", others = "0.2 BDP" }`',
    "Strict.mark": '`"20 packets"` or `{ EF = "5 packets", others = "0.2 BDP" }`',
    "order": '`["EF", "AF41"]`',
    "l4s": '`["EF"]`',
    "dscp": '`"EF"`, `"AF41"`, `"CS1"`',
    "pairs": ", ".join(f'`"{name}"`' for name in PAIRS),
    "Dumbbell.pairs": "whole number",
    "ParkingLot.pairs": "whole number",
    "Chain.pairs": "whole number",
    "spacing": '`"poisson"`, `"fixed"`',
    "load": '`0.5`, `"50 %"`',
    "of": '`"bottleneck"`, `"net.host_link[*]"`',
    "times": '`["0 s", "10 ms"]`',
    "size_classes": '`["10 kB", "1 MB"]`',
    "points": '`[["1 kB", 0.5], ["1 MB", 1]]`',
    "SizeDistribution.file": '`"sizes.csv"`',
    "Transfers.from": '`"net.host[*]"`, `["a", "b"]`',
    "Transfers.to": '`"net.host[*]"`, `["a", "b"]`',
    "LongLived.from": '`"net.direct[0]"`',
    "LongLived.to": '`"net.direct[3]"`',
    "LongLived.interface": '`"fast"`',
    "seed": "`1`",
    "file": '`"abilene.graphml"`',
    "rate_from": '`"bandwidth"`',
    "delay_from": '`"latency"`, `"coordinates"`',
    "routers": '`["Chicago", "Denver"]`',
    "edges": "list of [tables](#edges-of-a-graph)",
    **dict.fromkeys(("backbone_factor", "fast_factor", "direct_factor", "delay_factor"), "`2`, `1.5`"),
    **dict.fromkeys(("pop_divisor", "normal_divisor"), "`4`, `2.5`"),
}
#: Tables of a scenario that hold one for each name.
_NAMED: Final = ("topology", "link", "node", "traffic")
#: Keys that a reader wants to see first.
_FIRST: Final = (
    "kind", "profile", "duration", "ends", "from", "to", "pairs", "cross", "hops", "k", "file", "speed", "variant",
    "rate", "interval", "delay",
)  # fmt: skip
#: Tables of which all keys are filled in alike.
_DEFAULTS: Final = {"Tcp": "the profile's", "Rto": "the profile's", "Reverse": "as forward"}


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    cells = ([cell.replace("|", r"\|") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


def code(text: str) -> str:
    """Text as code."""
    return f"`{text}`"


def keys(name: str) -> str:
    """The keys of a table of a scenario: how each is written, its default, what it means."""
    model = KEYS[name]
    own = _SCHEMA if model == "Scenario" else _SCHEMA["$defs"]["Bulk" if model == "Flow" else model]
    wanted = [key for key in own["properties"] if (key in _SHARED) == (model == "Flow") or model not in _OF_TRAFFIC]
    wanted.sort(key=lambda key: _FIRST.index(key) if key in _FIRST else len(_FIRST))
    rows = []
    for key in wanted:
        value = own["properties"][key]
        text = _plain(value.get("description", "Says which kind it is."))
        found = _DEFAULT.search(text)
        if key in own.get("required", ()) or key == "kind":
            default = "needed"
        elif model in _DEFAULTS or key == "payload":
            default = _DEFAULTS.get(model, "the profile's")
        elif found:
            default = _default(found[1].strip('"'))
        else:
            default = _default(_value(value.get("default")))
        written = f"`{key}.NAME`" if model == "Scenario" and key in _NAMED else _written(model, key, value)
        rows.append([code(key), written, default, _DEFAULT.sub("", text)])
    return table(["key", "written as", "default", "meaning"], rows)


def _default(text: str) -> str:
    return code(text) if re.fullmatch(r"[\w.]+( [A-Za-z]+)?", text) and text not in _WORDS else text


def _value(value: object) -> str:
    if value is None or value == {}:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _plain(text: str) -> str:
    return re.sub(r"\{ (.*?) \}", r"`{ \1 }`", " ".join(text.replace("``", "`").split()))


def _written(model: str, key: str, value: Mapping[str, Any]) -> str:
    if own := _FORMS.get(f"{model}.{key}"):
        return own
    if key in _NAMES:
        return ", ".join(code(f'"{name}"') for name in _NAMES[key])
    return _FORMS.get(key) or " or ".join(dict.fromkeys(form for form in _forms(value) if form))


def _forms(value: Mapping[str, Any]) -> Iterable[str]:
    choices = value.get("anyOf", value.get("oneOf"))
    if choices is not None:
        return [form for choice in choices for form in _forms(choice)]
    if "$ref" in value:
        model = value["$ref"].rpartition("/")[2]
        if model not in _SECTIONS:
            raise LookupError(f"{model}: _SECTIONS lacks the section of scenario.md that explains it")
        return [f"[table](#{_SECTIONS[model]})"]
    if value.get("type") == "object":
        return [f"{form} for each `NAME`" for form in _forms(value["additionalProperties"])]
    examples = value.get("enum") or value.get("examples") or ([value["const"]] if "const" in value else [])
    forms = {"null": "", "array": "a list of them", "boolean": "`true`, `false`", "integer": "whole number"}
    return [", ".join(code(f'"{one}"') for one in examples) or forms[value["type"]]]


def unit_table(_: str) -> str:
    """Every unit, and how else it may be spelled."""
    rows = []
    for kind in (
        units.RATE,
        units.PACKET_RATE,
        units.ARRIVAL_RATE,
        units.TIME,
        units.SIZE,
        units.PACKETS,
        units.FRACTION,
        units.BDP,
    ):
        others: dict[str, list[str]] = {}
        for spelling, canonical in kind.spellings.items():
            if spelling != canonical:
                others.setdefault(canonical, []).append(spelling)
        known = ", ".join(code(unit) for unit in kind.units)
        also = ", ".join(code(spelling) for spellings in others.values() for spelling in spellings)
        rows.append([kind.name, code(f'"{kind.example}"'), known, also])
    return table(["quantity", "example", "units", "also understood"], rows)


def columns(name: str) -> str:
    """The columns of a table of a run."""
    return table(["column", "type", "meaning"], ([code(c.name), c.type, c.help] for c in TABLES[name]))


def listed(name: str) -> str:
    """What ``tightlink list NAME`` prints, as a table."""
    lists = {
        "congestion": _core.congestion,
        "queues": _core.queues,
        "recovery": _core.recoveries,
        "studies": studies,
        "series": _core.metrics,
    }
    return table(["name", "what"], ([code(key), text] for key, text in lists[name]()))


def _range(option: Option) -> str:
    if option.unit == "switch":
        return "`true`, `false`"
    return f"{code(option.written(option.least))} to {code(option.written(option.most))}"


def congestion_options(_: str) -> str:
    """Every option of every congestion control."""
    rows = [
        [code(name), code(option.name), code(option.written(option.default)),
         _range(option), option.help]
        for name, _ in _core.congestion()
        for option in options(name).values()
    ]  # fmt: skip
    return table(["kind", "option", "default", "range", "meaning"], rows)


def study_options(_: str) -> str:
    """The options of each study that has some."""
    rows = [
        [code(name), code(f"--{option}"), text] for name, _ in studies() for option, text in named(name).options.items()
    ]
    return table(["study", "option", "meaning"], rows)


def command(name: str) -> str:
    """What a command takes."""
    rows = []
    own = app
    for word in name.split("."):
        own = own[word]
    for argument in own.assemble_argument_collection(parse_docstring=True):
        # What holds options is none itself.
        if argument.children:
            continue
        positional = argument.field_info.kind is Parameter.POSITIONAL_OR_KEYWORD
        shown = argument.names[0].removeprefix("--").upper() if positional else ", ".join(argument.names)
        default = argument.field_info.default
        written = "needed" if argument.required else "" if default is Parameter.empty else default_text(default) or ""
        rows.append([code(shown), _plain(argument.parameter.help or ""), written])
    # A command that has others below it says of all of them what they are for.
    text = inspect.getdoc(own.default_command) if own.default_command else own.help
    return f"{str(text).partition('Args:')[0].strip()}\n\n" + table(["argument", "meaning", "default"], rows)


def profiles(_: str) -> str:
    """Every default of every profile, side by side."""
    columns = [_defaults(profile) for profile in PROFILES.values()]
    rows = ([code(key), *(column[key] for column in columns)] for key in columns[0])
    return table(["key", *(code(name) for name in PROFILES)], rows)


def parameters(_: str) -> str:
    """The twenty parameters of the four-tier network, with their levels, their origin and the reason."""
    rows = [
        [f"{each.id} {each.name}", code(name), _plain(each.meaning), _level(each.low), _level(each.high),
         each.origin, each.reason]
        for name, each in PARAMETERS.items()
    ]  # fmt: skip
    header = ["in the document", "key", "what it is", "low", "high", "known of its levels there", "why these"]
    return table(header, rows)


def _level(value: Any) -> str:
    if value in (None, {}):
        return "none"
    if isinstance(value, dict) and isinstance(next(iter(value.values())), dict):
        return "<br>".join(f"{key} {_level(item)}" for key, item in value.items())
    if isinstance(value, dict):
        inside = ", ".join(f"{key} = {_level(item).strip('`')}" for key, item in value.items())
        return code(f"{{ {inside} }}")
    if isinstance(value, float):
        return code(f"{value:g}")
    return code(f'"{value}"' if isinstance(value, str) else _value(value))


def responses(_: str) -> str:
    """The 22 responses of NIST SP 500-282 with their numbers."""
    rows = ([each.number, each.summary, code(each.name), each.meaning] for each in RESPONSES)
    return table(["correlations", "summary", "name", "meaning"], rows)


def ready_networks(_: str) -> str:
    """Every ready network: its keys, their values and where these are from."""
    return "\n".join(
        f"### {name}\n\n{network.title}: {network.about}. "
        f"Forward is from `{network.ends[0]}` to `{network.ends[1]}`.\n\n"
        + table(
            ["key", "value", "where it is from"],
            ([code(key), code(literal(value)), source] for key, value, source in network.rows()),
        )
        for name, network in networks().items()
    )


def profile_headers(_: str) -> str:
    """What a profile adds to payloads, and its help."""
    rows = []
    for profile in PROFILES.values():
        tcp, udp = profile.tcp, profile.udp
        rows.append(
            [code(profile.name), f"{tcp.header_bytes} B", f"{tcp.ack_bytes} B", f"{udp.header_bytes} B",
             f"{udp.fragment_header_bytes} B"]
        )  # fmt: skip
    header = ["profile", "each TCP segment", "ACK or SYN", "UDP datagram", "each further fragment"]
    return table(header, rows)


def _defaults(profile: Profile) -> dict[str, str]:
    rows = {"link.NAME.queue": profile.queue, "link.NAME.mtu": profile.mtu or "none"}
    tcp = asdict(profile.tcp)
    rto, of_controls = tcp.pop("rto"), tcp.pop("control_options")
    for key, value in tcp.items():
        if not key.endswith("_bytes"):
            name = key.replace("_of_others", ", with other congestion controls than this profile's")
            rows[f"traffic.NAME.tcp.{name}"] = "the window" if value is None else _value(value)
    chosen = [
        f"{control}:{name}={known.written(own[name])}"
        for control, own in of_controls.items()
        for name, known in options(control).items()
        if name in own
    ]
    rows["traffic.NAME.tcp.congestion, options that are not the control's own"] = " ".join(chosen) or "none"
    rows |= {f"traffic.NAME.tcp.rto.{key}": value for key, value in rto.items()}
    rows["traffic.NAME.udp.payload"] = profile.udp.payload
    return rows


_MAKERS: Final = {
    "keys": keys,
    "units": unit_table,
    "columns": columns,
    "list": listed,
    "congestion-options": congestion_options,
    "command": command,
    "study-options": study_options,
    "profiles": profiles,
    "headers": profile_headers,
    "networks": ready_networks,
    "parameters": parameters,
    "responses": responses,
}


def filled(text: str) -> str:
    """A page with its tables made again."""

    def made(match: re.Match[str]) -> str:
        maker, _, name = match[2].partition(".")
        return f"{match[1]}\n{_MAKERS[maker](name)}\n{match[3]}"

    return _REGION.sub(made, text)


def stale() -> dict[Path, str]:
    """The pages that are out of date, with what they should say."""
    pages = {page: page.read_text(encoding="utf-8") for page in sorted(HERE.glob("*.md"))}
    return {page: filled(text) for page, text in pages.items() if filled(text) != text}


def main() -> int:
    """Rewrite the pages, or check them."""
    check = "--check" in sys.argv[1:]
    for page, text in stale().items():
        print(f"{page.name}: {'out of date' if check else 'rewritten'}")
        if not check:
            page.write_text(text, encoding="utf-8")
    return int(check and bool(stale()))


if __name__ == "__main__":
    sys.exit(main())
