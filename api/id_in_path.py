"""An id that is a part of a route's path."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Path

IdInPath = Annotated[UUID, Path(description="A UUID.")]
