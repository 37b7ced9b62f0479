/* Values from an arbitrary precision library, special values, and the shapes of calls. */
#include "functions.h"

#include <complex.h>

#include "check.h"
#include "references.h"

static void test_unary(void)
{
    for (int i = 0; i < COUNT(unary_values); i++) {
        double x = unary_values[i].x, hi = unary_values[i].hi, lo = unary_values[i].lo;
        int found = 0;
        for (int k = 0; k < COUNT(unary_functions); k++) {
            const struct unary *f = &unary_functions[k];
            if (strcmp(f->name, unary_values[i].name)) continue;
            found = 1;
            float x32 = (float)x, y32;
            double y64;
            f->f32(1, &x32, &y32);
            f->f64(1, &x, &y64);
            double least = f->floor == 8 && x > 0 ? 0 : f->floor;
            double e32 = ulps_32(y32, hi, lo, least), e64 = ulps_64(y64, hi, lo, least);
            CHECK_MSG(e32 <= f->ulp_32, "%s(%a) in float is %a, off by %g ulp from %a", f->name, x, y32, e32, hi);
            CHECK_MSG(e64 <= f->ulp_64, "%s(%a) is %a, off by %g ulp from %a", f->name, x, y64, e64, hi);
        }
        CHECK_MSG(found, "%s", unary_values[i].name);
    }
}

static void test_binary(void)
{
    for (int i = 0; i < COUNT(binary_values); i++) {
        double x = binary_values[i].x, y = binary_values[i].y, hi = binary_values[i].hi, lo = binary_values[i].lo;
        int found = 0;
        for (int k = 0; k < COUNT(binary_functions); k++) {
            const struct binary *f = &binary_functions[k];
            if (strcmp(f->name, binary_values[i].name)) continue;
            found = 1;
            float x32 = (float)x, y32 = (float)y, z32;
            double z64;
            f->f32(1, &x32, &y32, &z32);
            f->f64(1, &x, &y, &z64);
            double e32 = ulps_32(z32, hi, lo, f->floor), e64 = ulps_64(z64, hi, lo, f->floor);
            CHECK_MSG(e32 <= f->ulp_32, "%s(%a, %a) in float is %a, %g ulp from %a", f->name, x, y, z32, e32, hi);
            CHECK_MSG(e64 <= f->ulp_64, "%s(%a, %a) is %a, %g ulp from %a", f->name, x, y, z64, e64, hi);
        }
        CHECK_MSG(found, "%s", binary_values[i].name);
    }
}

/* In place, without alignment, and whatever the length: the vector loop and its remainder agree to an ulp or so, and
 * nothing beyond the end is touched. Exceptional arguments in the middle do not disturb their neighbours. */
static void test_shapes(void)
{
    enum { N = 1200 };
    static double in64[N + 8], out64[N + 8], one64[N + 8];
    static float in32[N + 8], out32[N + 8], one32[N + 8];
    static const int lengths[] = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 511, 512, 513, 1100};
    for (int k = 0; k < COUNT(unary_functions); k++) {
        const struct unary *f = &unary_functions[k];
        for (int l = 0; l < COUNT(lengths); l++) {
            int n = lengths[l], shift = l % 3;
            for (int i = 0; i < N + 8; i++) {
                in64[i] = i % 97 == 50 ? (i % 2 ? -1e300 : (double)NAN) : 0.01 + 0.9 * (i % 89) / 89;
                in32[i] = i % 97 == 50 ? (i % 2 ? -1e30f : NAN) : 0.01f + 0.9f * (float)(i % 89) / 89;
                out64[i] = in64[i];
                out32[i] = in32[i];
            }
            f->f64(n, out64 + shift, out64 + shift);
            f->f32(n, out32 + shift, out32 + shift);
            for (int i = 0; i < n; i++) {
                f->f64(1, in64 + shift + i, one64 + i);
                f->f32(1, in32 + shift + i, one32 + i);
                CHECK_MSG(ulps_64(out64[shift + i], one64[i], 0, f->floor) <= 2, "%s, n = %d, at %d", f->name, n, i);
                CHECK_MSG(ulps_32(out32[shift + i], one32[i], 0, f->floor) <= 2, "%s, n = %d, at %d", f->name, n, i);
            }
            for (int i = n + shift; i < N + 8; i++) {
                CHECK(!memcmp(&out64[i], &in64[i], sizeof(double)));
                CHECK(!memcmp(&out32[i], &in32[i], sizeof(float)));
            }
        }
        f->f64(-1, NULL, NULL);
        f->f32(-1, NULL, NULL);
    }
    for (int k = 0; k < COUNT(binary_functions); k++) {
        const struct binary *f = &binary_functions[k];
        for (int l = 0; l < COUNT(lengths); l++) {
            int n = lengths[l];
            for (int i = 0; i < N; i++) {
                in64[i] = i % 97 == 50 ? (i % 2 ? -1e300 : (double)NAN) : 0.01 + 9.0 * (i % 89) / 89;
                out64[i] = i % 101 == 50 ? (double)INFINITY : 0.3 + 2.0 * (i % 83) / 83;
                one64[i] = out64[i];
            }
            f->f64(n, in64, out64, out64);
            for (int i = 0; i < n; i++) {
                double z;
                f->f64(1, in64 + i, one64 + i, &z);
                CHECK_MSG(ulps_64(out64[i], z, 0, f->floor) <= 2, "%s, n = %d, at %d", f->name, n, i);
            }
            CHECK(out64[n] == one64[n]);
        }
    }
}

