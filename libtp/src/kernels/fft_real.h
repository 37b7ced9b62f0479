/* The body of fft_f32.c and fft_f64.c for one real type ELEM; NAME(x) appends its suffix; VEC holds LANES of it. */

#include <string.h>

#define LANES ((int64_t)(FFT_LANE_BYTES / sizeof(ELEM)))
#define KEEP static inline __attribute__((always_inline))

typedef ELEM VEC __attribute__((vector_size(FFT_LANE_BYTES)));

/* ---- one stage ------------------------------------------------------------------------------------------------
 *
 * A stage turns m groups of r points, a stride of s vectors apart, into r of m: point j of group p comes from
 * x[q + s (p + m j)] and goes to y[q + s (r p + j)] times w[p]^j. In the last stage m is 1 and there is no w. */

#define STAGE_BEGIN(r)                                      \
    for (int64_t p = 0; p < m; p++, w += 2 * ((r) - 1)) {   \
        const VEC *ar = xr + s * p, *ai = xi + s * p;       \
        VEC *br = yr + s * (r) * p, *bi = yi + s * (r) * p; \
        for (int64_t q = 0; q < s; q++) {
#define STAGE_END \
    }             \
    }
#define IN(j) VEC a##j##r = ar[q + s * m * (j)], a##j##i = ai[q + s * m * (j)]
#define OUT0(re, im) \
    br[q] = (re);    \
    bi[q] = (im)
#define OUT(j, re, im)                                     \
    do {                                                   \
        VEC zr = (re), zi = (im);                          \
        if (last) {                                        \
            br[q + s * (j)] = zr;                          \
            bi[q + s * (j)] = zi;                          \
        } else {                                           \
            ELEM wr = w[2 * (j) - 2], wi = w[2 * (j) - 1]; \
            br[q + s * (j)] = zr * wr - zi * wi;           \
            bi[q + s * (j)] = zr * wi + zi * wr;           \
        }                                                  \
    } while (0)

#define STAGE_ARGS                                                                                                  \
    int64_t m, int64_t s, const ELEM *restrict w, const VEC *restrict xr, const VEC *restrict xi, VEC *restrict yr, \
        VEC *restrict yi, const bool last

KEEP void NAME(radix2)(STAGE_ARGS)
{
    STAGE_BEGIN(2)
    IN(0);
    IN(1);
    OUT0(a0r + a1r, a0i + a1i);
    OUT(1, a0r - a1r, a0i - a1i);
    STAGE_END
}

KEEP void NAME(radix3)(STAGE_ARGS)
{
    const ELEM h = (ELEM)0.866025403784438646763723170752936183L;
    STAGE_BEGIN(3)
    IN(0);
    IN(1);
    IN(2);
    VEC tr = a1r + a2r, ti = a1i + a2i, cr = a0r - tr * (ELEM)0.5, ci = a0i - ti * (ELEM)0.5;
    VEC dr = (a1i - a2i) * h, di = (a2r - a1r) * h;
    OUT0(a0r + tr, a0i + ti);
    OUT(1, cr + dr, ci + di);
    OUT(2, cr - dr, ci - di);
    STAGE_END
}

KEEP void NAME(radix4)(STAGE_ARGS)
{
    STAGE_BEGIN(4)
    IN(0);
    IN(1);
    IN(2);
    IN(3);
    VEC t0r = a0r + a2r, t0i = a0i + a2i, t1r = a0r - a2r, t1i = a0i - a2i;
    VEC t2r = a1r + a3r, t2i = a1i + a3i, t3r = a1r - a3r, t3i = a1i - a3i;
    OUT0(t0r + t2r, t0i + t2i);
    OUT(1, t1r + t3i, t1i - t3r);
    OUT(2, t0r - t2r, t0i - t2i);
    OUT(3, t1r - t3i, t1i + t3r);
    STAGE_END
}

