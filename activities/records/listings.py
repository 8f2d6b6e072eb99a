"""The lists that the pages show, each read as its reader, so that row-level security draws the line (R4, R20)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import RowMapping, text

from activities.records.cases import require_case
from activities.records.database import Database
from activities.records.experience_rows import revision_of
from activities.records.ids import is_id
from contracts import limits
from contracts.cases import CaseResult
from contracts.errors import InvalidField, UnknownExperience
from contracts.identity import Domain, Profile, Tenant
from contracts.labels import CandidateKind
from contracts.lifecycle import Stage
from contracts.listings import (
    CaseRecordView,
    Citations,
    CitedCheck,
    CitedUse,
    ErasureHead,
    ExperienceHead,
    ExperiencePage,
    FiledPaper,
    LagSample,
    RetrievalHead,
)
from contracts.retrieval import CheckOutcome
from contracts.text import check_text
from contracts.views import RevisionView

MOST = 200
"""Entries of one page."""
PAPERS = 50
_NEWEST_EVENTS = 20_000
"""Events that the lag is told of at most, the newest: the outbox itself is kept for good."""

_HEAD = """
SELECT e.id::text AS experience_id, e.kind, e.domain_id, r.title, e.stage, e.outcome, r.proof_level, e.revision,
       e.current_revision, e.suspended, e.stage_since AS since
  FROM experiences e JOIN revisions r ON r.experience_id = e.id AND r.number = e.revision
"""
_EXPERIENCES = text(f"""{_HEAD}
 WHERE (CAST(:kind AS text) IS NULL OR e.kind = :kind)
   AND (CAST(:stage AS text) IS NULL OR e.stage = :stage)
   AND (CAST(:domain AS text) IS NULL OR e.domain_id = :domain)
   AND (CAST(:words AS text) IS NULL OR r.title ILIKE :words)
   AND (CAST(:after_at AS timestamptz) IS NULL OR (e.stage_since, e.id) < (:after_at, CAST(:after_id AS uuid)))
 ORDER BY e.stage_since DESC, e.id DESC LIMIT :limit
""")
_OF_CASE = text(f"{_HEAD} WHERE e.case_id = CAST(:id AS uuid) ORDER BY e.stage_since DESC, e.id LIMIT :limit")
_PAPERS = text("""
SELECT id::text AS id, kind, title, text, author_id, created_at AS filed_at, count(*) OVER () AS papers
  FROM case_papers WHERE case_id = CAST(:id AS uuid) ORDER BY created_at DESC, id LIMIT :limit
""")
_RESULTS = text("""
SELECT id::text AS id, case_id::text AS case_id, outcome, proof_level, summary, effort,
       execution_paper_id::text AS execution_paper_id, proof_paper_id::text AS proof_paper_id
  FROM case_results WHERE case_id = CAST(:id AS uuid) ORDER BY recorded_at, id LIMIT :limit
""")
_USES = text("""
SELECT v.decision_id::text AS decision_id, v.request_id::text AS request_id, v.revision, v.verdict, v.why, u.summary,
       u.decided_by, u.decided_at, q.strategy_id || ' v' || q.strategy_version AS strategy, q.case_id::text AS case_id,
       f.usefulness, coalesce(f.note, '') AS note
  FROM retrieval_verdicts v
  JOIN memory_uses u USING (decision_id)
  JOIN retrieval_requests q ON q.id = v.request_id
  LEFT JOIN LATERAL (SELECT o.usefulness, o.note FROM feedback_outcomes o
                      WHERE o.decision_id = v.decision_id AND o.ref = v.ref AND o.revision = v.revision
                      ORDER BY o.number DESC LIMIT 1) f ON true
 WHERE v.ref = :ref ORDER BY u.decided_at DESC, v.decision_id LIMIT :limit
""")
_VERDICTS = text("SELECT verdict, count(*) FROM retrieval_verdicts WHERE ref = :ref GROUP BY verdict")
_CHECKS_OF = text("""
SELECT decision_id::text AS decision_id, check_id, text, outcome, note FROM fresh_checks
 WHERE decision_id = ANY (CAST(:ids AS uuid[])) ORDER BY check_id
""")
_SETTLED = text("""
SELECT c.outcome, count(*) FROM fresh_checks c
 WHERE c.outcome IS NOT NULL AND c.decision_id IN (SELECT v.decision_id FROM retrieval_verdicts v WHERE v.ref = :ref)
 GROUP BY c.outcome
