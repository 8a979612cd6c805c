#!/usr/bin/env python3
"""tools/check_layers accepts a clean tree and names each violation that is planted in one.

Usage: check_layers_test.py CHECK_LAYERS
"""

import pathlib
import subprocess
import sys
import tempfile

LONG, ROW = "x" * 111, "1, " * 60
CLEAN = {
    "shape/shape.h": "",
    "hlo/module.h": '#include "shape/shape.h"\nnamespace assay {\nstruct Module {\n};\n}  // namespace assay\n',
    # Types of one's own folder, of one below, and of another name space may be declared.
    "hlo/reader.h": "namespace assay {\nstruct Module;\nnamespace text {\nclass Plan;\n}  // namespace text\n}  // namespace assay\n",
    "plan/steps.h": "namespace assay {\nstruct Module;\ntemplate <typename T>\nclass Plan final : public T {\n};\n}  // namespace assay\n",
    "plan/plan.h": '#include "hlo/module.h"\nbool IsCall(Opcode o) { switch (o) { case Opcode::kCall: return true; } }\n',
    "evaluator/elements.h": "",
    "engines/engine.h": '#include "hlo/module.h"\n',
    "engines/native/native_engine.h": '#include "engines/engine.h"\nconst Engine& NativeEngine();\nconst Engine& EagerNativeEngine();\n',
    "engines/native/native_engine.cc": '#include "engines/native/native_engine.h"\nclass Native final : public Engine {\n',
    # Strings, tables and addresses may be long.
    "plan/text.cc": f'const char* a = "{LONG}";\nconst char* b = R"(\n{LONG}\n)";\n// https://assay.example/{LONG}\n',
    "plan/table.h": f"// clang-format off\nint a[] = {{{ROW}}};\n// clang-format on\n",
    "plan/rows.def": f"ROW({ROW})\n",
    "tools/text.py": f'A = """\n{LONG}\n"""\nB = ["{LONG}"]\n',
    # What is there, a folder, a unit, others' files, and what stands for several.
    "docs/pages.md": "See plan/, `hlo/module.h:1`, plan/plan, steps.h, plan/*.h, hlo/{module,reader}.h, NAME.h, xla/shape.h and [text](../plan/text.cc).\n",
    "hlo/text/parser.cc": "// ../module.h, text/parser.cc and <math.h>; and/or\nconst char* a = \"plan/nothing.h\";\n",
    "run/engine_list.cc": '#include "engines/native/native_engine.h"\n'
    "auto all = {&native::NativeEngine()};\n",
    "engines/native/sort/sort.cc": '#include "engines/engine.h"\n'
    "// It gives what OpDef::eval( ) gives.\nabsl::Status s = EvalError({}, \"\"); bool b = op.eval == EvalElementwise;\n",
}
# What is planted, and what the check must say of it.
PLANTED = [
    ({"shape/upward.h": '// A comment.\n#include "hlo/module.h"\n'},
     "shape/upward.h:2: shape/ includes hlo/, which stands above it"),
    ({"plan/upward.h": '#include "engines/native/sort/sort.h"\n'},
     "plan/upward.h:1: plan/ includes engines/native/sort/, which"),
    (
        {f"plan/c{i}.h": f'#include "plan/c{(i + 1) % 3}.h"\n' for i in range(3)},
        "3 units include each other in a circle: plan/c0, plan/c1, plan/c2",
    ),
    ({f"plan/u{i}.cc": "" for i in range(37)}, "plan: 41 units, want at most 40"),
    ({"plan/long.cc": "\n" * 601}, "plan/long.cc: 601 lines, want at most 600"),
    ({"plan/room/room.h": ""}, "plan/room: has no line in LAYERS"),
    (
        {
            "plan/facts.cc": "bool F(Opcode o) {\n  switch (o) {\n"
            "    case Opcode::kDot: return true;\n  }\n}\n"
        },
        "plan/facts.cc:3: a case of Dot: a fact of an op",
    ),
    (
        {"plan/rows.cc": "constexpr std::pair<Opcode, int> kRows[] = {{Opcode::kDot, 2}, {Opcode::kTuple, 0}};\n"},
        "plan/rows.cc:1: a table row of Dot",
    ),
    (
        {"plan/tells.cc": "bool M(Opcode o) { return o == Opcode::kSlice || o == Opcode::kPad; }\n"},
        "plan/tells.cc:1: an expression that tells Slice, Pad",
    ),
    (
        {"engines/jit/walks.cc": '#include "evaluator/elements.h"\n'},
        "engines/jit/walks.cc:1: an engine includes evaluator/elements.h, by which the reference walks",
    ),
    (
        {"plan/table.cc": "// Not absl::flat_hash_map.\nabsl::flat_hash_map<int, int> numbers;\n"},
        "plan/table.cc:2: absl::flat_hash_map, want the tables of base/hash_map.h",
    ),
    (
        {"engines/jit/own.cc": "\nclass Own final : public Engine {\n"},
        "engines/jit/own.cc:2: an engine that nobody asks: run/engine_list.cc does not include engines/jit/own.h",
    ),
    (
        {"engines/native/native_engine.h": '#include "engines/engine.h"\nconst Engine& NativeEngine();\nconst Engine& OtherEngine();\n'},
        "engines/native/native_engine.h:3: an engine that nobody asks: no list of run/engine_list.cc has OtherEngine",
    ),
    ({"engines/jit/a.cc": "return ops::Fft.eval(context, operands);\n"},
     "engines/jit/a.cc:1: an engine runs the reference"),
    ({"engines/jit/b.cc": "\nreturn step.op->eval(context, v);\n"},
     "engines/jit/b.cc:2: an engine runs the reference"),
    (
        {"plan/a.cc": "namespace {\nint F() { return 1; }\n}  // namespace\n", "plan/b.cc": "\nnamespace {\nint G(), kA = 1;\nstatic bool F(int x) {\n}\n}  // namespace\n"},
        "plan/b.cc:4: F stands in an unnamed namespace of plan/a.cc too",
    ),
    (
        {"jit/a.cc": "namespace {\nconstexpr int kA = 1, kB = 2;\n}  // namespace\n",
         "jit/b.cc": "namespace {\nenum Code : int {\n  kB,\n};\n}  // namespace\n"},
        "jit/b.cc:2: kB stands in an unnamed namespace of jit/a.cc too",
    ),
    (
        {"pjrt/a.cc": "namespace {\nint F() { return 1; }\n}  // namespace\n",
         "pjrt/b.cc": "namespace {\nint F() { return 2; }\n}  // namespace\n"},
        "pjrt/b.cc:2: F stands in an unnamed namespace of pjrt/a.cc too",
    ),
    ({"engines/jit/c.cc": "return EvalGatherWith(context);\n"},
     "engines/jit/c.cc:1: an engine runs the reference"),
    ({"gpu/step.cc": "return op->eval(context, operands);\n"}, "gpu/step.cc:1: an engine runs the reference"),
    (
        {"gpu/walks.cc": '#include "evaluator/elements.h"\n'},
        "gpu/walks.cc:1: an engine includes evaluator/elements.h, by which the reference walks",
    ),
    (
        {"gpu/own_engine.cc": "class Own final : public Engine {\n"},
        "gpu/own_engine.cc:1: an engine that nobody asks: run/engine_list.cc does not include gpu/own_engine.h",
    ),
    (
        {"gpu/kernels/upward.cu": '#include "run/executor.h"\n'},
        "gpu/kernels/upward.cu:1: gpu/kernels/ includes run/, which stands above it",
    ),
    (
        {"shape/declares.h": "namespace assay {\nstruct Module;  // hlo/module.h\n}  // namespace assay\n"},
        "shape/declares.h:2: shape/ declares assay::Module of hlo/, which stands above it",
    ),
    (
        {"hlo/declares.h": "namespace assay {\ntemplate <typename T>\nclass Plan;\n}  // namespace assay\n"},
        "hlo/declares.h:3: hlo/ declares assay::Plan of plan/, which stands above it",
    ),
    (
        {"shape/declares.h": "namespace assay { struct Module; }\n"},
        "shape/declares.h:1: shape/ declares assay::Module of hlo/, which stands above it",
    ),
    (
        {"shape/befriends.h": "namespace assay {\nclass A {\n  friend struct Module;\n};\n}  // namespace assay\n"},
        "shape/befriends.h:3: shape/ declares assay::Module of hlo/, which stands above it",
    ),
    ({"plan/wide.h": f"int a;\n// {'x ' * 54}\n"}, "plan/wide.h:2: 111 columns, want at most 110"),
    ({"plan/wide.cc": f"/* a\n{'x ' * 56} */\n"}, "plan/wide.cc:2: 115 columns"),
    ({"plan/wide.cc": f'const char* a = "b";  // {"x " * 54}\n'}, "plan/wide.cc:1: 133 columns"),
    ({"plan/wide.def": f"// {'x ' * 54}\n"}, "plan/wide.def:1: 111 columns"),
    ({"gpu/kernels/wide.cu": f"// {'x ' * 54}\n"}, "gpu/kernels/wide.cu:1: 111 columns"),
    ({"tests/wide_test.cc": f"// {'x ' * 54}\n"}, "tests/wide_test.cc:1: 111 columns"),
    ({"tools/wide.py": f'"""A.\n\n{"x " * 56}\n"""\n'}, "tools/wide.py:3: 112 columns"),
    ({"tools/wide.py": f"a = [{'1, ' * 40}]\n"}, "tools/wide.py:1: 126 columns"),
    ({"tools/wide": f"#!/usr/bin/env python3\n# {'x ' * 55}\n"}, "tools/wide:2: 112 columns"),
    ({"plan/names.cc": "int a;\n// As in plan/nothing.cc.\n"},
     "plan/names.cc:2: plan/nothing.cc is no file or folder"),
    ({"plan/names.cc": "// nothing.h\n"}, "plan/names.cc:1: nothing.h is no file or folder"),
    ({"plan/names.cc": "// What hlo/nothing does.\n"}, "plan/names.cc:1: hlo/nothing is no file or folder"),
    ({"plan/names.cc": "// plan/*.py\n"}, "plan/names.cc:1: plan/*.py is no file or folder"),
    ({"plan/names.cc": "// hlo/{module,nothing}.h\n"}, "plan/names.cc:1: hlo/nothing.h is no file or folder"),
    ({"docs/names.md": "a\n`plan/nothing.cc`\n"}, "docs/names.md:2: plan/nothing.cc is no file or folder"),
    ({"docs/names.md": "[a](nothing.txt)\n"}, "docs/names.md:1: the link to nothing.txt leads nowhere"),
    ({"tools/names.py": '"""From plan/nothing.h."""\n'},
     "tools/names.py:1: plan/nothing.h is no file or folder"),
    ({"tools/names": "#!/bin/sh\n# plan/nothing.h\n"}, "tools/names:2: plan/nothing.h is no file or folder"),
    ({"plan/CMakeLists.txt": "# plan/nothing.h\n"},
     "plan/CMakeLists.txt:1: plan/nothing.h is no file or folder"),
    ({"gpu/kernels/long.cuh": "\n" * 601}, "gpu/kernels/long.cuh: 601 lines, want at most 600"),
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
