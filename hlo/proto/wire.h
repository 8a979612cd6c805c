// The wire form of protocol buffers, one level at a time and without a copy: what tells a module from what
// may contain one, and what takes large messages apart, so that no more than one
// instruction is decoded at a time.
//
// Errors say which field, where in its message, and what was found; `where` prefixes are the caller's.
#ifndef ASSAY_HLO_PROTO_WIRE_H_
#define ASSAY_HLO_PROTO_WIRE_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace google::protobuf {
class MessageLite;
}

namespace assay::proto {

struct WireField {
  int32_t number = 0;
  bool is_varint = false;
  bool is_bytes = false;     // length-delimited: a string, a message or a packed list
  uint64_t value = 0;        // of a varint; the length of length-delimited ones
  std::string_view payload;  // of length-delimited fields
  std::string_view whole;    // tag and all
};

class WireReader {
 public:
  explicit WireReader(std::string_view message) : message_(message) {}
  bool AtEnd() const { return at_ == message_.size(); }
  absl::Status Next(WireField* field) { return NextUsual(field) ? absl::OkStatus() : NextAny(field); }
  // The next field if it is a varint or length-delimited and there is nothing wrong with it, else false, and
  // nothing is taken.
  bool NextUsual(WireField* field);
  // Reads a number of a packed list's payload. False: it has no end within 10 bytes.
  bool ReadVarint(uint64_t* value) {
    // One byte or two: small numbers, and the tags of nearly all fields.
    const size_t left = message_.size() - at_;
    const auto byte = [this](size_t i) { return uint32_t{static_cast<uint8_t>(message_[at_ + i])}; };
    if (left > 0 && byte(0) < 0x80) {
      *value = byte(0);
      at_ += 1;
      return true;
    }
    if (left > 1 && byte(1) < 0x80) {
      *value = (byte(0) & 0x7f) | byte(1) << 7;
      at_ += 2;
      return true;
    }
    return ReadLongVarint(value);
  }

 private:
  enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
  static constexpr uint64_t kMaxFieldNumber = (uint64_t{1} << 29) - 1;
  absl::Status NextAny(WireField* field);
  bool ReadLongVarint(uint64_t* value);

  std::string_view message_;
  size_t at_ = 0;
};

inline bool WireReader::NextUsual(WireField* field) {
  const size_t start = at_;
  uint64_t tag, value;
  if (ReadVarint(&tag) && tag >> 3 != 0 && tag >> 3 <= kMaxFieldNumber && ReadVarint(&value)) {
    const uint32_t type = tag & 7;
    const uint64_t length = type == kBytes ? value : 0;
    if ((type == kVarint || type == kBytes) && length <= message_.size() - at_) {
      field->number = static_cast<int32_t>(tag >> 3);
      field->is_varint = type == kVarint;
      field->is_bytes = type == kBytes;
      field->value = value;
      field->payload = {message_.data() + at_, static_cast<size_t>(length)};
      at_ += static_cast<size_t>(length);
      field->whole = {message_.data() + start, at_ - start};
      return true;
    }
  }
  at_ = start;
  return false;
}

// A file that holds a program, and where in it the parts are.
struct Container {
  enum class Kind : uint8_t { kModule, kHloProto, kSnapshot };
  Kind kind = Kind::kModule;
  std::string_view module;                  // HloModuleProto
  std::string_view config;                  // HloModuleConfigProto; empty: none
  std::vector<std::string_view> arguments;  // LiteralProto, of a snapshot
  std::optional<std::string_view> result;
};

// True if the bytes hold an HloModuleProto, or an HloProto or HloSnapshot with one. Text never does.
bool HoldsModule(std::string_view bytes);
absl::StatusOr<Container> OpenContainer(std::string_view bytes);

struct WireParts {
  int32_t number;
  std::vector<std::string_view>* payloads;
};
// Splits a message: the payloads of the fields in `parts` go there, all other fields to `rest`.
absl::Status SplitMessage(std::string_view message, std::initializer_list<WireParts> parts,
                          std::string* rest);

// Decodes a whole message; nothing of it is looked at yet. `name` is the message's, for errors.
absl::Status Decode(std::string_view bytes, std::string_view name, google::protobuf::MessageLite* message);

}  // namespace assay::proto

#endif  // ASSAY_HLO_PROTO_WIRE_H_