""")
_RETRIEVALS = text("""
SELECT q.id::text AS request_id, q.principal_id, q.profile_id, q.strategy_id || ' v' || q.strategy_version AS strategy,
       q.request ->> 'objective' AS objective, q.case_id::text AS case_id, q.requested_at, q.answered_at,
       coalesce(q.abstained, false) AS abstained,
       (SELECT count(*) FROM retrieval_candidates c WHERE c.request_id = q.id) AS candidates,
       (SELECT count(*) FROM memory_uses u WHERE u.request_id = q.id) AS decisions
  FROM retrieval_requests q
 WHERE (CAST(:case_id AS uuid) IS NULL OR q.case_id = CAST(:case_id AS uuid))
   AND (CAST(:before AS timestamptz) IS NULL OR q.requested_at < :before)
 ORDER BY q.requested_at DESC, q.id LIMIT :limit
""")
_PUBLISHED = text("""
SELECT number, state, digest, content, author_id, published_at, domain_id FROM revisions
 WHERE experience_id = CAST(:id AS uuid) AND kind = 'experience' AND state = 'current'
""")
_PROFILES = text("""
SELECT p.id, p.domain_id, p.strategy_id, p.strategy_version
  FROM profiles p JOIN profile_members m ON m.profile_id = p.id
 WHERE m.principal_id = (SELECT app_principal()) ORDER BY p.id
""")
_TENANTS = text("SELECT id, name FROM tenants ORDER BY name, id LIMIT :limit")
_ERASURES = text("""
SELECT id::text AS erasure_id, tenant_id, case_id IS NOT NULL AS of_case, reason, state, requested_by, requested_at,
       finished_at
  FROM erasures ORDER BY requested_at DESC, id LIMIT :limit
""")
_LAG = text("""
SELECT date_bin(:step, delivered_at, CAST(:since AS timestamptz)) AS begins, count(*) AS events,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS median_seconds, max(seconds) AS longest_seconds
  FROM (SELECT delivered_at, extract(epoch FROM delivered_at - created_at) AS seconds
          FROM outbox WHERE topic = 'index' ORDER BY position DESC LIMIT :newest) AS changes
 WHERE delivered_at >= :since AND delivered_at < :until
 GROUP BY 1 ORDER BY 1
