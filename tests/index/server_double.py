"""A Qdrant client without a server that keeps account of payload indexes.

qdrant-client's local mode has no payload indexes and warns on each attempt to make one. The adapter creates and
checks them as it must on a server; this double remembers them, so that the check is tested and not switched off.
"""

from __future__ import annotations

from typing import Any

from qdrant_client import AsyncQdrantClient, models


class ServerDouble(AsyncQdrantClient):
    """Local mode, with payload indexes as a server reports them."""

    def __init__(self) -> None:
        super().__init__(":memory:")
        self._indexes: dict[str, dict[str, models.PayloadIndexInfo]] = {}

    async def create_payload_index(
        self, collection_name: str, field_name: str, field_schema: Any = None, *args: Any, **kwargs: Any
    ) -> models.UpdateResult:
        info = models.PayloadIndexInfo(data_type=field_schema, points=0)
        self._indexes.setdefault(collection_name, {})[field_name] = info
        return models.UpdateResult(operation_id=0, status=models.UpdateStatus.COMPLETED)

    async def delete_payload_index(
        self, collection_name: str, field_name: str, *args: Any, **kwargs: Any
    ) -> models.UpdateResult:
        del self._indexes[collection_name][field_name]
        return models.UpdateResult(operation_id=0, status=models.UpdateStatus.COMPLETED)

    async def delete_collection(self, collection_name: str, *args: Any, **kwargs: Any) -> bool:
        self._indexes.pop(collection_name, None)
        return await super().delete_collection(collection_name, *args, **kwargs)

    async def get_collection(self, collection_name: str, **kwargs: Any) -> models.CollectionInfo:
        info = await super().get_collection(collection_name, **kwargs)
        aliases = {each.alias_name: each.collection_name for each in (await self.get_aliases()).aliases}
        indexes = self._indexes.get(aliases.get(collection_name, collection_name), {})
        return info.model_copy(update={"payload_schema": dict(indexes)})
