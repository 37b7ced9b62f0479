/* The softmax family for one element type: included by softmax.c with
 *   T        float or double        V, L    a 64-byte vector of it and its lanes
 *   SUF      f32 or f64             COMPUTE the dtype of the folds
 *   VEXP     the vector exponential
 * A single line (cols == 1, ld == 1) runs along memory, a tile of lines row by row. */

#define PASTE2(a, b) a##_##b
#define PASTE(a, b) PASTE2(a, b)
#define FN(name) PASTE(name, SUF)

/* y = exp(x - m) over a line; the sum of it. */
TP_CLONES
static double FN(exp_line)(const T *restrict x, T *restrict y, int64_t n, T m)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i += RUN) {
        int64_t k = n - i < RUN ? n - i : RUN;
        for (int64_t j = 0; j < k; j++) y[i + j] = x[i + j] - m;
        VEXP(k, y + i, y + i);
        tpi_fold_sum(COMPUTE)->inner(&sum, y + i, k, 0);
    }
    return sum;
}

TP_CLONES
static double FN(dot_line)(const T *x, const T *y, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n;) {
        int64_t end = n - i < 4096 ? n : i + 4096;
        V a = {0}, b = {0};
        for (; i + 2 * L <= end; i += 2 * L) {
            a += *(const V *)(x + i) * *(const V *)(y + i);
            b += *(const V *)(x + i + L) * *(const V *)(y + i + L);
        }
        a += b;
        for (int j = 0; j < L; j++) sum += a[j];
        for (; i < end; i++) sum += (double)x[i] * y[i];
    }
    return sum;
}

TP_CLONES
static void FN(scale_line)(T *y, int64_t n, T by)
{
    for (int64_t i = 0; i < n; i++) y[i] *= by;
}

/* y = (x - a) - b */
TP_CLONES
static void FN(shift_line)(const T *restrict x, T *restrict y, int64_t n, T a, T b)
{
    for (int64_t i = 0; i < n; i++) y[i] = (x[i] - a) - b;
}

static T FN(line_max)(const T *x, int64_t n)
{
    T m = -INFINITY;
    for (int64_t i = 0; i < n; i += TPI_FOLD_BLOCK)
        tpi_fold_max(COMPUTE)->inner(&m, x + i, n - i < TPI_FOLD_BLOCK ? n - i : TPI_FOLD_BLOCK, 0);
    return m;
}

TP_CLONES
static void FN(tile_max)(const T *restrict x, int64_t n, int64_t ld, int64_t cols, T *restrict m)
{
    for (int64_t j = 0; j < cols; j++) m[j] = -INFINITY;
    for (int64_t i = 0; i < n; i++, x += ld)
        for (int64_t j = 0; j < cols; j++) m[j] = (x[j] > m[j]) | (x[j] != x[j]) ? x[j] : m[j];
}

TP_CLONES
static void FN(tile_sub)(const T *x, const T *m, T *y, int64_t cols)
{
    for (int64_t j = 0; j < cols; j++) y[j] = x[j] - m[j];
}

TP_CLONES
static void FN(tile_add)(double *restrict sum, const T *restrict x, int64_t cols)
{
    for (int64_t j = 0; j < cols; j++) sum[j] += x[j];
}

TP_CLONES
static void FN(tile_dot)(double *restrict sum, const T *restrict x, const T *restrict y, int64_t n, int64_t ld,
                         int64_t cols)
{
    for (int64_t i = 0; i < n; i++, x += ld, y += ld)
        for (int64_t j = 0; j < cols; j++) sum[j] += (double)x[j] * y[j];
}

TP_CLONES
static void FN(tile_scale)(T *restrict y, const T *restrict by, int64_t n, int64_t ld, int64_t cols)
{
    for (int64_t i = 0; i < n; i++, y += ld)
        for (int64_t j = 0; j < cols; j++) y[j] *= by[j];
}

static void FN(softmax)(tpi_lines *l, int64_t first, int64_t cols)
{
    const T *x = (const T *)l->in[0] + first;
    T *y = (T *)l->out[0] + first, m[TILE];
    double sum[TILE] = {0};
    if (l->ld == 1) {
        T top = FN(line_max)(x, l->n);
        FN(scale_line)(y, l->n, (T)(1 / FN(exp_line)(x, y, l->n, top)));
        return;
    }
    FN(tile_max)(x, l->n, l->ld, cols, m);
    for (int64_t i = 0; i < l->n; i++) {
        T *row = y + i * l->ld;
        FN(tile_sub)(x + i * l->ld, m, row, cols);
        VEXP(cols, row, row);
        FN(tile_add)(sum, row, cols);
    }
    for (int64_t j = 0; j < cols; j++) m[j] = (T)(1 / sum[j]);
    FN(tile_scale)(y, m, l->n, l->ld, cols);
}

