/* Lines in memory to lanes and back; part of fft_real.h. TURN(v) transposes LANES vectors in place. */

/* How the lanes of a group lie. */
typedef enum NAME(shape) { NAME(ANY), NAME(ROWS), NAME(PAIR_ROWS), NAME(COLUMNS), NAME(PAIR_COLUMNS) } NAME(shape);

static NAME(shape) NAME(layout)(const int64_t *at, int64_t width, int64_t step, int64_t part)
{
    int64_t gap = width == LANES ? at[1] - at[0] : 0;
    for (int64_t l = 2; l < width && gap; l++)
        if (at[l] - at[l - 1] != gap) gap = 0;
    if (gap == 1 && part != 1 && part != -1) return NAME(COLUMNS);
    if (gap == 2 && (part == 1 || part == -1)) return NAME(PAIR_COLUMNS);
    if (width == LANES && step == 2 && (part == 1 || part == -1)) return NAME(PAIR_ROWS);
    if (width == LANES && step == 1 && part != 1 && part != -1) return NAME(ROWS);
    return NAME(ANY);
}

static void NAME(load_any)(const ELEM *in, const int64_t *at, int64_t width, int64_t step, int64_t part, int64_t k0,
                           int64_t n, VEC *restrict re, VEC *restrict im)
{
    for (int64_t l = 0; l < LANES; l++) {
        const ELEM *x = in + (l < width ? at[l] : 0);
        for (int64_t k = k0; k < n; k++) {
            re[k][l] = l < width ? x[k * step] : 0;
            im[k][l] = l < width && part ? x[k * step + part] : 0;
        }
    }
}

static void NAME(store_any)(const VEC *restrict re, const VEC *restrict im, int64_t k0, int64_t n, ELEM *out,
                            const int64_t *at, int64_t width, int64_t step, int64_t part, ELEM scale)
{
    for (int64_t l = 0; l < width; l++) {
        ELEM *y = out + at[l];
        for (int64_t k = k0; k < n; k++) {
            y[k * step] = re[k][l] * scale;
            if (part) y[k * step + part] = im[k][l] * scale;
        }
    }
}

/* Reals next to each other in every line. */
TP_CLONES static int64_t NAME(load_rows)(const ELEM *in, const int64_t *at, int64_t n, VEC *restrict x)
{
    int64_t k = 0;
    for (; k + LANES <= n; k += LANES) {
        VEC v[LANES];
        for (int64_t l = 0; l < LANES; l++) memcpy(v + l, in + at[l] + k, sizeof(VEC));
        TURN(v);
        for (int64_t l = 0; l < LANES; l++) x[k + l] = v[l];
    }
    return k;
}

TP_CLONES static int64_t NAME(load_pair_rows)(const ELEM *in, const int64_t *at, int64_t n, VEC *restrict re,
                                              VEC *restrict im)
{
    int64_t k = 0;
    for (; k + LANES / 2 <= n; k += LANES / 2) {
        VEC v[LANES];
        for (int64_t l = 0; l < LANES; l++) memcpy(v + l, in + at[l] + 2 * k, sizeof(VEC));
        TURN(v);
        for (int64_t l = 0; l < LANES / 2; l++) {
            re[k + l] = v[2 * l];
            im[k + l] = v[2 * l + 1];
        }
    }
    return k;
}

TP_CLONES static int64_t NAME(store_rows)(const VEC *restrict x, int64_t n, ELEM *out, const int64_t *at, ELEM scale)
{
    int64_t k = 0;
    for (; k + LANES <= n; k += LANES) {
        VEC v[LANES];
        for (int64_t l = 0; l < LANES; l++) v[l] = x[k + l] * scale;
        TURN(v);
        for (int64_t l = 0; l < LANES; l++) memcpy(out + at[l] + k, v + l, sizeof(VEC));
    }
    return k;
}

TP_CLONES static int64_t NAME(store_pair_rows)(const VEC *restrict re, const VEC *restrict im, int64_t n, ELEM *out,
                                               const int64_t *at, ELEM scale)
{
    int64_t k = 0;
    for (; k + LANES / 2 <= n; k += LANES / 2) {
        VEC v[LANES];
        for (int64_t l = 0; l < LANES / 2; l++) {
            v[2 * l] = re[k + l] * scale;
            v[2 * l + 1] = im[k + l] * scale;
        }
        TURN(v);
        for (int64_t l = 0; l < LANES; l++) memcpy(out + at[l] + 2 * k, v + l, sizeof(VEC));
    }
    return k;
}

