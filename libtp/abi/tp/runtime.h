#ifndef TP_RUNTIME_H
#define TP_RUNTIME_H
#include <tp/common.h>
TP_BEGIN_DECLS
TP_API int tp_set_num_threads(int n);
TP_API int tp_get_num_threads(void);
TP_API const char *tp_cpu_capability(void);
TP_API const char *tp_blas_library(void);
typedef struct tp_memory_stats {
    size_t struct_size;
    uint64_t allocated_bytes;
    uint64_t cached_bytes;
    uint64_t peak_bytes;
    uint64_t allocation_count;
} tp_memory_stats;
TP_API int tp_get_memory_stats(tp_memory_stats *stats);
TP_API void tp_empty_cache(void);
TP_END_DECLS
#endif
