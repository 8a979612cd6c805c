#!/usr/bin/env python3
"""Makes the wheel of `pip wheel .` one for machines that lack Assay's libraries (tools/make_wheels calls it).

    repack_wheel.py PLAIN.whl BUILD_FOLDER OUTPUT_FOLDER

Strips what was linked, adds the libraries that it needs and their licences, and names the oldest manylinux
that has the symbols of libc and libstdc++ in use. auditwheel copies the libraries that are linked, under
names of their own; libzip, which is opened when the first .npz file is used (base/zip_library.cc), is added
here.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

LIMIT = 25_000_000
# Of the command, by docs/licences.md; what is shared is found by auditwheel.
STATIC = ["libgmp-dev", "libmpfr-dev", "libmpc-dev", "libabsl-dev", "libprotobuf-dev"]
HEADERS = ["libcli11-dev", "libxbyak-dev"]
COMMON = pathlib.Path("/usr/share/common-licenses")


def output_of(*command) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def is_elf(path: pathlib.Path) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def setting(build: pathlib.Path, name: str) -> str:
    found = re.search(rf"^{name}:[A-Z]+=(.*)$", (build / "CMakeCache.txt").read_text(), re.M)
    if found is None:
        sys.exit(f"repack_wheel: {build}/CMakeCache.txt has no {name}")
    return found[1]


def needed_by(path: pathlib.Path) -> set[pathlib.Path]:
    """The files of all libraries that the dynamic linker loads with it."""
    return {pathlib.Path(file).resolve() for file in re.findall(r"=> (/\S+)", output_of("ldd", str(path)))}


def package_of(path: pathlib.Path) -> str:
    """Debian's package, by a path that may lead through /lib, a link to /usr/lib."""
    for name in (str(path), str(path).removeprefix("/usr")):
        found = subprocess.run(["dpkg", "-S", name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               text=True, check=False)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    sys.exit(f"repack_wheel: no Debian package has {path}")


def prepare(root: pathlib.Path, build: pathlib.Path) -> None:
    """Strips the files, adds libzip, and says where each finds it."""
    package = root / "assay"
    carried = package / "lib" / "libassay_zip.so"
    carried.parent.mkdir()
    shutil.copy(pathlib.Path(setting(build, "ASSAY_ZIP_LIBRARY")).resolve(), carried)
    subprocess.run(["patchelf", "--set-soname", carried.name, carried], check=True)
    for path in sorted(package.rglob("*")):
        if path.is_file() and is_elf(path) and path != carried:
            subprocess.run(["strip", "--strip-unneeded", path], check=True)
            up = "/.." * (len(path.relative_to(package).parts) - 1)
            subprocess.run(["patchelf", "--set-rpath", f"$ORIGIN{up}/lib", path], check=True)


def add_licences(root: pathlib.Path, libraries: list[str], files: dict[str, pathlib.Path]) -> list[str]:
    """The texts for the carried libraries, given by names of their files; `files` has the originals by name.
    Returns lines that say what is carried."""
    packages = {}
    for name in libraries:
        # libtbb-0a1b2c3d.so.12.5 is a copy of libtbb.so.12.5; the copy of libzip has a name of ours.
        plain = re.sub(r"-[0-9a-f]{8}(?=\.so)", "", name)
        original = next((file for known, file in files.items() if known.startswith(plain)), None)
        if original is None:
            sys.exit(f"repack_wheel: {name} is carried, and nothing needs a library {plain}")
        packages.setdefault(package_of(original), []).append(plain)
    for name in STATIC + HEADERS:
        packages.setdefault(name, []).append("in the command" if name in STATIC else "headers")
    folder = next(root.glob("*.dist-info")) / "licenses"
    folder.mkdir(exist_ok=True)
    lines = []
    for name, parts in sorted(packages.items()):
        shutil.copy(f"/usr/share/doc/{name}/copyright", folder / f"{name}.txt")
        version = output_of("dpkg-query", "-W", "-f=${Version} (${source:Package} ${source:Version})",
                            name)
        lines.append(f"{name} {version}: {', '.join(sorted(parts))}")
    for name in ("GPL-2", "GPL-3", "LGPL-3", "Apache-2.0"):
        shutil.copy(COMMON / name, folder / f"{name}.txt")
    notice = ("This wheel carries libraries of Debian 12, unmodified but for the names of their files, by\n"
              "package, version and source package. Their licences are beside this file. GMP, MPFR and MPC are\n"
              "covered by the LGPL; Debian's source packages of the versions named here are their source, and\n"
              "Assay's own source is public, so that the command can be linked with other versions of them.\n\n")
    (folder / "CARRIED.txt").write_text(notice + "\n".join(lines) + "\n")
    return lines


def main() -> None:
    plain, build, output = (pathlib.Path(argument) for argument in sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        output_of("wheel", "unpack", "--dest", str(work / "plain"), str(plain))
        root = next((work / "plain").iterdir())
        prepare(root, build)
        originals = {file.name: file for path in (root / "assay").rglob("*")
                     if path.is_file() and is_elf(path) for file in needed_by(path)}
        zip_library = pathlib.Path(setting(build, "ASSAY_ZIP_LIBRARY")).resolve()
        originals[zip_library.name] = zip_library
        output_of("wheel", "pack", "--dest-dir", str(work), str(root))
        repaired = work / "repaired"
        audit = subprocess.run(["auditwheel", "repair", "--wheel-dir", repaired, next(work.glob("*.whl"))],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if audit.returncode != 0:
            sys.exit(f"repack_wheel: auditwheel repair failed:\n{audit.stdout}")
        output_of("wheel", "unpack", "--dest", str(work / "done"), str(next(repaired.glob("*.whl"))))
        root = next((work / "done").iterdir())
        carried = sorted(path.name for path in root.glob("*.libs/*"))
        lines = add_licences(root, [*carried, zip_library.name], originals)
        output.mkdir(parents=True, exist_ok=True)
        output_of("wheel", "pack", "--dest-dir", str(output), str(root))
    wheel = next(output.glob("*.whl"))
    report(wheel, build, lines)


def report(wheel: pathlib.Path, build: pathlib.Path, lines: list[str]) -> None:
    kernels = (build / "gpu/kernels/image_table.cc").read_text().count(".incbin")
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")
    with zipfile.ZipFile(wheel) as archive:
        for entry in sorted(archive.infolist(), key=lambda entry: -entry.file_size)[:8]:
            print(f"  {entry.file_size / 1e6:6.1f} MB, packed {entry.compress_size / 1e6:5.1f}  {entry.filename}")
    print(f"  CUDA kernels: {kernels} images" if kernels else "  CUDA kernels: absent, as there was no nvcc")
    print("  carried, from Debian's packages:", *lines, sep="\n    ")
    if wheel.stat().st_size > LIMIT:
        sys.exit(f"repack_wheel: the wheel has more than {LIMIT / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
