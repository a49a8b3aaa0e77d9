"""How much one exit, and all together, may hold and wait."""

import resource
from dataclasses import dataclass, field

MAX_REQUEST_HEAD = 64 * 1024
MAX_RESPONSE_HEAD = 256 * 1024
"""Chromium's own limit: a longer head is an error there, too."""


def _affordable() -> int:
    """A connection holds two sockets; half of the files that this process may open stay for everything else."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 2048 if soft == resource.RLIM_INFINITY else max(64, min(2048, soft // 4))


@dataclass(frozen=True, slots=True)
class Limits:
    """Connections are counted on the browser's side; times are in seconds."""

    per_exit: int = 256
    total: int = field(default_factory=_affordable)
    head_s: float = 10.0
    """From the first byte of a request's head to its last."""
    dns_s: float = 5.0
    connect_s: float = 10.0
    stagger_s: float = 0.25
    """After this long the next address is tried beside the first (RFC 8305, 8)."""
    idle_s: float = 300.0
    """A connection silent both ways for this long is reset."""
    half_closed_s: float = 30.0
    """The same, once one side has said that it sends no more."""
