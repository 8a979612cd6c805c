// Buffers: an array, or a token, in a memory of a device. All memories are the host's, and values are shared:
// a copy to another device copies nothing.
#ifndef ASSAY_PJRT_PLUGIN_BUFFER_H_
#define ASSAY_PJRT_PLUGIN_BUFFER_H_

#include <memory>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "literal/literal.h"
#include "pjrt/plugin/client.h"
#include "pjrt/plugin/pjrt_api.h"

namespace assay::pjrt {

struct Buffer {
 public:
  // `value`: an array without dynamic dimensions, or a token.
  Buffer(Memory* memory, Literal value);
  // A result of a run that failed after its call had been accepted; who asks for the value gets the error.
  Buffer(Memory* memory, std::shared_ptr<const Shape> shape, absl::Status failure);

  Memory* memory() const { return memory_; }
  const Shape& shape() const { return *shape_; }
  std::span<const int64_t> sizes() const {
    return shape_->IsArray() ? shape_->sizes() : std::span<const int64_t>();
  }
  // The order of dimensions that it says it has; its bytes are row-major whatever that is.
  const DimVector& minor_to_major() const { return minor_to_major_; }
  void set_minor_to_major(DimVector order) { minor_to_major_ = std::move(order); }
  bool IsRowMajor() const;
  int64_t num_bytes() const { return shape_->IsArray() ? shape_->num_bytes() : 0; }

  // The value, shared with the buffer. InvalidProgram: it was deleted, or given away.
  absl::StatusOr<Literal> Value() const;
  // The value, which the buffer has no longer.
  absl::StatusOr<Literal> Donate();
  void Delete();
  bool IsDeleted() const;
  absl::Status failure() const;

  // While there are such references the value stays where it is and as it is, even if the buffer is deleted.
  absl::Status AddReference();
  absl::Status DropReference();
  // Where the bytes lie. NotSupported: they don't lie as the buffer's layout says.
  absl::StatusOr<const void*> Address() const;

 private:
  absl::Status WhyEmpty() const;  // with the lock

  Memory* const memory_;
  const std::shared_ptr<const Shape> shape_;
  DimVector minor_to_major_;
  mutable std::mutex mutex_;
  std::optional<Literal> value_;  // guarded by mutex_, as what follows; nothing: deleted, or failed
  absl::Status failure_;
  std::optional<Literal> referred_;
  int64_t references_ = 0;
};

}  // namespace assay::pjrt

#endif  // ASSAY_PJRT_PLUGIN_BUFFER_H_
