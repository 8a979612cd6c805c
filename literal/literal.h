// A value: a dense array, a tuple of values, a token or an opaque handle.
//
// Arrays are stored row-major in logical order whatever the shape's layout says, one element in Bytes(type)
// bytes (docs/spec/shapes.md section 2). Copying a Literal shares its storage; tuples and get-tuple-element
// copy nothing. Storage is written only through MutableBytes, which first makes it unshared.
//
// A dynamic dimension's run-time size travels with the value (DYN-1); elements at or beyond it are dead and
// hold zero.
#ifndef ASSAY_LITERAL_LITERAL_H_
#define ASSAY_LITERAL_LITERAL_H_

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/error.h"
#include "base/memory_budget.h"
#include "shape/shape.h"

namespace assay {

// The bytes of an array in the memory of a device.
class DeviceArray {
 public:
  virtual ~DeviceArray() = default;
  // Copies them to the host, behind all that the device was told to do before.
  virtual absl::Status CopyOut(std::span<std::byte> host) = 0;
  // The copy failed where nobody asks for errors (Literal::bytes):
  // the run that the array is of must end with this one.
  virtual void Lost(const absl::Status& why) = 0;
};

class Literal {
 public:
  Literal() = default;  // the empty tuple

  // An array (or token, opaque; or a tuple of them) of the shape. Arrays are zero unless `zero` is false.
  // Dynamic dimensions start with their bound as run-time size. Without a budget, that of the BudgetScope
  // counts. Errors: MemoryLimitExceeded and OutOfMemory, naming shape and bytes.
  static absl::StatusOr<Literal> Make(std::shared_ptr<const Shape> shape,
                                      const std::shared_ptr<MemoryBudget>& budget = nullptr,
                                      bool zero = true);
  static absl::StatusOr<Literal> Make(const Shape& shape);
  static Literal Tuple(std::shared_ptr<const Shape> shape, std::vector<Literal> elements);
  static Literal Tuple(std::vector<Literal> elements);  // the shape follows from the elements
  static Literal Token();
  // A dense array that lies in memory of the caller's, which `owner` keeps alive and unchanged as long as any
  // Literal shares it. It is never written: MutableBytes and Unshare copy it first.
  static Literal Borrow(std::shared_ptr<const Shape> shape, std::span<const std::byte> bytes,
                        std::shared_ptr<const void> owner);
  // A dense array whose bytes lie on a device alone, until somebody asks for them here. Counted like Make's.
  static absl::StatusOr<Literal> OnDevice(std::shared_ptr<const Shape> shape,
                                          std::shared_ptr<DeviceArray> array,
                                          const std::shared_ptr<MemoryBudget>& budget = nullptr);

  // Small arrays for tests and tools: values are rounded or wrapped to the type.
  static Literal FromInts(ElementType type, std::span<const int64_t> sizes, std::span<const int64_t> values);
  static Literal FromDoubles(ElementType type, std::span<const int64_t> sizes,
                             std::span<const double> values);
  static Literal ScalarInt(ElementType type, int64_t value) { return FromInts(type, {}, {&value, 1}); }
  static Literal ScalarDouble(ElementType type, double value) { return FromDoubles(type, {}, {&value, 1}); }

  const Shape& shape() const { return shape_ != nullptr ? *shape_ : *EmptyTupleShape(); }
  const std::shared_ptr<const Shape>& shared_shape() const {
    return shape_ != nullptr ? shape_ : EmptyTupleShape();
  }

  // Arrays: num_elements() * Bytes(element_type()) bytes in row-major logical order. Bytes that lie on a
  // device alone are copied first, and stay; where that fails they are zero and DeviceArray::Lost says so.
  std::span<const std::byte> bytes() const;
  // The same with the error: bytes() has nothing to copy when it gave OK. Tuples: all elements.
  absl::Status Fetch() const;
  std::span<std::byte> MutableBytes();
  // Copies the storage if it is shared, so that MutableBytes has nothing left to copy. Called before it
  // where a copy may be large: only this can report LimitExceeded.
  absl::Status Unshare();
  const std::byte* data() const { return bytes().data(); }
  bool SharesStorageWith(const Literal& other) const { return data_ != nullptr && data_ == other.data_; }
  // True when no other Literal shares the storage and it is our own: MutableBytes copies nothing.
  bool IsUnique() const;

  // Where the array lies on a device, alone or besides; null where it does not. MutableBytes ends that.
  std::shared_ptr<DeviceArray> device_array() const;
  // Remembers a copy of the bytes on a device, for the next that wants them there, in place of another.
  void KeepOnDevice(std::shared_ptr<DeviceArray> array) const;
  bool IsOnDeviceAlone() const;

  // The same storage under another array shape with as many bytes (reshape, bitcast-convert, layout
  // change). Dynamic sizes are reset to the bounds.
  Literal WithShape(std::shared_ptr<const Shape> shape) const;

  // Run-time size of dimension d: the static size unless the dimension is dynamic.
  int64_t dynamic_size(int64_t d) const;
  void set_dynamic_size(int64_t d, int64_t size);  // d must be dynamic in the shape
  bool IsFullSize() const;                         // no dimension is smaller than its bound
  DimVector runtime_sizes() const;
  // Whether a dynamic dimension is open: its run-time size is not known yet and reads as the bound. Setting
  // the size ends that. Decision: open-size
  bool is_open(int64_t d) const { return (open_ >> d) & 1; }
  void set_open(int64_t d);  // d must be dynamic in the shape
  bool HasOpen() const;      // of a tuple: in some element
  // Zeroes every dead element, so that no result can depend on it.
  void ClearDeadElements();

  // Tuples.
  int64_t tuple_size() const { return elements_ ? static_cast<int64_t>(elements_->size()) : 0; }
  const Literal& element(int64_t i) const { return (*elements_)[i]; }
  // Moves the elements out if this is their only owner, else copies the handles.
  std::vector<Literal> TakeElements() &&;

  // Row-major element access for code that is not hot.
  int64_t GetInt(int64_t position) const;    // integral and pred
  double GetDouble(int64_t position) const;  // floating

  // True for the same shape (layout ignored), run-time sizes and bits.
  static bool BitwiseEqual(const Literal& a, const Literal& b);

 private:
  struct Storage;
  static const std::shared_ptr<const Shape>& EmptyTupleShape();

  std::shared_ptr<const Shape> shape_;  // null: the empty tuple, as of a value that was moved away
  std::shared_ptr<Storage> data_;
  std::shared_ptr<std::vector<Literal>> elements_;
  absl::InlinedVector<int64_t, 1> dynamic_sizes_;  // one entry a dimension where the shape has dynamic ones
  uint64_t open_ = 0;                              // bit d: dimension d is open
};

}  // namespace assay

#endif  // ASSAY_LITERAL_LITERAL_H_
