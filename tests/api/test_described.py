"""Whatever is sent, the answer is one that the OpenAPI document tells of: schemathesis over every operation (R22).

`CASELORE_DESCRIBED_EXAMPLES` says how many requests of each kind are made up for an operation.
"""

from __future__ import annotations

import asyncio
import os
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from itertools import cycle, islice
from typing import Any

import pytest
import pytest_asyncio
import requests
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode, openapi
from schemathesis.checks import CheckFunction, not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.generation.case import Case
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from temporalio.testing import WorkflowEnvironment

from activities.records.database import Database
from activities.records.identities import Identities
from activities.records.migrate import migrate
from api.permissions import PERMISSIONS
from tests.api.described_world import Described, callers_of, described, operations_of
from tests.api.world import World, key_of, people
from tests.services import PostgresServer

EXAMPLES = int(os.environ.get("CASELORE_DESCRIBED_EXAMPLES", "3"))
"""Made-up requests of each kind for an operation."""
COVERAGE = EXAMPLES * 8
"""Requests at the limits of what the description allows, for an operation."""
CHECKS: list[CheckFunction] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
PREFIXES = ("/v1/", "/health/")
OPERATIONS = sorted(route for route in PERMISSIONS if route[1].startswith(PREFIXES))


@pytest_asyncio.fixture(scope="module")
async def there(
    postgres_server: PostgresServer, temporal_env: WorkflowEnvironment, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Described]:
    """An organisation of this module's own: administrators do anything to it."""
    urls = postgres_server.new_database()
    migrate(urls.owner)
    database = Database(urls.app, urls.system)
    mark = uuid.uuid4().hex[:8]
    try:
        await people(Identities(database))
        world = World(database, temporal_env.client, f"lifecycle-{mark}", f"retrieval-{mark}")
        async with world.worker_on(world.queue), described(world, tmp_path_factory.mktemp("index")) as served:
            yield served
    finally:
        await database.close()


@pytest.fixture(scope="module")
def schema(there: Described) -> Any:
    found = openapi.from_dict(there.document)
    found.config.phases.coverage.unexpected_methods = {"delete", "trace"}
    return found


def test_every_operation_of_the_document_is_tried(there: Described) -> None:
    assert sorted((method, path) for method, path, _ in operations_of(there.document)) == OPERATIONS


@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=[" ".join(route) for route in OPERATIONS])
async def test_r22_every_answer_is_described(there: Described, schema: Any, method: str, path: str) -> None:
    tried = Tried(there, schema[path][method])
    await asyncio.to_thread(tried.run)
    assert tried.faults == []
    assert tried.statuses, "nothing was sent"
    print(dict(tried.statuses))


class Tried:
    """What came of requests for one operation.

    Args:
        there: Where they go.
        operation: What is called.
    """

    def __init__(self, there: Described, operation: APIOperation[Any, Any, Any, Any]) -> None:
        self.there = there
        self.operation = operation
        self.statuses: Counter[int] = Counter()
        self.faults: list[str] = []
        self._session = requests.Session()
        self._callers = callers_of(operation.method.upper(), operation.path)

    def run(self) -> None:
        """Send what is made up, then what lies at the limits; mostly as who gets furthest with it."""
        with self._session:
            best, *others = self._callers
            for mode in GenerationMode:
                self._made_up(mode, best)
            for case, caller in zip(self._at_the_limits(), cycle([*[best] * 8, *others]), strict=False):
                self.send(case, caller)

    def _made_up(self, mode: GenerationMode, caller: str | None) -> None:
        @given(case=self.operation.as_strategy(generation_mode=mode))
        @settings(
            max_examples=EXAMPLES,
            derandomize=True,
            database=None,
            deadline=None,
            phases=(Phase.generate,),
            suppress_health_check=(HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large),
        )
        def send(case: Case[Any]) -> None:
            self.send(case, caller)

        with suppress(Unsatisfiable):  # an operation that takes nothing can't be called wrongly
            send()

    def _at_the_limits(self) -> Iterator[Case[Any]]:
        schema = self.operation.schema
        cases = schema.iter_coverage_cases(
            self.operation,
            generation_modes=list(GenerationMode),
            generation_config=schema.config.generation_for(operation=self.operation),
        )
        return islice(cases, COVERAGE)

    def send(self, case: Case[Any], caller: str | None) -> None:
        """Send a request and note what the description doesn't tell of the answer."""
        headers = {} if caller is None else {"Authorization": f"Bearer {key_of(caller)}"}
        case.body = self.there.with_new_ids(case.body)
        response = case.call(base_url=self.there.address, headers=headers, session=self._session, timeout=60)
        self.statuses[response.status_code] += 1
        try:
            case.validate_response(response, checks=CHECKS)
        except (FailureGroup, Failure) as failure:
            told = failure.exceptions if isinstance(failure, FailureGroup) else [failure]
            for each in told:
                self.faults.append(f"{each} | {case.as_curl_command(headers=headers)} | {response.text:.400}")
