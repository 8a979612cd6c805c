#!/usr/bin/env python3
"""What the shipped files are linked with, and that no page is writable and executable while programs run.
Usage: hardening_test.py ASSAY FAILING_CALLS_LIBRARY FILE... [--fortified]

Each FILE is a program or library that is shipped; --fortified: built with _FORTIFY_SOURCE."""
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import time
import unittest

FORTIFIED = "--fortified" in sys.argv
if FORTIFIED:
    sys.argv.remove("--fortified")
ASSAY, LIBRARY, *FILES = (os.path.abspath(path) for path in sys.argv[1:])
del sys.argv[1:]
ROOT = pathlib.Path(__file__).resolve().parents[2]

PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
PT_GNU_STACK, PT_GNU_RELRO, PT_GNU_PROPERTY = 0x6474e551, 0x6474e552, 0x6474e553
PF_X, PF_W = 1, 2
ET_DYN = 3
DT_NEEDED, DT_STRTAB, DT_SYMTAB, DT_RPATH, DT_TEXTREL, DT_BIND_NOW = 1, 5, 6, 15, 22, 24
DT_RUNPATH, DT_FLAGS, DT_STRSZ, DT_FLAGS_1 = 29, 30, 10, 0x6ffffffb
DF_TEXTREL, DF_BIND_NOW, DF_1_NOW, DF_1_PIE = 4, 8, 1, 0x08000000