TP_CLONES static void NAME(load_columns)(const ELEM *in, int64_t step, int64_t part, int64_t n, VEC *restrict re,
                                         VEC *restrict im)
{
    for (int64_t k = 0; k < n; k++, in += step) {
        memcpy(re + k, in, sizeof(VEC));
        if (part) memcpy(im + k, in + part, sizeof(VEC));
        else im[k] = (VEC){0};
    }
}

TP_CLONES static void NAME(load_pair_columns)(const ELEM *in, int64_t step, int64_t n, VEC *restrict re,
                                              VEC *restrict im)
{
    for (int64_t k = 0; k < n; k++, in += step) {
        VEC a, b;
        memcpy(&a, in, sizeof a);
        memcpy(&b, in + LANES, sizeof b);
        re[k] = EVEN(a, b);
        im[k] = ODD(a, b);
    }
}

TP_CLONES static void NAME(store_columns)(const VEC *restrict re, const VEC *restrict im, int64_t n, ELEM *out,
                                          int64_t step, int64_t part, ELEM scale)
{
    for (int64_t k = 0; k < n; k++, out += step) {
        VEC a = re[k] * scale, b = im[k] * scale;
        memcpy(out, &a, sizeof a);
        if (part) memcpy(out + part, &b, sizeof b);
    }
}

TP_CLONES static void NAME(store_pair_columns)(const VEC *restrict re, const VEC *restrict im, int64_t n, ELEM *out,
                                               int64_t step, ELEM scale)
{
    for (int64_t k = 0; k < n; k++, out += step) {
        VEC a = re[k] * scale, b = im[k] * scale, c = LOW(a, b), d = HIGH(a, b);
        memcpy(out, &c, sizeof c);
        memcpy(out + LANES, &d, sizeof d);
    }
}

/* Point k of lane l is in[at[l] + k * step], its imaginary part `part` further on; lanes from width on are zero. */
static void NAME(load)(const ELEM *in, const int64_t *at, int64_t width, int64_t step, int64_t part, int64_t n,
                       VEC *restrict re, VEC *restrict im)
{
    int64_t done = 0;
    if (part == -1) { /* pairs with their parts exchanged */
        VEC *t = re;
        re = im;
        im = t;
        in--;
        part = 1;
    }
    switch (NAME(layout)(at, width, step, part)) {
    case NAME(COLUMNS): NAME(load_columns)(in + at[0], step, part, n, re, im); return;
    case NAME(PAIR_COLUMNS): NAME(load_pair_columns)(in + at[0], step, n, re, im); return;
    case NAME(PAIR_ROWS): done = NAME(load_pair_rows)(in, at, n, re, im); break;
    case NAME(ROWS):
        done = NAME(load_rows)(in, at, n, re);
        if (part) NAME(load_rows)(in + part, at, n, im);
        else memset(im, 0, (size_t)done * sizeof *im);
        break;
    default: break;
    }
    if (done < n) NAME(load_any)(in, at, width, step, part, done, n, re, im);
}

static void NAME(store)(const VEC *restrict re, const VEC *restrict im, int64_t n, ELEM *out, const int64_t *at,
                        int64_t width, int64_t step, int64_t part, ELEM scale)
{
    int64_t done = 0;
    if (part == -1) {
        const VEC *t = re;
        re = im;
        im = t;
        out--;
        part = 1;
    }
    switch (NAME(layout)(at, width, step, part)) {
    case NAME(COLUMNS): NAME(store_columns)(re, im, n, out + at[0], step, part, scale); return;
    case NAME(PAIR_COLUMNS): NAME(store_pair_columns)(re, im, n, out + at[0], step, scale); return;
    case NAME(PAIR_ROWS): done = NAME(store_pair_rows)(re, im, n, out, at, scale); break;
    case NAME(ROWS):
        done = NAME(store_rows)(re, n, out, at, scale);
        if (part) NAME(store_rows)(im, n, out + part, at, scale);
        break;
    default: break;
    }
    if (done < n) NAME(store_any)(re, im, done, n, out, at, width, step, part, scale);
}

/* out[l * pitch + k] = lane l of x[k]. */
TP_CLONES static void NAME(turn_out)(const VEC *restrict x, int64_t n, ELEM *restrict out, int64_t pitch, int64_t width)
{
    int64_t k = 0;
    for (; k + LANES <= n; k += LANES) {
        VEC v[LANES];
        for (int64_t l = 0; l < LANES; l++) v[l] = x[k + l];
        TURN(v);
        for (int64_t l = 0; l < width; l++) memcpy(out + l * pitch + k, v + l, sizeof(VEC));
    }
    for (; k < n; k++)
        for (int64_t l = 0; l < width; l++) out[l * pitch + k] = x[k][l];
}
