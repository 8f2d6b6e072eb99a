"""The SQL of intake: one statement that looks, and one that writes.

A delivery takes few round trips, because the origin, and from its event on every other writer of events, waits for it.
"""

from __future__ import annotations

from functools import cache

from sqlalchemy import TextClause, text

# Locked in a statement of its own: the next one sees what was committed while this one waited.
HOLD = text("""
SELECT CASE WHEN :tenant_id IN (SELECT app_tenants())
            THEN pg_advisory_xact_lock(hashtextextended(:key, 0)) IS NOT NULL ELSE false END
""")
_RECEIPT = """
a.id::text AS arrival_id, a.case_id::text AS case_id, a.disposition, a.content_version, a.delivery_id_reused,
a.order_assumed
"""
LOOK = text(f"""
SELECT o.id::text AS origin_id, c.id::text AS standing_case_id, coalesce(c.source_revision, -1) AS highest_revision,
       c.state, coalesce(c.content_at, c.opened_at) AS content_at, c.opened_at, c.order_assumed AS is_order_assumed,
       (SELECT count(*) FROM arrivals v WHERE v.origin_id = o.id AND v.source_revision = :source_revision) AS versions,
       EXISTS (SELECT 1 FROM arrivals d WHERE d.origin_id = o.id AND d.delivery_id = :delivery_id) AS reused,
       {_RECEIPT}
  FROM origins o
  LEFT JOIN cases c ON c.origin_id = o.id
  LEFT JOIN arrivals a ON a.origin_id = o.id AND a.source_revision = :source_revision AND a.digest = :digest
 WHERE o.key = :key
""")
# Of deliveries without a revision: at this very time, or the last thing before it, or the first after it.
AGAIN = text(f"""
WITH known AS (
  SELECT a.id, a.case_id, a.disposition, a.content_version, a.delivery_id_reused, a.order_assumed, a.occurred_at,
         a.source_revision = -1 AND split_part(a.digest, '@', 1) = :digest AS is_same
    FROM arrivals a WHERE a.origin_id = CAST(:origin_id AS uuid)),
beside AS (
  SELECT k.*, bool_and(k.is_same) OVER (PARTITION BY k.occurred_at) OR k.occurred_at = :occurred_at AS is_alone
    FROM known k
   WHERE k.occurred_at IN (:occurred_at, (SELECT max(occurred_at) FROM known WHERE occurred_at < :occurred_at),
                           (SELECT min(occurred_at) FROM known WHERE occurred_at > :occurred_at)))
SELECT {_RECEIPT}, a.occurred_at <= :occurred_at AS is_known_before
  FROM beside a WHERE a.is_same AND a.is_alone
 ORDER BY (a.occurred_at = :occurred_at) DESC, (a.occurred_at < :occurred_at) DESC, a.content_version LIMIT 1
""")
REDELIVERED = text("UPDATE arrivals SET redeliveries = redeliveries + 1 WHERE id = CAST(:arrival_id AS uuid)")
HOLDS_LONGER = text("""
UPDATE cases SET content_at = :occurred_at
 WHERE id = CAST(:case_id AS uuid) AND coalesce(content_at, opened_at) < :occurred_at
""")

