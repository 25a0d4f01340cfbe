"""The files of `rubricate score`: rows in, scored rows out, and which of them are done.

A scored row names the row it came from and carries a digest of that row and of the options, so that an
output is never taken for that of another input.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import orjson
from pydantic_core import to_json

from rubricate_clients.wire import Options
from rubricate_service.authoring.files import FileError, Row, read_rows

_PREFIX = b'{"row":'


class BulkError(FileError):
    """The files are not what `rubricate score` can work with."""


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A row of the input, and what tells it and the options from others."""

    item: Row
    digest: str

    @property
    def number(self) -> int:
        """Where it is in the input, from 0."""
        return self.item.number


def source_rows(source: Path, options: Options) -> Iterator[SourceRow]:
    """Every row of the input; JSON lines are read one by one, however many there are.

    Raises:
        FileError: There is no such file, or it cannot be read as a whole.
    """
    wanted = options.model_dump_json(exclude_defaults=True).encode()
    for row in read_rows(source):
        yield SourceRow(row, hashlib.sha256(wanted + b"\n" + to_json(row.value)).hexdigest()[:16])


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


def _replace(out: Path, lines: Iterable[bytes]) -> None:
    """Write a file anew, whole or not at all, whenever this process is killed."""
    aside = out.with_name(f"{out.name}.kept")
    try:
        with aside.open("wb") as file:
            file.writelines(lines)
        aside.replace(out)
    except OSError:
        aside.unlink(missing_ok=True)
        raise


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
    if out.exists() and not (out.is_file() or out.is_dir()):
        raise BulkError(
            f"{out} cannot be written: it is a device or a pipe, and the output is read to resume"
        )
    try:
        file = _open_alone(out)
        done: set[int] = set()
        size = 0
        for number, line in _kept(out, digests, again):
            done.add(number)
            size += len(line)
        if size != os.fstat(file.fileno()).st_size:
            _replace(out, (line for _, line in _kept(out, digests, again)))
            file.close()
            file = _open_alone(out)
    except OSError as error:
        raise BulkError(f"{out} cannot be written: {error.strerror}") from None
    try:
        yield file, done
    finally:
        with suppress(OSError):  # what could not be written was told when it was
            file.close()


def append(file: BinaryIO, out: Path, lines: Sequence[bytes]) -> None:
    """Write rows to the end of the output; raises `BulkError` when they cannot be, as on a full disk."""
    try:
        file.write(b"".join(lines))
        file.flush()
    except OSError as error:
        raise BulkError(f"{out} cannot be written: {error.strerror}") from None
