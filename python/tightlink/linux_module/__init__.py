"""Congestion controls of Linux, from their C sources: ``net/ipv4/tcp_*.c``, or a module of one's own.

A source is compiled for this program, with declarations of what such modules use of a kernel (``kernel.h``), and told
of a connection of the simulation what Linux would tell it (``sender.c``). Loss recovery and pacing are the engine's.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import weakref
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from tightlink.errors import TightlinkError
from tightlink.files import content

if TYPE_CHECKING:
    from tightlink._core import Ack, Handshake, Loss, RateSample

_HERE: Final = Path(__file__).parent
#: A module must find all that it uses here; linkers say so in two ways.
_DEFINED: Final = "-Wl,-undefined,error" if sys.platform == "darwin" else "-Wl,-z,defs"
_FLAGS: Final = (
    "-O2", "-shared", "-fPIC", _DEFINED, "-fwrapv", "-fno-strict-aliasing", "-Werror=implicit-function-declaration",
    "-Werror=incompatible-pointer-types", "-Werror=int-conversion",
)  # fmt: skip
_INCLUDE: Final = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<.*$", re.MULTILINE)
_BESIDE: Final = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"(\w+)\.h"', re.MULTILINE)
_UNDEFINED: Final = re.compile(r"undefined (?:reference to|symbol:) [`'\"]?(\w+)")
_ERROR: Final = re.compile(r"^(.*?):(\d+):(?:\d+:)? (?:fatal )?error: (.*)$", re.MULTILINE)
#: Of a threshold, as Linux has it: there is none.
_INFINITE: Final = 0x7FFFFFFF


class _Told(ctypes.Structure):
    """``struct sim_told`` of sender.c."""

    _fields_ = (
        ("cwnd", ctypes.c_uint32), ("ssthresh", ctypes.c_uint32), ("pacing_rate", ctypes.c_double),
        ("now_us", ctypes.c_int64), ("rtt_us", ctypes.c_int64),
        *((name, ctypes.c_uint32) for name in (
            "acked", "marked", "in_flight", "una", "nxt", "in_use", "delivered", "prior_delivered", "total_delivered",
            "newly_lost", "prior_in_flight", "app_limited", "recovering")),
        ("interval_us", ctypes.c_int64),
    )  # fmt: skip


class _Parameter(ctypes.Structure):
    """``struct sim_parameter`` of kernel.h."""


_Parameter._fields_ = (  # It points to its own kind.
    ("name", ctypes.c_char_p), ("place", ctypes.c_void_p), ("size", ctypes.c_uint), ("is_signed", ctypes.c_bool),
    ("next", ctypes.POINTER(_Parameter)),
)  # fmt: skip


class _Library:
    """A module that is loaded, with values of its parameters."""

    def __init__(self, compiled: bytes, parameters: dict[str, float]) -> None:
        # What is loaded from another file has variables for itself.
        with tempfile.TemporaryDirectory(prefix="tightlink-") as folder:
            file = Path(folder, "module.so")
            file.write_bytes(compiled)
            library = ctypes.PyDLL(str(file))
        library.sim_first_parameter.restype = ctypes.POINTER(_Parameter)
        library.sim_begin_module.restype = ctypes.c_char_p
        library.sim_open_connection.restype = ctypes.c_void_p
        library.sim_open_connection.argtypes = (ctypes.c_uint32, ctypes.c_uint64)
        library.sim_close_connection.argtypes = (ctypes.c_void_p,)
        for name in ("handshake", "ack", "recovery_ack", "loss", "mark", "timeout", "undo", "sample"):
            getattr(library, f"sim_on_{name}").argtypes = (ctypes.c_void_p, ctypes.c_void_p)
        self.parameters: dict[str, float] = {}
        at = library.sim_first_parameter()
        while at:
            parameter = at.contents
            kind = _integer(parameter.size, signed=parameter.is_signed)
            value = kind.from_address(parameter.place)
            name = parameter.name.decode()
            if name in parameters:
                value.value = int(parameters[name])
                if value.value != parameters[name]:
                    raise TightlinkError(
                        f"{name} = {parameters[name]:g}: expected a whole number of {parameter.size} bytes"
                    )
            self.parameters[name] = value.value
            at = parameter.next
        self.name = (library.sim_begin_module() or b"").decode()
        self.c = library


def _integer(size: int, *, signed: bool) -> Any:
    return {(1, True): ctypes.c_int8, (2, True): ctypes.c_int16, (4, True): ctypes.c_int32, (8, True): ctypes.c_int64,
            (1, False): ctypes.c_uint8, (2, False): ctypes.c_uint16, (4, False): ctypes.c_uint32,
            (8, False): ctypes.c_uint64}[size, signed]  # fmt: skip


def _text(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _for_this_program(name: str, text: str) -> str:
    """The text of a module, with declarations of what it uses of a kernel in place of that kernel's headers."""
    return f'{_text("kernel.h")}\n#line 1 "{name}"\n{_INCLUDE.sub("", text)}'


