/* Fourier transforms over dimensions of tensors: plans, how lines are cut, kernels. See fft.h. */
#include "kernels/fft.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/pool.h"
#include "dispatch/op.h"
#include "kernels/kernels.h"
#include "kernels/shape.h"

/* ---- roots of unity ---- */

/* exp(-2 pi i k / n) for 0 <= k < n, the angle brought below pi / 4 while it is still a fraction. */
static void root(int64_t k, int64_t n, long double *re, long double *im)
{
    bool below = k > n - k, left, swap;
    int64_t a = 4 * (below ? n - k : k); /* quarters of a turn, in units of 1 / n */
    if ((left = a > n)) a = 2 * n - a;
    if ((swap = 2 * a > n)) a = n - a;
    long double t = 1.57079632679489661923132169163975144L * (long double)a / (long double)n;
    long double c = cosl(t), s = sinl(t);
    *re = left ? -(swap ? s : c) : swap ? s : c;
    *im = below ? (swap ? c : s) : -(swap ? c : s);
}

/* All roots of one order as products of two tables: an extended multiplication costs less than a cosine. */
typedef struct roots {
    int64_t n, block, count;
    long double *low, *high;
} roots;

static int roots_open(roots *t, int64_t n)
{
    t->n = n;
    t->block = 1;
    while (t->block * t->block < n) t->block *= 2;
    t->count = n / t->block + 1;
    size_t size = 2 * sizeof(long double) * (size_t)(t->block + t->count);
    if (!(t->low = tpi_alloc(size))) return tp_error_code();
    t->high = t->low + 2 * t->block;
    for (int64_t k = 0; k < t->block; k++) root(k % n, n, t->low + 2 * k, t->low + 2 * k + 1);
    for (int64_t k = 0; k < t->count; k++) root(k * t->block % n, n, t->high + 2 * k, t->high + 2 * k + 1);
    return 0;
}

static void roots_close(roots *t) { tpi_free(t->low, 2 * sizeof(long double) * (size_t)(t->block + t->count)); }

static void roots_at(const roots *t, int64_t k, long double *re, long double *im)
{
    const long double *a = t->low + 2 * (k % t->block), *b = t->high + 2 * (k / t->block);
    *re = a[0] * b[0] - a[1] * b[1];
    *im = a[0] * b[1] + a[1] * b[0];
}

static void put(int dtype, void *p, int64_t i, long double v)
{
    if (dtype == TP_FLOAT32) ((float *)p)[i] = (float)v;
    else ((double *)p)[i] = (double)v;
}

/* ---- plans ---- */

/* The radices of n; 0 where a prime is too large. */
static int factor(int64_t n, int *radix)
{
    int count = 0, twos = 0;
    while (n % 2 == 0) {
        n /= 2;
        twos++;
    }
    for (int p = 3; p <= FFT_RADIX_MAX; p += 2)
        for (; n % p == 0; n /= p) radix[count++] = p;
    if (n > 1) return -1;
    /* Eights as long as no lone 2 remains. */
    for (; twos >= 3 && twos != 4; twos -= 3) radix[count++] = 8;
    for (; twos >= 2; twos -= 2) radix[count++] = 4;
    if (twos) radix[count++] = 2;
    return count;
}

static int64_t smooth_length(int64_t least)
{
    int64_t best = 1;
    while (best < least) best *= 2;
    for (int64_t five = 1; five < best; five *= 5)
        for (int64_t three = five; three < best; three *= 3) {
            int64_t m = three;
            while (m < least) m *= 2;
            if (m < best) best = m;
        }
    return best;
}

static void *table(fft_plan *p, int64_t n)
{
    /* Never none: a leak checker knows no block by a pointer to its end. */
    size_t bytes = (size_t)(n ? n : 1) * (p->dtype == TP_FLOAT32 ? sizeof(float) : sizeof(double));
    char *block = tpi_alloc(bytes + 64); /* its size in front, for the release */
    if (!block) return NULL;
    memcpy(block, &bytes, sizeof bytes);
    p->bytes += bytes + 64;
    return block + 64;
}

