"""The newly written part of a message, whatever a mail program made of the rest."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from activities.mail.newly_written import newly_written
from contracts import limits
from contracts.cases import BodyFormat

OLD = "On Tue, 3 Feb 2026 at 09:00, Ann <ann@example.org> wrote:\n> Please try again.\n> Bye"
PIECES = st.lists(
    st.sampled_from(
        [
            "> a", ">", "\n", "\r\n", "On Tue wrote:\n", "<p>", "</div>", "<blockquote>", "&#0;", "&#xD800;", "<!--",
            "From: a\n", "-----Original Message-----\n", "<", "a@example.org", "<?xml encoding='x'?>", "\u2028", "é ",
        ]
    ) | st.text(max_size=8),
    max_size=30,
).map("".join)  # fmt: skip


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"Thanks, it works.\n\n{OLD}", "Thanks, it works."),
        (f"{OLD}\n\nI tried, it fails.", "I tried, it fails."),
        ("> a\n> b\n> c?\nYes.\n> d\n> e\n> f?\nNo.\n", "Yes.\n\nNo."),
        ("> one quoted line\nYes.", ""),
        ("New\n\n-----Original Message-----\nFrom: B\nSent: Monday\nTo: A\nSubject: X\n\nOld", "New"),
        ("Oben\n\nAm 03.02.2026 um 09:00 schrieb Ann <a@example.org>:\n> Alt", "Oben"),
        ("No quote here.\nBye", ""),
        ("---------- Forwarded message ----------\nFrom: B <b@example.org>\nDate: Mon\nSubject: X\nTo: A\n\nOld", ""),
        ("> only a quote", ""),
        ("", ""),
    ],
)
def test_text(body: str, expected: str) -> None:
    assert newly_written(body, BodyFormat.TEXT) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p>Hello <b>there</b></p>", "Hello there"),
        ("<div>New</div><div class='gmail_quote'>On Tue, Ann wrote:<blockquote>old</blockquote></div>", "New"),
        ("<blockquote>old</blockquote><p>answer</p>", "answer"),
        ("", ""),
        ("<html></html>", ""),
    ],
)
def test_html(body: str, expected: str) -> None:
    assert newly_written(body, BodyFormat.HTML) == expected


@settings(max_examples=300, deadline=None)
@given(PIECES, st.sampled_from(BodyFormat))
def test_nothing_raises_and_everything_can_be_stored(body: str, body_format: BodyFormat) -> None:
    written = newly_written(body, body_format)
    assert "\x00" not in written
    written.encode()


@pytest.mark.parametrize(
    "body",
    [
        "a\n",
        "> a\nb\n",
        "From: a\n",
        "On Tue wrote\n",
        "<div>",
        "<script>",
        "<blockquote>a</blockquote>b<br>",
        "<",
        " ",
    ],
)
@pytest.mark.parametrize("body_format", BodyFormat)
def test_a_long_message_takes_no_long_time(body: str, body_format: BodyFormat) -> None:
    began = time.process_time()
    newly_written(body * (limits.BODY // len(body)), body_format)
    assert time.process_time() - began < 5