class Elf:
    """A file for x86-64: its segments (type, flags, offset, address, size), dynamic entries and names."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        assert self.bytes[:6] == b"\x7fELF\x02\x01", path
        self.type, = struct.unpack_from("<H", self.bytes, 16)
        start, = struct.unpack_from("<Q", self.bytes, 32)
        size, count = struct.unpack_from("<HH", self.bytes, 54)
        self.segments = []
        for i in range(count):
            at = start + i * size
            kind, flags, offset, address, _, length = struct.unpack_from("<IIQQQQ", self.bytes, at)
            self.segments.append((kind, flags, offset, address, length))
        self.dynamic = []
        for kind, _, offset, _, length in self.segments:
            if kind == PT_DYNAMIC:
                self.dynamic = list(struct.iter_unpack("<qQ", self.bytes[offset:offset + length]))

    def values(self, tag):
        return [value for entry, value in self.dynamic if entry == tag]

    def offset_of(self, address):
        for kind, _, offset, first, length in self.segments:
            if kind == PT_LOAD and first <= address < first + length:
                return offset + address - first
        raise ValueError(hex(address))

    def names(self):
        """Texts of the dynamic symbols: imported and exported names, and libraries."""
        start, length = self.offset_of(self.values(DT_STRTAB)[0]), self.values(DT_STRSZ)[0]
        return {name.decode() for name in self.bytes[start:start + length].split(b"\0")}


class LinkedFiles(unittest.TestCase):
    def each(self, check):
        for path in FILES:
            with self.subTest(os.path.basename(path)):
                check(Elf(path))

    def test_addresses_are_drawn(self):
        self.each(lambda elf: self.assertEqual(elf.type, ET_DYN))
        program = Elf(ASSAY)
        self.assertTrue(any(kind == PT_INTERP for kind, *_ in program.segments))
        self.assertTrue(program.values(DT_FLAGS_1)[0] & DF_1_PIE)

    def test_tables_of_functions_are_read_only_before_main(self):
        def check(elf):
            self.assertTrue(any(kind == PT_GNU_RELRO for kind, *_ in elf.segments), "no RELRO segment")
            flags, flags_1 = sum(elf.values(DT_FLAGS)), sum(elf.values(DT_FLAGS_1))
            self.assertTrue(flags & DF_BIND_NOW or flags_1 & DF_1_NOW or elf.values(DT_BIND_NOW),
                            "functions are bound when they are called")
        self.each(check)

    def test_nothing_is_writable_and_executable(self):
        def check(elf):
            stacks = [flags for kind, flags, *_ in elf.segments if kind == PT_GNU_STACK]
            self.assertEqual(len(stacks), 1)
            self.assertFalse(stacks[0] & PF_X, "an executable stack")
            for kind, flags, *_ in elf.segments:
                if kind == PT_LOAD:
                    self.assertNotEqual(flags & (PF_W | PF_X), PF_W | PF_X)
            self.assertFalse(elf.values(DT_TEXTREL) or sum(elf.values(DT_FLAGS)) & DF_TEXTREL, "TEXTREL")
        self.each(check)

    def test_libraries_are_looked_for_where_the_system_has_them(self):
        # A build for MPI names its folder, which CMake takes out where it installs.
        def check(elf):
            start = elf.offset_of(elf.values(DT_STRTAB)[0])
            for value in elf.values(DT_RPATH) + elf.values(DT_RUNPATH):
                names = elf.bytes[start + value:elf.bytes.index(b"\0", start + value)].decode()
                for folder in names.strip(":").split(":"):
                    self.assertTrue(folder.startswith("/usr/"), folder)
        self.each(check)

    def test_stacks_have_guards(self):
        self.each(lambda elf: self.assertIn("__stack_chk_fail", elf.names()))

    @unittest.skipUnless(FORTIFIED, "not built with _FORTIFY_SOURCE")
    def test_copies_are_checked(self):
        checked = re.compile(r"__(mem|str|s?n?printf|vsn?printf|read|fgets|fdelt)\w*_chk")
        self.each(lambda elf: self.assertTrue([n for n in elf.names() if checked.fullmatch(n)]))


# A loop that is worth generated code, on arrays that fit into a cache.
LONG = """HloModule long
body {
  s = (s32[], f32[64,64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[64,64] get-tuple-element(s), index=1
  one = s32[] constant(1)
  n = s32[] add(i, one)
  m = f32[64,64] multiply(x, x)
  a = f32[64,64] add(m, x)
  c = f32[64,64] cosine(a)
  ROOT t = (s32[], f32[64,64]) tuple(n, c)
}
condition {
  s = (s32[], f32[64,64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(1000000000)
  ROOT l = pred[] compare(i, n), direction=LT
}
ENTRY e {
  i = s32[] constant(0)
  x = f32[64,64] parameter(0)
  t = (s32[], f32[64,64]) tuple(i, x)
  w = (s32[], f32[64,64]) while(t), condition=condition, body=body
  ROOT r = f32[64,64] get-tuple-element(w), index=1
}
"""
LARGE_DOT = """HloModule large
ENTRY e {
  x = f32[512,512] parameter(0)
  y = f32[512,512] parameter(1)
  ROOT d = f32[512,512] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


class RunningPrograms(unittest.TestCase):
    def file(self, text):
        file = tempfile.NamedTemporaryFile("w", suffix=".hlo")
        self.addCleanup(file.close)
        file.write(text)
        file.flush()
        return file.name

    def without_wx(self, *arguments):
        """The run of a command that ends with exit code 99 where it asks for such a page."""
        environment = {**os.environ, "LD_PRELOAD": LIBRARY, "ASSAY_FORBID_WRITE_AND_EXECUTE": "1"}
        return subprocess.run([ASSAY, *arguments], env=environment, cwd=ROOT, capture_output=True,
                              timeout=120, check=False)

    @unittest.skipUnless(os.path.exists(LIBRARY), "sanitizers have the functions themselves")
    def test_no_call_asks_for_such_a_page(self):
        for program in sorted((ROOT / "golden/programs").iterdir()):
            if not (program / "inputs.npz").exists():
                continue
            for engine in ("exact", "fast"):
                with self.subTest(f"{program.name} by {engine}"):
                    run = self.without_wx("run", str(program / "program.hlo"), "--inputs",
                                          str(program / "inputs.npz"), "--engine", engine)
                    self.assertEqual(run.returncode, 0, run.stderr.decode()[-300:])
        run = self.without_wx("golden", "check", "golden/elementwise", "--engine", "fast")
        self.assertEqual(run.returncode, 0, run.stderr.decode()[-300:])

    @unittest.skipUnless(os.path.exists(LIBRARY), "sanitizers have the functions themselves")
    def test_the_flag_asks_for_them(self):
        doctor = subprocess.run([ASSAY, "doctor"], capture_output=True, text=True, check=False).stdout
        if "oneDNN" not in doctor:
            self.skipTest("no oneDNN")
        run = self.without_wx("run", self.file(LARGE_DOT), "--random-inputs", "1", "--engine", "fast",
                              "--allow-rwx")
        self.assertEqual(run.returncode, 99, run.stderr.decode()[-300:])

    def test_maps_of_a_run_with_generated_code(self):
        run = subprocess.Popen([ASSAY, "run", self.file(LONG), "--random-inputs", "1"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        generated = set()
        try:
            end = time.monotonic() + 20
            while time.monotonic() < end and not generated:
                time.sleep(0.05)
                self.assertIsNone(run.poll())
                with open(f"/proc/{run.pid}/maps", encoding="ascii") as maps:
                    for line in maps:
                        rights, path = line.split()[1], line.split()[5:]
                        self.assertFalse("w" in rights and "x" in rights, line)
                        if "x" in rights and not path:
                            generated.add(line)
        finally:
            run.kill()
            run.communicate()
        self.assertTrue(generated, "no code was generated")


if __name__ == "__main__":
    unittest.main()
