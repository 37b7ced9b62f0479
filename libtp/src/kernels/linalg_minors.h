/* The body of linalg_det.c for ELEM, double or double complex; SIZE(x) is a norm of an element. */

/* a = P^T L D U Q^T in place: L below, U above, d the diagonal. Returns the sign of both permutations. */
static int NAME(factor)(int n, ELEM *a, ELEM *d, int *p, int *q)
{
    int sign = 1;
    for (int i = 0; i < n; i++) p[i] = q[i] = i;
    for (int k = 0; k < n; k++) {
        int row = k, col = k;
        double best = -1;
        for (int i = k; i < n; i++)
            for (int j = k; j < n; j++) {
                double size = SIZE(a[(size_t)i * n + j]);
                if (size > best) {
                    best = size;
                    row = i;
                    col = j;
                }
            }
        if (row != k) {
            for (int j = 0; j < n; j++) {
                ELEM t = a[(size_t)k * n + j];
                a[(size_t)k * n + j] = a[(size_t)row * n + j];
                a[(size_t)row * n + j] = t;
            }
            int t = p[k];
            p[k] = p[row];
            p[row] = t;
            sign = -sign;
        }
        if (col != k) {
            for (int i = 0; i < n; i++) {
                ELEM t = a[(size_t)i * n + k];
                a[(size_t)i * n + k] = a[(size_t)i * n + col];
                a[(size_t)i * n + col] = t;
            }
            int t = q[k];
            q[k] = q[col];
            q[col] = t;
            sign = -sign;
        }
        d[k] = a[(size_t)k * n + k];
        if (best == 0) { /* so is all that follows: identities, on a zero diagonal */
            for (; k < n; k++) d[k] = 0;
            break;
        }
        for (int j = k + 1; j < n; j++) a[(size_t)k * n + j] /= d[k];
        for (int i = k + 1; i < n; i++) {
            ELEM f = a[(size_t)i * n + k];
            for (int j = k + 1; j < n; j++) a[(size_t)i * n + j] -= f * a[(size_t)k * n + j];
            a[(size_t)i * n + k] = f / d[k];
        }
    }
    return sign;
}

/* y = L^-1 P x Q U^-1. */
static void NAME(into)(int n, const ELEM *lu, const int *p, const int *q, const ELEM *x, ELEM *y)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) y[(size_t)i * n + j] = x[(size_t)p[i] * n + q[j]];
        for (int k = 0; k < i; k++)
            for (int j = 0; j < n; j++) y[(size_t)i * n + j] -= lu[(size_t)i * n + k] * y[(size_t)k * n + j];
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = k + 1; j < n; j++) y[(size_t)i * n + j] -= y[(size_t)i * n + k] * lu[(size_t)k * n + j];
}

/* y = sign Q U^-1 x L^-1 P; x is destroyed. */
static void NAME(back)(int n, const ELEM *lu, const int *p, const int *q, int sign, ELEM *x, ELEM *y)
{
    for (int i = n - 1; i >= 0; i--)
        for (int k = i + 1; k < n; k++)
            for (int j = 0; j < n; j++) x[(size_t)i * n + j] -= lu[(size_t)i * n + k] * x[(size_t)k * n + j];
    for (int i = 0; i < n; i++) {
        for (int k = n - 1; k > 0; k--)
            for (int j = 0; j < k; j++) x[(size_t)i * n + j] -= x[(size_t)i * n + k] * lu[(size_t)k * n + j];
        for (int j = 0; j < n; j++) y[(size_t)q[i] * n + p[j]] = sign * x[(size_t)i * n + j];
    }
}

/* Products of the diagonal that leave out some entries: of those that are not zero, divided by those left out, or zero
 * where a zero stays in. */
typedef struct NAME(diagonal) {
    const ELEM *d;
    ELEM product;
    int zeros;
} NAME(diagonal);

static ELEM NAME(without)(const NAME(diagonal) * g, const int *left_out, int count)
{
    ELEM r = g->product;
    int zeros = g->zeros;
    for (int k = 0; k < count; k++) {
        ELEM d = g->d[left_out[k]];
        if (d == 0) zeros--;
        else r /= d;
    }
    return zeros ? 0 : r;
}

static ELEM NAME(two)(const NAME(diagonal) * g, int i, int j) { return NAME(without)(g, (int[]){i, j}, 2); }
static ELEM NAME(three)(const NAME(diagonal) * g, int i, int j, int k) { return NAME(without)(g, (int[]){i, j, k}, 3); }

/* M of the diagonal matrix, in m. */
static void NAME(of_diagonal)(int n, const NAME(diagonal) * g, const ELEM *e, const ELEM *f, ELEM *m)
{
#define AT(x, i, j) x[(size_t)(i) * n + (j)]
    memset(m, 0, sizeof *m * (size_t)n * n);
    if (!e) {
        for (int i = 0; i < n; i++) AT(m, i, i) = NAME(without)(g, &i, 1);
        return;
    }
    if (!f) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                if (i == j) continue;
                ELEM w = NAME(two)(g, i, j);
                AT(m, i, j) = -w * AT(e, i, j);
                AT(m, i, i) += w * AT(e, j, j);
            }
        return;
    }
    if (g->zeros > 3) return;
    for (int c = 0; c < n; c++)
        for (int k = 0; k < n; k++)
            for (int l = 0; l < n; l++) {
                if (l == k || l == c) continue;
                if (c != k)
                    AT(m, c, k) += NAME(three)(g, c, k, l) * (AT(e, c, l) * AT(f, l, k) + AT(f, c, l) * AT(e, l, k) -
                                                              AT(e, c, k) * AT(f, l, l) - AT(f, c, k) * AT(e, l, l));
                else
                    for (int j = 0; j < n; j++)
                        if (j != k && j != l)
                            AT(m, k, k) += NAME(three)(g, k, l, j) *
                                           (AT(e, l, l) * AT(f, j, j) - AT(e, l, j) * AT(f, j, l));
            }
#undef AT
}

static void NAME(minors)(const job *w, int64_t i, void *work)
{
    int n = w->n, *p = work, *q = (int *)((char *)work + pivots(n));
    size_t square = (size_t)n * (size_t)n;
    ELEM *a = (ELEM *)((char *)work + 2 * pivots(n)), *m = a + square, *x = m + square, *e = x + square,
         *f = e + square;
    ELEM *d = a + (4 + (size_t)w->directions) * square;
    int64_t at = i * (int64_t)square * w->esize;
    widen(w->dtype, w->a + at, (int64_t)square, a);
    int sign = NAME(factor)(n, a, d, p, q);
    NAME(diagonal) g = {.d = d, .product = 1};
    for (int k = 0; k < n; k++) {
        if (d[k] == 0) g.zeros++;
        else g.product *= d[k];
    }
    if (w->e) {
        widen(w->dtype, w->e + at, (int64_t)square, x);
        NAME(into)(n, a, p, q, x, e);
    }
    if (w->f) {
        widen(w->dtype, w->f + at, (int64_t)square, x);
        NAME(into)(n, a, p, q, x, f);
    }
    NAME(of_diagonal)(n, &g, w->e ? e : NULL, w->f ? f : NULL, m);
    NAME(back)(n, a, p, q, sign, m, x);
    narrow(w->dtype, x, (int64_t)square, w->out + at);
}
