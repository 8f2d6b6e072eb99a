"""Where text of a tenant or a case may be, by the database's own catalogue, so that no column is forgotten (R11).

A table belongs to a tenant by its column `tenant_id`, or by a foreign key to a table that does. One that belongs to
none is named in `OTHERS` with the reason; a table that is neither is an error, and so is a column of a type that
nobody has thought about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

OTHERS: Mapping[str, str] = {
    "alembic_version": "the schema's version",
    "principals": "who may sign in; other records refer to their ids",
    "api_keys": "hashes of keys",
    "principal_identities": "what issuers call principals",
    "sessions": "of principals",
    "domains": "shared by all tenants",
    "domain_roles": "of principals",
    "delegations": "of principals",
    "profiles": "shared by all tenants",
    "profile_members": "of principals",
    "strategies": "shared by all tenants",
    "strategy_versions": "shared by all tenants",
    "strategy_adoptions": "of profiles, which all tenants share",
    "outbox": "ids and labels; looked through when an erasure is verified",
    "projections": "ids and digests",
    "watermarks": "positions",
    "audit": "ids and digests, and never changed",
    "reconcile_reports": "ids and counts",
    "erasures": "what erasures themselves are made of",
    "tombstones": "ids and digests",
    "feedback_totals": "refs and counts",
}
"""Tables that hold no text of a tenant, and why."""

# A retrieval without a case is its caller's: of every tenant that the caller was let see.
_ASKED = (
    "(@.tenant_id = :tenant OR (@.tenant_id IS NULL AND coalesce(@.request ->> 'tenant_id', :tenant) = :tenant"
    " AND @.principal_id IN (SELECT g.principal_id FROM grants g WHERE g.tenant_id = :tenant)))"
)
_OF_CASE = "@.case_id = CAST(:case_id AS uuid)"
_ASKING = "SELECT c.id FROM consultations c JOIN retrieval_requests a ON a.id = c.request_id WHERE {asked}"


def _consulted(asked: str) -> str:
    """Return which retrievals were made for a consultation: their words follow a brief of the asking side (R18)."""
    asking = _ASKING.format(asked=asked.replace("@", "a"))
    return f"@.id IN (SELECT r.request_id FROM consulted_retrievals r WHERE r.consultation_id IN ({asking}))"


def _replies(asked: str) -> str:
    return f"@.consultation_id IN ({_ASKING.format(asked=asked.replace('@', 'a'))})"


_TENANT: Mapping[str, str] = {
    "tenants": "@.id = :tenant",
    "retrieval_requests": f"({_ASKED} OR {_consulted(_ASKED)})",
    # A reply is text of both sides.
    "consultation_replies": f"({_replies(_ASKED)}"
    f" OR @.request_id IN (SELECT s.id FROM retrieval_requests s WHERE {_ASKED.replace('@', 's')}))",
}
"""Rows of a tenant where the rule doesn't tell; `@` is the row."""
_OF_ARTICLES = "@.experience_id IN (SELECT a.id FROM experiences a WHERE a.kind = 'article')"
_TENANT_TOO: Mapping[str, str] = {
    # What others were shown of the tenant's cases and experiences is the tenant's text.
    "retrieval_candidates": "@.ref IN (SELECT 'experience/' || e.id FROM experiences e WHERE e.tenant_id = :tenant"
    " UNION ALL SELECT 'case/' || c.id FROM cases c WHERE c.tenant_id = :tenant"
    " UNION ALL SELECT 'article/' || a.id FROM experiences a WHERE a.kind = 'article')",
    # An article is of no tenant, and a subject of any tenant may be named in it.
    "revisions": _OF_ARTICLES,
    "commands": _OF_ARTICLES,
    "review_decisions": _OF_ARTICLES,
    "finding_dismissals": _OF_ARTICLES,
}
"""Further rows in which a tenant's subjects are looked for."""
_CASE: Mapping[str, str] = {
    "retrieval_requests": f"({_OF_CASE} OR {_consulted(_OF_CASE)})",
    "consultation_replies": _replies(_OF_CASE),
    "cases": "@.id = CAST(:case_id AS uuid)",
    "origins": "@.id = (SELECT c.origin_id FROM cases c WHERE c.id = CAST(:case_id AS uuid))",
}

