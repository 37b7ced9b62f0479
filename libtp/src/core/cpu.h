#ifndef TPI_CORE_CPU_H
#define TPI_CORE_CPU_H

#include <stdint.h>

#include <tp/runtime.h> /* tp_cpu_capability */

/* CPUs this process may use: affinity mask and cgroup quota, at least 1. */
int tpi_cpu_count(void);

/* Bytes of memory the process can still get without swapping: the system's, the cgroup's and the
 * address space limit, whichever is least. */
uint64_t tpi_available_memory(void);

#endif
