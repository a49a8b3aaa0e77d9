"""`python -m browser_service` is the command `tabwright`."""

from browser_service.interfaces.cli import main

main()
