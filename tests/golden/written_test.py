"""The scripts of golden/oracles touch only what they wrote (golden/oracles/written.py),
on a tree of its own."""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "golden" / "oracles"))
import written  # noqa: E402


class Tree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.golden = pathlib.Path(self.folder.name)
        (self.golden / "oracles").mkdir()
        (self.golden / "shape").mkdir()
        self.put("by_hand", "hand\n")

    def tearDown(self):
        self.folder.cleanup()

    def put(self, name, text):
        (self.golden / "shape" / f"{name}.hlo").write_text(text)

    def files(self):
        return {path.stem: path.read_text() for path in (self.golden / "shape").iterdir()}

    def run_script(self, dry_run=False, **texts):
        script = written.Script(self.golden / "oracles" / "make.py")
        for name, text in texts.items():
            script.write("shape", name, text)
        return script.finish(dry_run)

    def test_what_others_wrote_stays(self):
        self.assertEqual(self.run_script(a="1\n", b="2\n"), (2, 0))
        self.assertEqual(self.run_script(a="1\n", b="3\n"), (1, 0))
        self.assertEqual(self.files(), {"by_hand": "hand\n", "a": "1\n", "b": "3\n"})

    def test_what_is_no_longer_written_goes(self):
        self.run_script(a="1\n", b="2\n")
        self.assertEqual(self.run_script(dry_run=True, a="1\n"), (0, 1))
        self.assertEqual(self.files(), {"by_hand": "hand\n", "a": "1\n", "b": "2\n"})
        self.assertEqual(self.run_script(a="1\n"), (0, 1))
        self.assertEqual(self.files(), {"by_hand": "hand\n", "a": "1\n"})

    def test_what_was_deleted_by_hand_already_is_no_error(self):
        self.run_script(a="1\n", b="2\n")
        (self.golden / "shape" / "b.hlo").unlink()
        self.assertEqual(self.run_script(a="1\n"), (0, 0))
        self.assertEqual(self.files(), {"by_hand": "hand\n", "a": "1\n"})

    def test_a_script_writes_no_name_twice(self):
        script = written.Script(self.golden / "oracles" / "make.py")
        script.write("shape", "a", "1\n")
        with self.assertRaisesRegex(AssertionError, "shape/a.hlo"):
            script.write("shape", "a", "2\n")

    def refuses(self, message, **texts):
        before = self.files()
        with self.assertRaisesRegex(SystemExit, message):
            self.run_script(**texts)
        self.assertEqual(self.files(), before)

    def test_a_name_of_somebody_else_is_refused_before_anything_changes(self):
        self.refuses("shape/by_hand.hlo: not written by make.py", a="1\n", by_hand="4\n")

    def test_what_was_edited_by_hand_is_refused(self):
        self.run_script(a="1\n", b="2\n")
        self.put("a", "edited\n")
        self.refuses("shape/a.hlo: edited since make.py wrote it", a="1\n", b="5\n")
        self.refuses("shape/a.hlo: edited since make.py wrote it", b="2\n")  # nor deleted
        self.assertEqual(self.run_script(a="edited\n", b="2\n"), (0, 0))  # the script now says so too

    def test_rules_added_by_hand_are_no_edit_and_stay(self):
        self.run_script(a="// oracle: hand\n1\n", b="2\n")
        self.put("a", "// oracle: hand\n// rule: A-C1\n1\n")
        self.assertEqual(self.run_script(a="// oracle: hand\n1\n", b="2\n"), (0, 0))
        self.assertEqual(self.files()["a"], "// oracle: hand\n// rule: A-C1\n1\n")
        self.assertEqual(self.run_script(a="// oracle: hand\n3\n", b="2\n"), (1, 0))
        self.assertEqual(self.files()["a"], "// rule: A-C1\n// oracle: hand\n3\n")


class Lists(unittest.TestCase):
    def test_every_listed_golden_is_there_and_as_written(self):
        golden = pathlib.Path(written.__file__).resolve().parents[1]
        listed = {}
        for path in (golden / "oracles" / "written").glob("*.txt"):
            for line in path.read_text().splitlines():
                file, wanted = line.split()
                self.assertNotIn(file, listed)
                listed[file] = wanted
        self.assertGreater(len(listed), 2000)
        self.assertEqual([file for file, wanted in listed.items()
                          if not written.is_hash_of(wanted, (golden / file).read_text())], [],
                         "edited by hand: change the script that wrote it, or take it off its list")


if __name__ == "__main__":
    unittest.main()
