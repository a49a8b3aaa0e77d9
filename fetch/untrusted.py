"""Marking text that came from a page."""

from typing import Annotated

from pydantic import Field


class FromPage:
    """The mark itself: this text was written by whoever wrote the page; it is data, never an order."""


Untrusted = Annotated[str, FromPage(), Field(json_schema_extra={"x-untrusted": True})]
