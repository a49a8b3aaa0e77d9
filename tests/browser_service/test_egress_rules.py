"""An exit with a rule of its own, for an address that the operator chose, beside exits under the common one."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from browser_service.egress import VERDICT_HEADER, Egress, Exit
from browser_service.sending import reaching
from browser_service.settings import NetworkSettings
from fetch.address import Rule
from tests.browser_service.egress_servers import Names, Server, ask, site

FORBIDDEN = f"{VERDICT_HEADER}: address_forbidden".lower().encode()


@dataclass
class Ways:
    """Two exits of one proxy."""

    egress: Egress
    common: Exit
    own: Exit


@contextlib.asynccontextmanager
async def two_ways(common: Rule, own: Rule, names: Names | None = None) -> AsyncIterator[Ways]:
    """One under the common rule, one under its own."""
    async with Egress(common, resolve=names) as egress:
        yield Ways(egress, await egress.open_exit(), await egress.open_exit(rule=own))


async def is_let_through(way: Exit, request: bytes) -> bool:
    """Whether the proxy lets it through; what it does not is refused by name, and recorded."""
    answer = await ask(way, request)
    refused = FORBIDDEN in answer.lower()
    assert refused == (way.visits[-1].outcome == "address_forbidden")
    return not refused


def requests(server: Server) -> list[bytes]:
    """What a proxy gets for it, plain and by tunnel."""
    return [server.get(), server.connect]


async def test_its_rule_opens_what_the_common_one_refuses() -> None:
    """That address alone, and for nobody else."""
    async with site() as chosen, site() as other:
        own = reaching(NetworkSettings(), chosen.url)
        async with two_ways(Rule(), own) as ways:
            for request in requests(chosen):
                assert await is_let_through(ways.own, request)
                assert not await is_let_through(ways.common, request)
            for request in requests(other):
                assert not await is_let_through(ways.own, request)
    assert (len(chosen.heads), other.wires) == (1, [])


async def test_its_rule_shuts_what_the_common_one_opens() -> None:
    """It stands in place of the common rule, and not beside it."""
    async with site() as server, two_ways(Rule(allow=["127.0.0.1"]), Rule()) as ways:
        for request in requests(server):
            assert await is_let_through(ways.common, request)
            assert not await is_let_through(ways.own, request)


async def test_a_chosen_name_may_lead_to_a_private_address() -> None:
    """With its port; the same name at another port, and other names, may not."""
    async with site() as server, site() as other:
        names = Names(searx_inside=[["127.0.0.1"]], page_outside=[["127.0.0.1"]])
        own = reaching(NetworkSettings(), f"http://searx.inside:{server.port}/search")
        async with two_ways(Rule(), own, names) as ways:
            for host, port, opened in (
                ("searx.inside", server.port, True),
                ("searx.inside", other.port, False),
                ("page.outside", server.port, False),
            ):
                request = f"GET http://{host}:{port}/ HTTP/1.1\r\nHost: x\r\n\r\n".encode()
                assert await is_let_through(ways.own, request) is opened


@pytest.mark.parametrize("address", ["http://169.254.169.254/", "http://metadata.google.internal/"])
async def test_the_metadata_of_clouds_stay_shut(address: str) -> None:
    """Though somebody chose them."""
    names = Names(metadata_google_internal=[["169.254.169.254"]])
    async with two_ways(Rule(), reaching(NetworkSettings(), address), names) as ways:
        request = f"GET {address} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        assert not await is_let_through(ways.own, request)


async def test_what_the_operator_denies_stays_shut() -> None:
    """`deny` is part of its rule, as is what is allowed to all."""
    async with site() as server, site() as other:
        denied = NetworkSettings(deny=("127.0.0.1",))
        async with two_ways(Rule(), reaching(denied, server.url)) as ways:
            assert not await is_let_through(ways.own, server.get())
        allowed = NetworkSettings(allow=(other.host,))
        async with two_ways(Rule(), reaching(allowed, server.url)) as ways:
            assert await is_let_through(ways.own, other.get())
    assert len(server.wires) == 0


async def test_ports_of_this_service_stay_shut() -> None:
    """Those of exits even to a rule that names them, the service's own to one that only covers them."""
    async with site() as server, two_ways(Rule(), Rule(allow=["127.0.0.1"])) as ways:
        assert await is_let_through(ways.own, server.get())
        ways.egress.own_ports.add(server.port)
        assert not await is_let_through(ways.own, server.connect)
        named = await ways.egress.open_exit(rule=Rule(allow=[f"127.0.0.1:{ways.common.port}"]))
        host = f"127.0.0.1:{ways.common.port}"
        assert not await is_let_through(named, f"GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
