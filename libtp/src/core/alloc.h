/* NOTE: Memory.
 *
 * Page faults, not arithmetic, decide large eager work, so freed blocks are kept by size class: small
 * ones (up to 64 KiB) in lists of the thread that freed them, large ones in lists of the process, the
 * least recently freed going first when they exceed a quarter of the available memory. A failing
 * allocation gives everything back and tries once more. Blocks carry no header: whoever frees says how
 * large the block is, which storages know anyhow. TP_NO_CACHE=1 in the environment, or building with
 * TP_SANITIZE, turns all of this off. */
#ifndef TPI_CORE_ALLOC_H
#define TPI_CORE_ALLOC_H

#include <stddef.h>

#include <tp/runtime.h>

/* Memory for bytes bytes (0 is fine), aligned to 64; NULL and TP_ERR_MEMORY on failure. */
void *tpi_alloc(size_t bytes) __attribute__((warn_unused_result));

/* The same, filled with zeros. */
void *tpi_calloc(size_t bytes) __attribute__((warn_unused_result));

/* bytes must be what was asked for. Any thread may free; NULL is ignored. */
void tpi_free(void *p, size_t bytes);

/* Handles and graph nodes, aligned to 16, not cleared, any size (free lists up to 512 bytes); the same
 * rules. These keep working in a thread whose exit handlers have already run. */
void *tpi_obj_alloc(size_t size) __attribute__((warn_unused_result));
void tpi_obj_free(void *p, size_t size);

#endif
