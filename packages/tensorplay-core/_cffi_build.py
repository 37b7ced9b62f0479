"""Writes the C source of the extension: cffi in API mode over the public headers of libtp.

    python _cffi_build.py --cdef cdef.h --out _tensorplay_cffi.c

The declarations of the operators come from the generator (--cdef); those of the hand-written headers are read
from the headers themselves, so that nothing is said twice.
"""

import argparse
import pathlib
import re

import cffi

HEADERS = ("common", "dtype", "error", "tensor", "level", "random", "runtime", "custom", "dlpack")
INCLUDE = pathlib.Path(__file__).resolve().parent / "subprojects" / "libtp" / "include" / "tp"


def declarations(text):
    """What cffi can parse of a public header: no comments, no preprocessor, no attributes."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"//[^\n]*", " ", text)
    text = re.sub(r"\\\n", " ", text)
    constants = re.findall(r"^#define (TP_\w+)[ \t]+(?:\(?-?\d+\)?|INT64_MIN)[ \t]*$", text, flags=re.M)
    text = re.sub(r"^[ \t]*#[^\n]*$", "", text, flags=re.M)
    text = re.sub(r"\b(TP_API|TP_BEGIN_DECLS|TP_END_DECLS)\b", " ", text)
    text = re.sub(r"static inline[^{;]*\{.*?^\}", " ", text, flags=re.S | re.M)
    return "\n".join(f"#define {name} ..." for name in constants) + text


# Python objects held by libtp, and callbacks into Python. The callbacks are C functions that look at `tpy_alive`
# first: a payload may outlive the interpreter that owns it.
CALLBACKS_CDEF = """
extern "Python" int tpy_backward_py(void *, void **, int64_t, void **, int64_t, bool);
extern "Python" void tpy_destroy_py(void *);
extern "Python" int tpy_hook_py(void *, void *, void **);

void tpy_set_alive(int alive);
void *tpy_incref(uintptr_t object);
void tpy_decref(void *object);
tp_tensor *tpy_from_memory(uintptr_t data, int dtype, int ndim, const int64_t *shape, const int64_t *strides,
                           bool readonly, uintptr_t owner);
tp_tensor *tpy_weak_f(double value);
tp_tensor *tpy_weak_i(int64_t value);
tp_tensor *tpy_scalar_f(double value, int dtype);
int tpy_fill_f(tp_tensor *t, double value);
int tpy_node_custom(uint64_t level, tp_tensor *const *inputs, int64_t n_inputs, tp_tensor *const *values,
                    int64_t n_outputs, const uint8_t *nondiff, const char *name, void *payload, tp_tensor **outputs);
int tpy_register_hook(tp_tensor *t, void *payload, uint64_t *id);
uintptr_t tpy_capsule_destructor(void);
uintptr_t tpy_capsule_name(bool versioned, bool used);
"""

SOURCE = """
#include <string.h>
@includes@

static int tpy_backward_py(void *, void **, int64_t, void **, int64_t, bool);
static void tpy_destroy_py(void *);
static int tpy_hook_py(void *, void *, void **);

static volatile int tpy_alive = 1;
static void tpy_set_alive(int alive) { tpy_alive = alive; }

/* cffi calls without the GIL. */
static void *tpy_incref(uintptr_t object) {
    PyGILState_STATE state = PyGILState_Ensure();
    Py_IncRef((PyObject *)object);
    PyGILState_Release(state);
    return (void *)object;
}

static void tpy_decref(void *object) {
    if (!tpy_alive) return;
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DecRef((PyObject *)object);
    PyGILState_Release(state);
}

/* A tensor over memory that a Python object owns. */
static tp_tensor *tpy_from_memory(uintptr_t data, int dtype, int ndim, const int64_t *shape, const int64_t *strides,
                                  bool readonly, uintptr_t owner) {
    return tp_from_memory((void *)data, dtype, ndim, shape, strides, readonly, tpy_decref, tpy_incref(owner));
}

