"""What tests of the command line share."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from click.testing import CliRunner, Result

from browser_service.interfaces.cli import main

Run = Callable[..., Awaitable[Result]]


@pytest.fixture
def run(base: str) -> Run:
    """Run a command against the shared service, with these environment variables and this input."""

    async def invoke(*words: str, stdin: str | None = None, **variables: str) -> Result:
        environment = {"TABWRIGHT_SERVER": base} | variables
        return await asyncio.to_thread(CliRunner().invoke, main, words, input=stdin, env=environment)

    return invoke