KEEP void NAME(radix5)(STAGE_ARGS)
{
    const ELEM c1 = (ELEM)0.309016994374947424102293417182819059L, c2 = (ELEM)-0.809016994374947424102293417182819059L;
    const ELEM s1 = (ELEM)0.951056516295153572116439333379382143L, s2 = (ELEM)0.587785252292473129168705954639072769L;
    STAGE_BEGIN(5)
    IN(0);
    IN(1);
    IN(2);
    IN(3);
    IN(4);
    VEC p1r = a1r + a4r, p1i = a1i + a4i, m1r = a1r - a4r, m1i = a1i - a4i;
    VEC p2r = a2r + a3r, p2i = a2i + a3i, m2r = a2r - a3r, m2i = a2i - a3i;
    VEC u1r = a0r + p1r * c1 + p2r * c2, u1i = a0i + p1i * c1 + p2i * c2;
    VEC u2r = a0r + p1r * c2 + p2r * c1, u2i = a0i + p1i * c2 + p2i * c1;
    VEC v1r = m1i * s1 + m2i * s2, v1i = m1r * s1 + m2r * s2;
    VEC v2r = m1i * s2 - m2i * s1, v2i = m1r * s2 - m2r * s1;
    OUT0(a0r + p1r + p2r, a0i + p1i + p2i);
    OUT(1, u1r + v1r, u1i - v1i);
    OUT(2, u2r + v2r, u2i - v2i);
    OUT(3, u2r - v2r, u2i + v2i);
    OUT(4, u1r - v1r, u1i + v1i);
    STAGE_END
}

KEEP void NAME(radix8)(STAGE_ARGS)
{
    const ELEM h = (ELEM)0.707106781186547524400844362104849039L;
    STAGE_BEGIN(8)
    IN(0);
    IN(4);
    VEC s0r = a0r + a4r, s0i = a0i + a4i, d0r = a0r - a4r, d0i = a0i - a4i;
    IN(2);
    IN(6);
    VEC s2r = a2r + a6r, s2i = a2i + a6i, d2r = a2r - a6r, d2i = a2i - a6i;
    VEC e0r = s0r + s2r, e0i = s0i + s2i, e2r = s0r - s2r, e2i = s0i - s2i;
    VEC e1r = d0r + d2i, e1i = d0i - d2r, e3r = d0r - d2i, e3i = d0i + d2r;
    IN(1);
    IN(5);
    VEC s1r = a1r + a5r, s1i = a1i + a5i, d1r = a1r - a5r, d1i = a1i - a5i;
    IN(3);
    IN(7);
    VEC s3r = a3r + a7r, s3i = a3i + a7i, d3r = a3r - a7r, d3i = a3i - a7i;
    VEC o0r = s1r + s3r, o0i = s1i + s3i, o2r = s1i - s3i, o2i = s3r - s1r; /* times -i */
    VEC f1r = d1r + d3i, f1i = d1i - d3r, f3r = d1r - d3i, f3i = d1i + d3r;
    VEC o1r = (f1r + f1i) * h, o1i = (f1i - f1r) * h, o3r = (f3i - f3r) * h, o3i = (f3r + f3i) * -h;
    OUT0(e0r + o0r, e0i + o0i);
    OUT(1, e1r + o1r, e1i + o1i);
    OUT(2, e2r + o2r, e2i + o2i);
    OUT(3, e3r + o3r, e3i + o3i);
    OUT(4, e0r - o0r, e0i - o0i);
    OUT(5, e1r - o1r, e1i - o1i);
    OUT(6, e2r - o2r, e2i - o2i);
    OUT(7, e3r - o3r, e3i - o3i);
    STAGE_END
}

/* An odd prime: pairs j, r - j share their products. root: cos and sin of 2 pi k / r. */
KEEP void NAME(radix_odd)(int r, const ELEM *restrict root, STAGE_ARGS)
{
    int half = (r - 1) / 2;
    STAGE_BEGIN(r)
    VEC pr[FFT_RADIX_MAX / 2], pi[FFT_RADIX_MAX / 2], mr[FFT_RADIX_MAX / 2], mi[FFT_RADIX_MAX / 2];
    IN(0);
    VEC sr = a0r, si = a0i;
    for (int j = 1; j <= half; j++) {
        VEC ur = ar[q + s * m * j], ui = ai[q + s * m * j], vr = ar[q + s * m * (r - j)], vi = ai[q + s * m * (r - j)];
        pr[j - 1] = ur + vr;
        pi[j - 1] = ui + vi;
        mr[j - 1] = ur - vr;
        mi[j - 1] = ui - vi;
        sr += pr[j - 1];
        si += pi[j - 1];
    }
    OUT0(sr, si);
    for (int k = 1; k <= half; k++) {
        VEC ur = a0r, ui = a0i, vr = {0}, vi = {0};
        for (int j = 1, at = k; j <= half; j++, at = at + k < r ? at + k : at + k - r) {
            ELEM c = root[2 * at], d = -root[2 * at + 1];
            ur += pr[j - 1] * c;
            ui += pi[j - 1] * c;
            vr += mi[j - 1] * d;
            vi += mr[j - 1] * d;
        }
        OUT(k, ur + vr, ui - vi);
        OUT(r - k, ur - vr, ui + vi);
    }
    STAGE_END
}

