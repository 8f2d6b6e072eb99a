"""Looking for words in bytes: files of any size, and every way in which a text may be written down there."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

_PIECE = 1 << 20
_NOTHING = bytes(_PIECE)


def forms(word: str) -> list[bytes]:
    """Return a word as plain text, as it stands in JSON, and in two bytes for each character."""
    written = {word, json.dumps(word)[1:-1], json.dumps(word, ensure_ascii=False)[1:-1]}
    return [each.encode() for each in written] + [word.encode("utf-16-le"), word.encode("utf-16-be")]


def files_with(folder: Path, *words: str) -> list[tuple[str, str]]:
    """Return each word with each file below a folder that holds it."""
    wanted = [(word, form) for word in words for form in forms(word)]
    return [
        (word, str(path.relative_to(folder)))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
        for word in sorted({word for piece in _pieces(path) for word, form in wanted if form in piece})
    ]


def texts_with(texts: Iterable[str], *words: str) -> list[str]:
    """Return the words that any of the texts holds."""
    wanted = [(word, form.decode()) for word in words for form in forms(word)[:-2]]
    return sorted({word for text in texts for word, form in wanted if form in text})


def _pieces(path: Path) -> Iterator[bytes]:
    """Return what a file holds, without its holes: an index sets aside hundreds of megabytes that it never writes."""
    with path.open("rb") as file:
        size, at = os.fstat(file.fileno()).st_size, 0
        while at < size:
            try:
                begin = os.lseek(file.fileno(), at, os.SEEK_DATA)
            except OSError as error:
                if error.errno == errno.ENXIO:  # holes up to the end
                    return
                raise
            at = os.lseek(file.fileno(), begin, os.SEEK_HOLE)
            before = b""
            for start in range(begin, at, _PIECE):
                piece = os.pread(file.fileno(), min(_PIECE, at - start), start)
                if piece != _NOTHING:
                    yield before + piece
                before = piece[-512:]
