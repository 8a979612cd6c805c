#!/usr/bin/env python3
"""assay diff of element types that NumPy lacks: what .npz files say of them, and --types. Usage:
cli_types_test.py ASSAY"""
import struct
import unittest
import zipfile

from cli_testing import CliCase, npy

# Element type, bits of the exact value, bits of the other one,
# how many values of the type lie between them: by hand.
DISTANCES = [
    ("bf16", 0x3F80, 0x3F81, 1),  # 1, 1.0078125
    ("bf16", 0xC040, 0xC043, 3),
    ("bf16", 0x8001, 0x0001, 2),  # the smallest ones, two zeros in one place between them
    ("bf16", 0x7F7F, 0x7F80, 1),  # the largest, infinity
    ("f8e5m2", 0x3C, 0x3E, 2),
    ("f8e5m2", 0x81, 0x02, 3),
    ("f8e5m2", 0x7B, 0x7C, 1),
    ("f8e4m3", 0x38, 0x39, 1),
    ("f8e4m3", 0x77, 0x78, 1),
    ("f8e4m3fn", 0x7E, 0x7C, 2),
    ("f8e4m3fn", 0x81, 0x01, 2),
    ("f8e4m3b11fnuz", 0x81, 0x01, 2),
    ("f8e4m3b11fnuz", 0x7F, 0x7E, 1),
    ("f8e3m4", 0x30, 0x33, 3),
    ("f8e3m4", 0x6F, 0x70, 1),
    ("f8e5m2fnuz", 0x82, 0x01, 3),
    ("f8e4m3fnuz", 0x40, 0x44, 4),
    ("f8e8m0fnu", 0x7F, 0x81, 2),  # 1, 4
    ("f8e8m0fnu", 0x00, 0x01, 1),  # 2^-127: it has no zero
    ("f6e3m2fn", 0x21, 0x01, 2),
    ("f6e3m2fn", 0x1F, 0x1E, 1),
    ("f6e2m3fn", 0x0B, 0x08, 3),
    ("f6e2m3fn", 0x22, 0x01, 3),
    ("f4e2m1fn", 0x9, 0x1, 2),
    ("f4e2m1fn", 0x7, 0x6, 1),  # 6, 4
    ("s1", 0x1, 0x0, 1),  # -1, 0
    ("s2", 0x3, 0x0, 1),
    ("s4", 0xF, 0x0, 1),
    ("s4", 0x8, 0x7, 15),
    ("u1", 0x1, 0x0, 1),
    ("u2", 0x3, 0x0, 3),
    ("u4", 0xF, 0x1, 14),
]
# Bits that are equal to the type: zeros of both signs, and NaNs.
EQUAL = [
    ("bf16", 0x8000, 0x0000), ("bf16", 0x7FC0, 0xFFC1), ("f8e5m2", 0x80, 0x00), ("f8e5m2", 0x7D, 0xFE),
    ("f8e4m3", 0x80, 0x00),
    ("f8e4m3", 0x7C, 0xF9), ("f8e4m3fn", 0x80, 0x00), ("f8e4m3fn", 0x7F, 0xFF), ("f8e3m4", 0x80, 0x00),
    ("f8e3m4", 0x78, 0xF1),
    ("f6e3m2fn", 0x20, 0x00), ("f6e2m3fn", 0x20, 0x00), ("f4e2m1fn", 0x8, 0x0), ("s4", 0xFF, 0x0F),
    ("u2", 0xF3, 0x03),
]
# One that differs from all others: NaN where a type has one alone,
# and the value that other types have instead.
NANS = [("f8e4m3b11fnuz", 0x80, 0x00), ("f8e5m2fnuz", 0x80, 0x00), ("f8e4m3fnuz", 0x80, 0x00),
        ("f8e8m0fnu", 0xFF, 0xFE)]


def bits(element_type, *values, kind="V"):
    width = 2 if element_type == "bf16" else 1
    return npy(f"|{kind}{width}", [len(values)], struct.pack(f"<{len(values)}{'BH'[width - 1]}", *values))


