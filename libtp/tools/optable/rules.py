"""The rules of an operator: which functions there are, and the C of those that are formulas."""

from optable.errors import TableError
from optable.formula import Compiler
from optable.schema import is_formula, result_number

JVP_CLASSES = {
    "linear": "tpi_jvp_linear",
    "bilinear": "tpi_jvp_bilinear",
    "elementwise": "tpi_jvp_elementwise",
    "zero": "tpi_jvp_zero",
    "nondiff": "tpi_jvp_zero",
}


def compile_rules(ops, report):
    """Fills op.rules with the C text of formula rules, op.save and op.save_results."""
    by_name = {op.c: op for op in ops}
    for op in ops:
        op.save = [0] * len(op.args)
        if op.is_composite:
            if is_formula(op.get("composite")):
                guard(report, op, "composite", op.get("composite"), lambda op=op: composite(op, by_name))
            continue
        if not op.has_tensors:
            continue
        vjp(op, by_name, report)
        jvp(op, by_name, report)


def guard(report, op, key, formula, action):
    try:
        return action()
    except TableError as e:
        where = f' in "{" ".join(formula.split())}"' if isinstance(formula, str) else ""
        report.add(op.file, op.name, key, f"{e}{where}")
    except RecursionError:
        report.add(op.file, op.name, key, "is nested too deeply")


def function(name, context, compiler, body, tail="    return 0;"):
    lines = [f"int {name}({context} *c)", "{"]
    lines += [f"    {text}" for text in compiler.used.values()]
    return "\n".join([*lines, *body, tail, "}"]) + "\n"


def assign(target, compiled, guard=""):
    """C lines of `target = formula`, in a block of its own if it has statements."""
    line = f"{target} = {compiled.results[0]};"
    if not compiled.statements:
        return [f"    {guard}{line}"]
    return [f"    {guard}{{", *(f"        {s}" for s in compiled.statements), f"        {line}", "    }"]


def composite(op, ops):
    if op.signature.is_list:
        raise TableError("a formula can't return a list of tensors: write a C function")
    compiler = Compiler(op, "composite", ops)
    compiled = compiler.composite(op.get("composite"))
    body = ["    tpi_scope scope;", "    tpi_scope_open(&scope);", *(f"    {s}" for s in compiled.statements)]
    results = ", ".join(compiled.results)
    tail = f"    return finish(&scope, c, {len(compiled.results)}, (T[]){{{results}}});"
    # Declarations may come before the scope: they only read arguments.
    op.rules["composite"] = function(f"{op.c}__composite", "tp_call", compiler, body, tail)


def vjp(op, ops, report):
    rule = op.get("vjp")
    if rule == "function":
        saves = op.get("saves", [])
        for i, arg in enumerate(op.args):
            if arg.is_tensor or arg.is_tensor_list:
                op.save[i] = 2 if arg.name in saves else 1
        for name in saves:
            op.save_results |= result_number(op, name) or 0
        return
    if not isinstance(rule, dict):
        return
    for name in rule:
        if op.signature.index(name) < 0:
            report.add(op.file, op.name, f"vjp.{name}", f"no argument '{name}'")
        elif not op.differentiable(op.signature[name]):
            report.add(op.file, op.name, f"vjp.{name}", f"'{name}' is not differentiable")
    compiler, body = Compiler(op, "vjp", ops), []
    for i, arg in enumerate(op.args):
        if not op.differentiable(arg):
            continue
        text = rule.get(arg.name)
        if text is None:
            report.add(
                op.file,
                op.name,
                "vjp",
                f"missing rule: no formula for '{arg.name}' (or \"zero\", or list it in nondiff_args)",
            )
            continue
        if text == "zero":
            continue
        if not isinstance(text, str):
            report.add(op.file, op.name, f"vjp.{arg.name}", f"{text!r} is not a formula")
            continue
        if arg.is_tensor_list:
            report.add(op.file, op.name, f"vjp.{arg.name}", 'a list of tensors needs vjp = "function"')
            continue
        compiled = guard(report, op, f"vjp.{arg.name}", text, lambda text=text: compiler.derivative(text))
        if compiled:
            body += assign(f"c->out[{i}]", compiled, f"if (c->need[{i}]) ")
    op.save, op.save_results = compiler.save, compiler.save_results
    op.rules["vjp"] = function(f"{op.c}__vjp", "tp_vjp_ctx", compiler, body)


