/* The transforms over callbacks of tp/transform.h. */
#include <tp/transform.h>

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "levels/levels.h"
#include "tp/ops.h"
#include "tp/random.h"

/* ---- what they share ---- */

/* A list of references. */
typedef struct refs {
    tp_tensor **t;
    int64_t n;
} refs;

static int refs_open(refs *r, int64_t n)
{
    r->n = n;
    r->t = tpi_calloc(sizeof *r->t * (size_t)(n + 1));
    return r->t ? TP_OK : tp_error_code();
}

static void drop(tp_tensor **t, int64_t n)
{
    for (int64_t i = 0; t && i < n; i++) {
        tp_release(t[i]);
        t[i] = NULL;
    }
}

static void refs_close(refs *r)
{
    if (!r->t) return;
    drop(r->t, r->n);
    tpi_free(r->t, sizeof *r->t * (size_t)(r->n + 1));
    r->t = NULL;
}

static int store(tp_tensor **at, tp_tensor *t)
{
    *at = t;
    return t ? TP_OK : tp_error_code();
}

/* Checks what every transform takes, and empties the results. */
static int begin(const char *op, const tp_function *f, tp_tensor *const *args, int64_t n_args, tp_tensor **out,
                 int64_t n_out)
{
    if (n_args < 0 || n_out < 0 || n_args > INT32_MAX || n_out > INT32_MAX)
        return tpi_fail(TP_ERR_VALUE, "%s: %lld arguments, %lld results", op, (long long)n_args, (long long)n_out);
    for (int64_t i = 0; out && i < n_out; i++) out[i] = NULL;
    if (!f) return tpi_fail(TP_ERR_VALUE, "%s: no function (NULL)", op);
    if (f->struct_size < sizeof *f)
        return tpi_fail(TP_ERR_VALUE, "%s: struct_size %zu of the function is too small", op, f->struct_size);
    if (!f->call) return tpi_fail(TP_ERR_VALUE, "%s: the function has no call", op);
    if (n_args && !args) return tpi_fail(TP_ERR_VALUE, "%s: no arguments (NULL)", op);
    for (int64_t i = 0; i < n_args; i++)
        if (!args[i]) return tpi_fail(TP_ERR_VALUE, "%s: argument %lld is NULL", op, (long long)i);
    return TP_OK;
}

/* Ends a transform: the levels above depth, the payload, and after a failure the results. The error stays as it is. */
static int finish(const tp_function *f, int depth, int rc, tp_tensor **out, int64_t n_out)
{
    int popped = tp_level_pop_to(depth);
    if (!rc) rc = popped;
    if (rc) drop(out, n_out);
    if (f && f->struct_size >= sizeof *f && f->destroy) f->destroy(f->payload);
    return rc;
}

/* The call, its results checked. */
static int call(const char *op, const tp_function *f, tp_tensor *const *args, int64_t n_args, tp_tensor **results,
                int64_t n_results)
{
    tp_error_clear();
    int rc = f->call(f->payload, args, n_args, results, n_results);
    if (rc) {
        if (!tp_error_code()) tpi_fail(rc, "%s: the function failed with code %d", op, rc);
        return tp_error_code();
    }
    for (int64_t i = 0; i < n_results; i++)
        if (!results[i]) return tpi_fail(TP_ERR_VALUE, "%s: the function left result %lld unset", op, (long long)i);
    return TP_OK;
}

static int need_differentiable(const char *op, const char *word, int64_t i, const tp_tensor *t)
{
    if (tpi_is_differentiable(tp_tensor_dtype(t))) return TP_OK;
    return tpi_fail(TP_ERR_RUNTIME, "%s: %s %lld has dtype %s: only floating and complex tensors can be differentiated",
                    op, word, (long long)i, tp_dtype_name(tp_tensor_dtype(t)));
}

