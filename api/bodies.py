"""Bodies and answers that only HTTP has; everything else is a record of `contracts`."""

from __future__ import annotations

from pydantic import AwareDatetime, Field

from contracts.cases import CaseResult, Paper
from contracts.experience import Draft
from contracts.identity import Principal
from contracts.labels import CaseState
from contracts.model import Model
from contracts.review_sheet import ClaimView
from contracts.text import Identifier, OptionalLine

PAPERS = 100
"""Papers of one request."""
HIGHEST_REVISION = 2**31 - 1


class StateChange(Model):
    """A case's next state, if it still is at the revision that the caller read (R24)."""

    state: CaseState
    expected_revision: int = Field(ge=0, le=HIGHEST_REVISION)
    at: AwareDatetime
    """When it changed; the same change again, with the same time, is answered as the first one was."""
    waiting_on: OptionalLine = ""


class PapersToFile(Model):
    """Papers for a case."""

    papers: tuple[Paper, ...] = Field(min_length=1, max_length=PAPERS)


class FiledPapers(Model):
    """The papers that are in the case now."""

    case_id: str
    paper_ids: tuple[str, ...]


class ResultToRecord(Model):
    """What a case ended with, with the papers that show it."""

    result: CaseResult
    papers: tuple[Paper, ...] = Field(default=(), max_length=PAPERS)
    complete_at: AwareDatetime | None = None
    """When given, the case is completed at this time."""


class Read(Model):
    """A candidate that the caller wants to read in full."""

    ref: Identifier
    revision: int = Field(ge=0, le=HIGHEST_REVISION)


class ReadText(Model):
    """A candidate's full approved text, as it is current now."""

    ref: str
    revision: int
    draft: Draft | None = None
    """For experience."""
    text: str | None = None
    """For cases and articles."""


class Release(Model):
    """Whose claim of the review stands after the caller's was given back."""

    claim: ClaimView | None = None
    """None: nobody's."""


class PrincipalToAdd(Model):
    """A person or agent, and whether it gets an API key."""

    principal: Principal
    issue_key: bool = False
    """Each request with this set issues one more key."""
    active: bool | None = None
    """Whether it may sign in; None leaves that as it is."""
    key_expires_at: AwareDatetime | None = None


class IssuedKey(Model):
    """The new key; it is shown this once."""

    api_key: str | None = None


class Readiness(Model):
    """Whether everything that requests need answers."""

    ready: bool
    down: tuple[str, ...] = ()
    """What doesn't answer."""
    dead_letters: int = 0
    """Events that were set aside for a person; requests are served all the same."""


class Liveness(Model):
    """That the process answers."""

    alive: bool = True
