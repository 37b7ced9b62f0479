"""Checks what `nox -s build` made: one sdist and one wheel a package, tags, licences, nothing that does not belong.

    python ci/check_dist.py DIST
"""

import pathlib
import re
import sys
import tarfile
import zipfile

PACKAGES = ("core", "func", "nn", "testing")


def check(dist, package):
    name = f"tensorplay_{package}"
    (wheel,) = dist.glob(f"{name}-*.whl")
    (sdist,) = dist.glob(f"{name}-*.tar.gz")
    tag = r"cp311-abi3-manylinux_\d+_\d+_\w+" if package == "core" else r"py3-none-any"
    if not re.search(rf"-{tag}(\.manylinux\w+)*\.whl$", wheel.name):
        yield f"{wheel.name}: expected the tag {tag}"
    inside = zipfile.ZipFile(wheel).namelist()
    own = "tensorplay/" if package == "core" else f"tensorplay/{package}/"
    wrong = [n for n in inside if "__pycache__" in n or not (n.startswith(own) or ".dist-info/" in n)]
    if wrong:
        yield f"{wheel.name}: holds {wrong[:5]}"
    wanted = [f"{own}__init__.py", f"{own}_version.py", f"{own}py.typed"]
    if package == "core":
        wanted += ["tensorplay/_tensorplay_cffi.abi3.so", "tensorplay/lib/libtp.so", "tensorplay/lib/libtp.so.0",
                   "tensorplay/lib/cmake/libtp/libtpConfig.cmake",
                   "tensorplay/lib/cmake/libtp/libtpConfigVersion.cmake",
                   "tensorplay/lib/libscipy_openblas.so", "tensorplay/lib/LICENSE.openblas.txt",
                   "tensorplay/lib/pkgconfig/libtp.pc", "tensorplay/include/tp/tp.h", "tensorplay/include/tp/ops.h"]
    missing = [n for n in wanted if n not in inside]
    if missing or not any(n.endswith("/licenses/LICENSE") for n in inside):
        yield f"{wheel.name}: lacks {missing or 'its licence'}"
    packed = [n.split("/", 1)[1] for n in tarfile.open(sdist).getnames() if "/" in n]
    wanted = ["pyproject.toml", "meson.build", "LICENSE", "README.md", "CHANGELOG.md", "PKG-INFO"]
    if package == "core":
        wanted += ["subprojects/libtp/meson.build", "subprojects/libtp/include/tp/tp.h", "_cffi_build.py"]
    missing = [n for n in wanted if n not in packed]
    if missing:
        yield f"{sdist.name}: lacks {missing}"
    print(f"{wheel.name}  {wheel.stat().st_size / 1e6:.2f} MB    {sdist.name}  {sdist.stat().st_size / 1e6:.2f} MB")


def main():
    dist = pathlib.Path(sys.argv[1])
    found = [fault for package in PACKAGES for fault in check(dist, package)]
    if found:
        sys.exit("\n".join(found))


main()
