#!/usr/bin/env python3
"""tools/make_sbom: the document has all that the dynamic linker loads with the shipped files, and what is
linked statically; each part has a version and a licence. Usage: make_sbom_test.py BUILD_FOLDER"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
if not all(shutil.which(tool) for tool in ("dpkg", "ninja", "ldd")):
    sys.exit(77)


def printed(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


class Sbom(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = cls.written()
        cls.document = json.loads(cls.text)
        cls.parts = {part["bom-ref"]: part for part in cls.document["components"]}

    @staticmethod
    def written():
        return subprocess.run([ROOT / "tools/make_sbom", "--build", BUILD], check=True,
                              capture_output=True).stdout

    def test_equal_builds_give_equal_bytes(self):
        self.assertEqual(self.written(), self.text)

    def test_each_part_has_a_version_and_a_licence(self):
        for part in self.parts.values():
            self.assertTrue(part["version"], part)
            self.assertTrue(part["licenses"], part)

    def test_references_are_of_parts(self):
        known = set(self.parts) | {self.document["metadata"]["component"]["bom-ref"]}
        for dependency in self.document["dependencies"]:
            self.assertLessEqual({dependency["ref"], *dependency["dependsOn"]}, known)
        used = {ref for dependency in self.document["dependencies"] for ref in dependency["dependsOn"]}
        self.assertEqual(used, set(self.parts))

    def loaded(self, path):
        """Debian's packages of what `ldd` finds."""
        for line in printed("ldd", path).splitlines():
            if "=> /" not in line:
                continue
            library = os.path.realpath(line.split("=> ")[1].split()[0])
            names = (library, library.replace("/usr/lib/", "/lib/"))
            found = [printed("dpkg", "-S", name) for name in names]
            self.assertTrue(any(found), f"no package has {library}")
            yield "".join(found).split(":")[0]

    def test_what_the_dynamic_linker_loads_is_there(self):
        names = {part["name"] for part in self.parts.values()}
        for path in ("tools/assay", "pjrt/libpjrt_assay.so"):
            # What the system's own libraries load is theirs.
            self.assertLessEqual(set(self.loaded(BUILD / path)) - {"zlib1g"}, names)

    def test_what_is_linked_statically_is_there(self):
        static = {part["name"] for part in self.parts.values()
                  if {"name": "assay:linkage", "value": "static"} in part.get("properties", [])}
        with open(BUILD / "CMakeCache.txt", encoding="utf-8") as cache:
            if "ASSAY_STATIC:BOOL=ON" in cache.read():
                self.assertLessEqual({"libgmp-dev", "libmpfr-dev", "libmpc-dev", "libabsl-dev"}, static)

    def test_digests_are_those_of_the_files(self):
        digests = {part["name"]: part["hashes"][0]["content"] for part in self.parts.values()
                   if part["type"] == "file"}
        for path in ("tools/assay", "pjrt/libpjrt_assay.so"):
            self.assertEqual(digests[os.path.basename(path)], printed("sha256sum", BUILD / path).split()[0])


if __name__ == "__main__":
    unittest.main()
