"""SearXNG: a metasearch instance of the operator's, asked for JSON or, where that is not to be had, HTML."""

from search.channels.searxng.channel import SearXNG
from search.channels.searxng.config import SearXNGConfig
from search.channels.searxng.probe import Probe, probe

__all__ = ["Probe", "SearXNG", "SearXNGConfig", "probe"]
