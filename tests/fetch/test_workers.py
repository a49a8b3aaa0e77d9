"""Worker processes: real ones, hung, killed, fat and cancelled."""

import asyncio
import contextlib
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest

from fetch.errors import InvalidRequest, TabwrightError, TimedOut
from fetch.workers import Workers

LIMIT_S = 30.0


def add(a: int, b: int) -> int:
    return a + b


def own_pid() -> int:
    return os.getpid()


def spin() -> None:
    while True:
        pass


def spin_after_telling(path: str) -> None:
    Path(path).write_text(str(os.getpid()), encoding="ascii")
    spin()


def killed_by(number: int) -> None:
    os.kill(os.getpid(), number)


def hog() -> int:
    return len(bytearray(8 << 30))


def echo(value: object) -> object:
    return value


def refuse() -> None:
    raise InvalidRequest("Not like this.", hint="like that", about={"url": "http://a.example/"})


class _Odd(Exception):
    def __init__(self, a: str, b: str) -> None:
        super().__init__(a + b)


def fail_oddly() -> None:
    raise _Odd("a", "b")


def leave() -> None:
    raise SystemExit(3)


def unpicklable() -> object:
    return threading.Lock()


def shout() -> str:
    print("not a message")  # noqa: T201
    return "said"


def _is_socket(number: int) -> bool:
    with contextlib.suppress(OSError):
        return stat.S_ISSOCK(os.fstat(number).st_mode)
    return False


def state() -> dict[str, object]:
    sockets = ["socket" for number in range(3, 1000) if _is_socket(number)]
    return {
        "sockets": sockets,
        "nice": os.nice(0),
        "interrupt": signal.getsignal(signal.SIGINT) is signal.SIG_IGN,
        "session": os.getsid(0) == os.getpid(),
        "secret": "TABWRIGHT_AUTH" in os.environ or "BRAVE_API_KEY" in os.environ,
    }


def warm() -> None:
    os.environ["WARMED"] = "yes"


def is_warm() -> bool:
    return "WARMED" in os.environ


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not condition():
            await asyncio.sleep(0.005)


@pytest.fixture
async def workers() -> AsyncIterator[Workers]:
    """One worker, so that what happens to it is seen by the next call."""
    async with Workers(1) as workers:
        yield workers


async def test_gives_what_the_function_gives(workers: Workers) -> None:
    """A call runs in another process and its value comes back."""
    assert await workers.run(add, 2, 3, limit_s=LIMIT_S) == 5
    assert await workers.run(own_pid, limit_s=LIMIT_S) not in {os.getpid(), None}


async def test_starts_nothing_before_it_is_needed(workers: Workers) -> None:
    """Processes are started for work, not for stock, and used again."""
    assert workers.pids == ()
    assert len({await workers.run(own_pid, limit_s=LIMIT_S) for _ in range(5)}) == 1


async def test_errors_come_back_whole(workers: Workers) -> None:
    """What the function raises is raised in the caller with all its fields and the worker's traceback."""
    with pytest.raises(InvalidRequest, match=r"Not like this\.") as caught:
        await workers.run(refuse, limit_s=LIMIT_S)
    assert (caught.value.hint, caught.value.about) == ("like that", {"url": "http://a.example/"})
    assert "in refuse" in caught.value.__notes__[0]


@pytest.mark.parametrize("function", [fail_oddly, unpicklable, leave])
async def test_what_cannot_be_sent_back_is_told(workers: Workers, function: Callable[[], object]) -> None:
    """An exception or a value that cannot be pickled, and a function that would end its process, fail one call only."""
    with pytest.raises(RuntimeError, match=r"_Odd|pickle|SystemExit"):
        await workers.run(function, limit_s=LIMIT_S)
    assert await workers.run(add, 1, 1, limit_s=LIMIT_S) == 2


async def test_a_call_over_its_limit_is_killed(workers: Workers) -> None:
    """A function that never ends raises TimedOut, its process is gone, and the next call has a new one."""
    first = await workers.run(own_pid, limit_s=LIMIT_S)
    with pytest.raises(TimedOut):
        await workers.run(spin, limit_s=0.1)
    assert await workers.run(own_pid, limit_s=LIMIT_S) != first
    assert not is_alive(first)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
async def test_a_process_that_dies_fails_its_call(workers: Workers, number: int) -> None:
    """Death by a signal is an error of that call, which is not tried again, and no other's."""
    with pytest.raises(TabwrightError, match="died"):
        await workers.run(killed_by, number, limit_s=LIMIT_S)
    assert await workers.run(add, 1, 1, limit_s=LIMIT_S) == 2


async def test_death_while_idle_is_nobodys_failure(workers: Workers) -> None:
    """A process that died between calls is replaced without a word."""
    first = await workers.run(own_pid, limit_s=LIMIT_S)
    os.kill(first, signal.SIGKILL)
    await until(lambda: not is_alive(first))
    assert await workers.run(own_pid, limit_s=LIMIT_S) != first


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the address space")
async def test_memory_is_bounded(workers: Workers) -> None:
    """A function that asks for more memory than a worker may use fails; the process is replaced."""
    first = await workers.run(own_pid, limit_s=LIMIT_S)
    with pytest.raises(TabwrightError, match="memory"):
        await workers.run(hog, limit_s=LIMIT_S)
    assert await workers.run(own_pid, limit_s=LIMIT_S) != first


@pytest.mark.parametrize("big", [bytes(10 << 20), "渡口" * (5 << 19)], ids=["bytes", "text"])
async def test_big_arguments_leave_the_loop_free(workers: Workers, big: object) -> None:
    """10 MiB there and back are exact, and the event loop goes on meanwhile."""
    await workers.run(add, 1, 1, limit_s=LIMIT_S)
    lags: list[float] = []

    async def measure() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0)
            lags.append(time.perf_counter() - before)

    meter = asyncio.create_task(measure())
    assert await workers.run(echo, big, limit_s=LIMIT_S) == big
    meter.cancel()
    assert len(lags) > 20
    assert max(lags) < 0.25


