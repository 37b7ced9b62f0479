/* Every function against long double: special values, and samples over the whole domain. The argument multiplies the
 * number of samples; with "print" after it the largest error of each function is shown:
 *
 *     test_accuracy 100 print
 */
#include "functions.h"

#include <float.h>

#include "check.h"

#if LDBL_MANT_DIG >= 64

#define PI 3.14159265358979323846264338327950288L

static long double sigmoid(long double x) { return x >= 0 ? 1 / (1 + expl(-x)) : expl(x) / (1 + expl(x)); }

static long double softplus(long double x) { return (x > 0 ? x : 0) + log1pl(expl(-fabsl(x))); }

static long double silu(long double x) { return x == -INFINITY ? -0.0L : x == INFINITY ? x : x * sigmoid(x); }

static long double gelu(long double x)
{
    return x == -INFINITY ? -0.0L : x == INFINITY ? x : 0.5L * x * erfcl(-x * sqrtl(0.5L));
}

static long double gelu_grad(long double x)
{
    if (fabsl(x) > 100) return x > 0 ? 1 : -0.0L;
    return 0.5L * erfcl(-x * sqrtl(0.5L)) + x * expl(-x * x / 2) / sqrtl(2 * PI);
}

static long double gelu_tanh(long double x)
{
    if (fabsl(x) > 100) return x > 0 ? x : -0.0L;
    return x * sigmoid(2 * sqrtl(2 / PI) * (x + 0.044715L * x * x * x));
}

static long double gelu_tanh_grad(long double x)
{
    if (fabsl(x) > 50) return x > 0 ? 1 : -0.0L;
    long double c = 2 * sqrtl(2 / PI), u = c * (x + 0.044715L * x * x * x);
    return sigmoid(u) + x * sigmoid(u) * sigmoid(-u) * c * (1 + 3 * 0.044715L * x * x);
}

static long double rsqrt(long double x) { return 1 / sqrtl(x); }

static long double digamma(long double x)
{
    if (x == 0) return copysignl(INFINITY, -x);
    if (isinf(x)) return x > 0 ? x : NAN;
    if (x < 0) return x == floorl(x) ? (long double)NAN : digamma(1 - x) - PI / tanl(PI * (x - rintl(x)));
    long double sum = 0;
    for (; x < 30; x++) sum -= 1 / x;
    long double w = 1 / (x * x);
    long double s = w * (1 / 240.0L - w * (1 / 132.0L - w * (691 / 32760.0L - w / 12)));
    return sum + logl(x) - 0.5L / x - w * (1 / 12.0L - w * (1 / 120.0L - w * (1 / 252.0L - s)));
}

static long double remainder_floored(long double x, long double y)
{
    long double r = fmodl(x, y);
    return r == 0 ? copysignl(r, y) : (r < 0) != (y < 0) ? r + y : r;
}

static const struct {
    const char *name;
    long double (*f)(long double);
} exact_unary[] = {
    {"exp", expl},
    {"exp2", exp2l},
    {"expm1", expm1l},
    {"log", logl},
    {"log2", log2l},
    {"log10", log10l},
    {"log1p", log1pl},
    {"sin", sinl},
    {"cos", cosl},
    {"tan", tanl},
    {"sinh", sinhl},
    {"cosh", coshl},
    {"tanh", tanhl},
    {"asin", asinl},
    {"acos", acosl},
    {"atan", atanl},
    {"asinh", asinhl},
    {"acosh", acoshl},
    {"atanh", atanhl},
    {"erf", erfl},
    {"erfc", erfcl},
    {"sqrt", sqrtl},
    {"rsqrt", rsqrt},
    {"cbrt", cbrtl},
    {"lgamma", lgammal},
    {"digamma", digamma},
    {"sigmoid", sigmoid},
    {"softplus", softplus},
    {"silu", silu},
    {"gelu", gelu},
    {"gelu_grad", gelu_grad},
    {"gelu_tanh", gelu_tanh},
    {"gelu_tanh_grad", gelu_tanh_grad},
};

static const struct {
    const char *name;
    long double (*f)(long double, long double);
} exact_binary[] = {
    {"pow", powl}, {"atan2", atan2l}, {"hypot", hypotl}, {"fmod", fmodl}, {"remainder", remainder_floored},
};

static const double special[] = {
    0,
    -0.0,
    INFINITY,
    -INFINITY,
    NAN,
    1,
    -1,
    0.5,
    -0.5,
    2,
    -2,
    3,
    -3,
    4,
    -4,
    5,
    7,
    0.1,
    0x1p-1074,
    -0x1p-1074,
    0x1p-1022,
    0x1p-149,
    -0x1p-149,
    0x1p-126,
    0x1.fffffep127,
    -0x1.fffffep127,
    0x1.fffffffffffffp1023,
    -0x1.fffffffffffffp1023,
    709.78,
    709.79,
    -745.13,
    -745.14,
    88.72,
    88.73,
    -103.97,
    -104,
    1024,
    -1074.5,
    -1075,
    128,
    -149.5,
    -150,
    1e22,
    0x1p23 + 0.5,
    0x1p24,
    0x1p52,
    0x1p53,
    -0x1p53,
    1e300,
    -1e300,
};

static uint64_t state = 88172645463325252u;
static int samples = 1, print;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 2685821657736338717u;
}

static double uniform(void) { return (double)(draw() >> 11) * 0x1p-53; }

