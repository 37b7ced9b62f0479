/* Operators that are one function of vmath.h. */
#include "kernels/loops.h"
#include "kernels/vmath.h"

#define REAL(f) .f32 = (const void *)tpi_v##f##_f32, .f64 = (const void *)tpi_v##f##_f64
#define COMPLEX(f) .c64 = (const void *)tpi_v##f##_c64, .c128 = (const void *)tpi_v##f##_c128
#define KERNEL(op, ...)                                                        \
    int k_##op(tp_call *c) { return tpi_vector1(c, (tpi_vfns){__VA_ARGS__}); }

KERNEL(exp, REAL(exp), COMPLEX(exp))
KERNEL(exp2, REAL(exp2), COMPLEX(exp2))
KERNEL(expm1, REAL(expm1), COMPLEX(expm1))
KERNEL(log, REAL(log), COMPLEX(log))
KERNEL(log2, REAL(log2), COMPLEX(log2))
KERNEL(log10, REAL(log10), COMPLEX(log10))
KERNEL(log1p, REAL(log1p), COMPLEX(log1p))
KERNEL(sin, REAL(sin), COMPLEX(sin))
KERNEL(cos, REAL(cos), COMPLEX(cos))
KERNEL(tan, REAL(tan), COMPLEX(tan))
KERNEL(sinh, REAL(sinh), COMPLEX(sinh))
KERNEL(cosh, REAL(cosh), COMPLEX(cosh))
KERNEL(tanh, REAL(tanh), COMPLEX(tanh))
KERNEL(asin, REAL(asin), COMPLEX(asin))
KERNEL(acos, REAL(acos), COMPLEX(acos))
KERNEL(atan, REAL(atan), COMPLEX(atan))
KERNEL(asinh, REAL(asinh), COMPLEX(asinh))
KERNEL(acosh, REAL(acosh), COMPLEX(acosh))
KERNEL(atanh, REAL(atanh), COMPLEX(atanh))
KERNEL(sqrt, REAL(sqrt), COMPLEX(sqrt))
KERNEL(erf, REAL(erf))
KERNEL(erfc, REAL(erfc))
KERNEL(silu, REAL(silu), COMPLEX(silu))

int k_atan2(tp_call *c) { return tpi_vector2(c, (tpi_vfns){REAL(atan2)}); }
int k_hypot(tp_call *c) { return tpi_vector2(c, (tpi_vfns){REAL(hypot)}); }
