/* einsum: diagonals, sums and products of two, all of them other operators.
 *
 * NOTE: terms
 * A term is a tensor and a label for each of its dimensions: letters, then the dimensions that "..." stands for,
 * counted from the right. Dimensions of size 1 whose label is longer elsewhere are dropped at the start, labels that
 * only one term has and the result has not are summed at once. After that two terms at a time become one: labels of
 * both that are still needed are a stack, the others of both are contracted, the rest are rows and columns. */
#include "rules/matmul_util.h"

enum { LETTERS = 52, LABELS = LETTERS + TP_MAX_NDIM };

typedef struct term {
    T t;
    int label[TPI_DIMS_CAP];
} term;

typedef struct einsum {
    const char *equation;
    int n;
    term *terms;
    int64_t size[LABELS];
    int nout, out[TPI_DIMS_CAP];
    bool in_out[LABELS];
} einsum;

static int letter(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    return c >= 'a' && c <= 'z' ? c - 'a' + 26 : -1;
}

static char shown(int label) { return (char)(label < 26 ? 'A' + label : 'a' + label - 26); }

/* Labels from *at up to a comma, an arrow or the end; -1 in `label` stands for "...". Returns their number. */
static int read_labels(const char *equation, const char **at, int *label, bool *ellipsis)
{
    int n = 0;
    *ellipsis = false;
    for (const char *p = *at;; p++) {
        if (*p == ' ') continue;
        if (!*p || *p == ',' || (p[0] == '-' && p[1] == '>')) {
            *at = p;
            return n;
        }
        if (n == TP_MAX_NDIM) break;
        if (p[0] == '.' && p[1] == '.' && p[2] == '.' && !*ellipsis) {
            *ellipsis = true;
            label[n++] = -1;
            p += 2;
        } else if ((label[n++] = letter(*p)) < 0) {
            tpi_fail(TP_ERR_VALUE, "einsum: unexpected '%c' in \"%s\"", *p, equation);
            return -1;
        }
    }
    tpi_fail(TP_ERR_VALUE, "einsum: more than %d labels for one operand in \"%s\"", TP_MAX_NDIM, equation);
    return -1;
}

static int read_operand(einsum *e, int i, const char **at, int *widest)
{
    int label[TPI_DIMS_CAP];
    bool ellipsis;
    T t = e->terms[i].t;
    int n = read_labels(e->equation, at, label, &ellipsis), d = 0;
    if (n < 0) return TP_ERR_VALUE;
    int wide = t->ndim - (n - ellipsis);
    if (wide < 0 || (wide && !ellipsis))
        return tpi_fail(TP_ERR_VALUE, "einsum: operand %d of shape %s has %s dimensions than \"%s\" labels", i,
                        tpi_str(t), wide < 0 ? "fewer" : "more", e->equation);
    for (int k = 0; k < n; k++) {
        if (label[k] >= 0) e->terms[i].label[d++] = label[k];
        else
            for (int w = 0; w < wide; w++) e->terms[i].label[d++] = LETTERS + wide - 1 - w;
    }
    if (wide > *widest) *widest = wide;
    for (d = 0; d < t->ndim; d++) {
        int l = e->terms[i].label[d];
        int64_t now = t->shape[d], *known = &e->size[l];
        if (*known > 1 && now > 1 && *known != now) {
            char name[2] = {l < LETTERS ? shown(l) : 0, 0};
            return tpi_fail(TP_ERR_VALUE, "einsum: %s%s of \"%s\" has sizes %lld and %lld",
                            l < LETTERS ? "label " : "\"...\"", name, e->equation, (long long)*known, (long long)now);
        }
        if (*known < 0 || *known == 1) *known = now;
    }
    return 0;
}