/* argnums as a list of their own, from 0. */
static int read_argnums(const char *op, const int64_t *argnums, int64_t n, tp_tensor *const *args, int64_t n_args,
                        int64_t *out)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t k = argnums ? argnums[i] : i;
        if (k < -n_args || k >= n_args)
            return tpi_fail(TP_ERR_VALUE, "%s: argnums %lld is out of range for %lld arguments", op, (long long)k,
                            (long long)n_args);
        out[i] = k < 0 ? k + n_args : k;
        for (int64_t j = 0; j < i; j++)
            if (out[j] == out[i])
                return tpi_fail(TP_ERR_VALUE, "%s: argnums names argument %lld twice", op, (long long)out[i]);
        int rc = need_differentiable(op, "argument", out[i], args[out[i]]);
        if (rc) return rc;
    }
    return TP_OK;
}

static bool same_shape(tp_tensor *a, tp_tensor *b)
{
    int n = tp_ndim(a);
    return n == tp_ndim(b) && !memcmp(tp_shape(a), tp_shape(b), sizeof(int64_t) * (size_t)n);
}

/* Whether t can stand beside `like`, of which it is the tangent or cotangent. */
static int need_like(const char *op, const char *word, int64_t i, tp_tensor *t, tp_tensor *like)
{
    if (!same_shape(t, like))
        return tpi_fail(TP_ERR_RUNTIME, "%s: %s %lld has shape %s, expected %s", op, word, (long long)i, tpi_str(t),
                        tpi_str(like));
    if (tp_tensor_dtype(t) != tp_tensor_dtype(like))
        return tpi_fail(TP_ERR_TYPE, "%s: %s %lld has dtype %s, expected %s", op, word, (long long)i,
                        tp_dtype_name(tp_tensor_dtype(t)), tp_dtype_name(tp_tensor_dtype(like)));
    return TP_OK;
}

static tp_tensor *zeros(tp_tensor *like) { return tp_zeros(tp_shape(like), tp_ndim(like), tp_tensor_dtype(like)); }

/* A new reference to t, or zeros like the other where there is none. */
static tp_tensor *kept_or_zeros(tp_tensor *t, tp_tensor *like)
{
    if (!t) return zeros(like);
    tp_retain(t);
    return t;
}

/* ---- vmap ---- */

static int mapped_size(const tp_vmap_options *o, tp_tensor *const *args, int64_t n_args, int *dims, int64_t *size)
{
    *size = o->batch_size ? o->batch_size : -1;
    if (*size < -1) return tpi_fail(TP_ERR_VALUE, "tp_vmap: batch_size %lld is negative", (long long)*size);
    for (int64_t i = 0; i < n_args; i++) {
        int d = o->in_dims ? o->in_dims[i] : 0, rank = tp_ndim(args[i]);
        dims[i] = d;
        if (d == TP_DIM_NONE) continue;
        if (d < -rank || d >= rank)
            return tpi_fail(TP_ERR_VALUE, "tp_vmap: in_dim %d is out of range for argument %lld of shape %s", d,
                            (long long)i, tpi_str(args[i]));
        dims[i] = d < 0 ? d + rank : d;
        int64_t n = tp_shape(args[i])[dims[i]];
        if (*size < 0) *size = n;
        if (*size != n)
            return tpi_fail(TP_ERR_VALUE, "tp_vmap: argument %lld has %lld samples, others %lld", (long long)i,
                            (long long)n, (long long)*size);
    }
    if (*size < 0) return tpi_fail(TP_ERR_VALUE, "tp_vmap: no argument is mapped and there is no batch_size");
    return TP_OK;
}