class Types(CliCase):
    def typed(self, name, comments, **arrays):
        """An archive whose members have comments, as Assay writes them."""
        with zipfile.ZipFile(self.path(name), "w") as archive:
            for key, data in arrays.items():
                info = zipfile.ZipInfo(key + ".npy")
                info.comment = comments.get(key, "").encode()
                archive.writestr(info, data)
        return self.path(name)

    def program(self, element_type, text):
        return self.file("c.hlo", f"HloModule m\nENTRY e {{\n  ROOT c = {element_type}[2] constant({text})\n}}\n")

    def test_a_file_of_assay_says_its_types(self):
        program = self.file("c.hlo", "HloModule m\nENTRY e {\n  a = bf16[2] constant({1, -3})\n  b = s4[2] constant({-1, 7})\n"
                                     "  c = u16[2] constant({1, 2})\n  d = f8e4m3fn[] constant(2)\n"
                                     "  ROOT r = (bf16[2], s4[2], u16[2], f8e4m3fn[]) tuple(a, b, c, d)\n}\n")
        for name in ("1.npz", "2.npz"):
            self.expect(0, "run", program, "--output", self.path(name))
        with zipfile.ZipFile(self.path("1.npz")) as archive:
            self.assertEqual([(info.filename, info.comment) for info in archive.infolist()],
                             [("out0.npy", b"bf16"), ("out1.npy", b"s4"), ("out2.npy", b""),
                              ("out3.npy", b"f8e4m3fn")])
        with open(self.path("1.npz"), "rb") as one, open(self.path("2.npz"), "rb") as two:
            self.assertEqual(one.read(), two.read())
        self.expect(0, "diff", self.path("1.npz"), self.path("2.npz"))

    def test_a_file_of_assay_against_one_that_says_nothing(self):
        self.expect(0, "run", self.program("bf16", "{1, -3}"), "--output", self.path("exact.npz"))
        other = self.npz("other.npz", out0=npy("<V2", [2], struct.pack("<2H", 0x3F81, 0xC041)))
        for one, two in ((self.path("exact.npz"), other), (other, self.path("exact.npz"))):
            self.expect(1, "diff", one, two, "--rtol", "1e-4",
                        output="2 different, 2 outside the tolerance, at most 1 ulp")
            self.expect(0, "diff", one, two, "--ulps", "1")
            self.expect(0, "diff", one, two, "--rtol", "0.01")
        zeros = self.npz("zeros.npz", out0=bits("bf16", 0x8000, 0x7FC0))
        self.expect(0, "run", self.program("bf16", "{0, -nan}"), "--output", self.path("exact.npz"))
        self.expect(0, "diff", self.path("exact.npz"), zeros,
                    output="1 different, 0 outside the tolerance, at most 0 ulp")

    def test_distances(self):
        for element_type, exact, actual, ulps in DISTANCES:
            with self.subTest(element_type, exact=exact, actual=actual):
                one, two = (self.npz(f"{k}.npz", out0=bits(element_type, v))
                            for k, v in enumerate((exact, actual)))
                said = self.typed("said.npz", {"out0": element_type}, out0=bits(element_type, exact))
                for files in ((one, two, "--types", f"out0={element_type}"), (said, two), (two, said)):
                    self.expect(0, "diff", *files, "--ulps", str(ulps), output=f"at most {ulps} ulp")
                    self.expect(1, "diff", *files, "--ulps", str(ulps - 1))

    def test_equal_values(self):
        for element_type, exact, actual in EQUAL:
            with self.subTest(element_type, exact=exact, actual=actual):
                one = self.typed("1.npz", {"out0": element_type}, out0=bits(element_type, exact))
                two = self.npz("2.npz", out0=bits(element_type, actual))
                self.expect(0, "diff", one, two)
                self.expect(0, "diff", two, one)
        for element_type, nan, number in NANS:
            one = self.typed("1.npz", {"out0": element_type}, out0=bits(element_type, nan))
            self.expect(0, "diff", one, one, output="all equal")
            self.expect(1, "diff", one, self.npz("2.npz", out0=bits(element_type, number)), "--ulps", "1000")

    def test_raw_bytes_of_unknown_type_are_refused(self):
        one, two = self.npz("1.npz", out0=bits("bf16", 1)), self.npz("2.npz", out0=bits("u4", 1))
        self.expect(5, "diff", one, one, error=["1.npz: error: 'out0': '|V2' does not say the element type, which may be bf16",
                                                "--types out0=bf16 says so"])
        self.expect(5, "diff", two, two,
                    error=["s1, s2, s4, u1, u2, u4, f8e5m2, f8e4m3, f8e4m3fn", "--types out0=TYPE"])
        self.expect(5, "diff", one, self.npz("3.npz", out0=npy("<u2", [1], b"\1\0")),
                    error="does not say the element type")
        self.expect(5, "diff", one, self.npz("3.npz", out0=npy("<f2", [1], b"\1\0")),
                    error="does not say the element type")
        # What has no counterpart is missing, whatever it is.
        self.expect(1, "diff", one, self.npz("3.npz", out1=bits("u4", 1)),
                    output="out0: missing in the second set\nout1: missing")
        self.expect(5, "diff", self.npz("4.npz", out0=npy("|V3", [1], b"123")), one,
                    error="descriptor '|V3' is not supported")

    def test_unsigned_integers_are_numbers_where_nothing_says_more(self):
        one, two = (self.npz(f"{k}.npz", out0=npy("<u2", [2], struct.pack("<2H", 1, v)))
                    for k, v in enumerate((2, 5)))
        self.expect(1, "diff", one, two, output="at most 3 ulp")
        bf16 = self.typed("bf16.npz", {"out0": "bf16"}, out0=bits("bf16", 1, 2))
        for files in ((bf16, one), (one, bf16)):
            self.expect(5, "diff", *files,
                        error=["0.npz: error: 'out0': '<u2' may be numbers, or the bits of bf16",
                                                  "--types out0=bf16 says that it is bits"])
            self.expect(0, "diff", *files, "--types", "out0=bf16")
        self.expect(0, "diff", one, two, "--types", "out0=bf16", "--ulps", "3")
        # An array of another width is no such array.
        self.expect(1, "diff", bf16, self.npz("3.npz", out0=npy("<u4", [2], bytes(8))),
                    output="expected shape bf16[2], actual u32[2]")

    def test_f1_is_f8e5m2_as_numpy_has_it_of_ml_dtypes(self):
        one = self.npz("1.npz", out0=npy("<f1", [1], b"\x80"))
        self.expect(0, "diff", one, self.npz("2.npz", out0=npy("<f1", [1], b"\0")))
        self.expect(0, "diff", one, self.npz("2.npz", out0=bits("f8e5m2", 0)))
        other = self.typed("3.npz", {"out0": "f8e4m3fn"}, out0=bits("f8e4m3fn", 0))
        self.expect(1, "diff", one, other, output="expected shape f8e5m2[1], actual f8e4m3fn[1]")

    def test_types_that_contradict(self):
        one = self.typed("1.npz", {"out0": "bf16"}, out0=bits("bf16", 1))
        two = self.typed("2.npz", {"out0": "f8e4m3"}, out0=bits("f8e4m3", 1))
        three = self.typed("3.npz", {"out0": "f8e5m2"}, out0=bits("f8e5m2", 1))
        self.expect(1, "diff", one, two, output="expected shape bf16[1], actual f8e4m3[1]")
        self.expect(1, "diff", two, three, output="expected shape f8e4m3[1], actual f8e5m2[1]")
        self.expect(5, "diff", two, two, "--types", "out0=f8e5m2",
                    error="2.npz: error: 'out0' is f8e4m3, --types says f8e5m2")
        four = self.npz("4.npz", out0=npy("<f4", [1], bytes(4)))
        self.expect(5, "diff", four, four, "--types", "out0=bf16",
                    error="'<f4', which can't be the bits of bf16")
        self.expect(5, "diff", self.typed("5.npz", {"out0": "bf16"}, out0=npy("<f4", [1], bytes(4))), four,
                    error="member 'out0.npy' is of type bf16 by its comment, and '<f4' by its header")
        # Comments of others mean nothing.
        self.expect(0, "diff", self.typed("6.npz", {"out0": "made by hand"}, out0=npy("<f4", [1], bytes(4))),
                    four)

    def test_the_flag(self):
        one = self.npz("1.npz", out0=bits("bf16", 1), out1=bits("s4", 0xF))
        self.expect(0, "diff", one, one, "--types", "out0=bf16,out1=s4")
        self.expect(5, "diff", one, one, "--types", "out0=bf16", error="'out1'")
        self.expect(2, "diff", one, one, "--types", "out0=bf16,out1=s4,out2=s4",
                    error="--types names 'out2', which is in no file")
        for text, error in (("bf16", "'bf16' is not KEY=TYPE"), ("out0=", "'' is not an element type"),
                            ("=bf16", "is not KEY=TYPE"),
                            ("out0=bf17", "'bf17' is not an element type"),
                            ("out0=bf16,,out1=s4", "'' is not KEY=TYPE"),
                            ("out0=bf16,out0=s4", "'out0' is given twice")):
            self.expect(2, "diff", one, one, "--types", text, error=error)
        devices = self.npz("d.npz", **{"r0p0/out0": bits("bf16", 1), "r0p1/out0": bits("bf16", 2)})
        self.expect(0, "diff", devices, devices, "--types", "out0=bf16")
        lone = self.file("lone.npy", bits("bf16", 0x8000))
        self.expect(0, "diff", lone, self.file("other.npy", bits("bf16", 0)), "--types", "out0=bf16")

    # ---- with a program, whose types hold ----

    def test_outputs_of_another_type_than_the_programs(self):
        program = self.program("f8e4m3fn", "{1, 2}")
        self.expect(0, "run", program, "--output", self.path("good.npz"))
        self.expect(0, "run",
                    self.file("p.hlo", "HloModule m\nENTRY e {\n  ROOT c = f8e5m2[2] constant({1, 2})\n}\n"),
                    "--output", self.path("bad.npz"))
        wrong = "bad.npz: error: 'out0': found f8e5m2[2], wanted f8e4m3fn[2]"
        for profile in ((), ("--profile", "xla-cpu")):
            self.expect(0, "diff", program, "--actual", self.path("good.npz"), *profile)
            self.expect(5, "diff", program, "--actual", self.path("bad.npz"), *profile, error=wrong)
            bytes_ = self.npz("bytes.npz", out0=npy("|u1", [2], b"\x38\x40"))
            self.expect(5, "diff", program, "--actual", bytes_, *profile,
                        error="found '|u1' [2], wanted '|V1'")
            self.expect(0, "diff", program, "--actual", bytes_, *profile, "--types", "out0=f8e4m3fn")
            self.expect(5, "diff", program, "--actual", bytes_, *profile, "--types", "out0=f8e5m2",
                        error="found f8e5m2[2]")
            self.expect(2, "diff", program, "--actual", bytes_, *profile, "--types", "out3=f8e5m2",
                        error="in no file")
            raw = self.npz("raw.npz", out0=npy("|V1", [2], b"\x38\x40"))
            self.expect(0, "diff", program, "--actual", raw, *profile)
        self.expect(2, "diff", program, "--backend", "cat {outputs}", "--types", "out0=bf16")

    def test_inputs_of_another_type_than_the_programs(self):
        double = "HloModule m\nENTRY e {\n  x = f8e4m3fn[2] parameter(0)\n  ROOT y = f8e4m3fn[2] add(x, x)\n}\n"
        program, inputs = self.file("a.hlo", double), self.typed(
            "in.npz", {"arg0": "f8e5m2"}, arg0=bits("f8e5m2", 0x3C, 0x3C))
        self.expect(5, "run", program, "--inputs", inputs,
                    error="in.npz: error: 'arg0': found f8e5m2[2], wanted f8e4m3fn[2]")
        good = self.typed("in.npz", {"arg0": "f8e4m3fn"}, arg0=bits("f8e4m3fn", 0x38, 0x38))
        self.expect(0, "run", program, "--inputs", good, output="[2. 2.]")

    def test_golden_check_of_outputs(self):
        program = self.program("f8e4m3fn", "{1, 2}")
        golden = self.path("g.hlo")
        self.expect(0, "golden", "record", program, "--profile", "xla-cpu", "--output", golden)
        out = {"out0": bits("f8e4m3fn", 0x38, 0x40)}
        self.expect(0, "golden", "check", golden, "--actual",
                    self.typed("o.npz", {"out0": "f8e4m3fn"}, **out))
        self.expect(0, "golden", "check", golden, "--actual", self.npz("o.npz", **out))
        self.expect(1, "golden", "check", golden, "--actual", self.typed("o.npz", {"out0": "f8e5m2"}, **out),
                    output="'out0': found f8e5m2[2], wanted f8e4m3fn[2]")


if __name__ == "__main__":
    unittest.main()
