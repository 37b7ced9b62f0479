/* The registry: every operator described, calls with boxed arguments, wrong ones refused, a storm of random ones. */
#include "check.h"
#include "tp/tp.h"

static tp_tensor *vec(int dtype, int64_t n, const void *v)
{
    tp_tensor *t = tp_from_data(v, dtype, 1, &n);
    REQUIRE(t);
    return t;
}
static tp_value tensor(tp_tensor *t) { return (tp_value){.tag = TP_VALUE_TENSOR, .v.tensor = t}; }
static tp_value integer(int64_t i) { return (tp_value){.tag = TP_VALUE_INT, .v.i = i}; }
static tp_value real(double f) { return (tp_value){.tag = TP_VALUE_FLOAT, .v.f = f}; }
static tp_value none(void) { return (tp_value){.tag = TP_VALUE_NONE}; }
static double at(tp_tensor *t, int64_t i)
{
    REQUIRE(t && tp_tensor_dtype(t) == TP_FLOAT64);
    return ((double *)tp_data(t))[i];
}

static void described(void)
{
    int64_t n = tp_op_count();
    CHECK(n > 700);
    for (int64_t i = 0; i < n; i++) {
        const tp_op *op = tp_op_at(i);
        REQUIRE(op);
        CHECK(tp_op_find(tp_op_name(op)) == op);
        if (i) CHECK(strcmp(tp_op_name(tp_op_at(i - 1)), tp_op_name(op)) < 0);
        CHECK(strstr(tp_op_signature(op), "->") && *tp_op_doc(op));
        for (int k = 0; k < tp_op_n_args(op); k++) {
            tp_op_argument a = {.struct_size = sizeof a};
            CHECK_INT(tp_op_get_argument(op, k, &a), TP_OK);
            CHECK_MSG(strstr(tp_op_signature(op), a.type) && strstr(tp_op_signature(op), a.name), "%s: %s %s",
                      tp_op_name(op), a.type, a.name);
            CHECK(a.tag > TP_VALUE_NONE && a.tag <= TP_VALUE_FLOATS &&
                  (a.optional == (strchr(a.type, '?') != NULL) || !strcmp(a.type, "Tensor?[]")));
            CHECK(a.has_default || a.value.tag == TP_VALUE_NONE);
        }
    }
    CHECK_STR(tp_op_signature(tp_op_find("add")), "add(Tensor self, Operand other, *, Scalar alpha=1) -> Tensor");
    CHECK_STR(tp_op_signature(tp_op_find("relu_")), "relu_(Tensor self) -> ()");
    CHECK(!tp_op_at(n) && tp_error_code() == TP_ERR_INDEX && !tp_op_at(-1));
    CHECK(!tp_op_find("no_such") && tp_error_code() == TP_ERR_NOT_IMPLEMENTED);
    CHECK(!tp_op_find(NULL) && tp_error_code() == TP_ERR_VALUE);
    CHECK(!tp_op_find("matmul_nd")); /* internal */
    CHECK(!tp_op_name(NULL) && !tp_op_signature(NULL) && !tp_op_doc(NULL) && !tp_op_n_args(NULL));
    tp_op_argument a = {.struct_size = 1};
    CHECK_INT(tp_op_get_argument(tp_op_find("add"), 0, &a), TP_ERR_VALUE);
    a.struct_size = sizeof a;
    CHECK_INT(tp_op_get_argument(tp_op_find("add"), 3, &a), TP_ERR_INDEX);
    CHECK_INT(tp_op_get_argument(NULL, 0, &a), TP_ERR_VALUE);
    CHECK_INT(tp_op_get_argument(tp_op_find("add"), 0, NULL), TP_ERR_VALUE);
    CHECK_INT(tp_op_get_argument(tp_op_find("add"), 2, &a), TP_OK);
    CHECK(a.has_default && a.value.tag == TP_VALUE_SCALAR && a.value.v.scalar.v.i == 1);
}