class _Source:
    """A source, compiled once."""

    def __init__(self, file: Path) -> None:
        self.file = file
        text = content(file).decode(errors="replace")
        # What a header beside it declares may be in another module, as Vegas is to YeAH.
        others = (file.with_name(f"{name}.c") for name in _BESIDE.findall(text) if name != file.stem)
        self.others = [_for_this_program(other.name, content(other).decode()) for other in others if other.is_file()]
        self.code = _for_this_program(file.name, text) + f'\n#line 1 "sender.c"\n{_text("sender.c")}'
        with tempfile.TemporaryDirectory(prefix="tightlink-") as folder:
            self.compiled = self._compile(Path(folder))
        self.library = cache(self._library)
        self.default = self.library()
        if not self.default.name:
            raise TightlinkError(f"{file}: registers no congestion control: expected a module of Linux, whose "
                                 f"module_init calls tcp_register_congestion_control")  # fmt: skip

    def _compile(self, folder: Path) -> bytes:
        codes = []
        for number, text in enumerate([self.code, *self.others]):
            codes.append(folder / f"{number}.c")
            codes[-1].write_text(text, encoding="utf-8")
        compiler = shutil.which("cc")
        if compiler is None:
            raise TightlinkError(f"{self.file}: cc, a C compiler, is not installed (Debian: apt install gcc libc6-dev)")
        made = folder / "module.so"
        command = [compiler, *_FLAGS, "-iquote", str(self.file.absolute().parent), "-o", str(made), *map(str, codes)]
        plain = {**os.environ, "LC_ALL": "C"}
        # The compiler of this machine, as the user has it.
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, env=plain)  # noqa: S603
        if done.returncode != 0:
            raise TightlinkError(f"{self._trouble(done.stderr)}: expected a congestion control of Linux 6.10 or later "
                                 f"that uses what tightlink/linux_module/kernel.h declares")  # fmt: skip
        return made.read_bytes()

    def _trouble(self, said: str) -> str:
        """Where compiler or linker fail first, and why."""
        if found := _ERROR.search(said):
            place = self.file if found[1] == self.file.name else found[1]
            return f"{place}, line {found[2]}: {found[3].partition(' [-')[0]}"
        if found := _UNDEFINED.search(said):
            return f"{self.file}: {found[1]} is not declared"
        return f"{self.file}: cc fails: {' '.join(said.split())[-200:]}"

    def _library(self, *parameters: tuple[str, float]) -> _Library:
        return _Library(self.compiled, dict(parameters))


