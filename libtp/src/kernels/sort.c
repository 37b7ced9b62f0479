/* Sorting and selecting along one dimension. Elements become unsigned keys of the same order, in which NaN is the
 * largest and -0 equals 0; keys with positions are sorted digit by digit, which is stable and linear. */
#include "core/alloc.h"
#include "kernels/half.h"
#include "kernels/reduce.h"
#include "kernels/scan.h"
#include "tpi_ops.h"

#define SORT_COLS 64             /* strided lines that are loaded together, at most */

enum { SORT, TOPK, KTH };

typedef void (*key_fn)(void *keys, const void *src, int64_t n, int64_t stride, uint64_t invert);

typedef struct sorter {
    tpi_lines lines;             /* first: a body of tpi_for_lines finds the rest behind it */
    const char *src;
    char *values;                /* NULL: positions only */
    int64_t *indices;
    key_fn load;
    uint64_t invert;             /* exclusive or of keys: all ones for the opposite order */
    int64_t n, ld, nout, k;
    int esize, bits, what;
    bool sorted, wide;           /* wide: keys of 64 bits */
} sorter;

/* ---- keys ---- */

static inline uint32_t key_f32(float x)
{
    uint32_t u = tpi_f32_bits(x + 0.0f), k = u ^ (u >> 31 ? 0xffffffffu : 0x80000000u);
    return x != x ? 0xffffffffu : k;
}

static inline uint64_t key_f64(double x)
{
    uint64_t u;
    x += 0.0;
    memcpy(&u, &x, 8);
    uint64_t k = u ^ (u >> 63 ? UINT64_MAX : UINT64_C(1) << 63);
    return x != x ? UINT64_MAX : k;
}

/* exponent and fraction of a 16-bit format: above `inf` is NaN */
static inline uint32_t key_half(uint16_t u, uint16_t inf)
{
    uint32_t a = u & 0x7fff, k = a == 0 ? 0x8000u : u & 0x8000 ? (uint16_t)~u : u | 0x8000u;
    return a > inf ? 0xffffu : k;
}

#define KEYS(name, F, K, bits, expr)                                                                 \
    TP_CLONES static void name(void *kp, const void *sp, int64_t n, int64_t stride, uint64_t invert) \
    {                                                                                                \
        K *restrict k = kp, flip = (K)(invert >> (64 - bits));                                       \
        const F *restrict s = sp;                                                                    \
        if (stride == 1)                                                                             \
            for (int64_t i = 0; i < n; i++) {                                                        \
                F x = s[i];                                                                          \
                k[i] = (K)(expr) ^ flip;                                                             \
            }                                                                                        \
        else                                                                                         \
            for (int64_t i = 0; i < n; i++) {                                                        \
                F x = s[i * stride];                                                                 \
                k[i] = (K)(expr) ^ flip;                                                             \
            }                                                                                        \
    }