static int read_result(einsum *e, const char *at, int widest)
{
    int label[TPI_DIMS_CAP], count[LETTERS] = {0};
    bool ellipsis;
    e->nout = 0;
    if (!*at) {
        for (int w = widest - 1; w >= 0; w--) e->out[e->nout++] = LETTERS + w;
        for (int i = 0; i < e->n; i++)
            for (int d = 0; d < e->terms[i].t->ndim; d++)
                if (e->terms[i].label[d] < LETTERS) count[e->terms[i].label[d]]++;
        for (int l = 0; l < LETTERS && e->nout <= TP_MAX_NDIM; l++)
            if (count[l] == 1) e->out[e->nout++] = l;
    } else {
        at += 2;
        int n = read_labels(e->equation, &at, label, &ellipsis);
        if (n < 0) return TP_ERR_VALUE;
        if (*at) return tpi_fail(TP_ERR_VALUE, "einsum: unexpected '%c' behind \"->\" in \"%s\"", *at, e->equation);
        for (int k = 0; k < n && e->nout <= TP_MAX_NDIM; k++) {
            if (label[k] < 0) {
                for (int w = widest - 1; w >= 0 && e->nout <= TP_MAX_NDIM; w--) e->out[e->nout++] = LETTERS + w;
                continue;
            }
            if (e->size[label[k]] < 0 || count[label[k]]++)
                return tpi_fail(TP_ERR_VALUE, "einsum: label %c of the result of \"%s\" %s", shown(label[k]),
                                e->equation, count[label[k]] > 1 ? "occurs twice" : "is in no operand");
            e->out[e->nout++] = label[k];
        }
    }
    if (e->nout > TP_MAX_NDIM)
        return tpi_fail(TP_ERR_VALUE, "einsum: the result has more than %d dimensions", TP_MAX_NDIM);
    for (int k = 0; k < e->nout; k++) e->in_out[e->out[k]] = true;
    return 0;
}

/* ---- one term ---- */

static void drop_label(term *x, int d, int ndim)
{
    for (int k = d; k + 1 < ndim; k++) x->label[k] = x->label[k + 1];
}

/* Diagonals, and dimensions of size 1 that only broadcast. */
static void simplify(einsum *e, term *x)
{
    for (int d = 0; x->t && d < x->t->ndim; d++)
        for (int k = d + 1; x->t && k < x->t->ndim; k++)
            if (x->label[k] == x->label[d]) {
                int n = x->t->ndim, label = x->label[d];
                if (x->t->shape[d] != x->t->shape[k]) {
                    tpi_rule_fail(TP_ERR_VALUE, "einsum: label %c of \"%s\" has sizes %lld and %lld in one operand",
                                  shown(label), e->equation, (long long)x->t->shape[d], (long long)x->t->shape[k]);
                    x->t = NULL;
                    return;
                }
                x->t = x_diagonal(x->t, 0, d, k); /* its dimension comes last */
                drop_label(x, k, n);
                drop_label(x, d, n - 1);
                x->label[n - 2] = label;
                k = d;
            }
    for (int d = 0; x->t && d < x->t->ndim; d++)
        if (x->t->shape[d] == 1 && e->size[x->label[d]] != 1) {
            int n = x->t->ndim;
            x->t = x_select(x->t, d, 0);
            drop_label(x, d--, n);
        }
}

static bool has(const term *x, int label)
{
    for (int d = 0; x->t && d < x->t->ndim; d++)
        if (x->label[d] == label) return true;
    return false;
}

/* Sums over the labels that nothing else needs. */
static void sum_unneeded(term *x, const bool *needed)
{
    int64_t dims[TPI_DIMS_CAP];
    int n = 0, kept = 0;
    if (!x->t) return;
    for (int d = 0; d < x->t->ndim; d++) {
        if (needed[x->label[d]]) x->label[kept++] = x->label[d];
        else dims[n++] = d;
    }
    if (n) {
        int dtype = x->t->dtype;
        x->t = x_sum_dims(x->t, dims, n, false);
        if (x->t && tp_dtype_is_integral(dtype)) x->t = x_cast(x->t, dtype); /* as the products do, not as sum does */
    }
}

static void needs(const einsum *e, int except_a, int except_b, bool *needed)
{
    memcpy(needed, e->in_out, sizeof e->in_out);
    for (int i = 0; i < e->n; i++)
        if (i != except_a && i != except_b && e->terms[i].t)
            for (int d = 0; d < e->terms[i].t->ndim; d++) needed[e->terms[i].label[d]] = true;
}

/* ---- two terms ---- */

/* Dimensions of x with these labels, in order. */
static int dims_of(const term *x, const int *label, int n, int64_t *dims)
{
    for (int i = 0; i < n; i++)
        for (int d = 0; d < x->t->ndim; d++)
            if (x->label[d] == label[i]) dims[i] = d;
    return n;
}

