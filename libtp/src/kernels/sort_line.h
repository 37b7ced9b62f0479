/* Sorting and selecting along one line: included by sort.c with
 *   K     the key: an unsigned integer whose order is the wanted one
 *   KB    its bits
 *   R     a record: an unsigned integer of 2 KB bits, the key above the position. Records differ, and their order is
 *         that of a stable sort
 *   SUF   a suffix of the names
 *   LINE  what does one line */

#define PASTE2(a, b) a##_##b
#define PASTE(a, b) PASTE2(a, b)
#define FN(name) PASTE(name, SUF)

static void FN(insertion)(R *r, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        R v = r[i];
        int64_t j = i;
        for (; j > 0 && r[j - 1] > v; j--) r[j] = r[j - 1];
        r[j] = v;
    }
}

/* Digits: long lines can afford wide ones. */
static int FN(digit)(int64_t n) { return n >= 1 << 16 ? 12 : 8; }
static size_t FN(counters)(int64_t n) { return (size_t)(KB + FN(digit)(n) - 1) / FN(digit)(n) << FN(digit)(n); }

/* Stable sort of records by the low `bits` of their keys, digit by digit from the lowest. Returns r or tmp. count has
 * room for the counters. */
static R *FN(radix)(R *r, R *tmp, K *count, int64_t n, int bits)
{
    if (n <= 48) {
        FN(insertion)(r, n);
        return r;
    }
    int passes = (bits + FN(digit)(n) - 1) / FN(digit)(n), width = (bits + passes - 1) / passes;
    uint32_t mask = (1u << width) - 1;
    memset(count, 0, sizeof(K) * (size_t)passes << width);
    for (int64_t i = 0; i < n; i++) {
        K k = (K)(r[i] >> KB);
        for (int p = 0; p < passes; p++) count[(uint32_t)p << width | (k >> (p * width) & mask)]++;
    }
    for (int p = 0; p < passes; p++) {
        int shift = KB + p * width;
        K *c = count + ((size_t)p << width), at = 0;
        if (c[(uint32_t)(r[0] >> shift) & mask] == (K)n) continue;
        for (uint32_t b = 0; b <= mask; b++) {
            K k = c[b];
            c[b] = at;
            at += k;
        }
        for (int64_t i = 0; i < n; i++) tmp[c[(uint32_t)(r[i] >> shift) & mask]++] = r[i];
        R *swap = r;
        r = tmp;
        tmp = swap;
    }
    return r;
}

/* Brings the k-th smallest record (from 0) to r[k], smaller ones before it. */
static void FN(select)(R *r, int64_t n, int64_t k)
{
    int64_t lo = 0, hi = n - 1;
    uint64_t seed = 0x9e3779b97f4a7c15u;
    while (hi - lo > 32) {
        R s[3];
        for (int i = 0; i < 3; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            s[i] = r[lo + (int64_t)((seed >> 33) % (uint64_t)(hi - lo + 1))];
        }
        FN(insertion)(s, 3);
        R pivot = s[1];
        int64_t i = lo, j = hi;
        while (i <= j) {
            while (r[i] < pivot) i++;
            while (r[j] > pivot) j--;
            if (i <= j) {
                R t = r[i];
                r[i++] = r[j];
                r[j--] = t;
            }
        }
        if (k <= j) hi = j;
        else if (k >= i) lo = i;
        else return;
    }
    FN(insertion)(r + lo, hi - lo + 1);
}

TP_CLONES
static bool FN(any_below)(const K *keys, K bound)
{
    int any = 0;
    for (int i = 0; i < 64; i++) any |= keys[i] < bound;
    return any;
}

/* The k-th smallest record (from 0): candidates below the best bound so far are kept, few of many. */
static R FN(kth_few)(const K *keys, R *r, int64_t n, int64_t k)
{
    int64_t cap = 4 * (k + 1) > 256 ? 4 * (k + 1) : 256, have = 0;
    K bound = (K)-1;
    bool bounded = false;
    for (int64_t i = 0; i < n; i += 64) {
        int64_t m = n - i < 64 ? n - i : 64;
        if (bounded && m == 64 && !FN(any_below)(keys + i, bound)) continue;
        for (int64_t j = i; j < i + m; j++)
            if (!bounded || keys[j] < bound) r[have++] = (R)keys[j] << KB | (R)j;
        if (have + 64 > cap) {
            FN(select)(r, have, k);
            have = k + 1;
            bound = (K)(r[k] >> KB);
            bounded = true;
        }
    }
    FN(select)(r, have, k);
    return r[k];
}

/* The same by the top bits of the keys first: only records of one bin are left to select from. */
static R FN(kth_many)(const K *keys, R *r, int64_t n, int64_t k, int bits)
{
    enum { TOP = 11 };
    K count[1 << TOP];
    int shift = bits > TOP ? bits - TOP : 0;
    K low = (K)(bits < KB ? ((K)1 << bits % KB) - 1 : (K)-1);
    memset(count, 0, sizeof count);
    for (int64_t i = 0; i < n; i++) count[(keys[i] & low) >> shift]++;
    K bin = 0;
    while (k >= (int64_t)count[bin]) k -= (int64_t)count[bin++];
    int64_t have = 0;
    for (int64_t i = 0; i < n; i++) {
        r[have] = (R)keys[i] << KB | (R)i;
        have += (keys[i] & low) >> shift == bin;
    }
    FN(select)(r, have, k);
    return r[k];
}