/* All stages; *where: in which of the two buffers the result lies. */
TP_CLONES static void NAME(stages)(const fft_plan *plan, int64_t s, VEC *xr, VEC *xi, VEC *yr, VEC *yi, int *where)
{
    int64_t m = plan->n;
    const ELEM *w = plan->twiddles, *root = plan->roots;
    int flips = 0;
    for (int i = 0; i < plan->stages; i++, flips ^= 1) {
        int r = plan->radix[i];
        m /= r;
        if (m > 1) {
            switch (r) {
            case 2: NAME(radix2)(m, s, w, xr, xi, yr, yi, false); break;
            case 3: NAME(radix3)(m, s, w, xr, xi, yr, yi, false); break;
            case 4: NAME(radix4)(m, s, w, xr, xi, yr, yi, false); break;
            case 5: NAME(radix5)(m, s, w, xr, xi, yr, yi, false); break;
            case 8: NAME(radix8)(m, s, w, xr, xi, yr, yi, false); break;
            default: NAME(radix_odd)(r, root, m, s, w, xr, xi, yr, yi, false);
            }
        } else {
            switch (r) {
            case 2: NAME(radix2)(m, s, w, xr, xi, yr, yi, true); break;
            case 3: NAME(radix3)(m, s, w, xr, xi, yr, yi, true); break;
            case 4: NAME(radix4)(m, s, w, xr, xi, yr, yi, true); break;
            case 5: NAME(radix5)(m, s, w, xr, xi, yr, yi, true); break;
            case 8: NAME(radix8)(m, s, w, xr, xi, yr, yi, true); break;
            default: NAME(radix_odd)(r, root, m, s, w, xr, xi, yr, yi, true);
            }
        }
        if (r > 5 && r != 8) root += 2 * r;
        w += 2 * m * (r - 1);
        s *= r;
        VEC *t = xr;
        xr = yr;
        yr = t;
        t = xi;
        xi = yi;
        yi = t;
    }
    *where = flips;
}

/* ---- lanes ----------------------------------------------------------------------------------------------------- */

/* Four arrays of vectors: the points, and the buffer that stages alternate with. */
typedef struct NAME(lanes) {
    VEC *xr, *xi, *yr, *yi;
} NAME(lanes);

static int64_t NAME(lane_points)(const fft_plan *plan) { return plan->padded ? plan->padded : plan->n; }

KEEP void NAME(swap)(NAME(lanes) * b)
{
    NAME(lanes) t = *b;
    *b = (NAME(lanes)){t.yr, t.yi, t.xr, t.xi};
}

TP_CLONES static void NAME(times)(int64_t n, const ELEM *restrict wr, const ELEM *restrict wi, VEC *restrict xr,
                                  VEC *restrict xi, ELEM sign)
{
    for (int64_t k = 0; k < n; k++) {
        VEC a = xr[k], b = xi[k];
        ELEM c = wr[k], d = wi[k] * sign;
        xr[k] = a * c - b * d;
        xi[k] = a * d + b * c;
    }
}

/* The transform of what lies in b->x; the result lies there again, the buffers may have changed places. */
static void NAME(run_lanes)(const fft_plan *plan, NAME(lanes) * b)
{
    int where = 0;
    if (!plan->padded) {
        NAME(stages)(plan, 1, b->xr, b->xi, b->yr, b->yi, &where);
        if (where) NAME(swap)(b);
        return;
    }
    int64_t n = plan->n, big = plan->padded;
    NAME(times)(n, plan->chirp_re, plan->chirp_im, b->xr, b->xi, 1);
    memset(b->xr + n, 0, (size_t)(big - n) * sizeof(VEC));
    memset(b->xi + n, 0, (size_t)(big - n) * sizeof(VEC));
    NAME(stages)(plan->first, 1, b->xr, b->xi, b->yr, b->yi, &where);
    if (where) NAME(swap)(b);
    NAME(times)(big, plan->filter_re, plan->filter_im, b->xr, b->xi, 1);
    NAME(stages)(plan->first, 1, b->xi, b->xr, b->yi, b->yr, &where); /* inverse */
    if (where) NAME(swap)(b);
    NAME(times)(n, plan->chirp_re, plan->chirp_im, b->xr, b->xi, 1);
}

