#include "devices/wire.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "shape/shape_text.h"

namespace assay {
namespace {

enum class Kind : int64_t { kArray, kTuple, kToken };

}  // namespace

void WireWriter::Int(int64_t value) {
  char bytes[sizeof(value)];
  std::memcpy(bytes, &value, sizeof(value));
  bytes_.append(bytes, sizeof(value));
}

void WireWriter::Text(std::string_view text) {
  Int(static_cast<int64_t>(text.size()));
  bytes_ += text;
}

void WireWriter::Ints(std::span<const int64_t> values) {
  Int(std::ssize(values));
  for (int64_t value : values) Int(value);
}

void WireWriter::Value(const Literal& value) {
  const Shape& shape = value.shape();
  if (shape.IsToken()) return Int(static_cast<int64_t>(Kind::kToken));
  if (shape.IsTuple()) {
    Int(static_cast<int64_t>(Kind::kTuple));
    Int(value.tuple_size());
    for (int64_t i = 0; i < value.tuple_size(); ++i) Value(value.element(i));
    return;
  }
  Int(static_cast<int64_t>(Kind::kArray));
  Text(shape.ToString());
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.is_dynamic(d)) Int(value.dynamic_size(d));
  }
  const std::span<const std::byte> bytes = value.bytes();
  Text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void WireWriter::Values(std::span<const Literal> values) {
  Int(std::ssize(values));
  for (const Literal& value : values) Value(value);
}

void WireWriter::Status(const absl::Status& status) {
  Int(static_cast<int64_t>(status.code()));
  Text({status.message().data(), status.message().size()});
  const std::optional<SourcePosition> position = PositionOf(status);
  Int(position ? position->line : 0);
  Int(position ? position->column : 0);
}

std::string_view WireReader::Next(size_t count) {
  if (count > bytes_.size()) {
    ok_ = false;
    bytes_ = {};
    return {};
  }
  const std::string_view next = bytes_.substr(0, count);
  bytes_.remove_prefix(count);
  return next;
}

int64_t WireReader::Int() {
  int64_t value = 0;
  const std::string_view bytes = Next(sizeof(value));
  if (bytes.size() == sizeof(value)) std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

std::string WireReader::Text() { return std::string(Next(static_cast<size_t>(Int()))); }

std::vector<int64_t> WireReader::Ints() {
  std::vector<int64_t> values;
  for (int64_t n = Int(); n > 0 && ok_; --n) values.push_back(Int());
  return values;
}

Literal WireReader::Value() {
  const auto kind = static_cast<Kind>(Int());
  if (kind == Kind::kToken) return Literal::Token();
  if (kind == Kind::kTuple) {
    std::vector<Literal> elements;
    for (int64_t n = Int(); n > 0 && ok_; --n) elements.push_back(Value());
    return Literal::Tuple(std::move(elements));
  }
  const absl::StatusOr<Shape> shape = ParseShape(Text());
  ok_ = ok_ && shape.ok();
  absl::StatusOr<Literal> value = ok_ ? Literal::Make(*shape) : Literal();
  ok_ = ok_ && value.ok();
  if (!ok_) return Literal();
  for (int64_t d = 0; d < shape->rank(); ++d) {
    if (shape->is_dynamic(d)) value->set_dynamic_size(d, Int());
  }
  const std::string_view bytes = Next(static_cast<size_t>(Int()));
  const std::span<std::byte> to = value->MutableBytes();
  ok_ = ok_ && bytes.size() == to.size();
  if (ok_ && !bytes.empty()) std::memcpy(to.data(), bytes.data(), bytes.size());
  return *std::move(value);
}

std::vector<Literal> WireReader::Values() {
  std::vector<Literal> values;
  for (int64_t n = Int(); n > 0 && ok_; --n) values.push_back(Value());
  return values;
}

absl::Status WireReader::Status() {
  const auto code = static_cast<absl::StatusCode>(Int());
  const std::string message = Text();
  const auto line = static_cast<int32_t>(Int()), column = static_cast<int32_t>(Int());
  if (code == absl::StatusCode::kOk) return absl::OkStatus();
  absl::Status status(code, message);
  return line > 0 ? WithPosition(std::move(status), {line, column}) : status;
}

}  // namespace assay
