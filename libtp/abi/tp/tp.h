#ifndef TP_TP_H
#define TP_TP_H
#include <tp/common.h>
#include <tp/custom.h>
#include <tp/dlpack.h>
#include <tp/dtype.h>
#include <tp/error.h>
#include <tp/level.h>
#include <tp/ops.h>
#include <tp/random.h>
#include <tp/registry.h>
#include <tp/runtime.h>
#include <tp/tensor.h>
#include <tp/transform.h>
#endif
