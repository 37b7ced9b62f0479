/* Copies between strided tensors, and filling. */
#include "core/clones.h"
#include "core/error.h"
#include "core/pool.h"
#include "dispatch/op.h"
#include "kernels/cast.h"
#include "kernels/iter.h"
#include "kernels/kernels.h"

typedef struct unit128 {
    uint64_t a, b;
} unit128;

#define COPY_LOOP(NAME, UNIT)                                                                      \
    TP_CLONES static void NAME(int64_t n, char **p, const int64_t *s, void *ctx)                   \
    {                                                                                              \
        char *dst = p[0], *src = p[1];                                                             \
        if (s[0] == sizeof(UNIT) && s[1] == sizeof(UNIT)) {                                        \
            memcpy(dst, src, (size_t)n * sizeof(UNIT));                                            \
        } else if (s[0] == sizeof(UNIT) && s[1] == 0) {                                            \
            UNIT v = *(UNIT *)src, *o = (UNIT *)dst;                                               \
            for (int64_t k = 0; k < n; k++) o[k] = v;                                              \
        } else {                                                                                   \
            for (int64_t k = 0; k < n; k++, dst += s[0], src += s[1]) *(UNIT *)dst = *(UNIT *)src; \
        }                                                                                          \
    }
COPY_LOOP(copy1, uint8_t)
COPY_LOOP(copy2, uint16_t)
COPY_LOOP(copy4, uint32_t)
COPY_LOOP(copy8, uint64_t)
COPY_LOOP(copy16, unit128)

static tpi_loop copy_loop(int size)
{
    return size == 1 ? copy1 : size == 2 ? copy2 : size == 4 ? copy4 : size == 8 ? copy8 : copy16;
}

/* NOTE: transposed copies
 * dst runs along dimension 0 in memory, src along another one. Going along either alone touches a cache line for
 * each element of the other, so the plane of the two is cut into tiles that fit the first-level cache; 4- and 8-byte
 * elements are exchanged in registers. rows count along src's fast dimension. */
enum { TILE = 64 };

typedef uint32_t v4 __attribute__((vector_size(16), aligned(4)));
typedef uint64_t v2 __attribute__((vector_size(16), aligned(8)));

/* dst[j * dj + i] = src[i * si + j] for i < ni, j < nj (in elements) */
#define TILE_PLAIN(NAME, UNIT)                                                                                \
    static void NAME(char *dst, int64_t dj, const char *src, int64_t si, int64_t ni, int64_t nj)              \
    {                                                                                                         \
        for (int64_t j = 0; j < nj; j++)                                                                      \
            for (int64_t i = 0; i < ni; i++) ((UNIT *)(dst + j * dj))[i] = ((const UNIT *)(src + i * si))[j]; \
    }
TILE_PLAIN(tile1, uint8_t)
TILE_PLAIN(tile2, uint16_t)
TILE_PLAIN(tile4_edge, uint32_t)
TILE_PLAIN(tile8_edge, uint64_t)
TILE_PLAIN(tile16, unit128)

static void tile4(char *dst, int64_t dj, const char *src, int64_t si, int64_t ni, int64_t nj)
{
    int64_t mi = ni & ~3, mj = nj & ~3;
    for (int64_t j = 0; j < mj; j += 4)
        for (int64_t i = 0; i < mi; i += 4) {
            const char *s = src + i * si + j * 4;
            v4 a = *(const v4 *)s, b = *(const v4 *)(s + si), c = *(const v4 *)(s + 2 * si),
               d = *(const v4 *)(s + 3 * si);
            v4 ab0 = __builtin_shuffle(a, b, (v4){0, 4, 1, 5}), ab1 = __builtin_shuffle(a, b, (v4){2, 6, 3, 7});
            v4 cd0 = __builtin_shuffle(c, d, (v4){0, 4, 1, 5}), cd1 = __builtin_shuffle(c, d, (v4){2, 6, 3, 7});
            char *o = dst + j * dj + i * 4;
            *(v4 *)o = __builtin_shuffle(ab0, cd0, (v4){0, 1, 4, 5});
            *(v4 *)(o + dj) = __builtin_shuffle(ab0, cd0, (v4){2, 3, 6, 7});
            *(v4 *)(o + 2 * dj) = __builtin_shuffle(ab1, cd1, (v4){0, 1, 4, 5});
            *(v4 *)(o + 3 * dj) = __builtin_shuffle(ab1, cd1, (v4){2, 3, 6, 7});
        }
    if (mi < ni) tile4_edge(dst + mi * 4, dj, src + mi * si, si, ni - mi, nj);
    if (mj < nj) tile4_edge(dst + mj * dj, dj, src + mj * 4, si, mi, nj - mj);
}

