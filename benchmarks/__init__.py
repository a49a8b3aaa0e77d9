"""Measurements against raw Playwright and httpx: ratios from one run, side by side."""
