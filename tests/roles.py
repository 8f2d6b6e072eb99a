"""Database roles of tests' own."""

from __future__ import annotations

import psycopg
from sqlalchemy import make_url

from deploy.embedded.postgres import DatabaseUrls
from tests.records.world import libpq


def new_role(urls: DatabaseUrls, role: str, attributes: str, *statements: str) -> str:
    """Make a role that can sign in, run further statements as the superuser, and return the role's address."""
    with psycopg.connect(libpq(urls.owner)) as connection:
        connection.execute("; ".join([f"CREATE ROLE {role} LOGIN {attributes}", *statements]).encode())
    return make_url(urls.owner).set(username=role).render_as_string(hide_password=False)


def new_owner(urls: DatabaseUrls, role: str, attributes: str) -> str:
    """Make a role that may fill the database, and return its address.

    The roles that we work as must be there: those of the cluster's other databases, which its superuser made.
    """
    return new_role(
        urls,
        role,
        attributes,
        f"GRANT CREATE, USAGE ON SCHEMA public TO {role}",
        f"GRANT caselore_app, caselore_system TO {role} WITH ADMIN OPTION",
    )
