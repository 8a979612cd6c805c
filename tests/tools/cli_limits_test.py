#!/usr/bin/env python3
"""--memory-limit, --timeout, Ctrl-C and what else ends a command: docs/limits.md, from outside. Usage:
cli_limits_test.py ASSAY"""
import os
import resource
import signal
import struct
import subprocess
import time
import unittest
import zipfile

from cli_testing import ADD, ASSAY, CONSTANT, ENDLESS, CliCase, floats, npy

LARGE = "HloModule m\nENTRY e {\n  p = u8[3000000000] parameter(0)\n  ROOT r = f32[] constant(0)\n}\n"
NORMAL = """HloModule m
ENTRY e {
  a = f32[] constant(0)
  b = f32[] constant(1)
  ROOT r = f32[300000000] rng(a, b), distribution=rng_normal
}
"""
# A result of 4 MB, whose text takes twenty times as much and seconds.
WIDE = """HloModule m
ENTRY e {
  i = f64[SIZE] iota(), iota_dimension=0
  ROOT r = f64[SIZE] sqrt(i)
}
"""


def usage_of(args, signals=(), limits=None, **options):
    """Exit code, errors, CPU seconds, largest resident size in bytes, seconds; `signals`: (seconds,
    signal) to send."""
    start = time.monotonic()
    options.setdefault("stdout", subprocess.DEVNULL)
    process = subprocess.Popen([ASSAY, *args], stderr=subprocess.PIPE, preexec_fn=limits, **options)
    for after, number in signals:
        time.sleep(after)
        process.send_signal(number)
    errors = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    return (process.returncode, errors, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024,
            time.monotonic() - start)