/* `count` samples from `start` on. */
static int map_part(const tp_function *f, tp_tensor *const *args, int64_t n_args, const int *dims,
                    const tp_vmap_options *o, int64_t start, int64_t count, int64_t size, tp_tensor **results,
                    int64_t n_results)
{
    int depth = tp_level_depth();
    refs in = {NULL};
    int rc = refs_open(&in, n_args);
    uint64_t level = rc ? 0 : tp_vmap_push(count, o->randomness);
    if (!rc && !level) rc = tp_error_code();
    for (int64_t i = 0; i < n_args && !rc; i++) {
        if (dims[i] == TP_DIM_NONE) {
            tp_retain(in.t[i] = args[i]);
            continue;
        }
        tp_tensor *part = NULL;
        if (count == size) tp_retain(part = args[i]);
        else rc = store(&part, tp_narrow(args[i], dims[i], start, count));
        if (!rc) rc = store(&in.t[i], tp_batch_wrap(part, level, dims[i]));
        tp_release(part);
    }
    if (!rc) rc = call("tp_vmap", f, in.t, n_args, results, n_results);
    for (int64_t i = 0; i < n_results && !rc; i++) {
        int d = o->out_dims ? o->out_dims[i] : 0, rank = tp_ndim(results[i]) + 1;
        if (d == TP_DIM_NONE) {
            if (tp_batch_dim(results[i], level) >= 0)
                rc = tpi_fail(TP_ERR_VALUE, "tp_vmap: out_dim TP_DIM_NONE for result %lld, which is mapped",
                              (long long)i);
            continue;
        }
        if (d < -rank || d >= rank) {
            rc = tpi_fail(TP_ERR_VALUE, "tp_vmap: out_dim %d is out of range for samples of shape %s", d,
                          tpi_str(results[i]));
            break;
        }
        tp_tensor *r = tp_batch_unwrap(results[i], level, d < 0 ? d + rank : d);
        tp_release(results[i]);
        rc = store(&results[i], r);
    }
    refs_close(&in);
    int popped = tp_level_pop_to(depth);
    return rc ? rc : popped;
}

int tp_vmap(const tp_function *f, tp_tensor *const *args, int64_t n_args, const tp_vmap_options *options,
            tp_tensor **results, int64_t n_results)
{
    static const tp_vmap_options defaults = {.struct_size = sizeof defaults};
    const tp_vmap_options *o = options ? options : &defaults;
    int depth = tp_level_depth(), rc = begin("tp_vmap", f, args, n_args, results, n_results), *dims = NULL;
    int64_t size = 0, parts = 1, step;
    refs all = {NULL};
    if (!rc && o->struct_size < sizeof *o)
        rc = tpi_fail(TP_ERR_VALUE, "tp_vmap: struct_size of the options is too small");
    if (!rc && n_results && !results) rc = tpi_fail(TP_ERR_VALUE, "tp_vmap: nowhere to store the results (NULL)");
    if (!rc && o->chunk_size < 0)
        rc = tpi_fail(TP_ERR_VALUE, "tp_vmap: chunk_size %lld is negative", (long long)o->chunk_size);
    if (!rc && !(dims = tpi_alloc(sizeof *dims * (size_t)(n_args + 1)))) rc = tp_error_code();
    if (!rc) rc = mapped_size(o, args, n_args, dims, &size);
    if (!rc && o->chunk_size && o->chunk_size < size) parts = (size + o->chunk_size - 1) / o->chunk_size;
    step = parts > 1 ? o->chunk_size : size;
    if (!rc && parts == 1) rc = map_part(f, args, n_args, dims, o, 0, size, size, results, n_results);
    if (!rc && parts > 1) {
        uint64_t seed, offset;
        tp_generator_get_state(NULL, &seed, &offset);
        rc = refs_open(&all, parts * n_results); /* result i of part k at i * parts + k */
        refs one = {NULL};
        if (!rc) rc = refs_open(&one, n_results);
        for (int64_t k = 0; k < parts && !rc; k++) {
            if (o->randomness == TP_RANDOM_SAME) tp_generator_set_state(NULL, seed, offset); /* one draw for all */
            int64_t count = size - k * step < step ? size - k * step : step;
            rc = map_part(f, args, n_args, dims, o, k * step, count, size, one.t, n_results);
            for (int64_t i = 0; i < n_results; i++) {
                all.t[i * parts + k] = one.t[i];
                one.t[i] = NULL;
            }
        }
        for (int64_t i = 0; i < n_results && !rc; i++) {
            int d = o->out_dims ? o->out_dims[i] : 0;
            if (d == TP_DIM_NONE) tp_retain(results[i] = all.t[i * parts]);
            else rc = store(&results[i], tp_cat(all.t + i * parts, parts, d));
        }
        refs_close(&one);
    }
    refs_close(&all);
    tpi_free(dims, sizeof *dims * (size_t)(n_args + 1));
    return finish(f, depth, rc, results, n_results);
}

