"""A collection is used only when it is whole and of this model and schema; otherwise the refusal says what to do."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import qdrant_edge
from qdrant_client import models

from activities.index.edge import EdgeIndex
from activities.index.naming import model_slug, version_name
from activities.index.server import ServerIndex
from contracts.errors import IndexSchemaMismatch, IndexUnavailable
from contracts.labels import Collection
from tests.index.conftest import Opener
from tests.index.samples import DIMENSIONS, MODEL, change, dense, targets
from tests.index.server_double import ServerDouble

DETAIL = Collection.DETAIL
VERSION = version_name(DETAIL, MODEL)


@pytest.fixture
async def double() -> AsyncGenerator[ServerDouble]:
    client = ServerDouble()
    await ServerIndex(client, MODEL, DIMENSIONS).open()
    yield client
    await client.close()


@pytest.fixture
async def folder(index_folder: Path) -> Path:
    index = EdgeIndex(index_folder, MODEL, DIMENSIONS)
    await index.open()
    await index.close()
    return index_folder


def test_names_carry_schema_and_model_and_never_meet() -> None:
    assert version_name(DETAIL, "all-MiniLM-L6-v2-int8@8199be6f").startswith(
        "detail-v5-all-minilm-l6-v2-int8-8199be6f-"
    )
    names = ["a/b", "a-b", "A-b", "a b", "a" * 60, "a" * 61, "日本", ""]
    assert len({model_slug(name) for name in names}) == len(names)
    assert all(slug.replace("-", "").isalnum() and slug.isascii() for slug in map(model_slug, names))


async def test_another_model_behind_the_alias_is_refused(make: Opener) -> None:
    first = make()
    await first.open()
    await first.apply([change(DETAIL, "experience/1")])
    other = make(model="another/model")
    if isinstance(first, EdgeIndex):
        await first.close()
    with pytest.raises(IndexSchemaMismatch, match=r"another-model.*caselore reindex"):
        await other.open()


async def test_r9_a_new_model_is_built_aside_and_takes_over(make: Opener) -> None:
    old = make()
    await old.open()
    await old.apply([change(DETAIL, "experience/1")])
    if isinstance(old, EdgeIndex):
        await old.close()
    new = make(model="another/model", dimensions=8, aside=True)
    assert isinstance(new, EdgeIndex | ServerIndex)
    await new.open()
    await new.apply([change(DETAIL, "experience/2", model="another/model")])
    if isinstance(old, ServerIndex):
        assert targets(await dense(old, DETAIL, "any")) == ["experience/1"]
    await new.make_current()
    if isinstance(new, EdgeIndex):
        await new.close()

    after = make(model="another/model")
    await after.open()
    assert targets(await dense(after, DETAIL, "any")) == ["experience/2"]
    if isinstance(after, EdgeIndex):
        await after.close()
    with pytest.raises(IndexSchemaMismatch, match="caselore reindex"):
        await make().open()


async def test_another_vector_size_is_refused(folder: Path, double: ServerDouble) -> None:
    for index in (EdgeIndex(folder, MODEL, 16), ServerIndex(double, MODEL, 16)):
        with pytest.raises(IndexSchemaMismatch, match=r"8 dimensions .* 16 .*caselore reindex"):
            await index.open()


async def test_a_missing_payload_index_is_named_on_a_server(double: ServerDouble) -> None:
    await double.delete_payload_index(f"caselore-{VERSION}", "tenant")
    with pytest.raises(IndexSchemaMismatch, match=r"keyword index .* tenant.*caselore reindex") as refusal:
        await ServerIndex(double, MODEL, DIMENSIONS).open()
    assert refusal.value.field == "tenant"


async def test_a_payload_index_of_another_kind_is_named_on_a_server(double: ServerDouble) -> None:
    await double.create_payload_index(f"caselore-{VERSION}", "revision", models.PayloadSchemaType.KEYWORD)
    with pytest.raises(IndexSchemaMismatch, match=r"integer index .* revision"):
        await ServerIndex(double, MODEL, DIMENSIONS).open()


async def test_half_a_collection_on_a_server_is_completed(double: ServerDouble) -> None:
    """Before the alias is set, nothing counts as built: an interrupted start is carried on."""
    removed = models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name="caselore-detail"))
    await double.update_collection_aliases([removed])
    await double.delete_payload_index(f"caselore-{VERSION}", "tenant")
    await ServerIndex(double, MODEL, DIMENSIONS).open()


async def test_a_missing_payload_index_is_named_in_a_folder(folder: Path) -> None:
    shard = qdrant_edge.EdgeShard.load(str(folder / VERSION))
    shard.update(qdrant_edge.UpdateOperation.delete_field_index("tenant"))
    shard.close()
    with pytest.raises(IndexSchemaMismatch, match=r"keyword index .* tenant.*caselore reindex"):
        await EdgeIndex(folder, MODEL, DIMENSIONS).open()


async def test_a_missing_vector_is_named(folder: Path) -> None:
    file = folder / VERSION / "edge_config.json"
    config = json.loads(file.read_text())
    del config["vectors"]["title"]
    file.write_text(json.dumps(config))
    with pytest.raises(IndexSchemaMismatch, match=r"no vector title.*caselore reindex"):
        await EdgeIndex(folder, MODEL, DIMENSIONS).open()


async def test_a_lost_version_is_not_taken_for_an_empty_index(folder: Path) -> None:
    """R23: an empty index under a watermark that says otherwise would answer "nothing known"."""
    (folder / VERSION).rename(folder / "elsewhere")
    with pytest.raises(IndexSchemaMismatch, match="missing"):
        await EdgeIndex(folder, MODEL, DIMENSIONS).open()


async def test_a_server_that_is_not_there_is_unavailable(make: Opener) -> None:
    index = make()
    await index.open()
    await index.close()
    with pytest.raises(IndexUnavailable):
        await dense(index, DETAIL, "any")
