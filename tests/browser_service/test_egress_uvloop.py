"""The same proxy on uvloop, which the service runs on: ends, resets and flow control are the loop's own there."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.browser_service import test_egress_http as http
from tests.browser_service import test_egress_policy as policy
from tests.browser_service import test_egress_tunnel as tunnel

uvloop = pytest.importorskip("uvloop")

Scenario = Callable[[], Awaitable[None]]
SCENARIOS: list[Scenario] = [
    http.test_connections_are_kept,
    http.test_no_request_rides_on_another_sites_connection,
    http.test_a_stale_connection_ends_on_both_sides,
    http.test_a_body_may_come_before_the_connection,
    http.test_an_endless_head_is_cut,
    http.test_requests_are_not_pipelined,
    http.test_websockets_without_a_tunnel,
    policy.test_a_name_is_resolved_once_for_a_connection,
    policy.test_the_next_address_is_tried,
    policy.test_a_connection_that_nobody_accepts,
    tunnel.test_bytes_pass_both_ways,
    tunnel.test_a_client_that_has_said_all_still_hears,
    tunnel.test_a_server_that_has_said_all_still_hears,
    tunnel.test_the_client_goes_when_the_server_goes,
    tunnel.test_a_client_that_gives_up_ends_the_dialling,
    tunnel.test_a_slow_reader_holds_the_sender_back,
    tunnel.test_a_slow_server_holds_the_client_back,
    tunnel.test_closing_an_exit_ends_its_connections,
    tunnel.test_closing_leaves_no_task_behind,
    tunnel.test_many_connections_leave_nothing_open,
]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
async def test_on_uvloop(scenario: Scenario) -> None:
    """What holds on asyncio's own loop holds on uvloop."""
    await asyncio.to_thread(uvloop.run, scenario())


@pytest.mark.parametrize("rude", [True, False])
async def test_ends_on_uvloop(rude: bool) -> None:
    """An end and a reset of the client are the server's, too."""
    await asyncio.to_thread(uvloop.run, tunnel.test_the_server_goes_when_the_client_goes(rude))


@pytest.mark.parametrize("head", [b"HTTP/1.0 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"])
async def test_cut_bodies_on_uvloop(head: bytes) -> None:
    """A reset by the server reaches the client as a reset."""
    await asyncio.to_thread(uvloop.run, http.test_a_cut_body_is_seen_as_cut(head))
