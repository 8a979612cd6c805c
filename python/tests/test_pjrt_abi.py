"""Our declarations of PJRT's C API against a header that a wheel ships: TensorFlow's has one
(include/xla/pjrt/c). It is an older version of the interface, which only grows; what is newer is left out."""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILER = shutil.which("g++") or shutil.which("c++")
# Structures that have another name here.
NAMES = {"ProgramCode": "Program"}


def header_folder():
    """The folder that "xla/pjrt/c/pjrt_c_api.h" is found in."""
    given = os.environ.get("PJRT_HEADER_FOLDER")
    found = importlib.util.find_spec("tensorflow")
    folders = [pathlib.Path(given)] if given else []
    if found is not None and found.origin:
        folders.append(pathlib.Path(found.origin).parent / "include")
    for folder in folders:
        if (folder / "xla/pjrt/c/pjrt_c_api.h").exists():
            return folder
    pytest.skip("no pjrt_c_api.h: install tensorflow-cpu, or name its folder include in PJRT_HEADER_FOLDER")
    return None


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def our_structs():
    """Name -> fields, as pjrt_api.h and extensions.h declare them."""
    structs = {}
    for file in ("pjrt_api.h", "extensions.h"):
        text = without_comments((ROOT / "pjrt" / file).read_text())
        for name, _, body in re.findall(r"ASSAY_PJRT_STRUCT\((\w+),\s*(\w+),(.*?)\)\n(?=\S|\n)", text, re.S):
            if name != "Name":
                body = re.sub(r"(union|struct) \{|\}", "", body)
                structs[name] = re.findall(r"(\w+)(?:\)\([^;]*\))?;", body)
    return structs


def their_structs(folder):
    structs = {}
    for file in sorted((folder / "xla/pjrt/c").glob("pjrt_c_api*.h")):
        if file.stem in ("pjrt_c_api", "pjrt_c_api_layouts_extension", "pjrt_c_api_ffi_extension"):
            text = without_comments(file.read_text())
            for name, body in re.findall(r"struct (PJRT_\w+) \{(.*?)\n\}", text, re.S):
                structs[re.sub("_", "", name.removeprefix("PJRT_"))] = (name, body)
    return structs


def test_structures_lie_as_in_the_header(tmp_path):
    theirs, ours = their_structs(header_folder()), our_structs()
    assert len(ours) > 90
    checks, newer = [], []
    for name, fields in ours.items():
        known = theirs.get(NAMES.get(name, name).replace("_", ""))
        if known is None:
            newer.append(name)
            continue
        their_name, body = known
        for field in fields:
            if re.search(rf"\b{field}\b", body) is None:
                assert name in ("LayoutsPJRTBufferMemoryLayoutArgs",), f"{name}.{field}"
            if field in ("type_id", "data") and name == "FFIUserDataAddArgs":
                continue
            checks.append(f"SAME({name}, {their_name}, {field})")
    # What JAX asks for since versions that this header does not have.
    assert set(newer) <= {"DeviceGetAttributesArgs", "LoadedExecutableAddressableDeviceLogicalIdsArgs"}, newer
    source = tmp_path / "abi.cc"
    source.write_text('#include <xla/pjrt/c/pjrt_c_api.h>\n#include <xla/pjrt/c/pjrt_c_api_layouts_extension.h>\n'
                      '#include <xla/pjrt/c/pjrt_c_api_ffi_extension.h>\n'
                      '#include "pjrt/plugin/extensions.h"\nnamespace a = assay::pjrt;\n'
                      '#define SAME(ours, theirs, field) \\\n'
                      '  static_assert(offsetof(a::ours, field) == offsetof(theirs, field) && '
                      'sizeof(a::ours::field) == sizeof(theirs::field));\n'
                      + "\n".join(checks)
                      + '\nstatic_assert(offsetof(a::Api, functions) == offsetof(PJRT_Api, PJRT_Error_Destroy));\n'
                      'static_assert(sizeof(a::Extension) == sizeof(PJRT_Extension_Base));\n')
    result = subprocess.run(
        [COMPILER, "-std=c++20", "-fsyntax-only", f"-I{ROOT}", f"-I{header_folder()}", source],
                            capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_the_table_has_the_headers_order():
    text = without_comments((header_folder() / "xla/pjrt/c/pjrt_c_api.h").read_text())
    theirs = re.findall(r"_PJRT_API_STRUCT_FIELD\(PJRT_(\w+)\)", text)
    ours = re.findall(r"^FUNCTION\((\w+)\)", (ROOT / "pjrt/plugin/pjrt_functions.def").read_text(), re.M)
    assert len(theirs) > 100 and ours[:len(theirs)] == theirs


def test_numbers_are_the_headers():
    text = without_comments((header_folder() / "xla/pjrt/c/pjrt_c_api.h").read_text())
    ours = (ROOT / "pjrt/plugin/pjrt_api.h").read_text()
    for prefix, enum in (("PJRT_Buffer_Type", "BufferType"), ("PJRT_Error_Code", "ErrorCode"),
                         ("PJRT_HostBufferSemantics", "HostBufferSemantics"),
                         ("PJRT_NamedValue", "NamedValueType")):
        body = re.search(rf"typedef enum \{{([^}}]*)\}} {prefix}\w*;", text)[1]
        number, theirs = -1, {}
        for name, value in re.findall(rf"{prefix}_(\w+)\s*(?:=\s*(\d+))?,?", body):
            number = int(value) if value else number + 1
            theirs[re.sub("^k(?=[A-Z])", "", name).lower().replace("_", "")] = number
        own = re.search(rf"enum class {enum} : int32_t \{{(.*?)\}};", ours, re.S)[1]
        found = {name.lower(): int(value) for name, value in re.findall(r"k(\w+) = (\d+)", own)}
        for name, value in found.items():
            if name not in ("s1", "u1", "f6e2m3fn", "f6e3m2fn"):  # newer than the header
                assert theirs[name] == value, (enum, name)
        assert len(set(found) & set(theirs)) >= len(theirs) - 1, (enum, sorted(theirs), sorted(found))
