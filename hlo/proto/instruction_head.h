// What nearly every HloInstructionProto has, taken from the wire: a decoded message is hundreds of bytes that
// all have to be cleared for the next one, and these fields are most of a file.
#ifndef ASSAY_HLO_PROTO_INSTRUCTION_HEAD_H_
#define ASSAY_HLO_PROTO_INSTRUCTION_HEAD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "hlo/proto/wire.h"

namespace assay::proto {

// The fields of the same names; parts of the file. Of a field that stands twice the last counts,
// as in every decoder.
struct InstructionHead {
  std::string_view name, opcode, shape, metadata, frontend_attributes, statistics_viz;
  std::string_view comparison_direction, comparison_type;
  std::optional<std::string_view> literal;
  int64_t id = 0, parameter_number = 0, tuple_index = 0;
  using Ids = absl::InlinedVector<int64_t, 4>;
  Ids operand_ids, called_computation_ids, dimensions;
  std::string rest;  // all other fields: an HloInstructionProto

  // Errors: those of WireReader.
  absl::Status Read(std::string_view message);

 private:
  bool Take(const WireField& field);
  bool TakeBytes(int32_t number, std::string_view payload);
};

}  // namespace assay::proto

#endif  // ASSAY_HLO_PROTO_INSTRUCTION_HEAD_H_
