#!/usr/bin/env python3
"""tools/check_spec accepts a tree that agrees and names each violation that is planted in one.

Usage: check_spec_test.py CHECK_SPEC
"""

import pathlib
import subprocess
import sys
import tempfile

PAGE = """# Shape operations

## 1. Moves

### Gather (`gather`)

- **Gather-C1** (StableHLO: gather C1): the operand is an array.
- **Gather-C2**: the sizes fit. They
  are not negative. *Held by* `tests/gather_test.cc`

### Slices (`slice`, `dynamic-slice`)

- **Slice-C1**: as `Gather-C1`.
- **Slice-C2**: one start for each dimension.
"""
CLEAN = {
    "docs/spec/shapes.md": PAGE,
    "docs/spec/README.md": "# The specification\n\n- [shapes](shapes.md)\n",
    "docs/spec/other.md": "# Other\n\n## 1. Numbers\n",
    "docs/index.md": "See [shapes](spec/shapes.md), or spec/other.md section 1.\n",
    "hlo/ops.def": 'OP(Gather, "gather", "gather")\nOP(Slice, "slice", "slice")\nOP(DynamicSlice, "dynamic-slice", "")\n',
    "evaluator/gather.cc": "// gather (docs/spec/shapes.md, Gather; the moves of docs/spec/shapes.md section 1).\n"
    'return InvalidProgram("Gather-C1: no array"); // Gather-C2, AVX-512, UTF-8\n',
    "evaluator/slice.cc": '// Slice-C1..C2 (docs/spec/shapes.md,\n// "Slices").\nfmt::format("{}-C1", op);\n',
    "tests/gather_test.cc": "// Gather-C2 (docs/spec/other.md, Gather-C2: a label of another page)\n",
    "builder/builder.h": "XlaOp Gather(XlaOp operand);\nXlaOp Slices(XlaOp operand);\n",
    "hlo/mlir/bytecode/vhlo.cc": 'constexpr VhloRow kVhloRows[] = {\n    {"abs_v1 "\n     "not_v1",\n     ""},\n'
    '    {"sort_v1", "dimension "\n     "is_stable layout"},\n};\n',
    "hlo/mlir/import/sort.cc": 'in.Int("dimension"), in.Bool("is_stable")\n',
    "golden/gather.hlo": "// refuse: 3 Gather-C1: no array\nHloModule m\n",
    "golden/slice.hlo": "// rule: Slice-C1, Slice-C2\n// oracle: hand\nHloModule m\n",
}


def with_page(old, new):
    assert old in PAGE
    return {"docs/spec/shapes.md": PAGE.replace(old, new)}


