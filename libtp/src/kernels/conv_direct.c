/* Convolutions of real numbers without columns: see the note in conv.h.
 *
 * NOTE: positions
 * Outputs are computed for a whole plane of positions, row behind row, in the pitch of the image: position q of one
 * tap reads element q + offset(tap), so that vectors of positions need unaligned loads and nothing else. Positions
 * behind the end of an output row are computed and dropped. Padding, and strides of the window, need a copy of the
 * image first: with its border, and with elements of equal remainder modulo the stride side by side (a phase). */
#include "core/alloc.h"
#include "core/cpu.h"
#include "core/pool.h"
#include "kernels/conv.h"
#include "kernels/conv_rows.h"

#include "tp/runtime.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && !defined(TP_SANITIZE)
#define KERNELS_FOR_X86 1
#endif

enum { VECTORS = 3 };

/* c[MR][NV vectors] = sum over k of column k of a with the positions that begin at x + offset[k]. */
#define MICRO(NAME, T, BYTES, MR, NV, TARGET)                                                                     \
    TARGET static void NAME(int64_t kc, const T *restrict a, const T *restrict x, const int64_t *restrict offset, \
                            T *restrict c, int64_t ldc)                                                           \
    {                                                                                                             \
        typedef T vec __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias));                         \
        enum { W = (BYTES) / sizeof(T) };                                                                         \
        vec s[MR][NV] = {{{0}}};                                                                                  \
        for (int64_t k = 0; k < kc; k++, a += (MR)) {                                                             \
            const T *p = x + offset[k];                                                                           \
            vec b[NV];                                                                                            \
            _Pragma("GCC unroll 8") for (int v = 0; v < (NV); v++) b[v] = *(const vec *)(p + v * W);              \
            _Pragma("GCC unroll 8") for (int i = 0; i < (MR); i++)                                                \
                _Pragma("GCC unroll 8") for (int v = 0; v < (NV); v++) s[i][v] += a[i] * b[v];                    \
        }                                                                                                         \
        _Pragma("GCC unroll 8") for (int i = 0; i < (MR); i++)                                                    \
                _Pragma("GCC unroll 8") for (int v = 0; v < (NV); v++) *                                          \
            (vec *)(c + i * ldc + v * W) = s[i][v];                                                               \
    }

/* Rows of a plane: n elements each, read at one pitch and written at another. Long enough rows in whole vectors, the
 * last of which overlaps. */
#define COPY(NAME, T, BYTES, TARGET)                                                                             \
    TARGET static void NAME(int64_t rows, int64_t n, const T *from, int64_t from_pitch, T *to, int64_t to_pitch) \
    {                                                                                                            \
        typedef T vec __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias));                        \
        enum { W = (BYTES) / sizeof(T) };                                                                        \
        for (int64_t r = 0; r < rows; r++, from += from_pitch, to += to_pitch) {                                 \
            if (n < W) {                                                                                         \
                for (int64_t j = 0; j < n; j++) to[j] = from[j];                                                 \
                continue;                                                                                        \
            }                                                                                                    \
            for (int64_t j = 0; j + W <= n; j += W) *(vec *)(to + j) = *(const vec *)(from + j);                 \
            *(vec *)(to + n - W) = *(const vec *)(from + n - W);                                                 \
        }                                                                                                        \
    }