class Limits(CliCase):
    # ---- memory ----

    def test_inputs_count_before_they_are_made(self):
        program = self.file("m.hlo", LARGE)
        for engine in ("exact", "reference"):
            code, errors, cpu, size, _ = usage_of(
                ["run", program, "--random-inputs", "1", "--memory-limit", "1000000", "--timeout", "1",
                 "--engine", engine])
            self.assertEqual(code, 5, errors)
            self.assertIn("memory in bytes, for one more u8[3000000000], is 3000000000, over the limit of 1000000", errors)
            self.assertLess(cpu, 1)
            self.assertLess(size, 200 << 20)

    def test_every_command_with_limits_keeps_them(self):
        program = self.file("m.hlo", LARGE)
        for args in (("bench", program, "--random-inputs", "1"),
                     ("golden", "record", program, "--random-inputs", "1"),
                     ("diff", program, "--actual", self.npz("o.npz", out0=floats(1)), "--random-inputs",
                      "1")):
            code, errors, _, size, _ = usage_of([*args, "--memory-limit", "1000000"])
            self.assertEqual((code, "over the limit of 1000000" in errors, size < 200 << 20), (5, True, True),
                             (args, errors))

    def test_golden_check_takes_limits_of_its_own(self):
        text = """HloModule m
ENTRY e {
  i = f32[1000] iota(), iota_dimension=0
  r = f32[1000] reverse(i), dimensions={0}
  ROOT s = f32[1] slice(r), slice={[0:1]}
}
"""
        good = self.file("good.hlo", "// oracle: hand\n// out0: f32[1] {999}\n" + text)
        endless = self.file("w.hlo", "// oracle: assay\n" + ENDLESS)
        self.expect(0, "golden", "check", good, "--memory-limit", "100000", "--max-steps", "100", "--timeout",
                    "60")
        self.expect(5, "golden", "check", good, "--memory-limit", "1000",
                    error=["good.hlo", "over the limit of 1000"])
        self.expect(5, "golden", "check", good, "--max-steps", "1", error="more than the limit of 1")
        self.expect(5, "golden", "check", endless, good, "--timeout", "0.3",
                    error=["w.hlo", "timeout after 0.3 seconds"])
        own = self.file("own.hlo", "// refuse: 5 steps\n// options: --max-steps 2\n" + text)
        self.expect(0, "golden", "check", own, "--max-steps", "1000000")

    def test_diff_takes_limits(self):
        endless, out = self.file("w.hlo", ENDLESS), self.npz("o.npz", out0=npy("|b1", [], b"\1"))
        self.expect(5, "diff", endless, "--actual", out, "--timeout", "0.3",
                    error="timeout after 0.3 seconds")
        self.expect(5, "diff", endless, "--actual", out, "--max-steps", "100",
                    error="more than the limit of 100")

    def test_members_are_refused_before_they_are_read(self):
        # What the second would take is known before the first is inflated.
        path = self.path("big.npz")
        header = npy("|u1", [50000000], b"")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for key in ("arg0", "arg1"):
                with archive.open(key + ".npy", "w", force_zip64=True) as member:
                    member.write(header)
                    for _ in range(50):
                        member.write(os.urandom(8000) + bytes(992000))
        program = self.file("p.hlo", "HloModule m\nENTRY e {\n  p = u8[50000000] parameter(0)\n  q = u8[50000000] parameter(1)\n"
                            "  ROOT r = f32[] constant(0)\n}\n")
        code, errors, cpu, size, _ = usage_of(
            ["run", program, "--inputs", path, "--memory-limit", "80000000"])
        self.assertEqual(code, 5, errors)
        self.assertIn("member 'arg1.npy', is 100000", errors)
        self.assertIn("over the limit of 80000000", errors)
        self.assertLess(size, 200 << 20)
        self.assertLess(cpu, 1)

    def test_files_are_bounded(self):
        for args in (("verify", "/dev/zero"), ("run", "/dev/zero")):
            limited = [*args, "--memory-limit", "1000000"] if args[0] == "run" else args
            def address_space():
                resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
            code, errors, _, size, _ = usage_of(limited, limits=address_space)
            self.assertEqual(code, 5, errors)
            self.assertIn("over the limit of 1000000" if args[0] == "run"
                          else "out of memory: no room for /dev/zero", errors)
            if args[0] == "run":
                self.assertLess(size, 150 << 20)
        sparse = self.path("sparse.hlo")
        with open(sparse, "wb") as file:
            file.truncate(20 << 30)
        code, errors, cpu, size, _ = usage_of(["run", sparse, "--memory-limit", "1000000"])
        self.assertEqual((code, size < 100 << 20), (5, True), errors)
        self.assertIn("over the limit of 1000000", errors)

    def test_constants_count(self):
        program = self.file("c.mlir", "func.func @main() -> tensor<3000000000xi8> {\n  %a = stablehlo.constant dense<5> : tensor<3000000000xi8>\n"
                            "  return %a : tensor<3000000000xi8>\n}\n")
        code, errors, _, size, _ = usage_of(["run", program, "--memory-limit", "1000000"])
        self.assertEqual((code, size < 200 << 20), (5, True), errors)
        self.assertIn("over the limit of 1000000", errors)

    def test_out_of_memory_is_said_in_plain_words(self):
        program = self.file("w.hlo", WIDE.replace("SIZE", "100000000"))
        def address_space():
            resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))
        code, errors, *_ = usage_of(["run", program, "--jobs", "1"], limits=address_space)
        self.assertEqual(code, 5, errors)
        self.assertIn("out of memory: no room for one more f64[100000000] of 800000000 bytes", errors)
        self.assertNotIn("limit", errors)

    def test_a_library_without_room_is_out_of_memory(self):
        # Below, the dynamic linker finds no room for the program itself, or libprotobuf none before main
        # begins; above, there is room for libzip.
        before_main = (-signal.SIGABRT, "terminate called without an active exception\n")
        program = self.file("a.hlo", ADD)
        for kilobytes in range(10000, 60000, 1000):
            def address_space():
                resource.setrlimit(resource.RLIMIT_AS, (kilobytes << 10, kilobytes << 10))
            code, errors, *_ = usage_of(["run", program, "--random-inputs", "1", "--output",
                                         self.path("o.npz")], limits=address_space)
            if code == 0:
                break
            if code not in (127, -signal.SIGSEGV) and (code, errors) != before_main:
                self.assertEqual((code, "out of memory" in errors), (5, True), (kilobytes, errors))
        self.assertEqual(code, 0)

    def test_json_is_written_as_it_is_made(self):
        program = self.file("w.hlo", WIDE.replace("SIZE", "1000000"))
        code, errors, _, small, _ = usage_of(["run", self.file("c.hlo", CONSTANT), "--json"])
        self.assertEqual(code, 0, errors)
        code, errors, _, size, _ = usage_of(["run", program, "--json"])
        self.assertEqual(code, 0, errors)
        self.assertLess(size - small, 40 << 20)  # the text has 19 MB, the values 8 and as many before them

    # ---- time, and Ctrl-C ----

    # What is said where a poll saw it, and what where the process was made to end.
    def assert_ends(self, args, limit, cpus=4, **options):
        code, errors, cpu, _, seconds = usage_of([*args, "--timeout", str(limit)], **options)
        self.assertEqual(code, 5, (args, errors))
        self.assertIn(f"timeout after {limit} seconds (--timeout)", errors)
        # Seconds of a processor, of which there may be less than one. Without the
        # limit each takes 20 at least.
        self.assertLess(cpu, cpus, args)
        return errors

    def test_slow_work_ends_at_the_timeout(self):
        normal = self.file("n.hlo", NORMAL)
        tan = self.file("t.hlo", "HloModule m\nENTRY e {\n  i = f64[9000000] iota(), iota_dimension=0\n  ROOT r = f64[9000000] tan(i)\n}\n")
        for args in (("run", normal), ("run", normal, "--engine", "reference"),
                     ("run", tan, "--engine", "reference"),
                     ("run", tan, "--engine", "exact", "--crosscheck", "full")):
            self.assert_ends(args, 0.3)

    def test_inputs_and_output_end_at_the_timeout(self):
        program = self.file("m.hlo", LARGE.replace("u8[3000000000]", "f64[250000000]"))
        self.assert_ends(("run", program, "--random-inputs", "1"), 0.3)
        wide = self.file("w.hlo", WIDE.replace("SIZE", "30000000"))
        self.assert_ends(("run", wide, "--json"), 0.6)

    def test_waiting_ends_at_the_timeout(self):
        with subprocess.Popen(["sleep", "60"], stdout=subprocess.PIPE) as sleeper:
            code, errors, _, _, seconds = usage_of(["run", "-", "--timeout", "0.2"], stdin=sleeper.stdout)
            sleeper.kill()
        self.assertEqual(code, 5, errors)
        self.assertIn("timeout after 0.2 seconds (--timeout)", errors)
        self.assertLess(seconds, 20)

    def test_signals_end_slow_work(self):
        normal = self.file("n.hlo", NORMAL)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            code, errors, cpu, _, _ = usage_of(["run", normal, "--engine", "reference"],
                                               signals=[(0.3, number)])
            self.assertEqual(code, 5, (number, errors))
            self.assertIn("interrupted", errors)
            self.assertLess(cpu, 4)

    def test_nohup_is_respected(self):
        program = self.file("w.hlo", ENDLESS)
        def ignore():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        code, errors, *_ = usage_of(["run", program, "--timeout", "0.6"], signals=[(0.2, signal.SIGHUP)],
                                    limits=ignore)
        self.assertEqual(code, 5)
        self.assertIn("timeout", errors)

    def test_no_temporary_file_is_left(self):
        # The file grows while the signal comes: a second one ends the process where it is.
        program = self.file("w.hlo", WIDE.replace("f64[SIZE]", "u8[200000000]").replace("sqrt", "negate"))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            process = subprocess.Popen([ASSAY, "run", program, "--output", self.path("out.npz")],
                                       stderr=subprocess.PIPE)
            end = time.monotonic() + 50
            while process.poll() is None and not any(".tmp" in name for name in os.listdir(self.folder.name)):
                if time.monotonic() > end:
                    break
                time.sleep(0.005)
            process.send_signal(number)
            process.send_signal(number)
            _, errors = process.communicate(timeout=60)
            self.assertIn(process.returncode, (0, 5), errors)  # 0: it was as good as done
            self.assertEqual([name for name in os.listdir(self.folder.name) if ".tmp" in name], [], number)
            if os.path.exists(self.path("out.npz")):
                os.remove(self.path("out.npz"))

    # ---- no page is writable and executable ----

    def pages_after_a_dot(self, *flags, until):
        """The writable and executable mappings of a process that made a dot by `fast` and then iterates in a
        loop."""
        program = self.file("d.hlo", """HloModule m
c {
  p = (pred[], f32[512,512]) parameter(0)
  ROOT a = pred[] get-tuple-element(p), index=0
}
b {
  p = (pred[], f32[512,512]) parameter(0)
  a = pred[] get-tuple-element(p), index=0
  x = f32[512,512] get-tuple-element(p), index=1
  d = f32[512,512] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (pred[], f32[512,512]) tuple(a, d)
}
ENTRY e {
  t = pred[] constant(true)
  h = f32[] constant(0.5)
  x = f32[512,512] broadcast(h), dimensions={}
  s = (pred[], f32[512,512]) tuple(t, x)
  ROOT w = (pred[], f32[512,512]) while(s), condition=c, body=b
}
""")
        process = subprocess.Popen([ASSAY, "run", program, "--engine", "fast", "--crosscheck", "off", *flags],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        found, executable = [], 0
        end = time.monotonic() + until
        while time.monotonic() < end and not found:
            time.sleep(0.05)
            with open(f"/proc/{process.pid}/maps") as maps:
                fields = [line.split() for line in maps]
            found = [f for f in fields if f[1].startswith("rwx")]
            executable = max(executable, sum(f[1].startswith("r-x") and len(f) == 5 for f in fields))
        self.assertIsNone(process.poll())
        return found, executable

    def test_no_page_is_writable_and_executable(self):
        found, _ = self.pages_after_a_dot(until=1.5)
        self.assertEqual(found, [])
        dot = self.file("p.hlo", """HloModule m
ENTRY e {
  x = f32[512,512] parameter(0)
  ROOT d = f32[512,512] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
""")
        plan = self.expect(0, "plan", dot, "--engine", "fast", "--allow-rwx").stdout.decode()
        self.assertNotIn("onednn", self.expect(0, "plan", dot, "--engine", "fast").stdout.decode())
        if "can't be loaded" not in plan:
            self.assertIn("onednn", plan)
            found, _ = self.pages_after_a_dot("--allow-rwx", until=30)
            self.assertNotEqual(found, [])  # what the first half looks for can be seen


if __name__ == "__main__":
    unittest.main()
