/* Creation. */
#include <math.h>

#include "core/clones.h"
#include "core/pool.h"
#include "kernels/kernels.h"
#include "kernels/shape.h"

static int dtype_or(const tp_val *a, int otherwise) { return arg_none(a) ? otherwise : (int)arg_i(a); }

static tp_tensor *sized(const char *op, const tp_val *size, int dtype)
{
    int64_t numel;
    if (dtype < 0 || dtype >= TP_DTYPE_COUNT) return tpi_null(TP_ERR_TYPE, "%s: unknown dtype %d", op, dtype);
    if (tpi_check_rank(op, size->n) || tpi_numel(op, size->n, size->v.ints, &numel)) return NULL;
    return tpi_empty(dtype, size->n, size->v.ints);
}

int k_empty(tp_call *c)
{
    return tpi_set_out(c, 0, sized("empty", &c->args[0], dtype_or(&c->args[1], tp_get_default_dtype())));
}

typedef struct fill_job {
    char *data;
    int size;
    _Alignas(16) char value[16];
} fill_job;

TP_CLONES static void fill_range(int64_t begin, int64_t end, void *arg)
{
    fill_job *j = arg;
    char *p = j->data + begin * j->size;
    int64_t n = end - begin;
#define FILL(UNIT)                                          \
    {                                                       \
        UNIT v;                                             \
        memcpy(&v, j->value, sizeof v);                     \
        for (int64_t i = 0; i < n; i++) ((UNIT *)p)[i] = v; \
    }
    switch (j->size) {
    case 1: memset(p, j->value[0], (size_t)n); break;
    case 2: FILL(uint16_t) break;
    case 4: FILL(uint32_t) break;
    case 8: FILL(uint64_t) break;
    default: FILL(double _Complex) break;
    }
#undef FILL
}

/* A new tensor has no readers: unlike tpi_dense_fill this is not a write that counts. */
static tp_tensor *filled(tp_tensor *t, const tp_scalar *v)
{
    if (!t || !t->numel) return t;
    fill_job j = {.data = tpi_data(t), .size = tpi_esize(t->dtype)};
    tpi_store_scalar(j.value, t->dtype, v);
    tpi_parallel_for(t->numel, 1 << 18, fill_range, &j);
    return t;
}

static tp_tensor *zeroed(tp_tensor *t)
{
    if (t && t->numel) memset(tpi_data(t), 0, (size_t)t->numel * (size_t)tpi_esize(t->dtype));
    return t;
}

int k_zeros(tp_call *c)
{
    return tpi_set_out(c, 0, zeroed(sized("zeros", &c->args[0], dtype_or(&c->args[1], tp_get_default_dtype()))));
}

int k_ones(tp_call *c)
{
    tp_scalar one = {.tag = TP_SCALAR_INT, .v.i = 1};
    return tpi_set_out(c, 0, filled(sized("ones", &c->args[0], dtype_or(&c->args[1], tp_get_default_dtype())), &one));
}

static int scalar_dtype(const tp_scalar *s)
{
    switch (s->tag) {
    case TP_SCALAR_BOOL: return TP_BOOL;
    case TP_SCALAR_INT: return TP_INT64;
    case TP_SCALAR_UINT: return s->v.u > INT64_MAX ? TP_UINT64 : TP_INT64;
    case TP_SCALAR_COMPLEX: return tpi_to_complex(tp_get_default_dtype());
    default: return tp_get_default_dtype();
    }
}

/* Whether dtype can hold the number: integers have bounds, real dtypes no imaginary part. */
static int check_fits(const char *op, const tp_scalar *s, int dtype)
{
    static const int64_t low[] = {0, 0, INT8_MIN, 0, INT16_MIN, 0, INT32_MIN, 0, INT64_MIN};
    static const uint64_t high[] = {1,          UINT8_MAX, INT8_MAX,   UINT16_MAX, INT16_MAX,
                                    UINT32_MAX, INT32_MAX, UINT64_MAX, INT64_MAX};
    bool good = true;
    if (s->tag == TP_SCALAR_COMPLEX) good = tpi_is_complex(dtype) || s->v.c[1] == 0;
    else if (tpi_is_int(dtype)) {
        if (s->tag == TP_SCALAR_FLOAT) good = s->v.f > (double)low[dtype] - 1 && s->v.f < (double)high[dtype] + 1;
        else if (s->tag == TP_SCALAR_UINT) good = s->v.u <= high[dtype];
        else good = s->v.i >= low[dtype] && (s->v.i < 0 || (uint64_t)s->v.i <= high[dtype]);
    }
    if (good) return 0;
    return tpi_fail(TP_ERR_RUNTIME, "%s: the value can't be stored in dtype %s", op, tp_dtype_name(dtype));
}

int k_full(tp_call *c)
{
    const tp_scalar *v = &c->args[1].v.s;
    int dtype = dtype_or(&c->args[2], scalar_dtype(v));
    tp_tensor *t = sized("full", &c->args[0], dtype);
    int rc = t ? check_fits("full", v, dtype) : tp_error_code();
    if (rc) {
        tp_release(t);
        return rc;
    }
    return tpi_set_out(c, 0, filled(t, v));
}

