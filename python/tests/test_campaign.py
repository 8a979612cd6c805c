"""Campaigns: nothing is lost and nothing twice, whoever is killed; findings are merged by cause."""

import dataclasses
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pytest

from assay.campaign import (Journal, JournalError, causes, command_tasks, conformance_tasks, fuzz_tasks,
                            golden_tasks, run_task, run_tasks, seed_tasks, summary)
from assay.campaign.__main__ import main

distributed = pytest.importorskip("distributed")


@pytest.fixture
def cluster():
    with distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as made:
        with distributed.Client(made) as client:
            yield made, client


def journal_lines(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]


def check_complete(path, tasks):
    """Each task once, and no other."""
    digests = [line["task"] for line in journal_lines(path)]
    assert sorted(digests) == sorted(task.digest for task in tasks)


ROOT = pathlib.Path(__file__).resolve().parents[2]
ASSAY = os.environ.get("ASSAY") or shutil.which("assay")
needs_assay = pytest.mark.skipif(not ASSAY, reason="ASSAY is not the command assay")


def run_with_a_killed_worker(cluster, path, tasks, after):
    """The tasks on three workers, of which one is killed after so many ends: the entries by name."""
    made, client = cluster
    victims = []

    def kill_one(entry):
        if not victims and len(journal.entries) >= after:
            victims.append(next(iter(made.workers.values())).pid)
            os.kill(victims[0], signal.SIGKILL)

    with Journal(path) as journal:
        assert run_tasks(tasks, journal, client, kill_one) == len(tasks)
    assert victims
    check_complete(path, tasks)
    return {line["name"]: line for line in journal_lines(path)}


@needs_assay
def test_fuzz_tasks(cluster, tmp_path):
    tasks = fuzz_tasks(tmp_path / "found", ["--engine", "exact"], 15, range(1, 10), ASSAY)
    ends = run_with_a_killed_worker(cluster, tmp_path / "j.jsonl", tasks, 2)
    assert {end["outcome"] for end in ends.values()} == {"pass"}
    # Each has as many programs as it was told, also where a worker died.
    for seed in range(1, 10):
        lines = (tmp_path / "found" / f"seed-{seed}" / "journal.txt").read_text().splitlines()
        assert {f"seed {seed}", "next 15"} <= set(lines)


@needs_assay
def test_findings_of_fuzz_are_merged(tmp_path):
    backend = [sys.executable, "-S", "-E", str(ROOT / "tests/differential/planted_faults.py"),
               "maximum_is_minimum", ASSAY]
    flags = ["--backend", shlex.join(backend) + " {program} {inputs} {outputs}", "--profile", "strict",
             "--findings", "1"]
    entries = [run_task(task) for task in fuzz_tasks(tmp_path / "found", flags, 400, range(1, 3), ASSAY)]
    assert [entry["outcome"] for entry in entries] == ["fail", "fail"]
    for seed, entry in enumerate(entries, 1):
        finding, = entry["findings"]
        assert finding["cause"].startswith("wrong: ") and "maximum(" in finding["cause"]
        assert finding["name"].startswith(str(tmp_path / "found" / f"seed-{seed}"))
        assert (pathlib.Path(finding["name"]) / "program.hlo").exists()


