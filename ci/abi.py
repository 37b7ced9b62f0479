"""Holds the C ABI to the one that is recorded in libtp/abi/tp, the public headers without their comments.

    python ci/abi.py --check [--library FOLDER]
    python ci/abi.py --record

--check fails on whatever breaks a program that was compiled against the record (functions, structs, constants), and on
additions that are not recorded yet. It builds one library from the record and one from the headers of the tree, in
which every function is empty, and lets abidiff compare their debug information; internal types are in neither.
--library names the folder of a built libtp: its exports have to be those of the headers, and programs that are compiled
and linked against the record alone run with it.

--record writes the record anew; it belongs in the commit that adds to the ABI. An incompatible change needs a new
soversion as well (libtp/meson.build, TP_ABI_VERSION), which starts a new record.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = ROOT / "libtp" / "abi"
PROGRAM = ROOT / "tests" / "languages" / "c" / "network.c"

COMMENT = re.compile(r"/\*.*?\*/", re.S)
PROTOTYPE = re.compile(r"^TP_API\s+([^;{}]*?\b(tp_\w+)\s*\(([^;{}]*)\))\s*;", re.M)
STRUCT = re.compile(r"^typedef struct (tp_\w+) \{(.*?)^\}", re.S | re.M)
ENUMERATOR = re.compile(r"^\s*(TP_\w+) = ([^,\n]+?),?$", re.M)
MACRO = re.compile(r"^#define (TP_\w+) +(\S.*)$", re.M)
# Not promises: the version of the release, what declarations are made of.
NO_CONSTANTS = re.compile(r"TP_(VERSION_\w+|API|BEGIN_DECLS|END_DECLS)$")


def headers_of_the_tree(folder):
    """The public headers, without comments, into folder/tp."""
    made = folder / "made"
    generator = [sys.executable, ROOT / "libtp/tools/gen.py", "--ops", ROOT / "libtp/ops"]
    subprocess.run([*generator, "--out", made], check=True)
    (folder / "tp").mkdir()
    for path in [*sorted((ROOT / "libtp/include/tp").glob("*.h")), made / "tp" / "ops.h"]:
        text = COMMENT.sub("", path.read_text())
        lines = [line.rstrip() for line in text.split("\n") if line.strip()]
        (folder / "tp" / path.name).write_text("\n".join(lines) + "\n")
    shutil.rmtree(made)
    return folder


# A program that needs every function there is.
EVERY = """\
#include <stdio.h>
#include <tp/tp.h>
typedef void (*any)(void);
static const any all[] = {
FUNCTIONS};
int main(void)
{
    size_t i, n = sizeof all / sizeof *all;
    for (i = 0; i < n; i++)
        if (!all[i]) return 1;
    printf("%d functions of the record are there\\n", (int)n);
    return tp_abi_version() != TP_ABI_VERSION;
}
"""


class Abi:
    """The headers below a folder."""

    def __init__(self, include):
        self.include = include
        text = "\n".join(path.read_text() for path in sorted((include / "tp").glob("*.h")))
        self.functions = {name: (" ".join(prototype.split()), arguments)
                          for prototype, name, arguments in PROTOTYPE.findall(text)}
        self.structs = dict(STRUCT.findall(text))
        self.constants = dict(ENUMERATOR.findall(text))
        self.constants |= {k: v for k, v in MACRO.findall(text) if not NO_CONSTANTS.match(k)}
        callbacks = re.findall(r"^typedef \w+ \(\*(tp_\w+)\)", text, re.M)
        self.types = sorted({*self.structs, *callbacks})

    def stub(self, folder):
        """A library with these functions, which do nothing, and with what describes their types."""
        source = ["#include <tp/tp.h>"]
        for prototype, arguments in self.functions.values():
            named = name_arguments(prototype, arguments)
            value = "" if re.match(r"void tp_", prototype) else "return 0;"
            source.append(f"{named} {{ {value} }}")
        # Types that no function takes by value are described as well.
        source += [f"void tp_type_of_{t}({t} *p) {{ (void)p; }}" for t in self.types]
        exported = [*self.functions, *(f"tp_type_of_{t}" for t in self.types)]
        folder.mkdir()
        (folder / "stub.c").write_text("\n".join(source) + "\n")
        (folder / "stub.map").write_text("TP_0 { global: " + " ".join(f"{n};" for n in exported) + " local: *; };\n")
        library = folder / "libtp.so.0"
        subprocess.run(["cc", "-std=gnu17", "-g", "-O0", "-shared", "-fPIC", "-w", f"-I{self.include}",
                        folder / "stub.c", "-Wl,-soname,libtp.so.0", f"-Wl,--version-script={folder / 'stub.map'}",
                        "-o", library], check=True)
        return library


def name_arguments(prototype, arguments):
    """A definition's head: no argument may be without a name."""
    if arguments.strip() in ("void", ""):
        return prototype
    parts, depth, part = [], 0, ""
    for c in arguments + ",":
        depth += (c == "(") - (c == ")")
        if c == "," and not depth:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    for k, p in enumerate(parts):
        if p.endswith("*") or re.fullmatch(r"(const )?\w+", p):
            parts[k] = f"{p} a{k}"
        elif re.search(r"\(\*\)", p):
            parts[k] = p.replace("(*)", f"(*a{k})", 1)
    return f"{prototype[: prototype.index('(')]}({', '.join(parts)})"


