"""python -m assay.campaign JOURNAL [--scheduler tcp://…] conformance | golden | fuzz | seeds | commands …

Exit codes: 0 nothing was found; 1 something was; 2 wrong usage, or the journal or Dask can't be used; 5
interrupted: the same command continues.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

from assay.campaign import _report
from assay.campaign._journal import Journal, JournalError
from assay.campaign._run import distributed, run_tasks
from assay.campaign._tasks import (command_tasks, conformance_tasks, fuzz_tasks, golden_tasks,
                                   seed_tasks)

PROGRESS_SECONDS = 10


def _seeds(text: str) -> range:
    parts = [int(part) for part in text.split(":")]
    if len(parts) not in (2, 3) or (len(parts) == 3 and parts[2] <= 0) or parts[0] >= parts[1]:
        raise argparse.ArgumentTypeError(f"want FIRST:END or FIRST:END:STEP, found '{text}'")
    return range(*parts)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="assay.campaign", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("journal",
                        metavar="JOURNAL",
                        help="a file of JSON lines; tasks that it has do not run again")
    parser.add_argument("--scheduler",
                        metavar="tcp://HOST:PORT",
                        help="of a cluster; else workers of this machine")
    parser.add_argument("--workers",
                        type=int,
                        default=os.cpu_count() or 1,
                        help="of this machine (one a core)")
    parser.add_argument("--timeout", type=float, help="seconds for a task (600; conformance 1800, fuzz 3600)")
    parser.add_argument("--report",
                        metavar="FILE",
                        help="also write the report; as JSON where it ends in .json")
    kinds = parser.add_subparsers(dest="kind", required=True)
    suite = kinds.add_parser("conformance", help="cases of a conformance suite (docs/conformance.md)")
    suite.add_argument("suite", metavar="SUITE")
    backend = suite.add_mutually_exclusive_group(required=True)
    for flag in ("--platform", "--plugin", "--command"):
        backend.add_argument(flag)
    suite.add_argument("--profile")
    suite.add_argument("--only", action="append", default=[], metavar="PATTERN")
    suite.add_argument("--batch",
                       type=int,
                       default=25,
                       help="cases for which the backend is started once (25)")
    golden = kinds.add_parser("golden", help="record goldens of programs on random inputs")
    golden.add_argument("folder", metavar="FOLDER", help="where they are written")
    golden.add_argument("programs", metavar="PROGRAM", nargs="+")
    golden.add_argument("--seeds", type=_seeds, default=range(1, 2), metavar="FIRST:END")
    golden.add_argument("--profile", help="also store its bounds")
    golden.add_argument("--assay", default="assay", help="the command")
    fuzz = kinds.add_parser("fuzz", help="generated programs: `assay fuzz` for each seed (docs/find.md)")
    fuzz.add_argument("folder", metavar="FOLDER", help="where findings are written")
    fuzz.add_argument("--seeds", type=_seeds, required=True, metavar="FIRST:END")
    fuzz.add_argument("--programs", type=int, default=1000, help="for a seed (1000)")
    fuzz.add_argument("--assay", default="assay", help="the command")
    fuzz.add_argument("flags", metavar="-- FLAG", nargs="*", help="of `assay fuzz`: -- --engine exact")
    seeds = kinds.add_parser("seeds", help="a command for each seed: exit status 1 is a finding")
    seeds.add_argument("command", metavar="'CMD {seed}'")
    seeds.add_argument("--seeds", type=_seeds, required=True, metavar="FIRST:END[:STEP]")
    commands = kinds.add_parser("commands",
                                help="the commands of a file, one a line: exit status 1 is a finding")
    commands.add_argument("file", metavar="FILE")
    return parser


def _tasks(options) -> list:
    limit = {} if options.timeout is None else {"timeout": options.timeout}
    if options.kind == "conformance":
        flag = next(f for f in ("platform", "plugin", "command") if getattr(options, f))
        return conformance_tasks(options.suite, [f"--{flag}", getattr(options, flag)], options.only,
                                 options.profile, max(1, options.batch), **limit)
    if options.kind == "golden":
        return golden_tasks(options.folder, options.programs, options.seeds, options.assay,
                            options.profile, **limit)
    if options.kind == "fuzz":
        return fuzz_tasks(options.folder, options.flags, options.programs, options.seeds, options.assay,
                          **limit)
    if options.kind == "seeds":
        return seed_tasks(options.command, options.seeds, **limit)
    with open(options.file, encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    return command_tasks([line for line in lines if line and not line.startswith("#")], **limit)


class _Progress:
    """A line now and then: how far it is, and what was found so far."""

    def __init__(self, journal: Journal, total: int):
        self.journal, self.total, self.told = journal, total, 0.0

    def __call__(self, entry: dict) -> None:
        done = len(self.journal.entries)
        if time.monotonic() - self.told < PROGRESS_SECONDS and done < self.total:
            return
        self.told = time.monotonic()
        found = _report.causes(self.journal.entries.values())
        words = f"{done} of {self.total}, {sum(of['count'] for of in found)} findings of {len(found)} causes"
        if found:
            words += f"; most often {_report._line(found[0]['cause'])[:100]}"
        print(words, file=sys.stderr, flush=True)


def _client(options):
    module = distributed()
    if options.scheduler:
        return module.Client(options.scheduler)
    cluster = module.LocalCluster(n_workers=max(1, options.workers),
                                  threads_per_worker=1,
                                  dashboard_address=None)
    return module.Client(cluster)


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        distributed()
        tasks = list({task.digest: task for task in _tasks(options)}.values())
        journal = Journal(options.journal)
    except (ImportError, OSError, ValueError, KeyError, JournalError) as error:
        print(f"assay.campaign: error: {error}", file=sys.stderr)
        return 2
    interrupted = False
    with journal:
        if any(task.digest not in journal for task in tasks):
            try:
                with _client(options) as client:
                    run_tasks(tasks, journal, client, _Progress(journal, len(tasks)))
            except KeyboardInterrupt:
                interrupted = True
            except OSError as error:  # no scheduler at this address
                print(f"assay.campaign: error: {error}", file=sys.stderr)
                return 2
        wanted = {task.digest for task in tasks}
        entries = [entry for digest, entry in journal.entries.items() if digest in wanted]
    text = _report.summary(entries, len(tasks), interrupted)
    print(text, end="")
    if options.report:
        with open(options.report, "w", encoding="utf-8") as file:
            file.write(_report.to_json(entries, len(tasks)) if options.report.endswith(".json") else text)
    if interrupted:
        return 5
    return 1 if any(entry["outcome"] != "pass" for entry in entries) else 0


if __name__ == "__main__":
    sys.exit(main())
