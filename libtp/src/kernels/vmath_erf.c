/* erf, erfc.
 *
 * Near 0, erf(x) = x + x S(x^2). Elsewhere erfc(x) = exp(-x^2) Q(t) / (x + c), t = (x - c) / (x + c): (x + c) erfcx(x)
 * is so smooth in t that one or two polynomials serve the half line (the substitution of Shepherd and Laframboise,
 * 1981). For erf alone Q needs fewer terms, since its error is weighted with erfc; erf in float takes the exponential
 * of a polynomial instead. All polynomials are minimax fits (Remez). */
#include "vmath_expcore.h"

TPI_INLINE float erf_32(float x)
{
    float a = fabsf(x), w = x * x;
    float s = -0x1.5fa644p-11f;
    s = s * w + 0x1.4ed0acp-8f;
    s = s * w + -0x1.b79e4cp-6f;
    s = s * w + 0x1.ce2a5p-4f;
    s = s * w + -0x1.812738p-2f;
    s = s * w + 0x1.06eba8p-3f;
    /* log(erfc(a)) */
    float z = TPI_ATMOST(a, 3.95f);
    float p = -0x1.2be692p-16f;
    p = p * z + 0x1.a1e6e2p-12f;
    p = p * z + -0x1.0662f6p-8f;
    p = p * z + 0x1.94a314p-6f;
    p = p * z + -0x1.b8f5ccp-4f;
    p = p * z + -0x1.448cc8p-1f;
    p = p * z + -0x1.211748p0f;
    p = p * z + 0x1.05b666p-13f;
    float t = p * (float)TPI_LOG2E + (TPI_SHIFT_F + 127), u = tpi_exp_reduced_32(p, t - (TPI_SHIFT_F + 127));
    float e = tpi_pow2_32(t);
    return a < 0.75f ? s * x + x : copysignf(1.0f - (e * u + e), x);
}

TPI_INLINE double erf_64(double x)
{
    double a = fabs(x), w = x * x;
    double s = 0x1.0314b22a0ee71p-34;
    s = s * w + -0x1.378afdfc4c712p-30;
    s = s * w + 0x1.f75cb177768f6p-27;
    s = s * w + -0x1.5f16aeeebe8aap-23;
    s = s * w + 0x1.b9de2fe9c6f34p-20;
    s = s * w + -0x1.f4d1d06cbe311p-17;
    s = s * w + 0x1.f9a320e060d64p-14;
    s = s * w + -0x1.c02db3d27bf86p-11;
    s = s * w + 0x1.565bcd0d8d4f7p-8;
    s = s * w + -0x1.b82ce31283bb9p-6;
    s = s * w + 0x1.ce2f21a042af3p-4;
    s = s * w + -0x1.812746b0379e6p-2;
    s = s * w + 0x1.06eba8214db69p-3;
    double z = TPI_ATMOST(a, 6.0), v = 1.0 / (z + 4.0), y = 1.0 - 8.0 * v;
    double q = -0x1.1dfb3955bdb4cp-14;
    q = q * y + -0x1.2f07f255f2a78p-10;
    q = q * y + -0x1.4e9d79b9d1bccp-10;
    q = q * y + 0x1.567be1d02e93ap-8;
    q = q * y + -0x1.b8d5683a2a74fp-6;
    q = q * y + 0x1.37ec763788576p-4;
    q = q * y + -0x1.6484059aa9a4cp-3;
    q = q * y + 0x1.52c6e8d7a9e09p-2;
    q = q * y + -0x1.14eb12dc02b2cp-1;
    q = q * y + 0x1.8be1fc1168e6dp-1;
    q = q * y + -0x1.f3fe324a6d4d5p-1;
    q = q * y + 0x1.18932bef7613bp0;
    double t = (z * z) * -TPI_LOG2E + (TPI_SHIFT + 1023), k = t - (TPI_SHIFT + 1023);
    double r = (-(z * z) - k * TPI_LN2_HI) - k * TPI_LN2_LO;
    double e = 1.0 + (tpi_exp_tail_64(r) * (r * r) + r);
    return a < 1.0 ? s * x + x : copysign(1.0 - e * tpi_pow2_64(t) * (q * v), x);
}

TPI_INLINE float erfc_32(float xf)
{
    double x = xf, a = fabs(x);
    a = TPI_ATMOST(a, 10.5);
    double v = 1.0 / (a + 2.5), t = 1.0 - 5.0 * v;
    double p = 0x1.2d0b9b110ae2dp-13;
    p = p * t + 0x1.4b09ffd5f5842p-11;
    p = p * t + -0x1.137a400d3c5c3p-11;
    p = p * t + -0x1.3af0a0d28d50ap-8;
    p = p * t + 0x1.13f00d4229e24p-7;
    p = p * t + 0x1.d0aade9713813p-6;
    p = p * t + -0x1.5ebab68321932p-3;
    p = p * t + 0x1.d0cedc945545ap-2;
    p = p * t + -0x1.9bfb4fe9757f7p-1;
    p = p * t + 0x1.0dd507824aedep0;
    double e = tpi_exp_24(-a * a) * (p * v);
    return (float)(x < 0 ? 2.0 - e : e);
}