def compare(old, new, folder):
    """(what breaks programs, what is added)."""
    broken, added = [], []
    for name, value in old.constants.items():
        if name not in new.constants:
            broken.append(f"{name} is gone")
        elif new.constants[name] != value:
            broken.append(f"{name} was {value} and is {new.constants[name]}")
    added += [f"constant {name}" for name in new.constants if name not in old.constants]
    broken += [f"{name}() is gone" for name in old.functions if name not in new.functions]
    added += [f"{name}()" for name in new.functions if name not in old.functions]
    added += [f"type {name}" for name in new.types if name not in old.types]
    broken += [f"type {name} is gone" for name in old.types if name not in new.types]

    # A struct that begins with its size may grow at its end: the library reads as much as the caller says.
    grown = [name for name, body in old.structs.items()
             if body.split()[:2] == ["size_t", "struct_size;"] and new.structs.get(name, "") != body
             and " ".join(new.structs.get(name, "").split()).startswith(" ".join(body.split()))]
    (folder / "grows").write_text("".join(f"[suppress_type]\n  name = {name}\n  has_data_member_inserted_at = end\n\n"
                                          for name in grown))
    added += [f"members of {name}" for name in grown]
    done = subprocess.run(["abidiff", "--suppressions", folder / "grows", "--no-added-syms", "--deleted-fns",
                           "--changed-fns", old.stub(folder / "old"), new.stub(folder / "new")],
                          stdout=subprocess.PIPE, text=True)
    if done.returncode & 3:
        sys.exit(f"abi: abidiff failed\n{done.stdout}")
    if done.returncode:
        broken.append("abidiff says:\n" + done.stdout)
    return broken, added


def exports(library):
    table = subprocess.run(["nm", "-D", "--defined-only", library], check=True, stdout=subprocess.PIPE, text=True)
    return {line.split()[-1].split("@")[0] for line in table.stdout.splitlines()} - {"TP_0"}


def old_programs(old, new, folder, library):
    """Programs that know only the record, run with the library as it is now."""
    found, declared = exports(library), set(new.functions)
    if found != declared:
        yield f"exported and in no header: {sorted(found - declared)}; declared and missing: {sorted(declared - found)}"
    every = folder / "every.c"
    every.write_text(EVERY.replace("FUNCTIONS", "".join(f"    (any){name},\n" for name in old.functions)))
    for source in (every, PROGRAM):
        program = folder / source.stem
        command = ["cc", "-std=c99", f"-I{old.include}", source, folder / "old" / "libtp.so.0", "-lm", "-o", program]
        subprocess.run(command, check=True)
        env = os.environ | {"LD_LIBRARY_PATH": str(library.parent), "LD_BIND_NOW": "1"}
        done = subprocess.run([program], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(done.stdout, end="")
        if done.returncode:
            yield f"{source.name}, compiled against the record, fails with the library as it is"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true")
    what.add_argument("--record", action="store_true")
    parser.add_argument("--library", type=pathlib.Path, help="folder of a built libtp.so.0")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "tree").mkdir()
        tree = headers_of_the_tree(folder / "tree")
        if options.record:
            shutil.rmtree(RECORD / "tp", ignore_errors=True)
            RECORD.mkdir(exist_ok=True)
            shutil.copytree(tree / "tp", RECORD / "tp")
            return print(f"abi: recorded {len(Abi(RECORD).functions)} functions")
        if not (RECORD / "tp").is_dir():
            sys.exit("abi: nothing is recorded yet; python ci/abi.py --record")
        if shutil.which("abidiff") is None:
            sys.exit("abi: needs abidiff (Debian: abigail-tools)")
        old, new = Abi(RECORD), Abi(tree)
        broken, added = compare(old, new, folder)
        if options.library and not broken:
            broken += old_programs(old, new, folder, options.library.resolve() / "libtp.so.0")
        if broken:
            print("abi: incompatible with the record in libtp/abi:\n  " + "\n  ".join(broken))
            sys.exit("abi: keep what is published (an extension is a new function), or raise the soversion")
        if added:
            print("abi: not recorded yet:\n  " + "\n  ".join(added))
            sys.exit("abi: these are compatible; run `python ci/abi.py --record` and commit libtp/abi with them")
        print(f"abi: as recorded: {len(old.functions)} functions, {len(old.types)} types, "
              f"{len(old.constants)} constants")


if __name__ == "__main__":
    main()
