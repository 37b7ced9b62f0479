/* What the index kernels share. Internal. */
#ifndef TPI_KERNELS_INDEX_H
#define TPI_KERNELS_INDEX_H

#include "core/pool.h"
#include "kernels/kernels.h"
#include "kernels/shape.h"

typedef struct tpi_unit128 {
    uint64_t a, b;
} tpi_unit128;
typedef float _Complex tpi_c64;
typedef double _Complex tpi_c128;

/* An index out of range, found by any thread. */
typedef struct tpi_bad_index {
    _Atomic int found;
    int64_t index, size;
    int dim;
} tpi_bad_index;

static inline void tpi_note_bad(tpi_bad_index *b, int64_t index, int dim, int64_t size)
{
    if (atomic_exchange(&b->found, 1)) return;
    b->index = index;
    b->dim = dim;
    b->size = size;
}

/* Batch dimensions in front of the sample's, while a batching rule of this family runs: messages count without them. */
extern _Thread_local int tpi_hidden_dims;

static inline int tpi_report_bad(const char *op, const tpi_bad_index *b)
{
    if (!b->found) return 0;
    return tpi_fail(TP_ERR_INDEX, "%s: index %lld is out of bounds for dimension %d with size %lld", op,
                    (long long)b->index, b->dim - tpi_hidden_dims, (long long)b->size);
}

/* t as int64, a new reference. */
static inline tp_tensor *tpi_as_int64(tp_tensor *t)
{
    return t->dtype == TP_INT64 ? tpi_retain(t) : tpi_dense_cast(t, TP_INT64);
}

/* t, or a copy where it shares memory with what is written. New reference. */
static inline tp_tensor *tpi_apart(tp_tensor *t, const tp_tensor *written)
{
    return tpi_overlap(t, written) ? tpi_dense_cast(t, t->dtype) : tpi_retain(t);
}

/* What a kernel with a preset output writes into: that output (its version grows), or a copy of self. */
static inline tp_tensor *tpi_written(tp_call *c)
{
    tp_tensor *self = arg_t(&c->args[0]);
    if (!c->out[0]) return tpi_dense_cast(self, self->dtype);
    if (c->out[0] != self && tpi_dense_copy(c->out[0], self)) return NULL;
    tpi_bump_version(c->out[0]);
    return c->out[0];
}

/* All elements are one: an expanded number. */
static inline bool tpi_is_uniform(const tp_tensor *t)
{
    for (int i = 0; i < t->ndim; i++)
        if (t->shape[i] > 1 && t->strides[i]) return false;
    return true;
}

/* Expands BODY(UNIT) for elements that are only moved, by their size. */
#define TPI_BY_SIZE(SIZE, BODY)       \
    switch (SIZE) {                   \
    case 1: BODY(uint8_t) break;      \
    case 2: BODY(uint16_t) break;     \
    case 4: BODY(uint32_t) break;     \
    case 8: BODY(uint64_t) break;     \
    default: BODY(tpi_unit128) break; \
    }

/* Expands BODY(T, STORE) for elements that are added: STORE(o, v) is the statement o += v. */
#define TPI_STORE_PLUS(o, v) (o) = (o) + (v);
#define TPI_STORE_OR(o, v) (o) = (o) | (v);
#define TPI_STORE_SET(o, v) (o) = (v);
#define TPI_BY_SUM(DTYPE, BODY)                               \
    switch (DTYPE) {                                          \
    case TP_BOOL: BODY(uint8_t, TPI_STORE_OR) break;          \
    case TP_UINT8:                                            \
    case TP_INT8: BODY(uint8_t, TPI_STORE_PLUS) break;        \
    case TP_UINT16:                                           \
    case TP_INT16: BODY(uint16_t, TPI_STORE_PLUS) break;      \
    case TP_UINT32:                                           \
    case TP_INT32: BODY(uint32_t, TPI_STORE_PLUS) break;      \
    case TP_UINT64:                                           \
    case TP_INT64: BODY(uint64_t, TPI_STORE_PLUS) break;      \
    case TP_FLOAT32: BODY(float, TPI_STORE_PLUS) break;       \
    case TP_FLOAT64: BODY(double, TPI_STORE_PLUS) break;      \
    case TP_COMPLEX64: BODY(tpi_c64, TPI_STORE_PLUS) break;   \
    case TP_COMPLEX128: BODY(tpi_c128, TPI_STORE_PLUS) break; \
    }

/* Half types are added in float32 and rounded once: runs kernel on wide copies of self and of argument `values`. */
static inline bool tpi_is_half(int dtype) { return dtype == TP_FLOAT16 || dtype == TP_BFLOAT16; }

static inline int tpi_widened(tp_call *c, int values, tpi_kernel_fn kernel)
{
    tp_val args[TPI_MAX_ARGS];
    tp_tensor *self = c->out[0] ? c->out[0] : arg_t(&c->args[0]), *wide = NULL;
    tp_tensor *held[2] = {tpi_dense_cast(self, TP_FLOAT32), tpi_dense_cast(arg_t(&c->args[values]), TP_FLOAT32)};
    memcpy(args, c->args, sizeof(tp_val) * (size_t)c->op->nargs);
    args[0] = val_t(held[0]);
    args[values] = val_t(held[1]);
    tp_call inner = {c->op, args, &wide, 1};
    int rc = held[0] && held[1] ? kernel(&inner) : tp_error_code();
    if (!rc) rc = c->out[0] ? tpi_dense_copy(c->out[0], wide) : tpi_set_out(c, 0, tpi_dense_cast(wide, self->dtype));
    tp_release(held[0]);
    tp_release(held[1]);
    tp_release(wide);
    return rc;
}

#endif
