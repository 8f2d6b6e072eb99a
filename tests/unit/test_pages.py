"""What the pages are made of: visible texts, findings in place, forms, colours, and templates that escape."""

from __future__ import annotations

import itertools
import re
from datetime import UTC, datetime, timedelta
from importlib import resources
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from api.pages import article_form, draft_form
from api.pages.forms import Posted
from api.pages.highlights import pieces
from api.pages.lag_chart import lag_chart
from api.pages.render import environment, exactly
from api.pages.visible import visible
from api.pages.words import field_words, place
from contracts.admission import Check, Finding, Severity
from contracts.articles import ArticleDraft
from contracts.errors import InvalidField, OutcomeOverstated
from contracts.experience import Draft
from contracts.labels import Outcome
from contracts.listings import LagSample
from contracts.review_sheet import ListedFinding
from tests.unit.test_draft_difference import drafts

NOW = datetime(2026, 3, 2, 8, 15, tzinfo=UTC)
STYLE = (resources.files("api.pages") / "static" / "caselore.css").read_text()
TEMPLATES = {
    file.name: file.read_text()
    for file in sorted((resources.files("api.pages") / "templates").iterdir(), key=lambda each: each.name)
}


# --- texts


@pytest.mark.parametrize("hidden", ["\u202e", "\u2066", "\u200b", "\u00ad", "\x1b", "\ufeff", "\u200f", "\U000e0041"])
def test_what_nobody_sees_is_spelled_out(hidden: str) -> None:
    assert visible(f"a{hidden}b") == f"a[U+{ord(hidden):04X}]b"


@pytest.mark.parametrize("text", ["line\n\tend", "می‌خواهم", "👩‍🚒", "الشهادات", "naïve"])
def test_what_people_write_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


@given(st.text())
def test_nothing_in_a_text_becomes_markup(text: str) -> None:
    page = (
        environment().from_string('<p title="{{ t }}">{{ t }}</p><textarea>{{ t|exactly }}</textarea>').render(t=text)
    )
    assert page.count("<") == 4
    assert page.count(">") == 4
    assert page.count('"') == 2


@given(st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=50))
def test_a_form_field_sends_back_what_was_in_it(text: str) -> None:
    held = Markup(str(exactly(text))).unescape()
    assert held == (f"\n{text}" if text.startswith("\n") else text)  # HTML drops the first line end of a textarea


def test_no_template_lets_a_text_through_as_markup() -> None:
    assert "safe" not in environment().filters
    for name, text in TEMPLATES.items():
        assert not re.search(r"\|\s*safe|autoescape\s+false|Markup", text), name


def test_no_template_holds_a_script_a_style_or_a_handler() -> None:
    """The content policy allows none of them; a page that needs one would be broken."""
    for name, text in TEMPLATES.items():
        assert not re.search(r"\son\w+\s*=|\sstyle\s*=|<style|javascript:", text), name
        assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text)), name


def test_every_posted_form_carries_the_token_of_its_session() -> None:
    for name, text in TEMPLATES.items():
        for form in re.findall(r'<form[^>]*method="post".*?</form>', text, flags=re.DOTALL):
            assert 'name="csrf"' in form, name


# --- findings in their places


def listed(start: int, end: int, check: Check = Check.PERSONAL_DATA) -> ListedFinding:
    return ListedFinding(finding=Finding(id=f"{check}-{start}-{end}", check=check, field="title", start=start, end=end))


@given(st.text(max_size=30), st.lists(st.tuples(st.integers(0, 35), st.integers(0, 35)), max_size=5))
def test_r6_the_pieces_are_the_text_and_each_has_what_covers_it(text: str, places: list[tuple[int, int]]) -> None:
    findings = [listed(*place_) for place_ in places if place_[0] <= place_[1]]
    cut = pieces(text, findings)
    assert "".join(piece.text for piece in cut) == text
    at = 0
    for piece in cut:
        middle = at + len(piece.text) / 2
        covering = {each.finding.id for each in findings if each.finding.start < middle < each.finding.end}
        assert {each.finding.id for each in piece.found} == covering
        at += len(piece.text)


def test_r6_the_most_urgent_finding_of_a_place_is_what_is_shown() -> None:
    cut = pieces("abcdef", [listed(0, 4), listed(2, 6, Check.CREDENTIAL)])
    assert [(piece.text, piece.severity) for piece in cut] == [
        ("ab", Severity.MUST_RESOLVE),
        ("cd", Severity.MUST_FIX),
        ("ef", Severity.MUST_FIX),
    ]


# --- forms


def sent(form: draft_form.DraftForm) -> Posted:
    """Return the form as a browser sends it back untouched."""
    values = {name: [value] for name, value in form.values.items()} | {"units": [str(len(form.units))]}
    for at, unit in enumerate(form.units):
        values |= {f"unit.{at}.{name}": [value] for name, value in unit.values.items()}
    return Posted(values)


@given(drafts())
def test_a_draft_comes_back_from_its_form_unchanged(draft: Draft) -> None:
    again = draft_form.draft_in(draft_form.fields_in(sent(draft_form.fields_of(draft))), draft)
    assert again.digest() == draft.digest()


def form_of(draft: Draft, **changed: str) -> Posted:
    posted = sent(draft_form.fields_of(draft))
    values = {name: [posted.text(name)] for name in _names(posted)}
    return Posted({**values, **{name.replace("__", "."): [value] for name, value in changed.items()}})


def _names(posted: Posted) -> list[str]:
    return list(posted._values)


