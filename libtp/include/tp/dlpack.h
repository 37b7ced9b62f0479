/* Exchange of tensors with other libraries without a copy: DLPack, the form before 1.0 and that of 1.x.
 *
 * The structures are those of the public header dlpack/dlpack.h, which a caller includes to look inside; here they
 * are only named, so either header may come first. */
#ifndef TP_DLPACK_H
#define TP_DLPACK_H

#include "tp/tensor.h"

TP_BEGIN_DECLS

struct DLManagedTensor;
struct DLManagedTensorVersioned;

/* Exports: the result shares the memory of t, keeps it alive, and is the caller's, who hands it on or calls its
 * deleter. Wrapped tensors have no memory: TP_ERR_RUNTIME. Read-only memory can't be said in the older form:
 * TP_ERR_BUFFER. `copied` sets the flag of 1.x that the memory was copied for this exchange. */
TP_API struct DLManagedTensor *tp_dlpack_export(tp_tensor *t);
TP_API struct DLManagedTensorVersioned *tp_dlpack_export_versioned(tp_tensor *t, bool copied);

/* Calls the deleter. NULL is ignored. */
TP_API void tp_dlpack_release(struct DLManagedTensor *managed);
TP_API void tp_dlpack_release_versioned(struct DLManagedTensorVersioned *managed);

/* Imports: on success the tensor owns `managed` and calls its deleter when the last alias dies; on failure (NULL)
 * it stays the caller's. TP_ERR_BUFFER: memory that is not the CPU's or not aligned, an element type without a
 * tp_dtype, a version that is too new. */
TP_API tp_tensor *tp_dlpack_import(struct DLManagedTensor *managed);
TP_API tp_tensor *tp_dlpack_import_versioned(struct DLManagedTensorVersioned *managed);

TP_END_DECLS
#endif
