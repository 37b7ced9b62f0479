#ifndef TP_DLPACK_H
#define TP_DLPACK_H
#include "tp/tensor.h"
TP_BEGIN_DECLS
struct DLManagedTensor;
struct DLManagedTensorVersioned;
TP_API struct DLManagedTensor *tp_dlpack_export(tp_tensor *t);
TP_API struct DLManagedTensorVersioned *tp_dlpack_export_versioned(tp_tensor *t, bool copied);
TP_API void tp_dlpack_release(struct DLManagedTensor *managed);
TP_API void tp_dlpack_release_versioned(struct DLManagedTensorVersioned *managed);
TP_API tp_tensor *tp_dlpack_import(struct DLManagedTensor *managed);
TP_API tp_tensor *tp_dlpack_import_versioned(struct DLManagedTensorVersioned *managed);
TP_END_DECLS
#endif