/* erfc(a) = result * *f * *b for 0 <= a < 28, with two polynomials for t around a = 3.2, shifted so that |t| < 0.45.
 * The function depends so strongly on t that the rounding error of v = 1 / (a + 4) matters: it enters with a rough
 * slope, together with the other errors that are known. */
TPI_INLINE double erfc_parts(double a, double *f, double *b)
{
    double d, dl, p, e, m, ml;
    tpi_two_sum(a, 4.0, &d, &dl);
    double v = 1.0 / d;
    tpi_two_prod(d, v, &p, &e);
    double err = ((1.0 - p) - e) - dl * v;
    int far = a > 3.2;
    double t = tpi_select64(far, 0.6834716796875, 1.4500732421875) - 8.0 * v;
    double slope = tpi_select64(far, -0.86, -5.4) * t + tpi_select64(far, 0.91, 4.62);
    slope = slope * t + tpi_select64(far, -0.61, -2.16);
    p = tpi_select64(far, -0x1.43ec6a8b91a95p-20, 0x1.ee3831317694ep-23);
    p = p * t + tpi_select64(far, 0x1.87a15a4d5e399p-19, -0x1.3c8217b666252p-17);
    p = p * t + tpi_select64(far, 0x1.9e42d1162756ep-19, 0x1.3d3238734ff03p-19);
    p = p * t + tpi_select64(far, -0x1.12382fe430d8ap-15, 0x1.903abc94f0418p-14);
    p = p * t + tpi_select64(far, 0x1.4669f9bc78832p-14, -0x1.105d2bb9510d9p-13);
    p = p * t + tpi_select64(far, 0x1.46a1d42b6f861p-16, -0x1.abdad747331a9p-11);
    p = p * t + tpi_select64(far, -0x1.ca1e744b627a7p-11, 0x1.9fa829db12e79p-9);
    p = p * t + tpi_select64(far, 0x1.0d17fe869f06ap-8, 0x1.cfb1b561d7c18p-11);
    p = p * t + tpi_select64(far, -0x1.ace0a759c10e5p-7, -0x1.62c6c991fa08p-5);
    p = p * t + tpi_select64(far, 0x1.13931f1b88719p-5, 0x1.87155da9096a1p-3);
    p = p * t + tpi_select64(far, -0x1.2fff1ac4a3a2ep-4, -0x1.0b70eca17d0cep-1);
    p = p * t + tpi_select64(far, 0x1.291f5dedc082ep-3, 0x1.0e4dcd5f36331p0);
    p = p * t + tpi_select64(far, -0x1.0637238cd4314p-2, -0x1.ac2120d5a6c1p0);
    p = p * t + tpi_select64(far, 0x1.a72708de4b569p-2, 0x1.0fbb247cb8123p1);
    p = p * t + tpi_select64(far, -0x1.3aef58c33c309p-1, -0x1.157936f6b1541p1);
    double q0 = tpi_select64(far, 0x1.b338e2ea99ef1p-1, 0x1.c24cad2ee5d36p0), q = p * t + q0;
    double ql = (q0 - q) + p * t + tpi_select64(far, -0x1.acc35cc94b45fp-56, -0x1.b1019b8dff0eep-54);
    m = tpi_exp_negative_square_64(a, 1.0, &ml, f, b);
    ql += err * (q - 8.0 * v * slope) + q * ml;
    tpi_two_prod(q, v, &p, &e);
    return m * p + m * (e + ql * v);
}

TPI_INLINE double erfc_64(double x)
{
    double a = fabs(x), w = x * x;
    double s = 0x1.8b392b0be7bfap-20;
    s = s * w + -0x1.f22297cfce484p-17;
    s = s * w + 0x1.f98d9593df8cbp-14;
    s = s * w + -0x1.c02d4ea472188p-11;
    s = s * w + 0x1.565bcbf5e8a27p-8;
    s = s * w + -0x1.b82ce30f1f06p-6;
    s = s * w + 0x1.ce2f21a03d68ep-4;
    s = s * w + -0x1.812746b0379b3p-2;
    s = s * w + 0x1.06eba8214db68p-3;
    a = TPI_ATMOST(a, 27.5);
    double f, b, e = erfc_parts(a, &f, &b);
    e = e * f * b;
    e = x < 0 ? 2.0 - e : e;
    return fabs(x) < 0.47 ? 1.0 - (s * x + x) : e;
}

TPI_MAP1(erf_f32, float, erf_32)
TPI_MAP1(erf_f64, double, erf_64)
TPI_MAP1(erfc_f32, float, erfc_32)
TPI_MAP1(erfc_f64, double, erfc_64)
