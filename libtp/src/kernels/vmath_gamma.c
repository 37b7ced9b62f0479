/* lgamma and digamma.
 *
 * For x > 0: on [1, 5/2] lgamma(y) = (y - 1) (y - 2) P(y), below 1 lgamma(x) = lgamma(x + 1) - log(x), above 5/2
 * Stirling's formula with its tail as a polynomial in 1/x. digamma alike: (y - root) R(y) on [1, 2] around its
 * positive root, digamma(y) - 1/x below 1, and log(x) - 1/(2x) - Q(1/x) / x^2 above 2. Polynomials are minimax fits
 * (Remez). Negative and extreme arguments go one by one: lgamma to libm, digamma through the reflection formula, where
 * the accuracy is absolute beside its negative roots. */
#include "vmath_logcore.h"

#include <float.h>

#define HALF_LOG_2PI 0x1.d67f1c864beb5p-1
#define HALF_LOG_2PI_LO -0x1.65b5a1b7ff5dfp-55

/* log(x), relative error 2^-36, x positive and normal */
TPI_INLINE double log_24(double x)
{
    double k, f;
    tpi_log_split_64(x, &k, &f);
    double s = f / (2.0 + f), w = s * s, p = 0x1.e314219b4dc2fp-3;
    p = p * w + 0x1.24381ab72bd3fp-2;
    p = p * w + 0x1.999a7d5020c33p-2;
    p = p * w + 0x1.555554fc2cb15p-1;
    return k * 0x1.62e42fefa39efp-1 + (p * w + 2.0) * s;
}

TPI_INLINE float lgamma_32(float xf)
{
    double x = xf, l = log_24(x), small = tpi_select64(x < 1.0, 1.0, 0.0), v = 1.0 / x, t = v - 0.203125;
    double u = x + (small - 1.75), d = (x + (small - 1.0)) * (x + (small - 2.0));
    double p = -0x1.203f6704b132fp-13;
    p = p * u + 0x1.039f3d0fd8072p-12;
    p = p * u + -0x1.f05bcf89f4364p-13;
    p = p * u + 0x1.f248d3383a3f2p-12;
    p = p * u + -0x1.1a62f1f17a53ap-10;
    p = p * u + 0x1.157a447947023p-9;
    p = p * u + -0x1.14c82d43e9b8bp-8;
    p = p * u + 0x1.1f7d00289a888p-7;
    p = p * u + -0x1.382ef380f22ffp-6;
    p = p * u + 0x1.6cb672909a741p-5;
    p = p * u + -0x1.e965850f65f15p-4;
    p = p * u + 0x1.ccf151cce6d3cp-2;
    double s = 0x1.532202744feb7p-12;
    s = s * t + 0x1.2eb429191828cp-11;
    s = s * t + -0x1.54106b6e5d3cp-9;
    s = s * t + -0x1.212f5370b0d4dp-10;
    s = s * t + 0x1.54de889a0b308p-4;
    double stirling = (x - 0.5) * l - x + (HALF_LOG_2PI + s * v);
    return (float)tpi_select64(x < 2.5, d * p + (0.0 - small * l), stirling);
}

