#include "tp/dlpack.h"

#include "core/error.h"
#include "tensor/tensor.h"

/* ---- the public ABI of DLPack 1.x ---- */
typedef struct DLDevice {
    int32_t device_type;
    int32_t device_id;
} DLDevice;

typedef struct DLDataType {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} DLDataType;

typedef struct DLTensor {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: row-major */
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

typedef struct DLPackVersion {
    uint32_t major;
    uint32_t minor;
} DLPackVersion;

typedef struct DLManagedTensorVersioned {
    DLPackVersion version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

enum { DL_CPU = 1 };
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_COMPLEX = 5, DL_BOOL = 6 };
enum { DL_READ_ONLY = 1, DL_IS_COPIED = 2 };

static const DLDataType dl_types[TP_DTYPE_COUNT] = {
    [TP_BOOL] = {DL_BOOL, 8, 1},      [TP_UINT8] = {DL_UINT, 8, 1},         [TP_INT8] = {DL_INT, 8, 1},
    [TP_UINT16] = {DL_UINT, 16, 1},   [TP_INT16] = {DL_INT, 16, 1},         [TP_UINT32] = {DL_UINT, 32, 1},
    [TP_INT32] = {DL_INT, 32, 1},     [TP_UINT64] = {DL_UINT, 64, 1},       [TP_INT64] = {DL_INT, 64, 1},
    [TP_FLOAT16] = {DL_FLOAT, 16, 1}, [TP_BFLOAT16] = {DL_BFLOAT, 16, 1},   [TP_FLOAT32] = {DL_FLOAT, 32, 1},
    [TP_FLOAT64] = {DL_FLOAT, 64, 1}, [TP_COMPLEX64] = {DL_COMPLEX, 64, 1}, [TP_COMPLEX128] = {DL_COMPLEX, 128, 1},
};

/* ---- export ---- */
/* One block: the managed tensor, then shape and strides. `alias` keeps the memory when t's content is replaced. */
typedef struct exported {
    union {
        DLManagedTensor old;
        DLManagedTensorVersioned versioned;
    } managed;
    size_t bytes;
    tp_tensor *alias;
    int64_t dims[];
} exported;

static void drop(exported *e)
{
    tp_tensor *alias = e->alias;
    tpi_free(e, e->bytes);
    tp_release(alias);
}

static void delete_old(DLManagedTensor *m) { drop(m->manager_ctx); }
static void delete_versioned(DLManagedTensorVersioned *m) { drop(m->manager_ctx); }

static exported *export_block(tp_tensor *t, DLTensor *(*place)(exported *))
{
    if (tp_is_wrapped(t))
        return tpi_null(TP_ERR_RUNTIME, "dlpack: a tensor inside a transform has no memory of its own");
    tp_tensor *alias = tp_detach(t);
    if (!alias) return NULL;
    int ndim = alias->ndim;
    size_t bytes = sizeof(exported) + 2 * (size_t)ndim * sizeof(int64_t);
    exported *e = tpi_calloc(bytes);
    if (!e) {
        tp_release(alias);
        return NULL;
    }
    e->bytes = bytes;
    e->alias = alias;
    for (int d = 0; d < ndim; d++) {
        e->dims[d] = alias->shape[d];
        e->dims[ndim + d] = alias->strides[d];
    }
    *place(e) = (DLTensor){
        .data = alias->numel ? tpi_data(alias) : NULL,
        .device = {DL_CPU, 0},
        .ndim = ndim,
        .dtype = dl_types[alias->dtype],
        .shape = e->dims,
        .strides = e->dims + ndim,
    };
    return e;
}

static DLTensor *place_old(exported *e) { return &e->managed.old.dl_tensor; }
static DLTensor *place_versioned(exported *e) { return &e->managed.versioned.dl_tensor; }

DLManagedTensor *tp_dlpack_export(tp_tensor *t)
{
    if (!tp_is_wrapped(t) && tp_is_readonly(t))
        return tpi_null(TP_ERR_BUFFER, "dlpack: read-only memory can only be exported with max_version >= (1, 0)");
    exported *e = export_block(t, place_old);
    if (!e) return NULL;
    e->managed.old.manager_ctx = e;
    e->managed.old.deleter = delete_old;
    return &e->managed.old;
}

DLManagedTensorVersioned *tp_dlpack_export_versioned(tp_tensor *t, bool copied)
{
    exported *e = export_block(t, place_versioned);
    if (!e) return NULL;
    DLManagedTensorVersioned *m = &e->managed.versioned;
    m->version = (DLPackVersion){1, 0};
    m->manager_ctx = e;
    m->deleter = delete_versioned;
    m->flags = (tp_is_readonly(e->alias) ? DL_READ_ONLY : 0) | (copied ? DL_IS_COPIED : 0);
    return m;
}

void tp_dlpack_release(DLManagedTensor *m)
{
    if (m && m->deleter) m->deleter(m);
}

void tp_dlpack_release_versioned(DLManagedTensorVersioned *m)
{
    if (m && m->deleter) m->deleter(m);
}

/* ---- import ---- */
typedef struct imported {
    DLManagedTensor *old;
    DLManagedTensorVersioned *versioned;
    bool owns; /* false until the import has succeeded: what fails stays the caller's */
} imported;

static void delete_imported(void *payload)
{
    imported *p = payload;
    if (p->owns) {
        tp_dlpack_release(p->old);
        tp_dlpack_release_versioned(p->versioned);
    }
    tpi_free(p, sizeof *p);
}

static tp_tensor *import(const DLTensor *dl, bool readonly, DLManagedTensor *old, DLManagedTensorVersioned *versioned)
{
    if (dl->device.device_type != DL_CPU)
        return tpi_null(TP_ERR_BUFFER, "from_dlpack: device type %d is not the CPU", (int)dl->device.device_type);
    if (dl->ndim < 0 || dl->ndim > TP_MAX_NDIM)
        return tpi_null(TP_ERR_BUFFER, "from_dlpack: %d dimensions, at most %d are possible", (int)dl->ndim,
                        TP_MAX_NDIM);
    int dtype = 0;
    while (dtype < TP_DTYPE_COUNT &&
           (dl_types[dtype].code != dl->dtype.code || dl_types[dtype].bits != dl->dtype.bits || dl->dtype.lanes != 1))
        dtype++;
    if (dtype == TP_DTYPE_COUNT)
        return tpi_null(TP_ERR_BUFFER, "from_dlpack: no dtype for elements of code %d, %d bits, %d lanes",
                        dl->dtype.code, dl->dtype.bits, dl->dtype.lanes);
    int64_t numel;
    for (int d = 0; d < dl->ndim; d++)
        if (dl->shape[d] < 0)
            return tpi_null(TP_ERR_BUFFER, "from_dlpack: negative size %lld", (long long)dl->shape[d]);
    if (tpi_numel("from_dlpack", dl->ndim, dl->shape, &numel)) return NULL;
    char *data = dl->data ? (char *)dl->data + dl->byte_offset : NULL;
    if (numel && !data) return tpi_null(TP_ERR_BUFFER, "from_dlpack: no memory for %lld elements", (long long)numel);
    size_t align = (size_t)tpi_esize(dtype) / (tpi_is_complex(dtype) ? 2 : 1);
    if ((uintptr_t)data % align) return tpi_null(TP_ERR_BUFFER, "from_dlpack: memory is not aligned to its elements");
    imported *p = tpi_alloc(sizeof *p);
    if (!p) return NULL;
    *p = (imported){old, versioned, false};
    tp_tensor *t = tp_from_memory(data, dtype, dl->ndim, dl->shape, dl->strides, readonly, delete_imported, p);
    if (t) p->owns = true;
    return t;
}

tp_tensor *tp_dlpack_import(DLManagedTensor *m) { return import(&m->dl_tensor, false, m, NULL); }

tp_tensor *tp_dlpack_import_versioned(DLManagedTensorVersioned *m)
{
    if (m->version.major != 1)
        return tpi_null(TP_ERR_BUFFER, "from_dlpack: version %u.%u, supported is 1.x", (unsigned)m->version.major,
                        (unsigned)m->version.minor);
    return import(&m->dl_tensor, (m->flags & DL_READ_ONLY) != 0, NULL, m);
}
