#!/usr/bin/env python3
"""Programs of golden/programs are reduced while a backend with a planted fault is wrong on them.
Usage: reduce_faults.py ASSAY [--seconds N] [--only NAME]

Each must take less than N seconds (60) of processor time, so that other work of the machine does not count,
and end with at most five instructions, among them the operation that the fault is of, and what the README
says must show it again. Prints a line for each; exit code 1 where one fails.
"""
import argparse
import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
BACKEND = os.path.join(ROOT, "tests", "tools", "faulty_backend.py")
OUTSIDE = ["--while-outside", "--profile", "xla-cpu"]
CRASH = ["--while-crash"]

# Program, its form, the fault, the operation that it is of, and the question.
CASES = [
    ("attention_bf16", "hlo", "dot_off", "dot", OUTSIDE),
    ("beam_search_step", "hlo", "sort_refused", "sort", ["--while-message", "sort has no lowering"]),
    ("branches", "hlo", "reverse_nothing", "reverse", OUTSIDE),
    ("branches", "mlir", "reverse_nothing", "reverse", OUTSIDE),
    ("embedding_update", "hlo", "gather_refused", "gather", ["--while-message", "gather has no lowering"]),
    ("fft_convolve", "hlo", "reverse_nothing", "reverse", OUTSIDE),
    ("fp8_quantised_dot", "hlo", "dot_off", "dot", OUTSIDE),
    ("gru_scan", "hlo", "tanh_off", "tanh", OUTSIDE),
    ("gru_scan", "mlir", "negate_nothing", "negate", OUTSIDE),
    ("mlp_train_step", "hlo", "dot_off", "dot", OUTSIDE),
    ("mlp_train_step", "hlo", "negate_nothing", "negate", OUTSIDE),
    ("resnet_block", "hlo", "select_swapped", "select", OUTSIDE),
    ("spd_solve", "hlo", "dot_off", "dot", OUTSIDE),
    ("tiny_gpt_train_step", "hlo", "transpose_crash", "transpose", CRASH),
    ("tiny_gpt_train_step", "hlo", "gather_refused", "gather", CRASH),
]


def processor_seconds():
    """Of the processes that this one has waited for, and of those that they waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def problems_of(assay, case, folder, limit):
    name, form, fault, op, question = case
    program = os.path.join(ROOT, "golden", "programs", name, f"program.{form}")
    invalid, small = os.path.join(folder, "invalid"), os.path.join(folder, "small")
    words = shlex.join([sys.executable, BACKEND, assay, fault])
    backend = f"{words} {{program}} {{inputs}} {{outputs}} {invalid}"
    inputs = os.path.join(os.path.dirname(program), "inputs.npz")
    start, before = time.monotonic(), processor_seconds()
    run = subprocess.run([assay, "reduce", program, "--inputs", inputs, "--output", small,
                          "--backend", backend, *question], capture_output=True, text=True)
    seconds, used = time.monotonic() - start, processor_seconds() - before
    if run.returncode != 0:
        return run.stderr.strip().split("\n")[0], [f"exit code {run.returncode}"]
    with open(os.path.join(small, "program.hlo")) as file:
        text = file.read()
    with open(os.path.join(small, "README.md")) as file:
        command = next(line.strip() for line in file if line.startswith("    assay diff"))
    problems = []
    if (count := sum(" = " in line for line in text.split("\n"))) > 5:
        problems.append(f"{count} instructions")
    if f" {op}(" not in text:
        problems.append(f"no {op}")
    if used > limit:
        problems.append(f"{used:.0f} seconds of processor time")
    if os.path.exists(invalid):
        problems.append("an invalid candidate")
    again = subprocess.run(command.replace("assay", shlex.quote(assay), 1), shell=True, capture_output=True)
    if again.returncode not in ((1,) if question == OUTSIDE else (5,)):
        problems.append(f"the command of the README gives {again.returncode}")
    return f"{run.stdout.splitlines()[0]}, {used:.0f} s of processor time, {seconds:.0f} s", problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay", type=os.path.abspath)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", default="")
    flags = parser.parse_args()
    failed = False
    for case in CASES:
        if flags.only not in case[0]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found, problems = problems_of(flags.assay, case, folder, flags.seconds)
        wrong = "".join(f"; WRONG: {problem}" for problem in problems)
        print(f"{case[0]}.{case[1]} {case[2]}: {found}{wrong}", flush=True)
        failed = failed or bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
