#!/usr/bin/env python3
"""A backend with one fault, for tests: Assay, given the program with a few lines changed. Usage:
faulty_backend.py ASSAY FAULT PROGRAM INPUTS OUTPUTS [INVALID]

A program that `assay verify` finds invalid is named in the file INVALID, if there is one."""
import os
import re
import signal
import subprocess
import sys

LINE = re.compile(r"^(?P<indent>\s*(?:ROOT )?)%?(?P<name>[\w.\-]+) = "
                  r"(?P<shape>\(.*?\)|\w+\[(?P<sizes>[\d,]*)\]\S*) "
                  r"(?P<op>[\w\-]+)\((?P<operands>[^)]*)\)(?P<rest>.*)$")


def plain(shape):
    return re.sub(r"\{[^}]*\}$", "", shape)


def behind(line, new):
    """The instruction under another name, and what takes its name: lines with {x} for the value before."""
    name = line["name"]
    indent = line["indent"].replace("ROOT ", "")
    first = f"{indent}{name}__x = {line['shape']} {line['op']}({line['operands']}){line['rest']}"
    lines = [text.format(x=f"{name}__x", n=f"{name}__", shape=plain(line["shape"])) for text in new]
    last = f"{line['indent']}{name} = {lines[-1]}"
    return "\n".join([first] + [indent + text for text in lines[:-1]] + [last])


def sizes(line):
    return [int(size) for size in (line["sizes"] or "").split(",") if size]


def sort_descending(line):
    dimension = re.search(r"dimensions=\{(\d+)\}", line["rest"])
    if line["op"] == "sort" and dimension:
        return behind(line, ["{shape} reverse({x}), dimensions={{" + dimension[1] + "}}"])


def one_percent_off(line, op):
    if line["op"] == op and line["shape"][0] in "fb":
        element = line["shape"].split("[")[0]
        return behind(line, ["{n}c = " + element + "[] constant(1.01)",
                             "{n}b = {shape} broadcast({n}c), dimensions={{}}",
                             "{shape} multiply({x}, {n}b)"])


def tanh_off(line):
    return one_percent_off(line, "tanh")


def exponential_off(line):
    return one_percent_off(line, "exponential")


def slice_short(line):
    """Zero instead of the last element of the first dimension."""
    if line["op"] == "slice" and sizes(line) and sizes(line)[0] > 1 and line["shape"][0] in "fb":
        n = sizes(line)
        element = line["shape"].split("[")[0]
        kept = ", ".join(f"[0:{size - (d == 0)}]" for d, size in enumerate(n))
        shape = f"{element}[{','.join(str(size - (d == 0)) for d, size in enumerate(n))}]"
        padding = "x".join("0_1" if d == 0 else "0_0" for d in range(len(n)))
        return behind(line, ["{n}s = " + shape + " slice({x}), slice={{" + kept + "}}",
                             "{n}z = " + element + "[] constant(0)",
                             "{shape} pad({n}s, {n}z), padding=" + padding])


def dot_transposed(line):
    n = sizes(line)
    if line["op"] == "dot" and len(n) >= 2 and n[-1] == n[-2] > 1:
        order = ",".join(str(d) for d in [*range(len(n) - 2), len(n) - 1, len(n) - 2])
        return behind(line, ["{shape} transpose({x}), dimensions={{" + order + "}}"])


def dot_off(line):
    return one_percent_off(line, "dot")


def pad_zero(line):
    if line["op"] == "pad":
        element = line["shape"].split("[")[0]
        operand, _ = line["operands"].rsplit(",", 1)
        name = line["name"]
        return (f"{line['indent'].replace('ROOT ', '')}{name}__z = {element}[] constant(0)\n"
                f"{line['indent']}{name} = {line['shape']} pad({operand}, {name}__z){line['rest']}")


def reverse_nothing(line):
    if line["op"] == "reverse":
        return f"{line['indent']}{line['name']} = {line['shape']} copy({line['operands']})"


def negate_nothing(line):
    if line["op"] == "negate":
        return f"{line['indent']}{line['name']} = {line['shape']} copy({line['operands']})"


def transpose_crash(line):
    if line["op"] == "transpose" and len(sizes(line)) == 4:
        os.kill(os.getpid(), signal.SIGSEGV)


def refused(op):
    print(f"internal error: {op} has no lowering in pass 17", file=sys.stderr)
    sys.exit(1)


def gather_refused(line):
    if line["op"] == "gather":
        refused("gather")


def sort_refused(line):
    if line["op"] == "sort":
        refused("sort")


def select_swapped(line):
    operands = line["operands"].split(",")
    if line["op"] == "select" and len(operands) == 3:
        return (f"{line['indent']}{line['name']} = {line['shape']} "
                f"select({operands[0]}, {operands[2]}, {operands[1]}){line['rest']}")


FAULTS = {fault.__name__: fault for fault in (
    sort_descending, tanh_off, exponential_off, slice_short, dot_transposed, dot_off, pad_zero,
    reverse_nothing, negate_nothing, transpose_crash, gather_refused, sort_refused,
    select_swapped)}


def damaged(text, fault):
    lines = []
    for text_line in text.split("\n"):
        line = LINE.match(text_line)
        lines.append((line and fault(line)) or text_line)
    return "\n".join(lines)


def main():
    assay, fault, program, inputs, outputs, *invalid = sys.argv[1:]
    if subprocess.run([assay, "verify", program], capture_output=True).returncode != 0 and invalid:
        with open(invalid[0], "a") as log:
            log.write(open(program).read() + "\n")
    text = subprocess.run([assay, "print", program], capture_output=True, text=True, check=True).stdout
    with open(outputs + ".hlo", "w") as file:
        file.write(damaged(text, FAULTS[fault]))
    return subprocess.run([assay, "run", outputs + ".hlo", "--inputs", inputs, "--output", outputs],
                          stdout=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    sys.exit(main())
