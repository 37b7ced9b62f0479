/* Graph nodes with a backward written by the caller, saved values, and hooks. */
#ifndef TP_CUSTOM_H
#define TP_CUSTOM_H

#include "tp/level.h"

TP_BEGIN_DECLS

typedef struct tp_node_callbacks {
    size_t struct_size;
    /* Cotangents of the inputs from those of the outputs. grads entries may be NULL (zero); write new references
     * (or NULL: zero) into grads_in. Returns 0, or an error code with the error set. */
    int (*backward)(void *payload, tp_tensor *const *grads, int64_t n_grads, tp_tensor **grads_in, int64_t n_in,
                    bool create_graph);
    void (*destroy)(void *payload);
    const char *name;        /* must outlive the node */
} tp_node_callbacks;

/* Makes a node at `level` whose inputs are `inputs` (those not tracked there get no cotangent) and wraps
 * output_values (lower values) as its outputs. nondiff (may be NULL) marks outputs that are not differentiable: they
 * come back unwrapped. The payload is owned by the node from here on, also when the call fails. If no input is
 * tracked at the level, outputs are the values themselves. outputs: n_outputs new references. */
TP_API int tp_node_custom(uint64_t level, tp_tensor *const *inputs, int64_t n_inputs, tp_tensor *const *output_values,
                          int64_t n_outputs, const uint8_t *nondiff, const tp_node_callbacks *callbacks, void *payload,
                          tp_tensor **outputs);

/* Whether operators at a live level record: no_grad and a running backward mask it. */
TP_API bool tp_level_records(uint64_t level);
/* The batch size and the randomness of a live vmap level. */
TP_API int tp_vmap_info(uint64_t level, int64_t *batch_size, int *randomness);

/* A value kept for a backward: a snapshot with a version check, which owns nothing of its own level's handles. */
typedef struct tp_saved tp_saved;
TP_API tp_saved *tp_save_value(tp_tensor *t, uint64_t level);
/* tracked: as a handle of the level it was saved at (for a differentiable backward); otherwise the lower value. */
TP_API tp_tensor *tp_saved_unpack(tp_saved *s, bool tracked);
TP_API void tp_saved_release(tp_saved *s);
/* An output of a custom node as a saved value: `value` is the lower value, `output` the handle the node returned.
 * To be called after tp_node_custom; holds the node weakly, so that a payload may own it. */
TP_API tp_saved *tp_save_output(tp_tensor *output, uint64_t level);

/* Name of the operator or function that made t at its highest level; NULL for a leaf and for what is not tracked.
 * Lives as long as t. */
TP_API const char *tp_history_name(tp_tensor *t);

/* Hooks on the cotangent of t: called with it once it is complete; a non-NULL return replaces it (NULL with no error
 * set: unchanged). t must be tracked (requires_grad). */
TP_API int tp_register_hook(tp_tensor *t, tp_tensor *(*hook)(void *payload, tp_tensor *grad), void (*destroy)(void *),
                            void *payload, uint64_t *id);
TP_API int tp_remove_hook(tp_tensor *t, uint64_t id);

TP_END_DECLS
#endif
