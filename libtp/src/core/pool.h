/* The thread pool. Threads are started by the first call that can use them; a forked child starts its
 * own. A parallel call always makes progress in the calling thread, so it can't wait for a busy pool. */
#ifndef TPI_CORE_POOL_H
#define TPI_CORE_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include <tp/runtime.h>

/* Calls body(begin, end, ctx) on ranges that cover [0, n) once, each begin a multiple of grain, and
 * returns when all are done. The caller works too. One call body(0, n) in the calling thread when
 * n <= grain, in nested calls, and with one thread; none when n <= 0. How [0, n) is cut depends on the
 * number of threads: a reduction whose result must not has to cut at fixed places itself.
 * body must not unwind. An error set in body stays in the thread that ran it: report through ctx. */
void tpi_parallel_for(int64_t n, int64_t grain, void (*body)(int64_t begin, int64_t end, void *ctx), void *ctx);

/* Whether the calling thread is inside the body of a parallel call. */
bool tpi_in_parallel(void);

/* Runs job(0..njobs-1) AT THE SAME TIME, each in a thread of its own (0 in the caller), and returns 1
 * when all are done; returns 0 without running any where that many threads are not free right now. */
int tpi_run_jobs(int njobs, void (*job)(int index, void *ctx), void *ctx);

#endif