#include "kernels/fft_move.h"

/* ---- a single line --------------------------------------------------------------------------------------------- */

static size_t NAME(lane_bytes)(const fft_plan *plan) { return 4 * (size_t)NAME(lane_points)(plan) * sizeof(VEC); }

static NAME(lanes) NAME(lanes_at)(const fft_plan *plan, void *scratch)
{
    int64_t n = NAME(lane_points)(plan);
    VEC *v = scratch;
    return (NAME(lanes)){v, v + n, v + 2 * n, v + 3 * n};
}

static size_t NAME(single_bytes)(const fft_plan *plan)
{
    if (plan->padded) return 4 * (size_t)plan->padded * sizeof(ELEM) + 256 + NAME(single_bytes)(plan->first);
    size_t a = NAME(lane_bytes)(plan->first), b = NAME(lane_bytes)(plan->second);
    return 2 * (size_t)(plan->n2 * plan->pitch) * sizeof(ELEM) + 128 + (a > b ? a : b);
}

TP_CLONES static void NAME(row_factors)(int64_t n1, int64_t pitch, const ELEM *wr, const ELEM *wi, VEC *restrict xr,
                                        VEC *restrict xi)
{
    for (int64_t k = 0; k < n1; k++, wr += pitch, wi += pitch) {
        VEC a = xr[k], b = xi[k], c, d;
        memcpy(&c, wr, sizeof c);
        memcpy(&d, wi, sizeof d);
        xr[k] = a * c - b * d;
        xi[k] = a * d + b * c;
    }
}

static ELEM *NAME(aligned)(void *p) { return (ELEM *)(((uintptr_t)p + 63) & ~(uintptr_t)63); }

/* One line from `in` to `out`, which may be the same memory. */
static void NAME(run_single)(const fft_plan *plan, const ELEM *in, int64_t in_step, int64_t in_part, ELEM *out,
                             int64_t out_step, int64_t out_part, ELEM scale, void *scratch)
{
    int64_t n = plan->n;
    if (plan->padded) {
        int64_t big = plan->padded;
        ELEM *re = NAME(aligned)(scratch), *im = re + big, *tr = im + big, *ti = tr + big;
        void *rest = NAME(aligned)(ti + big);
        const ELEM *cr = plan->chirp_re, *ci = plan->chirp_im, *fr = plan->filter_re, *fi = plan->filter_im;
        for (int64_t k = 0; k < n; k++) {
            ELEM a = in[k * in_step], b = in_part ? in[k * in_step + in_part] : 0;
            re[k] = a * cr[k] - b * ci[k];
            im[k] = a * ci[k] + b * cr[k];
        }
        memset(re + n, 0, (size_t)(big - n) * sizeof *re);
        memset(im + n, 0, (size_t)(big - n) * sizeof *im);
        NAME(run_single)(plan->first, re, 1, im - re, tr, 1, ti - tr, 1, rest);
        for (int64_t k = 0; k < big; k++) {
            ELEM a = tr[k], b = ti[k];
            tr[k] = a * fr[k] - b * fi[k];
            ti[k] = a * fi[k] + b * fr[k];
        }
        NAME(run_single)(plan->first, ti, 1, tr - ti, im, 1, re - im, 1, rest);
        for (int64_t k = 0; k < n; k++) {
            ELEM a = re[k] * scale, b = im[k] * scale;
            out[k * out_step] = a * cr[k] - b * ci[k];
            if (out_part) out[k * out_step + out_part] = a * ci[k] + b * cr[k];
        }
        return;
    }
    int64_t n1 = plan->n1, n2 = plan->n2, cols = plan->pitch;
    /* rows: [n2][round up n1]; the table of factors is [n1][round up n2] */
    int64_t wide = (n1 + LANES - 1) / LANES * LANES;
    ELEM *re = NAME(aligned)(scratch), *im = re + n2 * wide;
    void *rest = NAME(aligned)(im + n2 * wide);
    const ELEM *fr = plan->row_re, *fi = plan->row_im;
    int64_t at[FFT_LANE_BYTES / sizeof(ELEM)];
    for (int64_t col = 0; col < n2; col += LANES) {
        int64_t width = n2 - col < LANES ? n2 - col : LANES;
        NAME(lanes) b = NAME(lanes_at)(plan->first, rest);
        for (int64_t l = 0; l < width; l++) at[l] = (col + l) * in_step;
        NAME(load)(in, at, width, in_step * n2, in_part, n1, b.xr, b.xi);
        NAME(run_lanes)(plan->first, &b);
        NAME(row_factors)(n1, cols, fr + col, fi + col, b.xr, b.xi);
        NAME(turn_out)(b.xr, n1, re + col * wide, wide, width);
        NAME(turn_out)(b.xi, n1, im + col * wide, wide, width);
    }
    for (int64_t col = 0; col < n1; col += LANES) {
        int64_t width = n1 - col < LANES ? n1 - col : LANES;
        NAME(lanes) b = NAME(lanes_at)(plan->second, rest);
        for (int64_t k = 0; k < n2; k++) {
            memcpy(b.xr + k, re + k * wide + col, sizeof(VEC));
            memcpy(b.xi + k, im + k * wide + col, sizeof(VEC));
        }
        NAME(run_lanes)(plan->second, &b);
        for (int64_t l = 0; l < width; l++) at[l] = (col + l) * out_step;
        NAME(store)(b.xr, b.xi, n2, out, at, width, out_step * n1, out_part, scale);
    }
}

