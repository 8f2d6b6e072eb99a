"""Embeddings by fastembed: ONNX models on the processor, no service."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from fastembed import TextEmbedding

from activities.embedding import offline_minilm
from contracts.errors import EmbeddingUnavailable

_ROWS = 32
_CHARACTERS = 3_200
"""Rows times the longest text of a batch. Padding is wasted work, and memory grows with this product: batches of
32 long texts took 1.2 GB and were slower than one text at a time."""
_CUT = 1_400
"""About 256 tokens of English: text beyond costs the model nothing, so it doesn't count for a batch."""


class FastEmbedEmbedder:
    """An `Embedder` on a fastembed model. Safe to call from several threads.

    Args:
        cache: Folder for prepared or downloaded models.
        model: A name that fastembed knows; None for the offline default.
        path: Folder that holds that model's files already; None to let fastembed find them.
        dimensions: What the index expects; None to take what the model gives.
        threads: Threads for one call; None leaves it to the runtime.

    Raises:
        EmbeddingUnavailable: A file is missing or altered, the name is unknown, or the dimension is another.
    """

    def __init__(
        self,
        cache: Path,
        *,
        model: str | None = None,
        path: Path | None = None,
        dimensions: int | None = None,
        threads: int | None = None,
    ) -> None:
        if model is None:
            name, architecture, folder = offline_minilm.NAME, offline_minilm.MODEL, offline_minilm.prepare(cache)
        else:
            name, architecture, folder = model.rsplit("/", 1)[-1], model, path
        self._engine = _load(architecture, folder, cache, threads)
        self._model = f"{name}@{_weights_hash(self._engine, folder)}"
        self._dimensions = len(next(iter(self._vectors(["dimension"]))))
        if dimensions is not None and dimensions != self._dimensions:
            raise EmbeddingUnavailable(
                f"{self._model} gives {self._dimensions} dimensions, {dimensions} were expected.",
                field="dimensions",
                accepted=str(self._dimensions),
            )

    @property
    def model(self) -> str:
        """Name and short hash of the weights."""
        return self._model

    @property
    def dimensions(self) -> int:
        """Length of each vector."""
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a unit vector for each text, in order.

        Raises:
            EmbeddingUnavailable: The model failed, or gave something that is no vector.
        """
        vectors: list[list[float]] = [[] for _ in texts]
        for batch in batches([len(text) for text in texts]):
            for position, vector in zip(batch, self._vectors([texts[each] for each in batch]), strict=True):
                if not math.isfinite(sum(vector)):
                    raise EmbeddingUnavailable(f"{self._model} gave a vector that is not finite.")
                vectors[position] = vector
        return vectors

    def _vectors(self, texts: list[str]) -> Iterator[list[float]]:
        try:
            for vector in self._engine.embed(texts, batch_size=len(texts)):
                yield vector.tolist()
        except Exception as error:
            raise EmbeddingUnavailable(f"The embedding model failed: {error}") from error


def batches(lengths: Sequence[int]) -> list[list[int]]:
    """Return the positions of texts in batches of similar length, within rows and characters."""
    made: list[list[int]] = []
    for position in sorted(range(len(lengths)), key=lambda each: lengths[each]):
        longest = max(1, min(lengths[position], _CUT))
        if not made or len(made[-1]) == _ROWS or (len(made[-1]) + 1) * longest > _CHARACTERS:
            made.append([])
        made[-1].append(position)
    return made


def _load(architecture: str, folder: Path | None, cache: Path, threads: int | None) -> TextEmbedding:
    if folder is not None and not folder.is_dir():
        raise EmbeddingUnavailable(f"The model folder {folder} is missing.", field="path", accepted="a folder")
    try:
        return TextEmbedding(
            architecture,
            cache_dir=str(cache),
            threads=threads,
            providers=["CPUExecutionProvider"],
            specific_model_path=str(folder) if folder else None,
        )
    except Exception as error:
        place = f" from {folder}" if folder else ""
        raise EmbeddingUnavailable(
            f"The embedding model {architecture} can't be loaded{place}: {error}",
            field="model",
            accepted="a model that fastembed knows, with its files in reach",
        ) from error


def _weights_hash(engine: TextEmbedding, folder: Path | None) -> str:
    """Return eight characters that change with the weights.

    fastembed keeps the folder it downloaded to on the inner model; there is no public way to it.
    """
    inner = engine.model
    place = folder or Path(str(getattr(inner, "_model_dir", "")))
    weights = place / str(getattr(getattr(inner, "model_description", None), "model_file", "model.onnx"))
    if not weights.is_file():
        raise EmbeddingUnavailable(f"{weights} is missing.", field="path", accepted="the model's weights")
    return offline_minilm.sha256(weights)[:8]
