/* The operators by name: the generated table first, custom operators behind it. */
#include "dispatch/op.h"

#include "tpi_ops.h"

/* tpi_ops is sorted by name. */
const tp_op *tpi_op_find(const char *name)
{
    int lo = 0, hi = tpi_op_count - 1;
    while (lo <= hi) {
        int mid = (lo + hi) / 2, c = strcmp(name, tpi_ops[mid]->name);
        if (!c) return tpi_ops[mid];
        if (c < 0) hi = mid - 1;
        else lo = mid + 1;
    }
    return NULL;
}

const tp_op *tpi_op_by_name(const char *name)
{
    const tp_op *op = tpi_op_find(name);
    return op ? op : tpi_null(TP_ERR_NOT_IMPLEMENTED, "no operator %s", name);
}
