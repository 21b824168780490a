"""What untrusted code must not be able to do; each function tries one thing, and returns True or raises.

Runs in the sandbox as untrusted code, from :mod:`components.sandbox.isolation`. ``about`` has the ``pid`` of the
process outside and of a ``victim`` that may be ended, a ``port`` that it listens on, a ``mailbox`` (name of a datagram
socket), a ``secret`` file of its own and a ``target`` file that all may write.
"""

import ctypes
import fcntl
import os
import signal
import socket
import stat
from typing import Any

About = dict[str, Any]


def control(about: About) -> bool:
    """Nothing forbidden: where this fails, the others' failures say nothing."""
    return True


def network(about: About) -> bool:
    socket.create_connection(("127.0.0.1", about["port"]), timeout=5).close()
    return True


def signals(about: About) -> bool:
    """Whether it arrived is seen outside: here the number may be another process's, in a process namespace."""
    os.kill(about["victim"], signal.SIGTERM)
    return True


def notices(about: About) -> bool:
    """Has the kernel send a signal: urgent data on a socket, which most processes ignore."""
    one, other = socket.socketpair()
    with one, other:
        fcntl.fcntl(one, 10, signal.SIGURG)  # F_SETSIG
        fcntl.fcntl(one, fcntl.F_SETOWN, about["pid"])
        fcntl.fcntl(one, fcntl.F_SETFL, fcntl.fcntl(one, fcntl.F_GETFL) | os.O_ASYNC)
        other.send(b"x")
    return True


def datagrams(about: About) -> bool:
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with one, other:
        return one.sendto(b"x", about["mailbox"]) == 1


def cores(about: About) -> bool:
    os.sched_setaffinity(about["pid"], os.sched_getaffinity(about["pid"]))
    return True


def priority(about: About) -> bool:
    os.setpriority(os.PRIO_PROCESS, about["pid"], os.getpriority(os.PRIO_PROCESS, about["pid"]))
    return True


def modes(about: About) -> bool:
    os.chmod(about["target"], 0o666)
    return True


def times(about: About) -> bool:
    os.utime(about["target"], (1, 1))
    return True


def environment(about: About) -> bool:
    with open(f"/proc/{about['pid']}/environ", "rb") as file:
        return bool(file.read(1))


def memory(about: About) -> bool:
    os.close(os.open(f"/proc/{about['pid']}/mem", os.O_RDONLY))
    return True


def listing(about: About) -> bool:
    return str(about["pid"]) in os.listdir("/proc")


def read(about: About) -> bool:
    with open(about["secret"]) as file:
        return bool(file.read())


def write(about: About) -> bool:
    with open(about["target"], "a") as file:
        file.write("x")
    return True


def links(about: About) -> bool:
    os.symlink(about["target"], "link")
    with open("link", "a") as file:
        file.write("x")
    return True


def devices(about: About) -> bool:
    os.mknod("device", stat.S_IFBLK | 0o666, os.makedev(8, 0))
    return True


def fork(about: About) -> bool:
    if (pid := os.fork()) == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


def privileges(about: About) -> bool:
    taken = (ctypes.c_uint32 * 6)()
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    ctypes.CDLL(None).capget(header, taken)
    return any(taken) or os.stat("/usr").st_uid == os.getuid()


def namespaces(about: About) -> bool:
    return any(ctypes.CDLL(None).unshare(flag) == 0 for flag in (0x10000000, 0x00020000, 0x40000000))


def descriptors(about: About) -> bool:
    for number in range(4, 1 << 16):
        try:
            os.fstat(number)
        except OSError:
            continue
        return True
    return False


def leftovers(about: About) -> bool:
    if os.listdir("."):
        return True
    with open("left", "w") as file:
        file.write("x")
    return False
