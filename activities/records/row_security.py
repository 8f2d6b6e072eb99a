"""Row-level security: who sees which rows, told once, as data.

Two login roles use the database, neither owns it nor may bypass the policies:

- `caselore_app` sees what the principal of its transaction may see. The principal is set per transaction
  (`caselore.principal`); its tenants, cases and review domains derive from the grant and role tables.
  Unset, unknown or inactive: no rows (R4).
- `caselore_system` runs the lifecycle, the projector and sign-in, which work across tenants.
"""

from __future__ import annotations

APP = "caselore_app"
SYSTEM = "caselore_system"

FUNCTIONS = """
CREATE FUNCTION app_principal() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT id FROM principals WHERE id = NULLIF(current_setting('caselore.principal', true), '') AND active
$$;
CREATE FUNCTION app_tenants() RETURNS SETOF text LANGUAGE sql STABLE AS $$
  SELECT tenant_id FROM grants
   WHERE principal_id = app_principal() AND case_id IS NULL AND (expires_at IS NULL OR expires_at > now())
$$;
CREATE FUNCTION app_cases() RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
  SELECT case_id FROM grants
   WHERE principal_id = app_principal() AND case_id IS NOT NULL AND (expires_at IS NULL OR expires_at > now())
$$;
CREATE FUNCTION app_review_domains() RETURNS SETOF text LANGUAGE sql STABLE AS $$
  SELECT domain_id FROM domain_roles WHERE principal_id = app_principal()
$$;
"""

_KNOWN = "(SELECT app_principal()) IS NOT NULL"
_OWN = "principal_id = (SELECT app_principal())"
_TENANT = "tenant_id IN (SELECT app_tenants())"
_CASE = f"({_TENANT} OR case_id IN (SELECT app_cases()))"
_EXPERIENCE = "EXISTS (SELECT 1 FROM experiences e WHERE e.id = experience_id)"
_RETRIEVAL = "EXISTS (SELECT 1 FROM retrieval_requests r WHERE r.id = request_id)"
_OWN_RETRIEVAL = (
    "EXISTS (SELECT 1 FROM retrieval_requests r WHERE r.id = request_id AND r.principal_id = (SELECT app_principal()))"
)
_MY_PROPOSAL = (
    "EXISTS (SELECT 1 FROM experiences e WHERE e.id = experience_id AND e.proposer_id = (SELECT app_principal()))"
)
_MY_REVIEW = (
    "EXISTS (SELECT 1 FROM experiences e WHERE e.id = experience_id AND e.domain_id IN (SELECT app_review_domains()))"
)
# An answer may have been given under grants that its reader doesn't hold, or no longer holds (R4, R21).
_SOURCE = (
    "(candidate ->> 'source_case' IS NULL"
    " OR EXISTS (SELECT 1 FROM cases c WHERE c.id = CAST(candidate ->> 'source_case' AS uuid)))"
)
# Whoever sees an experience or case sees what was done to it; everybody sees their own acts.
_AUDIT = (
    "actor_id = (SELECT app_principal()) OR EXISTS (SELECT 1 FROM experiences e WHERE e.id = subject_id)"
    " OR EXISTS (SELECT 1 FROM cases c WHERE c.id = subject_id)"
)
_USE = "EXISTS (SELECT 1 FROM memory_uses u WHERE u.decision_id = {table}.decision_id)"

READ: dict[str, str] = {
    "tenants": "id IN (SELECT app_tenants()) OR id IN (SELECT tenant_id FROM grants)",
    "principals": "id = NULLIF(current_setting('caselore.principal', true), '') AND active",
    "grants": f"{_OWN} AND (expires_at IS NULL OR expires_at > now())",
    "domains": _KNOWN,
    "domain_roles": _OWN,
    "origins": f"{_TENANT} OR EXISTS (SELECT 1 FROM cases c WHERE c.origin_id = origins.id)",
    "arrivals": _CASE,
    "contents": _CASE,
    "cases": f"{_TENANT} OR id IN (SELECT app_cases())",
    "case_states": _CASE,
    "case_links": f"{_TENANT} OR (case_id IN (SELECT app_cases()) AND other_case_id IN (SELECT app_cases()))",
    "case_papers": _CASE,
    "case_results": _CASE,
    "case_keys": _CASE,
    "case_placeholders": _CASE,
    "experiences": f"{_CASE} OR domain_id IN (SELECT app_review_domains())",
    "revisions": f"(state = 'current' AND {_KNOWN}) OR {_EXPERIENCE}",
    "commands": _EXPERIENCE,
    "review_decisions": _EXPERIENCE,
    "transitions": _EXPERIENCE,
    "admissions": _EXPERIENCE,
    "admission_findings": _EXPERIENCE,
    "finding_dismissals": _EXPERIENCE,
    "review_claims": _EXPERIENCE,
    "delegations": "(SELECT app_principal()) IN (delegator_id, delegate_id)",
    "strategies": _KNOWN,
    "strategy_versions": _KNOWN,
    "profiles": _KNOWN,
    "profile_members": _OWN,
    "retrieval_requests": f"{_OWN} OR {_CASE}",
    "retrieval_candidates": f"{_RETRIEVAL} AND {_SOURCE}",
    "retrieval_reads": _RETRIEVAL,
    "memory_uses": _RETRIEVAL,
    "retrieval_verdicts": _USE.format(table="retrieval_verdicts"),
    "fresh_checks": _USE.format(table="fresh_checks"),
    "watermarks": _KNOWN,
    "audit": _AUDIT,
    "projections": "EXISTS (SELECT 1 FROM experiences e WHERE e.id = target_id)"
    " OR EXISTS (SELECT 1 FROM cases c WHERE c.id = target_id)",
}
"""What the application role may read."""

