#ifndef TP_CUSTOM_H
#define TP_CUSTOM_H
#include "tp/level.h"
TP_BEGIN_DECLS
typedef struct tp_node_callbacks {
    size_t struct_size;
    int (*backward)(void *payload, tp_tensor *const *grads, int64_t n_grads, tp_tensor **grads_in, int64_t n_in,
                    bool create_graph);
    void (*destroy)(void *payload);
    const char *name;
} tp_node_callbacks;
TP_API int tp_node_custom(uint64_t level, tp_tensor *const *inputs, int64_t n_inputs, tp_tensor *const *output_values,
                          int64_t n_outputs, const uint8_t *nondiff, const tp_node_callbacks *callbacks, void *payload,
                          tp_tensor **outputs);
TP_API bool tp_level_records(uint64_t level);
TP_API int tp_vmap_info(uint64_t level, int64_t *batch_size, int *randomness);
typedef struct tp_saved tp_saved;
TP_API tp_saved *tp_save_value(tp_tensor *t, uint64_t level);
TP_API tp_tensor *tp_saved_unpack(tp_saved *s, bool tracked);
TP_API void tp_saved_release(tp_saved *s);
TP_API tp_saved *tp_save_output(tp_tensor *output, uint64_t level);
TP_API const char *tp_history_name(tp_tensor *t);
TP_API int tp_register_hook(tp_tensor *t, tp_tensor *(*hook)(void *payload, tp_tensor *grad), void (*destroy)(void *),
                            void *payload, uint64_t *id);
TP_API int tp_remove_hook(tp_tensor *t, uint64_t id);
TP_END_DECLS
#endif
