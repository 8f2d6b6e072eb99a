"""Registers custom search attributes on a running Temporal server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.common import SearchAttributeKey
from temporalio.service import RPCError, RPCStatusCode

from contracts.errors import RuntimeUnavailable


async def register_search_attributes(client: Client, keys: Sequence[SearchAttributeKey[Any]]) -> None:
    """Make every key known in the client's namespace; keys that are known already stay as they are.

    A server start flag isn't enough: the dev server reads it only when its database file is made.

    Raises:
        RuntimeUnavailable: A key is known with another type, or the server doesn't let us look or register.
    """
    if not keys:
        return
    try:
        await _register(client, keys)
    except RPCError as error:
        raise RuntimeUnavailable(
            f"The search attributes of {client.namespace!r} can't be registered: Temporal answers {error.status.name}.",
            field="temporal_namespace",
            accepted=f"a namespace where an operator has registered {_listed(keys)}, and that may be looked at",
        ) from error


async def _register(client: Client, keys: Sequence[SearchAttributeKey[Any]]) -> None:
    listed = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    missing: dict[str, IndexedValueType.ValueType] = {}
    for key in keys:
        wanted = _kind(key)
        known = listed.custom_attributes.get(key.name)
        if known is None:
            missing[key.name] = wanted
        elif known != wanted:
            raise RuntimeUnavailable(
                f"The search attribute {key.name} is registered as {IndexedValueType.Name(known)}, "
                f"not {IndexedValueType.Name(wanted)}.",
                field=key.name,
                accepted="remove it with `temporal operator search-attribute remove`",
            )
    if not missing:
        return
    try:
        await client.operator_service.add_search_attributes(
            AddSearchAttributesRequest(namespace=client.namespace, search_attributes=missing)
        )
    except RPCError as error:
        if error.status is not RPCStatusCode.ALREADY_EXISTS:  # another process was faster
            raise


def _listed(keys: Sequence[SearchAttributeKey[Any]]) -> str:
    kinds = {key.name: IndexedValueType.Name(_kind(key)).removeprefix("INDEXED_VALUE_TYPE_").lower() for key in keys}
    return ", ".join(f"{name} ({kind})" for name, kind in kinds.items())


def _kind(key: SearchAttributeKey[Any]) -> IndexedValueType.ValueType:
    return IndexedValueType.ValueType(int(key.indexed_value_type))
