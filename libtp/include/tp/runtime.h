/* The process: threads, memory, what the CPU offers. */
#ifndef TP_RUNTIME_H
#define TP_RUNTIME_H

#include <tp/common.h>

TP_BEGIN_DECLS

/* How many threads an operator may use, the calling one included; n >= 1, else TP_ERR_VALUE.
 * The default is TP_NUM_THREADS of the environment, else what CPU affinity and cgroup quota allow.
 * Threads are started by the first call that needs them. */
TP_API int tp_set_num_threads(int n);
TP_API int tp_get_num_threads(void);

/* "avx512", "avx2", "neon" or "default": the widest instructions the kernels use here. */
TP_API const char *tp_cpu_capability(void);

/* Where matrix products go: the path of the BLAS library, or "built-in". Loads it if that has not
 * happened yet. Static storage. NULL (TP_ERR_MEMORY) if there is no memory to load it. */
TP_API const char *tp_blas_library(void);

typedef struct tp_memory_stats {
    size_t struct_size;        /* set by the caller: sizeof(tp_memory_stats) */
    uint64_t allocated_bytes;  /* in use by tensors, as asked for */
    uint64_t cached_bytes;     /* freed and kept for the next allocation */
    uint64_t peak_bytes;       /* the highest allocated_bytes so far, within 256 KiB a thread */
    uint64_t allocation_count; /* allocations so far */
} tp_memory_stats;

/* Fills *stats, of which struct_size is read first; TP_ERR_VALUE if it is NULL or too small. */
TP_API int tp_get_memory_stats(tp_memory_stats *stats);

/* Gives memory that is kept for reuse back to the system: that of the process and of this thread. */
TP_API void tp_empty_cache(void);

TP_END_DECLS

#endif