LABELS: frozenset[tuple[str, str]] = frozenset(
    {
        ("commands", "outcome"),
        ("transitions", "from_stage"),
        ("origins", "key"),
        ("review_decisions", "author_id"),
        ("review_decisions", "acknowledged_scope"),
        ("admission_findings", "field"),
        ("admission_findings", "kind"),
        ("admission_findings", "certainty"),
        ("case_placeholders", "fingerprint"),
        ("retrieval_requests", "narrowed_to"),
        ("broadenings", "widened"),
        ("broadenings", "domains"),
        ("consultation_replies", "replied_as"),
        ("feedback_outcomes", "of_tenant"),
        ("retrieval_requests", "rankings"),
    }
)
"""Columns of words of our own that no constraint lists."""
_DIGESTS = frozenset({"digest", "sha256", "hash", "content_hash"})
_TEXTS = frozenset({"text", "character varying", "character", "json", "jsonb", "text[]", "character varying[]"})
_OPAQUE = frozenset({"bytea"})
_NO_TEXT = frozenset(
    {
        "uuid", "uuid[]", "integer", "bigint", "smallint", "integer[]", "bigint[]", "boolean", "double precision",
        "real", "numeric", "timestamp with time zone", "date", "interval", "tsvector",
    }
)  # fmt: skip

