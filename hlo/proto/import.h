// HloModuleProto, HloProto and HloSnapshot to a Module (docs/spec/hlo-proto.md). Syntax only: Verify does the
// rest.
#ifndef ASSAY_HLO_PROTO_IMPORT_H_
#define ASSAY_HLO_PROTO_IMPORT_H_

#include <optional>
#include <string_view>
#include <vector>

#include "hlo/module.h"

namespace assay {

// The bytes hold a program in one of these messages. Text never does; messages cut off early may not either.
bool HoldsProtoModule(std::string_view bytes);
// Errors name the computation, the instruction and the field.
absl::StatusOr<Module> ImportProto(std::string_view bytes);

// What an HloSnapshot has beside the program.
struct Snapshot {
  std::vector<Literal> arguments;  // one for each parameter of the entry computation
  std::optional<Literal> result;
};
// Nothing where the bytes are no snapshot.
absl::StatusOr<std::optional<Snapshot>> ReadSnapshot(std::string_view bytes);

}  // namespace assay

#endif  // ASSAY_HLO_PROTO_IMPORT_H_
