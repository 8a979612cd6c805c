// The extensions of PJRT's C API that Assay has, as they lie in memory: the layouts' (type 4, version 3) and
// the FFI's (type 5, version 3). As in pjrt_api.h, names of fields and numbers are the interface's.
#ifndef ASSAY_PJRT_PLUGIN_EXTENSIONS_H_
#define ASSAY_PJRT_PLUGIN_EXTENSIONS_H_

#include "pjrt/plugin/pjrt_api.h"

namespace assay::pjrt {

struct MemoryLayout;

#define ASSAY_PJRT_STRUCT(Name, last, ...) \
  struct Name {                            \
    size_t struct_size;                    \
    Extension* extension_start;            \
    __VA_ARGS__                            \
  };                                       \
  template <>                              \
  inline constexpr size_t kSizeOf<Name> = offsetof(Name, last) + sizeof(Name::last);

// clang-format off
ASSAY_PJRT_STRUCT(LayoutsMemoryLayoutDestroyArgs, layout, MemoryLayout* layout;)
ASSAY_PJRT_STRUCT(LayoutsMemoryLayoutSerializeArgs, serialized_layout_deleter, MemoryLayout* layout;
                  const char* serialized_bytes; size_t serialized_bytes_size; OwnedBytes* serialized_layout;
                  void (*serialized_layout_deleter)(OwnedBytes* layout);)
ASSAY_PJRT_STRUCT(LayoutsPJRTBufferMemoryLayoutArgs, layout, Buffer* buffer; MemoryLayout* layout;)
ASSAY_PJRT_STRUCT(LayoutsPJRTClientGetDefaultLayoutArgs, layout, Client* client; BufferType type;
                  const int64_t* dims; size_t num_dims; MemoryLayout* layout;)
ASSAY_PJRT_STRUCT(LayoutsPJRTTopologyGetDefaultLayoutArgs, layout, TopologyDescription* topology_description;
                  BufferType type; const int64_t* dims; size_t num_dims; MemoryLayout* layout;)
ASSAY_PJRT_STRUCT(LayoutsPJRTExecutableGetOutputLayoutsArgs, layouts, Executable* executable;
                  size_t num_outputs; MemoryLayout * *layouts;)
ASSAY_PJRT_STRUCT(
    FFIUserDataAddArgs, user_data, ExecuteContext* context; struct {
      int64_t type_id;
      void* data;
    } user_data;)
ASSAY_PJRT_STRUCT(FFITypeRegisterArgs, type_info, const char* type_name; size_t type_name_size;
                  int64_t type_id; void* type_info;)
#undef ASSAY_PJRT_STRUCT
// clang-format on

// It has no list of extensions.
struct FFIRegisterHandlerArgs {
  size_t struct_size;
  const char* target_name;
  size_t target_name_size;
  void* handler;
  const char* platform_name;
  size_t platform_name_size;
  uint32_t traits;
};
template <>
inline constexpr size_t kSizeOf<FFIRegisterHandlerArgs> = offsetof(FFIRegisterHandlerArgs, traits) +
                                                          sizeof(uint32_t);

struct LayoutsExtension {
  Extension base;
  Function* memory_layout_destroy;
  Function* memory_layout_serialize;
  Function* client_get_default_layout;
  Function* buffer_memory_layout;
  Function* topology_get_default_layout;
  Function* executable_get_output_layouts;
};

struct FfiExtension {
  Extension base;
  Function* type_register;
  Function* user_data_add;
  Function* register_handler;
};

// For the table; the process' own.
Extension* LayoutsExtensionOfProcess();
Extension* FfiExtensionOfProcess();

}  // namespace assay::pjrt

#endif  // ASSAY_PJRT_PLUGIN_EXTENSIONS_H_
