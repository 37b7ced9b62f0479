/* The engine of reductions: see the NOTE in reduce.h. */
#include "kernels/reduce.h"

#include "core/alloc.h"
#include "core/pool.h"

#define GRAIN 32768              /* elements a thread should have at least */
#define CHUNK 32768              /* elements of a state where one long reduction is cut (inner) */
#define ROWS 512                 /* the same, rows (outer) */
#define BUFFER 16384             /* bytes of loaded elements */

typedef struct plan {
    tpi_reduction *r;
    const char *base;
    int esize;
    bool outer;
    int nk, nr;
    int64_t kn[TP_MAX_NDIM], ks[TP_MAX_NDIM], ko[TP_MAX_NDIM];   /* kept: size, stride, stride in the result */
    int64_t rn[TP_MAX_NDIM], rs[TP_MAX_NDIM];                    /* reduced, outermost first */
    int64_t nout, nred;
    int64_t col_n, col_s, col_o;    /* outer: the kept dimension that rows of states run along */
    int64_t ntiles;
    int64_t ngroups;                /* inner: results; outer: results / col_n */
    int64_t nchunks, chunk;
    char *partial;                  /* [nchunks][nout] states, NULL where nchunks is 1 */
} plan;

int tpi_reduced_shape(const tp_tensor *x, uint64_t mask, bool keepdim, int64_t *shape)
{
    int n = 0;
    for (int d = 0; d < x->ndim; d++) {
        if (!(mask >> d & 1)) shape[n++] = x->shape[d];
        else if (keepdim) shape[n++] = 1;
    }
    return n;
}

int tpi_check_nonempty(const char *op, const tp_tensor *x, uint64_t mask)
{
    int64_t nout = 1, nred = 1;
    for (int d = 0; d < x->ndim; d++) *(mask >> d & 1 ? &nred : &nout) *= x->shape[d];
    if (nout == 0 || nred > 0) return 0;
    return tpi_fail(TP_ERR_VALUE, "%s: no value for a reduction over no elements, self has shape %s", op, tpi_str(x));
}

/* Offset of group g along the kept dimensions (outer: all but the column), in the input and in the result. */
static void locate(const plan *p, int64_t g, int64_t *in, int64_t *out)
{
    int64_t a = 0, b = 0;
    if (p->nk == 1) {
        *in = g * p->ks[0];
        *out = g * p->ko[0];
        return;
    }
    for (int d = p->nk - 1; d >= 0 && g; d--) {
        int64_t i = g % p->kn[d];
        g /= p->kn[d];
        a += i * p->ks[d];
        b += i * p->ko[d];
    }
    *in = a;
    *out = b;
}

/* Steps over the outer reduced dimensions: a run of the innermost one at a time. */
typedef struct walk {
    int64_t index[TP_MAX_NDIM];
    int64_t offset, inner;       /* of the run's first element; position in the innermost dimension */
} walk;

static void walk_start(const plan *p, walk *w, int64_t r)
{
    int last = p->nr - 1;
    w->offset = 0;
    w->inner = r % p->rn[last];
    r /= p->rn[last];
    for (int d = last - 1; d >= 0; d--) {
        w->index[d] = r % p->rn[d];
        r /= p->rn[d];
        w->offset += w->index[d] * p->rs[d];
    }
}

static void walk_next(const plan *p, walk *w)
{
    w->inner = 0;
    for (int d = p->nr - 2; d >= 0; d--) {
        w->offset += p->rs[d];
        if (++w->index[d] < p->rn[d]) return;
        w->offset -= p->rs[d] * p->rn[d];
        w->index[d] = 0;
    }
}