static void called(void)
{
    tp_tensor *x = vec(TP_FLOAT64, 4, (double[]){1, -2, 3, -4}), *r = NULL, *two[2], **list = NULL;
    int64_t n = 0;
    const tp_op *add = tp_op_find("add"), *split = tp_op_find("split");
    tp_value args[3] = {tensor(x), tensor(x), integer(10)};
    CHECK_INT(tp_op_call(add, args, 2, &r, 1), TP_OK); /* alpha has a default */
    CHECK(at(r, 1) == -4);
    tp_release(r);
    CHECK_INT(tp_op_call(add, args, 3, &r, 1), TP_OK);
    CHECK(at(r, 2) == 33);
    tp_release(r);
    args[1] = real(0.5); /* an Operand may be a number */
    args[2] = none(); /* is not optional: the default */
    CHECK_INT(tp_op_call(add, args, 3, &r, 1), TP_OK);
    CHECK(at(r, 0) == 1.5);
    tp_release(r);
    CHECK_INT(tp_op_call(tp_op_find("sum"), args, 1, &r, 1), TP_OK);
    CHECK(at(r, 0) == -2);
    tp_release(r);
    tp_value sort[2] = {tensor(x), integer(0)};
    CHECK_INT(tp_op_call(tp_op_find("sort"), sort, 2, two, 2), TP_OK);
    CHECK(at(two[0], 0) == -4 && tp_tensor_dtype(two[1]) == TP_INT64);
    tp_release(two[0]), tp_release(two[1]);
    CHECK_INT(tp_op_call_list(split, sort, 2, &list, &n), TP_ERR_VALUE); /* pieces of no elements */
    CHECK(!list && !n);
    sort[1] = integer(3);
    CHECK_INT(tp_op_call_list(split, sort, 2, &list, &n), TP_OK);
    CHECK(n == 2 && tp_numel(list[1]) == 1);
    tp_free_list(list, n);
    CHECK_INT(tp_op_call(tp_op_find("relu_"), args, 1, NULL, 0), TP_OK);
    CHECK(at(x, 1) == 0 && at(x, 2) == 3);
    tp_value stack[2] = {{.tag = TP_VALUE_TENSORS, .n = 2, .v.tensors = (tp_tensor *[]){x, x}}, integer(1)};
    CHECK_INT(tp_op_call(tp_op_find("stack"), stack, 2, &r, 1), TP_OK);
    CHECK(tp_ndim(r) == 2 && tp_shape(r)[1] == 2);
    tp_release(r);

    /* Under a level like any other call. */
    int depth = tp_level_depth();
    uint64_t level = tp_vmap_push(4, TP_RANDOM_ERROR);
    tp_tensor *b = tp_batch_wrap(x, level, 0);
    tp_value one[1] = {tensor(b)};
    CHECK_INT(tp_op_call(tp_op_find("sum"), one, 1, &r, 1), TP_OK);
    CHECK_INT(tp_batch_dim(r, level), 0);
    tp_release(r), tp_release(b);
    CHECK_INT(tp_level_pop_to(depth), TP_OK);
    tp_release(x);
}

#define REFUSED(call, code, text)                                         \
    CHECK_INT(call, code);                                                \
    CHECK_MSG(strstr(tp_error_message(), text), "%s", tp_error_message())

