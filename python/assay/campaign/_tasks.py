"""Tasks: commands that a worker runs, and what their ends mean. A task is data, for any machine."""

from __future__ import annotations

import dataclasses
import fnmatch
import hashlib
import json
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time

OUTPUT_BYTES = 4000


@dataclasses.dataclass(frozen=True)
class Task:
    """One task. `digest` names it in the journal: equal tasks are one."""

    kind: str  # conformance, golden, fuzz, seed or command
    name: str  # for who reads the report
    command: str  # with {results}, where it writes results
    timeout: float = 600
    content: str = ""  # digest of the files that the command reads, where they may change under their names

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps(dataclasses.asdict(self), sort_keys=True).encode()).hexdigest()[:24]


def conformance_tasks(suite: str | os.PathLike, backend: list[str], only: list[str] | None = None,
                      profile: str | None = None, batch: int = 25, python: str = sys.executable,
                      timeout: float = 1800) -> list[Task]:
    """The cases of a conformance suite in batches, each of which starts the backend once. `backend`: flags of
    assay_conformance run, such as ["--platform", "cpu"]."""
    suite = pathlib.Path(suite).resolve()
    index = json.loads((suite / "index.json").read_text(encoding="utf-8"))
    cases = [case for case in index["cases"]
             if not only or any(fnmatch.fnmatchcase(case["id"], p) or case["id"].startswith(p) for p in only)]
    tasks = []
    for k in range(0, len(cases), batch):
        part = cases[k:k + batch]
        words = [python, "-m", "assay_conformance", "run", str(suite), *backend, "--jobs", "1"]
        if profile:
            words += ["--profile", profile]
        for case in part:
            words += ["--only", case["id"]]
        content = hashlib.sha256(json.dumps([case["files"] for case in part]).encode()).hexdigest()
        tasks.append(Task("conformance", f"{part[0]['id']} … {part[-1]['id']}",
                          shlex.join(words) + " --json {results}", timeout, content))
    return tasks


def golden_tasks(folder: str | os.PathLike, programs: list, seeds: range, assay: str = "assay",
                 profile: str | None = None, timeout: float = 600) -> list[Task]:
    """A golden of each program for each seed of its inputs, NAME.SEED.hlo in `folder`."""
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    tasks = []
    for program in map(pathlib.Path, programs):
        content = hashlib.sha256(program.read_bytes()).hexdigest()
        for seed in seeds:
            words = [
                assay, "golden", "record",
                str(program.resolve()), "--random-inputs",
                str(seed), "--output",
                str(folder / f"{program.stem}.{seed}.hlo")
            ]
            words += ["--profile", profile] if profile else []
            tasks.append(Task("golden", f"{program.name} seed {seed}", shlex.join(words), timeout, content))
    return tasks


def fuzz_tasks(folder: str | os.PathLike, flags: list[str], programs: int, seeds: range, assay: str = "assay",
               timeout: float = 3600) -> list[Task]:
    """`assay fuzz` with these flags for each seed, so many programs each; findings in `folder`/seed-N."""
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    tasks = []
    for seed in seeds:
        output = str(folder / f"seed-{seed}")
        words = [assay, "fuzz", *flags, "--seed", str(seed), "--programs", str(programs), "--output", output,
                 "--json"]
        # What a worker that died has left is not continued: programs depend on those before them. Its command
        # may still run: it is waited for.
        again = f"rm -rf {shlex.quote(output)}; exec {shlex.join(words)}"
        command = f"flock {shlex.quote(output + '.lock')} sh -c {shlex.quote(again)} > {{results}}"
        tasks.append(Task("fuzz", f"seed {seed}", command, timeout))
    return tasks


def seed_tasks(command: str, seeds: range, timeout: float = 600) -> list[Task]:
    """The command for each seed, in the place of {seed}."""
    return [Task("seed", f"seed {seed}", command.replace("{seed}", str(seed)), timeout) for seed in seeds]


def command_tasks(commands: list[str], timeout: float = 600) -> list[Task]:
    """Commands of a shell, such as tries of `assay reduce`."""
    return [Task("command", command[:120], command, timeout) for command in commands]


