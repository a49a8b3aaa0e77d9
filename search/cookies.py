"""The cookies of the search engines: each engine has its own, for at most an hour."""

import time
from collections.abc import Callable

from fetch.http_cookies import Jar

LIFETIME_S = 3600.0
"""How long an engine's cookies are kept. Long enough to be a visitor, too short to become a known one."""


class Cookies:
    """A jar for each engine, thrown away an hour after it was begun. `clock` is in seconds, from any moment."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._jars: dict[str, tuple[float, Jar]] = {}

    def jar(self, engine: str) -> Jar:
        """The engine's jar, an empty one where it had none or the last is too old."""
        now = self._clock()
        begun, jar = self._jars.get(engine, (now, None))
        if jar is None or now - begun >= LIFETIME_S:
            begun, jar = now, Jar()
            self._jars[engine] = begun, jar
        return jar

    def header(self, url: str) -> str | None:
        """The value of `Cookie` for an address of any of the engines."""
        headers = (self.jar(engine).header(url) for engine in tuple(self._jars))
        return next((header for header in headers if header is not None), None)
