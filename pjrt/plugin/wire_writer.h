// Protocol buffers on the wire, as far as the plugin writes some itself.
#ifndef ASSAY_PJRT_PLUGIN_WIRE_WRITER_H_
#define ASSAY_PJRT_PLUGIN_WIRE_WRITER_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace assay::pjrt {

class WireWriter {
 public:
  void Varint(int32_t field, uint64_t value) {
    Raw(static_cast<uint64_t>(field) << 3);
    Raw(value);
  }
  void Bytes(int32_t field, std::string_view bytes) {
    Raw(static_cast<uint64_t>(field) << 3 | 2);
    Raw(bytes.size());
    bytes_ += bytes;
  }
  void Packed(int32_t field, std::span<const int64_t> values) {
    WireWriter list;
    for (const int64_t value : values) list.Raw(static_cast<uint64_t>(value));
    Bytes(field, list.bytes_);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void Raw(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

}  // namespace assay::pjrt

#endif  // ASSAY_PJRT_PLUGIN_WIRE_WRITER_H_
