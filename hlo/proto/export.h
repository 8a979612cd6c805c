// A Module as a serialized HloModuleProto (docs/spec/hlo-proto.md section 8).
#ifndef ASSAY_HLO_PROTO_EXPORT_H_
#define ASSAY_HLO_PROTO_EXPORT_H_

#include <string>

#include "hlo/module.h"

namespace assay {

// Every instruction must have a shape (Verify fills them in). Ids are canonical, names unique in the module;
// equal modules give equal bytes. What XLA's message has no place for (replica_count,
// num_partitions, origins) stands in fields that XLA skips. NotSupported:
// layouts with padded dimensions, sparsity_config.
absl::StatusOr<std::string> ExportProto(const Module& module);

}  // namespace assay

#endif  // ASSAY_HLO_PROTO_EXPORT_H_
