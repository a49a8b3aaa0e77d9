"""Parameters that actions share: which tab, which frame, which element, how long."""

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, Field, model_validator

from browser_service.tab.refs import ENGINE, REF

SELECTOR = 'CSS, or text="…", role=button[name="…"], xpath=…; reaches into open shadow roots'
_EMPTY = re.compile(r"(text|role|xpath|css)=\s*(\"\"|'')?\s*")
_REF = re.compile(rf"(^|>>)\s*{ENGINE}=")


def _means_something(selector: str) -> str:
    if not selector.strip() or _EMPTY.fullmatch(selector.strip()):
        raise ValueError("is empty")
    if selector.lstrip().startswith(("nth=", "internal:")):
        raise ValueError("must begin with CSS, text=, role= or xpath=")
    if _REF.search(selector):
        raise ValueError("holds a ref: give that in the field ref")
    return selector


Selector = Annotated[
    str,
    AfterValidator(_means_something),
    Field(min_length=1, max_length=10_000, description=SELECTOR),
]
Ref = Annotated[str, Field(pattern=rf"^{REF.pattern}$", description="ref from a snapshot, such as e12 or f1e3")]
ShortTimeout = Annotated[int, Field(ge=1, le=300_000, description="time limit in milliseconds")]


class OnTab(BaseModel):
    """Acts in a tab."""

    tab: str | None = Field(
        None, max_length=20, description="tab id such as t2, or newest; default: the active tab", examples=["newest"]
    )


class InFrame(OnTab):
    """Acts in a frame of a tab."""

    frame: str | None = Field(
        None,
        min_length=1,
        max_length=10_000,
        description="selector of the iframe to look in; nested ones separated by ' >> '",
    )


class Referable(InFrame):
    """Takes an element by `selector` or by `ref`, or neither."""

    selector: Selector | None = Field(None, description=SELECTOR)
    ref: Ref | None = Field(None, description="the element with this ref of a snapshot, such as e12 or f1e3")

    @model_validator(mode="after")
    def _ref_alone(self) -> Self:
        if self.ref is not None and (self.selector is not None or self.frame is not None):
            raise ValueError("a ref names element and frame: leave out selector and frame")
        return self


class Targeted(Referable):
    """Acts on one element: by `selector`, by `ref`, or at a point of the viewport by `x` and `y` (CSS pixels)."""

    x: float | None = Field(None, ge=0, le=100_000, description="point in the viewport, from the left")
    y: float | None = Field(None, ge=0, le=100_000, description="point in the viewport, from the top")
    strict: bool = Field(False, description="fail when the selector matches several elements")
    wait: bool = Field(False, description="wait for the element to appear instead of failing at once")
    timeout_ms: ShortTimeout = 10_000

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        if (self.x is None) != (self.y is None):
            raise ValueError("give both x and y")
        if sum(each is not None for each in (self.selector, self.ref, self.x)) != 1:
            raise ValueError("give exactly one target: selector, ref, or x and y")
        if self.selector is None and self.frame is not None:
            raise ValueError("frame goes with selector; x and y count from the corner of the viewport")
        return self


Format = Literal["text", "markdown", "html"]