/* ---- reverse mode ---- */

/* f at a reverse level that has ended or goes on: its outputs there, their values, and the leaves that stand for the
 * chosen arguments. */
typedef struct pullback {
    uint64_t level;
    refs in, out, value;
} pullback;

static void pullback_close(pullback *p)
{
    refs_close(&p->in);
    refs_close(&p->out);
    refs_close(&p->value);
}

static int pullback_open(pullback *p, const char *op, int origin, const tp_function *f, tp_tensor *const *args,
                         int64_t n_args, const int64_t *chosen, int64_t n_chosen, int64_t n_results)
{
    refs full = {NULL};
    memset(p, 0, sizeof *p);
    int rc = refs_open(&p->in, n_chosen);
    if (!rc) rc = refs_open(&p->out, n_results);
    if (!rc) rc = refs_open(&p->value, n_results);
    if (!rc) rc = refs_open(&full, n_args);
    if (!rc && !(p->level = tp_reverse_push(origin))) rc = tp_error_code();
    for (int64_t i = 0; i < n_chosen && !rc; i++) {
        rc = store(&full.t[chosen[i]], tp_reverse_wrap(args[chosen[i]], p->level));
        if (!rc) rc = store(&p->in.t[i], tp_snapshot(full.t[chosen[i]]));
    }
    for (int64_t i = 0; i < n_args && !rc; i++)
        if (!full.t[i]) tp_retain(full.t[i] = args[i]);
    if (!rc) rc = call(op, f, full.t, n_args, p->out.t, n_results);
    for (int64_t i = 0; i < n_results && !rc; i++) {
        tp_tensor *kept = tp_snapshot(p->out.t[i]);
        tp_release(p->out.t[i]);
        if (!(rc = store(&p->out.t[i], kept))) rc = store(&p->value.t[i], tp_reverse_unwrap(kept, p->level));
    }
    refs_close(&full);
    return rc;
}

/* Moves the values to the caller, if it wants them. */
static void hand_over(pullback *p, tp_tensor **results)
{
    for (int64_t i = 0; results && i < p->value.n; i++) {
        results[i] = p->value.t[i];
        p->value.t[i] = NULL;
    }
}

static int fill_absent(tp_tensor **grads, tp_tensor *const *args, const int64_t *chosen, int64_t n)
{
    int rc = TP_OK;
    for (int64_t i = 0; i < n && !rc; i++)
        if (!grads[i]) rc = store(&grads[i], zeros(args[chosen[i]]));
    return rc;
}

static int64_t *numbers(int64_t n) { return tpi_calloc(sizeof(int64_t) * (size_t)(n + 1)); }
static void numbers_free(int64_t *p, int64_t n) { tpi_free(p, sizeof(int64_t) * (size_t)(n + 1)); }

int tp_vjp(const tp_function *f, tp_tensor *const *args, int64_t n_args, tp_tensor *const *cotangents,
           tp_tensor **results, int64_t n_results, tp_tensor **grads)
{
    int depth = tp_level_depth(), rc = begin("tp_vjp", f, args, n_args, grads, n_args);
    int64_t *all = NULL;
    pullback p = {0};
    for (int64_t i = 0; results && i < n_results; i++) results[i] = NULL;
    if (!rc && n_args && !grads) rc = tpi_fail(TP_ERR_VALUE, "tp_vjp: nowhere to store the gradients (NULL)");
    if (!rc && n_results < 1) rc = tpi_fail(TP_ERR_VALUE, "tp_vjp: a function without results");
    if (!rc && !(all = numbers(n_args))) rc = tp_error_code();
    if (!rc) rc = read_argnums("tp_vjp", NULL, n_args, args, n_args, all);
    if (!rc) rc = pullback_open(&p, "tp_vjp", TP_ORIGIN_VJP, f, args, n_args, all, n_args, n_results);
    for (int64_t i = 0; i < n_results && !rc; i++) {
        if (cotangents && cotangents[i]) rc = need_like("tp_vjp", "cotangent", i, cotangents[i], p.value.t[i]);
        if (!cotangents && tp_numel(p.value.t[i]) != 1)
            rc = tpi_fail(TP_ERR_VALUE, "tp_vjp: result %lld of shape %s needs a cotangent", (long long)i,
                          tpi_str(p.value.t[i]));
    }
    if (!rc) rc = tp_reverse_vjp(p.level, p.out.t, cotangents, n_results, p.in.t, n_args, false, false, grads);
    if (!rc) rc = fill_absent(grads, args, all, n_args);
    if (!rc) hand_over(&p, results);
    pullback_close(&p);
    numbers_free(all, n_args);
    rc = finish(f, depth, rc, grads, n_args);
    if (rc) drop(results, n_results);
    return rc;
}

