// Protocol buffers written byte by byte, so that tests need no encoder and can write what none would.
#ifndef ASSAY_TESTS_HLO_PROTO_WIRE_BYTES_H_
#define ASSAY_TESTS_HLO_PROTO_WIRE_BYTES_H_

#include <cstdint>
#include <cstring>
#include <string>

namespace assay::wire {

inline std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
inline std::string Int(int field, int64_t value) {
  return Varint(static_cast<uint64_t>(field) << 3) + Varint(static_cast<uint64_t>(value));
}
inline std::string Bytes(int field, const std::string& payload) {
  return Varint(static_cast<uint64_t>(field) << 3 | 2) + Varint(payload.size()) + payload;
}
template <typename... Parts>
std::string Message(int field, const Parts&... parts) {
  return Bytes(field, (std::string() + ... + parts));
}
inline std::string Floats(int field, std::initializer_list<float> values) {
  std::string payload(values.size() * 4, '\0');
  std::memcpy(payload.data(), values.begin(), payload.size());
  return Bytes(field, payload);
}

// PrimitiveType numbers.
inline constexpr int kPred = 1, kS32 = 4, kF32 = 11, kTuple = 13;

// ShapeProto fields of an array in row-major layout, for up to two dimensions.
inline std::string Array(int type, std::initializer_list<int64_t> sizes) {
  std::string dims, order;
  for (const int64_t size : sizes) dims += Varint(static_cast<uint64_t>(size));
  for (size_t d = sizes.size(); d > 0; --d) order += Varint(d - 1);
  return Int(2, type) + Bytes(3, dims) + Message(5, Bytes(1, order));
}

// HloInstructionProto fields that every instruction needs.
inline std::string Op(int64_t id, const std::string& name, const std::string& opcode,
                      const std::string& shape) {
  return Bytes(1, name) + Bytes(2, opcode) + Bytes(3, shape) + Int(35, id);
}
inline std::string Operands(std::initializer_list<int64_t> ids) {
  std::string list;
  for (const int64_t id : ids) list += Varint(static_cast<uint64_t>(id));
  return Bytes(36, list);
}
// HloModuleProto of one computation; `instructions` are its Lines.
inline std::string OneComputation(const std::string& instructions, int64_t root,
                                  const std::string& more = {}) {
  return Bytes(1, "m") + Message(3, Bytes(1, "e"), instructions, Int(5, 1), Int(6, root)) + Int(6, 1) + more;
}
inline std::string Line(const std::string& fields) { return Bytes(2, fields); }

}  // namespace assay::wire

#endif  // ASSAY_TESTS_HLO_PROTO_WIRE_BYTES_H_
