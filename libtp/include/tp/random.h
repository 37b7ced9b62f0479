/* Random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11).
 *
 * A generator is a seed and an offset, counted in blocks of 128 bits. Values depend on those two and
 * the number of values drawn, never on the number of threads. Generators may be shared by threads. */
#ifndef TP_RANDOM_H
#define TP_RANDOM_H

#include <tp/common.h>

TP_BEGIN_DECLS

typedef struct tp_generator tp_generator;

/* A new generator, owned by the caller; NULL when out of memory. */
TP_API tp_generator *tp_generator_new(uint64_t seed);
TP_API void tp_generator_retain(tp_generator *generator);
TP_API void tp_generator_release(tp_generator *generator); /* NULL is ignored */

/* In all of these, NULL is the default generator. */
TP_API void tp_generator_seed(tp_generator *generator, uint64_t seed); /* offset becomes 0 */
TP_API uint64_t tp_generator_initial_seed(tp_generator *generator);
TP_API void tp_generator_get_state(tp_generator *generator, uint64_t *seed, uint64_t *offset);
TP_API void tp_generator_set_state(tp_generator *generator, uint64_t seed, uint64_t offset);

/* The generator of the process, seeded by the system until tp_manual_seed. Borrowed: it lives as long
 * as the library, retain and release do nothing to it. */
TP_API tp_generator *tp_default_generator(void);
TP_API void tp_manual_seed(uint64_t seed);

TP_END_DECLS

#endif
