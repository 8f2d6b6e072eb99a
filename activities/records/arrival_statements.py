"""The SQL of intake."""

from __future__ import annotations

from sqlalchemy import text

ORIGIN = text("""
INSERT INTO origins (id, tenant_id, source, external_id, key)
VALUES (gen_random_uuid(), :tenant_id, :source, :external_id, :key)
ON CONFLICT (key) DO NOTHING
""")
FIND_ORIGIN = text("SELECT id::text FROM origins WHERE key = :key")
SAME = text("""
SELECT id::text AS arrival_id, case_id::text AS case_id, disposition, content_version, delivery_id_reused,
       order_assumed
  FROM arrivals
 WHERE origin_id = CAST(:origin_id AS uuid) AND source_revision = :source_revision AND digest = :digest
""")
REDELIVERED = text("UPDATE arrivals SET redeliveries = redeliveries + 1 WHERE id = CAST(:id AS uuid)")
REUSED = text("""
SELECT EXISTS (SELECT 1 FROM arrivals WHERE origin_id = CAST(:origin_id AS uuid) AND delivery_id = :delivery_id)
""")
STANDING = text("""
SELECT c.id::text AS case_id, coalesce(c.source_revision, -1) AS source_revision, c.state,
       coalesce(c.content_at, c.opened_at) AS content_at,
       (SELECT count(*) FROM arrivals a WHERE a.origin_id = c.origin_id AND a.source_revision = :source_revision)
         AS versions
  FROM cases c WHERE c.origin_id = CAST(:origin_id AS uuid)
""")
FACTS = (
    "domain_id", "request_type", "symptom_tags", "product", "system", "environment", "version", "object_refs",
)  # fmt: skip
OPEN_CASE = text(f"""
INSERT INTO cases (id, tenant_id, origin_id, title, body, written, body_bytes, content_id, state, waiting_on,
                   source_state, opened_at, state_since, content_at, source_revision, {", ".join(FACTS)})
VALUES (CAST(:case_id AS uuid), :tenant_id, CAST(:origin_id AS uuid), :subject, :body, :written, :body_bytes,
        CAST(:content_id AS uuid), :state, :waiting_on, :source_state, :occurred_at, :occurred_at, :occurred_at,
        :source_revision, {", ".join(f":{name}" for name in FACTS)})
""")
UPDATE_CASE = text("""
UPDATE cases SET title = CASE WHEN :subject = '' THEN title ELSE :subject END, body = :body, written = :written,
       body_bytes = :body_bytes, content_id = CAST(:content_id AS uuid),
       source_state = CASE WHEN :source_state = '' THEN source_state ELSE :source_state END,
       waiting_on = CASE WHEN CAST(:state AS text) IS NULL THEN waiting_on ELSE :waiting_on END,
       state_since = CASE WHEN CAST(:state AS text) IS NULL THEN state_since
                          ELSE greatest(state_since, CAST(:occurred_at AS timestamptz)) END,
       state = coalesce(CAST(:state AS text), state), order_assumed = :order_assumed, content_at = :occurred_at,
       source_revision = greatest(source_revision, :source_revision), revision = revision + 1
 WHERE id = CAST(:case_id AS uuid)
""")
UPDATE_FACTS = text(f"""
UPDATE cases SET {", ".join(f"{name} = :{name}" for name in FACTS)} WHERE id = CAST(:case_id AS uuid)
""")
OPENED_EARLIER = text("""
UPDATE cases SET opened_at = :occurred_at, revision = revision + 1
 WHERE id = CAST(:case_id AS uuid) AND opened_at > :occurred_at
""")
ORDER_ASSUMED = text("""
UPDATE cases SET order_assumed = true, revision = revision + 1
 WHERE id = CAST(:case_id AS uuid) AND NOT order_assumed
""")
ARRIVAL = text("""
INSERT INTO arrivals (id, tenant_id, origin_id, case_id, source_revision, content_version, digest, delivery_id,
                      disposition, occurred_at, received_at, source, external_id, subject, body, body_format, written,
                      body_bytes, content_id, source_state, attributes, facts, cleaned, raw_content_id,
                      delivery_id_reused, order_assumed)
VALUES (CAST(:arrival_id AS uuid), :tenant_id, CAST(:origin_id AS uuid), CAST(:case_id AS uuid), :source_revision,
        :content_version, :digest, :delivery_id, :disposition, :occurred_at, :received_at, :source, :external_id,
        :subject, :body, :body_format, :written, :body_bytes, CAST(:content_id AS uuid), :source_state,
        CAST(:attributes AS jsonb), CAST(:facts AS jsonb), CAST(:cleaned AS jsonb), CAST(:raw_content_id AS uuid),
        :delivery_id_reused, :order_assumed)
""")
CONTENT = text("""
INSERT INTO contents (id, tenant_id, case_id, kind, text, bytes, sha256)
VALUES (CAST(:id AS uuid), :tenant_id, CAST(:case_id AS uuid), :kind, :text, :bytes, :sha256)
""")
STATE = text("""
INSERT INTO case_states (case_id, seq, tenant_id, state, waiting_on, changed_by, at)
SELECT CAST(:case_id AS uuid), coalesce(max(seq), 0) + 1, :tenant_id, :state, :waiting_on, :principal_id,
       greatest(max(at), CAST(:occurred_at AS timestamptz))
  FROM case_states WHERE case_id = CAST(:case_id AS uuid)
""")
"""The state that the case has from now on: never before one that it had."""
HISTORY = text("""
INSERT INTO case_states (case_id, seq, tenant_id, state, waiting_on, changed_by, at)
SELECT CAST(:case_id AS uuid), coalesce(max(seq), 0) + 1, :tenant_id, :state, :waiting_on, :principal_id, :occurred_at
  FROM case_states WHERE case_id = CAST(:case_id AS uuid)
""")
"""A state that the case had at an earlier time."""