static R FN(kth)(const K *keys, R *r, int64_t n, int64_t k, int bits)
{
    return k < n / 64 || n <= 256 ? FN(kth_few)(keys, r, n, k) : FN(kth_many)(keys, r, n, k, bits);
}

/* The k smallest records in order, k small: an array kept sorted, which few elements enter. */
static void FN(smallest)(const K *keys, R *r, int64_t n, int64_t k)
{
    int64_t have = 0;
    for (int64_t i = 0; i < n; i += 64) {
        int64_t m = n - i < 64 ? n - i : 64;
        if (have == k && m == 64 && !FN(any_below)(keys + i, (K)(r[k - 1] >> KB))) continue;
        for (int64_t j = i; j < i + m; j++) {
            R v = (R)keys[j] << KB | (R)j;
            if (have == k && v > r[k - 1]) continue;
            int64_t at = have < k ? have++ : k - 1;
            for (; at > 0 && r[at - 1] > v; at--) r[at] = r[at - 1];
            r[at] = v;
        }
    }
}

/* ---- one line each; r and tmp have room for n records, count for counters ---- */

static void FN(sort_line)(const sorter *w, const K *keys, R *r, R *tmp, K *count, int64_t *index)
{
    K low = (K)-1, high = 0;
    for (int64_t i = 0; i < w->n; i++) {
        low = keys[i] < low ? keys[i] : low;
        high = keys[i] > high ? keys[i] : high;
    }
    int bits = high > low ? 64 - __builtin_clzll((uint64_t)(high - low)) : 1;   /* digits that differ at all */
    for (int64_t i = 0; i < w->n; i++) r[i] = (R)(keys[i] - low) << KB | (R)i;
    r = FN(radix)(r, tmp, count, w->n, bits);
    for (int64_t i = 0; i < w->n; i++) index[i] = (int64_t)(K)r[i];
}

static void FN(topk_line)(const sorter *w, const K *keys, R *r, R *tmp, K *count, int64_t *index)
{
    int64_t have = 0;
    if (w->k == 0) return;
    if (w->k <= 32 && w->sorted) {
        FN(smallest)(keys, r, w->n, w->k);
        for (int64_t i = 0; i < w->k; i++) index[i] = (int64_t)(K)r[i];
        return;
    }
    R last = w->k < w->n ? FN(kth)(keys, r, w->n, w->k - 1, w->bits) : (R)-1;
    for (int64_t i = 0; i < w->n && have < w->k; i++) {
        R v = (R)keys[i] << KB | (R)i;
        r[have] = v;
        have += v <= last;
    }
    if (w->sorted) r = FN(radix)(r, tmp, count, w->k, w->bits);
    for (int64_t i = 0; i < w->k; i++) index[i] = (int64_t)(K)r[i];
}

/* The k-th smallest; with `sorted` the first NaN where there is one (its key is the largest). */
static void FN(kth_line)(const sorter *w, const K *keys, R *r, R *tmp, K *count, int64_t *index)
{
    K nan = (K)(w->bits < KB ? ((K)1 << w->bits % KB) - 1 : (K)-1);
    for (int64_t i = 0; w->sorted && i < w->n; i++)
        if (keys[i] == nan) {
            index[0] = i;
            return;
        }
    index[0] = (int64_t)(K)FN(kth)(keys, r, w->n, w->k - 1, w->bits);
}

static void FN(line)(const sorter *w, const K *keys, R *r, R *tmp, K *count, int64_t *index)
{
    if (w->what == SORT) FN(sort_line)(w, keys, r, tmp, count, index);
    else if (w->what == TOPK) FN(topk_line)(w, keys, r, tmp, count, index);
    else FN(kth_line)(w, keys, r, tmp, count, index);
}

static bool FN(lines)(const sorter *w, int64_t first, int64_t cols)
{
    int64_t n = w->n, nout = w->nout;
    size_t bytes = (size_t)cols * (size_t)n * sizeof(K) + (size_t)n * (2 * sizeof(R) + sizeof(int64_t));
    size_t nkeys = (size_t)(cols * n);
    bytes += FN(counters)(n) * sizeof(K);
    char *room = tpi_alloc(bytes);
    if (!room) return false;
    R *r = (R *)room, *tmp = r + n;
    int64_t *index = (int64_t *)(tmp + n);
    K *keys = (K *)(index + n), *count = keys + nkeys;
    const char *src = w->src + first * w->esize;
    if (cols == 1 || w->ld == 1) {
        for (int64_t c = 0; c < cols; c++) w->load(keys + c * n, src + c * w->esize, n, w->ld, w->invert);
    } else { /* neighbouring lines: rows of memory, not columns */
        K row[SORT_COLS];
        for (int64_t i = 0; i < n; i++) {
            const char *from = src + i * w->ld * w->esize;
            if (i + 8 < n)
                for (int64_t c = 0; c < cols * w->esize; c += 64) __builtin_prefetch(from + 8 * w->ld * w->esize + c);
            w->load(row, from, cols, 1, w->invert);
            for (int64_t c = 0; c < cols; c++) keys[c * n + i] = row[c];
        }
    }
    int64_t outer = first / (n * w->ld), at = outer * nout * w->ld + first % (n * w->ld);
    for (int64_t c = 0; c < cols; c++) {
        LINE(w, keys + c * n, r, tmp, count, index);
        put(w, src + c * w->esize, index, at + c);
    }
    tpi_free(room, bytes);
    return true;
}

#undef FN
#undef PASTE
#undef PASTE2
#undef K
#undef KB
#undef R
#undef SUF
#undef LINE
