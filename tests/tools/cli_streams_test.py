#!/usr/bin/env python3
"""Standard streams, output files and names that make trouble. Usage: cli_streams_test.py ASSAY"""
import os
import resource
import signal
import subprocess
import time
import unittest

from cli_testing import ADD, ASSAY, CONSTANT, CliCase, floats

PRINTS = """func.func @main() -> tensor<2xf32> {
  %x = stablehlo.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %y = interpreter.print %x : tensor<2xf32>
  return %y : tensor<2xf32>
}
"""
OUTFEED = """HloModule m
ENTRY e {
  t = token[] after-all()
  x = f32[1] constant({4})
  o = token[] outfeed(x, t), outfeed_shape=f32[1]
  ROOT r = f32[1] negate(x)
}
"""
LOST = b"assay: error: standard output could not be written\n"


class Streams(CliCase):
    def shell(self, text, *args):
        return subprocess.run(["sh", "-c", text, ASSAY, *args], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60)

    # ---- standard output ----

    def test_every_command_says_that_standard_output_is_lost(self):
        program, out, other = self.file("c.hlo", CONSTANT), self.npz("o.npz", out0=floats(1, 2)), self.npz(
            "p.npz", out0=floats(1, 3))
        good = "// oracle: assay\n// out0: f32[2] {1, 2.5}\n" + CONSTANT
        wrong = good.replace("out0: f32[2] {1, 2.5}", "out0: f32[2] {1, 3}")
        golden, failing = self.file("g.hlo", good), self.path("f.hlo")
        for args in (("run", program), ("run", program, "--json"), ("print", program),
                     ("print", program, "--to", "pb"), ("plan", program),
                     ("bench", program), ("bench", program, "--json"), ("ops",), ("ops", "add"),
                     ("diff", out, out), ("diff", out, other),
                     ("golden", "record", program), ("golden", "check", golden), ("golden", "check", failing),
                     ("golden", "check", self.path("none"), golden), ("golden", "update", failing),
                     ("--help",), ("--version",),
                     ("run", "--help"), ("golden", "check", "--help"), ("run", self.file("p.mlir", PRINTS)),
                     ("run", self.file("p.mlir", PRINTS), "--output", self.path("out.npz"))):
            for redirection in ("> /dev/full", ">&-"):
                self.file("f.hlo", wrong)  # update mends it
                result = self.shell(f'"$0" "$@" {redirection}', *args)
                self.assertEqual(result.returncode, 5, (args, redirection))
                self.assertEqual(result.stderr.count(LOST), 1, (args, redirection, result.stderr))
        self.assertFalse(os.path.exists(self.path("out.npz")))

    def test_a_reader_that_leaves_is_no_signal(self):
        program = self.file("b.hlo", "HloModule m\nENTRY e {\n  ROOT i = s32[100000] iota(), iota_dimension=0\n}\n")
        with subprocess.Popen([ASSAY, "run", program, "--json"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdout.read(1)
            process.stdout.close()
            self.assertEqual((process.stderr.read(), process.wait(timeout=60)), (LOST, 5))

    def test_no_file_gets_a_closed_streams_number(self):
        """What is meant for a closed stream would go to the first file that is opened, by its number 0,
        1 or 2."""
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        for stream in (0, 1, 2):
            with subprocess.Popen([ASSAY, "run", fifo], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, preexec_fn=lambda: os.close(stream)) as process:
                with open(fifo, "wb") as program:  # once the other side has it open
                    self.assertEqual(os.readlink(f"/proc/{process.pid}/fd/{stream}"), "/dev/null")
                    program.write(CONSTANT.encode())
                self.assertEqual(process.wait(timeout=60), 5 if stream == 1 else 0)
        self.assertEqual(self.shell('"$0" run - <&-').returncode, 5)

    # ---- files ----

    def test_a_file_that_may_not_grow(self):
        program = self.file("b.hlo", "HloModule m\nENTRY e {\n  ROOT i = s32[100000] iota(), iota_dimension=0\n}\n")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        self.expect(5, "run", program, "--output", self.path("o.npz"), preexec_fn=limit,
                    error="o.npz: error: can't write: File too large")
        with open(self.path("o.txt"), "wb") as out:
            self.expect(5, "run", program, "--json", preexec_fn=limit, stdout=out, error=LOST.decode())
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["b.hlo", "o.txt"])

    def test_a_link_to_nothing_gets_a_whole_file_or_none(self):
        program = self.file("b.hlo", "HloModule m\nENTRY e {\n  ROOT i = s32[100000] iota(), iota_dimension=0\n}\n")
        os.mkdir(self.path("folder"))
        os.symlink("folder/second", self.path("first"))
        os.symlink("../real.npz", self.path("folder/second"))
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        self.expect(5, "run", program, "--output", self.path("first"), preexec_fn=limit,
                    error="File too large")
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["b.hlo", "first", "folder"])
        self.expect(0, "run", program, "--output", self.path("first"))
        self.assertEqual(list(self.read_npz(self.path("real.npz"))), ["out0.npy"])
        self.assertTrue(os.path.islink(self.path("first")) and os.path.islink(self.path("folder/second")))

    def test_waiting_for_input_can_be_interrupted(self):
        program = self.file("a.hlo", ADD)
        for args in (("run", "-"), ("verify", "-"), ("run", program, "--inputs", "-"),
                     ("golden", "check", "-")):
            process = subprocess.Popen([ASSAY, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=10), 5, args)
            self.assertIn(b"nterrupted", process.stderr.read())
            process.stdin.close()
            process.stdout.close()
            process.stderr.close()

    def test_threads_that_cannot_be_had(self):
        program = self.file("d.hlo", "HloModule m\nENTRY e {\n  x = f32[500,500] parameter(0)\n  ROOT d = f32[500,500] dot(x, x), "
                                     "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n")
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        for name, flags, options in (("1", (), {}), ("2", ("--jobs", "1024"), {"preexec_fn": limit})):
            self.expect(0, "run", program, "--random-inputs", "1", "--output", self.path(name), *flags,
                        **options)
        self.assertEqual(self.read_npz(self.path("1")), self.read_npz(self.path("2")))

    def test_a_small_stack(self):
        nested = "(" * 500 + "f32[]" + ")" * 500
        calls = "k0 {\n  ROOT p = f32[] parameter(0)\n}\n" + "".join(
            f"k{i} {{\n  p = f32[] parameter(0)\n  ROOT r = f32[] call(p), to_apply=k{i - 1}\n}}\n"
            for i in range(1, 1000))
        limit = lambda: resource.setrlimit(resource.RLIMIT_STACK, (128 << 10, 128 << 10))
        for name, text in (("nested", f"HloModule m\nENTRY e {{\n  ROOT p = {nested} parameter(0)\n}}\n"),
                           ("calls", f"HloModule m\n{calls}ENTRY e {{\n  p = f32[] parameter(0)\n"
                                     "  ROOT r = f32[] call(p), to_apply=k999\n}\n")):
            for engine in ("exact", "reference"):
                self.expect(0, "run", self.file(name, text), "--random-inputs", "1", "--engine", engine,
                            preexec_fn=limit)

    def test_two_outputs_need_two_files(self):
        program, out = self.file("c.hlo", CONSTANT), self.path("out")
        os.mkdir(self.path("folder"))
        for other in (out, self.path("folder/../out"), self.path("./out")):
            self.expect(2, "run", program, "--output", out, "--trace", other,
                        error="--output and --trace are one file")
        self.assertFalse(os.path.exists(out))
        self.expect(0, "run", program, "--output", out, "--trace", self.path("trace"))
        os.symlink("out", self.path("link"))
        self.expect(2, "run", program, "--output", out, "--trace", self.path("link"))
        self.expect(0, "run", program, "--output", "/dev/null", "--trace", "/dev/null")

    def test_standard_input_is_read_once(self):
        npz = self.npz("in.npz", arg0=floats(1, 2))
        with open(npz, "rb") as data:
            self.expect(0, "run", self.file("a.hlo", ADD), "--inputs", "-", stdin=data, output="[2. 4.]")
        for args in (("run", "-", "--inputs", "-"), ("bench", "-", "--inputs", "-"),
                     ("golden", "record", "-", "--inputs", "-"),
                     ("diff", "-", "-"), ("diff", "-", "--actual", "-"),
                     ("diff", npz, "--actual", "-", "--inputs", "-"), ("golden", "check", "-", "-")):
            self.expect(2, *args, input=CONSTANT.encode(), error="standard input ('-') can be read once")
        golden = f"// oracle: assay\n// out0: f32[2] {{1, 2}}\n{CONSTANT}".encode()
        self.expect(1, "golden", "check", "-", input=golden, output="0 passed, 1 failed")
        self.expect(2, "golden", "update", "-", input=golden, error="standard input ('-') can't be updated",
                    cwd=self.folder.name)
        self.assertFalse(os.path.exists(self.path("-")))

    # ---- names ----

    def test_arguments_cannot_move_the_cursor(self):
        program = self.file("c.hlo", CONSTANT)
        evil = b"\x1b[2J\xff"
        for args in ((evil,), ("run", program, b"--" + evil), ("run", program, evil),
                     ("run", program, "--engine", evil),
                     ("run", program, "--timeout", evil), ("print", program, "--to", evil), ("ops", evil),
                     ("golden", evil)):
            message = self.expect(2, *args, error="\\x1b[2J\\xff").stderr
            self.assertNotIn(b"\x1b", message)
        add = self.file(evil + b".hlo", ADD)
        self.assertNotIn(b"\x1b", self.expect(2, "run", add, error="takes inputs").stderr)
        out = self.npz("o.npz", **{"\x1b[2J": floats(1)})
        for args in ((out, self.npz("p.npz", out0=floats(1))), (self.path("p.npz"), out),
                     (out, self.npz("q.npz", **{"\x1b[2J": floats(2)}))):
            self.assertNotIn(b"\x1b", self.expect(1, "diff", *args, output="\\x1b[2J: ").stdout)

    def test_an_unknown_command_of_golden_is_named(self):
        self.expect(2, "golden", "fly", error="unknown command 'golden fly'; see assay golden --help")
        self.expect(0, "golden", "--help", output="record")

    # ---- diff ----

    def test_diff_compares_what_run_writes(self):
        program, out = self.file("f.hlo", OUTFEED), self.path("out.npz")
        self.expect(0, "run", program, "--output", out)
        self.expect(0, "diff", program, "--actual", out, output="outfeed0: value: 1 element, all equal")
        self.expect(1, "diff", program, "--actual",
                    self.npz("wrong.npz", out0=floats(-4), outfeed0=floats(5)), output="outfeed0: ")
        # a backend that shows no outfeed
        self.expect(0, "diff", program, "--actual", self.npz("only.npz", out0=floats(-4)))

    def test_diff_takes_a_lone_array_for_out0(self):
        program, npz, npy = self.file("c.hlo", CONSTANT), self.npz("o.npz", out0=floats(1, 2.5)), self.file(
            "o.npy", floats(1, 2.5))
        for args in ((npy, npz), (npz, npy), (npy, npy), (program, "--actual", npy)):
            self.expect(0, "diff", *args, output="out0: value: 2 elements, all equal")
        self.expect(1, "diff", npz, self.file("w.npy", floats(1, 2)), output="out0: ")


if __name__ == "__main__":
    unittest.main()
