"""Whatever is sent, the answer is one that the OpenAPI document tells of: schemathesis over every operation (R22).

`CASELORE_DESCRIBED_EXAMPLES` says how many requests of each kind are made up for an operation.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
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
from schemathesis.generation.hypothesis.examples import generate_one
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from api.permissions import PERMISSIONS
from tests.acceptance.conftest import MEMORY
from tests.api.described_world import Described, callers_of, described, operations_of
from tests.api.world import World, key_of

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
NEVER = ("/v1/dead-letters/{event_id}/give-up",)
"""Where there is nothing that a request could do: no event is dead."""
PREFIXES = ("/v1/", "/health/")
OPERATIONS = sorted(route for route in PERMISSIONS if route[1].startswith(PREFIXES))


@pytest_asyncio.fixture(scope="module")
async def there(world: World) -> AsyncIterator[Described]:
    """The module's organisation, served; administrators do anything to it."""
    # In memory where that can be: a rebuilt index is written to the disk each time.
    with TemporaryDirectory(prefix="caselore-", dir=MEMORY if MEMORY.is_dir() else None) as folder:
        async with described(world, Path(folder)) as served:
            yield served


@pytest.fixture(scope="module")
def schema(there: Described) -> Iterator[Any]:
    found = openapi.from_dict(there.document)
    found.config.phases.coverage.unexpected_methods = {"delete", "trace"}
    with pytest.MonkeyPatch.context() as patched:
        # To name a lambda it parses the whole file around it, and Python 3.11 can't parse in two threads at once.
        patched.setattr("hypothesis.internal.lambda_sources.lambda_description", _lambda)
        yield found


def test_every_operation_of_the_document_is_tried(there: Described) -> None:
    assert sorted((method, path) for method, path, _ in operations_of(there.document)) == OPERATIONS


@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=[" ".join(route) for route in OPERATIONS])
async def test_r22_every_answer_is_described(there: Described, schema: Any, method: str, path: str) -> None:
    tried = Tried(there, schema[path][method])
    await asyncio.to_thread(tried.run)
    assert tried.faults == []
    assert path in NEVER or min(tried.statuses) < 300, f"nothing got through: {dict(tried.statuses)}"


def _lambda(_: object) -> str:
    return "<lambda>"


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
        """Send the examples, what is made up, and what lies at the limits; mostly as who gets furthest with it."""
        with self._session:
            best, *others = self._callers
            for strategy in self.operation.schema.get_strategies_from_examples(self.operation):
                self.send(generate_one(strategy), best)
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

    def _at_the_limits(self) -> Sequence[Case[Any]]:
        schema = self.operation.schema
        found = schema.iter_coverage_cases(
            self.operation,
            generation_modes=list(GenerationMode),
            generation_config=schema.config.generation_for(operation=self.operation),
        )
        cases = list(islice(found, 10 * COVERAGE))
        return cases[:: max(1, len(cases) // COVERAGE)]

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
