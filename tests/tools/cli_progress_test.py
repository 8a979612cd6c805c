#!/usr/bin/env python3
"""What is shown on standard error while a command takes long: on a terminal alone. Usage:
cli_progress_test.py ASSAY"""
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

from cli_testing import ASSAY, ENDLESS, CliCase

GOLDEN = "// oracle: hand\n// out0: pred[] 0\n// options: --timeout 1\n" + ENDLESS


class Progress(CliCase):

    def on_terminal(self, *args, columns=80, term="xterm", signal_after=None):
        """What the command writes to a terminal that is its standard error, and its exit code."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([ASSAY, *args], stdout=subprocess.PIPE, stderr=theirs,
                                   env=dict(os.environ, TERM=term))
        os.close(theirs)
        written, start = b"", time.monotonic()
        while time.monotonic() - start < 50:
            if signal_after and time.monotonic() - start > signal_after:
                process.send_signal(signal.SIGINT)
                signal_after = None
            if not select.select([ours], [], [], 0.1)[0]:
                continue
            try:
                data = os.read(ours, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not data:
                break
            written += data
        os.close(ours)
        process.stdout.read()
        process.stdout.close()
        return written.decode().replace("\r\n", "\n"), process.wait(timeout=10)

    def endless(self):
        return self.file("e.hlo", ENDLESS)

    def test_a_run_shows_its_steps_and_time(self):
        text, code = self.on_terminal("run", self.endless(), "--timeout", "2.2")
        self.assertEqual(code, 5)
        self.assertRegex(text, r"\r\x1b\[Ksteps \[-{20}\] 0 of \d+, 1\.\d s")
        self.assertRegex(text, r"0 of \d+, 2\.\d s")
        # The line is gone before the message, and the message is the last thing.
        self.assertRegex(text, r"\r\x1b\[K[^\r]*e\.hlo[^\r]*error: .*timeout after 2.2 seconds[^\r]*\n")
        self.assertNotIn("\r", text[text.rindex("error:"):])

    def test_nothing_within_a_second(self):
        text, _ = self.on_terminal("run", self.endless(), "--timeout", "0.7")
        self.assertNotIn("\x1b", text)
        self.assertNotIn("steps [", text)

    def test_goldens_are_counted(self):
        folder = pathlib.Path(self.path("goldens"))
        folder.mkdir()
        for k in range(4):
            (folder / f"g{k}.hlo").write_text(GOLDEN)
        text, _ = self.on_terminal("golden", "check", str(folder))
        counts = [int(count) for count in re.findall(r"goldens \[#*-*\] (\d) of 4", text)]
        self.assertEqual(counts, sorted(counts))
        self.assertGreaterEqual(len(set(counts)), 2)
        self.assertRegex(text, r"\d of 4, \d\.\d s, \d+ s left")
        bar = re.search(r"goldens \[(#+)-+\] (\d) of 4", text)
        self.assertEqual(len(bar[1]), 20 * int(bar[2]) // 4)

    def test_quiet_pipes_and_dumb_terminals_have_nothing(self):
        limit = ("--timeout", "1.8")
        self.assertNotIn("\x1b", self.on_terminal("run", self.endless(), "--quiet", *limit)[0])
        self.assertNotIn("steps", self.on_terminal("run", self.endless(), *limit, term="dumb")[0])
        message = self.expect(5, "run", self.endless(), *limit, error="timeout").stderr.decode()
        self.assertNotIn("steps", message)
        self.assertNotIn("\x1b", message)

    def test_narrow_terminals_get_one_line(self):
        text, _ = self.on_terminal("run", self.endless(), "--timeout", "1.8", columns=30)
        frames = re.findall(r"\x1b\[K(steps[^\r\n]*)", text)
        self.assertTrue(frames)
        self.assertLess(max(map(len, frames)), 30)

    def test_an_interrupted_command_leaves_no_line(self):
        text, code = self.on_terminal("run", self.endless(), signal_after=1.6)
        self.assertEqual(code, 5)
        self.assertIn("steps [", text)
        self.assertRegex(text, r"\r\x1b\[K[^\r]*error: interrupted[^\r]*\n$")

    def test_a_backend_is_waited_for(self):
        text, code = self.on_terminal(
            "diff", self.file("c.hlo", "HloModule m\nENTRY e {\n  ROOT c = f32[2] constant({1, 2})\n}\n"),
            "--backend", "sleep 1.7; false {program} {inputs} {outputs}")
        self.assertEqual(code, 5)
        self.assertRegex(text, r"working, 1\.\d s")


if __name__ == "__main__":
    unittest.main()
