/* Sampling at the places that a grid names: gathers, weighted by functions of the grid, so that every order of
 * derivative follows from theirs. */
#include <math.h>

#include "rules/shape_util.h"
#include "tp/ops.h"
#include "tpi_ops.h"
#include "x_ops.h"

enum { BILINEAR, NEAREST, BICUBIC };
enum { ZEROS, BORDER, REFLECTION };

typedef struct grid {
    int nd, mode, padding;
    bool corners;
    T flat; /* input as [N, C, elements] */
    const int64_t *size; /* of its spatial dimensions */
    int64_t places[3]; /* shape of a coordinate: [N, 1, places] */
} grid;

static T scaled(T x, double factor, double shift) { return x_add_f(x_mul_f(x, factor), shift, &tpi_one); }

static T clamped(T x, double low, double high)
{
    tp_scalar a = {.tag = TP_SCALAR_FLOAT, .v.f = low}, b = {.tag = TP_SCALAR_FLOAT, .v.f = high};
    return x_clamp(x, &a, &b);
}

/* A coordinate mirrored as often as it takes, at the centres of the outer elements or at their edges. */
static T reflected(T x, int64_t n, bool corners)
{
    double low = corners ? 0 : -0.5, span = corners ? (double)(n - 1) : (double)n;
    if (!x || span == 0) return x ? x_mul_f(x, 0) : NULL;
    T away = x_abs(scaled(x, 1, -low)), turns = x_floor(x_mul_f(away, 1 / span));
    T rest = x_sub(away, x_mul_f(turns, span), &tpi_one);
    T odd = turns ? x_ne(x_mul_f(x_floor(x_mul_f(turns, 0.5)), 2), turns) : NULL;
    return odd ? scaled(x_where(odd, x_rsub_f(rest, span), rest), 1, low) : NULL;
}

static T padded(const grid *g, T x, int d)
{
    double last = (double)(g->size[d] - 1);
    if (g->padding == BORDER) return clamped(x, 0, last);
    return g->padding == REFLECTION ? clamped(reflected(x, g->size[d], g->corners), 0, last) : x;
}

/* The elements at whole coordinates, times a weight (NULL: 1); outside there are zeros. */
static T picked(const grid *g, T *at, T weight)
{
    T index = NULL, inside = NULL;
    for (int d = 0; d < g->nd; d++) {
        if (!at[d]) return NULL;
        T good = x_logical_and(x_ge(at[d], x_scalar(0, at[d])), x_le(at[d], x_scalar((double)(g->size[d] - 1), at[d])));
        T place = good ? x_where(good, at[d], x_scalar(0, at[d])) : NULL;
        index = index ? x_add(x_mul_f(index, (double)g->size[d]), place, &tpi_one) : place;
        inside = inside ? x_logical_and(inside, good) : good;
    }
    if (!index) return NULL;
    int64_t wide[3] = {g->places[0], g->flat->shape[1], g->places[2]};
    T v = x_gather(g->flat, 2, x_expand_to(x_to_dtype(index, TP_INT64), 3, wide));
    T zero = v ? x_scalar(0, v) : NULL;
    if (!weight) return x_where(inside, v, zero);
    return x_mul(v, x_where(inside, weight, zero));
}

static T bilinear(const grid *g, T *x)
{
    T low[3], part[3], sum = NULL;
    for (int d = 0; d < g->nd; d++) {
        low[d] = x_floor(x[d]);
        part[d] = x_sub(x[d], low[d], &tpi_one);
    }
    for (int corner = 0; corner < 1 << g->nd; corner++) {
        T at[3], weight = NULL;
        for (int d = 0; d < g->nd; d++) {
            bool up = corner >> d & 1;
            T w = up ? part[d] : x_rsub_f(part[d], 1);
            at[d] = up ? scaled(low[d], 1, 1) : low[d];
            weight = weight ? x_mul(weight, w) : w;
        }
        T term = picked(g, at, weight);
        sum = sum ? x_add(sum, term, &tpi_one) : term;
    }
    return sum;
}

/* The weight of the element k - 1 behind the one before the place, t behind which that lies. */
static T cubic_weight(T t, int k)
{
    const double a = -0.75;
    T u = k == 0 ? scaled(t, 1, 1) : k == 1 ? t : x_rsub_f(t, k == 2 ? 1 : 2);
    if (k == 1 || k == 2) return scaled(x_mul(x_mul(scaled(u, a + 2, -(a + 3)), u), u), 1, 1);
    return scaled(x_mul(scaled(x_mul(scaled(u, a, -5 * a), u), 1, 8 * a), u), 1, -4 * a);
}

