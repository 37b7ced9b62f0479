/* The three convolution operators: see the note in conv.h. */
#include "core/alloc.h"
#include "core/pool.h"
#include "kernels/conv_columns.h"
#include "kernels/conv_rows.h"
#include "kernels/kernels.h"
#include "kernels/matmul.h"
#include "kernels/shape.h"

enum { CHUNK_BYTES = 512 << 10 };

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- arguments ---- */

typedef struct operands {
    int nd, dtype, compute;
    tp_tensor *a, *b;            /* contiguous, of the compute dtype; owned */
    bool a_stack, b_stack;
    int64_t stacks;
    tpi_conv c;
} operands;

static void release(operands *o)
{
    tp_release(o->a);
    tp_release(o->b);
}

static tp_tensor *plain(tp_tensor *t, int compute)
{
    return t->dtype == compute ? tpi_dense_contiguous(t) : tpi_dense_cast(t, compute);
}

/* Arguments a, b, size, stride, padding, dilation, groups. */
static int read_operands(tp_call *c, operands *o)
{
    const tp_val *v = c->args;
    tp_tensor *a = arg_t(&v[0]), *b = arg_t(&v[1]);
    memset(o, 0, sizeof *o);
    o->nd = v[2].n;
    o->dtype = a->dtype;
    o->compute = tpi_compute_dtype(a->dtype);
    o->a_stack = a->ndim == o->nd + 3;
    o->b_stack = b->ndim == o->nd + 3;
    o->stacks = o->a_stack ? a->shape[0] : o->b_stack ? b->shape[0] : 1;
    o->c.dtype = o->compute;
    o->c.stacks = o->stacks;
    o->c.groups = arg_i(&v[6]);
    for (int d = 0; d < 3; d++) {
        int k = d - 3 + o->nd;
        o->c.d[d] = (tpi_window){1, 1, 1, 1, 0, 1};
        if (k >= 0) {
            o->c.d[d].stride = v[3].v.ints[k];
            o->c.d[d].pad = v[4].v.ints[k];
            o->c.d[d].dilation = v[5].v.ints[k];
        }
    }
    o->a = plain(a, o->compute);
    o->b = o->a ? plain(b, o->compute) : NULL;
    return o->b ? TP_OK : tp_error_code();
}

/* Sizes behind the stack dimension. */
static const int64_t *sizes(const tp_tensor *t, bool stack) { return t->shape + stack; }

#define SPATIAL(o, member, from)                                                       \
    for (int d = 3 - (o)->nd; d < 3; d++) (o)->c.d[d].member = (from)[d - 3 + (o)->nd]

/* A result of [stacks,] lead..., spatial... */
static tp_tensor *result(const operands *o, int64_t x, int64_t y, const int64_t *size)
{
    int64_t shape[TPI_DIMS_CAP];
    int n = 0;
    if (o->a_stack || o->b_stack) shape[n++] = o->stacks;
    shape[n++] = x;
    shape[n++] = y;
    tpi_copy_dims(shape + n, size, o->nd);
    return tpi_empty(o->compute, n + o->nd, shape);
}

static int finish(tp_call *c, operands *o, tp_tensor *out, int rc)
{
    release(o);
    if (rc || !out) {
        tp_release(out);
        return rc ? rc : tp_error_code();
    }
    if (o->dtype != o->compute) {
        tp_tensor *cast = tpi_dense_cast(out, o->dtype);
        tp_release(out);
        out = cast;
    }
    return tpi_set_out(c, 0, out);
}

static void zero(tp_tensor *t) { memset(tpi_data(t), 0, (size_t)t->numel * (size_t)tpi_esize(t->dtype)); }

/* ---- shared by the jobs ---- */

typedef struct job {
    const tpi_conv *c;
    int64_t size, taps, in, out, rows;   /* bytes of an element; rows of an output image */
    int64_t step;                        /* rows of columns made at once */
    int64_t chunks;                      /* of one image, or of the channels */
    _Atomic int status;
} job;