static void tile8(char *dst, int64_t dj, const char *src, int64_t si, int64_t ni, int64_t nj)
{
    int64_t mi = ni & ~1, mj = nj & ~1;
    for (int64_t j = 0; j < mj; j += 2)
        for (int64_t i = 0; i < mi; i += 2) {
            const char *s = src + i * si + j * 8;
            v2 a = *(const v2 *)s, b = *(const v2 *)(s + si);
            char *o = dst + j * dj + i * 8;
            *(v2 *)o = __builtin_shuffle(a, b, (v2){0, 2});
            *(v2 *)(o + dj) = __builtin_shuffle(a, b, (v2){1, 3});
        }
    if (mi < ni) tile8_edge(dst + mi * 8, dj, src + mi * si, si, ni - mi, nj);
    if (mj < nj) tile8_edge(dst + mj * dj, dj, src + mj * 8, si, mi, nj - mj);
}

typedef void (*tile_fn)(char *dst, int64_t dj, const char *src, int64_t si, int64_t ni, int64_t nj);

typedef struct turn {
    tile_fn tile;
    int ndim, fast, size;
    int64_t shape[TP_MAX_NDIM];
    int64_t stride[2][TP_MAX_NDIM];
    int64_t bands;
    char *dst, *src;
} turn;

/* One unit of work is a band of TILE steps along dimension 0 of one plane. */
static void turn_range(int64_t begin, int64_t end, void *arg)
{
    const turn *t = arg;
    for (int64_t u = begin; u < end; u++) {
        int64_t rest = u / t->bands, i0 = u % t->bands * TILE;
        char *dst = t->dst + i0 * t->stride[0][0], *src = t->src + i0 * t->stride[1][0];
        for (int d = 1; d < t->ndim; d++) {
            if (d == t->fast) continue;
            dst += rest % t->shape[d] * t->stride[0][d];
            src += rest % t->shape[d] * t->stride[1][d];
            rest /= t->shape[d];
        }
        int64_t ni = t->shape[0] - i0 < TILE ? t->shape[0] - i0 : TILE;
        for (int64_t j0 = 0; j0 < t->shape[t->fast]; j0 += TILE) {
            int64_t nj = t->shape[t->fast] - j0 < TILE ? t->shape[t->fast] - j0 : TILE;
            t->tile(dst + j0 * t->stride[0][t->fast], t->stride[0][t->fast], src + j0 * t->size, t->stride[1][0], ni,
                    nj);
        }
    }
}

static bool try_turn(tp_tensor *dst, tp_tensor *src)
{
    turn t;
    if (dst->ndim < 2) return false;
    t.size = tpi_esize(dst->dtype);
    t.ndim = dst->ndim;
    for (int d = 0; d < t.ndim; d++) {
        t.shape[d] = dst->shape[d];
        t.stride[0][d] = dst->strides[d] * t.size;
        t.stride[1][d] = src->strides[d] * t.size;
    }
    t.ndim = tpi_iter_fold(2, t.ndim, t.shape, t.stride);
    if (t.ndim < 2 || t.stride[0][0] != t.size || t.stride[1][0] == t.size || t.shape[0] < 4) return false;
    t.fast = 0;
    for (int d = 1; d < t.ndim; d++)
        if (t.stride[1][d] == t.size && t.shape[d] >= 4) t.fast = d;
    if (t.fast == 0) return false;
    t.tile = t.size == 1 ? tile1 : t.size == 2 ? tile2 : t.size == 4 ? tile4 : t.size == 8 ? tile8 : tile16;
    t.bands = (t.shape[0] + TILE - 1) / TILE;
    t.dst = tpi_data(dst);
    t.src = tpi_data(src);
    int64_t units = t.bands;
    for (int d = 1; d < t.ndim; d++)
        if (d != t.fast) units *= t.shape[d];
    int64_t grain = TPI_ITER_GRAIN / (TILE * t.shape[t.fast]);
    tpi_parallel_for(units, grain < 1 ? 1 : grain, turn_range, &t);
    return true;
}

