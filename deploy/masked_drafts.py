"""An imported experience masked before it is proposed: its personal data gives way to its case's placeholders (R6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from contracts import limits
from contracts.cases import Case
from contracts.draft_fields import text_fields
from contracts.experience import Draft
from contracts.masking import WORDS, SanitisedCase, normalised, spread_names
from contracts.personal_data import PersonalData, PersonalDataKind
from contracts.ports import PersonalDataFinder

Known = Mapping[tuple[PersonalDataKind, str], str]
"""The placeholder of each value of a case, by its kind and normal spelling."""
_IDS = (".id", ".paper_id", "domain_id")
"""What fields are called that hold no words."""
_PARAGRAPHS = (".text", ".use_when", ".avoid_when", ".note", ".changed_scope")
"""What fields are called that may be longer than a line."""


def personal_data_in(
    draft: Draft, of_case: Sequence[str], finder: PersonalDataFinder
) -> dict[str, Sequence[PersonalData]]:
    """Return where a draft holds personal data, by field; names of the case's own texts are looked for too. Blocks."""
    texts = {field.path: field.text for field in text_fields(draft) if not field.path.endswith(_IDS)}
    beside = {f"\0{number}": text for number, text in enumerate(of_case)}
    spread = spread_names(texts | beside, {path: finder.find(text) for path, text in (texts | beside).items()})
    return {path: spread[path] for path in texts if spread.get(path)}


def placeholders_of(sanitised: SanitisedCase, case: Case, papers: Mapping[str, tuple[str, str]]) -> Known:
    """Return the placeholders that the masked case uses.

    Args:
        sanitised: The case, masked.
        case: The case as it is.
        papers: Title and text of its papers, by their ids.
    """
    originals = {"title": case.title, "text": case.searchable}
    for paper_id, (title, text) in papers.items():
        originals |= {f"papers.{paper_id}.title": title, f"papers.{paper_id}.text": text}
    return {
        (place.kind, normalised(place.kind, originals[place.field][place.start : place.end])): place.placeholder
        for place in sanitised.places
        if place.field in originals
    }


def masked_draft(draft: Draft, places: Mapping[str, Sequence[PersonalData]], known: Known) -> Draft:
    """Return the draft with each place masked; what its case doesn't hold is taken out in words."""
    masked = {
        field.path: _masked(field.path, field.text, places[field.path], known)
        for field in text_fields(draft)
        if field.path in places
    }
    return Draft.model_validate(_replaced(draft.model_dump(), masked, ""))


def _masked(path: str, text: str, places: Sequence[PersonalData], known: Known) -> str:
    parts: list[str] = []
    at = 0
    for place in places:
        value = normalised(place.kind, text[place.start : place.end])
        parts += [text[at : place.start], known.get((place.kind, value), f"({WORDS[place.kind]} removed)")]
        at = place.end
    masked = "".join([*parts, text[at:]])
    most = limits.PARAGRAPH if path.endswith(_PARAGRAPHS) else limits.LINE
    if len(masked) <= most:
        return masked
    return masked[:most].rsplit("[", 1)[0].rstrip() or masked[:most]  # a placeholder may be longer than its value


def _replaced(value: Any, texts: Mapping[str, str], path: str) -> Any:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {name: _replaced(inner, texts, f"{path}.{name}".lstrip(".")) for name, inner in fields.items()}
    if isinstance(value, (tuple, list)):
        items = cast("Sequence[Any]", value)
        return [_replaced(inner, texts, f"{path}[{number}]") for number, inner in enumerate(items)]
    return texts.get(path, value)
