"""Writes everything that comes from the operator table.

    gen.py --ops DIR --check                              only validates
    gen.py --ops DIR --out DIR [--include DIR]            C: tp/ops.h tpi_ops.h x_ops.h registry.c formulas.c tp.map
                                                          signatures.c;
                                                          C++ and Fortran: tp/ops.hpp tp/tp_ops.f90
    gen.py --ops DIR --python DIR                         cdef.h _ops.py _ops.pyi
    gen.py --ops DIR --docs FILE                          the coverage page

--include holds the hand-written public headers, whose functions are exported as well (default: beside the tools).
How an entry is written: docs/adding-an-op.md.
"""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True  # a source tree may be read-only
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from optable import emit_c, errors, rules, schema  # noqa: E402


def write(path, text):
    """Leaves a file that would not change alone: nothing is rebuilt for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def load(ops_dir, include_dir):
    """(operators, exported names of the headers, report)."""
    report = errors.Report()
    paths = sorted(ops_dir.glob("*.toml"))
    if not paths:
        report.add(str(ops_dir), "", "", "no *.toml here")
    ops = schema.load(paths, report)
    rules.compile_rules(ops, report)
    names = emit_c.header_symbols(p for p in sorted(include_dir.glob("*.h")) if p.name != "ops.h")
    emit_c.check_symbols(ops, names, report)
    return ops, names, report


def main(argv=None):
    here = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ops", type=pathlib.Path, required=True, help="folder of the table's *.toml files")
    parser.add_argument("--include", type=pathlib.Path, default=here / "include" / "tp")
    parser.add_argument("--out", type=pathlib.Path, help="folder for C")
    parser.add_argument("--python", type=pathlib.Path, help="folder for Python")
    parser.add_argument("--docs", type=pathlib.Path, help="the coverage page")
    parser.add_argument("--check", action="store_true", help="only validate")
    options = parser.parse_args(argv)

    ops, names, report = load(options.ops, options.include)
    if report:
        print("\n".join(report.faults), file=sys.stderr)
        return 1
    if options.check:
        return 0
    if options.out:
        for name, text in emit_c.outputs(ops, names).items():
            write(options.out / name, text)
        from optable import emit_cpp, emit_fortran, emit_info

        write(options.out / "signatures.c", emit_info.signatures(ops))
        write(options.out / "tp" / "ops.hpp", emit_cpp.header(ops))
        write(options.out / "tp" / "tp_ops.f90", emit_fortran.module(ops))
    if options.python:
        from optable import emit_python

        for name, text in emit_python.outputs(ops).items():
            write(options.python / name, text)
    if options.docs:
        from optable import emit_docs

        write(options.docs, emit_docs.page(ops))
    return 0


if __name__ == "__main__":
    sys.exit(main())
