"""The base of every record and message."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A frozen record; unknown fields are ignored so that stored histories still decode.

    Additive changes only, each with a default, and no default that reads a clock or a random source.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")
