/* The walk over a reverse-mode graph. Internal. */
#ifndef TPI_ENGINE_H
#define TPI_ENGINE_H

#include "levels/graph.h"

typedef struct tpi_target {
    tp_node *node;           /* NULL: not tracked */
    uint32_t nr;
} tpi_target;

typedef struct tpi_engine_call {
    const tpi_target *outputs;
    tp_tensor *const *grads;     /* cotangents; NULL: zero */
    int64_t n_outputs;
    const tpi_target *inputs;
    int64_t n_inputs;
    tp_tensor **results;         /* n_inputs entries, NULL on entry; new references */
    bool accumulate;             /* into the cells of leaves and of retain_grad */
    bool prune;                  /* only what leads to an input */
    bool retain, create_graph;
} tpi_engine_call;

int tpi_engine_run(const tpi_engine_call *c);

#endif