def jvp(op, ops, report):
    rule = op.get("jvp")
    if rule is None or isinstance(rule, str) and not (is_formula(rule) or rule.endswith("_t")):
        return
    parts = rule if isinstance(rule, list) else [rule]
    nouts = len(op.signature.outputs)
    if op.signature.is_list:
        report.add(op.file, op.name, "jvp", 'an operator that returns a list needs jvp = "function" or a class')
        return
    if len(parts) != nouts:
        report.add(op.file, op.name, "jvp", f"{len(parts)} formulas for {nouts} outputs: write a list")
        return
    compiler, body = Compiler(op, "jvp", ops), []
    for k, part in enumerate(parts):
        key = f"jvp[{k}]" if isinstance(rule, list) else "jvp"
        if k in op.get("nondiff_outputs", []) and part != "zero":
            report.add(op.file, op.name, key, f'output {k} is nondifferentiable: write "zero"')
        if part == "zero":
            continue
        lines = one_output(op, compiler, k, key, part, report)
        body += lines
    op.rules["jvp"] = function(f"{op.c}__jvp", "tp_jvp_ctx", compiler, body)


def one_output(op, compiler, k, key, part, report):
    target = f"c->out[{k}]"
    if isinstance(part, str):
        compiled = guard(report, op, key, part, lambda: compiler.derivative(part))
        vjp_rule = op.get("vjp")
        for arg in op.args:
            zero = isinstance(vjp_rule, dict) and vjp_rule.get(arg.name) == "zero"
            if compiled and op.differentiable(arg) and not zero and f"t_{arg.name}" not in compiler.used:
                report.add(op.file, op.name, key, f"does not use {arg.name}_t")
        return assign(target, compiled) if compiled else []
    if not isinstance(part, dict):
        report.add(op.file, op.name, key, f"{part!r} is neither a formula nor a table")
        return []
    lines, first = [], True
    for name in part:
        if op.signature.index(name) < 0 or not op.differentiable(op.signature[name]):
            report.add(op.file, op.name, f"{key}.{name}", f"no differentiable argument '{name}'")
    for arg in op.args:
        if not op.differentiable(arg):
            continue
        text = part.get(arg.name)
        if text == "zero":
            continue
        if not isinstance(text, str):
            report.add(op.file, op.name, key, f"missing rule: no formula for '{arg.name}' (or \"zero\")")
            continue
        compiled = guard(report, op, f"{key}.{arg.name}", text, lambda text=text: compiler.derivative(text))
        if compiled:
            if not first:
                compiled.results = [f"plus({target}, {compiled.results[0]})"]
            lines += assign(target, compiled)
            first = False
    return lines


def rule_names(op):
    """C expressions of op's vjp, jvp and batch members."""
    if op.is_composite or not op.has_tensors:
        return "NULL", "NULL", "NULL"
    vjp, jvp, batch = op.get("vjp"), op.get("jvp"), op.get("batch")
    v = {"nondiff": "NULL", "zero": "tpi_vjp_zero"}.get(vjp if isinstance(vjp, str) else "", f"{op.c}__vjp")
    if jvp is None:
        j = "tpi_jvp_zero"
    else:
        j = JVP_CLASSES.get(jvp if isinstance(jvp, str) else "", f"{op.c}__jvp")
    b = "NULL" if batch is None else f"{op.c}__batch" if batch == "function" else f"tpi_batch_{batch}"
    return v, j, b