/* ---- sequences ----
 * Elements are computed in float64, or exactly in int64, a chunk at a time, and converted. */

enum { CHUNK = 512 };

typedef struct sequence {
    char *data;
    int dtype, size;
    bool exact;
    int64_t istart, istep;
    double start[2], end[2], step[2];
    int64_t n;
    bool both_ends;         /* linspace: the second half counts from the end, so that it is met */
} sequence;

static inline double element(const sequence *s, int part, int64_t i)
{
    if (s->both_ends && i >= s->n / 2) return s->end[part] - s->step[part] * (double)(s->n - 1 - i);
    return s->start[part] + s->step[part] * (double)i;
}

TP_CLONES static void sequence_range(int64_t begin, int64_t end, void *arg)
{
    const sequence *s = arg;
    union {
        double f[2 * CHUNK];
        int64_t i[CHUNK];
    } buf;
    for (int64_t at = begin; at < end; at += CHUNK) {
        int64_t n = end - at < CHUNK ? end - at : CHUNK;
        int from = TP_FLOAT64;
        if (s->exact) {
            for (int64_t k = 0; k < n; k++)
                buf.i[k] = (int64_t)((uint64_t)s->istart + (uint64_t)s->istep * (uint64_t)(at + k));
            from = TP_INT64;
        } else if (tpi_is_complex(s->dtype)) {
            for (int64_t k = 0; k < n; k++)
                for (int p = 0; p < 2; p++) buf.f[2 * k + p] = element(s, p, at + k);
            from = TP_COMPLEX128;
        } else
            for (int64_t k = 0; k < n; k++) buf.f[k] = element(s, 0, at + k);
        tpi_convert(n, &buf, from, s->data + at * s->size, s->dtype);
    }
}

static tp_tensor *generate(const char *op, sequence *s)
{
    tp_tensor *t = sized(op, &(tp_val){.tag = TPI_INTS, .n = 1, .v.ints = &s->n}, s->dtype);
    if (!t) return NULL;
    s->data = tpi_data(t);
    s->size = tpi_esize(s->dtype);
    tpi_parallel_for(s->n, 1 << 16, sequence_range, s);
    return t;
}

static double as_double(const tp_scalar *s)
{
    return s->tag == TP_SCALAR_FLOAT     ? s->v.f
           : s->tag == TP_SCALAR_UINT    ? (double)s->v.u
           : s->tag == TP_SCALAR_COMPLEX ? s->v.c[0]
                                         : (double)s->v.i;
}

static bool is_integer(const tp_scalar *s)
{
    return s->tag == TP_SCALAR_BOOL || s->tag == TP_SCALAR_INT || (s->tag == TP_SCALAR_UINT && s->v.u <= INT64_MAX);
}

static int arange(tp_call *c, const tp_scalar *start, const tp_scalar *end, const tp_scalar *step, const tp_val *dtype)
{
    const tp_scalar *all[3] = {start, end, step};
    bool ints = true;
    for (int i = 0; i < 3; i++) {
        if (all[i]->tag == TP_SCALAR_COMPLEX) return tpi_fail(TP_ERR_TYPE, "arange: complex numbers have no order");
        ints = ints && is_integer(all[i]);
    }
    sequence s = {.dtype = dtype_or(dtype, ints ? TP_INT64 : tp_get_default_dtype())};
    if (s.dtype == TP_BOOL || tpi_is_complex(s.dtype))
        return tpi_fail(TP_ERR_TYPE, "arange: dtype %s is not supported", tp_dtype_name(s.dtype));
    double a = as_double(start), b = as_double(end), d = as_double(step);
    if (!isfinite(a) || !isfinite(b) || !isfinite(d))
        return tpi_fail(TP_ERR_VALUE, "arange: start %g, end %g and step %g are not all finite", a, b, d);
    if (d == 0) return tpi_fail(TP_ERR_VALUE, "arange: step is zero");
    if (a != b && (b > a) != (d > 0))
        return tpi_fail(TP_ERR_VALUE, "arange: step %g leads away from end: start %g, end %g", d, a, b);
    double count = ceil((b - a) / d);
    if (ints) {
        __int128 span = (__int128)end->v.i - start->v.i, by = step->v.i, n = (span + by + (by > 0 ? -1 : 1)) / by;
        count = (double)n;
        s.n = n > INT64_MAX ? INT64_MAX : (int64_t)n;
    } else s.n = count < 0x1p62 ? (int64_t)count : INT64_MAX;
    s.exact = ints || tpi_is_int(s.dtype);
    if (s.exact) {
        if (!ints && (fabs(a) >= 0x1p63 || fabs(d) >= 0x1p63))
            return tpi_fail(TP_ERR_VALUE, "arange: start %g or step %g is outside of int64", a, d);
        s.istart = ints ? start->v.i : (int64_t)a;
        s.istep = ints ? step->v.i : (int64_t)d;
    }
    s.start[0] = a;
    s.step[0] = d;
    return tpi_set_out(c, 0, generate("arange", &s));
}

