#ifndef TP_RANDOM_H
#define TP_RANDOM_H
#include <tp/common.h>
TP_BEGIN_DECLS
typedef struct tp_generator tp_generator;
TP_API tp_generator *tp_generator_new(uint64_t seed);
TP_API void tp_generator_retain(tp_generator *generator);
TP_API void tp_generator_release(tp_generator *generator);
TP_API void tp_generator_seed(tp_generator *generator, uint64_t seed);
TP_API uint64_t tp_generator_initial_seed(tp_generator *generator);
TP_API void tp_generator_get_state(tp_generator *generator, uint64_t *seed, uint64_t *offset);
TP_API void tp_generator_set_state(tp_generator *generator, uint64_t seed, uint64_t offset);
TP_API tp_generator *tp_default_generator(void);
TP_API void tp_manual_seed(uint64_t seed);
TP_END_DECLS
#endif
