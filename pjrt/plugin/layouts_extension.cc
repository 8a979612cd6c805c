// Layouts: every array has its dimensions in row-major order, but for buffers that
// were made with another one.
#include <memory>
#include <string>

#include "base/counted.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "pjrt/plugin/buffer.h"
#include "pjrt/plugin/element_types.h"
#include "pjrt/plugin/error.h"
#include "pjrt/plugin/executable.h"
#include "pjrt/plugin/extensions.h"
#include "pjrt/plugin/function_table.h"
#include "pjrt/plugin/owned_bytes.h"

namespace assay::pjrt {
namespace {

absl::Status DestroyLayout(LayoutsMemoryLayoutDestroyArgs& args) {
  delete args.layout;
  return absl::OkStatus();
}

// HLO's text: {1,0}.
absl::Status SerializeLayout(LayoutsMemoryLayoutSerializeArgs& args) {
  ASSAY_PJRT_WANT(layout);
  args.serialized_layout = GiveBytes(fmt::format("{{{}}}", fmt::join(args.layout->minor_to_major, ",")),
                                     &args.serialized_bytes, &args.serialized_bytes_size);
  args.serialized_layout_deleter = DeleteBytes;
  return absl::OkStatus();
}

absl::StatusOr<MemoryLayout*> DefaultLayout(BufferType type, size_t num_dims) {
  if (type != BufferType::kToken && !ElementTypeOf(type))
    return InvalidProgram({}, fmt::format("there is no buffer type {}", static_cast<int32_t>(type)));
  if (num_dims > kMaxRank)
    return InvalidProgram({}, fmt::format("{}, want at most {}", Counted(num_dims, "dimension"), kMaxRank));
  return new MemoryLayout{RowMajorOrder(static_cast<int64_t>(num_dims))};
}

absl::Status ClientDefaultLayout(LayoutsPJRTClientGetDefaultLayoutArgs& args) {
  ASSAY_PJRT_WANT(client);
  ASSAY_ASSIGN_OR_RETURN(args.layout, DefaultLayout(args.type, args.num_dims));
  return absl::OkStatus();
}

absl::Status TopologyDefaultLayout(LayoutsPJRTTopologyGetDefaultLayoutArgs& args) {
  ASSAY_PJRT_WANT(topology_description);
  ASSAY_ASSIGN_OR_RETURN(args.layout, DefaultLayout(args.type, args.num_dims));
  return absl::OkStatus();
}

absl::Status BufferLayout(LayoutsPJRTBufferMemoryLayoutArgs& args) {
  ASSAY_PJRT_WANT(buffer);
  args.layout = new MemoryLayout{args.buffer->minor_to_major()};
  return absl::OkStatus();
}

absl::Status OutputLayouts(LayoutsPJRTExecutableGetOutputLayoutsArgs& args) {
  ASSAY_PJRT_WANT(executable);
  args.num_outputs = args.executable->output_layout_handles.size();
  args.layouts = args.executable->output_layout_handles.data();
  return absl::OkStatus();
}

}  // namespace

Extension* LayoutsExtensionOfProcess() {
  static LayoutsExtension& extension = *new LayoutsExtension{
      {sizeof(LayoutsExtension), ExtensionType::kLayouts, nullptr},
      internal::Entry<&DestroyLayout>,
      internal::Entry<&SerializeLayout>,
      internal::Entry<&ClientDefaultLayout>,
      internal::Entry<&BufferLayout>,
      internal::Entry<&TopologyDefaultLayout>,
      internal::Entry<&OutputLayouts>,
  };
  return &extension.base;
}

}  // namespace assay::pjrt