size_t NAME(fft_whole_scratch)(const fft_plan *plan)
{
    return plan->kind == FFT_SINGLE ? NAME(single_bytes)(plan) + 64 : NAME(lane_bytes)(plan) + 64;
}

void NAME(fft_whole)(const fft_plan *plan, const ELEM *re, const ELEM *im, ELEM *out_re, ELEM *out_im, void *scratch)
{
    int64_t at = 0;
    scratch = NAME(aligned)(scratch);
    if (plan->kind == FFT_SINGLE) {
        NAME(run_single)(plan, re, 1, im - re, out_re, 1, out_im - out_re, 1, scratch);
        return;
    }
    NAME(lanes) b = NAME(lanes_at)(plan, scratch);
    NAME(load)(re, &at, 1, 1, im - re, plan->n, b.xr, b.xi);
    NAME(run_lanes)(plan, &b);
    NAME(store)(b.xr, b.xi, plan->n, out_re, &at, 1, 1, out_im - out_re, 1);
}

/* ---- real lines ------------------------------------------------------------------------------------------------
 *
 * With z[k] = x[2k] + i x[2k + 1], Z its transform of length h = n / 2 and w = exp(-2 pi i / n):
 * X[k] = (Z[k] + conj Z[h-k]) / 2 - i w^k (Z[k] - conj Z[h-k]) / 2, with Z[h] = Z[0]. */

/* Z in (xr, xi) to X[0..h] in (yr, yi). */
TP_CLONES static void NAME(untangle)(int64_t h, const ELEM *restrict w, const VEC *restrict xr, const VEC *restrict xi,
                                     VEC *restrict yr, VEC *restrict yi)
{
    yr[0] = xr[0] + xi[0];
    yr[h] = xr[0] - xi[0];
    yi[0] = yi[h] = (VEC){0};
    for (int64_t k = 1; k <= h / 2; k++) {
        VEC er = (xr[k] + xr[h - k]) * (ELEM)0.5, ei = (xi[k] - xi[h - k]) * (ELEM)0.5;
        VEC dr = (xi[k] + xi[h - k]) * (ELEM)0.5, di = (xr[h - k] - xr[k]) * (ELEM)0.5;
        VEC tr = dr * w[2 * k] - di * w[2 * k + 1], ti = dr * w[2 * k + 1] + di * w[2 * k];
        yr[k] = er + tr;
        yi[k] = ei + ti;
        yr[h - k] = er - tr;
        yi[h - k] = ti - ei;
    }
}

/* The way back: X[0..h] in (xr, xi) to twice Z in (yr, yi). */
TP_CLONES static void NAME(tangle)(int64_t h, const ELEM *restrict w, const VEC *restrict xr, const VEC *restrict xi,
                                   VEC *restrict yr, VEC *restrict yi)
{
    yr[0] = xr[0] + xr[h];
    yi[0] = xr[0] - xr[h];
    for (int64_t k = 1; k <= h / 2; k++) {
        VEC er = xr[k] + xr[h - k], ei = xi[k] - xi[h - k], tr = xr[k] - xr[h - k], ti = xi[k] + xi[h - k];
        VEC dr = tr * w[2 * k] + ti * w[2 * k + 1], di = ti * w[2 * k] - tr * w[2 * k + 1];
        yr[k] = er - di;
        yi[k] = ei + dr;
        yr[h - k] = er + di;
        yi[h - k] = dr - ei;
    }
}

