"""What the tests of the command line share: temporary files, runs of `assay` and their exit codes. The
program is the first argument of the test."""
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

ASSAY = os.path.abspath(sys.argv.pop(1))

ADD = "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[2] add(x, x)\n}\n"
CONSTANT = "HloModule m\nENTRY e {\n  ROOT c = f32[2] constant({1, 2.5})\n}\n"
ENDLESS = """HloModule m
c {
  ROOT a = pred[] parameter(0)
}
b {
  ROOT d = pred[] parameter(0)
}
ENTRY e {
  t = pred[] constant(true)
  ROOT w = pred[] while(t), condition=c, body=b
}
"""


def npy(descr, shape, data):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({''.join(f'{n}, ' for n in shape)}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def floats(*values):
    return npy("<f4", [len(values)], struct.pack(f"<{len(values)}f", *values))


class CliCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="assay_cli_")
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name if isinstance(name, str) else os.fsencode(self.folder.name),
                            name)

    def file(self, name, content):
        with open(self.path(name), "wb") as out:
            out.write(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    def npz(self, name, **arrays):
        with zipfile.ZipFile(self.path(name), "w") as archive:
            for key, data in arrays.items():
                archive.writestr(key.replace("__", ".") + ".npy", data)
        return self.path(name)

    def call(self, *args, **options):
        options.setdefault("stdout", subprocess.PIPE)
        return subprocess.run([ASSAY, *args], stderr=subprocess.PIPE, timeout=60, **options)

    def expect(self, code, *args, error=None, output=None, **options):
        result = self.call(*args, **options)
        message = result.stderr.decode(errors="replace")
        self.assertEqual(result.returncode, code, f"{args}: {message}")
        for text in [error] if isinstance(error, str) else error or []:
            self.assertIn(text, message)
        if error is None and code == 0:
            self.assertEqual(message, "")
        if output is not None:
            self.assertIn(output, result.stdout.decode())
        return result

    def read_npz(self, path):
        with zipfile.ZipFile(path) as archive:
            self.assertIsNone(archive.testzip())
            return {name: archive.read(name) for name in archive.namelist()}

    # ---- running ----
