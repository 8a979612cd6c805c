#!/usr/bin/env python3
"""--ffi: handlers of XLA's FFI, from outside. Usage: cli_ffi_test.py ASSAY FOLDER_OF_LIBRARIES"""
import os
import sys
import unittest

from cli_testing import CliCase

LIBRARIES = os.path.abspath(sys.argv.pop(1))
TWO, BAD, NONE = (os.path.join(LIBRARIES, f"{name}.so")
                  for name in ("two_handlers", "half_good", "no_handlers"))


def program(target, version=", api_version=API_VERSION_TYPED_FFI"):
    return (f"HloModule m\nENTRY e {{\n  x = f32[] parameter(0)\n"
            f'  ROOT r = s32[] custom-call(x), custom_call_target="{target}"{version}\n}}\n')


class Ffi(CliCase):
    def run_it(self, target, *options, code=0, **expected):
        return self.expect(code, "run", self.file("p.hlo", program(target)), "--random-inputs", "1", *options,
                           **expected)

    def test_a_library_that_registers_its_handlers(self):
        self.run_it("library.One", "--ffi", TWO, output="\n1\n")
        self.run_it("library.Two", "--ffi", TWO, "--engine", "reference", output="\n2\n")
        self.run_it("library.Two", "--ffi", TWO, "--crosscheck", "full", output="\n2\n")
        self.run_it("library.Three", "--ffi", TWO, code=4, error="no custom call target library.Three")

    def test_an_exported_handler(self):
        self.run_it("a", "--ffi", f"a={NONE}:Four", output="\n4\n")
        self.run_it("b", "--ffi", f"a={NONE}:Four", "--ffi", TWO, "--ffi", f"b={TWO}:Three", output="\n3\n")
        self.run_it("a", "--ffi", f"a={NONE}:Five", code=5, error="no symbol 'Five'")
        self.run_it("TopK", "--ffi", f"TopK={NONE}:Four", code=5, error="Assay itself defines")
        self.run_it("a", "--ffi", f"a={NONE}", code=5, error="want TARGET=LIB.so:SYMBOL")

    def test_libraries_that_are_refused_are_named(self):
        self.run_it("a", "--ffi", BAD, code=4, error=["half_good.so", "library.Late", "0.4"])
        self.run_it("a", "--ffi", NONE, code=5, error=["no_handlers.so", "registers no handlers"])
        self.run_it("a", "--ffi", self.path("none.so"), code=5, error="none.so")
        self.run_it("a", "--ffi", self.file("text.so", "text"), code=5, error="text.so")

    def test_other_commands(self):
        good, untyped = self.file("p.hlo",
                                  program("library.One")), self.file("u.hlo", program("library.One", ""))
        self.expect(0, "verify", good, "--ffi", TWO)
        self.expect(0, "verify", untyped)
        self.expect(4, "verify", untyped, "--ffi", TWO, error=["u.hlo:4:", "api_version"])
        self.expect(0, "plan", good, "--ffi", TWO, output="ffi library.One")
        self.expect(0, "bench", good, "--ffi", TWO, "--random-inputs", "1", "--timeout", "30")
        actual = self.path("out.npz")
        self.run_it("library.One", "--ffi", TWO, "--output", actual)
        self.expect(0, "diff", good, "--actual", actual, "--random-inputs", "1", "--ffi", TWO)


if __name__ == "__main__":
    unittest.main()
