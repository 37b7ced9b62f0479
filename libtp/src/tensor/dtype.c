/* Element types: sizes, names, promotion. */
#include "tensor/tensor.h"

#include <math.h>

static const char *const names[TP_DTYPE_COUNT] = {"bool",     "uint8",   "int8",    "uint16",    "int16",
                                                  "uint32",   "int32",   "uint64",  "int64",     "float16",
                                                  "bfloat16", "float32", "float64", "complex64", "complex128"};

static _Atomic int default_dtype = TP_FLOAT32;

static bool known(int d) { return d >= 0 && d < TP_DTYPE_COUNT; }

size_t tp_dtype_size(int dtype) { return known(dtype) ? (size_t)tpi_esize(dtype) : 0; }
const char *tp_dtype_name(int dtype) { return known(dtype) ? names[dtype] : NULL; }
bool tp_dtype_is_floating(int dtype) { return known(dtype) && tpi_is_float(dtype); }
bool tp_dtype_is_complex(int dtype) { return known(dtype) && tpi_is_complex(dtype); }
bool tp_dtype_is_integral(int dtype) { return known(dtype) && tpi_is_int(dtype); }
int tp_get_default_dtype(void) { return atomic_load_explicit(&default_dtype, memory_order_relaxed); }

int tp_set_default_dtype(int dtype)
{
    if (!tp_dtype_is_floating(dtype))
        return tpi_fail(TP_ERR_TYPE, "set_default_dtype: only floating dtypes are supported, got %s",
                        known(dtype) ? names[dtype] : "an unknown dtype");
    atomic_store(&default_dtype, dtype);
    return TP_OK;
}

static bool is_unsigned(int d) { return d == TP_UINT8 || d == TP_UINT16 || d == TP_UINT32 || d == TP_UINT64; }

/* PyTorch's lattice; the unsigned types wider than 8 bits follow NumPy, except that uint64 with a signed integer
 * stays integral (int64), as in PyTorch there is no wider integer to go to. */
int tp_promote_types(int a, int b)
{
    if (!known(a) || !known(b)) return -1;
    if (a == b) return a;
    if (a > b) {
        int t = a;
        a = b;
        b = t;
    }
    if (a == TP_BOOL) return b;
    if (tpi_is_complex(b)) {
        if (b == TP_COMPLEX128 || a == TP_FLOAT64) return TP_COMPLEX128;
        return TP_COMPLEX64;
    }
    if (tpi_is_float(b)) {
        if (tpi_is_int(a)) return b;
        if (a == TP_FLOAT16 && b == TP_BFLOAT16) return TP_FLOAT32;
        return b;
    }
    int sa = tpi_esize(a), sb = tpi_esize(b);
    bool ua = is_unsigned(a), ub = is_unsigned(b);
    if (ua == ub) return sa > sb ? a : b;
    int u = ua ? a : b, s = ua ? b : a;
    int su = tpi_esize(u), ss = tpi_esize(s);
    if (ss > su) return s;
    switch (su) {
    case 1: return TP_INT16;
    case 2: return TP_INT32;
    default: return TP_INT64;
    }
}

static int category(int d) { return tpi_is_complex(d) ? 3 : tpi_is_float(d) ? 2 : tpi_is_int(d) ? 1 : 0; }

bool tpi_can_cast(int from, int to) { return category(from) <= category(to); }

int tpi_result_type(int n, tp_tensor *const *ts)
{
    int dim = -1, zero = -1, weak = -1;
    for (int i = 0; i < n; i++) {
        if (!ts[i]) continue;
        int d = ts[i]->dtype;
        if (ts[i]->flags & TPI_F_WEAK) {
            /* a Python number: only its category counts */
            int w = category(d) == 2   ? tp_get_default_dtype()
                    : category(d) == 3 ? (tp_get_default_dtype() == TP_FLOAT64 ? TP_COMPLEX128 : TP_COMPLEX64)
                                       : d;
            weak = weak < 0 ? w : tp_promote_types(weak, w);
        } else if (ts[i]->ndim == 0) zero = zero < 0 ? d : tp_promote_types(zero, d);
        else dim = dim < 0 ? d : tp_promote_types(dim, d);
    }
    int r = dim;
    if (r < 0) r = zero;
    else if (zero >= 0 && category(zero) > category(r)) {
        /* a complex 0-d operand keeps the precision of a floating dimensioned one */
        r = tp_promote_types(
            r, category(zero) == 3 && category(r) == 2 ? (r == TP_FLOAT64 ? TP_COMPLEX128 : TP_COMPLEX64) : zero);
    }
    if (r < 0) return weak;
    if (weak >= 0 && category(weak) > category(r)) {
        if (category(weak) == 3 && category(r) == 2) return r == TP_FLOAT64 ? TP_COMPLEX128 : TP_COMPLEX64;
        return tp_promote_types(r, weak);
    }
    return r;
}

int tpi_to_real(int d) { return d == TP_COMPLEX64 ? TP_FLOAT32 : d == TP_COMPLEX128 ? TP_FLOAT64 : d; }
int tpi_to_complex(int d) { return tpi_is_complex(d) ? d : d == TP_FLOAT64 ? TP_COMPLEX128 : TP_COMPLEX64; }
int tpi_compute_dtype(int d) { return d == TP_FLOAT16 || d == TP_BFLOAT16 ? TP_FLOAT32 : d; }

