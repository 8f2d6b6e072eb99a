"""A case's texts with personal data masked: what proposers draft from (R6)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from contracts.masking import (
    CaseTexts,
    MaskedPlace,
    SanitisedCase,
    SanitisedPaper,
    Value,
    mask,
    numbers_of,
    spread_names,
    values_of,
)
from contracts.personal_data import PersonalData
from contracts.ports import CaseTextRecords, PersonalDataFinder

Found = dict[str, list[PersonalData]]


class CaseText:
    """Finds and masks; the case itself keeps the original.

    Args:
        records: The record, read as the caller.
        finder: Finds personal data; runs in a thread.
    """

    def __init__(self, records: CaseTextRecords, finder: PersonalDataFinder) -> None:
        self._records = records
        self._finder = finder

    async def sanitised(self, principal_id: str, case_id: str) -> SanitisedCase:
        """Return the case's texts masked, and each masked place.

        Raises:
            UnknownCase: There is none in the caller's scope.
        """
        read = await self._records.texts(principal_id, case_id)
        texts = _fields(read)
        found, values = await asyncio.to_thread(self._find, texts)
        numbers = numbers_of(values, await self._records.numbers(principal_id, case_id, values))
        masked: dict[str, str] = {}
        places: list[MaskedPlace] = []
        for field, text in texts.items():
            masked[field], used = mask(text, found[field], numbers)
            places += [
                MaskedPlace(field=field, placeholder=placeholder, **place.model_dump())
                for place, placeholder in zip(found[field], used, strict=True)
            ]
        return SanitisedCase(
            case_id=read.case_id,
            revision=read.revision,
            title=masked["title"],
            text=masked["text"],
            papers=tuple(
                SanitisedPaper(
                    id=paper.id,
                    kind=paper.kind,
                    title=masked[f"papers.{paper.id}.title"],
                    text=masked[f"papers.{paper.id}.text"],
                )
                for paper in read.papers
            ),
            papers_left_out=read.papers_left_out,
            places=tuple(places),
        )

    def _find(self, texts: Mapping[str, str]) -> tuple[Found, Sequence[Value]]:
        found = spread_names(texts, {field: self._finder.find(text) for field, text in texts.items()})
        return found, values_of(texts, found)


def _fields(read: CaseTexts) -> dict[str, str]:
    fields = {"title": read.title, "text": read.text}
    for paper in read.papers:
        fields[f"papers.{paper.id}.title"] = paper.title
        fields[f"papers.{paper.id}.text"] = paper.text
    return fields
