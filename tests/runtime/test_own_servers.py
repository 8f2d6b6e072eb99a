"""A Caselore on servers that somebody else runs: it brings the schema and the search attributes, and nothing hangs."""

from __future__ import annotations

import uuid
from datetime import timedelta
from pathlib import Path

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from api.client import CaseloreClient
from contracts.errors import RuntimeUnavailable
from deploy.administrator_key import administrator_key
from deploy.runtime import running
from deploy.search_attributes import register_search_attributes
from deploy.settings import load_settings
from tests.ports import port_settings
from tests.roles import new_owner
from tests.services import PostgresServer
from workflows import search_attributes


async def _new_namespace(environment: WorkflowEnvironment) -> str:
    name = f"own-{uuid.uuid4().hex[:8]}"
    retention = Duration()
    retention.FromTimedelta(timedelta(days=1))
    await environment.client.workflow_service.register_namespace(
        RegisterNamespaceRequest(namespace=name, workflow_execution_retention_period=retention)
    )
    return name


async def test_r23_it_starts_on_a_namespace_and_a_database_without_anything(
    postgres_server: PostgresServer, migrated: str, temporal_env: WorkflowEnvironment, tmp_path: Path
) -> None:
    urls = postgres_server.new_database()
    settings = load_settings(
        data_dir=tmp_path / "data",
        owner_database_url=new_owner(urls, "owner_of_one_schema", "BYPASSRLS CREATEROLE"),
        database_url=urls.app,
        system_database_url=urls.system,
        temporal_address=temporal_env.client.service_client.config.target_host,
        temporal_namespace=await _new_namespace(temporal_env),
        **port_settings(),
    )
    async with running(settings) as runtime:
        async with CaseloreClient(runtime.addresses.http, administrator_key(settings.data_dir) or "") as client:
            assert (await client.ready()).down == ()
        client = await Client.connect(settings.temporal_address or "", namespace=settings.temporal_namespace)
        listed = await client.operator_service.list_search_attributes(
            ListSearchAttributesRequest(namespace=client.namespace)
        )
        assert {key.name for key in search_attributes.ALL} <= set(listed.custom_attributes)
        # The projector runs, so a workflow with these attributes could be started.
        await client.get_workflow_handle("outbox/projector").describe()


async def test_r23_a_namespace_that_can_not_be_looked_at_is_refused_by_name(temporal_env: WorkflowEnvironment) -> None:
    client = await Client.connect(temporal_env.client.service_client.config.target_host, namespace="nowhere")
    with pytest.raises(RuntimeUnavailable, match="'nowhere'") as refused:
        await register_search_attributes(client, search_attributes.ALL)
    assert refused.value.field == "temporal_namespace"
    for key in search_attributes.ALL:
        assert key.name in refused.value.accepted
