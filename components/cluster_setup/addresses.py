"""Where the cluster's API server is, as its pods see it."""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass

from components.cluster_setup.kubectl import Kubectl, SetupError
from components.cluster_setup.objects import Object


@dataclass(frozen=True, order=True)
class Address:
    """An IP address and a TCP port."""

    ip: str
    port: int

    @property
    def cidr(self) -> str:
        """The address alone, as a network."""
        return str(ipaddress.ip_network(self.ip))


def api_server(kubectl: Kubectl) -> list[Address]:
    """The addresses of the service ``kubernetes`` and of the servers behind it. Network plugins differ in which of the
    two they hold against a policy.

    Raises:
        SetupError: the cluster names none.
    """
    service = kubectl.get("service", "kubernetes", "default") or {}
    found = {
        Address(str(ip), int(port["port"]))
        for ip in _cluster_ips(service.get("spec") or {})
        for port in service["spec"].get("ports") or ()
    }
    slices = kubectl.list("endpointslices.discovery.k8s.io", "default", "-l", "kubernetes.io/service-name=kubernetes")
    for item in slices:
        found |= {
            Address(str(ip), int(port["port"]))
            for end in item.get("endpoints") or ()
            for ip in end["addresses"]
            for port in item.get("ports") or ()
        }
    if not found:
        raise SetupError(
            "the cluster does not say where its API server is",
            where="service kubernetes in the namespace default",
            remedy="without it the network policies would shut the steps off; see kubectl get service,endpointslices",
        )
    return sorted(found)


def egress(servers: Iterable[Address]) -> list[Object]:
    """Rules of a NetworkPolicy that let exactly these addresses through."""
    return [
        {
            "to": [{"ipBlock": {"cidr": server.cidr}}],
            "ports": [{"protocol": "TCP", "port": server.port}],
        }
        for server in servers
    ]


def _cluster_ips(spec: Object) -> list[str]:
    ips = spec.get("clusterIPs") or [spec.get("clusterIP")]
    return [ip for ip in ips if ip and ip != "None"]
