#include "kernels/lapack.h"

#include <pthread.h>
#include <stdio.h>

#include "core/alloc.h"
#include "core/blas.h"
#include "core/error.h"
#include "core/pool.h"

void *tpi_lapack_pair(const char *op, int dtype, const char *real, const char *complex_name)
{
    const char *letter = dtype == TP_FLOAT32      ? "s"
                         : dtype == TP_FLOAT64    ? "d"
                         : dtype == TP_COMPLEX64  ? "c"
                         : dtype == TP_COMPLEX128 ? "z"
                                                  : NULL;
    if (!letter)
        return tpi_null(TP_ERR_TYPE, "%s: needs float32, float64, complex64 or complex128, got %s", op,
                        tp_dtype_name(dtype));
    char name[32];
    snprintf(name, sizeof name, "%s%s_", letter, tpi_is_complex(dtype) ? complex_name : real);
    tp_error_clear();
    void *f = tpi_lapack_symbol(name);
    if (!f && tp_error_code() != TP_ERR_MEMORY)
        return tpi_null(TP_ERR_RUNTIME,
                        "%s: needs LAPACK (%s): install OpenBLAS (libopenblas.so.0) or let TP_BLAS name a library", op,
                        name);
    return f;
}

void *tpi_lapack(const char *op, int dtype, const char *name) { return tpi_lapack_pair(op, dtype, name, name); }

typedef struct state {
    tpi_lapack_run *run;
    pthread_mutex_t lock;
    int rc;
} state;

static void range(int64_t begin, int64_t end, void *ctx)
{
    state *s = ctx;
    tpi_lapack_run *run = s->run;
    int64_t at = -1;
    int info = 0, rc = tpi_blas_enter();
    if (!rc) {
        void *work = tpi_alloc(run->work + 64);
        if (!work) rc = TP_ERR_MEMORY;
        void *aligned = (void *)(((uintptr_t)work + 63) & ~(uintptr_t)63);
        for (int64_t i = begin; i < end && !rc; i++) {
            int found = run->one(i, aligned, run->ctx);
            if (found && at < 0) {
                at = i;
                info = found;
            }
        }
        tpi_free(work, run->work + 64);
        tpi_blas_leave();
    }
    if (!rc && at < 0) return;
    pthread_mutex_lock(&s->lock);
    if (rc) s->rc = rc;
    if (at >= 0 && (!run->info || at < run->index)) {
        run->index = at;
        run->info = info;
    }
    pthread_mutex_unlock(&s->lock);
}

int tpi_lapack_batch(tpi_lapack_run *run)
{
    state s = {.run = run, .lock = PTHREAD_MUTEX_INITIALIZER};
    run->info = 0;
    run->index = 0;
    double grain = 1e5 / (run->flops > 1 ? run->flops : 1);
    tpi_parallel_for(run->count, grain < 1 ? 1 : (int64_t)grain, range, &s);
    return s.rc ? tpi_fail(s.rc, "out of memory: work space of a decomposition") : TP_OK;
}

int tpi_lapack_fault(const char *op, const tpi_lapack_run *run, bool batched, const char *text)
{
    if (batched) return tpi_fail(TP_ERR_LINALG, "%s: %s (matrix %lld of the batch)", op, text, (long long)run->index);
    return tpi_fail(TP_ERR_LINALG, "%s: %s", op, text);
}

#define TURN(T)                                                                                              \
    for (int64_t i0 = 0; i0 < rows; i0 += 16)                                                                \
        for (int64_t j0 = 0; j0 < cols; j0 += 16) {                                                          \
            int64_t i1 = i0 + 16 < rows ? i0 + 16 : rows, j1 = j0 + 16 < cols ? j0 + 16 : cols;              \
            for (int64_t j = j0; j < j1; j++)                                                                \
                for (int64_t i = i0; i < i1; i++) ((T *)dst)[j * rows + i] = ((const T *)src)[i * cols + j]; \
        }

typedef struct wide {
    uint64_t a, b;
} wide;

void tpi_lapack_turn(const void *src, void *dst, int64_t rows, int64_t cols, int esize)
{
    if (esize == 4) {
        TURN(uint32_t)
    } else if (esize == 8) {
        TURN(uint64_t)
    } else {
        TURN(wide)
    }
}

int tpi_lapack_size(const char *op, int64_t m, int64_t n)
{
    if (m <= INT32_MAX && n <= INT32_MAX) return TP_OK;
    return tpi_fail(TP_ERR_VALUE, "%s: a matrix of %lld x %lld is too large for LAPACK", op, (long long)m,
                    (long long)n);
}