/* The second half of the transform of a real line from its first. */
static void NAME(mirror)(int64_t n, VEC *xr, VEC *xi)
{
    for (int64_t k = n / 2 + 1; k < n; k++) {
        xr[k] = xr[n - k];
        xi[k] = -xi[n - k];
    }
}

static int64_t NAME(points)(const fft_job *job) /* that lanes have to hold */
{
    int64_t n = NAME(lane_points)(job->lanes), most = job->form == FFT_C2C ? job->n : job->n + 1;
    return (n > most ? n : most) + 5; /* the arrays are not to lie a power of two apart */
}

static size_t NAME(scratch)(const fft_job *job)
{
    size_t lanes = 0, single = 0;
    if (job->lanes) lanes = 4 * (size_t)NAME(points)(job) * sizeof(VEC);
    if (job->single) single = NAME(single_bytes)(job->single) + (size_t)(2 * job->n + 4) * sizeof(ELEM) + 64;
    return (lanes > single ? lanes : single) + 64;
}

size_t NAME(fft_scratch)(const fft_job *job) { return NAME(scratch)(job); }

static void NAME(group)(const fft_job *job, int64_t first, int64_t width, void *scratch)
{
    const fft_side *in = &job->in, *out = &job->out;
    int64_t n = job->n, h = n / 2, cap = NAME(points)(job);
    const int64_t *from = in->at + first, *to = out->at + first;
    VEC *v = scratch;
    NAME(lanes) b = {v, v + cap, v + 2 * cap, v + 3 * cap};
    ELEM scale = (ELEM)job->scale;
    switch (job->form) {
    case FFT_C2C:
        NAME(load)(in->data, from, width, in->step, in->part, n, b.xr, b.xi);
        if (job->inverse) {
            NAME(lanes) c = {b.xi, b.xr, b.yi, b.yr};
            NAME(run_lanes)(job->lanes, &c);
            b = (NAME(lanes)){c.xi, c.xr, c.yi, c.yr};
        } else NAME(run_lanes)(job->lanes, &b);
        NAME(store)(b.xr, b.xi, n, out->data, to, width, out->step, out->part, scale);
        return;
    case FFT_R2C:
    case FFT_R2C_FULL:
        if (job->real) {
            NAME(load)(in->data, from, width, 2 * in->step, in->step, h, b.xr, b.xi);
            NAME(run_lanes)(job->lanes, &b);
            NAME(untangle)(h, job->real->twiddles, b.xr, b.xi, b.yr, b.yi);
            NAME(swap)(&b);
        } else {
            NAME(load)(in->data, from, width, in->step, 0, n, b.xr, b.xi);
            NAME(run_lanes)(job->lanes, &b);
            memset(b.xi, 0, sizeof *b.xi);
        }
        if (job->form == FFT_R2C_FULL) NAME(mirror)(n, b.xr, b.xi);
        NAME(store)(b.xr, b.xi, job->form == FFT_R2C ? h + 1 : n, out->data, to, width, out->step, out->part, scale);
        return;
    case FFT_C2R:
        NAME(load)(in->data, from, width, in->step, in->part, h + 1, b.xr, b.xi);
        memset(b.xi, 0, sizeof *b.xi); /* the imaginary part at frequency 0 takes no part */
        if (job->real) {
            memset(b.xi + h, 0, sizeof *b.xi);
            NAME(tangle)(h, job->real->twiddles, b.xr, b.xi, b.yr, b.yi);
            NAME(swap)(&b);
        } else NAME(mirror)(n, b.xr, b.xi);
        {
            NAME(lanes) c = {b.xi, b.xr, b.yi, b.yr};
            NAME(run_lanes)(job->lanes, &c);
            b = (NAME(lanes)){c.xi, c.xr, c.yi, c.yr};
        }
        if (job->real) NAME(store)(b.xr, b.xi, h, out->data, to, width, 2 * out->step, out->step, scale);
        else NAME(store)(b.xr, b.xi, n, out->data, to, width, out->step, 0, scale);
    }
}