static void table_free(void *t)
{
    size_t bytes;
    if (!t) return;
    char *block = (char *)t - 64;
    memcpy(&bytes, block, sizeof bytes);
    tpi_free(block, bytes + 64);
}

static void plan_free(fft_plan *p)
{
    void *tables[] = {p->twiddles, p->roots,    p->row_re,    p->row_im,
                      p->chirp_re, p->chirp_im, p->filter_re, p->filter_im};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) table_free(tables[i]);
    if (p->first) fft_plan_release(p->first);
    if (p->second) fft_plan_release(p->second);
    tpi_free(p, sizeof *p);
}

static int make_stages(fft_plan *p)
{
    int64_t n = p->n, size = 0, m = n, at = 0;
    int odd = 0;
    roots t;
    long double re, im;
    for (int i = 0; i < p->stages; i++) {
        m /= p->radix[i];
        size += 2 * m * (p->radix[i] - 1);
        if (p->radix[i] > 5 && p->radix[i] != 8) odd += 2 * p->radix[i];
    }
    if (!(p->twiddles = table(p, size)) || !(p->roots = table(p, odd)) || roots_open(&t, n)) return tp_error_code();
    m = n;
    int64_t s = 1;
    for (int i = 0; i < p->stages; i++) {
        int r = p->radix[i];
        m /= r;
        for (int64_t k = 0; k < m; k++)
            for (int j = 1; j < r; j++, at += 2) {
                roots_at(&t, j * k * s % n, &re, &im);
                put(p->dtype, p->twiddles, at, re);
                put(p->dtype, p->twiddles, at + 1, im);
            }
        s *= r;
    }
    at = 0;
    for (int i = 0; i < p->stages; i++) {
        int r = p->radix[i];
        if (r <= 5 || r == 8) continue;
        for (int k = 0; k < r; k++, at += 2) {
            root(k, r, &re, &im);
            put(p->dtype, p->roots, at, re);
            put(p->dtype, p->roots, at + 1, im);
        }
    }
    roots_close(&t);
    return 0;
}

static int make_rows(fft_plan *p)
{
    int64_t n = p->n, lanes = FFT_LANE_BYTES / (p->dtype == TP_FLOAT32 ? 4 : 8);
    roots t;
    long double re, im;
    p->n1 = 1;
    for (int64_t d = 2; d * d <= n; d++)
        if (n % d == 0) p->n1 = d;
    p->n2 = n / p->n1;
    p->pitch = (p->n2 > p->n1 ? p->n2 : p->n1);
    p->pitch = (p->pitch + lanes - 1) / lanes * lanes;
    if (!(p->first = fft_plan_get(FFT_LANES, p->dtype, p->n1))) return tp_error_code();
    if (!(p->second = fft_plan_get(FFT_LANES, p->dtype, p->n2))) return tp_error_code();
    if (!(p->row_re = table(p, p->n1 * p->pitch)) || !(p->row_im = table(p, p->n1 * p->pitch)) || roots_open(&t, n))
        return tp_error_code();
    for (int64_t k = 0; k < p->n1; k++)
        for (int64_t b = 0; b < p->pitch; b++) {
            roots_at(&t, b < p->n2 ? k * b : 0, &re, &im);
            put(p->dtype, p->row_re, k * p->pitch + b, re);
            put(p->dtype, p->row_im, k * p->pitch + b, im);
        }
    roots_close(&t);
    return 0;
}

