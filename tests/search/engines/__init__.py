"""Tests of the scraping engines."""
