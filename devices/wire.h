// Values as bytes, for processes that run the same program together: what one of them writes,
// another of the same build reads.
#ifndef ASSAY_DEVICES_WIRE_H_
#define ASSAY_DEVICES_WIRE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "literal/literal.h"

namespace assay {

class WireWriter {
 public:
  void Int(int64_t value);
  void Text(std::string_view text);
  void Ints(std::span<const int64_t> values);
  void Value(const Literal& value);
  void Values(std::span<const Literal> values);
  // Code, message and position.
  void Status(const absl::Status& status);

  std::string Take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads in the order in which was written. Bytes that end early are an error of ours, or of the other
// process: all that is read then is empty, and ok() false.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }
  int64_t Int();
  std::string Text();
  std::vector<int64_t> Ints();
  Literal Value();
  std::vector<Literal> Values();
  absl::Status Status();

 private:
  std::string_view Next(size_t count);

  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace assay

#endif  // ASSAY_DEVICES_WIRE_H_