static int make_chirp(fft_plan *p)
{
    int64_t n = p->n, big = p->padded = smooth_length(2 * n - 1);
    bool single = p->dtype == TP_FLOAT32;
    roots t;
    long double re, im;
    if (!(p->first = fft_plan_get(p->kind, p->dtype, big))) return tp_error_code();
    if (!(p->chirp_re = table(p, n)) || !(p->chirp_im = table(p, n)) || !(p->filter_re = table(p, big)) ||
        !(p->filter_im = table(p, big)))
        return tp_error_code();
    size_t esize = single ? 4 : 8, pair = (size_t)(2 * big) * esize;
    size_t rest = single ? fft_whole_scratch_f32(p->first) : fft_whole_scratch_f64(p->first);
    char *work = tpi_calloc(pair + rest);
    if (!work || roots_open(&t, 2 * n)) {
        tpi_free(work, pair + rest);
        return tp_error_code();
    }
    void *b_re = work, *b_im = work + pair / 2;
    int64_t square = 0; /* k * k mod 2 n */
    for (int64_t k = 0; k < n; k++) {
        roots_at(&t, square, &re, &im);
        put(p->dtype, p->chirp_re, k, re);
        put(p->dtype, p->chirp_im, k, im);
        re /= (long double)big; /* the inverse transform's factor */
        im /= (long double)big;
        for (int end = 0; end < (k ? 2 : 1); end++) {
            put(p->dtype, b_re, end ? big - k : k, re);
            put(p->dtype, b_im, end ? big - k : k, -im);
        }
        square = (square + 2 * k + 1) % (2 * n);
    }
    roots_close(&t);
    if (single) fft_whole_f32(p->first, b_re, b_im, p->filter_re, p->filter_im, work + pair);
    else fft_whole_f64(p->first, b_re, b_im, p->filter_re, p->filter_im, work + pair);
    tpi_free(work, pair + rest);
    return 0;
}

static int make_real(fft_plan *p)
{
    int64_t count = p->n / 4 + 1;
    long double re, im;
    roots t;
    if (!(p->twiddles = table(p, 2 * count)) || roots_open(&t, p->n)) return tp_error_code();
    for (int64_t k = 0; k < count; k++) {
        if (4 * k == p->n) { /* exact, as the symmetry of the middle needs it */
            re = 0;
            im = -1;
        } else roots_at(&t, k, &re, &im);
        put(p->dtype, p->twiddles, 2 * k, re);
        put(p->dtype, p->twiddles, 2 * k + 1, im);
    }
    roots_close(&t);
    return 0;
}

static fft_plan *plan_make(fft_kind kind, int dtype, int64_t n)
{
    fft_plan *p = tpi_calloc(sizeof *p);
    if (!p) return NULL;
    p->kind = kind;
    p->dtype = dtype;
    p->n = n;
    p->bytes = sizeof *p;
    int rc;
    if (kind == FFT_REAL) rc = make_real(p);
    else if ((p->stages = factor(n, p->radix)) < 0) {
        p->stages = 0;
        rc = make_chirp(p);
    } else rc = kind == FFT_LANES ? make_stages(p) : make_rows(p);
    if (rc) {
        plan_free(p);
        return NULL;
    }
    return p;
}

/* ---- the cache ---- */

#define CACHE_PLANS 64
#define CACHE_BYTES ((size_t)64 << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static fft_plan *cache[CACHE_PLANS];
static uint64_t clock_;

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork(void) { pthread_mutex_unlock(&lock); }
static void watch_forks(void) { pthread_atfork(before_fork, after_fork, after_fork); }

void fft_plan_release(fft_plan *p)
{
    pthread_mutex_lock(&lock);
    bool last = --p->refs == 0;
    pthread_mutex_unlock(&lock);
    if (last) plan_free(p);
}

static fft_plan *find(fft_kind kind, int dtype, int64_t n)
{
    for (int i = 0; i < CACHE_PLANS; i++)
        if (cache[i] && cache[i]->n == n && cache[i]->kind == kind && cache[i]->dtype == dtype) {
            cache[i]->used = ++clock_;
            cache[i]->refs++;
            return cache[i];
        }
    return NULL;
}

/* A place for a plan of that size; what had to go for it is left in *gone, to be released without the lock. */
static int place(size_t bytes, fft_plan **gone, int *n_gone)
{
    for (;;) {
        size_t total = bytes;
        int free_place = -1, oldest = -1;
        for (int i = 0; i < CACHE_PLANS; i++) {
            if (!cache[i]) {
                free_place = i;
                continue;
            }
            total += cache[i]->bytes;
            if (oldest < 0 || cache[i]->used < cache[oldest]->used) oldest = i;
        }
        if (free_place >= 0 && total <= CACHE_BYTES) return free_place;
        if (oldest < 0) return -1;
        gone[(*n_gone)++] = cache[oldest];
        cache[oldest] = NULL;
    }
}