class _ByWindow:
    """A module that is told of ACKs, and sets the window."""

    source: ClassVar[_Source]
    cwnd: float
    ssthresh: float
    flow: str
    seed: int
    payload_bytes: int

    def __init__(self, **parameters: float) -> None:
        self._c = self.source.library(*parameters.items()).c
        self._told = _Told()
        self._at = ctypes.addressof(self._told)
        drawn = hashlib.sha256(f"{self.seed} {self.flow}".encode()).digest()
        self._connection = self._c.sim_open_connection(self.payload_bytes, int.from_bytes(drawn[:8]))
        weakref.finalize(self, self._c.sim_close_connection, self._connection)

    @classmethod
    def options(cls) -> dict[str, float]:
        """The parameters of the module, as modinfo lists them."""
        return dict(cls.source.default.parameters)

    def on_handshake(self, handshake: Handshake) -> None:
        self._told.now_us, self._told.rtt_us = round(handshake.now_s * 1e6), round(handshake.rtt_s * 1e6)
        self._call(self._c.sim_on_handshake)

    def on_ack(self, ack: Ack) -> None:
        self._take(ack)
        self._call(self._c.sim_on_ack)

    def on_recovery_ack(self, ack: Ack) -> None:
        self._take(ack)
        self._c.sim_on_recovery_ack(self._connection, self._at)

    def on_loss(self, loss: Loss) -> float:
        return self._reduce(self._c.sim_on_mark if loss.marked else self._c.sim_on_loss, loss)

    def on_timeout(self, loss: Loss) -> float:
        return self._reduce(self._c.sim_on_timeout, loss)

    def on_undo(self) -> None:
        self._call(self._c.sim_on_undo)

    def _take(self, ack: Ack) -> None:
        told = self._told
        told.now_us, told.rtt_us = round(ack.now_s * 1e6), round(ack.rtt_s * 1e6)
        told.acked, told.marked, told.in_flight = int(ack.acked), int(ack.marked), int(ack.in_flight)
        told.una, told.nxt, told.in_use = ack.through, ack.highest, ack.in_use

    def _call(self, function: Any) -> int:
        told = self._told
        told.cwnd = int(self.cwnd)
        told.ssthresh = int(min(self.ssthresh, _INFINITE))
        answer: int = function(self._connection, self._at)
        self.cwnd = told.cwnd
        self.ssthresh = told.ssthresh if told.ssthresh < _INFINITE else math.inf
        return answer

    def _reduce(self, function: Any, loss: Loss) -> float:
        window = self.cwnd
        self._told.now_us = round(loss.now_s * 1e6)
        self._call(function)
        self.cwnd = window
        return self.ssthresh


class _ByMarks(_ByWindow):
    """A module that needs congestion marks."""

    def on_mark(self, loss: Loss) -> float:
        return self.on_loss(loss)


class _ByRate(_ByWindow):
    """A module that is told of samples of the delivery rate, and sets window and pacing rate."""

    pacing_rate: float | None

    def on_ack(self, ack: Ack) -> None:
        self.on_recovery_ack(ack)

    def on_sample(self, sample: RateSample) -> bool:
        told = self._told
        told.now_us = round(sample.now_s * 1e6)
        told.rtt_us = -1 if sample.rtt_s is None else round(sample.rtt_s * 1e6)
        told.acked, told.recovering = int(sample.newly_delivered), sample.recovering
        told.delivered, told.prior_delivered = int(sample.delivered), int(sample.prior_delivered)
        told.total_delivered, told.newly_lost = int(sample.total_delivered), int(sample.newly_lost)
        told.in_flight, told.app_limited = int(sample.in_flight), sample.app_limited
        told.prior_in_flight = int(sample.in_flight + sample.newly_delivered + sample.newly_lost)
        told.interval_us = round(sample.delivered / sample.rate * 1e6) if sample.rate > 0 else -1
        slow = self._call(self._c.sim_on_sample)
        self.pacing_rate = told.pacing_rate or None
        return slow != 0

    def _reduce(self, function: Any, loss: Loss) -> float:
        super()._reduce(function, loss)
        return self.cwnd


def described(file: Path) -> tuple[type, dict[str, object]]:
    """What a class of the congestion control of a C source is made of: a base, and what is in it.

    Its name is ``linux-`` and its name there; parameters of the module are its options.

    Raises:
        TightlinkError: There is no such file, no compiler, or it is no congestion control of Linux.
    """
    if not file.is_file():
        raise TightlinkError(f"{file}: expected a file of C with a congestion control of Linux")
    source = _Source(file)
    c = source.default.c
    kind = _ByRate if c.sim_has_cong_control() else _ByMarks if c.sim_needs_ecn() else _ByWindow
    name = f"linux-{re.sub('[^a-z0-9]+', '-', source.default.name.lower())}"
    code = hashlib.sha256("\n".join([source.code, *source.others]).encode()).hexdigest()
    return kind, {"name": name, "source": source, "code": code, "__module__": file.stem}
