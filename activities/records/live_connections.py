"""Pooled connections that are known to live when they are handed out.

Postgres may have been restarted under us. A connection that the server closed can be read from, which the operating
system tells at once and without a round trip; only one that lay idle for long, and may have been forgotten by
something in between, is asked.
"""

from __future__ import annotations

import select
import time
from typing import Any

from sqlalchemy import event
from sqlalchemy.exc import DBAPIError, InvalidatePoolError
from sqlalchemy.ext.asyncio import AsyncEngine

IDLE = 30.0
"""Seconds after which a connection is asked."""
_USED = "caselore.used"


def keep_alive(engine: AsyncEngine, idle: float = IDLE) -> None:
    """Let the engine's pool hand out a new connection in place of a dead one, and drop those of the dead one's age.

    Args:
        engine: On psycopg.
        idle: Seconds after which a connection is asked.
    """
    dialect = engine.sync_engine.dialect

    def out(connection: Any, record: Any, _proxy: Any) -> None:
        driver = connection.driver_connection
        if driver.closed or _can_be_read(driver.fileno()):
            raise InvalidatePoolError
        if time.monotonic() - record.info.get(_USED, time.monotonic()) > idle:
            try:
                dialect.do_ping(connection)
            except (DBAPIError, dialect.loaded_dbapi.Error) as error:
                raise InvalidatePoolError from error

    def back(_connection: Any, record: Any) -> None:
        record.info[_USED] = time.monotonic()

    event.listen(engine.sync_engine, "checkout", out)
    event.listen(engine.sync_engine, "checkin", back)


def _can_be_read(descriptor: int) -> bool:
    """Return whether something came unasked: what lives and waits says nothing."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN | select.POLLERR | select.POLLHUP)
    return bool(poll.poll(0))
