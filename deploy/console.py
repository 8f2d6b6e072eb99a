"""A terminal that the texts of cases can't steer: what people read is what the text holds (R7).

A control character in a text could move the cursor, hide or replace what a reviewer reads, or fill the clipboard.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from api.pages.visible import visible


class ReadableConsole(Console):
    """Names control, direction and zero-width characters, as in `[U+001B]`; its own styles stay."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Return what is printed."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)
