"""The command ``tightlink measure FILE.toml``: a scenario with real senders over emulated links."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Literal

from tightlink import units
from tightlink.commands.options import JsonOf, Names, Output, Set, changes, seconds, whole
from tightlink.commands.run_output import PRINTED, described, print_summary
from tightlink.commands.table_options import with_table_options
from tightlink.console import FAILED, print_json, print_table, print_why, rounded, say, warned, watching
from tightlink.diagnosis import why
from tightlink.diagnosis.commands import Typed
from tightlink.errors import TightlinkError
from tightlink.files import check_takes_files
from tightlink.lazy import pl
from tightlink.measure.echo import usual_interval_s
from tightlink.measure.machine import check_tun
from tightlink.measure.measuring import check, measure
from tightlink.measure.relay import InvalidMeasurementError
from tightlink.measure.system import need_linux
from tightlink.run import MEASUREMENT, Run, is_there
from tightlink.scenario import load
from tightlink.shell import quoted

#: How often it is tried where the machine was too busy.
_TRIES: Final = 3
_OFF: Final = "off"


@with_table_options
def scenario(
    file: Path,
    *,
    output: Output = None,
    set_: Set = None,
    sender: Literal["probe", "iperf3"] = "probe",
    link: Names = None,
    device: Literal["tun", "packet"] = "tun",
    repeat: int = 1,
    echo: str | None = None,
    late: str | None = None,
    json_: JsonOf = False,
) -> int:
    """Measure a scenario: real senders on this machine's own TCP and UDP, over its bottlenecks in real time.

    Args:
        file: Scenario, a TOML file.
        output: Folder to write the tables to; with --repeat a folder in it for each time. Without it nothing is
            written.
        sender: What sends: probe, whose windows are exact, or iperf3.
        link: Links to emulate (default: the slowest on the path of each flow).
        device: Devices between the hosts and the links: tun, or packet for Ethernet frames with the kernel's times.
        repeat: How many times to measure.
        echo: Interval of echoes (ICMP) beside the traffic, or off (default: 200 ms, and longer where they would take
            more than 1 % of a link).
        late: How much later than planned a packet may be forwarded before it counts as late (default: 1 % of what full
            queues take). Where more than 1 % are late, there is no result.
        json_: Print manifest, why, flows, links and nodes as JSON.
    """
    need_linux()
    whole("--repeat", repeat)
    changed = changes(set_)
    wanted, typed = load(file, set=changed), (f"tightlink run {quoted(str(file))}", changed)
    echo_s, late_s = seconds("--echo", None if echo == _OFF else echo), seconds("--late", late)
    folders = _folders(output, repeat)
    for folder in folders:
        # Looked at before: a wrong folder is not worth waiting for.
        is_there(folder, {"identity": "", "source": MEASUREMENT}, [])
        check_takes_files(folder.parent)
    plan, _ = check(wanted, sender=sender, links=link or ())
    if echo is None:
        echo_s = usual_interval_s(plan.directions)
    if device == "tun":
        check_tun()
    given: dict[str, Any] = {
        "sender": sender,
        "links": link or (),
        "device": device,
        "echo_s": echo_s,
        "late_s": late_s,
    }
    say(f"measuring in real time: {'' if repeat == 1 else f'{repeat} × '}{wanted.duration}")
    done: list[Run] = []
    try:
        for number in range(repeat):
            with watching("making the hosts") as watch:
                found = measure(wanted, **given, tries=_TRIES, watch=watch)
            if folders:
                _save(found, folders[number], typed, as_json=json_)
            done.append(found)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_kept(len(done), repeat, output)) from None
    except InvalidMeasurementError as error:
        say(f"{error}; {_kept(len(done), repeat, output)}")
        return FAILED
    _show(done, typed, as_json=json_)
    return warned(list(dict.fromkeys(text for each in done for text in each.warnings)))


def _save(found: Run, folder: Path, typed: Typed, *, as_json: bool) -> None:
    """Write a measurement; where that fails, print it, as it would be lost."""
    try:
        found.save(folder)
    except (OSError, TightlinkError):
        _show([found], typed, as_json=as_json)
        raise
    say(f"wrote {folder}")


def _kept(done: int, wanted: int, output: Path | None) -> str:
    if output is None or not done:
        return "nothing was written"
    return f"{done} of {wanted} measurements are in {output}"


def _folders(output: Path | None, repeat: int) -> list[Path]:
    if output is None:
        return []
    return [output] if repeat == 1 else [output / str(number + 1) for number in range(repeat)]


def _show(done: Sequence[Run], typed: Typed, *, as_json: bool) -> None:
    if as_json:
        tables = [described(each, PRINTED, why(each, command=typed)) for each in done]
        found, each = (tables[0], "") if len(tables) == 1 else (tables, "measurement")
        print_json(found, named=True, each=each)
    elif len(done) == 1:
        print_why(why(done[0], command=typed))
        print_summary(done[0])
    else:
        _show_all(done)


def _show_all(done: Sequence[Run]) -> None:
    """The goodput of each flow: median, least and most."""
    flows = pl.concat([each.flows.select("label", "goodput_bps", "packets_dropped") for each in done])
    goodput, dropped = pl.col("goodput_bps"), pl.col("packets_dropped")
    found = flows.group_by("label", maintain_order=True).agg(
        goodput.median().alias("median"), goodput.min().alias("least"), goodput.max().alias("most"), dropped.median()
    )
    rows = []
    for row in found.iter_rows(named=True):
        rates = [rounded(row[name], units.format_rate) for name in ("median", "least", "most")]
        rows.append([row["label"], *rates, rounded(row["packets_dropped"], lambda value: f"{value:.4g}")])
    print_table(["flow", "median goodput", "least", "most", "median dropped"], rows)
