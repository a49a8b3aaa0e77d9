"""The service: a pool of headless Chromium with isolated sessions, served over REST and the command line."""
