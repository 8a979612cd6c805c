"""The journal: a line of JSON for each task that has ended. Who continues a campaign reads it."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os


class JournalError(Exception):
    """The journal can't be used: another campaign writes it, or it is no journal."""


class Journal:
    """Opened for one campaign at a time. Lines are appended as a whole and flushed to the disk; what a killed
    client has left of a line is cut off."""

    def __init__(self, path: str | os.PathLike):
        self.path = os.fspath(path)
        self._file = open(self.path, "a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise JournalError(f"{self.path}: another campaign writes this journal") from None
        self.entries: dict[str, dict] = {}
        try:
            self._read()
        except BaseException:
            self._file.close()
            raise

    def _read(self) -> None:
        self._file.seek(0)
        data = self._file.read()
        end = data.rfind(b"\n") + 1
        for number, line in enumerate(data[:end].splitlines(), 1):
            try:
                entry = json.loads(line)
                check = entry.pop("check")
                if check != _check_of(entry):
                    raise ValueError("its digest is wrong")
                if entry["task"] in self.entries:
                    raise ValueError(f"task {entry['task']} is there twice")
                self.entries[entry["task"]] = entry
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise JournalError(f"{self.path}:{number}: no line of a journal: {error}") from None
        if end < len(data):
            self._file.truncate(end)

    def __contains__(self, digest: str) -> bool:
        return digest in self.entries

    def add(self, digest: str, entry: dict) -> bool:
        """False: the task is there already."""
        if digest in self.entries:
            return False
        entry = {"task": digest, **entry}
        line = json.dumps({**entry, "check": _check_of(entry)}, sort_keys=True) + "\n"
        self._file.write(line.encode())
        self._file.flush()
        os.fsync(self._file.fileno())
        self.entries[digest] = entry
        return True

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_) -> None:
        self.close()


def _check_of(entry: dict) -> str:
    return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()[:16]
