#include "hlo/proto/instruction_head.h"

namespace assay::proto {
namespace {

// False, and nothing taken: the list is for the decoder to refuse.
bool TakePacked(std::string_view payload, InstructionHead::Ids* ids) {
  const size_t before = ids->size();
  WireReader numbers(payload);
  uint64_t value;
  while (!numbers.AtEnd()) {
    if (!numbers.ReadVarint(&value)) {
      ids->resize(before);
      return false;
    }
    ids->push_back(static_cast<int64_t>(value));
  }
  return true;
}

}  // namespace

absl::Status InstructionHead::Read(std::string_view message) {
  name = opcode = shape = metadata = frontend_attributes = statistics_viz = {};
  comparison_direction = comparison_type = {};
  literal.reset();
  id = parameter_number = tuple_index = 0;
  operand_ids.clear();
  called_computation_ids.clear();
  dimensions.clear();
  rest.clear();
  WireReader reader(message);
  WireField field;
  while (!reader.AtEnd()) {
    ASSAY_RETURN_IF_ERROR(reader.Next(&field));
    if (!Take(field)) rest += field.whole;
  }
  return absl::OkStatus();
}

bool InstructionHead::Take(const WireField& field) {
  if (field.is_bytes) return TakeBytes(field.number, field.payload);
  if (!field.is_varint) return false;
  switch (field.number) {
    case 9:
      parameter_number = static_cast<int64_t>(field.value);
      return true;
    case 13:
      tuple_index = static_cast<int64_t>(field.value);
      return true;
    case 14:
      dimensions.push_back(static_cast<int64_t>(field.value));
      return true;
    case 35:
      id = static_cast<int64_t>(field.value);
      return true;
    case 36:
      operand_ids.push_back(static_cast<int64_t>(field.value));
      return true;
    case 38:
      called_computation_ids.push_back(static_cast<int64_t>(field.value));
      return true;
    default:
      return false;
  }
}

bool InstructionHead::TakeBytes(int32_t number, std::string_view payload) {
  switch (number) {
    case 1:
      name = payload;
      return true;
    case 2:
      opcode = payload;
      return true;
    case 3:
      shape = payload;
      return true;
    case 7:
      metadata = payload;
      return true;
    case 8:
      literal = payload;
      return true;
    case 14:
      return TakePacked(payload, &dimensions);
    case 36:
      return TakePacked(payload, &operand_ids);
    case 38:
      return TakePacked(payload, &called_computation_ids);
    case 63:
      comparison_direction = payload;
      return true;
    case 68:
      frontend_attributes = payload;
      return true;
    case 72:
      comparison_type = payload;
      return true;
    case 82:
      statistics_viz = payload;
      return true;
    default:
      return false;
  }
}

}  // namespace assay::proto