/* Elements [r0, r1) of the reduction that begins at src, into one state. */
static void fold_inner(const plan *p, void *state, const char *src, int64_t r0, int64_t r1)
{
    const tpi_reduction *r = p->r;
    const tpi_fold *f = r->fold;
    int64_t len = p->rn[p->nr - 1], rs = p->rs[p->nr - 1], pos = r0;
    bool direct = r->native && rs == 1 && len >= 64;
    char buffer[BUFFER] __attribute__((aligned(64)));
    int64_t cap = BUFFER / f->elem, have = 0;
    if (direct && p->nr == 2 && len <= TPI_FOLD_BLOCK && r0 % len == 0 && r1 % len == 0) {   /* whole rows */
        for (int64_t row = r0 / len; row < r1 / len; row++)
            f->inner(state, src + row * p->rs[0] * p->esize, len, row * len);
        return;
    }
    walk w;
    walk_start(p, &w, r0);
    while (pos < r1) {
        int64_t n = len - w.inner;
        if (n > r1 - pos) n = r1 - pos;
        const char *x = src + (w.offset + w.inner * rs) * p->esize;
        if (direct) {
            for (int64_t i = 0; i < n; i += TPI_FOLD_BLOCK)
                f->inner(state, x + i * p->esize, n - i < TPI_FOLD_BLOCK ? n - i : TPI_FOLD_BLOCK, pos + i);
        } else {
            for (int64_t i = 0; i < n;) {
                int64_t m = n - i < cap - have ? n - i : cap - have;
                r->load(buffer + have * f->elem, x + i * rs * p->esize, m, rs, r->param);
                have += m;
                i += m;
                if (have == cap) {
                    f->inner(state, buffer, have, pos + i - have);
                    have = 0;
                }
            }
        }
        pos += n;
        walk_next(p, &w);
    }
    if (have) f->inner(state, buffer, have, r1 - have);
}

/* Narrow rows without gaps are as good as wide ones: k rows at a time, the k groups of states merged at the end. */
static int64_t fold_wide(const plan *p, void *state, const char *src, int64_t n, int64_t rows)
{
    const tpi_reduction *r = p->r;
    const tpi_fold *f = r->fold;
    int64_t k = 128 / n, wide = rows / k;
    if (f->indexed || k < 2 || wide < 4 || p->nr != 1 || p->col_s != 1 || p->rs[0] != n || !r->native) return 0;
    char tmp[128 * TPI_FOLD_STATE_MAX] __attribute__((aligned(64)));
    f->init(tmp, n * k);
    for (int64_t i = 0; i < wide; i += TPI_FOLD_BLOCK)
        f->outer(tmp, src + i * k * n * p->esize, wide - i < TPI_FOLD_BLOCK ? wide - i : TPI_FOLD_BLOCK, n * k, n * k,
                 0);
    for (int64_t g = 0; g < k; g++) f->merge(state, tmp + g * n * f->state, n);
    return wide * k;
}

/* Rows [r0, r1) of n columns, the first at src, into a row of states. */
static void fold_outer(const plan *p, void *state, const char *src, int64_t n, int64_t r0, int64_t r1)
{
    const tpi_reduction *r = p->r;
    const tpi_fold *f = r->fold;
    int64_t len = p->rn[p->nr - 1], rs = p->rs[p->nr - 1];
    char buffer[BUFFER] __attribute__((aligned(64)));
    int64_t cap = BUFFER / f->elem / n;
    if (n < 64 && p->nr == 1) r0 += fold_wide(p, state, src + r0 * rs * p->esize, n, r1 - r0);
    if (r0 >= r1) return;
    int64_t pos = r0;
    walk w;
    walk_start(p, &w, r0);
    while (pos < r1) {
        int64_t rows = len - w.inner;
        if (rows > r1 - pos) rows = r1 - pos;
        const char *x = src + (w.offset + w.inner * rs) * p->esize;
        if (r->native && p->col_s == 1) {
            for (int64_t i = 0; i < rows; i += TPI_FOLD_BLOCK)
                f->outer(state, x + i * rs * p->esize, rows - i < TPI_FOLD_BLOCK ? rows - i : TPI_FOLD_BLOCK, rs, n,
                         pos + i);
        } else {
            for (int64_t i = 0; i < rows; i += cap) {
                int64_t m = rows - i < cap ? rows - i : cap;
                for (int64_t q = 0; q < m; q++)
                    r->load(buffer + q * n * f->elem, x + (i + q) * rs * p->esize, n, p->col_s, r->param);
                f->outer(state, buffer, m, n, n, pos + i);
            }
        }
        pos += rows;
        walk_next(p, &w);
    }
}

/* The same where all of it is one run of memory. */
static void fold_run(const plan *p, void *state, const char *src, int64_t r0, int64_t r1)
{
    void (*inner)(void *, const void *, int64_t, int64_t) = p->r->fold->inner;
    for (int64_t i = r0; i < r1; i += TPI_FOLD_BLOCK)
        inner(state, src + i * p->esize, r1 - i < TPI_FOLD_BLOCK ? r1 - i : TPI_FOLD_BLOCK, i);
}

