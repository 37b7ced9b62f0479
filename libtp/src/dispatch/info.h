/* What the table says of an operator beyond what calls need. Internal. */
#ifndef TPI_INFO_H
#define TPI_INFO_H

#include "tp/registry.h"

typedef struct tpi_arginfo {
    const char *type; /* "Tensor?", "int[]", "Operand" */
    bool has_default;
    tp_value value;
} tpi_arginfo;

typedef struct tpi_opinfo {
    const char *signature;
    const tpi_arginfo *args;
} tpi_opinfo;

/* One for each of tpi_ops. */
extern const tpi_opinfo tpi_infos[];

#endif
