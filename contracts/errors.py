"""Every refusal that Caselore can give, as one tree.

    CaseloreError
    ├── InvalidInput            the request can't be taken as it is; a changed one can
    │   ├── UnstorableText      NUL or an unpaired surrogate in a field
    │   ├── TextTooLong         a field over its limit
    │   ├── InvalidField        any other field that breaks its rule
    │   ├── SameCase            a case is linked with itself
    │   └── InvalidCaseFile     a line of an import file that can't be read
    ├── NotFound                the named thing isn't there, or isn't visible to the caller
    │   ├── UnknownPrincipal
    │   ├── UnknownTenant
    │   ├── UnknownDomain
    │   ├── UnknownProfile
    │   ├── UnknownStrategy
    │   ├── UnknownCase
    │   ├── UnknownContent
    │   ├── UnknownLink
    │   ├── UnknownDelegation
    │   ├── UnknownKey
    │   ├── UnknownExperience
    │   ├── UnknownArticle
    │   ├── UnknownCommand
    │   ├── UnknownEvent        no event of the outbox has this id
    │   ├── UnknownErasure
    │   ├── UnknownAdoption
    │   ├── UnknownConsultation
    │   └── UnknownRetrieval
    ├── NotPermitted            the principal is known and may not do this
    │   ├── NotAuthenticated
    │   │   └── UnknownIdentity     a good token of somebody who isn't linked to a principal
    │   ├── OutsideKey          the credential leaves out what its principal may do
    │   ├── CrossSite           a form that this site didn't make for this session
    │   ├── NotReviewer         no such role in the domain
    │   ├── SamePerson          proposer, curator and owner must be three people
    │   └── OutsideScope        a requested scope is wider than the grants
    ├── Conflict                true once, not any more: read again and decide again
    │   ├── StaleStage          the lifecycle moved on
    │   ├── StaleDigest         the text is not the one that was reviewed
    │   ├── StaleRevision       the expected revision is not the current one
    │   ├── ScopeNotAcknowledged    the scope difference was not seen, or is another one by now
    │   ├── LifecycleClosed     rejected, retired and superseded take no more decisions
    │   ├── NotPublished        the change needs a published revision
    │   ├── ConsultationClosed  somebody has replied, or it was withdrawn
    │   ├── AdoptionNeeded      a profile's pin changes by a reviewed adoption only
    │   ├── CaseMerged          the case was merged into another, where its work goes on
    │   ├── AlreadyLinked       the two cases are linked in this way
    │   ├── LinkRemoved         somebody else has removed the link
    │   ├── UnresolvedFindings  admission found something in the draft that nobody has resolved
    │   ├── ReviewClaimed       another reviewer works on it for now
    │   ├── NotDead             the event is not set aside, or may not be given up
    │   ├── Undeliverable       the request could not be delivered and was given up by an operator
    │   └── IdempotencyConflict the same key was used before with other content
    ├── NotProof                a label or paper is used as more than it is
    │   ├── UnverifiedResult    a proposal needs a recorded result with its papers
    │   ├── OutcomeOverstated   text claims more than its case result
    │   └── UncitedCandidate    a decision cites what its retrieval did not return
    └── Unavailable             try again later; nothing was lost
        ├── DeliveryPending     stored, not yet taken by the lifecycle
        ├── IndexUnavailable
        ├── IssuerUnavailable   the issuer of people's tokens can't be reached, or makes no sense
        ├── IndexSchemaMismatch a needed payload index, vector or model differs
        ├── EmbeddingUnavailable
        └── RuntimeUnavailable  a service of the runtime can't be started or reached

`type` is a stable name (the class name): it crosses Temporal and HTTP, and clients may match on it.
"""

from __future__ import annotations


