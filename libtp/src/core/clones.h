/* TP_CLONES before a function compiles it for baseline, AVX2 and AVX-512; the loader picks. */
#ifndef TPI_CORE_CLONES_H
#define TPI_CORE_CLONES_H

/* The resolvers run before a sanitizer's runtime is up, and clang has no arch= clones. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && \
    !defined(TP_SANITIZE) && !defined(TP_NO_CLONES)
#define TP_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TP_CLONES
#endif

#endif