DRAFT = Draft.model_validate(
    {
        "title": "Rows missing",
        "domain_id": "data",
        "outcome": "failed",
        "proof_level": "executed",
        "synopsis": {"request_type": "printing", "route": "data", "disposition": "failed", "text": "It failed."},
        "units": [
            {
                "id": "u1",
                "kind": "proposition",
                "text": "The row is missing.",
                "concepts": ["row"],
                "outcome": "failed",
                "proof_level": "executed",
            }
        ],
    }
)


def test_r5_a_form_claims_no_more_than_the_record_lets_it() -> None:
    with pytest.raises(OutcomeOverstated):
        draft_form.draft_in(draft_form.fields_in(form_of(DRAFT, unit__0__outcome=Outcome.SUCCEEDED)), DRAFT)


def test_a_place_that_is_none_is_told_with_what_would_be_one() -> None:
    with pytest.raises(InvalidField) as told:
        draft_form.draft_in(draft_form.fields_in(form_of(DRAFT, unit__0__spans="somewhere 1")), DRAFT)
    assert told.value.field == "units.spans"


def test_a_unit_is_added_blank_and_leaves_no_trace_when_it_stays_blank() -> None:
    form = draft_form.fields_in(form_of(DRAFT, add_unit="yes"))
    assert [unit.values["id"] for unit in form.units] == ["u1", "u2"]
    assert draft_form.draft_in(form, DRAFT).digest() == DRAFT.digest()


def test_an_article_comes_back_from_its_form_unchanged() -> None:
    article = ArticleDraft.model_validate(
        {
            "kind": "method",
            "title": "How",
            "domain_id": "data",
            "body": "First.\n\nThen.",
            "sources": [
                {"kind": "system", "locator": "register", "version": "7.4"},
                {"kind": "document", "locator": "Handbook"},
            ],
            "concepts": ["row"],
            "limits": {"products": ["Policy"]},
        }
    )
    form = article_form.fields_of(article)
    again = article_form.article_in(article_form.fields_in(Posted({name: [it] for name, it in form.values.items()})))
    assert again == article


# --- words


def test_a_path_is_said_in_words() -> None:
    assert field_words("units[0].text", DRAFT) == "Unit u1, text"
    assert field_words("units[u7].limits.version") == "Unit u7, limits, versions"
    assert field_words("synopsis.symptom_tags[2]") == "Synopsis, symptoms 3"
    assert place("units[0].text") == "at-units-0-text"


# --- chart


@given(
    st.lists(st.tuples(st.integers(0, 47), st.floats(0, 1e6, allow_nan=False)), max_size=20, unique_by=lambda s: s[0])
)
def test_r23_every_bar_of_the_chart_stays_inside_it(given_: list[tuple[int, float]]) -> None:
    step = timedelta(minutes=30)
    samples = [
        LagSample(begins=NOW + at * step, events=1, median_seconds=longest / 2, longest_seconds=longest)
        for at, longest in given_
    ]
    chart = lag_chart(samples, since=NOW, until=NOW + 48 * step, step=step)
    assert chart.events == len(samples)
    for bar in chart.bars:
        assert chart.left <= bar.x <= bar.x + bar.width <= chart.width + 1
        assert 0 < bar.top < chart.floor
        assert bar.top <= bar.median_y + 1
        assert bar.median_y <= chart.floor


@pytest.mark.parametrize("is_administrator", [True, False])
def test_r21_how_much_changed_in_all_tenants_is_told_to_administrators_alone(is_administrator: bool) -> None:
    step = timedelta(minutes=30)
    sample = LagSample(begins=NOW, events=7_341, median_seconds=1.0, longest_seconds=2.0)
    page = environment().get_template("status.html")
    shown = page.render(
        session=None,
        path="/status",
        now=NOW,
        refresh=0,
        marks=(),
        chart=lag_chart([sample], since=NOW, until=NOW + step, step=step),
        hours=1,
        step=step,
        choices=(1,),
        figures=SimpleNamespace(stages={}, searchable=0, dead=0) if is_administrator else None,
        letters=(),
        reports=(),
    )
    assert ("7341" in shown, "7,341" in shown) == (is_administrator, is_administrator)


# --- colours


def colours(block: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6});", block))


LIGHT = colours(STYLE[: STYLE.index("@media (prefers-color-scheme: dark)")])
DARK = LIGHT | colours(STYLE[STYLE.index("@media (prefers-color-scheme: dark)") : STYLE.index("*, *::before")])
TEXT_ON = [
    *itertools.product(("ink", "quiet", "accent", "bad", "warn"), ("paper", "surface", "sunken")),
    *((tone, f"{tone}-surface") for tone in ("good", "bad", "warn", "info")),
    *(("ink", f"{tone}-surface") for tone in ("good", "bad", "warn", "info")),
    *(("accent", f"{tone}-surface") for tone in ("bad", "warn", "info")),
    ("on-accent", "accent"),
    ("surface", "bad"),
]
EDGES = [*itertools.product(("control", "focus"), ("paper", "surface")), ("bar", "surface"), ("focus", "sunken")]


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_every_pair_of_colours_meets_wcag_aa(scheme: dict[str, str]) -> None:
    """4.5 for text, 3 for the edges of controls, the focus and the bars of the chart."""
    weak = [
        (one, other, round(contrast(scheme[one], scheme[other]), 2))
        for pairs, least in ((TEXT_ON, 4.5), (EDGES, 3.0))
        for one, other in pairs
        if contrast(scheme[one], scheme[other]) < least
    ]
    assert weak == []


def test_colours_are_named_in_one_place() -> None:
    rules = STYLE[STYLE.index("*, *::before") :]
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b(?![^{]*\{)", rules) == []
    assert set(re.findall(r"var\(--([\w-]+)\)", rules)) <= {*LIGHT, "mono", "sans"}
