"""What Python lacks of Linux: namespaces, mounts, TUN devices, offloads."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import signal
import socket
import struct
from typing import Final

# <linux/sched.h>
NEW_MOUNTS: Final = 0x00020000
NEW_USER: Final = 0x10000000
NEW_PROCESSES: Final = 0x20000000
NEW_NETWORK: Final = 0x40000000
# <linux/mount.h>
BIND: Final = 0x1000
RECURSIVE: Final = 0x4000
PRIVATE: Final = 0x40000
_MNT_DETACH: Final = 0x2
# <linux/prctl.h>
_PR_SET_PDEATHSIG: Final = 1
# <linux/if_tun.h>
_TUNSETIFF: Final = 0x400454CA
_IFF_TUN: Final = 0x0001
_IFF_NO_PI: Final = 0x1000
# <linux/ethtool.h>, <linux/sockios.h>: the commands that get and set what a device does for the kernel
_SIOCETHTOOL: Final = 0x8946
_OFFLOADS: Final = {
    "tso": (0x1E, 0x1F),
    "gso": (0x23, 0x24),
    "gro": (0x2B, 0x2C),
    "tx-checksum": (0x16, 0x17),
    "rx-checksum": (0x14, 0x15),
    "scatter-gather": (0x18, 0x19),
}

_libc: Final = ctypes.CDLL(None, use_errno=True)


def unshare(flags: int) -> int:
    """Leave namespaces for new ones; zero, or the number of the error."""
    return 0 if _libc.unshare(flags) == 0 else ctypes.get_errno()


def enter_network(namespace: int) -> None:
    """Be in a network namespace from now on."""
    if _libc.setns(namespace, NEW_NETWORK) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def die_with_parent() -> None:
    """Be killed when the parent ends."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def mount(source: str | None, target: str, kind: str | None, flags: int) -> None:
    """Mount a file system, or change how one is mounted."""
    words = [None if word is None else word.encode() for word in (source, target, kind)]
    if _libc.mount(*words, ctypes.c_ulong(flags), None) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), target)


def unmount(target: str) -> None:
    """Take a file system away, from what still uses it when that ends."""
    _libc.umount2(target.encode(), _MNT_DETACH)


def name_tun(descriptor: int, device: str) -> None:
    """Make a TUN device of /dev/net/tun, opened."""
    fcntl.ioctl(descriptor, _TUNSETIFF, struct.pack("16sH22x", device.encode(), _IFF_TUN | _IFF_NO_PI))


def offloads(device: str) -> dict[str, bool]:
    """Which offloads of a device are on."""
    return {name: _offload(device, get) for name, (get, _set) in _OFFLOADS.items()}


def switch_offloads_off(device: str) -> None:
    """Have a device do nothing for the kernel."""
    for _get, switch in _OFFLOADS.values():
        _offload(device, switch)


def switch_gro_on(device: str) -> None:
    """Have a device join what arrives."""
    _offload(device, _OFFLOADS["gro"][1], on=True)


def _offload(device: str, command: int, *, on: bool = False) -> bool:
    """Ask whether an offload is on, or switch it, as the command is."""
    value = ctypes.create_string_buffer(struct.pack("II", command, on))
    request = struct.pack("16sP16x", device.encode(), ctypes.addressof(value))
    try:
        # Any socket of the network of the device.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            fcntl.ioctl(asked, _SIOCETHTOOL, request)
    except OSError as error:
        # A device that has it never is as good as one that has it off.
        if error.errno not in {errno.EOPNOTSUPP, errno.EINVAL}:
            raise
        return False
    _command, found = struct.unpack_from("II", value.raw)
    return bool(found)
