// Tags, varints and lengths, and which container a file is.
#include "hlo/proto/wire.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message_lite.h>

#include <algorithm>
#include <limits>

#include "base/counted.h"
#include "base/limits.h"
#include "fmt/format.h"

namespace assay::proto {
namespace {

// The first payload of field `number`; errors end the search.
std::optional<std::string_view> FindBytes(std::string_view message, int32_t number) {
  WireReader reader(message);
  WireField field;
  while (!reader.AtEnd() && reader.Next(&field).ok()) {
    if (field.number == number && field.is_bytes) return field.payload;
  }
  return std::nullopt;
}

bool LooksLikeOpcode(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
}

// computations[0].instructions[0].opcode is a word.
bool IsModule(std::string_view bytes) {
  const auto computation = FindBytes(bytes, 3);
  if (!computation) return false;
  const auto instruction = FindBytes(*computation, 2);
  if (!instruction) return false;
  const auto opcode = FindBytes(*instruction, 2);
  return opcode && LooksLikeOpcode(*opcode);
}

std::optional<Container> FindContainer(std::string_view bytes) {
  Container container{.module = bytes};
  if (IsModule(bytes)) return container;
  const auto first = FindBytes(bytes, 1);
  if (!first) return std::nullopt;
  container.kind = Container::Kind::kHloProto;
  container.module = *first;
  if (IsModule(*first)) return container;
  const auto inner = FindBytes(*first, 1);
  if (!inner || !IsModule(*inner)) return std::nullopt;
  container.kind = Container::Kind::kSnapshot;
  container.module = *inner;
  return container;
}

}  // namespace

bool WireReader::ReadLongVarint(uint64_t* value) {
  const char* const bytes = message_.data() + at_;
  const size_t most = std::min<size_t>(message_.size() - at_, 10);
  uint64_t result = 0;
  for (size_t i = 0; i < most; ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    if (i == 9 && byte > 1) return false;
    result |= uint64_t{byte & 0x7fu} << (7 * i);
    if (byte >= 0x80) continue;
    at_ += i + 1;
    *value = result;
    return true;
  }
  return false;
}

absl::Status WireReader::NextAny(WireField* field) {
  const size_t start = at_;
  uint64_t tag;
  if (!ReadVarint(&tag) || tag >> 3 == 0 || tag >> 3 > kMaxFieldNumber) {
    return InvalidProgram({}, fmt::format("byte {} starts no field: want a tag", start));
  }
  *field = {.number = static_cast<int32_t>(tag >> 3)};
  const auto bad = [&](std::string_view what) {
    return InvalidProgram({}, fmt::format("field {} at byte {}: {}", field->number, start, what));
  };
  uint64_t length = 0;
  switch (tag & 7) {
    case kVarint:
      field->is_varint = true;
      if (!ReadVarint(&field->value)) return bad("the varint has no end within 10 bytes");
      break;
    case kFixed64:
      length = 8;
      break;
    case kFixed32:
      length = 4;
      break;
    case kBytes:
      field->is_bytes = true;
      if (!ReadVarint(&length)) return bad("the length has no end within 10 bytes");
      break;
    default:
      return bad(fmt::format("wire type is {}, want 0, 1, 2 or 5", tag & 7));
  }
  if (length > message_.size() - at_) {
    return bad(fmt::format("length is {}, but {} bytes are left", length, message_.size() - at_));
  }
  field->payload = {message_.data() + at_, static_cast<size_t>(length)};
  at_ += length;
  field->whole = {message_.data() + start, at_ - start};
  return absl::OkStatus();
}

bool HoldsModule(std::string_view bytes) { return FindContainer(bytes).has_value(); }

absl::StatusOr<Container> OpenContainer(std::string_view bytes) {
  std::optional<Container> container = FindContainer(bytes);
  WireReader reader(bytes);
  WireField field;
  while (!reader.AtEnd()) {
    ASSAY_RETURN_IF_ERROR(WithPrefix(reader.Next(&field), "protocol buffer"));
    if (!container || !field.is_bytes) continue;
    if (container->kind == Container::Kind::kHloProto && field.number == 2) container->config = field.payload;
    if (container->kind != Container::Kind::kSnapshot) continue;
    if (field.number == 2) container->arguments.push_back(field.payload);
    if (field.number == 3) container->result = field.payload;
  }
  if (container) return *std::move(container);
  return InvalidProgram({},
                        "the file is neither text nor an HloModuleProto, HloProto or HloSnapshot: found no "
                        "computation (field 3) with an instruction (field 2) that has an opcode (field 2)");
}

absl::Status SplitMessage(std::string_view message, std::initializer_list<WireParts> parts,
                          std::string* rest) {
  WireReader reader(message);
  WireField field;
  while (!reader.AtEnd()) {
    ASSAY_RETURN_IF_ERROR(reader.Next(&field));
    const auto part = std::find_if(parts.begin(), parts.end(),
                                   [&](const WireParts& p) { return p.number == field.number; });
    if (part != parts.end() && field.is_bytes) {
      part->payloads->push_back(field.payload);
    } else {
      *rest += field.whole;
    }
  }
  return absl::OkStatus();
}

absl::Status Decode(std::string_view bytes, std::string_view name, google::protobuf::MessageLite* message) {
  constexpr int kMaxLevels = kMaxNesting + 8;
  if (bytes.size() > std::numeric_limits<int32_t>::max()) {
    return ProgramLimitExceeded({}, fmt::format("bytes of one {}", name), static_cast<int64_t>(bytes.size()),
                                std::numeric_limits<int32_t>::max());
  }
  // Straight from the array, which nests up to 100 levels; deeper ones, which are rare,
  // from a stream with our limit.
  if (message->ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()))) return absl::OkStatus();
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(bytes.data()),
                                            static_cast<int>(bytes.size()));
  in.SetRecursionLimit(kMaxLevels);
  in.SetTotalBytesLimit(static_cast<int>(bytes.size()));
  message->Clear();
  if (message->MergePartialFromCodedStream(&in) && in.ConsumedEntireMessage()) return absl::OkStatus();
  // The decoder does not say why; the fault is in the outermost level, or further in.
  WireReader reader(bytes);
  WireField field;
  while (!reader.AtEnd()) ASSAY_RETURN_IF_ERROR(WithPrefix(reader.Next(&field), name));
  return InvalidProgram({}, fmt::format("{} of {} can't be decoded: a varint, a length or a wire type in a "
                                        "message inside is wrong, or messages nest deeper than {} levels",
                                        name, Counted(bytes.size(), "byte"), kMaxLevels));
}

}  // namespace assay::proto