#define ALL_KEYS(suffix, K)                                   \
    KEYS(u8_##suffix, uint8_t, K, 8, x)                       \
    KEYS(i8_##suffix, uint8_t, K, 8, x ^ 0x80)                \
    KEYS(u16_##suffix, uint16_t, K, 16, x)                    \
    KEYS(i16_##suffix, uint16_t, K, 16, x ^ 0x8000)           \
    KEYS(u32_##suffix, uint32_t, K, 32, x)                    \
    KEYS(i32_##suffix, uint32_t, K, 32, x ^ 0x80000000u)      \
    KEYS(f16_##suffix, uint16_t, K, 16, key_half(x, 0x7c00))  \
    KEYS(bf16_##suffix, uint16_t, K, 16, key_half(x, 0x7f80)) \
    KEYS(f32_##suffix, float, K, 32, key_f32(x))
ALL_KEYS(narrow, uint32_t)
ALL_KEYS(wide, uint64_t)         /* for lines of 2^32 elements and more */
KEYS(u64_wide, uint64_t, uint64_t, 64, x)
KEYS(i64_wide, uint64_t, uint64_t, 64, x ^ (UINT64_C(1) << 63))
KEYS(f64_wide, double, uint64_t, 64, key_f64(x))

static const key_fn narrow_keys[] = {
    u8_narrow,  u8_narrow, i8_narrow, u16_narrow, i16_narrow,  u32_narrow,
    i32_narrow, NULL,      NULL,      f16_narrow, bf16_narrow, f32_narrow,
};
static const key_fn wide_keys[] = {
    u8_wide,  u8_wide,  i8_wide,  u16_wide,  i16_wide, u32_wide, i32_wide,
    u64_wide, i64_wide, f16_wide, bf16_wide, f32_wide, f64_wide,
};

/* Writes the results of a line: src is its first element, at that of the output. */
static void put(const sorter *w, const char *src, const int64_t *index, int64_t at)
{
    int64_t n = w->nout, ld = w->ld;
    for (int64_t i = 0; i < n; i++) w->indices[at + i * ld] = index[i];
    if (!w->values) return;
#define PUT(T)                                                                                      \
    for (int64_t i = 0; i < n; i++) ((T *)w->values)[at + i * ld] = ((const T *)src)[index[i] * ld]
    switch (w->esize) {
    case 1: PUT(uint8_t); break;
    case 2: PUT(uint16_t); break;
    case 4: PUT(uint32_t); break;
    default: PUT(uint64_t); break;
    }
#undef PUT
}

#define K uint32_t
#define KB 32
#define R uint64_t
#define SUF narrow
#define LINE line_narrow
#include "kernels/sort_line.h"

static void line_wide(const sorter *w, const uint64_t *keys, unsigned __int128 *r, unsigned __int128 *tmp,
                      uint64_t *count, int64_t *index);

/* Wide keys that lie close together, as integers often do, less their smallest one as narrow keys. */
static void line_shrunk(const sorter *w, const uint64_t *keys, unsigned __int128 *r, unsigned __int128 *tmp,
                        uint64_t *count, int64_t *index)
{
    uint64_t low = UINT64_MAX, high = 0;
    for (int64_t i = 0; i < w->n; i++) {
        low = keys[i] < low ? keys[i] : low;
        high = keys[i] > high ? keys[i] : high;
    }
    if (high - low > UINT32_MAX || w->n > UINT32_MAX || (w->what == KTH && w->sorted)) {
        line_wide(w, keys, r, tmp, count, index);
        return;
    }
    uint32_t *narrow = (uint32_t *)tmp;        /* the first half of tmp; records go to r, both halves */
    for (int64_t i = 0; i < w->n; i++) narrow[i] = (uint32_t)(keys[i] - low);
    sorter n = *w;
    n.bits = high > low ? 64 - __builtin_clzll(high - low) : 1;
    line_narrow(&n, narrow, (uint64_t *)r, (uint64_t *)r + w->n, (uint32_t *)count, index);
}

#define K uint64_t
#define KB 64
#define R unsigned __int128
#define SUF wide
#define LINE line_shrunk
#include "kernels/sort_line.h"

static void sort_tile(tpi_lines *l, int64_t first, int64_t cols)
{
    const sorter *w = (const sorter *)l;
    if (!(w->wide ? lines_wide : lines_narrow)(w, first, cols)) l->failed = TP_ERR_MEMORY;
}

/* Sorts or selects along dim; out[0] values (unless c->nout is 1), out[last] positions, nout of them a line. */
static int run(tp_call *c, sorter *w, int dim, int64_t nout, bool squeeze)
{
    tp_tensor *x = tpi_dense_contiguous(arg_t(&c->args[0])), *values = NULL, *indices = NULL;
    if (!x) return tp_error_code();
    int64_t shape[TP_MAX_NDIM];
    int ndim = x->ndim;
    memcpy(shape, x->shape, sizeof(int64_t) * (size_t)ndim);
    shape[dim] = nout;
    if (squeeze) {
        memmove(shape + dim, shape + dim + 1, sizeof(int64_t) * (size_t)(ndim - dim - 1));
        ndim--;
    }
    bool with_values = c->op->nouts == 2;
    int rc = TP_ERR_MEMORY;
    if ((indices = tpi_empty(TP_INT64, ndim, shape)) && (!with_values || (values = tpi_empty(x->dtype, ndim, shape)))) {
        w->src = tpi_data(x);
        w->values = values ? tpi_data(values) : NULL;
        w->indices = tpi_data(indices);
        w->n = x->shape[dim];
        w->nout = nout;
        w->esize = tpi_esize(x->dtype);
        w->bits = x->dtype == TP_BOOL ? 8 : 8 * w->esize;
        w->wide = w->esize == 8 || w->n > UINT32_MAX;
        w->load = (w->wide ? wide_keys : narrow_keys)[x->dtype];
        w->lines.tile = sort_tile;
        w->ld = 1;
        for (int d = dim + 1; d < x->ndim; d++) w->ld *= x->shape[d];
        tpi_for_lines(&w->lines, x, dim, w->n <= 2048 ? SORT_COLS : w->n <= 16384 ? SORT_COLS / 4 : 1);
        if (!w->lines.failed) rc = 0;
        else tpi_fail(TP_ERR_MEMORY, "%s: out of memory for lines of %lld elements", c->op->name, (long long)w->n);
    }
    tp_release(x);
    if (rc) {
        tp_release(values);
        tp_release(indices);
        return rc;
    }
    if (with_values) c->out[0] = values;
    c->out[with_values] = indices;
    return 0;
}

int k_sort(tp_call *c)
{
    int dim = (int)arg_i(&c->args[1]);
    sorter w = {.what = SORT, .invert = arg_b(&c->args[2]) ? UINT64_MAX : 0};
    return run(c, &w, dim, arg_t(&c->args[0])->shape[dim], false);
}

int k_topk(tp_call *c)
{
    int dim = (int)arg_i(&c->args[1]);
    sorter w = {.what = TOPK,
                .k = arg_i(&c->args[2]),
                .invert = arg_b(&c->args[3]) ? UINT64_MAX : 0,
                .sorted = arg_b(&c->args[4])};
    return run(c, &w, dim, w.k, false);
}

int k_kth(tp_call *c)
{
    sorter w = {.what = KTH, .k = arg_i(&c->args[2]), .sorted = arg_b(&c->args[3])};
    w.sorted &= arg_t(&c->args[0])->dtype >= TP_FLOAT16;
    return run(c, &w, (int)arg_i(&c->args[1]), 1, true);
}