class CaseloreError(Exception):
    """A refusal with a stable type, the field at fault and what would be accepted.

    Args:
        message: One sentence for the person who has to act.
        field: The input at fault, in the request's own names ("" when there is none).
        accepted: What would be accepted instead ("" when nothing would).
    """

    def __init__(self, message: str, *, field: str = "", accepted: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.accepted = accepted

    @property
    def type(self) -> str:
        """The stable name of this refusal."""
        return type(self).__name__

    def __str__(self) -> str:
        where = f" [{self.field}]" if self.field else ""
        return f"{self.message}{where}" + (f" Accepted: {self.accepted}." if self.accepted else "")


class InvalidInput(CaseloreError):
    """The request can't be taken as it is."""


class UnstorableText(InvalidInput):
    """A text holds NUL or an unpaired surrogate."""


class TextTooLong(InvalidInput):
    """A text is over its limit."""


class InvalidField(InvalidInput):
    """A field breaks its rule."""


class SameCase(InvalidInput):
    """A case can't be linked with or merged into itself."""


class InvalidCaseFile(InvalidInput):
    """A line of an import file can't be read."""


class NotFound(CaseloreError):
    """The named thing isn't there, or isn't visible to the caller."""


class UnknownPrincipal(NotFound):
    """No principal has this identity."""


class UnknownTenant(NotFound):
    """No tenant has this id."""


class UnknownDomain(NotFound):
    """No domain has this id."""


class UnknownProfile(NotFound):
    """No profile has this id, or the principal may not use it."""


class UnknownStrategy(NotFound):
    """No strategy has this id and version."""


class UnknownCase(NotFound):
    """No such case in the caller's scope."""


class UnknownLink(NotFound):
    """No such link between cases in the caller's scope."""


class UnknownDelegation(NotFound):
    """No such delegation that the caller is a party of (R7)."""


class UnknownKey(NotFound):
    """No API key has this id."""


class UnknownContent(NotFound):
    """No text is kept under this id in the caller's scope."""


class UnknownExperience(NotFound):
    """No such experience in the caller's scope."""


class UnknownArticle(NotFound):
    """No such article, or none that the caller may see."""


class UnknownCommand(NotFound):
    """No command has this id."""


class UnknownEvent(NotFound):
    """No event of the outbox has this id."""


class UnknownErasure(NotFound):
    """No erasure has this id."""


class UnknownAdoption(NotFound):
    """No adoption of a strategy version has this id."""


class UnknownConsultation(NotFound):
    """No consultation that the caller asked for, or whose domain it works for (R18)."""


class UnknownRetrieval(NotFound):
    """No such retrieval by this caller."""


class NotPermitted(CaseloreError):
    """The principal is known and may not do this."""


class NotAuthenticated(NotPermitted):
    """No valid credential came with the request."""


class UnknownIdentity(NotAuthenticated):
    """The token is good, and its person is not linked to a principal that may sign in."""


class OutsideKey(NotPermitted):
    """The credential is narrowed, and leaves out what its principal may do (R13)."""


class CrossSite(NotPermitted):
    """The form was not made by this site for this session."""


class NotReviewer(NotPermitted):
    """The principal doesn't hold the role that this stage asks for."""


class SamePerson(NotPermitted):
    """Proposer, curator and owner must be three different people (R7)."""


class OutsideScope(NotPermitted):
    """A requested scope is wider than the caller's grants; it can only narrow (R13)."""


class Conflict(CaseloreError):
    """True once, not any more: read again and decide again (R24)."""


class StaleStage(Conflict):
    """The decision names a stage that the lifecycle has left."""


class StaleDigest(Conflict):
    """The text is not the one that the reviewer saw."""


class StaleRevision(Conflict):
    """The expected revision is not the current one."""


class ScopeNotAcknowledged(Conflict):
    """The difference in scope was not acknowledged, or is another one by now (R10)."""


class LifecycleClosed(Conflict):
    """The lifecycle has ended and takes no more decisions."""


class NotPublished(Conflict):
    """The change needs a published revision."""


class ConsultationClosed(Conflict):
    """Somebody has replied for the domain already, or the question was withdrawn (R18)."""


class AdoptionNeeded(Conflict):
    """The strategy version that a profile pins changes by a reviewed adoption only (R14)."""


class CaseMerged(Conflict):
    """The case was merged into another, where its work goes on (R2)."""


class AlreadyLinked(Conflict):
    """The two cases are linked in this way already (R2)."""


class LinkRemoved(Conflict):
    """The link was removed before, by another decision (R2)."""


class UnresolvedFindings(Conflict):
    """Admission found something in the draft that nobody has resolved yet (R6)."""


class ReviewClaimed(Conflict):
    """Another reviewer has claimed the review, for now."""


class NotDead(Conflict):
    """The event is not set aside, or is one that must be delivered in the end (R9)."""


class Undeliverable(Conflict):
    """The request could not be delivered and was given up by an operator; it had no effect (R23)."""


class IdempotencyConflict(Conflict):
    """The same key was used before with other content."""


class NotProof(CaseloreError):
    """A label or paper is used as more than it is."""


class UnverifiedResult(NotProof):
    """A proposal needs a recorded case result with its papers (R5)."""


class OutcomeOverstated(NotProof):
    """A text claims more than its case result shows (R5)."""


class UncitedCandidate(NotProof):
    """A decision cites a candidate that its retrieval did not return (R20)."""


class Unavailable(CaseloreError):
    """Try again later; nothing was lost."""


class DeliveryPending(Unavailable):
    """Stored durably, not yet taken by the lifecycle."""


class IndexUnavailable(Unavailable):
    """The search index can't be reached."""


class IssuerUnavailable(Unavailable):
    """The issuer of people's tokens can't be reached, or its answer can't be used."""


class IndexSchemaMismatch(Unavailable):
    """A collection lacks a vector or payload index, or was built with another model."""


class EmbeddingUnavailable(Unavailable):
    """The embedding model can't be loaded or gives the wrong dimension."""


class RuntimeUnavailable(Unavailable):
    """A service of the runtime can't be started or reached."""


def every_error() -> dict[str, type[CaseloreError]]:
    """Return each error class by its stable name, to rebuild one that crossed a wire."""
    found: dict[str, type[CaseloreError]] = {}
    pending: list[type[CaseloreError]] = [CaseloreError]
    while pending:
        cls = pending.pop()
        found[cls.__name__] = cls
        pending.extend(cls.__subclasses__())
    return found