float tpi_half_to_float(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = (h >> 10) & 31, m = h & 0x3ff, u;
    if (e == 31) u = sign | 0x7f800000 | (m << 13);
    else if (e) u = sign | ((e + 112) << 23) | (m << 13);
    else if (m) {
        int shift = __builtin_clz(m) - 21;
        u = sign | ((uint32_t)(113 - shift) << 23) | (((m << shift) & 0x3ff) << 13);
    } else u = sign;
    float f;
    memcpy(&f, &u, 4);
    return f;
}

uint16_t tpi_float_to_half(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    uint32_t sign = (u >> 16) & 0x8000, a = u & 0x7fffffff;
    if (a > 0x7f800000) return (uint16_t)(sign | 0x7e00 | ((a >> 13) & 0x3ff));
    if (a >= 0x477ff000) return (uint16_t)(sign | 0x7c00);
    if (a < 0x38800000) { /* subnormal: the float adder rounds to nearest even for us */
        float x;
        memcpy(&x, &a, 4);
        x += 0.5f;
        uint32_t r;
        memcpy(&r, &x, 4);
        return (uint16_t)(sign | (r - 0x3f000000));
    }
    uint32_t r = a - 0x38000000;
    return (uint16_t)(sign | ((r + 0xfff + ((r >> 13) & 1)) >> 13));
}

/* What a double converts to in an integer type without undefined behaviour: modular like PyTorch on x86. */
static int64_t to_int(double d)
{
    if (!(d > -9223372036854775808.0 && d < 9223372036854775808.0)) return d > 0 ? INT64_MAX : INT64_MIN;
    return (int64_t)d;
}

void tpi_store_scalar(void *p, int dtype, const tp_scalar *s)
{
    double re = 0, im = 0;
    int64_t i = 0;
    switch (s->tag) {
    case TP_SCALAR_BOOL:
    case TP_SCALAR_INT:
        i = s->v.i;
        re = (double)i;
        break;
    case TP_SCALAR_UINT:
        i = (int64_t)s->v.u;
        re = (double)s->v.u;
        break;
    case TP_SCALAR_FLOAT:
        re = s->v.f;
        i = to_int(re);
        break;
    default:
        re = s->v.c[0];
        im = s->v.c[1];
        i = to_int(re);
    }
    switch (dtype) {
    case TP_BOOL: *(uint8_t *)p = (s->tag <= TP_SCALAR_UINT ? i != 0 : (re != 0 || im != 0)); break;
    case TP_UINT8: *(uint8_t *)p = (uint8_t)i; break;
    case TP_INT8: *(int8_t *)p = (int8_t)i; break;
    case TP_UINT16: *(uint16_t *)p = (uint16_t)i; break;
    case TP_INT16: *(int16_t *)p = (int16_t)i; break;
    case TP_UINT32: *(uint32_t *)p = (uint32_t)i; break;
    case TP_INT32: *(int32_t *)p = (int32_t)i; break;
    case TP_UINT64:
        *(uint64_t *)p = s->tag == TP_SCALAR_FLOAT && re >= 9223372036854775808.0 && re < 18446744073709551616.0
                             ? (uint64_t)re
                             : (uint64_t)i;
        break;
    case TP_INT64: *(int64_t *)p = i; break;
    case TP_FLOAT16: *(uint16_t *)p = tpi_float_to_half((float)re); break;
    case TP_BFLOAT16: *(uint16_t *)p = tpi_float_to_bf16((float)re); break;
    case TP_FLOAT32: *(float *)p = (float)re; break;
    case TP_FLOAT64: *(double *)p = re; break;
    case TP_COMPLEX64:
        ((float *)p)[0] = (float)re;
        ((float *)p)[1] = (float)im;
        break;
    case TP_COMPLEX128:
        ((double *)p)[0] = re;
        ((double *)p)[1] = im;
        break;
    }
}

void tpi_load_scalar(const void *p, int dtype, tp_scalar *s)
{
    memset(s, 0, sizeof *s);
    s->tag = tpi_is_complex(dtype) ? TP_SCALAR_COMPLEX
             : tpi_is_float(dtype) ? TP_SCALAR_FLOAT
             : dtype == TP_BOOL    ? TP_SCALAR_BOOL
             : dtype == TP_UINT64  ? TP_SCALAR_UINT
                                   : TP_SCALAR_INT;
    switch (dtype) {
    case TP_BOOL: s->v.i = *(const uint8_t *)p != 0; break;
    case TP_UINT8: s->v.i = *(const uint8_t *)p; break;
    case TP_INT8: s->v.i = *(const int8_t *)p; break;
    case TP_UINT16: s->v.i = *(const uint16_t *)p; break;
    case TP_INT16: s->v.i = *(const int16_t *)p; break;
    case TP_UINT32: s->v.i = *(const uint32_t *)p; break;
    case TP_INT32: s->v.i = *(const int32_t *)p; break;
    case TP_UINT64: s->v.u = *(const uint64_t *)p; break;
    case TP_INT64: s->v.i = *(const int64_t *)p; break;
    case TP_FLOAT16: s->v.f = tpi_half_to_float(*(const uint16_t *)p); break;
    case TP_BFLOAT16: s->v.f = tpi_bf16_to_float(*(const uint16_t *)p); break;
    case TP_FLOAT32: s->v.f = *(const float *)p; break;
    case TP_FLOAT64: s->v.f = *(const double *)p; break;
    case TP_COMPLEX64:
        s->v.c[0] = ((const float *)p)[0];
        s->v.c[1] = ((const float *)p)[1];
        break;
    case TP_COMPLEX128:
        s->v.c[0] = ((const double *)p)[0];
        s->v.c[1] = ((const double *)p)[1];
        break;
    }
}