_COLUMNS = text("""
SELECT c.relname AS table_name, a.attname AS name, format_type(a.atttypid, NULL) AS type, a.attgenerated <> '' AS made
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
 WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
 ORDER BY c.relname, a.attnum
""")
_CONSTRAINTS = text("""
SELECT c.relname AS table_name, k.contype AS kind, f.relname AS target, pg_get_constraintdef(k.oid) AS definition,
       ARRAY(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY AS u (n, at)
               JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.n ORDER BY u.at) AS columns,
       ARRAY(SELECT a.attname::text FROM unnest(k.confkey) WITH ORDINALITY AS u (n, at)
               JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.n ORDER BY u.at) AS target_columns
  FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid LEFT JOIN pg_class f ON f.oid = k.confrelid
 WHERE c.relnamespace = 'public'::regnamespace AND k.contype IN ('p', 'f', 'c')
 ORDER BY c.relname, k.conname
""")
_UNIQUE = text("""
SELECT DISTINCT c.relname AS table_name, a.attname AS name
  FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
 WHERE i.indisunique AND c.relnamespace = 'public'::regnamespace
""")


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column that may hold somebody's text."""

    name: str
    type: str
    is_unique: bool
    """Part of a unique index: two erased values must still differ."""

    @property
    def is_json(self) -> bool:
        """Whether it holds JSON."""
        return self.type in ("json", "jsonb")

    @property
    def is_list(self) -> bool:
        """Whether it holds a list of texts."""
        return self.type.endswith("[]")

    @property
    def is_opaque(self) -> bool:
        """Whether nobody can tell what it holds: a key, or something encrypted."""
        return self.type in _OPAQUE


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table with text of tenants."""

    name: str
    key: tuple[tuple[str, str], ...]
    """Primary key: names and types of its columns."""
    columns: tuple[TextColumn, ...]
    tenant: str
    """Which rows `t` are of tenant `:tenant`."""
    case: str
    """Which rows `t` are of case `:case_id`; "" when none can be."""


@dataclass(frozen=True, slots=True)
class _Link:
    table: str
    columns: tuple[str, ...]
    target: str
    target_columns: tuple[str, ...]


async def text_tables(connection: AsyncConnection) -> list[TextTable]:
    """Return every table that holds text of tenants, with its columns.

    Raises:
        RuntimeError: A table is of no tenant and not in `OTHERS`, or a column has a type that isn't known here.
    """
    columns = (await connection.execute(_COLUMNS)).mappings().all()
    constraints = (await connection.execute(_CONSTRAINTS)).mappings().all()
    unique = {(row["table_name"], row["name"]) for row in (await connection.execute(_UNIQUE)).mappings()}
    links = [
        _Link(row["table_name"], tuple(row["columns"]), row["target"], tuple(row["target_columns"]))
        for row in constraints
        if row["kind"] == "f" and row["table_name"] != row["target"]
    ]
    types = {(row["table_name"], row["name"]): row["type"] for row in columns}
    keys = {row["table_name"]: tuple(row["columns"]) for row in constraints if row["kind"] == "p"}
    kept = _kept(constraints, links)
    tenant = _owned(links, _by_tenant(columns))
    case = _owned(links, _CASE)
    names = sorted({row["table_name"] for row in columns} - set(OTHERS))
    forgotten = [name for name in names if name not in tenant]
    if forgotten:
        raise RuntimeError(f"erasure doesn't know whose rows these tables hold: {', '.join(forgotten)}")
    return [
        TextTable(
            name,
            tuple((column, types[name, column]) for column in keys[name]),
            tuple(
                TextColumn(row["name"], row["type"], (name, row["name"]) in unique)
                for row in columns
                if row["table_name"] == name and not row["made"] and _holds_text(row, kept)
            ),
            " OR ".join([tenant[name], *([_TENANT_TOO[name]] if name in _TENANT_TOO else [])]).replace("@", "t"),
            case.get(name, "").replace("@", "t"),
        )
        for name in names
    ]


def _holds_text(row: RowMapping, kept: set[tuple[str, str]]) -> bool:
    column = (row["table_name"], row["name"])
    if row["type"] in _NO_TEXT or column in kept or column in LABELS or row["name"] in _DIGESTS:
        return False
    if row["type"] not in _TEXTS | _OPAQUE:
        raise RuntimeError(f"erasure doesn't know the type of {row['table_name']}.{row['name']}: {row['type']}")
    return True


def _kept(constraints: Iterable[RowMapping], links: Iterable[_Link]) -> set[tuple[str, str]]:
    """Return the columns that refer, are referred to, or hold one of the words that a constraint lists."""
    found = {(link.table, column) for link in links for column in link.columns}
    found |= {(link.target, column) for link in links for column in link.target_columns}
    for row in constraints:
        if row["kind"] == "c" and len(row["columns"]) == 1 and "= ANY (ARRAY[" in row["definition"]:
            found.add((row["table_name"], row["columns"][0]))
    return found


def _by_tenant(columns: Iterable[RowMapping]) -> dict[str, str]:
    found = {row["table_name"]: "@.tenant_id = :tenant" for row in columns if row["name"] == "tenant_id"}
    return {name: sql for name, sql in (found | dict(_TENANT)).items() if name not in OTHERS}


def _owned(links: Iterable[_Link], direct: Mapping[str, str]) -> dict[str, str]:
    """Return whose rows each table holds: told directly, else by every foreign key to a table that is known."""
    known = dict(direct)
    while True:
        found: dict[str, dict[str, str]] = {}
        for link in links:
            if link.target in known and link.table not in known and link.table not in OTHERS:
                # Of two keys to one table the shorter says as much: the longer ones only carry labels along.
                ways = found.setdefault(link.table, {})
                way = _through(link, known[link.target])
                by = f"{link.target}.{link.columns[0]}"
                ways[by] = min(ways.get(by, way), way, key=len)
        if not found:
            return known
        for name, ways in found.items():
            known[name] = f"({' OR '.join(ways.values())})"


def _through(link: _Link, owned: str) -> str:
    inner = f"p{owned.count('SELECT')}"  # named by its depth: a nested condition speaks of its own rows
    ours = ", ".join(f"@.{column}" for column in link.columns)
    theirs = ", ".join(f"{inner}.{column}" for column in link.target_columns)
    return f"({ours}) IN (SELECT {theirs} FROM {link.target} {inner} WHERE {owned.replace('@', inner)})"
