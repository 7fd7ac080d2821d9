"""The command ``tightlink emulate``."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from cyclopts import Parameter

from tightlink.commands.options import Names, Output, Set, changes, seconds
from tightlink.console import FAILED, columns_chosen, print_table, say, warned
from tightlink.errors import ScenarioError, TightlinkError, closest, one_of
from tightlink.measure.emulation import Emulation, told
from tightlink.measure.hosts import Device
from tightlink.measure.machine import check_tun
from tightlink.measure.plan import Plan
from tightlink.measure.programs import GRACE_S, Program
from tightlink.measure.relay import InvalidMeasurementError
from tightlink.measure.system import need_linux
from tightlink.run import MEASUREMENT, is_there
from tightlink.scenario import Scenario, load
from tightlink.text_table import Choice

#: What shells add to the number of a signal that ended a program.
_SIGNALLED: Final = 128
#: How often it is looked whether the link has ended, in seconds.
_LOOK_S: Final = 0.2
#: The options that are keys of the link of --trace.
_OPTIONS: Final = {"delay": "--delay", "queue": "--queue", "rate": "--trace", "reverse.rate": "--trace-down"}


def emulate(
    file: Path | None = None,
    *command: Annotated[str, Parameter(allow_leading_hyphen=True)],
    trace: Path | None = None,
    trace_down: Path | None = None,
    delay: str | None = None,
    queue: str | None = None,
    link: Names = None,
    device: Literal["tun", "packet"] = "tun",
    in_: Annotated[str | None, Parameter(name="--in")] = None,
    duration: str | None = None,
    late: str | None = None,
    burn: Annotated[bool, Parameter(negative="")] = False,
    output: Output = None,
    set_: Set = None,
) -> int:
    """Put the bottlenecks of a scenario between hosts of this machine, in real time.

    Args:
        file: Scenario, a TOML file; of its traffic who sends to whom, and how TCP begins there. None with --trace.
        command: After --, a program to run in a host, and its arguments: the links end with it, and its exit code is
            the command's. It reaches the scenario's hosts by their names, and no other network. Without a program, how
            to enter the hosts is printed, and Ctrl-C ends the links.
        trace: Instead of a scenario a single link, "link", from the host "here", where the program runs, to the host
            "there": its trace as mahimahi has it, a line for each millisecond at which 1504 bytes may leave.
        trace_down: Trace of the other direction (default: the same).
        delay: Delay of the link of --trace, in each direction, such as "20 ms" (default: none).
        queue: Queue of the link of --trace, in each direction, such as "100 packets" (default: that of the profile,
            1000 packets; that of mm-link is "unlimited").
        link: Links to emulate, instead of the slowest on the path of each flow.
        device: Kind of the devices between the hosts and the links: tun, or packet, which is more precise.
        in_: Host in which to run the program (default: the one that sends first).
        duration: When the links end, such as "10 s"; with a program, that is ended then.
        late: How much later than planned a packet may be forwarded, such as "1 ms", before it counts as late (default:
            1 % of what the path takes with full queues, at least 0.1 ms). Where more than 1 % are late, there is no
            result.
        burn: Spend the processor time that packets cost the router, instead of adding it up.
        output: Folder to write the run to, with every packet; without it nothing is written.
    """
    need_linux()
    if trace is not None and file is not None:
        # All that is no option is the command then.
        file, command = None, (str(file), *command)
    wire = {"trace": trace, "trace-down": trace_down, "delay": delay, "queue": queue}
    with _as_options(trace is not None):
        plan = Plan.of(_scenario(file, wire, changes(set_)), links=link or ())
    lasts_s, late_s = seconds("--duration", duration), seconds("--late", late)
    host = _host(list(plan.hosts), in_, command)
    if output is not None:
        # Looked at before: a wrong folder is not worth waiting for.
        is_there(output, {"identity": "new", "source": MEASUREMENT}, [])
    code = 0
    with _emulated(plan, device, duration_s=lasts_s, late_s=late_s, burn=burn, trace=output is not None) as emulation:
        if command:
            code = _run(emulation, host, command)
        else:
            _wait(emulation)
        try:
            run = emulation.finish()
        except InvalidMeasurementError as error:
            say(f"{error}; nothing is reported")
            return FAILED
    if code == 0 or run.manifest["relay"]["lateness"]["packets"]:
        # A program that failed before it sent anything has said why itself.
        say(told(run.manifest["relay"]))
    if run.manifest["relay"]["priority"] != "real-time":
        say("without the privilege of real-time priority: some packets may be milliseconds late, all else works")
    if output is not None:
        run.save(output)
        say(f"wrote {output}")
    found = warned(run.warnings)
    return code if command else found


def _emulated(plan: Plan, device: Device, **options: Any) -> Emulation:
    """The links at work; where the machine has no devices of this kind, an error that says what works instead."""
    try:
        return Emulation(plan, device, **options)
    except ScenarioError:
        raise
    except TightlinkError:
        if device == "tun":
            check_tun()
        raise


def _scenario(file: Path | None, wire: "dict[str, Path | str | None]", set_: "dict[str, object]") -> Scenario:
    """The scenario in the file, or a link between two hosts with a trace for each direction."""
    given = {key: str(value) for key, value in wire.items() if value is not None}
    if "trace" not in given:
        for key, value in given.items():
            raise ScenarioError("--trace with it: without one, the scenario says it", key=f"--{key}", value=value)
        if file is None:
            raise ScenarioError("the name of a scenario's file, or --trace", key="FILE")
        return load(file, set=set_)
    link: dict[str, object] = {"ends": ["here", "there"], "rate": {"trace": given.pop("trace")}}
    if down := given.pop("trace-down", None):
        link["reverse"] = {"rate": {"trace": down}}
    traffic = {"up": {"kind": "bulk", "from": "here", "to": "there"}}
    data = {"duration": "1 min", "link": {"link": link | given}, "traffic": traffic}
    return Scenario.from_dict(data).set_all(set_)


@contextlib.contextmanager
def _as_options(of_trace: bool) -> Iterator[None]:  # noqa: FBT001
    """Call the keys of the link of --trace as they were typed, where one of them is wrong."""
    try:
        yield
    except ScenarioError as error:
        for each in (error, *error.others) if of_trace else ():
            named = (option for key, option in _OPTIONS.items() if (each.key or "").startswith(f"link.link.{key}"))
            each.key = next(named, each.key)
        raise


def _host(names: list[str], wanted: str | None, command: tuple[str, ...]) -> str:
    """The host in which to run a program."""
    if wanted is None:
        return names[0]
    if not command:
        raise ScenarioError("a program to run there, after --", key="--in", value=wanted)
    if wanted not in names:
        meant = closest(wanted, names)
        raise ScenarioError(one_of(names), key="--in", value=wanted, suggestion=meant)
    return wanted


def _wait(emulation: Emulation) -> None:
    """Say how to enter the hosts, and wait until the links end or Ctrl-C."""
    hosts = emulation.plan.hosts.values()
    rows = [[host.name, host.address, emulation.bed.enter(host.name)] for host in hosts]
    links = emulation.plan.links
    # Who has read the first line may be quick.
    with contextlib.suppress(KeyboardInterrupt):
        # What somebody copies stands in one line, however long it is.
        with columns_chosen(Choice(wide=True)):
            print_table(("host", "address", "enter it with"), rows, words=(1, 2))
        sys.stdout.flush()
        say(f"{', '.join(links)} {'works; Ctrl-C ends it' if len(links) == 1 else 'work; Ctrl-C ends them'}")
        while not emulation.relay.wait(_LOOK_S):
            pass


def _run(emulation: Emulation, host: str, command: tuple[str, ...]) -> int:
    """Run a program in a host, until it or the links end; its exit code."""
    for each in emulation.plan.hosts.values():
        say(f"{each.name} is {each.address}")
    with _ctrl_c_for_the_program() as asked:
        program = emulation.bed.popen(host, command, descriptors=(0, 1, 2), session=False)
        code = _ended(emulation, program, command[0], asked)
    return _SIGNALLED - code if code < 0 else code


def _ended(emulation: Emulation, program: Program, command: str, asked: list[float]) -> int:
    told = False
    while True:
        try:
            return program.wait(_LOOK_S)
        except TimeoutError:
            if asked and time.monotonic() > asked[-1] + GRACE_S:
                asked.clear()
                if not _in_foreground():
                    program.signal(signal.SIGINT)
            if not emulation.relay.works and not told:
                say(f"the links have ended, and with them {command}")
                program.stop()
                told = True


@contextlib.contextmanager
def _ctrl_c_for_the_program() -> Iterator[list[float]]:
    """Ctrl-C reaches the program, which is in the same terminal: what it does then is its affair.

    When it came here is listed: a signal from elsewhere may not have reached the program.
    """
    asked: list[float] = []
    before = signal.signal(signal.SIGINT, lambda *_: asked.append(time.monotonic()))
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


def _in_foreground() -> bool:
    """Whether what a terminal's keys send comes to all of this process's group, and so to the program."""
    if sys.platform != "win32":
        with contextlib.suppress(OSError), open("/dev/tty", "rb", buffering=0) as terminal:  # noqa: PTH123
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    return False