def run_task(task: Task) -> dict:
    """What the journal has of the task, but for its digest: runs on a worker."""
    begin = time.time()
    with tempfile.TemporaryDirectory(prefix="assay-campaign-") as scratch:
        results = os.path.join(scratch, "results.json")
        command = task.command.replace("{results}", shlex.quote(results))
        status, output = _run(command, task.timeout)
        outcome, findings = _findings(task, status, output, results)
    return {"kind": task.kind, "name": task.name, "outcome": outcome, "findings": findings,
            "seconds": round(time.time() - begin, 3), "worker": f"{socket.gethostname()}:{os.getpid()}"}


def _run(command: str, timeout: float) -> tuple[int | None, str]:
    """The exit status, negative for a signal, None where the time was over; and the end of the output."""
    process = subprocess.Popen(command, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output = process.communicate(timeout=timeout)[0]
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, status = process.communicate()[0], None
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    if status is not None and status > 128:  # as a shell tells of a signal of its child
        status = 128 - status
    return status, output[-OUTPUT_BYTES:].decode(errors="replace").strip()


def _findings(task: Task, status: int | None, output: str, results: str) -> tuple[str, list[dict]]:
    if status is None:
        return "hang", [_finding(task.name, "hang", f"no end within {task.timeout:g} s", task.command)]
    if status < 0:
        return "crash", [_finding(task.name, "crash", f"signal {-status}: {output}", task.command)]
    if task.kind == "conformance" and status in (0, 1) and os.path.exists(results):
        with open(results, encoding="utf-8") as file:
            found = json.load(file)["results"]
        findings = [
            _finding(name, result["outcome"], _why(result), task.command,
                     name.partition("/")[0])
            for name, result in found.items()
            if result["outcome"] in ("fail", "crash", "hang", "error")
        ]
        return ("fail" if findings else "pass"), findings
    if task.kind == "fuzz" and status in (0, 1) and os.path.exists(results):
        with open(results, encoding="utf-8") as file:
            found = json.load(file)["findings"]
        findings = [{"name": of["folder"], "outcome": "crash" if of["kind"] == "crash" else "fail",
                     "why": f"{of['kind']}: {of['cause']}, {of['programs']} programs",
                     "command": task.command, "cause": f"{of['kind']}: {of['cause']}"} for of in found]
        return ("fail" if findings else "pass"), findings
    if status == 0:
        return "pass", []
    if status == 1 and task.kind != "conformance":
        return "fail", [_finding(task.name, "fail", output, task.command)]
    return "error", [_finding(task.name, "error", f"exit status {status}: {output}", task.command)]


def _why(result: dict) -> str:
    if result.get("why"):
        return result["why"]
    first = (result.get("details") or [{}])[0]
    return f"{result.get('wrong', 0)} wrong elements, such as {first.get('actual')} for {first.get('exact')}"


def _finding(name: str, outcome: str, why: str, command: str, group: str = "") -> dict:
    return {"name": name, "outcome": outcome, "why": why, "command": command,
            "cause": cause_of(outcome, why, group)}


# What differs between findings of one cause: numbers, addresses, temporary files, quoted names.
_PARTICULAR = [(re.compile(r"0x[0-9a-fA-F]+"), "0x…"), (re.compile(r"/[\w./+-]+/"), "…/"),
               (re.compile(r"-?\b\d+(\.\d+)?([eE][+-]?\d+)?\b"), "N"), (re.compile(r"%[\w.-]+"), "%…"),
               (re.compile(r"\bnanj?\b|\binfj?\b|\bN?j\b"), "N")]


def cause_of(outcome: str, why: str, group: str = "") -> str:
    """The first line that says something, without what is particular to the finding."""
    lines = [line.strip() for line in why.splitlines() if line.strip()]
    told = next((line for line in lines if re.search(r"error|differ|outside|fail", line, re.I)),
                lines[0] if lines else "")
    for pattern, word in _PARTICULAR:
        told = pattern.sub(word, told)
    return ": ".join(word for word in (outcome, group, told[:200]) if word)
