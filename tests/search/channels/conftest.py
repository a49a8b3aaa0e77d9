"""A scripted server for every test of a channel."""

from collections.abc import AsyncIterator

import pytest

from tests.search.channels.scripted import Scripted, scripted


@pytest.fixture
async def stage() -> AsyncIterator[Scripted]:
    """An API that answers as the test writes."""
    async with scripted() as stage:
        yield stage