TPI_INLINE double lgamma_64(double x)
{
    double h, l, p0, e;
    tpi_log2_53(x, &h, &l);
    /* log(x) = lh + ll */
    tpi_two_prod(h, 0x1.62e42fefa39efp-1, &p0, &e);
    e += h * 0x1.abc9e3b39803fp-56 + l * 0x1.62e42fefa39efp-1;
    double lh = p0 + e, ll = (p0 - lh) + e;
    double small = tpi_select64(x < 1.0, 1.0, 0.0), v = 1.0 / x, t = v - 0.203125;
    double u = x + (small - 1.75), d = (x + (small - 1.0)) * (x + (small - 2.0));
    double p = -0x1.c7bff9a0eaafdp-25;
    p = p * u + 0x1.8903e5e3b8c88p-24;
    p = p * u + 0x1.e7b79e87a3391p-26;
    p = p * u + -0x1.2967d083e8931p-25;
    p = p * u + -0x1.0ffe44a6ea5d9p-22;
    p = p * u + 0x1.d49ec8193641ap-22;
    p = p * u + -0x1.0c46e99dd8bd8p-21;
    p = p * u + 0x1.f92fe17620df3p-21;
    p = p * u + -0x1.00ea175bec9eap-19;
    p = p * u + 0x1.d8132c26cb0fap-19;
    p = p * u + -0x1.afa473d65a978p-18;
    p = p * u + 0x1.90d4cac2273cp-17;
    p = p * u + -0x1.75d73db4262c4p-16;
    p = p * u + 0x1.5ddb9f6155f35p-15;
    p = p * u + -0x1.491771951a84fp-14;
    p = p * u + 0x1.3776426196b2p-13;
    p = p * u + -0x1.28f268e17182ep-12;
    p = p * u + 0x1.1daed67a4e976p-11;
    p = p * u + -0x1.160562694250ap-10;
    p = p * u + 0x1.12aa72f51e753p-9;
    p = p * u + -0x1.14f7c58ebd7d5p-8;
    p = p * u + 0x1.1f9587fa21d0ep-7;
    p = p * u + -0x1.382e176f60a0bp-6;
    p = p * u + 0x1.6cb62517118d7p-5;
    p = p * u + -0x1.e96586307946ep-4;
    double s = 0x1.e6080d3415bbdp-11;
    s = s * t + -0x1.7f231889666d3p-12;
    s = s * t + -0x1.24ac69f566e73p-11;
    s = s * t + 0x1.57d264c3b2302p-11;
    s = s * t + -0x1.673701027ff87p-13;
    s = s * t + -0x1.42f2522d4604fp-12;
    s = s * t + 0x1.a260f250b1c94p-12;
    s = s * t + -0x1.98d2e2b38b179p-15;
    s = s * t + -0x1.d5afed0438849p-12;
    s = s * t + 0x1.083f4ab127445p-11;
    s = s * t + 0x1.24eec3b0d8d7p-11;
    s = s * t + -0x1.5423a5d825233p-9;
    s = s * t + -0x1.2126132615e64p-10;
    s = s * t + 0x1.54de87e106bp-4;
    double c = p * u + 0x1.ccf151e09cde8p-2, cl = (0x1.ccf151e09cde8p-2 - c) + p * u + 0x1.040bdfa1f2a11p-56;
    /* 0 at 1 is +0 */
    double q, ql, sum, err;
    tpi_two_prod(x - 0.5, lh, &q, &ql);
    ql += (x - 0.5) * ll;
    tpi_two_sum(q, -x, &sum, &err);
    ql += err;
    tpi_two_sum(sum, HALF_LOG_2PI, &q, &err);
    double stirling = q + (err + (ql + (HALF_LOG_2PI_LO + s * v)));
    return tpi_select64(x < 2.5, (d * c + (0.0 - small * lh)) + (d * cl - small * ll), stirling);
}

/* The reentrant functions do not write signgam. */
static double lgamma_scalar(double x)
{
#if defined(__GLIBC__) && LDBL_MANT_DIG == 64
    int sign;
    return (double)lgammal_r((long double)x, &sign);
#elif defined(__GLIBC__)
    int sign;
    return lgamma_r(x, &sign);
#else
    return lgamma(x);
#endif
}

static float lgamma_scalar_32(float x) { return (float)lgamma_scalar(x); }

TPI_INLINE int lgamma_rare_32(float x) { return !((x > 0) & (x <= 0x1.fffffep127f)); }

TPI_INLINE int lgamma_rare_64(double x) { return !((x >= 0x1p-1000) & (x <= 0x1p1000)); }

TPI_MAP1_RARE(lgamma_f32, float, lgamma_32, lgamma_rare_32, lgamma_scalar_32)
TPI_MAP1_RARE(lgamma_f64, double, lgamma_64, lgamma_rare_64, lgamma_scalar)

#define ROOT_HI 0x1.762d86356be3fp+0
#define ROOT_LO 0x1.b86a722197829p-54

TPI_INLINE float digamma_32(float xf)
{
    double x = xf, small = tpi_select64(x < 1.0, 1.0, 0.0), v = 1.0 / x, t = v - 0.25, u = x + (small - 1.5);
    double p = 0x1.6c98d426dfb7p-7;
    p = p * u + -0x1.0c9d951f1234cp-6;
    p = p * u + 0x1.1622da82a24b4p-6;
    p = p * u + -0x1.a64e8ce04c826p-6;
    p = p * u + 0x1.4ee3de6ad9dp-5;
    p = p * u + -0x1.fc60febb833d5p-5;
    p = p * u + 0x1.850bdf040999fp-4;
    p = p * u + -0x1.2febacbcc76c6p-3;
    p = p * u + 0x1.eca19b8e0c133p-3;
    p = p * u + -0x1.b1cb6843b5765p-2;
    p = p * u + 0x1.e6f0cbb4fbda8p-1;
    double q = -0x1.f9d21c251c80ap-10;
    q = q * t + 0x1.6443ed23c0658p-10;
    q = q * t + 0x1.84484fb3b7e9fp-9;
    q = q * t + -0x1.cdcbe85e0d092p-8;
    q = q * t + -0x1.0236a41e859f8p-8;
    q = q * t + 0x1.53427cf0f81e3p-4;
    double near = p * (x + (small - ROOT_HI)) - small * v, far = log_24(x) - v * (0.5 + q * v);
    return (float)tpi_select64(x < 2.0, near, far);
}

