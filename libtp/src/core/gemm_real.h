/* The body of gemm.c for one real element type ELEM; NAME(x) appends its suffix. Included twice. */

#define STRIP (STRIP_BYTES / sizeof(ELEM))

/* A strip of up to STRIP columns of op(b), kc deep, zeros beyond nr. */
static void NAME(copy_strip)(const ELEM *b, int64_t row, int64_t col, int64_t kc, int nr, ELEM *restrict out)
{
    for (int64_t p = 0; p < kc; p++)
        for (int j = 0; j < (int)STRIP; j++) out[p * STRIP + j] = j < nr ? b[p * row + j * col] : 0;
}

TP_CLONES static void NAME(dots)(int64_t n, int64_t k, const ELEM *restrict x, const ELEM *restrict y, int64_t ldy,
                                 bool add, ELEM *restrict c, int64_t ldc)
{
    for (int64_t i = 0; i < n; i++, y += ldy, c += ldc) {
        ELEM acc[32] = {0};
        int64_t p = 0;
        for (; p + 32 <= k; p += 32)
            for (int j = 0; j < 32; j++) acc[j] += x[p + j] * y[p + j];
        ELEM sum = 0;
        for (; p < k; p++) sum += x[p] * y[p];
        for (int width = 16; width; width /= 2)
            for (int j = 0; j < width; j++) acc[j] += acc[j + width];
        sum += acc[0];
        *c = add ? *c + sum : sum;
    }
}

/* Any strides of a and b; c has the strides ldc and c_col. */
static void NAME(small)(int64_t m, int64_t n, int64_t k, const ELEM *a, int64_t row, int64_t col, const ELEM *b,
                        int64_t b_row, int64_t b_col, bool accumulate, ELEM *c, int64_t ldc, int64_t c_col)
{
    ELEM copy[KC * STRIP] __attribute__((aligned(64)));
    if (m == 1 && col == 1 && b_row == 1) {
        NAME(dots)(n, k, a, b, b_col, accumulate, c, c_col);
        return;
    }
    NAME(strip) *strip = NAME(pick_strip)();
    for (int64_t j = 0; j < n; j += (int64_t)STRIP) {
        int nr = (int)min64((int64_t)STRIP, n - j);
        for (int64_t p = 0; p < k; p += KC) {
            int64_t kc = min64(KC, k - p);
            const ELEM *bp = b + p * b_row + j * b_col;
            int64_t ldb = b_row;
            if (b_col != 1 || nr < (int)STRIP) {
                NAME(copy_strip)(bp, b_row, b_col, kc, nr, copy);
                bp = copy;
                ldb = STRIP;
            }
            strip(m, nr, kc, a + p * col, row, col, bp, ldb, accumulate || p, c + j * c_col, ldc, c_col);
        }
    }
}

/* Slivers of width lanes (rows of a, columns of b): out[lane / width][p][lane % width], padded with zeros. */
static void NAME(pack)(const ELEM *x, int64_t lane, int64_t depth, int64_t lanes, int64_t kc, int width,
                       ELEM *restrict out)
{
    for (int64_t i = 0; i < lanes; i += width) {
        int full = (int)min64(width, lanes - i);
        const ELEM *from = x + i * lane;
        if (full < width) memset(out, 0, sizeof(ELEM) * (size_t)(kc * width));
        if (lane == 1)
            for (int64_t p = 0; p < kc; p++) memcpy(out + p * width, from + p * depth, sizeof(ELEM) * (size_t)full);
        else
            for (int j = 0; j < full; j++)
                for (int64_t p = 0; p < kc; p++) out[p * width + j] = from[j * lane + p * depth];
        out += kc * width;
    }
}

static int NAME(large)(int64_t m, int64_t n, int64_t k, const ELEM *a, int64_t row, int64_t col, const ELEM *b,
                       int64_t b_row, int64_t b_col, bool accumulate, ELEM *c, int64_t ldc)
{
    int mr, nr;
    NAME(micro) *micro = NAME(pick_micro)(&mr, &nr);
    int64_t nc_max = min64(NC, (n + nr - 1) / nr * nr), kc_max = min64(KC, k);
    size_t a_bytes = sizeof(ELEM) * (size_t)(MC * kc_max), b_bytes = sizeof(ELEM) * (size_t)(nc_max * kc_max);
    ELEM *packed_a = tpi_alloc(a_bytes), *packed_b = packed_a ? tpi_alloc(b_bytes) : NULL;
    if (!packed_b) {
        tpi_free(packed_a, a_bytes);
        return TP_ERR_MEMORY;
    }
    ELEM acc[MR_MAX * NR_MAX] __attribute__((aligned(64)));
    for (int64_t j = 0; j < n; j += NC) {
        int64_t nc = min64(NC, n - j);
        for (int64_t p = 0; p < k; p += KC) {
            int64_t kc = min64(KC, k - p);
            bool add = accumulate || p;
            NAME(pack)(b + p * b_row + j * b_col, b_col, b_row, nc, kc, nr, packed_b);
            for (int64_t i = 0; i < m; i += MC) {
                int64_t mc = min64(MC, m - i);
                NAME(pack)(a + i * row + p * col, row, col, mc, kc, mr, packed_a);
                for (int64_t jj = 0; jj < nc; jj += nr)
                    for (int64_t ii = 0; ii < mc; ii += mr) {
                        micro(kc, packed_a + ii * kc, packed_b + jj * kc, acc);
                        int64_t rows = min64(mr, mc - ii), columns = min64(nr, nc - jj);
                        for (int64_t r = 0; r < rows; r++) {
                            ELEM *to = c + (i + ii + r) * ldc + j + jj;
                            if (add)
                                for (int64_t q = 0; q < columns; q++) to[q] += acc[r * nr + q];
                            else memcpy(to, acc + r * nr, sizeof(ELEM) * (size_t)columns);
                        }
                    }
            }
        }
    }
    tpi_free(packed_b, b_bytes);
    tpi_free(packed_a, a_bytes);
    return TP_OK;
}

int NAME(tpi_gemm_own)(char op_a, char op_b, int64_t m, int64_t n, int64_t k, const ELEM *a, int64_t lda, const ELEM *b,
                       int64_t ldb, bool accumulate, ELEM *c, int64_t ldc)
{
    if (m <= 0 || n <= 0) return TP_OK;
    if (k <= 0) {
        for (int64_t i = 0; i < m && !accumulate; i++) memset(c + i * ldc, 0, sizeof(ELEM) * (size_t)n);
        return TP_OK;
    }
    int64_t row = transposed(op_a) ? 1 : lda, col = transposed(op_a) ? lda : 1;
    int64_t b_row = transposed(op_b) ? 1 : ldb, b_col = transposed(op_b) ? ldb : 1;
    if (n < 8 && m > n) {
        /* Transposed, so that the long side fills the strips. */
        NAME(small)(n, m, k, b, b_col, b_row, a, col, row, accumulate, c, 1, ldc);
        return TP_OK;
    }
    if (m < 8 || (double)m * (double)n * (double)k <= SMALL_WORK) {
        NAME(small)(m, n, k, a, row, col, b, b_row, b_col, accumulate, c, ldc, 1);
        return TP_OK;
    }
    return NAME(large)(m, n, k, a, row, col, b, b_row, b_col, accumulate, c, ldc);
}

#undef STRIP