fft_plan *fft_plan_get(fft_kind kind, int dtype, int64_t n)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
    fft_plan *p = find(kind, dtype, n);
    pthread_mutex_unlock(&lock);
    if (p) return p;
    if (!(p = plan_make(kind, dtype, n))) return NULL;
    fft_plan *gone[CACHE_PLANS], *other;
    int n_gone = 0, at;
    pthread_mutex_lock(&lock);
    p->refs = 1;
    if ((other = find(kind, dtype, n))) {
        pthread_mutex_unlock(&lock); /* another thread was faster */
        plan_free(p);
        return other;
    }
    if (p->bytes <= CACHE_BYTES && (at = place(p->bytes, gone, &n_gone)) >= 0) {
        p->used = ++clock_;
        p->refs++;
        cache[at] = p;
    }
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < n_gone; i++) fft_plan_release(gone[i]);
    return p;
}

/* ---- lines of a tensor ---- */

typedef struct lines {
    int ndim;
    int64_t shape[TPI_DIMS_CAP], in[TPI_DIMS_CAP], out[TPI_DIMS_CAP]; /* strides in real numbers */
    int64_t count;
    fft_job job;
    size_t scratch;
    bool single;
    atomic_int failed;
} lines;

static void offsets(const lines *w, int64_t first, int64_t n, int64_t *in, int64_t *out)
{
    int64_t at[TPI_DIMS_CAP], i = 0, o = 0, rest = first;
    for (int d = w->ndim - 1; d >= 0; d--) {
        at[d] = rest % w->shape[d];
        rest /= w->shape[d];
        i += at[d] * w->in[d];
        o += at[d] * w->out[d];
    }
    for (int64_t k = 0; k < n; k++) {
        in[k] = i;
        out[k] = o;
        for (int d = w->ndim - 1; d >= 0; d--) {
            i += w->in[d];
            o += w->out[d];
            if (++at[d] < w->shape[d]) break;
            at[d] = 0;
            i -= w->shape[d] * w->in[d];
            o -= w->shape[d] * w->out[d];
        }
    }
}

#define CHUNK 64

static void run_range(int64_t begin, int64_t end, void *ctx)
{
    lines *w = ctx;
    int64_t in[CHUNK], out[CHUNK];
    void *scratch = tpi_alloc(w->scratch);
    if (!scratch) {
        w->failed = 1;
        return;
    }
    fft_job job = w->job;
    job.in.at = in;
    job.out.at = out;
    for (; begin < end; begin += CHUNK) {
        int64_t n = end - begin < CHUNK ? end - begin : CHUNK;
        offsets(w, begin, n, in, out);
        if (w->single) fft_lines_f32(&job, 0, n, scratch);
        else fft_lines_f64(&job, 0, n, scratch);
    }
    tpi_free(scratch, w->scratch);
}

