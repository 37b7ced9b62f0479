"""The table: one TOML table per operator, read into `Op` and checked."""

import keyword
import re
import tomllib
from dataclasses import dataclass, field

from optable.errors import TableError
from optable.signature import MISSING, Signature, parse_signature

MAX_ARGS, MAX_OUTS = 24, 8  # TPI_MAX_ARGS, TPI_MAX_OUTS of dispatch/op.h

KEYS = {
    "signature": str,
    "kernel": str,
    "composite": str,
    "vjp": (str, dict),
    "jvp": (str, dict, list),
    "saves": list,
    "batch": str,
    "unsupported": str,
    "promote": str,
    "promote_args": list,
    "inplace": bool,
    "inplace_kernel": bool,
    "view": bool,
    "random": bool,
    "internal": bool,
    "nondiff_outputs": list,
    "nondiff_args": list,
    "method": bool,
    "function": bool,
    "module": str,
    "aliases": list,
    "doc": str,
    "since": str,
}
PROMOTE = {
    "none": "TPI_PROMOTE_NONE",
    "common": "TPI_PROMOTE_COMMON",
    "float": "TPI_PROMOTE_FLOAT",
    "no_bool": "TPI_PROMOTE_NO_BOOL",
    "no_half": "TPI_PROMOTE_NO_HALF",
    "compare": "TPI_PROMOTE_COMPARE",
    "bound": "TPI_PROMOTE_BOUND",
}
BATCH = ("broadcast", "reduce", "view", "leading", "fold", "function")
JVP = ("linear", "bilinear", "elementwise", "zero", "function", "nondiff")
VJP = ("function", "nondiff", "zero")
MODULES = ("", "linalg", "nn.functional", "special", "fft", "masked")
C_NAME = re.compile(r"[A-Za-z_]\w*\Z")
OP_NAME = re.compile(r"[A-Za-z]\w*(\.[A-Za-z]\w*)?\Z")


def is_formula(text):
    """Whether a string of the table is a formula and not a word."""
    return not C_NAME.match(text)


@dataclass
class Op:
    file: str
    name: str
    signature: Signature
    entry: dict
    rules: dict = field(default_factory=dict)  # compiled formulas: vjp, jvp, composite -> formula.Compiled
    save: list = field(default_factory=list)  # one an argument: 0, 1, 2
    save_results: int = 0
    order: int = 0  # place in its file

    def get(self, key, default=None):
        return self.entry.get(key, default)

    @property
    def args(self):
        return self.signature.args

    @property
    def base(self):
        return self.name.partition(".")[0]

    @property
    def overload(self):
        return self.name.partition(".")[2]

    @property
    def c(self):
        """The name in C: dots become underscores."""
        return self.name.replace(".", "_")

    @property
    def inplace_name(self):
        return self.base + "_" + ("." + self.overload if self.overload else "")

    @property
    def internal(self):
        return self.get("internal", False)

    @property
    def doc(self):
        return self.get("doc", "").strip()

    @property
    def summary(self):
        return self.doc.split("\n", 1)[0]

    @property
    def prefix(self):
        """Of the function that calls it from C."""
        return "tpi_" if self.internal else "tp_"

    @property
    def has_tensors(self):
        return any(a.is_tensor or a.is_tensor_list for a in self.args)

    @property
    def nouts(self):
        return -1 if self.signature.is_list else len(self.signature.outputs)

    @property
    def is_composite(self):
        return "composite" in self.entry

    @property
    def nondiff(self):
        """No output is ever differentiable, or there is nothing to differentiate."""
        return not self.is_composite and (self.get("vjp") == "nondiff" or not self.has_tensors)

    def differentiable(self, arg):
        return (
            (arg.is_tensor or arg.is_tensor_list)
            and arg.name not in self.get("nondiff_args", [])
            and not self.nondiff
            and not self.is_composite
        )

    @property
    def operand_form(self):
        """Whether `_f` and `_i` exist: the tensor arguments are exactly (Tensor self, Operand other)."""
        tensors = [a for a in self.args if a.is_tensor or a.is_tensor_list]
        return (
            len(tensors) == 2
            and self.args[:2] == tuple(tensors)
            and self.nouts == 1
            and tensors[0].type == "Tensor"
            and tensors[1].type == "Operand"
        )