static void refused(void)
{
    tp_tensor *x = vec(TP_FLOAT64, 2, (double[]){1, 2}), *r[2], **list;
    int64_t n;
    const tp_op *add = tp_op_find("add"), *sum = tp_op_find("sum");
    tp_value args[6] = {tensor(x), tensor(x), none(), none(), none(), none()};
    REFUSED(tp_op_call(NULL, args, 2, r, 1), TP_ERR_VALUE, "NULL");
    REFUSED(tp_op_call(add, NULL, 2, r, 1), TP_ERR_VALUE, "add");
    REFUSED(tp_op_call(add, args, -1, r, 1), TP_ERR_VALUE, "add");
    REFUSED(tp_op_call(add, args, 6, r, 1), TP_ERR_TYPE, "takes 3 arguments, got 6");
    REFUSED(tp_op_call(add, args, 1, r, 1), TP_ERR_TYPE, "'other' is missing");
    REFUSED(tp_op_call(add, args, 2, r, 2), TP_ERR_VALUE, "1 results");
    REFUSED(tp_op_call(add, args, 2, NULL, 1), TP_ERR_VALUE, "1 results");
    REFUSED(tp_op_call_list(add, args, 2, &list, &n), TP_ERR_TYPE, "no list");
    REFUSED(tp_op_call_list(tp_op_find("split"), args, 2, NULL, &n), TP_ERR_VALUE, "NULL");
    REFUSED(tp_op_call(tp_op_find("split"), args, 2, r, 1), TP_ERR_TYPE, "list");
    args[0] = tensor(NULL);
    REFUSED(tp_op_call(add, args, 2, r, 1), TP_ERR_VALUE, "'self'");
    args[0] = real(1);
    REFUSED(tp_op_call(add, args, 2, r, 1), TP_ERR_TYPE, "'self' is of type Tensor, got a float");
    args[0] = tensor(x);
    args[1] = (tp_value){.tag = TP_VALUE_SCALAR, .v.scalar = {.tag = 77}};
    REFUSED(tp_op_call(add, args, 2, r, 1), TP_ERR_TYPE, "'other'");
    args[1] = (tp_value){.tag = 99};
    REFUSED(tp_op_call(add, args, 2, r, 1), TP_ERR_TYPE, "unknown tag");
    args[1] = (tp_value){.tag = TP_VALUE_INTS, .n = 3};
    REFUSED(tp_op_call(sum, args, 2, r, 1), TP_ERR_VALUE, "'dim'");
    args[1].n = -5;
    REFUSED(tp_op_call(sum, args, 2, r, 1), TP_ERR_VALUE, "'dim'");
    args[1] = none();
    args[3] = (tp_value){.tag = TP_VALUE_DTYPE, .v.i = 15};
    REFUSED(tp_op_call(sum, args, 4, r, 1), TP_ERR_TYPE, "'dtype'");
    tp_value stack[1] = {{.tag = TP_VALUE_TENSORS, .n = 2, .v.tensors = (tp_tensor *[]){x, NULL}}};
    REFUSED(tp_op_call(tp_op_find("stack"), stack, 1, r, 1), TP_ERR_VALUE, "entry 1 is NULL");
    tp_release(x);
}

/* -- a storm ------------------------------------------------------------------------------------- */

static uint64_t seed = 12345;
static int64_t draw(int64_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((seed >> 33) % (uint64_t)n);
}

static int64_t odd_int(void)
{
    static const int64_t odd[] = {0, 1, -1, 2, 3, -2, -3, 4, 5, 7, 1000, INT64_MAX, INT64_MIN, INT32_MAX};
    return odd[draw(draw(4) ? 9 : 14)];
}

static double odd_float(void)
{
    static const double odd[] = {0, 1, -1, 0.5, 2, 1e-300, 1e300, -0.0};
    int64_t k = draw(10);
    return k < 8 ? odd[k] : k == 8 ? (double)__builtin_inf() : (double)__builtin_nan("");
}

static tp_tensor *odd_tensor(void)
{
    int64_t shape[4];
    int ndim = (int)draw(5);
    for (int i = 0; i < ndim; i++) shape[i] = draw(8) ? draw(3) + 1 : 0;
    int dtype = draw(2) ? TP_FLOAT64 : (int)draw(TP_DTYPE_COUNT);
    tp_tensor *t = tp_zeros(shape, ndim, dtype), *view = NULL;
    REQUIRE(t);
    for (int64_t i = 0, bytes = tp_numel(t) * (int64_t)tp_dtype_size(dtype); dtype == TP_FLOAT64 && i < bytes / 8; i++)
        ((double *)tp_data(t))[i] = odd_float();
    if (ndim > 1 && draw(3) == 0) view = tp_transpose(t, 0, ndim - 1);
    if (!view) return t;
    tp_release(t);
    return view;
}

enum { POOL = 12, VALUES = 24 };