static void body_inner(int64_t begin, int64_t end, void *ctx)
{
    plan *p = ctx;
    const tpi_fold *f = p->r->fold;
    bool one_run = p->nr == 1 && p->rs[0] == 1 && p->r->native;
    void (*fold)(const plan *, void *, const char *, int64_t, int64_t) = one_run ? fold_run : fold_inner;
    char states[32 * TPI_FOLD_STATE_MAX] __attribute__((aligned(64)));
    for (int64_t task = begin; task < end;) {
        int64_t chunk = task / p->nout, o = task % p->nout;
        int64_t n = p->nout - o < end - task ? p->nout - o : end - task;
        if (n > 32) n = 32;
        int64_t r0 = chunk * p->chunk, r1 = r0 + p->chunk < p->nred ? r0 + p->chunk : p->nred;
        char *s = p->partial ? p->partial + task * f->state : states;
        f->init(s, n);
        for (int64_t j = 0; j < n; j++) {
            int64_t in, out;
            locate(p, o + j, &in, &out);
            fold(p, s + j * f->state, p->base + in * p->esize, r0, r1);
        }
        if (!p->partial) p->r->store(p->r, s, n, o, 1);
        task += n;
    }
}

static void body_outer(int64_t begin, int64_t end, void *ctx)
{
    plan *p = ctx;
    const tpi_fold *f = p->r->fold;
    char states[TPI_FOLD_TILE * TPI_FOLD_STATE_MAX] __attribute__((aligned(64)));
    for (int64_t task = begin; task < end; task++) {
        int64_t tile = task % p->ntiles, rest = task / p->ntiles;
        int64_t g = rest % p->ngroups, chunk = rest / p->ngroups;
        int64_t c0 = tile * TPI_FOLD_TILE, n = p->col_n - c0 < TPI_FOLD_TILE ? p->col_n - c0 : TPI_FOLD_TILE;
        int64_t r0 = chunk * p->chunk, r1 = r0 + p->chunk < p->nred ? r0 + p->chunk : p->nred, in, out;
        locate(p, g, &in, &out);
        char *s = p->partial ? p->partial + ((chunk * p->ngroups + g) * p->col_n + c0) * f->state : states;
        f->init(s, n);
        fold_outer(p, s, p->base + (in + c0 * p->col_s) * p->esize, n, r0, r1);
        if (!p->partial) p->r->store(p->r, s, n, out + c0 * p->col_o, p->col_o);
    }
}

static void collect_dims(plan *p, const tp_tensor *x, uint64_t mask)
{
    int64_t out_stride = 1;
    p->nk = p->nr = 0;
    p->nout = p->nred = 1;
    for (int d = x->ndim - 1; d >= 0; d--) {       /* innermost first; turned around below */
        int64_t n = x->shape[d], s = x->strides[d];
        if (mask >> d & 1) {
            p->nred *= n;
            if (n == 1) continue;
            int i = p->nr++;
            int64_t key = s < 0 ? -s : s;
            for (; i > 0 && (p->rs[i - 1] < 0 ? -p->rs[i - 1] : p->rs[i - 1]) > key; i--) {
                p->rn[i] = p->rn[i - 1];
                p->rs[i] = p->rs[i - 1];
            }
            p->rn[i] = n;
            p->rs[i] = s;
        } else {
            p->nout *= n;
            if (n == 1) continue;
            if (p->nk && s == p->kn[p->nk - 1] * p->ks[p->nk - 1]) {
                p->kn[p->nk - 1] *= n;
            } else {
                p->kn[p->nk] = n;
                p->ks[p->nk] = s;
                p->ko[p->nk++] = out_stride;
            }
            out_stride *= n;
        }
    }
    int m = 0;
    for (int i = 1; i < p->nr; i++) {
        if (p->rs[i] == p->rn[m] * p->rs[m]) {
            p->rn[m] *= p->rn[i];
        } else {
            p->rn[++m] = p->rn[i];
            p->rs[m] = p->rs[i];
        }
    }
    if (p->nr) {
        p->nr = m + 1;
    } else {
        p->rn[0] = p->rs[0] = p->nr = 1;
    }
#define TURN(a, n)                                  \
    for (int i = 0, j = (n) - 1; i < j; i++, j--) { \
        int64_t t = a[i];                           \
        a[i] = a[j];                                \
        a[j] = t;                                   \
    }
    TURN(p->rn, p->nr) TURN(p->rs, p->nr) TURN(p->kn, p->nk) TURN(p->ks, p->nk) TURN(p->ko, p->nk)
#undef TURN
}

