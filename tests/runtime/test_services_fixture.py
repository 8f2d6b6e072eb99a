"""The shared fixtures give working services."""

from __future__ import annotations

from datetime import timedelta

import psycopg
import pytest
from temporalio import workflow
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from tests.runtime.stored import libpq
from tests.services import PostgresServer, registered_search_attributes


def test_fresh_databases_are_separate_and_copyable(postgres_server: PostgresServer) -> None:
    template = postgres_server.named_database("fixture_template")
    with psycopg.connect(libpq(template.owner)) as connection:
        connection.execute("CREATE TABLE t (x int)")
    copy = postgres_server.new_database(template="fixture_template")
    other = postgres_server.new_database()
    with psycopg.connect(libpq(copy.owner)) as connection:
        assert connection.execute("SELECT to_regclass('t')").fetchone() != (None,)
    with psycopg.connect(libpq(other.owner)) as connection:
        assert connection.execute("SELECT to_regclass('t')").fetchone() == (None,)


@workflow.defn(sandboxed=False)
class Sleeps:
    @workflow.run
    async def run(self) -> float:
        began = workflow.now()
        await workflow.sleep(timedelta(days=43))
        return (workflow.now() - began).total_seconds()


async def test_days_pass_at_once(time_skipping_env: WorkflowEnvironment) -> None:
    client = time_skipping_env.client
    async with Worker(client, task_queue="sleeps", workflows=[Sleeps]):
        slept = await client.execute_workflow(Sleeps.run, id="sleeps", task_queue="sleeps")
    assert slept == pytest.approx(timedelta(days=43).total_seconds(), rel=0.01)


async def test_dev_server_is_healthy(temporal_env: WorkflowEnvironment) -> None:
    assert await temporal_env.client.service_client.check_health()
    listed = await temporal_env.client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=temporal_env.client.namespace)
    )
    assert {key.name for key in registered_search_attributes()} <= set(listed.custom_attributes)