@needs_assay
def test_golden_tasks(cluster, tmp_path):
    program = tmp_path / "add.hlo"
    program.write_text("HloModule m\nENTRY main {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] tanh(x)\n}\n")
    folder = tmp_path / "goldens"
    tasks = golden_tasks(folder, [program], range(1, 13), ASSAY, profile="xla-cpu")
    ends = run_with_a_killed_worker(cluster, tmp_path / "j.jsonl", tasks, 3)
    assert {end["outcome"] for end in ends.values()} == {"pass"}
    assert len(list(folder.glob("add.*.hlo"))) == 12
    checked = subprocess.run([ASSAY, "golden", "check", str(folder)], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


@needs_assay
def test_conformance_tasks(cluster, tmp_path, monkeypatch):
    suite = tmp_path / "suite"
    made = subprocess.run([ASSAY, "conformance", "make", str(suite), "--profile", "strict", "--only",
                           "add/s32", "--only", "negate/s32", "--only", "and/s32"], capture_output=True,
                          text=True)
    assert made.returncode == 0, made.stderr
    # A backend that subtracts where it should add.
    run = f"{shlex.quote(ASSAY)} run $0.hlo --inputs $1 --output $2"
    backend = f"sh -c 'sed \"s/ add(/ subtract(/; s/stablehlo.add/stablehlo.subtract/\" $0 > $0.hlo && {run}' " \
              "{program} {inputs} {outputs}"
    python = shlex.join(["env", f"PYTHONPATH={ROOT / 'conformance'}", sys.executable])
    tasks = conformance_tasks(suite, ["--command", backend], profile="strict", batch=2)
    tasks = [dataclasses.replace(task, command=task.command.replace(shlex.quote(sys.executable), python, 1))
             for task in tasks]
    ends = run_with_a_killed_worker(cluster, tmp_path / "j.jsonl", tasks, 2)
    index = json.loads((suite / "index.json").read_text())
    wrong = {finding["name"] for end in ends.values() for finding in end["findings"]}
    cases = {case["id"] for case in index["cases"]}
    assert len(cases) > 8
    # Of an array without elements, and of zeros alone, both give the same.
    assert {case for case in cases if case.startswith("add/s32/ordinary")} <= wrong
    assert wrong <= {case for case in cases if case.startswith("add/")}
    assert {of["cause"].partition(":")[0] for of in causes(ends.values())} == {"fail"}


def test_a_killed_worker_loses_nothing(cluster, tmp_path):
    tasks = seed_tasks("sleep 0.3; test {seed} -ne 7", range(30))
    run_with_a_killed_worker(cluster, tmp_path / "j.jsonl", tasks, 5)
    ends = {line["name"]: line["outcome"] for line in journal_lines(tmp_path / "j.jsonl")}
    assert [name for name, outcome in ends.items() if outcome != "pass"] == ["seed 7"]
    assert len({line["worker"] for line in journal_lines(tmp_path / "j.jsonl")}) >= 3


def test_a_task_that_kills_its_workers_is_a_crash(cluster, tmp_path):
    _, client = cluster
    tasks = command_tasks(["kill -9 $PPID; sleep 5", "true"])
    with Journal(tmp_path / "j.jsonl") as journal:
        run_tasks(tasks, journal, client)
        ends = {entry["name"]: entry for entry in journal.entries.values()}
    assert ends["true"]["outcome"] == "pass"
    assert ends["kill -9 $PPID; sleep 5"]["outcome"] == "crash"
    assert "each worker" in ends["kill -9 $PPID; sleep 5"]["findings"][0]["why"]


def test_a_killed_client_continues_where_it_was(tmp_path):
    path, runs = tmp_path / "j.jsonl", tmp_path / "runs"
    command = f"echo {{seed}} >> {runs}; sleep 0.2"
    words = [sys.executable, "-m", "assay.campaign", str(path), "--workers", "2", "seeds", command]
    words += ["--seeds", "0:40"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    first = subprocess.Popen(words, start_new_session=True, **quiet)
    while not path.exists() or path.read_bytes().count(b"\n") < 6:
        assert first.poll() is None
        time.sleep(0.05)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    before = path.read_bytes()
    done = before.count(b"\n")
    assert 6 <= done < 40
    path.write_bytes(before + b'{"task": "half a li')  # what such an end may leave
    second = subprocess.run(words, capture_output=True, text=True)
    assert second.returncode == 0 and "40 of 40 tasks: 40 pass" in second.stdout
    check_complete(path, seed_tasks(command, range(40)))
    assert path.read_bytes().startswith(before)
    # What was written down did not run again: only what both workers had at hand, and had next, may have.
    assert 40 <= runs.read_text().count("\n") <= 44
    assert main(words[3:]) == 0  # nothing is left to run
    assert runs.read_text().count("\n") <= 44


def test_findings_are_merged_by_cause():
    tasks = command_tasks([f"echo 'mutant {n} of /tmp/x{n}/a.hlo: engines differ at [{n},1]'; exit {code}"
                           for n, code in ((1, 1), (2, 1), (3, 0), (4, 2))] + ["kill -11 $$"], timeout=20)
    entries = [run_task(task) for task in tasks]
    assert [entry["outcome"] for entry in entries] == ["fail", "fail", "pass", "error", "crash"]
    merged = causes(entries)
    assert [(of["count"], of["cause"].partition(":")[0]) for of in merged] == [(2, "fail"), (1, "crash"),
                                                                               (1, "error")]
    assert summary(entries, 9) == summary(entries[::-1], 9)
    assert summary(
        entries, 9).startswith("5 of 9 tasks: 1 crash, 1 error, 2 fail, 1 pass\n4 findings of 3 causes")


def test_a_task_that_takes_too_long_is_a_hang():
    entry = run_task(command_tasks(["sleep 60"], timeout=0.3)[0])
    assert entry["outcome"] == "hang" and entry["seconds"] < 30


@pytest.mark.parametrize("text", ["no json\n", '{"task": "a"}\n', '{"task": "a", "check": "0"}\n'])
def test_a_file_that_is_no_journal_is_refused(tmp_path, text, capsys):
    (tmp_path / "j").write_text(text)
    with pytest.raises(JournalError, match="j:1: no line of a journal"):
        Journal(tmp_path / "j")
    assert main([str(tmp_path / "j"), "seeds", "true {seed}", "--seeds", "0:2"]) == 2


def test_a_changed_or_repeated_line_is_refused(tmp_path):
    with Journal(tmp_path / "j") as journal:
        assert journal.add("a", {"outcome": "pass", "findings": []})
        assert not journal.add("a", {"outcome": "fail", "findings": []})
    line = (tmp_path / "j").read_text()
    (tmp_path / "j").write_text(line.replace("pass", "fail"))
    with pytest.raises(JournalError, match="digest"):
        Journal(tmp_path / "j")
    (tmp_path / "j").write_text(line * 2)
    with pytest.raises(JournalError, match="twice"):
        Journal(tmp_path / "j")


def test_two_campaigns_do_not_share_a_journal(tmp_path):
    with Journal(tmp_path / "j"):
        with pytest.raises(JournalError, match="another campaign"):
            Journal(tmp_path / "j")


def test_without_dask_the_message_says_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main([str(tmp_path / "j"), "seeds", "true {seed}", "--seeds", "0:2"]) == 2
    assert "pip install 'assay-xla[campaign]'" in capsys.readouterr().err


def test_wrong_seeds_are_wrong_usage(tmp_path):
    for seeds in ("5", "5:5", "a:b", "0:9:0"):
        with pytest.raises(SystemExit) as error:
            main([str(tmp_path / "j"), "seeds", "true", "--seeds", seeds])
        assert error.value.code == 2