static int64_t magnitude(int64_t s) { return s < 0 ? -s : s; }

/* Picks the walk; for outer takes the column dimension out of the kept ones. */
static void choose(plan *p)
{
    int64_t len = p->rn[p->nr - 1], rs = p->rs[p->nr - 1];
    int col = -1;
    for (int d = p->nk - 1; d >= 0; d--)
        if (col < 0 || magnitude(p->ks[d]) < magnitude(p->ks[col])) col = d;
    p->outer = false;
    if (col >= 0) {
        if (rs == 1 || rs == -1) p->outer = len < 16 && p->nred < 64 && p->kn[col] >= 32;
        else if (magnitude(p->ks[col]) <= magnitude(rs) || (p->nred < 16 && p->kn[col] >= 32))
            p->outer = p->kn[col] >= 4 || p->kn[col] >= p->nred || p->ks[col] == 1;
        if (p->nred == 1) p->outer = true;
    }
    p->ngroups = p->nout;
    p->ntiles = 1;
    if (!p->outer) return;
    p->col_n = p->kn[col];
    p->col_s = p->ks[col];
    p->col_o = p->ko[col];
    for (int d = col; d + 1 < p->nk; d++) {
        p->kn[d] = p->kn[d + 1];
        p->ks[d] = p->ks[d + 1];
        p->ko[d] = p->ko[d + 1];
    }
    p->nk--;
    p->ngroups /= p->col_n;
    p->ntiles = (p->col_n + TPI_FOLD_TILE - 1) / TPI_FOLD_TILE;
}

/* Merges the chunks' states in pairs, then stores. */
static void finish(plan *p)
{
    const tpi_fold *f = p->r->fold;
    int64_t row = p->nout * f->state;
    for (int64_t step = 1; step < p->nchunks; step *= 2)
        for (int64_t c = 0; c + step < p->nchunks; c += 2 * step)
            f->merge(p->partial + c * row, p->partial + (c + step) * row, p->nout);
    if (!p->outer) {
        p->r->store(p->r, p->partial, p->nout, 0, 1);
        return;
    }
    for (int64_t g = 0; g < p->ngroups; g++) {
        int64_t in, out;
        locate(p, g, &in, &out);
        p->r->store(p->r, p->partial + g * p->col_n * f->state, p->col_n, out, p->col_o);
    }
}

int tpi_reduce(tpi_reduction *r, const tp_tensor *x, uint64_t mask)
{
    plan p;
    p.r = r;
    p.esize = tpi_esize(x->dtype);
    collect_dims(&p, x, mask);
    r->nred = p.nred;
    if (p.nout == 0) return 0;
    p.base = tpi_data(x);
    p.partial = NULL;
    p.nchunks = 1;
    p.chunk = p.nred;
    if (p.nred == 0) {
        char states[32 * TPI_FOLD_STATE_MAX] __attribute__((aligned(64)));
        r->fold->init(states, 32);
        for (int64_t i = 0; i < p.nout; i += 32) r->store(r, states, p.nout - i < 32 ? p.nout - i : 32, i, 1);
        return 0;
    }
    choose(&p);
    int64_t tasks = p.ngroups * p.ntiles, chunk = p.outer ? ROWS : CHUNK;
    if (tasks < 64 && p.nred >= 2 * chunk) {
        /* a multiple of what fills a call, so that cutting costs nothing; few enough states to merge at the end */
        while (p.nred / chunk > 4096) chunk *= 2;
        p.chunk = chunk;
        p.nchunks = (p.nred + chunk - 1) / chunk;
        p.partial = tpi_alloc((size_t)(p.nchunks * p.nout * r->fold->state));
        if (!p.partial) return TP_ERR_MEMORY;
    }
    int64_t work = p.chunk * (p.outer ? (p.col_n < TPI_FOLD_TILE ? p.col_n : TPI_FOLD_TILE) : 1);
    int64_t grain = work >= GRAIN ? 1 : GRAIN / (work ? work : 1);
    tpi_parallel_for(tasks * p.nchunks, grain, p.outer ? body_outer : body_inner, &p);
    if (p.partial) {
        finish(&p);
        tpi_free(p.partial, (size_t)(p.nchunks * p.nout * r->fold->state));
    }
    return 0;
}
