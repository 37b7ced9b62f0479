/* Operators, boxed calls and the contexts that kernels and rules receive. Internal.
 *
 * NOTE: the path of a call
 * typed C function (generated) -> tpi_call(op, args, out):
 *   1. a composite runs and calls other operators; done;
 *   2. promotion: differentiable casts of the tensor arguments, as op->promote says;
 *   3. the highest level among the tensor arguments decides: none -> op->kernel; otherwise that level's interpreter,
 *      which unwraps, applies op's rule for its kind, and calls operators on lower values.
 * Rules therefore see one dtype, and shapes as the function at their level sees them.
 */
#ifndef TPI_OP_H
#define TPI_OP_H

#include "tensor/tensor.h"
#include "tp/random.h"

typedef enum tpi_tag {
    TPI_NONE = 0,      /* an absent optional argument of any type */
    TPI_TENSOR,
    TPI_TENSORS,
    TPI_INT,
    TPI_FLOAT,
    TPI_BOOL,
    TPI_SCALAR,
    TPI_INTS,
    TPI_STR,
    TPI_DTYPE,
    TPI_GENERATOR,
    TPI_FLOATS
} tpi_tag;

typedef struct tp_val {
    int32_t tag;
    int32_t n;                     /* length of a list */
    union {
        tp_tensor *t;
        tp_tensor **ts;            /* list entries may be NULL where the operator says so */
        int64_t i;                 /* TPI_INT, TPI_BOOL, TPI_DTYPE */
        double f;
        const double *fs;
        tp_scalar s;
        const int64_t *ints;
        const char *str;
        tp_generator *gen;
    } v;
} tp_val;

typedef struct tp_op tp_op;

typedef struct tp_call {
    const tp_op *op;
    tp_val *args;
    tp_tensor **out;     /* nout entries. For an in-place capable kernel out[0] may be set: write into it */
    int64_t nout;        /* operators that return a list: set by the composite, `out` is tpi_alloc'ed by it */
} tp_call;

/* Reverse rule. Writes out[i] (a scope-owned tensor, or NULL: no dependence) for each argument i with need[i];
 * for a Tensor[] argument out_list[i][j]. grads[k] NULL: absent (zero). results[k] only those listed in `saves`. */
typedef struct tp_vjp_ctx {
    const tp_op *op;
    const tp_val *args;
    tp_tensor *const *results;
    tp_tensor *const *grads;
    const uint8_t *need;
    tp_tensor **out;         /* one per argument */
    tp_tensor ***out_list;   /* one per argument, set for Tensor[] arguments; need_list tells which entries */
    uint8_t *const *need_list;
} tp_vjp_ctx;

/* Forward rule. Tangent of each output into out[k] (scope-owned; NULL: zero). tangents[i] NULL: absent (zero);
 * tangent_list[i][j] for a Tensor[] argument (tangent_list[i] NULL: all absent). */
typedef struct tp_jvp_ctx {
    const tp_op *op;
    const tp_val *args;
    tp_tensor *const *results;
    tp_tensor *const *tangents;
    tp_tensor *const *const *tangent_list;
    tp_tensor **out;
} tp_jvp_ctx;

/* Batching rule. args hold the lower values; bdim[i][0] is the position of the batch dimension of Tensor argument
 * i (-1: not batched), bdim[i][j] that of entry j of a Tensor[] argument. Sets out[k] (scope-owned) and
 * out_bdim[k] (-1: the result is not batched). nsample(i): rank that the function sees. */
typedef struct tp_batch_ctx {
    const tp_op *op;
    tp_val *args;            /* a private copy: rules may edit it and call tpi_rule_call */
    int32_t *const *bdim;
    int64_t size;            /* B */
    tp_tensor **out;
    int32_t *out_bdim;
    int64_t nout;
} tp_batch_ctx;

typedef int (*tpi_kernel_fn)(tp_call *c);
typedef int (*tpi_vjp_fn)(tp_vjp_ctx *c);
typedef int (*tpi_jvp_fn)(tp_jvp_ctx *c);
typedef int (*tpi_batch_fn)(tp_batch_ctx *c);

typedef struct tpi_argdesc {
    const char *name;
    uint8_t tag;             /* tpi_tag of a present value */
    uint8_t optional;
    uint8_t differentiable;  /* a floating or complex Tensor here has a cotangent */
    uint8_t save;            /* 0: value not needed by the vjp rule; 1: only shape and dtype; 2: value */
    uint8_t weak;            /* takes part in promotion (Tensor arguments only) */
} tpi_argdesc;

enum {
    TPI_OP_VIEW = 1,        /* output 0 aliases argument 0; all other arguments are integers or int lists */
    TPI_OP_RANDOM = 2,      /* draws random numbers; has no tensor argument; argument 0 is the size (int[]) */
    TPI_OP_NONDIFF = 4,     /* outputs are never tracked (integer or boolean results, or piecewise constant) */
    TPI_OP_LIST = 8,        /* returns Tensor[] */
    TPI_OP_INPLACE_KERNEL = 16, /* the kernel accepts out[0] preset */
    TPI_OP_CUSTOM = 32,
    TPI_OP_INTERNAL = 64
};

