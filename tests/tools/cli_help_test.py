#!/usr/bin/env python3
"""assay help, the manual page and the completions of shells.
Usage: cli_help_test.py ASSAY"""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from cli_testing import CliCase

TOPICS = pathlib.Path(__file__).resolve().parents[2] / "tools" / "topics"
COMMANDS = ("run", "verify", "print", "plan", "bench", "audit", "diff", "bisect", "replay", "golden check",
            "golden update", "golden record", "profile show", "profile measure", "conformance make", "ops",
            "reduce", "fuzz", "doctor", "help")


class Help(CliCase):

    def output(self, *args):
        return self.expect(0, *args).stdout.decode()

    def flags_of(self, command):
        return set(re.findall(r"(?<![\w-])--[a-z][\w-]*", self.output(*command.split(), "--help")))

    def test_every_topic_is_listed_and_told(self):
        overview = self.output("help")
        files = sorted(TOPICS.glob("*.txt"))
        self.assertGreater(len(files), 9)
        for file in files:
            summary, _, text = file.read_text().partition("\n")
            self.assertRegex(overview, rf"(?m)^  {file.stem} +{re.escape(summary)}$")
            self.assertEqual(self.output("help", file.stem), f"{summary}\n\n{text}")

    def test_topics_name_flags_that_there_are(self):
        known = set().union(*(self.flags_of(command) for command in COMMANDS), self.flags_of(""))
        for file in TOPICS.glob("*.txt"):
            for line in file.read_text().splitlines():
                if "XLA_FLAGS" in line or "--xla_dump" in line or line.lstrip().startswith("pip"):
                    continue
                for flag in re.findall(r"(?<![\w-])--[a-z][\w-]*", line):
                    self.assertIn(flag, known, f"{file.name}: {line}")

    def test_topics_name_topics_and_commands_that_there_are(self):
        for file in TOPICS.glob("*.txt"):
            for name in re.findall(r"assay help ([a-z][\w-]*)", file.read_text()):
                self.output("help", name)
            for name in re.findall(r"\bassay ([a-z][\w-]*)", file.read_text()):
                self.assertIn(name, {command.split()[0] for command in COMMANDS}, file.name)

    def test_who_knows_nothing_is_told_of_help(self):
        self.expect(2, error="see assay help and assay COMMAND --help")
        self.assertIn("assay help tells of topics", self.output("--help"))

    def test_help_of_commands(self):
        for command in COMMANDS:
            self.assertEqual(self.output("help", *command.split()), self.output(*command.split(), "--help"))
            self.assertRegex(self.output("help"), rf"(?m)^  {command} ")

    def test_help_of_flags(self):
        text = self.output("help", "random-inputs")
        self.assertTrue(text.startswith("--random-inputs VALUE\n  generate arguments from this seed\n  of: "))
        self.assertIn("run", text)
        # What commands say differently of one flag is told for each.
        self.assertEqual(self.output("help", "profile").count("of: "), 0)  # the command of this name
        self.assertGreater(self.output("help", "json").count("of: "), 3)

    def test_help_of_operations_and_rules(self):
        self.assertEqual(self.output("help", "gather"), self.output("ops", "gather"))
        self.assertEqual(self.output("help", "Gather-C4"), self.output("ops", "Gather-C4"))
        self.assertEqual(self.output("help", "lapack_sgesdd_ffi"), self.output("ops", "lapack_sgesdd_ffi"))

    def test_help_of_what_is_not_known(self):
        self.expect(2, "help", "egnines", error="rule 'egnines'; did you mean 'engines'?")
        self.expect(2, "help", "golden", "chekc", error="'golden chekc'; did you mean 'golden check'?")
        self.expect(2, "help", "random-input", error="did you mean 'random-inputs'?")
        self.expect(2, "help", "xyzzy", error="rule 'xyzzy'; see assay help")
        self.expect(2, "help", "run", "--man", error="--man")
        self.expect(2, "help", "--completion", "fish", error="--completion: fish not in {bash,zsh}")


