"""What a measurement may depend on beside its scenario: the machine, its load, its settings, the versions of its tools.

Example:
    >>> sorted(machine())[:3]
    ['clock', 'cpu', 'cpus']
"""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any, Final

from tightlink.measure.hosts import device_of
from tightlink.measure.plan import Plan
from tightlink.measure.testbed import Bed

#: Of the hosts, as far as the kernel has them.
_SETTINGS: Final = (
    *("tcp_congestion_control", "tcp_timestamps", "tcp_sack", "tcp_ecn", "tcp_recovery", "tcp_early_retrans"),
    *("tcp_no_metrics_save", "tcp_rmem", "tcp_wmem", "tcp_limit_output_bytes", "tcp_moderate_rcvbuf"),
    *("tcp_slow_start_after_idle", "tcp_window_scaling"),
)
_TIMES: Final = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


def machine() -> dict[str, Any]:
    """The machine, without its name."""
    uname = platform.uname()
    return {
        "kernel": f"{uname.system} {uname.release}",
        "kernel_version": uname.version,
        "machine": uname.machine,
        "cpu": _cpu(),
        "cpus": os.cpu_count(),
        "clock": _read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "python": platform.python_version(),
    }


def load() -> dict[str, Any]:
    """How busy the machine is: its load averages, and what its processors have done so far, in seconds."""
    ticks = os.sysconf("SC_CLK_TCK")
    first = (_read("/proc/stat") or "").partition("\n")[0].split()[1:]
    times = {name: int(value) / ticks for name, value in zip(_TIMES, first, strict=False)}
    return {"load_average": list(os.getloadavg()), "cpu_s": times}


def scheduled(thread: int) -> tuple[float, float, int]:
    """Seconds for which a thread ran and for which it waited for a processor, and how often it began to run.

    Raises:
        OSError: The kernel does not count them, or the thread is gone.
    """
    ran_ns, waited_ns, runs = Path(f"/proc/{thread}/schedstat").read_text(encoding="ascii").split()
    return int(ran_ns) / 1e9, int(waited_ns) / 1e9, int(runs)


def between(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """The load of a time between two looks at it: averages at both, and the shares of what processors did.

    What is nice gives way, as what keeps processors awake does: it does not make them busy.
    """
    spent = {name: after["cpu_s"][name] - value for name, value in before["cpu_s"].items()}
    total = sum(spent.values())
    return {
        "load_average_before": before["load_average"],
        "load_average_after": after["load_average"],
        "cpu_busy": 1 - (spent["idle"] + spent["iowait"] + spent["nice"]) / total if total > 0 else None,
        "cpu_steal": spent["steal"] / total if total > 0 else None,
    }


def hosts(bed: Bed, plan: Plan) -> dict[str, Any]:
    """The settings of each host, as it sees them, and the offloads of its device."""
    names = [f"/proc/sys/net/ipv4/{name}" for name in _SETTINGS if Path(f"/proc/sys/net/ipv4/{name}").exists()]
    found = {}
    for host in plan.hosts.values():
        values = bed.run(host.name, ["cat", *names], timeout_s=10).output.splitlines()
        settings = {Path(name).name: " ".join(value.split()) for name, value in zip(names, values, strict=False)}
        offloads = bed.offloads(host.name, device_of(plan, host))
        found[host.name] = {"address": host.address, "side": host.side, "offloads": offloads, "settings": settings}
    return found


def _cpu() -> str | None:
    for line in (_read("/proc/cpuinfo") or "").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return None


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return None
