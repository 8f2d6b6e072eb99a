"""Erasure on request: what is asked for, what would be found, and the receipt of what was removed and checked (R11)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from contracts import limits
from contracts.erased_text import Eraser, check_value
from contracts.errors import InvalidField
from contracts.model import Model
from contracts.text import Id, Identifier, Line, check_text


def _check_subject(value: object, info: ValidationInfo) -> object:
    if isinstance(value, str):
        field = info.field_name or "subject"
        check_text(value, field=field, limit=limits.LINE)
        check_value(value, field=field)
    return value


SubjectValue = Annotated[str, BeforeValidator(_check_subject), Field(max_length=limits.LINE)]
"""One way in which a person is named: a mail address, a name, a phone number."""


class ErasureTarget(Model):
    """What is to be erased: a case, or every occurrence of what names a subject, in one tenant."""

    tenant_id: Identifier
    case_id: Id | None = None
    subject: tuple[SubjectValue, ...] = Field(default=(), max_length=limits.ERASURE_VALUES, repr=False)
    """Found in every spelling that `contracts.erased_text` knows, also inside longer words."""
    keep_published: bool = False
    """Of a case: its published experience stays, if it holds no handle of the case."""

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.case_id is None) != bool(self.subject):
            raise InvalidField(
                "An erasure is of a case or of a subject.",
                field="case_id",
                accepted="a case id, or 1 to 20 values of a subject, not both",
            )
        if self.keep_published and self.case_id is None:
            raise InvalidField(
                "Of a subject nothing is kept.", field="keep_published", accepted="false for the erasure of a subject"
            )
        return self


class ErasureRequest(ErasureTarget):
    """An order to erase, for administrators. `erasure_id` is the idempotency key and names the workflow."""

    erasure_id: Id
    reason: Line
    """Why, without what is to be erased: it stays in the receipt."""
    at_most: int | None = Field(default=None, ge=0)
    """Fields that may change, as a preview counted them; None takes `limits.ERASURE_FIELDS`. Of a subject only."""

    @model_validator(mode="after")
    def _reason_may_stay(self) -> Self:
        if self.subject and Eraser(self.subject).count(self.reason):
            raise InvalidField(
                "The reason holds what is to be erased, and it stays in the receipt.",
                field="reason",
                accepted="a reason without the subject's own data, such as a ticket number",
            )
        return self


class PlaceCount(Model):
    """How much is in one table or collection."""

    place: str
    rows: int
    fields: int


class ErasurePreview(Model):
    """What an erasure would find now; nothing was changed."""

    places: tuple[PlaceCount, ...]
    fields: int
    """Over all places; what `at_most` is held against."""
    experiences: int = 0
    """Published experiences that would leave retrieval."""


class ErasureState(StrEnum):
    """How far an erasure has come."""

    RUNNING = "running"
    DONE = "done"
    """Removed everywhere that is reached, and verified: nothing was found any more."""
    NEEDS_PERSON = "needs_person"
    """Something is left, or a step can't be done: the receipt says what. The same request again tries again."""


class StoreReport(Model):
    """What an erasure did in one store."""

    store: str
    """`records`, `index`, `histories`, `caches` or `files`."""
    places: tuple[PlaceCount, ...] = ()
    """What was found and removed."""
    looked_at: int = 0
    """Workflows, points or tables that were looked through afterwards."""
    left: int = 0
    """What was found afterwards; 0, or the erasure isn't done."""
    note: str = ""


class ErasureReceipt(Model):
    """What an erasure removed and checked. It holds none of what was erased."""

    erasure_id: str
    tenant_id: str
    case_id: str | None = None
    values: int = 0
    """How many values named the subject; the values themselves are gone when it is done."""
    keep_published: bool = False
    reason: str
    requested_by: str
    requested_at: datetime
    finished_at: datetime | None = None
    state: ErasureState
    why: str = ""
    """What a person has to look at."""
    stores: tuple[StoreReport, ...] = ()
    not_reached: tuple[str, ...] = ()
    """Where text may still be, out of this product's reach."""


NOT_REACHED = (
    "backups and copies of the database that were made before",
    "freed space in the files and write-ahead log of PostgreSQL, until it is used again",
    "what was answered to callers before, and their own logs",
    "the sources that the requests came from: what they deliver anew is new",
    "texts inside pictures, attachments, archives and other encodings than JSON, HTML and percent",
    "ids of principals, tenants, domains and profiles, which other records refer to",
)
"""Named in every receipt."""


class ErasureStep(Model):
    """What an activity of an erasure reports to its workflow: counts only."""

    done: int = 0
    left: int = 0


class ErasureEnd(Model):
    """Argument of the activity that ends an erasure."""

    erasure_id: str
    why: str = ""
    """What a person has to look at; "" when nothing is left."""
