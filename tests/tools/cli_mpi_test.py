#!/usr/bin/env python3
"""Several processes by mpirun, from outside: where one of them fails, all end. Usage: cli_mpi_test.py ASSAY
FAILING_CALLS_LIBRARY"""
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

LIBRARY = os.path.abspath(sys.argv.pop(2))

from cli_testing import ASSAY, CliCase  # noqa: E402  (it reads the arguments)

TRANSPORT = os.path.join(os.path.dirname(ASSAY), "libassay_mpi.so")
if shutil.which("mpirun") is None or not os.path.exists(TRANSPORT):
    sys.exit(77)

ENDLESS = """HloModule m, replica_count=4
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
c {
  x = f32[2] parameter(0)
  ROOT t = pred[] constant(true)
}
b {
  x = f32[2] parameter(0)
  ROOT y = f32[2] all-reduce(x), replica_groups={}, to_apply=add
}
ENTRY e {
  x = f32[2] constant({1, 2})
  ROOT w = f32[2] while(x), condition=c, body=b
}
"""
ONCE = ENDLESS.replace("ROOT t = pred[] constant(true)", "ROOT t = pred[] constant(false)")


class Mpi(CliCase):
    """Four devices in two processes; the second process is the one with which something is wrong."""

    def start(self, program, *second):
        own = [ASSAY, "run", program]
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return subprocess.Popen(["mpirun", "--oversubscribe", "-n", "1", *own, ":", "-n", "1", *second, *own],
                                env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def processes_of(self, mpirun):
        """Those of `assay` that it started."""
        found = []
        for entry in os.listdir("/proc"):
            try:
                with open(f"/proc/{entry}/stat", encoding="ascii") as file:
                    if file.read().rsplit(")", 1)[1].split()[1] == str(mpirun.pid):
                        found.append(int(entry))
            except (OSError, IndexError):
                continue
        return found

    def end(self, mpirun, seconds=30):
        try:
            output, _ = mpirun.communicate(timeout=seconds)
        finally:
            mpirun.kill()
        return mpirun.returncode, output

    def test_a_run(self):
        code, output = self.end(self.start(self.file("p.hlo", ONCE)))
        self.assertEqual(code, 0, output)
        self.assertIn("[1. 2.]", output)

    def test_a_process_that_is_killed_ends_the_others(self):
        for number in (signal.SIGKILL, signal.SIGTERM):
            mpirun = self.start(self.file("p.hlo", ENDLESS))
            end = time.monotonic() + 20
            while len(self.processes_of(mpirun)) < 2 and time.monotonic() < end:
                time.sleep(0.05)
            time.sleep(1)  # all four devices at work
            processes = self.processes_of(mpirun)
            self.assertEqual(len(processes), 2)
            os.kill(processes[1], number)
            code, output = self.end(mpirun)
            self.assertNotEqual(code, 0)
            self.assertTrue(output.strip())
            end = time.monotonic() + 10
            while any(os.path.exists(f"/proc/{process}") for process in processes):
                self.assertLess(time.monotonic(), end, "a process is left")
                time.sleep(0.05)

    def test_a_process_without_threads_ends_the_others(self):
        if not os.path.exists(LIBRARY):
            self.skipTest("sanitizers have the functions themselves")
        # The transport's thread, one of MPI's own, which ends the process by itself, and a device's.
        codes = []
        for number in (1, 2, 4):
            fault = ["env", f"LD_PRELOAD={LIBRARY}", f"ASSAY_FAULT=thread:{number}:ever:11"]
            code, output = self.end(self.start(self.file("p.hlo", ENDLESS), *fault))
            self.assertIn("error", output)
            codes.append(code)
        self.assertEqual((codes[0], codes[2]), (5, 5))
        self.assertNotEqual(codes[1], 0)


if __name__ == "__main__":
    unittest.main()