/* x as [stack, rows, inner], or as [stack, inner, rows] and then transposed where only that is a view. */
static T as_matrix(const term *x, const int *stack, int ns, const int *rows, int nr, const int *inner, int ni)
{
    int64_t dims[TPI_DIMS_CAP], shape[TPI_DIMS_CAP], strides[TPI_DIMS_CAP], made[3];
    T t = x->t;
    for (int turned = 0; turned < 2; turned++) {
        int n = dims_of(x, stack, ns, dims);
        n += turned ? dims_of(x, inner, ni, dims + n) : dims_of(x, rows, nr, dims + n);
        n += turned ? dims_of(x, rows, nr, dims + n) : dims_of(x, inner, ni, dims + n);
        int64_t flat[3] = {1, 1, 1};
        int second = turned ? ni : nr;
        for (int i = 0; i < n; i++) {
            shape[i] = t->shape[dims[i]];
            strides[i] = t->strides[dims[i]];
            flat[i < ns ? 0 : i < ns + second ? 1 : 2] *= shape[i];
        }
        int drop = ns == 0;
        if (turned || tpi_view_strides(n, shape, strides, 3 - drop, flat + drop, made)) {
            if (turned && !tpi_view_strides(n, shape, strides, 3 - drop, flat + drop, made)) break;
            T r = x_reshape_to(x_permute(t, dims, n), 3 - drop, flat + drop);
            return turned ? tpi_mT(r) : r;
        }
    }
    int n = dims_of(x, stack, ns, dims);
    n += dims_of(x, rows, nr, dims + n);
    n += dims_of(x, inner, ni, dims + n);
    int64_t flat[3] = {1, 1, 1};
    for (int i = 0; i < n; i++) flat[i < ns ? 0 : i < ns + nr ? 1 : 2] *= t->shape[dims[i]];
    return x_reshape_to(x_permute(t, dims, n), 3 - (ns == 0), flat + (ns == 0));
}

/* x with dimensions of size 1 for the labels it lacks. */
static T spread(const term *x, const int *label, int n)
{
    int64_t dims[TPI_DIMS_CAP], shape[TPI_DIMS_CAP];
    int k = 0;
    for (int i = 0; i < n; i++) {
        shape[i] = 1;
        for (int d = 0; d < x->t->ndim; d++)
            if (x->label[d] == label[i]) {
                dims[k++] = d;
                shape[i] = x->t->shape[d];
            }
    }
    return x_reshape_to(x_permute(x->t, dims, k), n, shape);
}

static term contract(einsum *e, int i, int j)
{
    bool needed[LABELS];
    term *a = &e->terms[i], *b = &e->terms[j], r = {NULL};
    int stack[TPI_DIMS_CAP], inner[TPI_DIMS_CAP], rows[TPI_DIMS_CAP], cols[TPI_DIMS_CAP];
    int ns = 0, ni = 0, nr = 0, nc = 0;
    needs(e, i, j, needed);
    if (!a->t || !b->t) return r;
    for (int d = 0; d < a->t->ndim; d++) {
        int l = a->label[d];
        if (!has(b, l)) rows[nr++] = l;
        else if (needed[l]) stack[ns++] = l;
        else inner[ni++] = l;
    }
    for (int d = 0; d < b->t->ndim; d++)
        if (!has(a, b->label[d])) cols[nc++] = b->label[d];
    int n = 0;
    if (ns + nr + nc > TP_MAX_NDIM) {
        tpi_rule_fail(TP_ERR_VALUE, "einsum: an intermediate result of \"%s\" has more than %d dimensions", e->equation,
                      TP_MAX_NDIM);
        return r;
    }
    for (int k = 0; k < ns; k++) r.label[n++] = stack[k];
    for (int k = 0; k < nr; k++) r.label[n++] = rows[k];
    for (int k = 0; k < nc; k++) r.label[n++] = cols[k];
    if (!ni) {
        r.t = x_mul(spread(a, r.label, n), spread(b, r.label, n));
        return r;
    }
    if (tpi_need_numbers("einsum", a->t, b->t)) {
        tpi_own(NULL);
        return r;
    }
    int64_t shape[TPI_DIMS_CAP];
    for (int k = 0; k < n; k++) shape[k] = e->size[r.label[k]];
    T left = as_matrix(a, stack, ns, rows, nr, inner, ni), right = as_matrix(b, stack, ns, cols, nc, inner, ni);
    if (!left || !right) return r;
    if (ns) r.t = x_matmul_nd(left, tpi_mT(right));
    else if (nr && nc) r.t = x_matmul_2d(left, tpi_mT(right));
    else if (nr) r.t = x_matmul_mv(left, x_select(right, 0, 0));
    else if (nc) r.t = x_matmul_mv(right, x_select(left, 0, 0));
    else r.t = x_matmul_dot(x_select(left, 0, 0), x_select(right, 0, 0));
    r.t = x_reshape_to(r.t, n, shape);
    return r;
}

