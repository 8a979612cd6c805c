#!/usr/bin/env python3
"""Lists of element types outside of C++ have every type of shape/element_type.cc, with its format.

Lists of C++ are checked when they are compiled, or by the unit tests.
"""
import ast
import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "golden" / "oracles"))
import float_bits  # noqa: E402

FEWEST_GOLDENS = 5


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


TABLE = text_of("shape/element_type.cc")
ROW = re.compile(r'^    \{"(\w+)", (\d+), \d+, C::k(\w+), (?:nullptr|&k(\w+)), "', re.M)
# exponent bits, mantissa bits, bias of a format
FORMAT = re.compile(r"^constexpr FloatFormat k(\w+) = \{\s*(\d+), (\d+), (\d+),", re.M)
TYPES = {name: (int(bits), kind, fmt) for name, bits, kind, fmt in ROW.findall(TABLE)}
FORMATS = {name: tuple(map(int, numbers)) for name, *numbers in FORMAT.findall(TABLE)}
FLOATS = {name: FORMATS[fmt] for name, (_, kind, fmt) in TYPES.items() if kind == "Float"}


def values_of(file, *names):
    """Dictionaries that a module assigns to these names."""
    for node in ast.parse(text_of(file)).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(target, ast.Name) and target.id in names:
            yield {key.value for key in node.value.keys}


class Lists(unittest.TestCase):
    def test_the_table_is_understood(self):
        header = text_of("shape/element_type.h")
        enumerators = re.search(r"enum class ElementType : uint8_t \{(.*?)\}", header, re.S)[1]
        self.assertEqual(len(TYPES), enumerators.count(","))
        self.assertEqual(FLOATS["f32"], (8, 23, 127))

    def test_python_knows_the_dtypes(self):
        found = set().union(*values_of("python/assay/_types.py", "_NUMPY", "_ML_DTYPES"))
        self.assertEqual(found, set(TYPES))

    def test_the_jax_plugin_knows_the_numbers_of_pjrt(self):
        body = re.search(r"enum class BufferType : \w+ \{(.*?)\}", text_of("pjrt/plugin/pjrt_api.h"), re.S)[1]
        numbers = {int(number) for name, number in re.findall(r"k(\w+) = (\d+)", body)
                   if name not in ("Invalid", "Token")}
        self.assertEqual([numbers], list(values_of("python/assay/jax_plugin.py", "_TYPES")))
        self.assertEqual(len(numbers), len(TYPES))

    def test_the_oracles_know_the_formats(self):
        for name, (bits, kind, _) in TYPES.items():
            if kind == "Complex":
                continue
            with self.subTest(name):
                oracle = float_bits.BY_NAME[name]
                self.assertEqual(oracle.width, 8 if name == "pred" else bits)
                if kind == "Float":
                    self.assertEqual((oracle.e, oracle.m, oracle.bias), FLOATS[name])

    def test_the_specification_has_a_row_for_each_format(self):
        page = text_of("docs/spec/shapes.md")
        for name, (exponent, mantissa, bias) in FLOATS.items():
            with self.subTest(name):
                self.assertRegex(page, rf"\| {name} \| [01]/{exponent}/{mantissa} \| {bias} \|")

    def test_the_specification_lists_the_types(self):
        for page in ("docs/spec/shapes.md", "docs/spec/hlo-text.md"):
            paragraphs = (set(re.findall(r"\w+", part)) for part in re.split(r"\n\s*\n", text_of(page)))
            missing = min((set(TYPES) - words for words in paragraphs), key=len)
            self.assertEqual(missing, set(), page)

    def test_each_type_stands_in_goldens(self):
        goldens = dict.fromkeys(TYPES, 0)
        for path in (ROOT / "golden").rglob("*.hlo"):
            text = path.read_text(encoding="utf-8", errors="replace")
            for name in set(re.findall(r"(?<![\w.%-])(\w+)\[", text)) & goldens.keys():
                goldens[name] += 1
        self.assertEqual({name: count for name, count in goldens.items() if count < FEWEST_GOLDENS}, {})

    def test_the_corpus_has_literals_of_each_type(self):
        words = set(re.findall(r"\w+", text_of("tests/corpus/make_literal.py")))
        self.assertEqual(set(TYPES) - words, set())


if __name__ == "__main__":
    unittest.main()
