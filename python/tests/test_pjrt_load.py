"""What the plugin checks when JAX loads it: JAX's version, and the library."""

import logging

import pytest

jax = pytest.importorskip("jax")
import assay.jax_plugin as plugin  # noqa: E402


def library(tmp_path, source):
    import shutil
    import subprocess

    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no compiler")
    (tmp_path / "plugin.c").write_text(source)
    made = tmp_path / "plugin.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(made), str(tmp_path / "plugin.c")], check=True)
    return made


TABLE = """
#include <stddef.h>
static struct { size_t size; void* extensions; size_t version_size; void* more; int major, minor; }
    api = {%d, 0, 24, 0, %d, %d};
void* GetPjrtApi(void) { return &api; }
"""


@pytest.mark.parametrize("source, message", [
    ("int x;", "is not a PJRT plugin"),
    ("void* GetPjrtApi(void) { return 0; }", "has no table of PJRT's C API"),
    (TABLE % (16, 0, 76), "has no table of PJRT's C API"),
    (TABLE % (48, 0, 54), "has version 0.54 of PJRT's C API, want 0.76"),
    (TABLE % (48, 1, 76), "has version 1.76 of PJRT's C API, want 0.76"),
    (TABLE % (48, 0, 76), "is another plugin than Assay's"),
])
def test_libraries_that_are_not_the_plugin(tmp_path, source, message):
    with pytest.raises(ImportError, match=message):
        plugin.initialize(library(tmp_path, source))


def test_a_file_that_is_no_library(tmp_path):
    (tmp_path / "plugin.so").write_text("text")
    with pytest.raises(ImportError, match="is not a PJRT plugin"):
        plugin.initialize(tmp_path / "plugin.so")


def test_versions_of_jax(monkeypatch, caplog):
    monkeypatch.setattr(jax, "__version_info__", (0, 7, 2))
    with pytest.raises(ImportError, match="is older than 0.8, the oldest that the plugin works with"):
        plugin.initialize()
    monkeypatch.setattr(jax, "__version_info__", (0, 99, 0))
    with caplog.at_level(logging.WARNING):
        plugin._check_jax()
    assert "is newer than 0.12, the newest that the plugin was tested with" in caplog.text
