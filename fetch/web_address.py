"""Addresses in a page, resolved as browsers do."""

from ada_url import join_url

_LONGEST = 8192  # characters; servers commonly stop at 8 KiB


def absolute(address: str, base: str) -> str | None:
    """The absolute http(s) address that a page at `base` means by this, None for anything else."""
    if not address.strip() or len(address) > _LONGEST:
        return None
    try:
        found = join_url(base, address)
    except (ValueError, UnicodeError):
        return None
    return found if found.startswith(("http://", "https://")) else None