/* All exponents, the ranges in which something happens, and the neighbourhoods of 1 and of multiples of pi/2. */
static double sample(void)
{
    uint64_t bits = draw();
    double sign = draw() & 1 ? 1 : -1, any;
    memcpy(&any, &bits, sizeof any);
    switch (draw() % 12) {
    case 0: return any;
    case 1: return sign * exp2(60 * uniform() - 40);
    case 2: return sign * uniform();
    case 3: return sign * 10 * uniform();
    case 4: return sign * 750 * uniform();
    case 5: return 1 + sign * exp2(-52 * uniform());
    case 6: return sign * (double)(draw() % 2000000) * 0x1.921fb54442d18p+0 * (1 + (double)(draw() % 3) * 0x1p-52);
    case 7: return sign * 1.2 * uniform();
    case 8: return sign * (double)(draw() % 4000) * 0.25;
    case 9: return sign * exp2(2000 * uniform() - 1000);
    case 10: return sign * 40 * uniform();
    default: return sign * 3 * uniform();
    }
}

/* A second argument for which x^y or x mod y is neither trivial nor out of range, often. */
static double second(double x, double width)
{
    double a = fabs(x);
    switch (draw() % 4) {
    case 0: return a > 0 && a != 1 ? width * (2 * uniform() - 1) / log2(a) : 1;
    case 1: return (double)(draw() % 40) - 20;
    case 2: return x / (1 + 100 * uniform());
    default: return sample();
    }
}

static double error_32(double got, long double exact, double floor)
{
    double hi = (double)exact;
    return ulps_32(got, hi, isinf(hi) || isnan(hi) ? 0 : (double)(exact - hi), floor);
}

/* An exact value beyond the range of double rounds to infinity or to the largest value. */
static double error_64(double got, long double exact, double floor)
{
    const double top = 0x1.fffffffffffffp1023;
    double hi = (double)exact;
    if (isinf(hi) && !isinf(exact) && fabs(got) == top) return (double)(fabsl(exact - got) / 0x1p971L);
    return ulps_64(got, hi, isinf(hi) || isnan(hi) ? 0 : (double)(exact - hi), floor);
}

enum { BLOCK = 1024 };

static void test_unary(void)
{
    static double x[BLOCK], y[BLOCK];
    static float x32[BLOCK], y32[BLOCK];
    for (int k = 0; k < COUNT(unary_functions); k++) {
        const struct unary *f = &unary_functions[k];
        int j = 0;
        while (strcmp(exact_unary[j].name, f->name)) j++;
        double worst = 0, worst_32 = 0;
        for (int b = 0; b < 20 * samples; b++) {
            for (int i = 0; i < BLOCK; i++) {
                x[i] = b == 0 && i < COUNT(special) ? special[i] : sample();
                x32[i] = (float)x[i];
            }
            f->f64(BLOCK, x, y);
            f->f32(BLOCK, x32, y32);
            for (int i = 0; i < BLOCK; i++) {
                /* beside digamma's positive root the sum above is not exact enough */
                double least = f->floor == 8 && x[i] > 0 ? 0x1p-6 : f->floor;
                double e = error_64(y[i], exact_unary[j].f(x[i]), least);
                CHECK_MSG(e <= f->ulp_64, "%s(%a) is %a, off by %g ulp", f->name, x[i], y[i], e);
                worst = fmax(worst, e);
                e = error_32(y32[i], exact_unary[j].f(x32[i]), least);
                CHECK_MSG(e <= f->ulp_32, "%s(%a) in float is %a, off by %g ulp", f->name, x32[i], y32[i], e);
                worst_32 = fmax(worst_32, e);
            }
        }
        if (print) printf("%-16s float %.3f double %.3f\n", f->name, worst_32, worst);
    }
}

static void test_binary(void)
{
    static double x[BLOCK], y[BLOCK], z[BLOCK];
    static float x32[BLOCK], y32[BLOCK], z32[BLOCK];
    const int pairs = COUNT(special) * COUNT(special);
    for (int k = 0; k < COUNT(binary_functions); k++) {
        const struct binary *f = &binary_functions[k];
        int j = 0;
        while (strcmp(exact_binary[j].name, f->name)) j++;
        double worst = 0, worst_32 = 0;
        for (int b = 0; b < 20 * samples; b++) {
            for (int i = 0; i < BLOCK; i++) {
                int p = b * BLOCK + i;
                x[i] = p < pairs ? special[p / COUNT(special)] : sample();
                y[i] = p < pairs ? special[p % COUNT(special)] : second(x[i], i % 2 ? 1080 : 150);
                x32[i] = (float)x[i];
                y32[i] = (float)y[i];
            }
            f->f64(BLOCK, x, y, z);
            f->f32(BLOCK, x32, y32, z32);
            for (int i = 0; i < BLOCK; i++) {
                double e = error_64(z[i], exact_binary[j].f(x[i], y[i]), f->floor);
                CHECK_MSG(e <= f->ulp_64, "%s(%a, %a) is %a, off by %g ulp", f->name, x[i], y[i], z[i], e);
                worst = fmax(worst, e);
                e = error_32(z32[i], exact_binary[j].f(x32[i], y32[i]), f->floor);
                CHECK_MSG(e <= f->ulp_32, "%s(%a, %a) in float is %a, off by %g ulp", f->name, x32[i], y32[i], z32[i],
                          e);
                worst_32 = fmax(worst_32, e);
            }
        }
        if (print) printf("%-16s float %.3f double %.3f\n", f->name, worst_32, worst);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) samples = atoi(argv[1]);
    print = argc > 2;
    RUN(test_unary);
    RUN(test_binary);
    return check_finish();
}

#else

int main(void)
{
    printf("skipped: long double is no wider than double\n");
    return 0;
}

#endif
