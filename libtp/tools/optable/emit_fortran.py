"""Fortran from the table: tp_ops.f90, an interface for every C function of the operators."""

from optable.emit_c import prototypes

HEAD = """\
! Generated from the operator table; edits are lost.
!
! The operators. A tensor is a c_ptr by value; results are references that tp_release gives back, c_null_ptr is an
! error (tp_message). Several results, and writes into the first argument (names that end in _), come as a status and an
! array `out`. Optional lists and numbers are left out by keyword; the length of an absent list is -1, of an absent
! integer TP_INT_NONE, of an absent dtype TP_DTYPE_NONE. Strings end in c_null_char.
module tp_ops
    use, intrinsic :: iso_c_binding
    use tp, only: tp_scalar
    implicit none
    public

    interface
"""
FOOT = """\
    end interface
end module tp_ops
"""
INTEGERS = "integer(c_int64_t)"


def declaration(param, name):
    """The declaration of one C parameter."""
    kind = param[: param.rindex(param.split()[-1].lstrip("*"))].replace(" ", "")
    return {
        "tp_tensor*": f"type(c_ptr), value :: {name}",
        "tp_generator*": f"type(c_ptr), value :: {name}",
        "tp_tensor*const*": f"type(c_ptr), intent(in), optional :: {name}(*)",
        "tp_tensor**": f"type(c_ptr), intent(inout) :: {name}(*)",
        "tp_tensor***": f"type(c_ptr), intent(out) :: {name}",
        "int64_t": f"{INTEGERS}, value :: {name}",
        "constint64_t*": f"{INTEGERS}, intent(in), optional :: {name}(*)",
        "int64_t*": f"{INTEGERS}, intent(out) :: {name}",
        "double": f"real(c_double), value :: {name}",
        "constdouble*": f"real(c_double), intent(in), optional :: {name}(*)",
        "int": f"integer(c_int), value :: {name}",
        "bool": f"logical(c_bool), value :: {name}",
        "consttp_scalar*": f"type(tp_scalar), intent(in), optional :: {name}",
        "constchar*": f"character(kind=c_char), intent(in), optional :: {name}(*)",
    }[kind]


def function(prototype):
    head, _, rest = prototype.partition("(")
    name = head.split()[-1].lstrip("*")
    params = [p.strip() for p in rest.rstrip(")").split(",") if p.strip() != "void"]
    names, taken = [], {name.lower(), "r"}
    for p in params:
        own = p.split()[-1].lstrip("*")
        while own.lower() in taken:
            own += "_"
        taken.add(own.lower())
        names.append(own)
    lines, line = [], f"        function {name[:63]}("
    for k, own in enumerate(names):
        part = own + (", " if k + 1 < len(names) else "")
        if len(line) + len(part) > 100:
            lines.append(line + "&")
            line = "            "
        line += part
    lines.append(line + ") &")
    lines.append(f'            result(r) bind(c, name="{name}")')
    lines.append("            import :: c_ptr, c_int, c_int64_t, c_double, c_bool, c_char, tp_scalar")
    lines += [f"            {declaration(p, n)}" for p, n in zip(params, names)]
    lines.append("            type(c_ptr) :: r" if "*" in head else "            integer(c_int) :: r")
    lines.append("        end function\n")
    return "\n".join(lines)


def module(ops):
    """tp_ops.f90."""
    return HEAD + "\n".join(function(p) for op in ops if not op.internal for p, _ in prototypes(op)) + FOOT
