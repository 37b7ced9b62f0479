/* Macros that write inner loops, and the calls that pick one by dtype. Internal to the elementwise kernels. */
#ifndef TPI_KERNELS_LOOPS_H
#define TPI_KERNELS_LOOPS_H

#include <math.h>

#include "core/clones.h"
#include "core/error.h"
#include "dispatch/op.h"
#include "kernels/half.h"
#include "kernels/iter.h"

typedef struct c64 {
    float re, im;
} c64;
typedef struct c128 {
    double re, im;
} c128;

/* Output and input may be the very same memory, never shifted against each other. */
#define TPI_IVDEP _Pragma("GCC ivdep")

/* EXPR in terms of x. */
#define LOOP1(NAME, TO, TX, EXPR)                                                \
    TP_CLONES static void NAME(int64_t n, char **p, const int64_t *s, void *ctx) \
    {                                                                            \
        char *po = p[0], *px = p[1];                                             \
        if (s[0] == sizeof(TO) && s[1] == sizeof(TX)) {                          \
            TO *o = (TO *)po;                                                    \
            const TX *vx = (const TX *)px;                                       \
            TPI_IVDEP for (int64_t k = 0; k < n; k++)                            \
            {                                                                    \
                TX x = vx[k];                                                    \
                o[k] = EXPR;                                                     \
            }                                                                    \
        } else {                                                                 \
            for (int64_t k = 0; k < n; k++, po += s[0], px += s[1]) {            \
                TX x = *(const TX *)px;                                          \
                *(TO *)po = EXPR;                                                \
            }                                                                    \
        }                                                                        \
    }

/* EXPR in terms of x and y. */
#define LOOP2(NAME, TO, TX, TY, EXPR)                                             \
    TP_CLONES static void NAME(int64_t n, char **p, const int64_t *s, void *ctx)  \
    {                                                                             \
        char *po = p[0], *px = p[1], *py = p[2];                                  \
        TO *o = (TO *)po;                                                         \
        const TX *vx = (const TX *)px;                                            \
        const TY *vy = (const TY *)py;                                            \
        if (s[0] == sizeof(TO) && s[1] == sizeof(TX) && s[2] == sizeof(TY)) {     \
            TPI_IVDEP for (int64_t k = 0; k < n; k++)                             \
            {                                                                     \
                TX x = vx[k];                                                     \
                TY y = vy[k];                                                     \
                o[k] = EXPR;                                                      \
            }                                                                     \
        } else if (s[0] == sizeof(TO) && s[1] == sizeof(TX) && s[2] == 0) {       \
            TY y = *vy;                                                           \
            TPI_IVDEP for (int64_t k = 0; k < n; k++)                             \
            {                                                                     \
                TX x = vx[k];                                                     \
                o[k] = EXPR;                                                      \
            }                                                                     \
        } else if (s[0] == sizeof(TO) && s[1] == 0 && s[2] == sizeof(TY)) {       \
            TX x = *vx;                                                           \
            TPI_IVDEP for (int64_t k = 0; k < n; k++)                             \
            {                                                                     \
                TY y = vy[k];                                                     \
                o[k] = EXPR;                                                      \
            }                                                                     \
        } else {                                                                  \
            for (int64_t k = 0; k < n; k++, po += s[0], px += s[1], py += s[2]) { \
                TX x = *(const TX *)px;                                           \
                TY y = *(const TY *)py;                                           \
                *(TO *)po = EXPR;                                                 \
            }                                                                     \
        }                                                                         \
    }

