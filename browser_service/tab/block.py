"""Requests that a session asked not to be made. A saving of traffic, never a boundary: that is the egress proxy."""

import logging
from collections.abc import Collection
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Route

_log = logging.getLogger(__name__)

# Registrable domains of the largest advertising and tracking networks; their subdomains are meant too.
AD_DOMAINS = frozenset(
    {
        "2mdn.net", "adform.net", "adnxs.com", "adroll.com", "adsafeprotected.com", "adsrvr.org", "amazon-adsystem.com",
        "bidswitch.net", "casalemedia.com", "chartbeat.com", "cnzz.com", "crazyegg.com", "criteo.com", "criteo.net",
        "demdex.net", "doubleclick.net", "everesttech.net", "exelator.com", "google-analytics.com",
        "googleadservices.com", "googlesyndication.com", "googletagmanager.com", "googletagservices.com", "hotjar.com",
        "krxd.net", "liadm.com", "mathtag.com", "media.net", "mgid.com", "moatads.com", "mookie1.com", "openx.net",
        "outbrain.com", "pubmatic.com", "quantserve.com", "revcontent.com", "rlcdn.com", "rubiconproject.com",
        "scorecardresearch.com", "serving-sys.com", "sharethrough.com", "simpli.fi", "smartadserver.com", "taboola.com",
        "tapad.com", "teads.tv", "tribalfusion.com", "turn.com", "umeng.com", "yieldmo.com", "zedo.com",
    }
)  # fmt: skip


class Blocker:
    """A Playwright route handler that drops requests of some kinds and lets the rest pass."""

    def __init__(self, kinds: Collection[str]) -> None:
        self._kinds = frozenset(kinds)

    async def __call__(self, route: Route) -> None:
        """Answer one intercepted request."""
        request = route.request
        unwanted = request.resource_type in self._kinds or ("ads" in self._kinds and is_ad(request.url))
        try:
            await (route.abort("blockedbyclient") if unwanted else route.continue_())
        except PlaywrightError as fault:
            _log.debug("an intercepted request went away: %s", fault)


def is_ad(url: str) -> bool:
    """Whether the host belongs to a known advertising or tracking network."""
    labels = (urlsplit(url).hostname or "").split(".")
    return any(".".join(labels[start:]) in AD_DOMAINS for start in range(len(labels) - 1))
