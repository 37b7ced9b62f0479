#ifndef TPI_CORE_ERROR_H
#define TPI_CORE_ERROR_H

#include <tp/error.h>

/* Records a failure of this thread and returns code. No allocation: it works when memory is gone.
 *     return tpi_fail(TP_ERR_VALUE, "matmul: shapes %s and %s do not multiply: %lld != %lld", ...); */
int tpi_fail(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));

/* The same in an expression that yields a null pointer:  return tpi_null(TP_ERR_TYPE, "..."); */
#define tpi_null(...) ((void)tpi_fail(__VA_ARGS__), NULL)

#endif
