"""The only way out: a loopback proxy that browsers and the HTTP client reach the network through."""

from browser_service.egress.answer import VERDICT_HEADER
from browser_service.egress.canary import canary_reached
from browser_service.egress.limits import Limits
from browser_service.egress.proxy import Egress, Exit
from browser_service.egress.record import Outcome, Visit
from browser_service.egress.rotation import Rotation
from browser_service.egress.upstream import Upstream, parse_upstream

__all__ = [
    "VERDICT_HEADER",
    "Egress",
    "Exit",
    "Limits",
    "Outcome",
    "Rotation",
    "Upstream",
    "Visit",
    "canary_reached",
    "parse_upstream",
]
