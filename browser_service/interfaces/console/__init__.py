"""The web console at /ui: pages rendered here, and the operations that their scripts call."""

from browser_service.interfaces.console.access import Access
from browser_service.interfaces.console.pages import add_pages
from browser_service.operations.settings import ChangeSettings, TrySearxng

OPERATIONS = (ChangeSettings, TrySearxng)
"""What the pages call. Each is served a second time below /ui, where the cookie of a login counts."""

__all__ = ["OPERATIONS", "Access", "add_pages"]
