"""One tab: what can be done in a page, each thing bounded in time."""