static tp_value odd_value(int tag, tp_tensor **pool, int64_t *ints, double *floats)
{
    static const char *const words[] = {"mean", "sum", "none", "reflect", "constant", "floor", "", "ij,jk->ik", "nope"};
    if (draw(12) == 0) return none();
    if (draw(40) == 0) tag = (int)draw(TP_VALUE_FLOATS + 1);
    tp_value v = {.tag = tag};
    switch (tag) {
    case TP_VALUE_TENSOR: return tensor(pool[draw(POOL)]);
    case TP_VALUE_TENSORS: return (tp_value){.tag = tag, .n = draw(4), .v.tensors = pool + draw(POOL - 4)};
    case TP_VALUE_FLOAT: return real(odd_float());
    case TP_VALUE_BOOL: return (tp_value){.tag = tag, .v.i = draw(2)};
    case TP_VALUE_SCALAR:
        v.v.scalar.tag = TP_SCALAR_FLOAT;
        v.v.scalar.v.f = odd_float();
        return v;
    case TP_VALUE_INTS:
        v.n = draw(4);
        for (int64_t i = 0; i < 4; i++) ints[i] = draw(30) ? draw(5) - 1 : odd_int();
        v.v.ints = ints;
        return v;
    case TP_VALUE_FLOATS:
        v.n = draw(4);
        for (int64_t i = 0; i < 4; i++) floats[i] = odd_float();
        v.v.floats = floats;
        return v;
    case TP_VALUE_STRING: v.v.string = words[draw(9)]; return v;
    case TP_VALUE_DTYPE: v.v.i = draw(TP_DTYPE_COUNT); return v;
    case TP_VALUE_GENERATOR: return none();
    default: return integer(odd_int());
    }
}

/* Sizes that come from a number, not from a tensor, may ask for more memory than there is to test with. */
static bool is_large(const tp_op *op, const tp_value *args)
{
    for (int i = 0; i < tp_op_n_args(op); i++) {
        if (args[i].tag == TP_VALUE_INT && args[i].v.i > 1000) return true;
        for (int64_t k = 0; args[i].tag == TP_VALUE_INTS && k < args[i].n; k++)
            if (args[i].v.ints[k] > 64) return true;
        if (args[i].tag == TP_VALUE_FLOAT && args[i].v.f > 1e6) return true;
        if (args[i].tag == TP_VALUE_SCALAR && args[i].v.scalar.v.f > 1e6) return true;
    }
    return false;
}

static void storm(void)
{
    const char *asked = getenv("TP_STORM"); /* how many calls of each operator; a seed behind a comma */
    int rounds = asked ? atoi(asked) : 40;
    if (asked && strchr(asked, ',')) seed = strtoull(strchr(asked, ',') + 1, NULL, 10);
    int64_t good = 0, bad = 0, before = tp_live_tensors();
    tp_tensor *pool[POOL];
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < POOL; i++) pool[i] = odd_tensor();
        for (int64_t k = 0; k < tp_op_count(); k++) {
            const tp_op *op = tp_op_at(k);
            tp_value args[VALUES];
            int64_t ints[VALUES][4];
            double floats[VALUES][4];
            int n = tp_op_n_args(op);
            for (int i = 0; i < n; i++) {
                tp_op_argument a = {.struct_size = sizeof a};
                tp_op_get_argument(op, i, &a);
                args[i] = a.has_default && draw(2) ? a.value : odd_value(a.tag, pool, ints[i], floats[i]);
            }
            /* A degree of 1e300 is a recurrence of as many steps. */
            if (is_large(op, args) || strstr(tp_op_name(op), "polynomial")) continue;
            if (asked && getenv("TP_STORM_NAMES")) fprintf(stderr, "%s\n", tp_op_name(op));
            tp_tensor *out[8] = {NULL}, **list = NULL;
            int64_t length = 0;
            int results = tp_op_n_results(op), rc;
            rc = results < 0 ? tp_op_call_list(op, args, n, &list, &length) : tp_op_call(op, args, n, out, results);
            if (rc) {
                bad++;
                CHECK_MSG(*tp_error_message() && !strchr(tp_error_message(), '\n'), "%s", tp_op_name(op));
                for (int i = 0; i < 8; i++) CHECK(!out[i]);
            } else good++;
            for (int i = 0; i < 8; i++) tp_release(out[i]);
            tp_free_list(list, length);
        }
        for (int i = 0; i < POOL; i++) tp_release(pool[i]);
    }
    printf("%lld calls succeeded, %lld were refused\n", (long long)good, (long long)bad);
    CHECK(good > 100 && bad > 100);
    CHECK_INT(tp_live_tensors(), before);
    CHECK_INT(tp_level_depth(), 0);
}

int main(void)
{
    RUN(described);
    RUN(called);
    RUN(refused);
    RUN(storm);
    CHECK_INT(tp_live_tensors(), 0);
    return check_finish();
}