/* One dimension of src to one of dst, which may be the same tensor; sizes agree in all other dimensions. */
static int transform(tp_tensor *src, tp_tensor *dst, int dim, int64_t n, fft_form form, bool inverse, double scale)
{
    lines w = {.count = 1, .job = {.form = form, .inverse = inverse, .n = n, .scale = scale}};
    int from = tpi_is_complex(src->dtype) ? 2 : 1, to = tpi_is_complex(dst->dtype) ? 2 : 1;
    w.single = tpi_esize(dst->dtype) / to == 4;
    for (int d = 0; d < src->ndim; d++) {
        if (d == dim) continue;
        int64_t size = src->shape[d], i = src->strides[d] * from, o = dst->strides[d] * to;
        w.count *= size;
        if (size == 1) continue;
        int last = w.ndim - 1;
        if (last >= 0 && w.in[last] == i * size && w.out[last] == o * size) {
            w.shape[last] *= size;
            w.in[last] = i;
            w.out[last] = o;
            continue;
        }
        w.shape[w.ndim] = size;
        w.in[w.ndim] = i;
        w.out[w.ndim++] = o;
    }
    if (!w.count) return 0;
    int dtype = w.single ? TP_FLOAT32 : TP_FLOAT64;
    int64_t lanes = FFT_LANE_BYTES / (w.single ? 4 : 8);
    bool halved = form != FFT_C2C && n % 2 == 0;
    int64_t complex_n = halved ? n / 2 : n;
    fft_job *j = &w.job;
    j->in = (fft_side){.data = tpi_data(src), .step = src->strides[dim] * from, .part = from == 2};
    j->out = (fft_side){.data = tpi_data(dst), .step = dst->strides[dim] * to, .part = to == 2};
    int radix[64];
    int64_t points = factor(complex_n, radix) < 0 ? smooth_length(2 * complex_n - 1) : complex_n;
    bool side_by_side = complex_n < 64 || (w.count >= lanes / 2 && points <= 4096);
    fft_plan *plan = fft_plan_get(side_by_side ? FFT_LANES : FFT_SINGLE, dtype, complex_n);
    if (!plan) return tp_error_code();
    if (side_by_side) j->lanes = plan;
    else j->single = plan;
    int rc = 0;
    if (halved && !(j->real = fft_plan_get(FFT_REAL, dtype, n))) rc = tp_error_code();
    if (!rc) {
        w.scratch = w.single ? fft_scratch_f32(j) : fft_scratch_f64(j);
        /* about 100 microseconds of work a range */
        int64_t grain = (int64_t)(1e5 / (double)(n + 1)) / lanes * lanes;
        tpi_parallel_for(w.count, grain < lanes ? lanes : grain, run_range, &w);
        if (w.failed) rc = tpi_fail(TP_ERR_MEMORY, "fft: no memory for a transform of %lld points", (long long)n);
    }
    if (j->real) fft_plan_release(j->real);
    fft_plan_release(plan);
    return rc;
}

/* ---- kernels ---- */

static int result_like(tp_call *c, const tp_tensor *t, int dtype, int dim, int64_t size)
{
    int64_t shape[TPI_DIMS_CAP];
    tpi_copy_dims(shape, t->shape, t->ndim);
    if (dim >= 0) shape[dim] = size;
    return tpi_set_out(c, 0, tpi_empty(dtype, t->ndim, shape));
}

int k_fft_c2c(tp_call *c)
{
    tp_tensor *x = arg_t(&c->args[0]);
    const tp_val *dims = &c->args[1];
    bool inverse = arg_b(&c->args[2]);
    double scale = arg_f(&c->args[3]);
    int rc = result_like(c, x, x->dtype, -1, 0);
    if (rc) return rc;
    if (!dims->n) return tpi_dense_copy(c->out[0], x);
    for (int i = dims->n - 1; i >= 0 && !rc; i--) {
        int d = (int)dims->v.ints[i];
        rc = transform(x, c->out[0], d, x->shape[d], FFT_C2C, inverse, i ? 1 : scale);
        x = c->out[0];
    }
    return rc;
}

int k_fft_r2c(tp_call *c)
{
    tp_tensor *x = arg_t(&c->args[0]);
    int d = (int)arg_i(&c->args[1]);
    bool onesided = arg_b(&c->args[2]);
    int64_t n = x->shape[d];
    int rc = result_like(c, x, x->dtype == TP_FLOAT32 ? TP_COMPLEX64 : TP_COMPLEX128, d, onesided ? n / 2 + 1 : n);
    return rc ? rc : transform(x, c->out[0], d, n, onesided ? FFT_R2C : FFT_R2C_FULL, false, arg_f(&c->args[3]));
}

int k_fft_c2r(tp_call *c)
{
    tp_tensor *x = arg_t(&c->args[0]);
    int d = (int)arg_i(&c->args[1]);
    int64_t n = arg_i(&c->args[2]);
    int rc = result_like(c, x, x->dtype == TP_COMPLEX64 ? TP_FLOAT32 : TP_FLOAT64, d, n);
    return rc ? rc : transform(x, c->out[0], d, n, FFT_C2R, false, arg_f(&c->args[3]));
}