PLANTED = [
    # A label of a source, of a message whose family no page has, of a golden.
    ({"shape/a.cc": "// Gather-C3.\n"},
     "shape/a.cc:1: Gather-C3 is named here and defined in no page of docs/spec"),
    ({"shape/a.cc": "\n// Slice-C1..C4.\n"}, "shape/a.cc:2: Slice-C3 is named here and defined in no page"),
    ({"shape/a.cc": "// Slice-C1 to C3.\n"}, "shape/a.cc:1: Slice-C3 is named here and defined in no page"),
    ({"shape/a.cc": 'Error("Sort-C1: no array");\n'},
     "shape/a.cc:1: Sort-C1 is named here and defined in no page"),
    ({"golden/a.hlo": "// refuse: 3 Slice-C9: no\nHloModule m\n"},
     "golden/a.hlo:1: Slice-C9 is refused by here and defined in no page"),
    ({"golden/a.hlo": "// rule: Slice-C9\nHloModule m\n"},
     "golden/a.hlo:1: Slice-C9 is shown here and defined in no page"),
    (with_page("- **Slice-C1**: as `Gather-C1`.\n", ""),
     "evaluator/slice.cc:1: Slice-C1 is named here and defined in no page"),
    # A definition without code, without evidence, twice.
    ({"evaluator/slice.cc": ""}, "docs/spec/shapes.md:14: Slice-C2 stands in no source"),
    ({"golden/slice.hlo": "// rule: Slice-C1\nHloModule m\n"},
     "docs/spec/shapes.md:14: Slice-C2 has no golden"),
    ({"golden/slice.hlo": "// rule: Slice-C1\nHloModule m\n// rule: Slice-C2\n"},
     "docs/spec/shapes.md:14: Slice-C2 has no golden"),
    ({"golden/gather.hlo": "// refuse: 3 no array\nHloModule m\n"},
     "docs/spec/shapes.md:7: Gather-C1 has no golden"),
    ({"tests/gather_test.cc": ""}, "docs/spec/shapes.md:8: Gather-C2 is held by tests/gather_test.cc, which does not name it"),
    (with_page("gather_test", "other_test"), "docs/spec/shapes.md:8: Gather-C2 is held by tests/other_test.cc, which is not there"),
    ({"docs/spec/a.md": "- **Slice-C2**: again.\n"}, "Slice-C2 is defined in docs/spec/a.md:1 too"),
    (with_page("Slice-C2", "SliceC2"), "docs/spec/shapes.md:14: 'SliceC2' is no label"),
    # Citations.
    ({"shape/a.cc": "// As docs/spec/gone.md says.\n"},
     "shape/a.cc:1: cites docs/spec/gone.md, which is not there"),
    ({"shape/a.cc": "\n// As spec/shapes.md says.\n"},
     "shape/a.cc:2: cites spec/shapes.md, wanted docs/spec/shapes.md"),
    ({"shape/a.cc": "\n// Moves (shapes.md, section 1).\n"},
     "shape/a.cc:2: cites shapes.md, wanted docs/spec/shapes.md"),
    ({"shape/a.cc": "// docs/spec/shapes.md, Gather-C7\n"},
     "shape/a.cc:1: cites docs/spec/shapes.md 'Gather-C7', which is no heading"),
    ({"golden/a.hlo": "// As ../shared/spec/shapes.md says.\n"}, "golden/a.hlo:1: cites a file of ../shared"),
    ({"shape/a.cc": "// docs/spec/shapes.md section 2\n"},
     "shape/a.cc:1: cites docs/spec/shapes.md section 2, which is not there"),
    ({"shape/a.cc": "// docs/spec/shapes.md, sections 1 and 3\n"},
     "shape/a.cc:1: cites docs/spec/shapes.md section 3, which is not there"),
    ({"shape/a.cc": "// docs/spec/shapes.md, Gather, Sort\n"},
     "shape/a.cc:1: cites docs/spec/shapes.md 'Sort', which is no heading"),
    ({"shape/a.cc": '// docs/spec/shapes.md,\n// "Sorted moves"\n'}, "shape/a.cc:1: cites docs/spec/shapes.md 'Sorted moves', which is no heading"),
    ({"docs/index.md": "See [x](spec/gone.md).\n"},
     "docs/index.md:1: cites docs/spec/gone.md, which is not there"),
    ({"docs/spec/README.md": "- [x](gone.md)\n"}, "docs/spec/README.md:1: links gone.md, which is not there"),
    # Opcodes.
    ({"hlo/ops.def": CLEAN["hlo/ops.def"] + 'OP(Sort, "sort", "sort")\n'},
     "sort has no heading in docs/spec"),
    (with_page("`slice`, ", "`slice`, `sort`, "), "docs/spec/shapes.md:11: sort is no opcode of hlo/ops.def"),
    ({"docs/spec/z.md": "### More (`slice`)\n"},
     "docs/spec/z.md:1: slice has a heading in docs/spec/shapes.md:11 too"),
    # The builder, and the attributes of StableHLO.
    ({"builder/builder.h": "XlaOp Slices(XlaOp operand);\n"},
     "docs/spec/shapes.md:5: Gather is no function of builder/builder.h"),
    (with_page("### Slices", "### Bitcast") | {"builder/builder.h": "XlaOp Gather(); XlaOp Bitcast();\n"},
     "docs/spec/shapes.md:11: Bitcast is one of builder/builder.h"),
    ({"hlo/mlir/import/sort.cc": 'in.Int("dimension")\n'},
     "hlo/mlir/bytecode/vhlo.cc: attribute is_stable of sort_v1 is not read by hlo/mlir/import/"),
    ({"hlo/mlir/import/more.cc": 'in.Find("layout")\n'},
     "hlo/mlir/bytecode/vhlo.cc: attribute layout of sort_v1 is read by hlo/mlir/import/"),
    ({"hlo/mlir/bytecode/vhlo.cc": ""}, "hlo/mlir/bytecode/vhlo.cc: no kVhloRows found"),
    (with_page("the operand is", "the operand " + "x" * 120 + " is"),
     "docs/spec/shapes.md:7: more than 120 columns"),
]


def run(check, files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return subprocess.run([sys.executable, check, root], capture_output=True, text=True, check=False)


def main():
    check, failed = sys.argv[1], 0
    clean = run(check, CLEAN)
    if clean.returncode != 0:
        failed += 1
        print(f"a clean tree fails:\n{clean.stdout}{clean.stderr}")
    for planted, wanted in PLANTED:
        found = run(check, CLEAN | planted)
        if found.returncode != 1 or wanted not in found.stdout:
            failed += 1
            print(f"planted {', '.join(planted)}: wanted exit code 1 and {wanted!r}, found {found.returncode}:\n{found.stdout}{found.stderr}")
    print(f"{len(PLANTED) + 1 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