def load(paths, report):
    """Operators of the files, sorted by name."""
    ops = {}
    for path in sorted(paths, key=lambda p: p.name):
        try:
            with open(path, "rb") as f:
                table = tomllib.load(f)
        except tomllib.TOMLDecodeError as e:
            report.add(path.name, "", "", f"not TOML: {e}")
            continue
        for name, entry in table.items():
            op = read_entry(path.name, name, entry, report)
            if op is None:
                continue
            if name in ops:
                report.add(path.name, name, "", f"already in {ops[name].file}")
                continue
            op.order = len(ops)
            ops[name] = op
    check_names(ops.values(), report)
    return [ops[name] for name in sorted(ops)]


def read_entry(file, name, entry, report):
    """The operator, or None if its entry can't be read; faults go to the report."""

    def fault(key, message):
        report.add(file, name, key, message)

    if not isinstance(entry, dict):
        report.add(file, "", name, "a key outside of an operator's table")
        return None
    if not OP_NAME.match(name):
        fault("", "the name is not of the form name or name.overload")
        return None
    good = True
    for key, value in entry.items():
        if key not in KEYS:
            if isinstance(value, dict):
                fault(key, f'unknown key; an overload is written ["{name}.{key}"]')
            else:
                fault(key, "unknown key")
            good = False
        elif not isinstance(value, KEYS[key]):
            fault(key, f"{value!r} has the wrong type")
            good = False
    if "signature" not in entry:
        fault("signature", "missing")
        good = False
    if not good:
        return None
    try:
        signature = parse_signature(entry["signature"])
    except TableError as e:
        fault("signature", str(e))
        return None
    op = Op(file, name, signature, entry)
    if signature.name not in (name, op.base):
        fault("signature", f"is of '{signature.name}', not of '{name}'")
    for key, message in entry_faults(op):
        fault(key, message)
    return op


def entry_faults(op):
    """(key, message) for everything that is wrong with one entry by itself."""
    sig = op.signature
    if len(sig.args) > MAX_ARGS:
        yield "signature", f"more than {MAX_ARGS} arguments"
    for a in sig.args:
        if keyword.iskeyword(a.name):
            yield "signature", f"argument '{a.name}' is a keyword of Python"
        if a.name in ("unknown", "given", "args"):
            yield "signature", f"argument '{a.name}' has a name that the generated Python uses"
    if len(sig.outputs) > MAX_OUTS:
        yield "signature", f"more than {MAX_OUTS} outputs"
    if ("kernel" in op.entry) == op.is_composite:
        yield "kernel", "one of kernel and composite has to be there, and not both"
    if "kernel" in op.entry and not C_NAME.match(op.get("kernel")):
        yield "kernel", f"'{op.get('kernel')}' is not a C function's name"
    if not op.doc:
        yield "doc", "missing"
    for key in ("nondiff_args", "promote_args"):
        for name in op.get(key, []):
            if sig.index(name) < 0:
                yield key, f"no argument '{name}'"
            elif not (sig[name].is_tensor or sig[name].is_tensor_list):
                yield key, f"'{name}' is not a tensor"
    for k in op.get("nondiff_outputs", []):
        if not (isinstance(k, int) and 0 <= k < len(sig.outputs)):
            yield "nondiff_outputs", f"no output {k}"
    if op.get("promote", "none") not in PROMOTE:
        yield "promote", f"'{op.get('promote')}' is none of {', '.join(PROMOTE)}"
    if op.is_composite and op.get("promote", "none") != "none":
        yield "promote", "a composite is not promoted: the operators it calls are"
    if op.get("module", "") not in MODULES:
        yield "module", f"'{op.get('module')}' is none of {', '.join(m for m in MODULES if m)}"
    for alias in op.get("aliases", []):
        if not (isinstance(alias, str) and C_NAME.match(alias)):
            yield "aliases", f"{alias!r} is not a name"
    if op.get("inplace"):
        if not sig.args or sig.args[0].type != "Tensor" or op.nouts != 1:
            yield "inplace", "needs a Tensor as first argument and one output"
    elif "inplace_kernel" in op.entry:
        yield "inplace_kernel", "says something only beside inplace = true"
    if op.get("view") and not op.is_composite:
        if not sig.args or sig.args[0].type != "Tensor" or op.nouts != 1:
            yield "view", "needs a Tensor as first argument and one output"
        for a in sig.args[1:]:
            if a.base not in ("int", "int[]"):
                yield "view", f"argument '{a.name}' is neither an integer nor a list of integers"
    if op.get("internal") and (op.get("method") or op.get("module") or op.get("aliases")):
        yield "internal", "an internal operator has no method, module or alias"
    yield from rule_faults(op)