""")


class Listings:
    """Reads lists for people."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def experiences(
        self,
        principal_id: str,
        *,
        kind: CandidateKind | None = None,
        stage: Stage | None = None,
        domain: str | None = None,
        words: str = "",
        after: str | None = None,
        limit: int = 50,
    ) -> ExperiencePage:
        """Return experiences and articles whose lifecycle the reader may see, the last to move first.

        Args:
            principal_id: The reader.
            kind: Of this kind only.
            stage: At this stage only.
            domain: Of this domain only.
            words: In the title of the newest draft, in one piece.
            after: `after` of the page before.
            limit: Entries of one page.

        Raises:
            InvalidField: `after` is no place in the list.
            UnstorableText, TextTooLong: The words or the domain can't be any.
        """
        for field, value in (("domain", domain or ""), ("words", words)):
            check_text(value, field=field, limit=limits.LINE, allow_blank=True)
        after_at, after_id = _place(after)
        size = max(1, min(limit, MOST))
        values: dict[str, Any] = {
            "kind": kind,
            "stage": stage,
            "domain": domain,
            "words": f"%{_literally(words.strip())}%" if words.strip() else None,
            "after_at": after_at,
            "after_id": after_id,
            "limit": size + 1,
        }
        async with self._database.as_principal(principal_id) as connection:
            rows = (await connection.execute(_EXPERIENCES, values)).mappings().all()
        entries = tuple(ExperienceHead.model_validate(dict(row)) for row in rows[:size])
        more = f"{entries[-1].since.isoformat()}~{entries[-1].experience_id}" if len(rows) > size else None
        return ExperiencePage(entries=entries, after=more)

    async def of_case(self, principal_id: str, case_id: str) -> CaseRecordView:
        """Return papers (the newest first), results and experience of a case.

        Raises:
            UnknownCase: There is none in the reader's scope.
        """
        async with self._database.as_principal(principal_id) as connection:
            case = await require_case(connection, case_id)
            values = {"id": case.id, "limit": PAPERS}
            papers = (await connection.execute(_PAPERS, values)).mappings().all()
            results = (await connection.execute(_RESULTS, values)).mappings().all()
            experiences = (await connection.execute(_OF_CASE, values)).mappings().all()
        total = papers[0]["papers"] if papers else 0
        return CaseRecordView(
            papers=tuple(FiledPaper.model_validate(dict(row)) for row in papers),
            papers_left_out=total - len(papers),
            results=tuple(CaseResult.model_validate(dict(row)) for row in results),
            experiences=tuple(ExperienceHead.model_validate(dict(row)) for row in experiences),
        )

    async def citations(self, principal_id: str, ref: str, *, limit: int = 50) -> Citations:
        """Return the decisions that cite a text and that the reader may see, and how their checks came out (R20)."""
        values = {"ref": ref, "limit": max(1, min(limit, MOST))}
        async with self._database.as_principal(principal_id) as connection:
            uses = (await connection.execute(_USES, values)).mappings().all()
            verdicts = {row[0]: row[1] for row in await connection.execute(_VERDICTS, values)}
            settled = {row[0]: row[1] for row in await connection.execute(_SETTLED, values)}
            ids = [use["decision_id"] for use in uses]
            checks = (await connection.execute(_CHECKS_OF, {"ids": ids})).mappings().all()
        return Citations(
            uses=tuple(_use(use, checks) for use in uses),
            verdicts=verdicts,
            held=settled.get(CheckOutcome.HELD, 0),
            failed=settled.get(CheckOutcome.FAILED, 0),
        )

    async def retrievals(
        self,
        principal_id: str,
        *,
        case_id: str | None = None,
        before: datetime | None = None,
        limit: int = 50,
    ) -> list[RetrievalHead]:
        """Return the reader's own retrievals and those for cases that it may see, newest first."""
        values = {"case_id": case_id, "before": before, "limit": max(1, min(limit, MOST))}
        async with self._database.as_principal(principal_id) as connection:
            rows = await connection.execute(_RETRIEVALS, values)
            return [RetrievalHead.model_validate(dict(row)) for row in rows.mappings()]

    async def published(self, principal_id: str, experience_id: str) -> tuple[RevisionView, str]:
        """Return the current text of an experience, which everybody who is known may read, and its domain.

        Raises:
            UnknownExperience: Nothing of it is current.
        """
        async with self._database.as_principal(principal_id) as connection:
            id_ = experience_id if is_id(experience_id) else None
            row = (await connection.execute(_PUBLISHED, {"id": id_})).mappings().first()
        if row is None:
            raise UnknownExperience("There is no such experience in your scope.", field="experience_id")
        return revision_of(row), row["domain_id"]

    async def tenants(self, principal_id: str) -> list[Tenant]:
        """Return the tenants of which the reader may see at least a case."""
        async with self._database.as_principal(principal_id) as connection:
            rows = await connection.execute(_TENANTS, {"limit": MOST})
            return [Tenant.model_validate(dict(row)) for row in rows.mappings()]

    async def domains(self, principal_id: str) -> list[Domain]:
        """Return every domain, by name: they are shared by all tenants."""
        async with self._database.as_principal(principal_id) as connection:
            rows = await connection.execute(text("SELECT id, name, description FROM domains ORDER BY name, id"))
            return [Domain.model_validate(dict(row)) for row in rows.mappings()]

    async def profiles(self, principal_id: str) -> list[Profile]:
        """Return the profiles that the reader may act with; who else holds them is not told (R13)."""
        async with self._database.as_principal(principal_id) as connection:
            rows = await connection.execute(_PROFILES)
            return [Profile.model_validate(dict(row)) for row in rows.mappings()]

    async def erasures(self, *, limit: int = 100) -> list[ErasureHead]:
        """Return the erasures, newest first; for administrators, who alone may order them (R11)."""
        async with self._database.as_system() as connection:
            rows = await connection.execute(_ERASURES, {"limit": max(1, min(limit, MOST))})
            return [ErasureHead.model_validate(dict(row)) for row in rows.mappings()]

    async def lag(self, *, since: datetime, until: datetime, step: timedelta) -> list[LagSample]:
        """Return how long changes took from commit to searchable, in stretches of `step` that had any (R23).

        It is told from the outbox itself, of its newest events.
        """
        values = {"since": since, "until": until, "step": step, "newest": _NEWEST_EVENTS}
        async with self._database.as_system() as connection:
            rows = await connection.execute(_LAG, values)
            return [LagSample.model_validate(dict(row)) for row in rows.mappings()]


def _use(use: RowMapping, checks: Any) -> CitedUse:
    mine = tuple(CitedCheck.model_validate(dict(row)) for row in checks if row["decision_id"] == use["decision_id"])
    return CitedUse(**use, checks=mine)


def _place(after: str | None) -> tuple[datetime | None, str | None]:
    if after is None:
        return None, None
    moment, _, last = after.partition("~")
    try:
        at = datetime.fromisoformat(moment)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None or not is_id(last):
        raise InvalidField("This is no place in the list.", field="after", accepted="`after` of the page before")
    return at, last


def _literally(words: str) -> str:
    """Return words for LIKE, where they mean themselves."""
    return words.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_")
