"""Runs tasks on a cluster of Dask, and writes down each end once."""

from __future__ import annotations

from typing import Callable, Iterable

from assay.campaign._journal import Journal
from assay.campaign._tasks import Task, cause_of, run_task


def distributed():
    try:
        import distributed as module
    except ImportError as error:
        raise ImportError(
            "campaigns run on Dask: pip install 'assay-xla[campaign]' (or distributed)") from error
    return module


def run_tasks(tasks: Iterable[Task],
              journal: Journal,
              client,
              on_end: Callable[[dict], None] | None = None) -> int:
    """Runs the tasks that the journal lacks; returns how many it ran. A task whose worker dies runs again on
    another one, as often as the scheduler allows (distributed.scheduler.allowed-failures, 3); then it is a
    crash."""
    module = distributed()
    waiting = {task.digest: task for task in tasks if task.digest not in journal}
    if not waiting:
        return 0
    # Keys are digests: what a client that was killed had submitted is the same task of the scheduler.
    futures = {digest: client.submit(run_task, task, key=f"assay-{digest}", pure=False)
               for digest, task in waiting.items()}
    by_key = {future.key: digest for digest, future in futures.items()}
    count = 0
    for future in module.as_completed(futures.values()):
        digest = by_key[future.key]
        entry = _entry_of(waiting[digest], future)
        if journal.add(digest, entry):
            count += 1
            if on_end is not None:
                on_end(entry)
        futures.pop(digest).release()
    return count


def _entry_of(task: Task, future) -> dict:
    if future.status == "finished":
        return future.result()
    error = future.exception() if future.status == "error" else RuntimeError(f"the task was {future.status}")
    is_worker_lost = type(error).__name__ == "KilledWorker"
    outcome = "crash" if is_worker_lost else "error"
    why = "each worker that ran it died" if is_worker_lost else f"{type(error).__name__}: {error}"
    finding = {"name": task.name, "outcome": outcome, "why": why, "command": task.command,
               "cause": cause_of(outcome, why)}
    return {"kind": task.kind, "name": task.name, "outcome": outcome, "findings": [finding], "seconds": 0.0,
            "worker": ""}
