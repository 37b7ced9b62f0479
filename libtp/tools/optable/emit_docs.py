"""The coverage page: which rule every operator has, and why one is absent."""

from optable.schema import is_formula

HEAD = """\
# Operators and their rules

This page is generated from the operator table. For each operator it says how it is computed (a kernel, or a composite
of other operators, which inherits all their rules), and where its reverse rule (vjp), forward rule (jvp) and batching
rule (vmap) come from:

- *formula*: a formula in the table; *function*: written in C; a word like *linear* or *broadcast*: a class of rules.
- *zero*: the derivative is zero everywhere it exists. *nondiff*: the result has no derivative (integers, indices).
- *unsupported*: the rule can't exist; the reason is given below.
"""


def rule(value):
    if value is None:
        return ""
    if isinstance(value, (dict, list)) or is_formula(value) or value.endswith("_t"):
        return "formula"
    return value


def row(op):
    if op.is_composite:
        how, rules = "composite", ["inherited"] * 3
    elif op.get("random"):
        how, rules = f"`{op.get('kernel')}`", ["nondiff", "nondiff", "by randomness"]
    elif not op.has_tensors:
        how, rules = f"`{op.get('kernel')}`", ["nondiff", "nondiff", "no tensor arguments"]
    else:
        vjp = rule(op.get("vjp"))
        how = f"`{op.get('kernel')}`"
        rules = [vjp, rule(op.get("jvp")) or vjp, op.get("batch") or "unsupported"]
    name = f"`{op.name}`" + (" and in place" if op.get("inplace") else "")
    return f"| {name} | {how} | {' | '.join(rules)} |"


def page(ops):
    out = [HEAD]
    families = {}
    for op in ops:
        families.setdefault(op.file.removesuffix(".toml"), []).append(op)
    for family in sorted(families):
        out += [f"## {family}", "", "| operator | computed by | vjp | jvp | vmap |", "|---|---|---|---|---|"]
        out += [row(op) for op in families[family]]
        out.append("")
    reasons = [op for op in ops if "unsupported" in op.entry]
    if reasons:
        out += ["## Why a batching rule is absent", ""]
        out += [f"- `{op.name}`: {op.get('unsupported')}" for op in reasons]
        out.append("")
    partly = [op for op in ops if op.get("nondiff_args") or op.get("nondiff_outputs")]
    if partly:
        out += ["## Arguments and outputs without derivatives", ""]
        for op in partly:
            names = [f"argument `{n}`" for n in op.get("nondiff_args", [])]
            names += [f"output `{op.signature.outputs[k] or k}`" for k in op.get("nondiff_outputs", [])]
            out.append(f"- `{op.name}`: {', '.join(names)}")
        out.append("")
    counts = [len(ops), sum(op.is_composite for op in ops), sum(op.internal for op in ops)]
    out.append(f"{counts[0]} operators, of which {counts[1]} are composites and {counts[2]} internal.")
    return "\n".join(out) + "\n"
