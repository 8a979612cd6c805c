#!/usr/bin/env python3
"""assay doctor says of this machine what Python finds by itself. Usage: cli_doctor_test.py ASSAY"""
import ctypes
import json
import os
import platform
import sys
import unittest

from cli_testing import ASSAY, CliCase

PARTS = ("AVX2", "AVX-512", "AMX", "oneDNN", "LAPACK", "GPU", "MPI", "PJRT plugin", "Python", "jaxlib",
         "Python package", "JAX platform")


def opens(library):
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


class Doctor(CliCase):

    def parts(self, *flags, **options):
        report = json.loads(self.expect(0, "doctor", "--json", *flags, **options).stdout)
        return report, {part["name"]: part for part in report["parts"]}

    def test_what_is_told(self):
        report, parts = self.parts()
        self.assertEqual(tuple(parts), PARTS)
        self.assertEqual(report["program"], os.path.realpath(ASSAY))
        self.assertIn(f"assay {report['version']}\n", self.expect(0, "--version").stdout.decode())
        self.assertTrue(report["machine"].startswith(f"{os.cpu_count()} processor"))
        for part in parts.values():
            self.assertGreater(len(part["without"]), 10, part)
            self.assertGreater(len(part["detail"]), 2, part)

    def test_processor(self):
        if platform.machine() != "x86_64":
            self.skipTest("not x86-64")
        with open("/proc/cpuinfo") as cpuinfo:
            flags = next(line for line in cpuinfo if line.startswith("flags")).split()
        _, parts = self.parts()
        self.assertEqual(parts["AVX2"]["present"], {"avx2", "fma", "bmi1", "bmi2"} <= set(flags))
        self.assertEqual(parts["AVX-512"]["present"],
                         {"avx2", "avx512f", "avx512dq", "avx512vl", "avx512bw"} <= set(flags))
        if not {"amx_tile", "amx_bf16", "amx_int8"} <= set(flags):
            self.assertFalse(parts["AMX"]["present"])

    def test_libraries(self):
        _, parts = self.parts()
        self.assertEqual(parts["oneDNN"]["present"], opens("libdnnl.so.2"))
        self.assertEqual(parts["LAPACK"]["present"], opens("liblapack.so.3"))
        if not opens("libcuda.so.1"):
            self.assertFalse(parts["GPU"]["present"])
        folder = os.path.dirname(os.path.realpath(ASSAY))
        self.assertEqual(parts["MPI"]["present"], os.path.exists(os.path.join(folder, "libassay_mpi.so")))
        _, parts = self.parts("--cuda-driver", self.path("none.so"))
        self.assertFalse(parts["GPU"]["present"])
        self.assertIn("none.so", parts["GPU"]["detail"])

    def test_python(self):
        _, parts = self.parts("--python", sys.executable)
        self.assertTrue(parts["Python"]["detail"].startswith(platform.python_version() + " "))
        missing = self.path("no_python")
        _, parts = self.parts("--python", missing)
        for name in ("Python", "jaxlib", "Python package", "JAX platform"):
            self.assertFalse(parts[name]["present"])
        self.assertEqual(parts["Python"]["detail"], f"'{missing}' does not run")
        said = self.file("python", "#!/bin/sh\nprintf 'python 3.99.0 /there\\njax\\njaxlib 9.8.7\\nassay 0.1.0 /p\\n"
                         "plugin /p/libpjrt_assay.so\\n'\n")
        os.chmod(said, 0o755)
        _, parts = self.parts("--python", said)
        self.assertEqual((parts["jaxlib"]["present"], parts["jaxlib"]["detail"]), (True, "9.8.7"))
        self.assertEqual(parts["Python package"]["detail"], "0.1.0 /p")
        self.assertEqual(parts["JAX platform"]["detail"], "/p/libpjrt_assay.so")

    def test_text_says_what_each_missing_thing_costs(self):
        text = self.expect(0, "doctor", "--python", self.path("none")).stdout.decode()
        _, parts = self.parts("--python", self.path("none"))
        for name, part in parts.items():
            self.assertRegex(text, rf"(?m)^{'present' if part['present'] else 'missing'}  {name} ")
            self.assertEqual(f"without: {part['without']}\n" in text, not part["present"], name)

    def test_a_python_that_hangs_is_ended(self):
        hangs = self.file("python", "#!/bin/sh\nexec sleep 60\n")
        os.chmod(hangs, 0o755)
        _, parts = self.parts("--python", hangs)  # within the 60 seconds of the test's own limit
        self.assertFalse(parts["Python"]["present"])


if __name__ == "__main__":
    unittest.main()
