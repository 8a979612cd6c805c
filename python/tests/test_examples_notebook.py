"""examples/bug/is_it_a_bug.ipynb: run as Jupyter runs it, it prints what the notebook has stored. That is
written anew by `python test_examples_notebook.py --update`, for somebody to read."""

import os
import pathlib
import sys
import tempfile

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "examples" / "bug" / "is_it_a_bug.ipynb"
ASSAY = os.environ.get("ASSAY", str(ROOT / "build" / "dev" / "tools" / "assay"))


def executed(folder):
    """The notebook after a run in a kernel of this Python, whose first `assay` is the command under test."""
    (folder / "bin").mkdir()
    (folder / "bin" / "assay").symlink_to(os.path.abspath(ASSAY))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=200, kernel_name="python3",
                                     resources={"metadata": {"path": str(NOTEBOOK.parent)}})
    path = f"{folder}/bin:{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
    client.execute(env={**os.environ, "PATH": path, "IPYTHONDIR": str(folder / "ipython")})
    return notebook


def shown(notebook):
    """What each cell of code prints, and its last expression."""
    texts = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            texts.append([output.text if output.output_type == "stream" else output.data["text/plain"]
                          for output in cell.outputs])
    return texts


def test_cells_print_what_is_stored(tmp_path):
    pytest.importorskip("jax")
    if not os.access(ASSAY, os.X_OK):
        pytest.skip(f"{ASSAY} is not built (ASSAY names the command)")
    stored = shown(nbformat.read(NOTEBOOK, as_version=4))
    assert shown(executed(tmp_path)) == stored
    assert any("first wrong instruction" in text for texts in stored for text in texts)


def update():
    with tempfile.TemporaryDirectory() as folder:
        notebook = executed(pathlib.Path(folder))
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # the times of this run
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.write(notebook, NOTEBOOK)


if __name__ == "__main__" and "--update" in sys.argv:
    update()
