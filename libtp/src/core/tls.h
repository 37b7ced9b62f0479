/* TPI_TLS: a thread-local of a word or so on a hot path. The initial-exec model saves a call; glibc keeps
 * static TLS in reserve for that when a library is loaded late, other C libraries do not. */
#ifndef TPI_CORE_TLS_H
#define TPI_CORE_TLS_H

#include <stddef.h>

#ifdef __GLIBC__
#define TPI_TLS __thread __attribute__((tls_model("initial-exec")))
#else
#define TPI_TLS __thread
#endif

#endif
