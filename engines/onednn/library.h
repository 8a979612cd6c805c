// The functions of libdnnl.so.2, found when the library is loaded.
// Only the .cc files of this folder include it.
#ifndef ASSAY_ENGINES_ONEDNN_LIBRARY_H_
#define ASSAY_ENGINES_ONEDNN_LIBRARY_H_

#include <oneapi/dnnl/dnnl.h>

#include "base/error.h"
#include "jit/isa.h"

namespace assay::onednn {

#define ASSAY_DNNL_FUNCTIONS(F)                                                  \
  F(convolution_desc_init, dnnl_dilated_convolution_forward_desc_init)           \
  F(engine_create, dnnl_engine_create)                                           \
  F(matmul_desc_init, dnnl_matmul_desc_init)                                     \
  F(memory_create, dnnl_memory_create)                                           \
  F(memory_desc_equal, dnnl_memory_desc_equal)                                   \
  F(memory_desc_get_size, dnnl_memory_desc_get_size)                             \
  F(memory_desc_init_by_strides, dnnl_memory_desc_init_by_strides)               \
  F(memory_desc_init_by_tag, dnnl_memory_desc_init_by_tag)                       \
  F(memory_destroy, dnnl_memory_destroy)                                         \
  F(primitive_attr_create, dnnl_primitive_attr_create)                           \
  F(primitive_attr_destroy, dnnl_primitive_attr_destroy)                         \
  F(primitive_attr_set_scratchpad_mode, dnnl_primitive_attr_set_scratchpad_mode) \
  F(primitive_create, dnnl_primitive_create)                                     \
  F(primitive_desc_create, dnnl_primitive_desc_create)                           \
  F(primitive_desc_destroy, dnnl_primitive_desc_destroy)                         \
  F(primitive_desc_query, dnnl_primitive_desc_query)                             \
  F(primitive_desc_query_md, dnnl_primitive_desc_query_md)                       \
  F(primitive_destroy, dnnl_primitive_destroy)                                   \
  F(primitive_execute, dnnl_primitive_execute)                                   \
  F(reorder_primitive_desc_create, dnnl_reorder_primitive_desc_create)           \
  F(set_default_fpmath_mode, dnnl_set_default_fpmath_mode)                       \
  F(set_jit_dump, dnnl_set_jit_dump)                                             \
  F(set_max_cpu_isa, dnnl_set_max_cpu_isa)                                       \
  F(set_verbose, dnnl_set_verbose)                                               \
  F(stream_create, dnnl_stream_create)                                           \
  F(stream_wait, dnnl_stream_wait)                                               \
  F(version, dnnl_version)

struct Library {
#define F(name, symbol) decltype(&::symbol) name = nullptr;
  ASSAY_DNNL_FUNCTIONS(F)
#undef F
  void (*set_num_threads)(int) = nullptr;  // of the OpenMP that the library runs on; null: it has another
  int (*get_num_procs)() = nullptr;
  dnnl_engine_t engine = nullptr;
  dnnl_stream_t stream = nullptr;
  Isa isa = Isa::kBaseline;
};

// Loads it, the first time. One process has it for one instruction set. NotSupported with the reason where
// there is none.
absl::StatusOr<const Library*> GetLibrary(Isa isa);

// EvalError unless oneDNN says that `what` went well.
absl::Status Check(dnnl_status_t status, const char* what);

}  // namespace assay::onednn

#endif  // ASSAY_ENGINES_ONEDNN_LIBRARY_H_