TPI_INLINE double digamma_64(double x)
{
    double small = tpi_select64(x < 1.0, 1.0, 0.0), v = 1.0 / x, t = v - 0.25, u = x + (small - 1.5), k, f;
    double p = -0x1.72c8e779873a1p-13;
    p = p * u + 0x1.10d613a789bb6p-12;
    p = p * u + -0x1.339d0663fe54fp-13;
    p = p * u + 0x1.db3ee3273da8dp-13;
    p = p * u + -0x1.fc707f76b3ec5p-12;
    p = p * u + 0x1.7b65caffe0b2dp-11;
    p = p * u + -0x1.0fca4173ed165p-10;
    p = p * u + 0x1.9809c34225fdp-10;
    p = p * u + -0x1.336b885dbe94ep-9;
    p = p * u + 0x1.cd3ec6a4d6c51p-9;
    p = p * u + -0x1.5a06c8a2b400fp-8;
    p = p * u + 0x1.03c00486dc89cp-7;
    p = p * u + -0x1.8635629d241e5p-7;
    p = p * u + 0x1.256476023fe58p-6;
    p = p * u + -0x1.b9f8b123eee7cp-6;
    p = p * u + 0x1.4de9aa054cc98p-5;
    p = p * u + -0x1.fb44202a09288p-5;
    p = p * u + 0x1.8512e5905e588p-4;
    p = p * u + -0x1.2feeeb98a7a1fp-3;
    p = p * u + 0x1.eca189b8e6d8fp-3;
    p = p * u + -0x1.b1cb63005ee98p-2;
    double q = 0x1.df7a522da4d86p-7;
    q = q * t + -0x1.f29f9324d9374p-7;
    q = q * t + 0x1.3c89ff3ac53c8p-9;
    q = q * t + 0x1.7c4c246a1fc1p-8;
    q = q * t + -0x1.813afcd161ac2p-8;
    q = q * t + 0x1.17863378edacbp-9;
    q = q * t + 0x1.80971e70f1912p-10;
    q = q * t + -0x1.6d5e334a25071p-9;
    q = q * t + 0x1.9a9c7c508133fp-10;
    q = q * t + 0x1.e31fbd215c8dp-11;
    q = q * t + -0x1.51c2135084cf8p-9;
    q = q * t + 0x1.78cffb65bf52ap-10;
    q = q * t + 0x1.8590986ad99f9p-9;
    q = q * t + -0x1.cdec8ff3cc7b4p-8;
    q = q * t + -0x1.023627471d836p-8;
    q = q * t + 0x1.53427dcbfa659p-4;
    double c = p * u + 0x1.e6f0cbb873617p-1, cl = (0x1.e6f0cbb873617p-1 - c) + p * u + -0x1.38479c2f6d0cbp-54;
    double d = (x + (small - ROOT_HI)) - ROOT_LO;
    double e, q0;
    tpi_two_prod(x, v, &q0, &e);
    /* 1/x to twice the precision: just below 1 it is larger than the result */
    double near = (d * c - small * v) + (d * cl - small * (v * ((1.0 - q0) - e)));
    tpi_log_split_64(x, &k, &f);
    double far = k * TPI_LOG_LN2_HI + (f + (tpi_log_tail_64(f) + k * TPI_LOG_LN2_LO - v * (0.5 + q * v)));
    return tpi_select64(x < 2.0, near, far);
}

/* digamma(x) = digamma(1 - x) - pi / tan(pi x) for x < 0; poles: 0 as a limit with the sign of zero, NaN elsewhere */
static double digamma_scalar(double x)
{
    if (x > 0) return x < 1 ? -1.0 / x : log(x);
    if (x == 0) return copysign((double)INFINITY, -x);
    double f = x - rint(x);
    if (f == 0 || !(x > -(double)INFINITY)) return (double)NAN;
#if LDBL_MANT_DIG == 64
    const long double pi = 0xc.90fdaa22168c235p-2L;
    return (double)(digamma_64(1.0 - x) - pi / tanl(pi * f));
#else
    const double pi = 0x1.921fb54442d18p+1;
    return digamma_64(1.0 - x) - pi / tan(pi * f);
#endif
}

static float digamma_scalar_32(float x) { return (float)digamma_scalar(x); }

TPI_INLINE int digamma_rare_32(float x) { return !((x > 0) & (x <= 0x1.fffffep127f)); }

TPI_INLINE int digamma_rare_64(double x) { return !((x > 0x1p-1000) & (x <= 0x1p1000)); }

TPI_MAP1_RARE(digamma_f32, float, digamma_32, digamma_rare_32, digamma_scalar_32)
TPI_MAP1_RARE(digamma_f64, double, digamma_64, digamma_rare_64, digamma_scalar)
