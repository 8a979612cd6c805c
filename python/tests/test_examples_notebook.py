"""examples/bug/is_it_a_bug.ipynb: its cells run in order and print what the notebook has stored. That is
written anew by `python test_examples_notebook.py --update`, for somebody to read."""

import ast
import contextlib
import io
import json
import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "examples" / "bug" / "is_it_a_bug.ipynb"
ASSAY = os.environ.get("ASSAY", str(ROOT / "build" / "dev" / "tools" / "assay"))


def run_cells(notebook, folder):
    """What each cell of code prints, or shows as its last expression; `assay` is a link in the folder."""
    (folder / "bin").mkdir()
    (folder / "bin" / "assay").symlink_to(os.path.abspath(ASSAY))
    before = os.getcwd(), os.environ["PATH"]
    os.chdir(NOTEBOOK.parent)
    os.environ["PATH"] = f"{folder}/bin:{os.path.dirname(sys.executable)}:{before[1]}"
    names, shown = {}, []
    try:
        for cell in notebook["cells"]:
            if cell["cell_type"] != "code":
                continue
            tree = ast.parse("".join(cell["source"]))
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(tree, "cell", "exec"), names)
                value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None
            shown.append(printed.getvalue() + (f"{value!r}\n" if value is not None else ""))
    finally:
        os.chdir(before[0])
        os.environ["PATH"] = before[1]
    return shown


def stored(notebook):
    return ["".join("".join(output["text"]) for output in cell["outputs"])
            for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_cells_print_what_is_stored(tmp_path):
    pytest.importorskip("jax")
    if not os.access(ASSAY, os.X_OK):
        pytest.skip(f"{ASSAY} is not built (ASSAY names the command)")
    notebook = json.loads(NOTEBOOK.read_text())
    assert run_cells(notebook, tmp_path) == stored(notebook)
    assert any("first wrong instruction" in text for text in stored(notebook))


def update():
    import tempfile

    notebook = json.loads(NOTEBOOK.read_text())
    with tempfile.TemporaryDirectory() as folder:
        shown = run_cells(notebook, pathlib.Path(folder))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for count, (cell, text) in enumerate(zip(code, shown), 1):
        cell["execution_count"] = count
        stream = {"name": "stdout", "output_type": "stream", "text": text.splitlines(True)}
        cell["outputs"] = [stream] if text else []
    NOTEBOOK.write_text(json.dumps(notebook, indent=1) + "\n")


if __name__ == "__main__" and "--update" in sys.argv:
    update()