async def test_many_calls_share_few_processes() -> None:
    """A hundred calls at once are all answered, by no more processes than there may be."""
    async with Workers(2) as workers:
        calls = [workers.run(add, number, 1, limit_s=LIMIT_S) for number in range(100)]
        assert await asyncio.gather(*calls) == list(range(1, 101))
        assert len(workers.pids) == 2
        assert repr(workers) == "<Workers 0 busy, 2 idle, 0 calls waiting>"


async def test_first_come_first_served(workers: Workers) -> None:
    """Calls that wait are answered in the order in which they came."""
    order: list[int] = []

    async def call(number: int) -> None:
        order.append(await workers.run(add, number, 0, limit_s=LIMIT_S))

    await asyncio.gather(*(call(number) for number in range(20)))
    assert order == list(range(20))


async def test_cancelling_kills_what_runs(workers: Workers, tmp_path: Path) -> None:
    """A call that nobody waits for any more stops using the processor, and its place is free again."""
    told = tmp_path / "pid"
    call = asyncio.create_task(workers.run(spin_after_telling, str(told), limit_s=LIMIT_S))
    await until(lambda: told.exists() and bool(told.read_text()))
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await until(lambda: not is_alive(int(told.read_text())))
    assert await workers.run(add, 1, 1, limit_s=LIMIT_S) == 2


async def test_cancelling_a_call_that_waits_gives_its_place_up(workers: Workers) -> None:
    """A cancelled call in the queue holds nothing: those behind it are served."""
    first = await workers.run(own_pid, limit_s=LIMIT_S)
    running, waiting, last = (asyncio.create_task(workers.run(own_pid, limit_s=LIMIT_S)) for _ in range(3))
    await asyncio.sleep(0)
    waiting.cancel()
    assert await running == await last == first


async def test_a_process_is_replaced_after_so_many_calls() -> None:
    """What libraries leak is bounded: no process lives for ever."""
    async with Workers(1, calls=3) as workers:
        pids = [await workers.run(own_pid, limit_s=LIMIT_S) for _ in range(7)]
    assert [pids.index(pid) for pid in pids] == [0, 0, 0, 3, 3, 3, 6]


async def test_warming_comes_first_in_every_process() -> None:
    """The warming function has run before any call, in replacements too."""
    async with Workers(2) as workers:
        workers.warm(warm)
        with pytest.raises(TimedOut):
            await workers.run(spin, limit_s=0.1)
        assert all(await asyncio.gather(*(workers.run(is_warm, limit_s=LIMIT_S) for _ in range(8))))


async def test_closing_ends_calls_and_processes() -> None:
    """Closing fails what runs and what waits, takes no new calls, and leaves no process."""
    async with Workers(2) as workers:
        await asyncio.gather(*(workers.run(add, 1, 1, limit_s=LIMIT_S) for _ in range(2)))
        calls = [asyncio.create_task(workers.run(spin, limit_s=LIMIT_S)) for _ in range(4)]
        await asyncio.sleep(0)
        pids = workers.pids
    ended = await asyncio.gather(*calls, return_exceptions=True)
    assert ["stopping" in str(each) for each in ended] == [True] * 4
    with pytest.raises(TabwrightError, match="stopping"):
        await workers.run(add, 1, 1, limit_s=LIMIT_S)
    assert len(pids) == 2
    assert not any(is_alive(pid) for pid in pids)


async def test_closing_while_starting_leaves_nothing() -> None:
    """A process that is just being started when all is closed does not survive it."""
    before = {child.pid for child in psutil.Process().children()}
    async with Workers(2) as workers:
        workers.warm(warm)
        await asyncio.sleep(0)
    assert {child.pid for child in psutil.Process().children()} <= before


async def test_a_worker_is_apart(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker has none of our sockets and keys, gives way to us, and is out of the terminal's reach."""
    monkeypatch.setenv("TABWRIGHT_AUTH", "secret")
    monkeypatch.setenv("BRAVE_API_KEY", "secret")
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    async with server:
        found = await workers.run(state, limit_s=LIMIT_S)
    assert found == {"sockets": [], "nice": os.nice(0) + 5, "interrupt": True, "session": True, "secret": False}


async def test_printing_does_not_disturb(workers: Workers) -> None:
    """What a library prints is no reply."""
    assert [await workers.run(shout, limit_s=LIMIT_S) for _ in range(2)] == ["said", "said"]


@pytest.mark.parametrize("busy", [True, False], ids=["busy", "idle"])
async def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path, *, busy: bool) -> None:
    """After `kill -9` of the service no worker is left, whether it was at work or not."""
    told = tmp_path / "pid"
    program = f"""
import asyncio
from fetch.workers import Workers
from tests.fetch.test_workers import own_pid, spin_after_telling
async def main():
    async with Workers(1) as workers:
        if {busy}:
            await workers.run(spin_after_telling, {str(told)!r}, limit_s=60)
        pid = await workers.run(own_pid, limit_s=60)
        open({str(told)!r}, "w").write(str(pid))
        await asyncio.sleep(60)
asyncio.run(main())
"""
    with subprocess.Popen(  # noqa: ASYNC220  it is started once
        [sys.executable, "-c", program], stdin=subprocess.DEVNULL
    ) as parent:
        await until(lambda: told.exists() and bool(told.read_text()))
        pid = int(told.read_text())
        assert is_alive(pid)
        parent.kill()
    with contextlib.suppress(psutil.NoSuchProcess):
        await until(lambda: not is_alive(pid))