/* Rows of output whose columns (of `channels` channels) stay in the cache. */
static int64_t rows_at_once(const job *j, int64_t channels)
{
    int64_t bytes = channels * j->taps * j->c->d[2].out * j->size;
    int64_t rows = bytes > 0 ? CHUNK_BYTES / bytes : j->rows;
    return rows < 1 ? 1 : min64(rows, j->rows);
}

static void describe(job *j, const tpi_conv *c)
{
    *j = (job){.c = c,
               .size = tpi_esize(c->dtype),
               .taps = tpi_conv_taps(c),
               .in = tpi_conv_in(c),
               .out = tpi_conv_out(c),
               .rows = c->d[0].out * c->d[1].out};
}

static int report(const job *j)
{
    return j->status == TP_OK ? TP_OK : tpi_fail(j->status, "out of memory: work memory of a convolution");
}

/* Windows of one element that neither skip nor pad. */
static bool is_plain(const tpi_conv *c)
{
    bool plain = true;
    for (int d = 0; d < 3; d++)
        plain &= c->d[d].taps == 1 && c->d[d].stride == 1 && c->d[d].pad == 0 && c->d[d].in == c->d[d].out;
    return plain;
}

/* ---- output ---- */

static void forward_range(int64_t begin, int64_t end, void *ctx)
{
    job *j = ctx;
    const tpi_conv *c = j->c;
    size_t bytes = (size_t)(c->ci * j->taps * j->step * c->d[2].out * j->size);
    char *cols = tpi_alloc(bytes);
    if (!cols) {
        j->status = TP_ERR_MEMORY;
        return;
    }
    for (int64_t t = begin; t < end; t++) {
        int64_t chunk = t % j->chunks, image = t / j->chunks;
        int64_t g = image % c->groups, n = image / c->groups % c->samples, s = image / c->groups / c->samples;
        int64_t row0 = chunk * j->step, row1 = min64(row0 + j->step, j->rows), cells = (row1 - row0) * c->d[2].out;
        const char *x = c->x + (s * c->xs + n * c->xn + g * c->xg) * j->size;
        const char *w = c->w + (s * c->ws + g * c->wg) * j->size;
        char *y = c->y + (s * c->ys + n * c->yn + g * c->yg + row0 * c->d[2].out) * j->size;
        tpi_conv_columns(c, c->ci, row0, row1, x, cols, cells);
        int rc = tpi_gemm(c->dtype, 'N', 'N', c->co, cells, c->ci * j->taps, w, c->wo, cols, cells, false, y, c->yc);
        if (rc) j->status = rc;
    }
    tpi_free(cols, bytes);
}

static int forward(const tpi_conv *c, int64_t numel)
{
    if (!numel) return TP_OK;
    if (tpi_conv_direct_fits(c)) return tpi_conv_direct(c);
    job j;
    describe(&j, c);
    j.step = rows_at_once(&j, c->ci);
    j.chunks = (j.rows + j.step - 1) / j.step;
    tpi_parallel_for(c->stacks * c->samples * c->groups * j.chunks, 1, forward_range, &j);
    return report(&j);
}

