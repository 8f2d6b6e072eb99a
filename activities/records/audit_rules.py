"""How a migration says which changes of a table go into the audit chain.

Rows are appended by triggers at the end of the transaction: the chain's lock is then the last that it takes, so it
is held for the commit alone and can't close a circle with locks on rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Rule:
    """What is appended when a row of a table is added, changed or removed; `@` stands for the row."""

    table: str
    action: str
    subject: str
    actor: str = "audit_actor()"
    on: tuple[str, ...] = ("INSERT",)
    of: str = ""
    """UPDATE: only when one of these columns is named; and only when the row differs."""
    when: str = "OLD.* IS DISTINCT FROM NEW.*"
    revision: str = "NULL"
    digest: str = "NULL"
    cause: str = "NULL"
    details: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def name(self) -> str:
        """The name of function and trigger."""
        return f"audit_{self.table}_{self.action}"

    def values(self, row: str) -> str:
        """Return the arguments of `audit_append`."""
        details = ", ".join(f"'{name}', {value}" for name, value in self.details.items())
        values = (
            f"{self.actor}, '{self.action}', {self.subject}, {self.revision}, {self.digest}, {self.cause},"
            f" jsonb_strip_nulls(jsonb_build_object({details}))"
        )
        return values.replace("@", row)

    def statements(self) -> list[str]:
        """Return the SQL of the trigger: at the end of the transaction, so that its lock is taken last."""
        row = "OLD" if self.on == ("DELETE",) else "NEW"
        sql = [
            f"CREATE FUNCTION {self.name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER"
            f" SET search_path = pg_catalog, public, pg_temp AS $$ BEGIN PERFORM audit_append({self.values(row)});"
            " RETURN NULL; END $$",
            f"REVOKE ALL ON FUNCTION {self.name} FROM PUBLIC",
        ]
        for event in self.on:
            columns = f" OF {self.of}" if event == "UPDATE" and self.of else ""
            when = f" WHEN ({self.when})" if event == "UPDATE" else ""
            sql.append(
                f"CREATE CONSTRAINT TRIGGER {self.name}_{event.lower()} AFTER {event}{columns} ON {self.table}"
                f" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW{when} EXECUTE FUNCTION {self.name}()"
            )
        return sql