/* The pair whose contraction leaves the least in memory. */
static void choose(const einsum *e, int *first, int *second)
{
    double best = 0;
    bool found = false, needed[LABELS];
    for (int i = 0; i < e->n; i++)
        for (int j = i + 1; j < e->n; j++) {
            const term *a = &e->terms[i], *b = &e->terms[j];
            double size = 1;
            needs(e, i, j, needed);
            for (int d = 0; d < a->t->ndim; d++)
                if (needed[a->label[d]]) size *= (double)a->t->shape[d];
            for (int d = 0; d < b->t->ndim; d++)
                if (needed[b->label[d]] && !has(a, b->label[d])) size *= (double)b->t->shape[d];
            size -= (double)a->t->numel + (double)b->t->numel;
            if (!found || size < best) {
                best = size;
                *first = i;
                *second = j;
                found = true;
            }
        }
}

static T run(einsum *e)
{
    bool needed[LABELS];
    for (int i = 0; i < e->n; i++) simplify(e, &e->terms[i]);
    for (int i = 0; i < e->n && !tpi_bad(); i++) {
        needs(e, i, i, needed);
        sum_unneeded(&e->terms[i], needed);
    }
    while (e->n > 1 && !tpi_bad()) {
        int i = 0, j = 1;
        if (e->n > 2) choose(e, &i, &j);
        term r = contract(e, i, j);
        e->terms[i] = r;
        e->terms[j] = e->terms[--e->n];
        if (tpi_bad()) return NULL;
        needs(e, i, i, needed); /* a label of both that others had is not needed once the last of them is gone */
        sum_unneeded(&e->terms[i], needed);
    }
    if (tpi_bad()) return NULL;
    int64_t dims[TPI_DIMS_CAP];
    term *x = &e->terms[0];
    dims_of(x, e->out, e->nout, dims);
    return x_permute(x->t, dims, e->nout);
}

int c_einsum(tp_call *c)
{
    const char *equation = c->args[0].v.str;
    int n = c->args[1].n, widest = 0, rc = 0;
    einsum e = {.equation = equation, .n = n};
    if (n == 0) return tpi_fail(TP_ERR_VALUE, "einsum: no operand");
    e.terms = tpi_calloc(sizeof *e.terms * (size_t)n);
    if (!e.terms) return TP_ERR_MEMORY;
    for (int l = 0; l < LABELS; l++) e.size[l] = -1;
    const char *at = equation;
    for (int i = 0; i < n && !rc; i++) {
        e.terms[i].t = c->args[1].v.ts[i];
        if (!e.terms[i].t) rc = tpi_fail(TP_ERR_VALUE, "einsum: operand %d is missing", i);
        else if (i && *at != ',')
            rc = tpi_fail(TP_ERR_VALUE, "einsum: %d operands, but \"%s\" has labels for %d", n, equation, i);
        else {
            at += i > 0;
            rc = read_operand(&e, i, &at, &widest);
        }
    }
    if (!rc && *at == ',')
        rc = tpi_fail(TP_ERR_VALUE, "einsum: %d operand%s, but \"%s\" has labels for more", n, n == 1 ? "" : "s",
                      equation);
    if (!rc) rc = read_result(&e, at, widest);
    tpi_scope s;
    tpi_scope_open(&s);
    T r = rc ? NULL : run(&e);
    tpi_free(e.terms, sizeof *e.terms * (size_t)n);
    if (rc) s.failed = rc;
    return scope_result(&s, c, r);
}