int k_conv_forward(tp_call *call)
{
    operands o;
    int rc = read_operands(call, &o);
    if (rc) {
        release(&o);
        return rc;
    }
    const int64_t *x = sizes(o.a, o.a_stack), *w = sizes(o.b, o.b_stack), *size = call->args[2].v.ints;
    tpi_conv *c = &o.c;
    SPATIAL(&o, in, x + 2);
    SPATIAL(&o, taps, w + 2);
    SPATIAL(&o, out, size);
    c->samples = x[0];
    c->ci = w[1];
    c->co = w[0] / c->groups;
    tp_tensor *out = result(&o, x[0], w[0], size);
    if (out) {
        int64_t taps = tpi_conv_taps(c), in = tpi_conv_in(c), cells = tpi_conv_out(c);
        c->x = tpi_data(o.a);
        c->w = tpi_data(o.b);
        c->y = tpi_data(out);
        c->xc = in;
        c->xg = c->ci * in;
        c->xn = c->groups * c->xg;
        c->xs = o.a_stack ? c->samples * c->xn : 0;
        c->wt[2] = 1;
        c->wt[1] = c->d[2].taps;
        c->wt[0] = c->d[1].taps * c->wt[1];
        c->wi = taps;
        c->wo = c->ci * taps;
        c->wg = c->co * c->wo;
        c->ws = o.b_stack ? c->groups * c->wg : 0;
        c->yc = cells;
        c->yg = c->co * cells;
        c->yn = c->groups * c->yg;
        c->ys = c->samples * c->yn;
        if (!c->ci || !taps) zero(out);
        else rc = forward(c, out->numel);
    }
    return finish(call, &o, out, rc);
}

/* ---- gradient of the input ---- */

static void input_range(int64_t begin, int64_t end, void *ctx)
{
    job *j = ctx;
    const tpi_conv *c = j->c;
    int64_t per = (c->ci + j->chunks - 1) / j->chunks;
    size_t bytes = (size_t)(per * j->taps * j->step * c->d[2].out * j->size);
    char *cols = tpi_alloc(bytes);
    if (!cols) {
        j->status = TP_ERR_MEMORY;
        return;
    }
    for (int64_t t = begin; t < end; t++) {
        int64_t first = t % j->chunks * per, channels = min64(per, c->ci - first), image = t / j->chunks;
        int64_t g = image % c->groups, n = image / c->groups % c->samples, s = image / c->groups / c->samples;
        if (channels <= 0) continue;
        char *x = (char *)c->x + (s * c->xs + n * c->xn + g * c->xg + first * c->xc) * j->size;
        const char *w = c->w + (s * c->ws + g * c->wg + first * c->wi) * j->size;
        for (int64_t row0 = 0; row0 < j->rows; row0 += j->step) {
            int64_t row1 = min64(row0 + j->step, j->rows), cells = (row1 - row0) * c->d[2].out;
            const char *y = c->y + (s * c->ys + n * c->yn + g * c->yg + row0 * c->d[2].out) * j->size;
            int rc = tpi_gemm(c->dtype, 'T', 'N', channels * j->taps, cells, c->co, w, c->wo, y, c->yc, false, cols,
                              cells);
            if (rc) j->status = rc;
            else tpi_conv_add_columns(c, channels, row0, row1, cols, cells, x);
        }
    }
    tpi_free(cols, bytes);
}

/* With a window that moves by one, the gradient of the input is the convolution of the output's with the mirrored
 * weight. */
static tpi_conv mirrored(const tpi_conv *c)
{
    tpi_conv m = *c;
    for (int d = 0; d < 3; d++) {
        m.d[d].in = c->d[d].out;
        m.d[d].out = c->d[d].in;
        m.d[d].pad = (c->d[d].taps - 1) * c->d[d].dilation - c->d[d].pad;
        m.w += (c->d[d].taps - 1) * c->wt[d] * tpi_esize(c->dtype);
        m.wt[d] = -c->wt[d];
    }
    m.ci = c->co;
    m.co = c->ci;
    m.wi = c->wo;
    m.wo = c->wi;
    m.x = c->y;
    m.y = (char *)c->x;
    m.xs = c->ys, m.xn = c->yn, m.xg = c->yg, m.xc = c->yc;
    m.ys = c->xs, m.yn = c->xn, m.yg = c->xg, m.yc = c->xc;
    return m;
}