static T bicubic(const grid *g, T *x)
{
    T low[2], part[2], sum = NULL;
    for (int d = 0; d < 2; d++) {
        low[d] = x_floor(x[d]);
        part[d] = x_sub(x[d], low[d], &tpi_one);
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            T at[2] = {padded(g, scaled(low[0], 1, i - 1), 0), padded(g, scaled(low[1], 1, j - 1), 1)};
            T term = picked(g, at, x_mul(cubic_weight(part[0], i), cubic_weight(part[1], j)));
            sum = sum ? x_add(sum, term, &tpi_one) : term;
        }
    return sum;
}

static int grid_sampler(tp_call *c, const char *op, int nd)
{
    T input = arg_t(&c->args[0]), at = arg_t(&c->args[1]), x[3], r = NULL;
    grid g = {
        .nd = nd, .mode = (int)arg_i(&c->args[2]), .padding = (int)arg_i(&c->args[3]), .corners = arg_b(&c->args[4])};
    int64_t shape[TPI_DIMS_CAP], elements = 1, places = 1;
    if (input->ndim != nd + 2 || at->ndim != nd + 2 || at->shape[nd + 1] != nd || input->shape[0] != at->shape[0])
        return tpi_fail(TP_ERR_RUNTIME,
                        "%s: input of shape %s and grid of shape %s: %d dimensions and one N are needed, and "
                        "%d coordinates",
                        op, tpi_str(input), tpi_str(at), nd + 2, nd);
    if (!tpi_is_float(input->dtype) || at->dtype != input->dtype)
        return tpi_fail(TP_ERR_TYPE, "%s: one floating dtype is needed, got %s and %s", op, tp_dtype_name(input->dtype),
                        tp_dtype_name(at->dtype));
    if (g.mode < BILINEAR || g.mode > (nd == 2 ? BICUBIC : NEAREST) || g.padding < ZEROS || g.padding > REFLECTION)
        return tpi_fail(TP_ERR_RUNTIME, "%s: there is no interpolation mode %d with padding mode %d", op, g.mode,
                        g.padding);
    for (int d = 0; d < nd; d++) {
        elements *= input->shape[2 + d];
        places *= at->shape[1 + d];
    }
    if (elements == 0)
        return tpi_fail(TP_ERR_RUNTIME, "%s: input of shape %s has no elements to sample", op, tpi_str(input));
    tpi_scope s;
    tpi_scope_open(&s);
    g.size = input->shape + 2;
    int64_t flat[3] = {input->shape[0], input->shape[1], elements};
    g.places[0] = at->shape[0], g.places[1] = 1, g.places[2] = places;
    bool half = tpi_esize(input->dtype) == 2;
    T image = half ? x_to_dtype(input, TP_FLOAT32) : input, where = half ? x_to_dtype(at, TP_FLOAT32) : at;
    g.flat = x_reshape_to(image, 3, flat);
    for (int d = 0; d < nd; d++) {
        T v = x_reshape_to(x_select(where, nd + 1, nd - 1 - d), 3, g.places);
        double n = (double)g.size[d];
        v = g.corners ? scaled(v, (n - 1) / 2, (n - 1) / 2) : scaled(v, n / 2, (n - 1) / 2);
        x[d] = g.mode == BICUBIC ? v : padded(&g, v, d);
        if (g.mode == NEAREST) x[d] = x_round(x[d], 0);
    }
    if (!tpi_bad()) r = g.mode == BILINEAR ? bilinear(&g, x) : g.mode == NEAREST ? picked(&g, x, NULL) : bicubic(&g, x);
    tpi_copy_dims(shape, input->shape, 2);
    tpi_copy_dims(shape + 2, at->shape + 1, nd);
    r = x_reshape_to(r, nd + 2, shape);
    return scope_result(&s, c, half ? x_to_dtype(r, input->dtype) : r);
}

int c_grid_sampler_2d(tp_call *c) { return grid_sampler(c, "grid_sampler_2d", 2); }
int c_grid_sampler_3d(tp_call *c) { return grid_sampler(c, "grid_sampler_3d", 3); }
