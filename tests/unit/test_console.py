"""What commands print: texts of cases can't steer the terminal that shows them."""

from __future__ import annotations

import io
import unicodedata
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rich.console import RenderableType
from rich.panel import Panel
from rich.text import Text

from contracts.experience import Limits
from deploy import command_run
from deploy.commands import progress
from deploy.commands.drafts import limits_line
from deploy.console import ReadableConsole


def printed(thing: RenderableType, **options: Any) -> str:
    file = io.StringIO()
    ReadableConsole(file=file, width=60, **options).print(thing, markup=False)
    return file.getvalue()


@given(text=st.text(max_size=200))
def test_r7_no_text_steers_the_terminal(text: str) -> None:
    for thing in (text, Text(text), Panel(Text(text), title=Text(text))):
        steering = {each for each in printed(thing) if unicodedata.category(each) in ("Cc", "Cf")}
        assert steering <= {"\n", "\t", "\u200c", "\u200d"}


def test_what_would_steer_it_is_named() -> None:
    assert printed(Text("a\x1b]52;c;eA==\x07b\u202ec")) == "a[U+001B]]52;c;eA==b[U+202E]c\n"


def test_its_own_styles_stay() -> None:
    shown = printed(Text("bold", style="bold"), force_terminal=True, color_system="standard")
    assert shown == "\x1b[1mbold\x1b[0m\n"


def test_every_command_prints_on_it() -> None:
    assert isinstance(progress.console, ReadableConsole)
    assert isinstance(command_run._errors, ReadableConsole)  # pyright: ignore[reportPrivateUsage]


def test_r15_where_it_holds_is_told_whole() -> None:
    holds = Limits(products=("Register",), version_to="7.4", schema_version="12", note="Not where\nthe queue is off.")
    assert limits_line(holds) == "product Register, version … to 7.4, schema 12, Not where the queue is off."
    assert limits_line(Limits()) == ""