int k_conv_input_grad(tp_call *call)
{
    operands o;
    int rc = read_operands(call, &o);
    if (rc) {
        release(&o);
        return rc;
    }
    const int64_t *y = sizes(o.a, o.a_stack), *w = sizes(o.b, o.b_stack), *size = call->args[2].v.ints;
    tpi_conv *c = &o.c;
    SPATIAL(&o, out, y + 2);
    SPATIAL(&o, taps, w + 2);
    SPATIAL(&o, in, size);
    c->samples = y[0];
    c->ci = w[1];
    c->co = w[0] / c->groups;
    tp_tensor *out = result(&o, y[0], w[1] * c->groups, size);
    if (out) {
        int64_t taps = tpi_conv_taps(c), in = tpi_conv_in(c), cells = tpi_conv_out(c);
        c->x = tpi_data(out);
        c->w = tpi_data(o.b);
        c->y = tpi_data(o.a);
        c->xc = in;
        c->xg = c->ci * in;
        c->xn = c->groups * c->xg;
        c->xs = c->samples * c->xn;
        c->wt[2] = 1;
        c->wt[1] = c->d[2].taps;
        c->wt[0] = c->d[1].taps * c->wt[1];
        c->wi = taps;
        c->wo = c->ci * taps;
        c->wg = c->co * c->wo;
        c->ws = o.b_stack ? c->groups * c->wg : 0;
        c->yc = cells;
        c->yg = c->co * cells;
        c->yn = c->groups * c->yg;
        c->ys = o.a_stack ? c->samples * c->yn : 0;
        bool unit = c->d[0].stride == 1 && c->d[1].stride == 1 && c->d[2].stride == 1;
        tpi_conv m = mirrored(c);
        if (!out->numel || !cells || !c->co || !taps) zero(out);
        else if (unit && tpi_conv_direct_fits(&m)) rc = tpi_conv_direct(&m);
        else {
            job j;
            describe(&j, c);
            zero(out);
            int64_t images = c->stacks * c->samples * c->groups, threads = tp_get_num_threads();
            j.chunks = images >= threads ? 1 : min64(c->ci, (threads + images - 1) / images);
            j.step = rows_at_once(&j, (c->ci + j.chunks - 1) / j.chunks);
            tpi_parallel_for(images * j.chunks, 1, input_range, &j);
            rc = report(&j);
        }
    }
    return finish(call, &o, out, rc);
}

/* ---- gradient of the weight ---- */

/* For each stack, group and chunk of input channels: sum over the samples of y times the transposed columns of x. The
 * order of the sum does not depend on the number of chunks, nor so on that of threads. Small images lie one behind the
 * other, as many as fill the columns that a large one would. */
