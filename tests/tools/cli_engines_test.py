#!/usr/bin/env python3
"""Drives `assay` with engines and libraries that a machine may lack. Usage: cli_engines_test.py ASSAY"""
import json
import os
import unittest

from cli_testing import CONSTANT, CliCase


class Engines(CliCase):
    # ---- the engine gpu ----

    def test_gpu_without_a_driver_is_the_cpu_and_the_plan_says_why(self):
        program = self.file("a.hlo", CONSTANT)
        flags = ("--engine", "gpu", "--cuda-driver", "/nowhere/libcuda.so.1", "--gpu-min-elements", "0")
        why = "the CUDA driver can't be loaded: /nowhere/libcuda.so.1"
        note = f"assay: note: engine gpu is not available, other engines took its steps: {why}"
        result = self.expect(0, "run", program, *flags, error=note)
        self.assertEqual(result.stderr.count(b"\n"), 1)
        part = "func.func @f() {\n  %a = stablehlo.constant dense<5> : tensor<i8>\n  return\n}\n"
        several = self.expect(0, "run", self.file("s.mlir", part + "// -----\n" + part), *flags, error=note)
        self.assertEqual(several.stderr.count(b"note"), 1)
        self.assertEqual(result.stdout, self.expect(0, "run", program).stdout)
        for command in ("run", "bench"):
            said = json.loads(self.expect(0, command, program, *flags, "--json", error=note).stdout)[
                "unavailable_engines"]
            self.assertEqual([engine["engine"] for engine in said], ["gpu"])
            self.assertTrue(said[0]["reason"].startswith(why))
            self.assertNotIn("unavailable_engines",
                             json.loads(self.expect(0, command, program, "--json").stdout))
        golden = self.file("g.hlo", "// oracle: hand\n// out0: f32[2] {1, 2.5}\n" + CONSTANT)
        self.expect(0, "golden", "check", golden, *flags, error=note)
        negate = self.file("n.hlo", "HloModule m\nENTRY e {\n  x = f32[8] parameter(0)\n  n = f32[8] negate(x)\n"
                                    "  s = f32[4] slice(n), slice={[0:4]}\n  ROOT y = f32[4] reverse(s), dimensions={0}\n}\n")
        plan = self.expect(0, "plan", negate, *flags).stdout.decode()
        self.assertEqual(plan.count(why), 1)
        self.assertTrue(plan.startswith(f"engine gpu is not available: {why}"))
        self.expect(2, "run", program, "--engine", "gpu", "--gpu-min-elements", "-1")

    # ---- the fast engine ----

    def dot(self, n):
        return self.file(f"dot{n}.hlo", f"HloModule m\nENTRY e {{\n  x = f32[{n},{n}] parameter(0)\n"
                         f"  ROOT d = f32[{n},{n}] dot(x, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}\n")

    def test_fast_declines_small_steps_and_loads_nothing_for_them(self):
        result = self.expect(0, "plan", self.dot(100), "--engine", "fast", "--allow-rwx",
                             output="(onednn: too few products (1000000 < 67108864))")
        self.assertIn(b"rounded-sums  %d", result.stdout)
        env = {**os.environ, "LD_DEBUG": "files"}
        traced = self.call("run", self.dot(100), "--engine", "fast", "--allow-rwx", "--random-inputs", "1",
                           env=env)
        self.assertEqual(traced.returncode, 0)
        self.assertIn(b"libm", traced.stderr)
        self.assertNotIn(b"dnnl", traced.stderr)

    def test_fast_runs_where_the_library_is_missing(self):
        self.file("libdnnl.so.2", "no library")
        env = {**os.environ, "LD_LIBRARY_PATH": self.folder.name}
        result = self.expect(0, "plan", self.dot(512), "--engine", "fast", "--allow-rwx",
                             output="engine onednn is not available: oneDNN can't be loaded: ", env=env)
        self.assertIn(b"rounded-sums  %d", result.stdout)
        note = "assay: note: engine onednn is not available, other engines took its steps: oneDNN can't be loaded: "
        for size, error in ((512, note), (100, None)):  # the small one does not ask for it
            self.expect(0, "run", self.dot(size), "--engine", "fast", "--allow-rwx", "--random-inputs", "1",
                        error=error, env=env)

    def test_fast_checks_a_sample_of_a_large_step(self):
        for args in ((), ("--crosscheck", "sample"), ("--crosscheck", "off"), ("--allow-rwx",)):
            self.expect(0, "run", self.dot(512), "--engine", "fast", "--random-inputs", "1", *args,
                        output="out0 f32")

    # ---- LAPACK ----

    def eigenvalues(self):
        return self.file("eigh.hlo", """HloModule m
ENTRY e {
  a = f64[2,2] constant({{2, 0}, {0, 1}})
  ROOT r = (f64[2,2], f64[2], s32[]) custom-call(a), custom_call_target="lapack_dsyevd_ffi", \
backend_config={mode = 86 : ui8, uplo = 76 : ui8}
}
""".replace("\\\n", ""))

    def test_lapack_runs_and_is_named(self):
        self.expect(0, "run", self.eigenvalues(), output="out1 f64[2]\n[1. 2.]")
        self.expect(0, "plan", self.eigenvalues(), output="[exact syevd]")
        self.expect(0, "run", self.eigenvalues(), "--lapack", output="out1 f64[2]\n[1. 2.]")
        self.expect(0, "plan", self.eigenvalues(), "--lapack", output="[lapack dsyevd]")

    def test_without_lapack_only_its_flag_is_not_supported(self):
        self.file("liblapack.so.3", "no library")
        env = {**os.environ, "LD_LIBRARY_PATH": self.folder.name}
        self.expect(0, "run", self.eigenvalues(), env=env, output="out1 f64[2]\n[1. 2.]")
        self.expect(4, "run", self.eigenvalues(), "--lapack", env=env,
                    error=["eigh.hlo:4:", "LAPACK can't be loaded (Debian: liblapack3): ", "liblapack.so.3"])
        self.expect(0, "verify", self.eigenvalues(), "--lapack", env=env)
        self.expect(0, "plan", self.eigenvalues(), "--lapack", output="(custom: LAPACK can't be loaded",
                    env=env)


if __name__ == "__main__":
    unittest.main()
