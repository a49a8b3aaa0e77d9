"""Searching the web. The engines come here; nothing is built yet."""