static void weight_range(int64_t begin, int64_t end, void *ctx)
{
    job *j = ctx;
    const tpi_conv *c = j->c;
    int64_t per = (c->ci + j->chunks - 1) / j->chunks, width = c->d[2].out;
    bool narrow = width * j->size <= 32 && c->d[2].taps > 1 && j->step == j->rows;
    bool in_place = is_plain(c); /* an image is its own columns */
    int64_t together = j->step < j->rows || (in_place && j->out >= 64)
                           ? 1
                           : CHUNK_BYTES / (c->ci * j->taps * j->out * j->size);
    if (together * j->out > 512) together = 512 / j->out;
    together = together < 1 ? 1 : min64(together, c->samples);
    size_t column_bytes = in_place && together == 1 ? 0
                                                    : (size_t)(per * j->taps * j->step * width * together * j->size);
    size_t bytes = column_bytes + (together > 1 ? (size_t)(c->co * j->out * together * j->size) : 0);
    char *cols = tpi_alloc(bytes), *side = cols + column_bytes;
    if (!cols) {
        j->status = TP_ERR_MEMORY;
        return;
    }
    for (int64_t t = begin; t < end; t++) {
        int64_t first = t % j->chunks * per, channels = min64(per, c->ci - first);
        int64_t g = t / j->chunks % c->groups, s = t / j->chunks / c->groups, n_taps = channels * j->taps;
        if (channels <= 0) continue;
        char *w = (char *)c->w + (s * c->ws + g * c->wg + first * c->wi) * j->size;
        bool add = false;
        for (int64_t n = 0; n < c->samples; n += together) {
            int64_t images = min64(together, c->samples - n);
            const char *x = c->x + (s * c->xs + n * c->xn + g * c->xg + first * c->xc) * j->size;
            const char *y = c->y + (s * c->ys + n * c->yn + g * c->yg) * j->size;
            for (int64_t row0 = 0; row0 < j->rows; row0 += j->step) {
                int64_t row1 = min64(row0 + j->step, j->rows), cells = (row1 - row0) * width, all = cells * images;
                const char *right = in_place && together == 1 ? x + row0 * width * j->size : cols;
                int64_t ldb = narrow ? n_taps : right == cols ? all : c->xc;
                for (int64_t i = 0; i < images && right == cols; i++) {
                    const char *image = x + i * c->xn * j->size;
                    if (narrow) tpi_conv_rows(c, channels, image, cols + i * cells * n_taps * j->size, n_taps);
                    else tpi_conv_columns(c, channels, row0, row1, image, cols + i * cells * j->size, all);
                }
                const char *left = y + row0 * width * j->size;
                int64_t lda = c->yc;
                if (images > 1) {
                    for (int64_t k = 0; k < c->co; k++)
                        for (int64_t i = 0; i < images; i++)
                            tpi_run_copy(side + (k * images + i) * cells * j->size,
                                         y + (i * c->yn + k * c->yc) * j->size, cells * j->size);
                    left = side;
                    lda = all;
                }
                int rc = tpi_gemm(c->dtype, 'N', narrow ? 'N' : 'T', c->co, n_taps, all, left, lda, right, ldb, add, w,
                                  c->wo);
                if (rc) j->status = rc;
                add = true;
            }
        }
    }
    tpi_free(cols, bytes);
}

int k_conv_weight_grad(tp_call *call)
{
    operands o;
    int rc = read_operands(call, &o);
    if (rc) {
        release(&o);
        return rc;
    }
    const int64_t *x = sizes(o.a, o.a_stack), *y = sizes(o.b, o.b_stack), *size = call->args[2].v.ints;
    tpi_conv *c = &o.c;
    SPATIAL(&o, in, x + 2);
    SPATIAL(&o, out, y + 2);
    SPATIAL(&o, taps, size);
    c->samples = x[0];
    c->ci = x[1] / c->groups;
    c->co = y[1] / c->groups;
    tp_tensor *out = result(&o, y[1], c->ci, size);
    if (out) {
        int64_t taps = tpi_conv_taps(c), in = tpi_conv_in(c), cells = tpi_conv_out(c);
        c->x = tpi_data(o.a);
        c->w = tpi_data(out);
        c->y = tpi_data(o.b);
        c->xc = in;
        c->xg = c->ci * in;
        c->xn = c->groups * c->xg;
        c->xs = o.a_stack ? c->samples * c->xn : 0;
        c->wi = taps;
        c->wo = c->ci * taps;
        c->wg = c->co * c->wo;
        c->ws = c->groups * c->wg;
        c->yc = cells;
        c->yg = c->co * cells;
        c->yn = c->groups * c->yg;
        c->ys = o.b_stack ? c->samples * c->yn : 0;
        if (!out->numel || !cells || !c->samples) zero(out);
        else {
            job j;
            describe(&j, c);
            int64_t jobs = c->stacks * c->groups, threads = tp_get_num_threads();
            j.chunks = jobs >= threads ? 1 : min64(c->ci, (threads + jobs - 1) / jobs);
            j.step = rows_at_once(&j, c->ci);
            double work = (double)c->samples * (double)cells * (double)c->co * (double)c->ci * (double)taps;
            int64_t grain = work > 1e5 ? 1 : (int64_t)(1e5 / (work + 1)) + 1;
            tpi_parallel_for(jobs * j.chunks, grain, weight_range, &j);
            rc = report(&j);
        }
    }
    return finish(call, &o, out, rc);
}