int tp_grad(const tp_function *f, tp_tensor *const *args, int64_t n_args, const int64_t *argnums, int64_t n_argnums,
            tp_tensor **value, tp_tensor **grads)
{
    int64_t n = argnums ? n_argnums : n_args, *chosen = NULL;
    int depth = tp_level_depth(), rc = begin("tp_grad", f, args, n_args, grads, n);
    pullback p = {0};
    if (value) *value = NULL;
    if (!rc && (n < 1 || !grads)) rc = tpi_fail(TP_ERR_VALUE, "tp_grad: no arguments to differentiate with respect to");
    if (!rc && !(chosen = numbers(n))) rc = tp_error_code();
    if (!rc) rc = read_argnums("tp_grad", argnums, n, args, n_args, chosen);
    if (!rc) rc = pullback_open(&p, "tp_grad", TP_ORIGIN_GRAD, f, args, n_args, chosen, n, 1);
    if (!rc && tp_ndim(p.value.t[0]))
        rc = tpi_fail(TP_ERR_RUNTIME, "tp_grad: the function must return a 0-d tensor, it returned one of shape %s",
                      tpi_str(p.value.t[0]));
    if (!rc) rc = need_differentiable("tp_grad", "result", 0, p.value.t[0]);
    if (!rc && tpi_is_complex(tp_tensor_dtype(p.value.t[0])))
        rc = tpi_fail(TP_ERR_RUNTIME, "tp_grad: the function must return a real value, it returned %s; use tp_vjp",
                      tp_dtype_name(tp_tensor_dtype(p.value.t[0])));
    if (!rc) rc = tp_reverse_vjp(p.level, p.out.t, NULL, 1, p.in.t, n, false, false, grads);
    if (!rc) rc = fill_absent(grads, args, chosen, n);
    if (!rc) hand_over(&p, value);
    pullback_close(&p);
    numbers_free(chosen, n);
    rc = finish(f, depth, rc, grads, n);
    if (rc) drop(value, value ? 1 : 0);
    return rc;
}

/* ---- Jacobians ---- */

/* The identity over the elements of `like`: [numel, *shape]. */
static tp_tensor *basis(tp_tensor *like)
{
    int64_t n = tp_numel(like), shape[TP_MAX_NDIM + 1];
    int rank = tp_ndim(like);
    if (rank >= TP_MAX_NDIM) {
        tpi_fail(TP_ERR_VALUE, "a Jacobian of a tensor of %d dimensions", rank);
        return NULL;
    }
    shape[0] = n;
    memcpy(shape + 1, tp_shape(like), sizeof *shape * (size_t)rank);
    tp_tensor *e = tp_eye(n, n, tp_tensor_dtype(like)), *r = e ? tp_reshape(e, shape, rank + 1) : NULL;
    tp_release(e);
    return r;
}

/* t with the shape [*a, *b]. */
static tp_tensor *shaped(tp_tensor *t, tp_tensor *a, tp_tensor *b)
{
    int64_t shape[2 * TP_MAX_NDIM];
    int n = tp_ndim(a), m = tp_ndim(b);
    memcpy(shape, tp_shape(a), sizeof *shape * (size_t)n);
    memcpy(shape + n, tp_shape(b), sizeof *shape * (size_t)m);
    return tp_reshape(t, shape, n + m);
}

