"""Many independent tasks on many machines, by Dask (docs/campaigns.md).

    python -m assay.campaign found.jsonl conformance SUITE --plugin libpjrt_mine.so
    python -m assay.campaign found.jsonl --scheduler tcp://host:8786 seeds './fuzz {seed}' --seeds 1:1000
"""

from assay.campaign._journal import Journal, JournalError
from assay.campaign._report import causes, summary
from assay.campaign._run import run_tasks
from assay.campaign._tasks import (Task, command_tasks, conformance_tasks, fuzz_tasks, golden_tasks, run_task,
                                   seed_tasks)

__all__ = ["Journal", "JournalError", "Task", "causes", "command_tasks", "conformance_tasks", "fuzz_tasks",
           "golden_tasks", "run_task", "run_tasks", "seed_tasks", "summary"]
