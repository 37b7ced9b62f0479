/* The reverse-mode graph. Internal.
 *
 * NOTE: ownership
 * A tracked handle owns a reference to its node; a node owns references to the nodes of its inputs (edges) and to
 * saved lower-level values, never to a tracked handle of its own level: there are no cycles. Nodes are released
 * through a thread-local worklist, so that a chain of a million nodes, or a payload whose destructor releases more
 * of them, needs no deep stack.
 *
 * NOTE: order
 * topo(node) = 1 + max(topo of its inputs). A heap by topo visits each node once, after all of its consumers.
 *
 * NOTE: chains of views on other memory
 * A chain is replayed on cotangents, tangents and batched copies of its root, whose memory is laid out differently. In
 * row-major order every chain that is possible in some layout is possible: splitting a dimension always is, and merging
 * two joins neighbours in the order of the indices. So these are made contiguous first.
 */
#ifndef TPI_GRAPH_H
#define TPI_GRAPH_H

#include <pthread.h>

#include "dispatch/op.h"
#include "tp/custom.h"

typedef struct tpi_edge {
    tp_node *node;          /* NULL: no cotangent wanted */
    uint32_t nr;
    int16_t arg, item;      /* argument of the operator; entry of a Tensor[] (else -1) */
    tp_tensor *meta;        /* set when the cotangent may have another shape than the input: sum to this one */
} tpi_edge;

/* A value kept for the backward pass. meta handles have kind TPI_META. */
typedef struct tpi_saved {
    tp_tensor *t;
    int64_t version;
    int32_t edge;           /* the edge it came through (tracked at the node's level), or -1 */
    int32_t result;         /* index of the output it is, or -1 */
} tpi_saved;

typedef struct tpi_hook {
    uint64_t id;
    uint32_t nr;
    tp_tensor *(*call)(void *payload, tp_tensor *grad);
    void (*destroy)(void *payload);
    void *payload;
    struct tpi_hook *next;
} tpi_hook;

/* Where backward() accumulates a gradient. Shared by handle and node, so neither owns the other. */
typedef struct tpi_gcell {
    _Atomic int32_t refs;
    pthread_mutex_t lock;
    tp_tensor *grad;
} tpi_gcell;

enum { TPI_NODE_OP = 0, TPI_NODE_LEAF = 1, TPI_NODE_WRITE = 2, TPI_NODE_CUSTOM = 3 };

struct tp_node {
    _Atomic int32_t refs;
    uint8_t kind;
    uint8_t freed;          /* saved values are gone */
    uint16_t nouts;
    uint64_t level, topo;
    const tp_op *op;
    int32_t nedges;
    tpi_edge *edges;
    /* TPI_NODE_OP: the call, its tensors replaced by saved values */
    tp_val *args;
    tpi_saved *saved;       /* one per Tensor argument and per Tensor[] entry, in order; then the saved results */
    int32_t nsaved, nargs_saved;
    /* TPI_NODE_WRITE */
    tpi_chain *chain;
    /* TPI_NODE_CUSTOM */
    tp_node_callbacks cb;
    void *payload;
    /* TPI_NODE_LEAF, retain_grad */
    tpi_gcell *gcell;
    uint32_t gcell_nr;
    tpi_hook *hooks;
    tp_node *next_dead;
};

tp_node *tpi_node_new(int kind, uint64_t level, int nedges, int nouts);
static inline void tpi_node_retain(tp_node *n) { atomic_fetch_add_explicit(&n->refs, 1, memory_order_relaxed); }
void tpi_node_release(tp_node *n);
void tpi_node_set_edge(tp_node *n, int i, tp_node *to, uint32_t nr);   /* retains `to`, raises topo */
void tpi_node_free_saved(tp_node *n);
tp_node *tpi_leaf_new(uint64_t level);

tpi_gcell *tpi_gcell_new(void);
void tpi_gcell_release(tpi_gcell *g);
int tpi_gcell_add(tpi_gcell *g, tp_tensor *grad);

/* A handle of `level`: value is consumed, node is retained (NULL: a constant). */
tp_tensor *tpi_tracked_new(tp_tensor *value, uint64_t level, int origin, tp_node *node, uint32_t nr);
tp_tensor *tpi_batched_new(tp_tensor *value, uint64_t level, int bdim);
tp_tensor *tpi_dual_new(tp_tensor *value, tp_tensor *tangent, uint64_t level, int origin);

/* Runs the rule of an operator node. grads: nouts entries; grads_in: nedges entries (new references). */
int tpi_node_backward(tp_node *n, tp_tensor *const *grads, bool create_graph, bool retain, tp_tensor **grads_in);

/* Saved values. */
int tpi_save(tpi_saved *s, tp_tensor *t, uint64_t level);
tp_tensor *tpi_unpack(const tpi_saved *s, const char *op);   /* new reference; version checked */

#endif