class Shells(CliCase):

    def made(self, *flags):
        return self.expect(0, "help", *flags).stdout.decode()

    def test_man_page_has_every_command_flag_and_topic(self):
        page = self.made("--man").replace("\\-", "-")
        self.assertTrue(page.startswith(".TH ASSAY 1 "))
        for command in COMMANDS:
            self.assertIn(f".SS assay {command}\n", page)
            section = page.split(f".SS assay {command}\n")[1].split("\n.S")[0]
            text = self.expect(0, *command.split(), "--help").stdout.decode()
            for flag in re.findall(r"(?m)^  (?:-\w,)?(--[a-z][\w-]*)", text.split("Old names")[0]):
                self.assertRegex(section, rf"(?m)^\.B .*{flag}\b", command)
        for file in TOPICS.glob("*.txt"):
            self.assertIn(f".SH {file.stem.upper()}\n", page)

    def test_man_page_is_without_warnings(self):
        groff = shutil.which("groff") or self.skipTest("groff is not installed")
        done = subprocess.run([groff, "-ww", "-man", "-Tutf8", "-rLL=110n"],
                              input=self.made("--man").encode(), capture_output=True, timeout=60)
        self.assertEqual(done.stderr.decode(), "")
        shown = re.sub(r"\x1b\[[\d;]*m|.\x08", "", done.stdout.decode())
        self.assertIn("--engine {exact|reference|fast|gpu|gpu-fast}", shown)
        self.assertIn("np.savez(\"in.npz\", arg0=x, arg1=y)", shown)

    def bash(self, *words):
        script = self.file("assay.bash", self.made("--completion", "bash"))
        quoted = " ".join(f"'{word}'" for word in words)
        done = subprocess.run(
            ["bash", "-c", f"source {script}; COMP_WORDS=(assay {quoted}); COMP_CWORD={len(words)}; _assay; "
             'echo "${COMPREPLY[@]}"'], capture_output=True, timeout=60)
        self.assertEqual(done.stderr.decode(), "")
        return done.stdout.decode().split()

    def test_bash(self):
        self.assertEqual(self.bash("ver"), ["verify"])
        self.assertEqual(self.bash("golden", ""), ["check", "update", "record"])
        engines = ["exact", "reference", "fast", "gpu", "gpu-fast"]
        self.assertEqual(self.bash("run", "p.hlo", "--engine", ""), engines)
        self.assertEqual(self.bash("run", "p.hlo", "--engine", "fast", "--ran"), ["--random-inputs"])
        self.assertEqual(self.bash("golden", "check", "x", "--act"), ["--actual"])
        self.assertEqual(self.bash("diff", "p.hlo", "--profile", "xla-g"), ["xla-gpu", "xla-gpu-tf32"])
        self.assertEqual(self.bash("ops", "gath"), ["gather"])
        self.assertEqual(self.bash("help", "exit"), ["exit-codes"])
        # Files: left to the shell.
        self.assertEqual(self.bash("run", "p.hl"), [])
        self.assertEqual(self.bash("run", "p.hlo", "--inputs", "--"), [])
        self.assertEqual(self.bash("--ver"), ["--version"])

    def test_zsh(self):
        zsh = shutil.which("zsh") or self.skipTest("zsh is not installed")
        os.mkdir(self.path("site"))
        self.file("site/_assay", self.made("--completion", "zsh"))
        # What zsh's own functions show for a line, by a terminal of its own.
        driver = self.file("driver.zsh", r"""
zmodload zsh/zpty
zpty -b shell zsh -f -i
zpty -w shell "PS1=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; bindkey -e"
zpty -w shell "compadd() { local -a found; builtin compadd -O found \"\$@\"
  print -rl -- \"<\"\$^found\">\" >> $1/found; builtin compadd \"\$@\" }; print rea\"\"dy"
out=
repeat 200 { sleep 0.1; while zpty -r -t shell line; do out+=$line; done; [[ $out == *ready* ]] && break }
zpty -w -n shell "$2"$'\t'
repeat 200 { sleep 0.1; while zpty -r -t shell line; do out+=$line; done; [[ -s $1/found ]] && break }
sleep 0.3
zpty -d shell
""")

        def shown(line):
            (pathlib.Path(self.path("site")) / "found").write_text("")
            subprocess.run([zsh, "-f", driver, self.path("site"), line], timeout=60, check=True,
                           capture_output=True, env=dict(os.environ, TERM="xterm"))
            return set(re.findall(r"<(.*)>", (pathlib.Path(self.path("site")) / "found").read_text()))

        self.assertLessEqual({"run", "verify", "golden", "help"}, shown("assay "))
        self.assertLessEqual({"exact", "reference", "fast", "gpu", "gpu-fast"},
                             shown("assay run p.hlo --engine "))
        self.assertIn("--random-inputs", shown("assay run --ra"))
        self.assertLessEqual({"check", "record", "update"}, shown("assay golden "))
        self.assertIn("--actual", shown("assay golden check --ac"))
        self.assertIn("gather", shown("assay ops gath"))


if __name__ == "__main__":
    unittest.main()