/* d output k / d inputs: one pass that maps over the elements of the output. */
static int rows(pullback *p, int64_t k, tp_tensor *const *args, const int64_t *chosen, int64_t n, tp_tensor **out)
{
    tp_tensor *like = p->value.t[k], *e = basis(like);
    refs cts = {NULL}, grads = {NULL};
    int depth = tp_level_depth(), rc = e ? TP_OK : tp_error_code();
    if (!rc) rc = refs_open(&cts, p->out.n);
    if (!rc) rc = refs_open(&grads, n);
    uint64_t level = rc ? 0 : tp_vmap_push(tp_numel(like), TP_RANDOM_ERROR);
    if (!rc && !level) rc = tp_error_code();
    if (!rc) rc = store(&cts.t[k], tp_batch_wrap(e, level, 0));
    if (!rc) rc = tp_reverse_vjp(p->level, p->out.t, cts.t, p->out.n, p->in.t, n, true, false, grads.t);
    for (int64_t j = 0; j < n && !rc; j++) {
        tp_tensor *x = args[chosen[j]], *g = kept_or_zeros(grads.t[j], x);
        tp_tensor *whole = g ? tp_batch_unwrap(g, level, 0) : NULL;
        rc = store(&out[j], whole ? shaped(whole, like, x) : NULL);
        tp_release(whole);
        tp_release(g);
    }
    tp_release(e);
    refs_close(&cts);
    refs_close(&grads);
    int popped = tp_level_pop_to(depth);
    return rc ? rc : popped;
}

static int jacobian_begin(const char *op, const tp_function *f, tp_tensor *const *args, int64_t n_args, int64_t n,
                          int64_t n_results, tp_tensor **results, tp_tensor **jacobians)
{
    int rc = begin(op, f, args, n_args, results, n_results);
    if (!rc && n < 1) rc = tpi_fail(TP_ERR_VALUE, "%s: no arguments to differentiate with respect to", op);
    if (!rc && n_results < 1) rc = tpi_fail(TP_ERR_VALUE, "%s: a function without results", op);
    if (!rc && !jacobians) rc = tpi_fail(TP_ERR_VALUE, "%s: nowhere to store the Jacobians (NULL)", op);
    for (int64_t i = 0; !rc && i < n * n_results; i++) jacobians[i] = NULL;
    return rc;
}

int tp_jacrev(const tp_function *f, tp_tensor *const *args, int64_t n_args, const int64_t *argnums, int64_t n_argnums,
              tp_tensor **results, int64_t n_results, tp_tensor **jacobians)
{
    int64_t n = argnums ? n_argnums : n_args, *chosen = NULL;
    int depth = tp_level_depth();
    int rc = jacobian_begin("tp_jacrev", f, args, n_args, n, n_results, results, jacobians), begun = !rc;
    pullback p = {0};
    if (!rc && !(chosen = numbers(n))) rc = tp_error_code();
    if (!rc) rc = read_argnums("tp_jacrev", argnums, n, args, n_args, chosen);
    if (!rc) rc = pullback_open(&p, "tp_jacrev", TP_ORIGIN_JACREV, f, args, n_args, chosen, n, n_results);
    if (!rc) rc = tp_level_pop_to(depth);
    for (int64_t k = 0; k < n_results && !rc; k++) rc = rows(&p, k, args, chosen, n, jacobians + k * n);
    if (!rc) hand_over(&p, results);
    pullback_close(&p);
    numbers_free(chosen, n);
    rc = finish(f, depth, rc, jacobians, begun ? n * n_results : 0);
    if (rc) drop(results, n_results);
    return rc;
}

/* ---- forward mode ---- */