/* How the tensor arguments marked `weak` are brought to one dtype before dispatch. */
typedef enum tpi_promote {
    TPI_PROMOTE_NONE = 0,
    TPI_PROMOTE_COMMON = 1,       /* result_type of the marked arguments */
    TPI_PROMOTE_FLOAT = 2,        /* the same, integers and bool become the default dtype */
    TPI_PROMOTE_NO_BOOL = 3,      /* the same as COMMON, bool becomes int64 (sum, prod, ...) */
    TPI_PROMOTE_NO_HALF = 4,
    TPI_PROMOTE_COMPARE = 5,      /* COMMON; an integer number outside of an integer dtype is compared as float64 */
    TPI_PROMOTE_BOUND = 6         /* COMMON; an integer number outside of an integer dtype becomes its limit */
} tpi_promote;

struct tp_op {
    const char *name;               /* "add", "sum.dim" */
    const char *doc;
    int16_t nargs;
    int16_t nouts;                  /* -1: Tensor[] */
    uint32_t flags;
    uint8_t promote;
    uint8_t save_results;           /* bit k: the vjp rule reads results[k] */
    uint8_t out_nondiff;            /* bit k: output k is never differentiable (indices) */
    const tpi_argdesc *args;
    tpi_kernel_fn kernel;           /* NULL for composites */
    tpi_kernel_fn composite;
    tpi_vjp_fn vjp;                 /* NULL: not differentiable (NONDIFF) */
    tpi_jvp_fn jvp;
    tpi_batch_fn batch;
    void *payload;                  /* custom operators */
    int32_t id;
    int32_t inplace_of;             /* for `name_`: id of the out-of-place operator, else -1 */
};

/* ---- calling ---- */
int tpi_call(const tp_op *op, tp_val *args, tp_tensor **out); /* out: op->nouts entries, owned by the caller */
int tpi_call_inplace(const tp_op *op, tp_val *args); /* self = op(self, ...) written into args[0] */
int tpi_call_list(const tp_op *op, tp_val *args, tp_tensor ***out, int64_t *n);
const tp_op *tpi_op_by_name(const char *name);
const tp_op *tpi_op_find(const char *name); /* without an error where there is none */

/* The level-aware write: every mutation of a wrapped tensor ends here. src is cast and broadcast to dst. */
int tpi_copy_(tp_tensor *dst, tp_tensor *src);
/* The operator whose in-place form is running in this thread, for messages; NULL: a plain copy_. */
extern _Thread_local const char *tpi_writing;

/* ---- typed arguments for kernels and rules ---- */
static inline tp_tensor *arg_t(const tp_val *a) { return a->tag == TPI_TENSOR ? a->v.t : NULL; }
static inline bool arg_none(const tp_val *a) { return a->tag == TPI_NONE; }
static inline int64_t arg_i(const tp_val *a) { return a->v.i; }
static inline bool arg_b(const tp_val *a) { return a->v.i != 0; }
static inline double arg_f(const tp_val *a) { return a->v.f; }

static inline tp_val val_t(tp_tensor *t) { return (tp_val){.tag = t ? TPI_TENSOR : TPI_NONE, .v.t = t}; }
static inline tp_val val_i(int64_t i) { return (tp_val){.tag = TPI_INT, .v.i = i}; }
static inline tp_val val_oi(int64_t i) { return (tp_val){.tag = i == TP_INT_NONE ? TPI_NONE : TPI_INT, .v.i = i}; }
static inline tp_val val_b(bool b) { return (tp_val){.tag = TPI_BOOL, .v.i = b}; }
static inline tp_val val_f(double f) { return (tp_val){.tag = TPI_FLOAT, .v.f = f}; }
static inline tp_val val_of(const double *f)
{
    return f ? (tp_val){.tag = TPI_FLOAT, .v.f = *f} : (tp_val){.tag = TPI_NONE};
}
static inline tp_val val_ints(const int64_t *p, int64_t n)
{
    return (tp_val){.tag = n < 0 ? TPI_NONE : TPI_INTS, .n = (int32_t)n, .v.ints = p};
}
static inline tp_val val_ts(tp_tensor *const *p, int64_t n)
{
    return (tp_val){.tag = TPI_TENSORS, .n = (int32_t)n, .v.ts = (tp_tensor **)p};
}
static inline tp_val val_s(const tp_scalar *s)
{
    return s ? (tp_val){.tag = TPI_SCALAR, .v.s = *s} : (tp_val){.tag = TPI_NONE};
}
static inline tp_val val_str(const char *s) { return (tp_val){.tag = s ? TPI_STR : TPI_NONE, .v.str = s}; }
static inline tp_val val_dtype(int d) { return (tp_val){.tag = d == TP_DTYPE_NONE ? TPI_NONE : TPI_DTYPE, .v.i = d}; }
static inline tp_val val_gen(tp_generator *g) { return (tp_val){.tag = g ? TPI_GENERATOR : TPI_NONE, .v.gen = g}; }

static const tp_scalar tpi_one = {.tag = TP_SCALAR_INT, .v.i = 1}; /* the default alpha of add and sub */

/* Bounds: more than these in a table entry fails the build. */
#define TPI_MAX_ARGS 24
#define TPI_MAX_OUTS 8

#endif