#define MICRO3(SUFFIX, X, T, BYTES, MR, TARGET)                     \
    MICRO(micro_##SUFFIX##_##X##_##MR##_1, T, BYTES, MR, 1, TARGET) \
    MICRO(micro_##SUFFIX##_##X##_##MR##_2, T, BYTES, MR, 2, TARGET) \
    MICRO(micro_##SUFFIX##_##X##_##MR##_3, T, BYTES, MR, 3, TARGET)
#define MICROS(SUFFIX, X, T, BYTES, TARGET)     \
    MICRO3(SUFFIX, X, T, BYTES, 1, TARGET)      \
    MICRO3(SUFFIX, X, T, BYTES, 2, TARGET)      \
    MICRO3(SUFFIX, X, T, BYTES, 4, TARGET)      \
    COPY(copy_##SUFFIX##_##X, T, BYTES, TARGET)

#define NAMES3(SUFFIX, X, MR)                                                                           \
    {micro_##SUFFIX##_##X##_##MR##_1, micro_##SUFFIX##_##X##_##MR##_2, micro_##SUFFIX##_##X##_##MR##_3}
#define NAMES(SUFFIX, X) NAMES3(SUFFIX, X, 1), NAMES3(SUFFIX, X, 2), NAMES3(SUFFIX, X, 4)

#ifdef KERNELS_FOR_X86
#define V4 __attribute__((target("arch=x86-64-v4,prefer-vector-width=512")))
#define V3 __attribute__((target("arch=x86-64-v3")))
#define FAMILIES_X86(X, T)      \
    MICROS(v4, X, T, 64, V4)    \
    MICRO3(v4, X, T, 64, 8, V4) \
    MICROS(v3, X, T, 32, V3)
#define PICK_X86(X, T)                                                                   \
    static const family_##X v4 = {64, 8, {NAMES(v4, X), NAMES3(v4, X, 8)}, copy_v4_##X}; \
    static const family_##X v3 = {32, 4, {NAMES(v3, X)}, copy_v3_##X};                   \
    const char *capability = tp_cpu_capability();                                        \
    if (!strcmp(capability, "avx512")) return &v4;                                       \
    if (!strcmp(capability, "avx2")) return &v3;
#else
#define FAMILIES_X86(X, T)
#define PICK_X86(X, T)
#endif

/* Vectors of `bytes`; blocks of 1, 2, 4, ... `rows` output channels, of 1 to VECTORS vectors of positions. */
#define ENGINE(X, T)                                                                      \
    typedef void micro_##X(int64_t, const T *, const T *, const int64_t *, T *, int64_t); \
    typedef struct family_##X {                                                           \
        int bytes, rows;                                                                  \
        micro_##X *micro[4][VECTORS];                                                     \
        void (*copy)(int64_t, int64_t, const T *, int64_t, T *, int64_t);                 \
    } family_##X;                                                                         \
    MICROS(base, X, T, 16, )                                                              \
    FAMILIES_X86(X, T)                                                                    \
    static const family_##X *pick_##X(void)                                               \
    {                                                                                     \
        PICK_X86(X, T)                                                                    \
        static const family_##X base = {16, 4, {NAMES(base, X)}, copy_base_##X};          \
        return &base;                                                                     \
    }

ENGINE(f32, float)
ENGINE(f64, double)

typedef struct plan {
    const tpi_conv *c;
    int size;              /* bytes of an element */
    int rows, lanes;       /* of a block of output channels; of one vector */
    bool direct;           /* the image is read where it lies */
    int64_t pitch, plane;  /* of a row, of the two last dimensions of the image */
    int64_t channel;       /* elements between channels of the image */
    int64_t positions;     /* of an output plane */
    int64_t padded;        /* positions of the scratch plane: whole vectors */
    const void *family;
    int64_t blocks, units; /* of `rows` channels; with the smaller ones that cover the rest */
    int64_t kc;
    int64_t phases[3], phase_size;
    int64_t *offset;       /* kc */
    int64_t *order[3];     /* remainders of the phases: element r of a phase is input r * stride + remainder - pad */
    char *packed;          /* weights: [stack][group][unit][kc][its channels] */
    int64_t packed_group;
    int64_t parts;         /* jobs that share one image */
    size_t image_bytes, scratch_bytes;
    _Atomic int status;
} plan;

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

static const void *family_of(int dtype, int *rows, int *lanes)
{
    if (dtype == TP_FLOAT32) {
        const family_f32 *f = pick_f32();
        *rows = f->rows;
        *lanes = f->bytes / (int)sizeof(float);
        return f;
    }
    const family_f64 *f = pick_f64();
    *rows = f->rows;
    *lanes = f->bytes / (int)sizeof(double);
    return f;
}

/* The channels of the unit that begins at channel k. */
static int unit_rows(const plan *p, int64_t k)
{
    int rows = p->rows;
    while (k + rows > p->c->co) rows /= 2;
    return rows;
}

/* The first channel of unit u. */
static int64_t unit_start(const plan *p, int64_t u)
{
    int64_t k = min64(u, p->blocks) * p->rows;
    for (int64_t i = p->blocks; i < u; i++) k += unit_rows(p, k);
    return k;
}

/* Elements of a phase of dimension d that windows reach. */
static int64_t phase_length(const tpi_window *d) { return d->out + (d->taps - 1) * d->dilation / d->stride; }

static bool reads_in_place(const tpi_conv *c)
{
    for (int d = 0; d < 3; d++) {
        const tpi_window *w = &c->d[d];
        if (w->stride != 1 || w->pad != 0 || phase_length(w) > w->in) return false;
    }
    return true;
}

bool tpi_conv_direct_fits(const tpi_conv *c)
{
    if ((c->dtype != TP_FLOAT32 && c->dtype != TP_FLOAT64) || tpi_conv_taps(c) == 0 || tpi_conv_out(c) == 0)
        return false;
    int rows, lanes;
    family_of(c->dtype, &rows, &lanes);
    bool in_place = reads_in_place(c);
    int64_t pitch = in_place ? c->d[2].in : phase_length(&c->d[2]);
    if (!in_place) { /* a copy that is mostly border costs more than it saves */
        double copy = 1;
        for (int d = 0; d < 3; d++)
            copy *= (double)phase_length(&c->d[d]) * (double)min64(c->d[d].taps, c->d[d].stride);
        if (copy > 4096 + 8 * ((double)tpi_conv_in(c) + (double)tpi_conv_out(c))) return false;
    }
    int64_t positions = (c->d[1].out - 1) * pitch + c->d[2].out;
    int64_t computed = (positions + lanes - 1) / lanes * lanes;
    return 2 * c->d[1].out * c->d[2].out >= computed;
}

/* ---- image ---- */

/* Only what lies inside of the image: its border, the same for all, is zero from the start. */
#define FILL(NAME, T)                                                                                           \
    static void NAME(const plan *p, const T *x, T *to)                                                          \
    {                                                                                                           \
        const tpi_window *w = p->c->d;                                                                          \
        int64_t rows = phase_length(&w[1]), n = phase_length(&w[2]), s = w[2].stride, lo, hi, j0, j1;           \
        for (int64_t a = 0; a < p->phases[0]; a++)                                                              \
            for (int64_t b = 0; b < p->phases[1]; b++)                                                          \
                for (int64_t e = 0; e < p->phases[2]; e++) {                                                    \
                    int64_t left = p->order[2][e] - w[2].pad, top = p->order[1][b] - w[1].pad; /* of place 0 */ \
                    tpi_run_inside(left, s, w[2].in, n, &lo, &hi);                                              \
                    tpi_run_inside(top, w[1].stride, w[1].in, rows, &j0, &j1);                                  \
                    for (int64_t i = 0; i < phase_length(&w[0]); i++, to += rows * n) {                         \
                        int64_t z = i * w[0].stride + p->order[0][a] - w[0].pad;                                \
                        if (z < 0 || z >= w[0].in) continue;                                                    \
                        for (int64_t j = j0; j < j1; j++) {                                                     \
                            const T *row = x + (z * w[1].in + top + j * w[1].stride) * w[2].in + left;          \
                            T *line = to + j * n;                                                               \
                            if (s == 1) tpi_run_copy(line + lo, row + lo, (hi - lo) * (int64_t)sizeof(T));      \
                            else                                                                                \
                                for (int64_t k = lo; k < hi; k++) line[k] = row[k * s];                         \
                        }                                                                                       \
                    }                                                                                           \
                }                                                                                               \
    }
FILL(fill_f32, float)
FILL(fill_f64, double)

/* ---- weights ---- */

#define PACK(NAME, T)                                                                                        \
    static void NAME(const plan *p)                                                                          \
    {                                                                                                        \
        const tpi_conv *c = p->c;                                                                            \
        T *to = (T *)p->packed;                                                                              \
        int64_t stacks = c->ws ? c->stacks : 1, rows;                                                        \
        for (int64_t s = 0; s < stacks; s++)                                                                 \
            for (int64_t g = 0; g < c->groups; g++)                                                          \
                for (int64_t k0 = 0; k0 < c->co; k0 += rows) {                                               \
                    rows = unit_rows(p, k0);                                                                 \
                    const T *w = (const T *)c->w + s * c->ws + g * c->wg + k0 * c->wo;                       \
                    for (int64_t i = 0; i < c->ci; i++)                                                      \
                        for (int64_t a = 0; a < c->d[0].taps; a++)                                           \
                            for (int64_t b = 0; b < c->d[1].taps; b++)                                       \
                                for (int64_t e = 0; e < c->d[2].taps; e++) {                                 \
                                    const T *v = w + i * c->wi + a * c->wt[0] + b * c->wt[1] + e * c->wt[2]; \
                                    for (int64_t r = 0; r < rows; r++) *to++ = v[r * c->wo];                 \
                                }                                                                            \
                }                                                                                            \
    }
PACK(pack_f32, float)
PACK(pack_f64, double)

/* ---- the work on one image ---- */

/* One block of `rows` channels of one output plane. */
#define PLANE(NAME, X, T)                                                                                         \
    static void NAME(const plan *p, const T *packed, int rows, const T *image, T *y, T *scratch)                  \
    {                                                                                                             \
        const tpi_conv *c = p->c;                                                                                 \
        const family_##X *f = p->family;                                                                          \
        micro_##X *const *micro = f->micro[rows == 8 ? 3 : rows / 2];                                             \
        int64_t n = p->positions, lanes = p->lanes;                                                               \
        bool whole = p->pitch == c->d[2].out && n >= lanes; /* no position is dropped: straight into y */         \
        T *to = whole ? y : scratch;                                                                              \
        int64_t ld = whole ? c->yc : p->padded;                                                                   \
        int64_t q = 0;                                                                                            \
        while (q < n) {                                                                                           \
            int64_t left = n - q;                                                                                 \
            bool beyond = !p->direct && !whole; /* there is room behind the last position of both */              \
            if (left < lanes && !beyond) { /* once more over what is there already, rather than beyond it */      \
                q = n - lanes;                                                                                    \
                left = lanes;                                                                                     \
            }                                                                                                     \
            int vectors = (int)min64(VECTORS, (left + (beyond ? lanes - 1 : 0)) / lanes);                         \
            micro[vectors - 1](p->kc, packed, image + q, p->offset, to + q, ld);                                  \
            q += vectors * lanes;                                                                                 \
        }                                                                                                         \
        if (!whole)                                                                                               \
            for (int r = 0; r < rows; r++)                                                                        \
                f->copy(c->d[1].out, c->d[2].out, scratch + r * p->padded, p->pitch, y + r * c->yc, c->d[2].out); \
    }                                                                                                             \
    static void run_##X(int64_t begin, int64_t end, void *ctx)                                                    \
    {                                                                                                             \
        plan *p = ctx;                                                                                            \
        const tpi_conv *c = p->c;                                                                                 \
        T *room = tpi_alloc(p->image_bytes + p->scratch_bytes);                                                   \
        if (!room) {                                                                                              \
            p->status = TP_ERR_MEMORY;                                                                            \
            return;                                                                                               \
        }                                                                                                         \
        T *scratch = (T *)((char *)room + p->image_bytes);                                                        \
        memset(room, 0, p->image_bytes);                                                                          \
        int64_t filled = -1;                                                                                      \
        int64_t out_plane = c->d[1].out * c->d[2].out;                                                            \
        for (int64_t t = begin; t < end; t++) {                                                                   \
            int64_t job = t / p->parts, part = t % p->parts;                                                      \
            int64_t g = job % c->groups, n = job / c->groups % c->samples, s = job / c->groups / c->samples;      \
            const T *x = (const T *)c->x + s * c->xs + n * c->xn + g * c->xg, *image = x;                         \
            if (!p->direct) {                                                                                     \
                if (filled != job)                                                                                \
                    for (int64_t i = 0; i < c->ci; i++) fill_##X(p, x + i * c->xc, room + i * p->channel);        \
                filled = job;                                                                                     \
                image = room;                                                                                     \
            }                                                                                                     \
            const T *w = (const T *)p->packed + ((c->ws ? s : 0) * c->groups + g) * p->packed_group;              \
            T *y = (T *)c->y + s * c->ys + n * c->yn + g * c->yg;                                                 \
            for (int64_t u = p->units * part / p->parts; u < p->units * (part + 1) / p->parts; u++) {             \
                int64_t k = unit_start(p, u);                                                                     \
                for (int64_t z = 0; z < c->d[0].out; z++)                                                         \
                    NAME(p, w + k * p->kc, unit_rows(p, k), image + z * p->plane, y + k * c->yc + z * out_plane,  \
                         scratch);                                                                                \
            }                                                                                                     \
        }                                                                                                         \
        tpi_free(room, p->image_bytes + p->scratch_bytes);                                                        \
    }
PLANE(plane_f32, f32, float)
PLANE(plane_f64, f64, double)

/* Phases that taps of dimension d reach, and where each tap lies: number of its phase, place in it. */
static int64_t phases_of(const tpi_window *d, int64_t *order, int64_t *phase, int64_t *place)
{
    int64_t n = 0;
    for (int64_t t = 0; t < d->taps; t++) {
        int64_t at = t * d->dilation, remainder = at % d->stride, k = 0;
        while (k < n && order[k] != remainder) k++;
        if (k == n) order[n++] = remainder;
        phase[t] = k;
        place[t] = at / d->stride;
    }
    return n;
}

int tpi_conv_direct(const tpi_conv *c)
{
    plan p = {.c = c, .size = tpi_esize(c->dtype)};
    int64_t taps[3] = {c->d[0].taps, c->d[1].taps, c->d[2].taps}, all = taps[0] + taps[1] + taps[2];
    p.family = family_of(c->dtype, &p.rows, &p.lanes);
    p.blocks = p.units = c->co / p.rows;
    for (int64_t k = p.blocks * p.rows; k < c->co; k += unit_rows(&p, k)) p.units++;
    p.kc = c->ci * tpi_conv_taps(c);
    p.packed_group = c->co * p.kc;
    /* In place no vector may reach beyond the last position. */
    p.direct = reads_in_place(c) && (c->d[1].out - 1) * c->d[2].in + c->d[2].out >= p.lanes;

    int64_t stacks = c->ws ? c->stacks : 1;
    size_t packed_bytes = (size_t)(stacks * c->groups * p.packed_group * p.size);
    size_t table_bytes = (size_t)(p.kc + 3 * all) * sizeof(int64_t);
    char *work = tpi_alloc(table_bytes + packed_bytes + 64);
    if (!work) return TP_ERR_MEMORY;
    int64_t *table = (int64_t *)work, *phase[3], *place[3], len[3];
    p.offset = table;
    table += p.kc;
    for (int d = 0; d < 3; d++) {
        p.order[d] = table;
        phase[d] = table + taps[d];
        place[d] = table + 2 * taps[d];
        table += 3 * taps[d];
        p.phases[d] = phases_of(&c->d[d], p.order[d], phase[d], place[d]);
        len[d] = p.direct ? c->d[d].in : phase_length(&c->d[d]);
    }
    p.packed = work + (table_bytes + 63) / 64 * 64;
    p.pitch = len[2];
    p.plane = len[1] * len[2];
    p.phase_size = len[0] * p.plane;
    p.positions = (c->d[1].out - 1) * p.pitch + c->d[2].out;
    p.padded = (p.positions + p.lanes - 1) / p.lanes * p.lanes;
    p.channel = p.direct ? c->xc : p.phases[0] * p.phases[1] * p.phases[2] * p.phase_size;
    int64_t *o = p.offset;
    for (int64_t i = 0; i < c->ci; i++)
        for (int64_t a = 0; a < taps[0]; a++)
            for (int64_t b = 0; b < taps[1]; b++)
                for (int64_t e = 0; e < taps[2]; e++)
                    *o++ = i * p.channel +
                           ((phase[0][a] * p.phases[1] + phase[1][b]) * p.phases[2] + phase[2][e]) * p.phase_size +
                           place[0][a] * p.plane + place[1][b] * p.pitch + place[2][e];
    /* Vectors that reach beyond the last position read beyond the last phase. */
    p.image_bytes = p.direct ? 0 : ((size_t)(c->ci * p.channel + VECTORS * p.lanes) * (size_t)p.size + 63) / 64 * 64;
    p.scratch_bytes = (size_t)(p.rows * p.padded + VECTORS * p.lanes) * (size_t)p.size;

    int64_t jobs = c->stacks * c->samples * c->groups, threads = tp_get_num_threads();
    p.parts = jobs >= 2 * threads || threads == 1 ? 1 : min64(p.units, 2 * threads / max64(jobs, 1) + 1);
    double work_of_job = (double)p.kc * (double)c->co * (double)tpi_conv_out(c) / (double)p.parts;
    int64_t grain = work_of_job > 1e5 ? 1 : (int64_t)(1e5 / (work_of_job + 1)) + 1;
    if (c->dtype == TP_FLOAT32) {
        pack_f32(&p);
        tpi_parallel_for(jobs * p.parts, grain, run_f32, &p);
    } else {
        pack_f64(&p);
        tpi_parallel_for(jobs * p.parts, grain, run_f64, &p);
    }
    tpi_free(work, table_bytes + packed_bytes + 64);
    return p.status ? tpi_fail(p.status, "out of memory: work memory of a convolution") : TP_OK;
}