FACTS = (
    "domain_id", "request_type", "symptom_tags", "product", "system", "environment", "version", "object_refs",
)  # fmt: skip
_ORIGIN = """
INSERT INTO origins (id, tenant_id, source, external_id, key)
VALUES (CAST(:origin_id AS uuid), :tenant_id, :canonical_source, :canonical_external_id, :key)
ON CONFLICT (key) DO NOTHING
"""
_OPEN_CASE = f"""
INSERT INTO cases (id, tenant_id, origin_id, title, body, written, body_bytes, content_id, state, waiting_on,
                   source_state, opened_at, state_since, content_at, source_revision, {", ".join(FACTS)})
VALUES (CAST(:case_id AS uuid), :tenant_id, CAST(:origin_id AS uuid), :subject, :body, :written, :body_bytes,
        CAST(:content_id AS uuid), :state, :waiting_on, :source_state, :occurred_at, :occurred_at, :occurred_at,
        :source_revision, {", ".join(f":{name}" for name in FACTS)})
"""
_CHANGE_CASE = """
UPDATE cases SET title = CASE WHEN :subject = '' THEN title ELSE :subject END, body = :body, written = :written,
       body_bytes = :body_bytes, content_id = CAST(:content_id AS uuid),
       source_state = CASE WHEN :source_state = '' THEN source_state ELSE :source_state END,
       waiting_on = CASE WHEN CAST(:state AS text) IS NULL THEN waiting_on ELSE :waiting_on END,
       state_since = CASE WHEN CAST(:state AS text) IS NULL THEN state_since
                          ELSE greatest(state_since, CAST(:occurred_at AS timestamptz)) END,
       state = coalesce(CAST(:state AS text), state), order_assumed = :order_assumed, content_at = :occurred_at,
       source_revision = greatest(source_revision, :source_revision), revision = revision + 1{facts}
 WHERE id = CAST(:case_id AS uuid)
"""
_NEW_FACTS = "".join(f", {name} = :{name}" for name in FACTS)
_AMEND_CASE = """
UPDATE cases SET opened_at = least(opened_at, CAST(:occurred_at AS timestamptz)),
       order_assumed = order_assumed OR :order_assumed, revision = revision + 1
 WHERE id = CAST(:case_id AS uuid)
"""
_KEEP = """
INSERT INTO contents (id, tenant_id, case_id, kind, text, bytes, sha256)
SELECT id, :tenant_id, CAST(:case_id AS uuid), kind, text, bytes, sha256
  FROM unnest(CAST(:kept_ids AS uuid[]), CAST(:kept_kinds AS text[]), CAST(:kept_texts AS text[]),
              CAST(:kept_bytes AS bigint[]), CAST(:kept_sha256 AS text[])) AS kept (id, kind, text, bytes, sha256)
"""
_ARRIVAL = """
INSERT INTO arrivals (id, tenant_id, origin_id, case_id, source_revision, content_version, digest, delivery_id,
                      disposition, occurred_at, received_at, source, external_id, subject, body, body_format, written,
                      body_bytes, content_id, source_state, attributes, facts, cleaned, raw_content_id,
                      delivery_id_reused, order_assumed)
VALUES (CAST(:arrival_id AS uuid), :tenant_id, CAST(:origin_id AS uuid), CAST(:case_id AS uuid), :source_revision,
        :content_version, :digest, :delivery_id, :disposition, :occurred_at, :received_at, :source, :external_id,
        :subject, :body, :body_format, :written, :body_bytes, CAST(:content_id AS uuid), :source_state,
        CAST(:attributes AS jsonb), CAST(:facts AS jsonb), CAST(:cleaned AS jsonb), CAST(:raw_content_id AS uuid),
        :delivery_id_reused, :order_assumed)
"""
_STATE = """
INSERT INTO case_states (case_id, seq, tenant_id, state, waiting_on, changed_by, at)
SELECT CAST(:case_id AS uuid), coalesce(max(seq), 0) + 1, :tenant_id, CAST(:state AS text), :waiting_on,
       :principal_id, {at}
  FROM case_states WHERE case_id = CAST(:case_id AS uuid)
"""
_FROM_NOW_ON = "greatest(max(at), CAST(:occurred_at AS timestamptz))"  # never before a state that the case had
_AT_THE_TIME = "CAST(:occurred_at AS timestamptz)"
_ANNOUNCE = """
INSERT INTO outbox (event_id, topic, kind, key, payload)
SELECT gen_random_uuid(), 'index', 'project', :event_key, '{{}}' FROM {after}
"""


@cache
def writing(
    *, opens: bool, changes: bool, amends: bool, with_facts: bool, keeps: bool, state: bool, is_history: bool
) -> TextClause:
    """Return the statement that records one delivery, whole.

    The event comes after everything that it announces: from its position on, other writers of events wait.

    Args:
        opens: The origin is new, and with it the case.
        changes: The case goes by this delivery from now on.
        amends: It tells something of the case's past that shows on the case.
        with_facts: It replaces the case's facts.
        keeps: It has texts that are kept by reference.
        state: It tells a state of the case.
        is_history: That is a state which the case had at an earlier time.
    """
    parts: dict[str, str] = {}
    if opens:
        parts |= {"origin": _ORIGIN, "opened": _OPEN_CASE}
    if changes:
        parts["changed"] = _CHANGE_CASE.format(facts=_NEW_FACTS if with_facts else "")
    if amends:
        parts["amended"] = _AMEND_CASE
    parts["arrived"] = _ARRIVAL
    if state:
        parts["stated"] = _STATE.format(at=_AT_THE_TIME if is_history else _FROM_NOW_ON)
    after = ", ".join(name for name in parts if name != "origin")  # one row each
    if keeps:
        parts["kept"] = _KEEP
    body = ",\n".join(f"{name} AS ({sql} RETURNING 1)" for name, sql in parts.items())
    last = _ANNOUNCE.format(after=after) if opens or changes or amends else "SELECT count(*) FROM arrived"
    return text(f"WITH {body}\n{last}")
