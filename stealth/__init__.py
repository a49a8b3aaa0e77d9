"""How a browser is started and what it shows of itself. Imports nothing else of the project."""
