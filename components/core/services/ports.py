"""Ports of the loopback interface."""

import socket

import psutil

from components.core.errors import ServiceError

HOST = "127.0.0.1"


def free_ports(count: int) -> list[int]:
    """Different ports that nobody uses now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for sock in sockets:
            sock.bind((HOST, 0))
        return [int(sock.getsockname()[1]) for sock in sockets]
    finally:
        for sock in sockets:
            sock.close()


def require_free(port: int) -> None:
    """See that a server may listen on this port.

    Raises:
        ServiceError: it is taken (the holder is named where it can be seen) or may not be used.
    """
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((HOST, port))
            sock.listen(1)
        except OverflowError as error:
            raise ServiceError(f"no such port: {port}", remedy="use one from 1024 to 65535") from error
        except PermissionError as error:
            raise ServiceError(f"port {port} may not be used by this user", remedy="use one above 1023") from error
        except OSError as error:
            raise ServiceError(
                f"port {port} is taken by {holder(port)}",
                where=f"{HOST}:{port}",
                remedy="end that process, ask for another port, or leave the port out to get a free one",
            ) from error


def holder(port: int) -> str:
    """Who listens on a port, for people."""
    try:
        for connection in psutil.net_connections("tcp"):
            if connection.laddr and connection.laddr.port == port and connection.status == psutil.CONN_LISTEN:
                if connection.pid is None:
                    break
                command = " ".join(psutil.Process(connection.pid).cmdline())[:120]
                return f"pid {connection.pid} ({command})"
    except (psutil.AccessDenied, psutil.NoSuchProcess):
        pass
    return "a process that this user cannot see"