/* ---- Python numbers ---- */
static tp_tensor *tpy_weak_f(double value) {
    tp_scalar s = {.tag = TP_SCALAR_FLOAT, .v.f = value};
    return tp_weak_scalar(&s);
}

static tp_tensor *tpy_weak_i(int64_t value) {
    tp_scalar s = {.tag = TP_SCALAR_INT, .v.i = value};
    return tp_weak_scalar(&s);
}

static tp_tensor *tpy_scalar_f(double value, int dtype) {
    tp_scalar s = {.tag = TP_SCALAR_FLOAT, .v.f = value};
    return tp_scalar_tensor(&s, dtype);
}

static int tpy_fill_f(tp_tensor *t, double value) {
    tp_tensor *w = tpy_weak_f(value);
    int status = w ? tp_copy_(t, w) : TP_ERR_MEMORY;
    tp_release(w);
    return status;
}

/* ---- custom functions ---- */
static int tpy_backward(void *payload, tp_tensor *const *grads, int64_t n_grads, tp_tensor **grads_in, int64_t n_in,
                        bool create_graph) {
    if (!tpy_alive) return tp_error_set(TP_ERR_RUNTIME, "backward: the Python interpreter has shut down");
    return tpy_backward_py(payload, (void **)grads, n_grads, (void **)grads_in, n_in, create_graph);
}

static void tpy_destroy(void *payload) {
    if (tpy_alive) tpy_destroy_py(payload);
}

static int tpy_node_custom(uint64_t level, tp_tensor *const *inputs, int64_t n_inputs, tp_tensor *const *values,
                           int64_t n_outputs, const uint8_t *nondiff, const char *name, void *payload,
                           tp_tensor **outputs) {
    tp_node_callbacks callbacks;
    memset(&callbacks, 0, sizeof callbacks);
    callbacks.struct_size = sizeof callbacks;
    callbacks.backward = tpy_backward;
    callbacks.destroy = tpy_destroy;
    callbacks.name = name;
    return tp_node_custom(level, inputs, n_inputs, values, n_outputs, nondiff, &callbacks, payload, outputs);
}

/* ---- hooks ---- */
static tp_tensor *tpy_hook(void *payload, tp_tensor *grad) {
    void *result = NULL;
    if (!tpy_alive) return NULL;
    tp_error_clear();
    tpy_hook_py(payload, grad, &result);
    return (tp_tensor *)result;
}

static int tpy_register_hook(tp_tensor *t, void *payload, uint64_t *id) {
    return tp_register_hook(t, tpy_hook, tpy_destroy, payload, id);
}

/* ---- DLPack ---- */
/* A capsule that was consumed has another name: its new owner releases. */
static void tpy_capsule_drop(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, "dltensor"))
        tp_dlpack_release(PyCapsule_GetPointer(capsule, "dltensor"));
    else if (PyCapsule_IsValid(capsule, "dltensor_versioned"))
        tp_dlpack_release_versioned(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
}
static uintptr_t tpy_capsule_destructor(void) { return (uintptr_t)tpy_capsule_drop; }

/* Names of capsules: static, because a capsule keeps only the address. */
static uintptr_t tpy_capsule_name(bool versioned, bool used) {
    return (uintptr_t)(versioned ? used ? "used_dltensor_versioned" : "dltensor_versioned"
                                 : used ? "used_dltensor" : "dltensor");
}
"""


def builder(operators):
    ffi = cffi.FFI()
    for name in HEADERS:
        ffi.cdef(declarations((INCLUDE / f"{name}.h").read_text()))
    ffi.cdef(operators)
    ffi.cdef(CALLBACKS_CDEF)
    includes = "\n".join(f'#include "tp/{name}.h"' for name in (*HEADERS, "ops"))
    ffi.set_source("_tensorplay_cffi", SOURCE.replace("@includes@", includes), py_limited_api=True)
    return ffi


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cdef", required=True, help="cffi declarations of the operators")
    parser.add_argument("--out", required=True, help="C file to write")
    options = parser.parse_args()
    builder(pathlib.Path(options.cdef).read_text()).emit_c_code(options.out)


if __name__ == "__main__":
    main()