/* Values and tangents (NULL: zero) of f; tangents has an entry for each argument. The level stays open. */
static int pushed(const char *op, int origin, const tp_function *f, tp_tensor *const *args, tp_tensor *const *tangents,
                  int64_t n_args, refs *value, refs *tangent)
{
    refs in = {NULL}, out = {NULL};
    uint64_t level = tp_forward_push(origin);
    int rc = level ? TP_OK : tp_error_code();
    if (!rc) rc = refs_open(&in, n_args);
    if (!rc) rc = refs_open(&out, value->n);
    for (int64_t i = 0; i < n_args && !rc; i++) {
        if (tangents[i]) rc = store(&in.t[i], tp_forward_wrap(args[i], tangents[i], level));
        else tp_retain(in.t[i] = args[i]);
    }
    if (!rc) rc = call(op, f, in.t, n_args, out.t, value->n);
    for (int64_t i = 0; i < value->n && !rc; i++) {
        if ((rc = store(&value->t[i], tp_forward_primal(out.t[i], level)))) break;
        tp_error_clear();
        tangent->t[i] = tp_forward_tangent(out.t[i], level);
        if (!tangent->t[i]) rc = tp_error_code();
    }
    refs_close(&in);
    refs_close(&out);
    return rc;
}

int tp_jvp(const tp_function *f, tp_tensor *const *args, tp_tensor *const *tangents, int64_t n_args,
           tp_tensor **results, tp_tensor **result_tangents, int64_t n_results)
{
    int depth = tp_level_depth(), rc = begin("tp_jvp", f, args, n_args, result_tangents, n_results);
    refs value = {NULL}, tangent = {NULL};
    for (int64_t i = 0; results && i < n_results; i++) results[i] = NULL;
    if (!rc && n_args && !tangents) rc = tpi_fail(TP_ERR_VALUE, "tp_jvp: no tangents (NULL)");
    if (!rc && n_results && !result_tangents)
        rc = tpi_fail(TP_ERR_VALUE, "tp_jvp: nowhere to store the tangents (NULL)");
    for (int64_t i = 0; i < n_args && !rc; i++) {
        if (!tangents[i]) continue;
        rc = need_differentiable("tp_jvp", "argument", i, args[i]);
        if (!rc) rc = need_like("tp_jvp", "tangent", i, tangents[i], args[i]);
    }
    if (!rc) rc = refs_open(&value, n_results);
    if (!rc) rc = refs_open(&tangent, n_results);
    if (!rc) rc = pushed("tp_jvp", TP_ORIGIN_JVP, f, args, tangents, n_args, &value, &tangent);
    for (int64_t i = 0; i < n_results && !rc; i++) {
        if (!tangent.t[i]) rc = store(&result_tangents[i], zeros(value.t[i]));
        else tp_retain(result_tangents[i] = tangent.t[i]);
        if (results) tp_retain(results[i] = value.t[i]);
    }
    refs_close(&value);
    refs_close(&tangent);
    rc = finish(f, depth, rc, result_tangents, n_results);
    if (rc) drop(results, n_results);
    return rc;
}

/* The tangents that make up an identity over all chosen arguments, one after another: argument j's begin at column
 * `offset`; each is mapped at `level`. */
static tp_tensor *columns(tp_tensor *x, int64_t offset, int64_t total, uint64_t level)
{
    int64_t n = tp_numel(x), shape[TP_MAX_NDIM + 1];
    tp_tensor *e = basis(x), *all = NULL, *place = NULL, *r = NULL;
    if (e && n == total) {
        r = tp_batch_wrap(e, level, 0);
    } else if (e) {
        shape[0] = total;
        memcpy(shape + 1, tp_shape(x), sizeof *shape * (size_t)tp_ndim(x));
        all = tp_zeros(shape, tp_ndim(x) + 1, tp_tensor_dtype(x));
        place = all ? tp_narrow(all, 0, offset, n) : NULL;
        if (place && !tp_copy_(place, e)) r = tp_batch_wrap(all, level, 0);
    }
    tp_release(e);
    tp_release(place);
    tp_release(all);
    return r;
}

