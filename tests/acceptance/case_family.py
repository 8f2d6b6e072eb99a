"""A family of cases that look alike from outside and aren't: the ground of the spec's eight acceptance cases.

Our own writing, about an invented insurance desk. Documents are missing for three different reasons (a register row is
absent, a PDF is stale, a renewal was never created); shared numeric parsing has one route that was rejected and one
that was taken; a tariff is configured seven times, with hours. `family` gives the cases for one product, so that
several editions of it can stand side by side; `python -m tests.acceptance.case_family` prints them as a case file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from contracts.articles import ArticleDraft, ArticleKind, SourceKind, SourceReference
from contracts.casefile import CaseRecord
from contracts.cases import CaseFacts
from tests.acceptance import family_cases
from tests.acceptance.family_records import FIRST_DAY, Edition

REGISTER_OBJECTIVE = (
    "Renewal documents are missing from the document list. The archive holds no file, and no renewal policy exists."
)
"""What a data specialist asks when renewals were never created."""
STALE_OBJECTIVE = "The customer opens the document and the PDF still shows the premium from before the amendment."
PARSING_OBJECTIVE = "Amounts with an apostrophe as thousands separator are refused by the import."
TARIFF_OBJECTIVE = "Configure a new tariff with factors and covers from the delivered tariff sheet."
NUMBER_ARTICLE = "Numeric input is read by one shared parser: every import and every screen goes through it."


@dataclass(frozen=True)
class Family:
    """The cases of an edition by name."""

    missing_row: CaseRecord
    stale_pdf: CaseRecord
    uncreated_renewals: CaseRecord
    parsing_by_hand: CaseRecord
    """A rejected route."""
    shared_parsing: CaseRecord
    tariffs: tuple[CaseRecord, ...]
    """Five as agreed, then one whose scope changed, then one that failed."""

    def all(self) -> tuple[CaseRecord, ...]:
        """Return every case."""
        single = (
            self.missing_row, self.stale_pdf, self.uncreated_renewals, self.parsing_by_hand, self.shared_parsing,
        )  # fmt: skip
        return (*single, *self.tariffs)


def family(edition: Edition) -> Family:
    """Return the completed cases of an edition, each with an experience to propose."""
    return Family(
        family_cases.missing_row(edition),
        family_cases.stale_pdf(edition),
        family_cases.uncreated_renewals(edition),
        family_cases.parsing_by_hand(edition),
        family_cases.shared_parsing(edition),
        tuple(family_cases.tariff(edition, number, *told) for number, told in enumerate(family_cases.TARIFFS)),
    )


def open_request(edition: Edition, number: int, subject: str, body: str, *, objects: Sequence[str] = ()) -> CaseRecord:
    """Return an open request of the edition's product, without a result."""
    return CaseRecord(
        tenant=edition.tenant,
        source="desk",
        external_id=edition.external_id(number),
        occurred_at=FIRST_DAY + timedelta(days=60, minutes=number),
        subject=subject,
        body=body,
        facts=CaseFacts(
            domain_id="data",
            request_type="document not found",
            product=edition.product,
            object_refs=tuple(objects),
        ),
    )


def number_article(edition: Edition) -> ArticleDraft:
    """Return the domain memory about numeric input, to be retired."""
    return ArticleDraft(
        kind=ArticleKind.MEMORY,
        title=f"How {edition.product} reads numeric input",
        domain_id="data",
        body=f"{NUMBER_ARTICLE}\n\nIn {edition.product} a comma is the decimal sign; a blank separates thousands.",
        sources=(SourceReference(kind=SourceKind.DOCUMENT, locator="Handbook of the import, chapter 4"),),
        concepts=("numeric parsing",),
    )


if __name__ == "__main__":
    for record in family(Edition("Tern Policy", "TN")).all():
        print(record.model_dump_json(exclude_defaults=True))