/* One line, by a single plan. The points in between lie in pairs in z. */
static void NAME(line)(const fft_job *job, int64_t i, void *scratch)
{
    const fft_side *in = &job->in, *out = &job->out;
    int64_t n = job->n, h = n / 2, c = n - h;
    const ELEM *x = (const ELEM *)in->data + in->at[i];
    ELEM *y = (ELEM *)out->data + out->at[i], scale = (ELEM)job->scale, *z = scratch;
    const ELEM *w = job->real ? job->real->twiddles : NULL;
    void *rest = NAME(aligned)(z + 2 * n + 4);
    int64_t ys = out->step, yp = out->part, xs = in->step, xp = in->part;
    switch (job->form) {
    case FFT_C2C:
        if (job->inverse) NAME(run_single)(job->single, x + xp, xs, -xp, y + yp, ys, -yp, scale, rest);
        else NAME(run_single)(job->single, x, xs, xp, y, ys, yp, scale, rest);
        return;
    case FFT_R2C:
    case FFT_R2C_FULL:
        if (w) {
            NAME(run_single)(job->single, x, 2 * xs, xs, z, 2, 1, scale, rest);
            z[2 * h] = z[0];
            z[2 * h + 1] = z[1];
            for (int64_t k = 0; k <= h / 2; k++) {
                const ELEM *a = z + 2 * k, *b = z + 2 * (h - k);
                ELEM er = (a[0] + b[0]) / 2, ei = (a[1] - b[1]) / 2, dr = (a[1] + b[1]) / 2, di = (b[0] - a[0]) / 2;
                ELEM tr = dr * w[2 * k] - di * w[2 * k + 1], ti = dr * w[2 * k + 1] + di * w[2 * k];
                y[k * ys] = er + tr;
                y[k * ys + yp] = ei + ti;
                y[(h - k) * ys] = er - tr;
                y[(h - k) * ys + yp] = ti - ei;
            }
        } else {
            NAME(run_single)(job->single, x, xs, 0, z, 2, 1, scale, rest);
            for (int64_t k = 0; k <= h; k++) {
                y[k * ys] = z[2 * k];
                y[k * ys + yp] = k ? z[2 * k + 1] : 0;
            }
        }
        for (int64_t k = h + 1; k < n && job->form == FFT_R2C_FULL; k++) {
            y[k * ys] = y[(n - k) * ys];
            y[k * ys + yp] = -y[(n - k) * ys + yp];
        }
        return;
    case FFT_C2R:
        if (w) {
            for (int64_t k = 0; k <= h / 2; k++) {
                const ELEM *a = x + k * xs, *b = x + (h - k) * xs;
                ELEM ai = k ? a[xp] : 0, bi = k ? b[xp] : 0;
                ELEM er = a[0] + b[0], ei = ai - bi, tr = a[0] - b[0], ti = ai + bi;
                ELEM dr = tr * w[2 * k] + ti * w[2 * k + 1], di = ti * w[2 * k] - tr * w[2 * k + 1];
                z[2 * (h - k)] = er + di;
                z[2 * (h - k) + 1] = dr - ei;
                z[2 * k] = er - di;
                z[2 * k + 1] = ei + dr;
            }
            NAME(run_single)(job->single, z + 1, 2, -1, y + ys, 2 * ys, -ys, scale, rest);
            return;
        }
        for (int64_t k = 0; k < c; k++) {
            ELEM re = x[k * xs], im = k ? x[k * xs + xp] : 0;
            z[2 * k] = re;
            z[2 * k + 1] = im;
            if (k) {
                z[2 * (n - k)] = re;
                z[2 * (n - k) + 1] = -im;
            }
        }
        NAME(run_single)(job->single, z + 1, 2, -1, z + 1, 2, -1, scale, rest);
        for (int64_t k = 0; k < n; k++) y[k * ys] = z[2 * k];
    }
}

void NAME(fft_lines)(const fft_job *job, int64_t first, int64_t count, void *scratch)
{
    scratch = NAME(aligned)(scratch);
    if (!job->lanes)
        for (int64_t i = 0; i < count; i++) NAME(line)(job, first + i, scratch);
    else
        for (int64_t i = 0; i < count; i += LANES)
            NAME(group)(job, first + i, count - i < LANES ? count - i : LANES, scratch);
}