static void copy_bytes(int64_t begin, int64_t end, void *arg)
{
    char **p = arg;
    memcpy(p[0] + begin, p[1] + begin, (size_t)(end - begin));
}

/* Same dtype and shape, disjoint memory, dst is writable. */
static void copy_same(tp_tensor *dst, tp_tensor *src)
{
    if (dst->numel == 0) return;
    int size = tpi_esize(dst->dtype);
    char *ptr[2] = {tpi_data(dst), tpi_data(src)};
    if (tpi_dense_is_contiguous(dst) && tpi_dense_is_contiguous(src)) {
        tpi_parallel_for(dst->numel * size, 1 << 20, copy_bytes, ptr);
        return;
    }
    if (try_turn(dst, src)) return;
    int64_t stride[2][TP_MAX_NDIM];
    for (int d = 0; d < dst->ndim; d++) {
        stride[0][d] = dst->strides[d] * size;
        stride[1][d] = src->strides[d] * size;
    }
    tpi_iterate(2, ptr, dst->ndim, dst->shape, (const int64_t *const[]){stride[0], stride[1]}, copy_loop(size), NULL);
}

static void copy_cast(tp_tensor *dst, tp_tensor *src)
{
    int64_t stride[2][TP_MAX_NDIM];
    for (int d = 0; d < dst->ndim; d++) {
        stride[0][d] = dst->strides[d] * tpi_esize(dst->dtype);
        stride[1][d] = src->strides[d] * tpi_esize(src->dtype);
    }
    tpi_caster c;
    tpi_cast_plan(&c, src->dtype, dst->dtype);
    tpi_iterate(2, (char *[]){tpi_data(dst), tpi_data(src)}, dst->ndim, dst->shape,
                (const int64_t *const[]){stride[0], stride[1]}, tpi_cast_loop, &c);
}

int tpi_dense_copy(tp_tensor *dst, tp_tensor *src)
{
    if (dst->ndim != src->ndim || memcmp(dst->shape, src->shape, (size_t)dst->ndim * sizeof(int64_t)) != 0)
        return tpi_fail(TP_ERR_VALUE, "copy_: shapes %s and %s differ", tpi_str(dst), tpi_str(src));
    int status = tpi_check_writable("copy_", dst);
    if (status) return status;
    tp_tensor *tmp = NULL;
    int overlap = dst->storage == src->storage || dst->storage->foreign || src->storage->foreign ? tpi_overlap(dst, src)
                                                                                                 : 0;
    if (overlap == 2 && dst->dtype == src->dtype) {
        tpi_bump_version(dst);
        return 0;
    }
    if (overlap) {
        tmp = tpi_empty_like(src, src->dtype);
        if (!tmp) return tp_error_code();
        copy_same(tmp, src);
        src = tmp;
    }
    tpi_bump_version(dst);
    if (dst->dtype == src->dtype) copy_same(dst, src);
    else copy_cast(dst, src);
    if (tmp) tp_release(tmp);
    return 0;
}

int tpi_dense_fill(tp_tensor *dst, const tp_scalar *v)
{
    int status = tpi_check_writable("fill_", dst);
    if (status) return status;
    tpi_bump_version(dst);
    if (dst->numel == 0) return 0;
    union {
        unit128 u;
        char bytes[16];
    } value;
    int size = tpi_esize(dst->dtype);
    tpi_store_scalar(value.bytes, dst->dtype, v);
    int64_t stride[2][TP_MAX_NDIM];
    for (int d = 0; d < dst->ndim; d++) {
        stride[0][d] = dst->strides[d] * size;
        stride[1][d] = 0;
    }
    tpi_iterate(2, (char *[]){tpi_data(dst), value.bytes}, dst->ndim, dst->shape,
                (const int64_t *const[]){stride[0], stride[1]}, copy_loop(size), NULL);
    return 0;
}

int k_cast(tp_call *c)
{
    c->out[0] = tpi_dense_cast(arg_t(&c->args[0]), (int)arg_i(&c->args[1]));
    return c->out[0] ? 0 : tp_error_code();
}

int k_clone(tp_call *c)
{
    tp_tensor *t = arg_t(&c->args[0]);
    c->out[0] = tpi_dense_cast(t, t->dtype);
    return c->out[0] ? 0 : tp_error_code();
}