int tp_jacfwd(const tp_function *f, tp_tensor *const *args, int64_t n_args, const int64_t *argnums, int64_t n_argnums,
              tp_tensor **results, int64_t n_results, tp_tensor **jacobians)
{
    int64_t n = argnums ? n_argnums : n_args, *chosen = NULL, total = 0, offset = 0;
    int depth = tp_level_depth();
    int rc = jacobian_begin("tp_jacfwd", f, args, n_args, n, n_results, results, jacobians), begun = !rc;
    refs tangents = {NULL}, value = {NULL}, tangent = {NULL};
    if (!rc && !(chosen = numbers(n))) rc = tp_error_code();
    if (!rc) rc = read_argnums("tp_jacfwd", argnums, n, args, n_args, chosen);
    if (!rc) rc = refs_open(&tangents, n_args);
    if (!rc) rc = refs_open(&value, n_results);
    if (!rc) rc = refs_open(&tangent, n_results);
    for (int64_t j = 0; j < n && !rc; j++) total += tp_numel(args[chosen[j]]);
    uint64_t level = rc ? 0 : tp_vmap_push(total, TP_RANDOM_ERROR);
    if (!rc && !level) rc = tp_error_code();
    for (int64_t j = 0; j < n && !rc; j++) {
        rc = store(&tangents.t[chosen[j]], columns(args[chosen[j]], offset, total, level));
        if (!rc) offset += tp_numel(args[chosen[j]]);
    }
    if (!rc) rc = pushed("tp_jacfwd", TP_ORIGIN_JACFWD, f, args, tangents.t, n_args, &value, &tangent);
    for (int64_t i = 0; i < n_results && !rc; i++) {
        tp_tensor *t = kept_or_zeros(tangent.t[i], value.t[i]);
        tp_tensor *all = t ? tp_batch_unwrap(t, level, tp_ndim(t)) : NULL;
        if (!all) rc = tp_error_code();
        offset = 0;
        for (int64_t j = 0; j < n && !rc; j++) {
            tp_tensor *x = args[chosen[j]], *part = tp_narrow(all, -1, offset, tp_numel(x));
            rc = store(&jacobians[i * n + j], part ? shaped(part, value.t[i], x) : NULL);
            tp_release(part);
            offset += tp_numel(x);
        }
        tp_release(all);
        tp_release(t);
        if (!rc && results) tp_retain(results[i] = value.t[i]);
    }
    refs_close(&tangents);
    refs_close(&value);
    refs_close(&tangent);
    numbers_free(chosen, n);
    rc = finish(f, depth, rc, jacobians, begun ? n * n_results : 0);
    if (rc) drop(results, n_results);
    return rc;
}

typedef struct inner {
    const tp_function *f;
    const int64_t *argnums;
    int64_t n_argnums;
} inner;

static int jacobian_of(void *payload, tp_tensor *const *args, int64_t n_args, tp_tensor **results, int64_t n_results)
{
    const inner *p = payload;
    tp_function f = *p->f;
    f.destroy = NULL; /* the payload goes with the outer call */
    return tp_jacrev(&f, args, n_args, p->argnums, p->n_argnums, NULL, 1, results);
    (void)n_results;
}

int tp_hessian(const tp_function *f, tp_tensor *const *args, int64_t n_args, const int64_t *argnums, int64_t n_argnums,
               tp_tensor **hessians)
{
    int64_t n = argnums ? n_argnums : n_args;
    int depth = tp_level_depth(), rc = begin("tp_hessian", f, args, n_args, NULL, 0);
    if (!rc && n < 1) rc = tpi_fail(TP_ERR_VALUE, "tp_hessian: no arguments to differentiate with respect to");
    if (!rc && !hessians) rc = tpi_fail(TP_ERR_VALUE, "tp_hessian: nowhere to store the results (NULL)");
    if (!rc) {
        inner p = {f, argnums, n_argnums};
        tp_function g = {sizeof g, jacobian_of, &p, NULL};
        rc = tp_jacfwd(&g, args, n_args, argnums, n_argnums, NULL, n, hessians);
    }
    return finish(f, depth, rc, NULL, 0);
}