def rule_faults(op):
    """What is wrong with, or missing from, the rules."""
    if op.is_composite:
        for key in (
            "vjp",
            "jvp",
            "batch",
            "unsupported",
            "saves",
            "random",
            "nondiff_outputs",
            "nondiff_args",
        ):
            if key in op.entry:
                yield key, "a composite has no rules of its own: it inherits those of the operators it calls"
        return
    if op.get("random"):
        for key in ("vjp", "jvp", "batch", "unsupported", "saves"):
            if key in op.entry:
                yield key, "a random operator has no rules: the levels draw for it"
        if op.has_tensors or not op.args or op.args[0].type != "int[]":
            yield "random", "needs int[] size as first argument, and no tensor arguments (write a composite)"
        return
    if not op.has_tensors:
        for key in ("vjp", "jvp", "batch", "unsupported", "saves"):
            if key in op.entry:
                yield key, "an operator without tensor arguments has no rules"
        return
    vjp, jvp, batch = op.get("vjp"), op.get("jvp"), op.get("batch")
    if vjp is None:
        yield "vjp", 'missing rule: formulas, "function", "zero" or "nondiff"'
    elif isinstance(vjp, str) and vjp not in VJP:
        yield "vjp", f"'{vjp}' is none of {', '.join(VJP)} and not a table of formulas"
    if jvp is None and vjp not in ("nondiff", "zero"):
        yield "jvp", "missing rule: a formula or one of " + ", ".join(JVP)
    elif isinstance(jvp, str) and not is_formula(jvp) and jvp not in JVP and not jvp.endswith("_t"):
        yield "jvp", f"'{jvp}' is none of {', '.join(JVP)} and not a formula"
    if jvp == "nondiff" and vjp not in ("nondiff", "zero"):
        yield "jvp", '"nondiff" beside a vjp'
    if jvp == "bilinear" and sum(op.differentiable(a) for a in op.args) < 2:
        yield "jvp", '"bilinear" needs two differentiable arguments'
    if jvp == "elementwise" and (batch != "broadcast" or vjp in VJP[1:] or op.nouts != 1):
        yield "jvp", '"elementwise" needs a vjp, batch = "broadcast" and one output'
    if jvp in ("linear", "bilinear", "elementwise") and vjp in ("nondiff", "zero"):
        yield "jvp", f"'{jvp}' beside vjp = '{vjp}'"
    if batch is None and "unsupported" not in op.entry:
        yield "batch", "missing rule: one of " + ", ".join(BATCH) + '; or unsupported = "reason"'
    elif batch is not None and "unsupported" in op.entry:
        yield "batch", "beside unsupported"
    elif batch is not None and batch not in BATCH:
        yield "batch", f"'{batch}' is none of {', '.join(BATCH)}"
    if "saves" in op.entry and vjp != "function":
        yield "saves", 'only beside vjp = "function": of formulas it is derived'
    for name in op.get("saves", []):
        if result_number(op, name) is None and (
            op.signature.index(name) < 0 or not (op.signature[name].is_tensor or op.signature[name].is_tensor_list)
        ):
            yield "saves", f"'{name}' is neither a tensor argument nor a result"


def result_number(op, name):
    """Bit mask of the outputs that `result`, `results`, `result1` or an output's name mean; None: another name."""
    outputs = op.signature.outputs
    if name in ("result", "results"):
        return (1 << len(outputs)) - 1
    if re.fullmatch(r"result\d", name) and int(name[6:]) < len(outputs):
        return 1 << int(name[6:])
    if name and name in outputs:
        return 1 << outputs.index(name)
    return None


def check_names(ops, report):
    """Names in C and Python must differ between operators."""
    c_names, overloads = {}, {}
    for op in ops:
        for c in [op.c] + ([op.c + "_"] if op.get("inplace") else []):
            other = c_names.setdefault(c, op)
            if other is not op:
                report.add(op.file, op.name, "", f"is named {c} in C, and so is '{other.name}' of {other.file}")
        first = overloads.setdefault(op.base, op)
        if (first.get("module", ""), first.internal) != (op.get("module", ""), op.internal):
            report.add(op.file, op.name, "module", f"differs from that of the overload '{first.name}'")


def required(arg):
    return arg.default is MISSING
