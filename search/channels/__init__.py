"""Channels of web_search: APIs and metasearch instances, each with its own way to ask and to fail."""
