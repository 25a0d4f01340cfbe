"""The files of `rubricate score`: rows in, scored rows out, and which of them are done.

A scored row names the row it came from and carries a digest of that row and of the options, so that an
output is never taken for that of another input.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from rubricate_clients.wire import Options

_PREFIX = b'{"row":'


class BulkError(Exception):
    """The files are not what `rubricate score` can work with."""


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One line of the input, numbered from 0, blank lines included."""

    number: int
    digest: str
    text: bytes


def source_rows(source: Path, options: Options) -> Iterator[SourceRow]:
    """Every row of the input that is not blank; raises `BulkError` when there is no such file."""
    if not source.is_file():
        raise BulkError(f"there is no file {source}")
    wanted = options.model_dump_json(exclude_defaults=True).encode()
    with source.open("rb") as file:
        for number, line in enumerate(file):
            line = line if number else line.removeprefix(BOM_UTF8)  # editors on Windows put one there
            if text := line.strip():
                yield SourceRow(number, hashlib.sha256(wanted + b"\n" + text).hexdigest()[:16], text)


def line_of(row: SourceRow, position: int, answer: Mapping[str, Any]) -> bytes:
    """The output line of a row that was scored as number `position` of a request."""
    line = orjson.dumps({"row": row.number, "digest": row.digest, **answer}) + b"\n"
    # paths are those of a request of many rows; here a row is the whole
    return line.replace(f'"path":"groups[{position}].'.encode(), b'"path":"')


def failed_kinds(answer: Mapping[str, Any]) -> Iterator[str]:
    """Error kind of every verdict of a scored row that could not be decided."""
    for response in answer["responses"]:
        for verdict in response["rubrics"]:
            if verdict["status"] == "failed":
                yield verdict["error"]["kind"]


def _kept(out: Path, digests: Mapping[int, str], again: frozenset[str]) -> Iterator[tuple[int, bytes]]:
    """Rows of the output that stand, with their lines."""
    with out.open("rb") as file:
        for position, line in enumerate(file):
            if not line.endswith(b"\n") and (line.startswith(_PREFIX) or _PREFIX.startswith(line)):
                return  # torn by a kill
            try:
                answer = orjson.loads(line)
                number, digest = answer["row"], answer["digest"]
                undecided = again.intersection(failed_kinds(answer))
            except (orjson.JSONDecodeError, KeyError, TypeError):
                raise BulkError(f"{out}, line {position + 1}, was not written by this command") from None
            if digests.get(number) != digest:
                why = "is of another input or of other options; name another output with -o"
                raise BulkError(f"{out}, line {position + 1}, {why}")
            if not undecided:
                yield number, line


def _open_alone(out: Path) -> BinaryIO:
    file = out.open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise BulkError(f"another run is writing {out}") from None
    return file


@contextmanager
def open_output(
    out: Path, source: Path, digests: Mapping[int, str], again: frozenset[str]
) -> Iterator[tuple[BinaryIO, set[int]]]:
    """The output, open at its end and for nobody else, and the numbers of the rows that it has.

    A torn last line is cut off, and rows with a verdict that failed for a reason in `again` are taken out.

    Raises:
        BulkError: It cannot be written, is the input, or holds what is not of this input and options.
    """
    if out.resolve() == source.resolve():
        raise BulkError(f"{out} is the input; name another output with -o")
    try:
        file = _open_alone(out)
        kept = list(_kept(out, digests, again))
        if sum(len(line) for _, line in kept) != os.fstat(file.fileno()).st_size:
            aside = out.with_name(f"{out.name}.kept")
            aside.write_bytes(b"".join(line for _, line in kept))
            aside.replace(out)  # whole or not at all, whenever this process is killed
            file.close()
            file = _open_alone(out)
    except OSError as error:
        raise BulkError(f"{out} cannot be written: {error.strerror}") from None
    with file:
        yield file, {number for number, _ in kept}
