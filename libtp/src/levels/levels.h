/* The level stack of a thread, and the interpreters. Internal. */
#ifndef TPI_LEVELS_H
#define TPI_LEVELS_H

#include <stdlib.h>

#include "core/scope.h"
#include "dispatch/op.h"
#include "tp/level.h"

typedef struct tpi_level {
    uint64_t id;
    int kind;
    int origin;
    int masked;              /* this level alone records nothing */
    /* vmap */
    int64_t batch;
    int randomness;
    /* the ambient reverse level directly above this depth; 0: not made yet */
    uint64_t ambient;
    int ambient_masked;
    /* captured roots whose content a write moved to this level: become plain again at its end */
    tp_tensor **captured;
    int64_t ncaptured, cap_captured;
    tp_tensor **ambient_captured;
    int64_t nambient, cap_ambient;
} tpi_level;

#define TPI_AMBIENT0 1          /* the process-wide reverse level of depth 0 */

typedef struct tpi_stack {
    int depth, cap;
    tpi_level *levels;
    int masked_count;           /* no_grad entered at this depth: levels below it (and their ambient ones, that of
                                   the depth itself included) record nothing; -1: none */
    int unmasked;               /* > 0: masks are ignored (views are being regenerated) */
    int nvmap;
    int ambient0_masked;
} tpi_stack;

extern _Thread_local tpi_stack tpi_levels;

uint64_t tpi_top_id(void);     /* id of the innermost level or ambient level in use: the birth of new tensors */

/* Finds a live level of this thread. kind: tp_level_kind. */
typedef struct tpi_level_ref {
    tpi_level *level;           /* NULL for the process-wide ambient level */
    int kind;
    int depth;                  /* index in the stack; -1 for ambient0 */
    bool ambient, masked;
} tpi_level_ref;
uint64_t tpi_ambient_id(void);                          /* of the current depth, made at first use */
tp_tensor *tpi_peel_ambient(tp_tensor *t, uint64_t level);  /* borrowed; NULL: an error */
int tpi_capture(const tpi_level_ref *l, tp_tensor *root); /* root becomes plain again when the level ends */
int *tpi_mask_flag(const tpi_level_ref *l);
int tpi_level_find(uint64_t id, const tp_tensor *culprit, tpi_level_ref *out); /* error: escaped */

/* Interpreters: args are borrowed, out gets new references. */
int tpi_vmap_interpret(const tpi_level_ref *l, uint64_t id, const tp_op *op, tp_val *args, tp_tensor **out);
int tpi_reverse_interpret(const tpi_level_ref *l, uint64_t id, const tp_op *op, tp_val *args, tp_tensor **out);
int tpi_lower_args(const tp_op *op, const tp_val *args, uint64_t id, tp_val *lower, tp_tensor ***heap, tp_tensor **few,
                   int nfew);
int tpi_forward_interpret(const tpi_level_ref *l, uint64_t id, const tp_op *op, tp_val *args, tp_tensor **out);

/* Batching rule classes (rules name them in the table). */
int tpi_batch_broadcast(tp_batch_ctx *c);
int tpi_batch_reduce(tp_batch_ctx *c);
int tpi_batch_view(tp_batch_ctx *c);
int tpi_batch_leading(tp_batch_ctx *c);
int tpi_batch_fold(tp_batch_ctx *c);
/* Forward rule classes. */
int tpi_jvp_linear(tp_jvp_ctx *c);
int tpi_jvp_bilinear(tp_jvp_ctx *c);
int tpi_jvp_elementwise(tp_jvp_ctx *c);
int tpi_jvp_zero(tp_jvp_ctx *c);

/* For batching rules. */
static inline int bdim_of(const tp_batch_ctx *c, int i) { return c->bdim[i] ? c->bdim[i][0] : -1; }
int tpi_nsample(const tp_batch_ctx *c, int i);      /* rank the function sees of Tensor argument i */
T tpi_batch_front(tp_batch_ctx *c, int i);          /* argument i with its batch dimension first; unbatched: as is */
T tpi_batch_full(tp_batch_ctx *c, int i); /* the same, an unbatched argument expanded to the batch (a view) */
int tpi_rule_call(const tp_op *op, tp_val *args, tp_tensor **out); /* tpi_call whose outputs the scope owns */

#endif