static int same(double a, double b) { return isnan(b) ? isnan(a) : a == b && !signbit(a) == !signbit(b); }

#define CHECK_COMPLEX(name, z, re, im)                                                                               \
    do {                                                                                                             \
        double complex in = z, out;                                                                                  \
        float complex in32 = (float complex)in, out32;                                                               \
        tpi_v##name##_c128(1, &in, &out);                                                                            \
        tpi_v##name##_c64(1, &in32, &out32);                                                                         \
        CHECK_MSG(same(creal(out), re) && same(cimag(out), im), "%s: %g %g", #name, creal(out), cimag(out));         \
        CHECK_MSG(same(crealf(out32), (float)(re)) && same(cimagf(out32), (float)(im)), "%s in float: %g %g", #name, \
                  (double)crealf(out32), (double)cimagf(out32));                                                     \
    } while (0)

static void check_close(const char *name, double complex got, double complex want, double tolerance)
{
    CHECK_MSG(cabs(got - want) <= tolerance * cabs(want), "%s: %.17g %.17g, not %.17g %.17g", name, creal(got),
              cimag(got), creal(want), cimag(want));
}

static void test_complex(void)
{
    const double pi = 0x1.921fb54442d18p+1, nan = (double)NAN, inf = (double)INFINITY;
    /* both sides of the cuts */
    CHECK_COMPLEX(log, CMPLX(-1, 0.0), 0.0, pi);
    CHECK_COMPLEX(log, CMPLX(-1, -0.0), 0.0, -pi);
    CHECK_COMPLEX(sqrt, CMPLX(-4, 0.0), 0.0, 2.0);
    CHECK_COMPLEX(sqrt, CMPLX(-4, -0.0), 0.0, -2.0);
    CHECK_COMPLEX(exp, CMPLX(-inf, 1), 0.0, 0.0);
    CHECK_COMPLEX(reciprocal, CMPLX(0.5, 0.0), 2.0, -0.0);
    CHECK_COMPLEX(reciprocal, CMPLX(0.0, -2.0), 0.0, 0.5);
    CHECK_COMPLEX(reciprocal, CMPLX(0.0, 0.0), inf, nan);
    CHECK_COMPLEX(reciprocal, CMPLX(-inf, 1.0), -0.0, -0.0);
    double complex big = CMPLX(0x1p1023, 0x1p1023), z;
    tpi_vreciprocal_c128(1, &big, &z);
    CHECK(same(creal(z), 0x1p-1024) && same(cimag(z), -0x1p-1024));

    double complex x[] = {CMPLX(0.3, -1.2), CMPLX(-2, 0.5), CMPLX(1.5, 1e-3)}, y[3];
    tpi_vsin_c128(3, x, y);
    for (int i = 0; i < 3; i++) check_close("asin(sin)", csin(casin(x[i])), x[i], 1e-14);
    tpi_vasin_c128(3, x, y);
    tpi_vsin_c128(3, y, y);
    for (int i = 0; i < 3; i++) check_close("sin(asin)", y[i], x[i], 1e-14);
    tpi_vacosh_c128(3, x, y);
    tpi_vcosh_c128(3, y, y);
    for (int i = 0; i < 3; i++) check_close("cosh(acosh)", y[i], x[i], 1e-14);
    tpi_vatanh_c128(3, x, y);
    tpi_vtanh_c128(3, y, y);
    for (int i = 0; i < 3; i++) check_close("tanh(atanh)", y[i], x[i], 1e-14);

    double size[3], angle[3];
    tpi_vabs_c128(3, x, size);
    tpi_varg_c128(3, x, angle);
    for (int i = 0; i < 3; i++) check_close("abs and arg", size[i] * CMPLX(cos(angle[i]), sin(angle[i])), x[i], 1e-15);

    double complex exponent[] = {2, -3, CMPLX(0.5, -0.25)};
    tpi_vpow_c128(3, x, exponent, y);
    check_close("square", y[0], x[0] * x[0], 0);
    check_close("inverse cube", y[1], 1 / (x[1] * x[1] * x[1]), 1e-15);
    check_close("power", y[2], cexp(exponent[2] * clog(x[2])), 1e-14);
    double complex zero = 0, two = 2, minus = -1;
    tpi_vpow_c128(1, &zero, &two, &z);
    CHECK(z == 0);
    tpi_vpow_c128(1, &zero, &zero, &z);
    CHECK(z == 1);
    tpi_vpow_c128(1, &zero, &minus, &z);
    CHECK(isnan(creal(z)) && isnan(cimag(z)));
}

int main(void)
{
    RUN(test_unary);
    RUN(test_binary);
    RUN(test_shapes);
    RUN(test_complex);
    return check_finish();
}