/* EXPR in terms of x, y and z. */
#define LOOP3(NAME, TO, TX, TY, TZ, EXPR)                                                     \
    TP_CLONES static void NAME(int64_t n, char **p, const int64_t *s, void *ctx)              \
    {                                                                                         \
        char *po = p[0], *px = p[1], *py = p[2], *pz = p[3];                                  \
        TO *o = (TO *)po;                                                                     \
        const TX *vx = (const TX *)px;                                                        \
        const TY *vy = (const TY *)py;                                                        \
        const TZ *vz = (const TZ *)pz;                                                        \
        bool packed = s[0] == sizeof(TO) && s[1] == sizeof(TX);                               \
        if (packed && s[2] == sizeof(TY) && s[3] == sizeof(TZ)) {                             \
            TPI_IVDEP for (int64_t k = 0; k < n; k++)                                         \
            {                                                                                 \
                TX x = vx[k];                                                                 \
                TY y = vy[k];                                                                 \
                TZ z = vz[k];                                                                 \
                o[k] = EXPR;                                                                  \
            }                                                                                 \
        } else if (packed && s[2] == sizeof(TY) && s[3] == 0) {                               \
            TZ z = *vz;                                                                       \
            TPI_IVDEP for (int64_t k = 0; k < n; k++)                                         \
            {                                                                                 \
                TX x = vx[k];                                                                 \
                TY y = vy[k];                                                                 \
                o[k] = EXPR;                                                                  \
            }                                                                                 \
        } else if (packed && s[2] == 0 && s[3] == sizeof(TZ)) {                               \
            TY y = *vy;                                                                       \
            TPI_IVDEP for (int64_t k = 0; k < n; k++)                                         \
            {                                                                                 \
                TX x = vx[k];                                                                 \
                TZ z = vz[k];                                                                 \
                o[k] = EXPR;                                                                  \
            }                                                                                 \
        } else if (packed && s[2] == 0 && s[3] == 0) {                                        \
            TY y = *vy;                                                                       \
            TZ z = *vz;                                                                       \
            TPI_IVDEP for (int64_t k = 0; k < n; k++)                                         \
            {                                                                                 \
                TX x = vx[k];                                                                 \
                o[k] = EXPR;                                                                  \
            }                                                                                 \
        } else {                                                                              \
            for (int64_t k = 0; k < n; k++, po += s[0], px += s[1], py += s[2], pz += s[3]) { \
                TX x = *(const TX *)px;                                                       \
                TY y = *(const TY *)py;                                                       \
                TZ z = *(const TZ *)pz;                                                       \
                *(TO *)po = EXPR;                                                             \
            }                                                                                 \
        }                                                                                     \
    }

/* Calls tpi_map on the first nin arguments of c. table[dtype of argument `by`] is the loop; a 16-bit float takes
 * the float32 loop through blocks (operands of another dtype, and a result of another dtype, pass as they are).
 * out_dtype < 0: that dtype. A missing loop is an error that names operator and dtype. */
int tpi_elementwise(tp_call *c, int nin, int by, int out_dtype, const tpi_loop *table, void *ctx);

/* The same with operands that are not arguments of c. */
int tpi_elementwise_on(tp_call *c, int nin, tp_tensor *const *in, int by, int out_dtype, const tpi_loop *table,
                       void *ctx);

/* Contiguous vector functions (vmath.h) as loops: strided operands pass through blocks. ctx is a tpi_vector. */
typedef void (*tpi_vfn1)(int64_t n, const void *x, void *y);
typedef void (*tpi_vfn2)(int64_t n, const void *x, const void *y, void *out);
typedef struct tpi_vector {
    union {
        tpi_vfn1 one;
        tpi_vfn2 two;
    } fn;
    int out_size, in_size;
} tpi_vector;
void tpi_vector_loop1(int64_t n, char **p, const int64_t *s, void *ctx);
void tpi_vector_loop2(int64_t n, char **p, const int64_t *s, void *ctx);

/* Functions by floating or complex dtype: f32, f64, c64, c128; NULL: not defined for it. */
typedef struct tpi_vfns {
    const void *f32, *f64, *c64, *c128;
} tpi_vfns;
int tpi_vector1(tp_call *c, tpi_vfns f);             /* result of the argument's dtype */
int tpi_vector2(tp_call *c, tpi_vfns f);

int tpi_unsupported_dtype(tp_call *c, int dtype);    /* the error */

/* Table entries of all integer dtypes. */
#define INT_ENTRIES(OP)                                                                                               \
    [TP_UINT8] = OP##_u8, [TP_INT8] = OP##_i8, [TP_UINT16] = OP##_u16, [TP_INT16] = OP##_i16, [TP_UINT32] = OP##_u32, \
    [TP_INT32] = OP##_i32, [TP_UINT64] = OP##_u64, [TP_INT64] = OP##_i64

#endif