int k_arange(tp_call *c)
{
    const tp_val *a = c->args;
    return arange(c, &a[0].v.s, &a[1].v.s, &a[2].v.s, &a[3]);
}

int k_arange_end(tp_call *c)
{
    static const tp_scalar zero = {.tag = TP_SCALAR_INT, .v.i = 0}, one = {.tag = TP_SCALAR_INT, .v.i = 1};
    return arange(c, &zero, &c->args[0].v.s, &one, &c->args[1]);
}

int k_linspace(tp_call *c)
{
    const tp_scalar *ends[2] = {&c->args[0].v.s, &c->args[1].v.s};
    bool complex = ends[0]->tag == TP_SCALAR_COMPLEX || ends[1]->tag == TP_SCALAR_COMPLEX;
    int otherwise = tp_get_default_dtype();
    sequence s = {.n = arg_i(&c->args[2]),
                  .both_ends = true,
                  .dtype = dtype_or(&c->args[3], complex ? tpi_to_complex(otherwise) : otherwise)};
    if (s.n < 0) return tpi_fail(TP_ERR_VALUE, "linspace: steps must not be negative, got %lld", (long long)s.n);
    if (s.dtype == TP_BOOL || (complex && !tpi_is_complex(s.dtype)))
        return tpi_fail(TP_ERR_TYPE, "linspace: dtype %s is not supported%s", tp_dtype_name(s.dtype),
                        complex ? " for complex bounds" : "");
    for (int p = 0; p < 2; p++) {
        double *at[2] = {s.start, s.end};
        for (int k = 0; k < 2; k++)
            at[k][p] = p == 0 ? as_double(ends[k]) : ends[k]->tag == TP_SCALAR_COMPLEX ? ends[k]->v.c[1] : 0;
        s.step[p] = s.n > 1 ? (s.end[p] - s.start[p]) / (double)(s.n - 1) : 0;
    }
    if (s.n == 1) s.both_ends = false;
    return tpi_set_out(c, 0, generate("linspace", &s));
}

int k_eye(tp_call *c)
{
    int64_t n = arg_i(&c->args[0]), m = arg_none(&c->args[1]) ? n : arg_i(&c->args[1]), shape[2] = {n, m};
    tp_tensor *t = zeroed(sized("eye", &(tp_val){.tag = TPI_INTS, .n = 2, .v.ints = shape},
                                dtype_or(&c->args[2], tp_get_default_dtype())));
    if (!t) return tp_error_code();
    tp_scalar one = {.tag = TP_SCALAR_INT, .v.i = 1};
    _Alignas(16) char value[16];
    int size = tpi_esize(t->dtype);
    tpi_store_scalar(value, t->dtype, &one);
    for (int64_t i = 0; i < n && i < m; i++) memcpy((char *)tpi_data(t) + i * (m + 1) * size, value, (size_t)size);
    c->out[0] = t;
    return 0;
}

/* Columns of row i that belong to the triangle: [*from, *to). */
static void triangle_row(int64_t i, int64_t cols, int64_t offset, bool upper, int64_t *from, int64_t *to)
{
    int64_t edge;
    if (__builtin_add_overflow(i + !upper, offset, &edge)) edge = INT64_MAX;
    edge = edge < 0 ? 0 : edge > cols ? cols : edge;
    *from = upper ? edge : 0;
    *to = upper ? cols : edge;
}

static int triangle_indices(tp_call *c, const char *op, bool upper)
{
    int64_t rows = arg_i(&c->args[0]), cols = arg_i(&c->args[1]), offset = arg_i(&c->args[2]), shape[2] = {rows, cols};
    int64_t numel, from, to, n = 0;
    int rc = tpi_numel(op, 2, shape, &numel), dtype = dtype_or(&c->args[3], TP_INT64);
    if (rc) return rc;
    if (!tpi_is_int(dtype)) return tpi_fail(TP_ERR_TYPE, "%s: dtype %s is no integer", op, tp_dtype_name(dtype));
    for (int64_t i = 0; i < rows; i++) {
        triangle_row(i, cols, offset, upper, &from, &to);
        n += to - from;
    }
    tp_tensor *t = tpi_empty(TP_INT64, 2, (int64_t[]){2, n});
    if (!t) return tp_error_code();
    int64_t *row = tpi_data(t), *col = row + n;
    for (int64_t i = 0; i < rows; i++) {
        triangle_row(i, cols, offset, upper, &from, &to);
        for (int64_t j = from; j < to; j++) {
            *row++ = i;
            *col++ = j;
        }
    }
    if (dtype == TP_INT64) return tpi_set_out(c, 0, t);
    rc = tpi_set_out(c, 0, tpi_dense_cast(t, dtype));
    tp_release(t);
    return rc;
}

int k_tril_indices(tp_call *c) { return triangle_indices(c, "tril_indices", false); }
int k_triu_indices(tp_call *c) { return triangle_indices(c, "triu_indices", true); }
