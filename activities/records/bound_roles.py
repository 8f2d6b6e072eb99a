"""The roles that Caselore works as are bound by row-level security, whoever set them up (R4, R21)."""

from __future__ import annotations

from sqlalchemy import text

from activities.records.database import Database
from activities.records.row_security import SYSTEM
from contracts.errors import RuntimeUnavailable

_ROLE = text("""
SELECT r.rolname, r.rolsuper AS is_superuser, r.rolbypassrls AS bypasses,
       EXISTS (SELECT 1 FROM pg_class c WHERE c.relowner = r.oid AND c.relkind = 'r'
                AND c.relnamespace = 'public'::regnamespace) AS owns_tables,
       EXISTS (SELECT 1 FROM pg_roles other
                WHERE NOT r.rolsuper AND (other.rolsuper OR other.rolbypassrls OR other.rolname = :forbidden)
                  AND other.rolname <> current_user AND pg_has_role(current_user, other.oid, 'MEMBER')) AS can_become
  FROM pg_roles r WHERE r.rolname = current_user
""")
_FAULTS = {
    "is_superuser": "is a superuser",
    "bypasses": "bypasses row-level security",
    "owns_tables": "owns tables",
    "can_become": "can become a role that sees more",
}


async def require_bound_roles(database: Database) -> None:
    """Refuse to work as a role that the policies don't bind.

    Raises:
        RuntimeUnavailable: The application's or the system's role sees more than its policies say.
    """
    async with database.as_nobody() as connection:
        app = (await connection.execute(_ROLE, {"forbidden": SYSTEM})).mappings().one()
    async with database.as_system() as connection:
        system = (await connection.execute(_ROLE, {"forbidden": ""})).mappings().one()
    for setting, role in (("database_url", app), ("system_database_url", system)):
        faults = [words for fault, words in _FAULTS.items() if role[fault]]
        if faults:
            raise RuntimeUnavailable(
                f"The database role {role['rolname']!r} {' and '.join(faults)}: nothing would keep tenants apart.",
                field=setting,
                accepted="the role that the first migration made, without further rights",
            )
    if app["rolname"] == system["rolname"]:
        raise RuntimeUnavailable(
            f"The application works as {app['rolname']!r}, the system's role.",
            field="database_url",
            accepted="another role than that of system_database_url",
        )