static void FN(log_softmax)(tpi_lines *l, int64_t first, int64_t cols)
{
    const T *x = (const T *)l->in[0] + first;
    T *y = (T *)l->out[0] + first, m[TILE], row[TILE];
    double sum[TILE] = {0};
    if (l->ld == 1) {
        T top = FN(line_max)(x, l->n);
        FN(shift_line)(x, y, l->n, top, (T)log(FN(exp_line)(x, y, l->n, top)));
        return;
    }
    FN(tile_max)(x, l->n, l->ld, cols, m);
    for (int64_t i = 0; i < l->n; i++) {
        FN(tile_sub)(x + i * l->ld, m, row, cols);
        VEXP(cols, row, row);
        FN(tile_add)(sum, row, cols);
    }
    for (int64_t j = 0; j < cols; j++) row[j] = (T)log(sum[j]);
    for (int64_t i = 0; i < l->n; i++) {
        FN(tile_sub)(x + i * l->ld, m, y + i * l->ld, cols);
        FN(tile_sub)(y + i * l->ld, row, y + i * l->ld, cols);
    }
}

/* z = y * (g - s) */
TP_CLONES
static void FN(softmax_back_row)(const T *restrict g, const T *restrict y, const T *restrict s, int64_t step,
                                 T *restrict z, int64_t n)
{
    if (step)
        for (int64_t j = 0; j < n; j++) z[j] = y[j] * (g[j] - s[j]);
    else
        for (int64_t j = 0; j < n; j++) z[j] = y[j] * (g[j] - s[0]);
}

/* z = g - e * s */
TP_CLONES
static void FN(log_softmax_back_row)(const T *restrict g, const T *restrict e, const T *restrict s, int64_t step,
                                     T *restrict z, int64_t n)
{
    if (step)
        for (int64_t j = 0; j < n; j++) z[j] = g[j] - e[j] * s[j];
    else
        for (int64_t j = 0; j < n; j++) z[j] = g[j] - e[j] * s[0];
}

static void FN(softmax_back)(tpi_lines *l, int64_t first, int64_t cols)
{
    const T *g = (const T *)l->in[0] + first, *y = (const T *)l->in[1] + first;
    T *z = (T *)l->out[0] + first, s[TILE];
    double sum[TILE] = {0};
    if (l->ld == 1) {
        s[0] = (T)FN(dot_line)(g, y, l->n);
        FN(softmax_back_row)(g, y, s, 0, z, l->n);
        return;
    }
    FN(tile_dot)(sum, g, y, l->n, l->ld, cols);
    for (int64_t j = 0; j < cols; j++) s[j] = (T)sum[j];
    for (int64_t i = 0; i < l->n; i++) {
        int64_t at = i * l->ld;
        FN(softmax_back_row)(g + at, y + at, s, 1, z + at, cols);
    }
}

static void FN(log_softmax_back)(tpi_lines *l, int64_t first, int64_t cols)
{
    const T *g = (const T *)l->in[0] + first, *y = (const T *)l->in[1] + first;
    T *z = (T *)l->out[0] + first, s[TILE], e[RUN];
    double sum[TILE] = {0};
    if (l->ld == 1) {
        for (int64_t i = 0; i < l->n; i += RUN)
            tpi_fold_sum(COMPUTE)->inner(sum, g + i, l->n - i < RUN ? l->n - i : RUN, 0);
        s[0] = (T)sum[0];
        for (int64_t i = 0; i < l->n; i += RUN) {
            int64_t k = l->n - i < RUN ? l->n - i : RUN;
            VEXP(k, y + i, e);
            FN(log_softmax_back_row)(g + i, e, s, 0, z + i, k);
        }
        return;
    }
    for (int64_t i = 0; i < l->n; i++) FN(tile_add)(sum, g + i * l->ld, cols);
    for (int64_t j = 0; j < cols; j++) s[j] = (T)sum[j];
    for (int64_t i = 0; i < l->n; i++) {
        int64_t at = i * l->ld;
        VEXP(cols, y + at, e);
        FN(log_softmax_back_row)(g + at, e, s, 1, z + at, cols);
    }
}

#undef FN
#undef PASTE
#undef PASTE2
#undef T
#undef V
#undef L
#undef SUF
#undef COMPUTE
#undef VEXP