_BY_ME = "{} = (SELECT app_principal())"
WRITE: dict[str, str] = {
    "origins": _TENANT,
    "arrivals": _TENANT,
    "contents": _TENANT,
    "cases": _TENANT,
    "case_states": f"{_CASE} AND {_BY_ME.format('changed_by')}",
    "case_links": f"{_TENANT} AND {_BY_ME.format('decided_by')}",
    "case_papers": f"{_CASE} AND {_BY_ME.format('author_id')}",
    "case_results": f"{_CASE} AND {_BY_ME.format('recorded_by')}",
    "case_keys": _CASE,
    "case_placeholders": _CASE,
    "experiences": f"{_CASE} AND {_BY_ME.format('proposer_id')} AND stage = 'curator_review'",
    "revisions": f"number = 1 AND state = 'draft' AND {_BY_ME.format('author_id')} AND {_MY_PROPOSAL}",
    "commands": f"state = 'pending' AND {_BY_ME.format('issued_by')} AND {_EXPERIENCE}",
    "transitions": f"seq = 1 AND event = 'propose' AND {_BY_ME.format('actor_id')} AND {_MY_PROPOSAL}",
    "admissions": f"revision = 1 AND {_MY_PROPOSAL}",
    "admission_findings": f"revision = 1 AND {_MY_PROPOSAL}",
    "review_claims": f"{_BY_ME.format('claimed_by')} AND {_MY_REVIEW}",
    # Only a role of one's own can be lent: what was lent isn't lent on (R7).
    "delegations": f"{_BY_ME.format('delegator_id')} AND revoked_at IS NULL"
    " AND (domain_id, role) IN (SELECT o.domain_id, o.role FROM app_own_roles() o)",
    "retrieval_requests": f"{_OWN} AND answer IS NULL AND (case_id IS NULL OR {_CASE})",
    "retrieval_reads": _OWN_RETRIEVAL,
    "memory_uses": f"{_RETRIEVAL} AND {_BY_ME.format('decided_by')}",
    "retrieval_verdicts": _USE.format(table="retrieval_verdicts"),
    "fresh_checks": _USE.format(table="fresh_checks"),
    "outbox": _KNOWN,
}
"""What rows the application role may add."""

CHANGE: dict[str, tuple[str, ...]] = {
    "arrivals": ("redeliveries",),
    "cases": (
        "title", "body", "written", "body_bytes", "content_id", "state", "waiting_on", "source_state",
        "order_assumed", "opened_at", "state_since", "source_revision", "content_at", "revision", "domain_id",
        "request_type", "symptom_tags", "product", "system", "environment", "version", "object_refs",
    ),
    "case_links": ("removed_by", "removed_at", "removal_reason"),
    "review_claims": ("revision", "stage", "claimed_by", "claimed_at", "claimed_until"),
    "delegations": ("revoked_at", "revoked_by"),
    "fresh_checks": ("outcome", "note", "settled_at"),
}  # fmt: skip
"""Columns that the application role may change, in rows that it may read."""

CHANGED: dict[str, str] = {
    "case_links": f"{_TENANT} AND {_BY_ME.format('removed_by')}",
    "delegations": _BY_ME.format("revoked_by"),
    "review_claims": f"{_BY_ME.format('claimed_by')} AND {_MY_REVIEW}",
}
"""What a row must be after a change; as it must be to be read, unless told here."""


def foundations() -> list[str]:
    """Return the SQL that makes the two roles and the functions that policies are written in."""
    sql = [FUNCTIONS]
    for role in (APP, SYSTEM):
        sql.append(
            f"DO $$ BEGIN CREATE ROLE {role} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE; "
            "EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
        )
        sql.append(f"GRANT USAGE ON SCHEMA public TO {role}")
    sql.append(f"GRANT USAGE ON SEQUENCE outbox_position TO {APP}, {SYSTEM}")
    return sql


def statements(tables: list[str]) -> list[str]:
    """Return the SQL that puts every table under forced policies and grants each role its part."""
    sql: list[str] = []
    for table in tables:
        sql += [
            f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
            f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {SYSTEM}",
            f"CREATE POLICY system_all ON {table} TO {SYSTEM} USING (true) WITH CHECK (true)",
        ]
        if table in READ:
            sql.append(f"GRANT SELECT ON {table} TO {APP}")
            sql.append(f"CREATE POLICY app_read ON {table} FOR SELECT TO {APP} USING ({READ[table]})")
        if table in WRITE:
            sql.append(f"GRANT INSERT ON {table} TO {APP}")
            sql.append(f"CREATE POLICY app_write ON {table} FOR INSERT TO {APP} WITH CHECK ({WRITE[table]})")
        if table in CHANGE:
            sql.append(f"GRANT UPDATE ({', '.join(CHANGE[table])}) ON {table} TO {APP}")
            sql.append(
                f"CREATE POLICY app_change ON {table} FOR UPDATE TO {APP} USING ({READ[table]})"
                f" WITH CHECK ({CHANGED.get(table, READ[table])})"
            )
    return sql
