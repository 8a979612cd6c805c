// Kernels: what computes an operation (docs/spec/custom-ops.md, section 2).
#ifndef ASSAY_CUSTOM_API_KERNEL_H_
#define ASSAY_CUSTOM_API_KERNEL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <limits>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "custom/api/attributes.h"

namespace assay {
namespace op ASSAY_OP_API {

// Sizes, slowest first. Making and copying one of rank 4 or less allocates nothing,
// which would be a third of a small call.
class TensorShape {
 public:
  TensorShape() = default;
  TensorShape(std::initializer_list<int64_t> sizes)
      : TensorShape(std::span<const int64_t>(sizes.begin(), sizes.size())) {}
  explicit TensorShape(std::span<const int64_t> sizes) : rank_(sizes.size()) {
    if (rank_ > kFew)
      many_.assign(sizes.begin(), sizes.end());
    else
      std::copy(sizes.begin(), sizes.end(), few_);
  }
  int64_t rank() const { return static_cast<int64_t>(rank_); }
  int64_t dim(int64_t d) const {
    const int64_t at = d < 0 ? rank() + d : d;
    if (at < 0 || at >= rank()) throw std::out_of_range("TensorShape::dim");
    return sizes()[static_cast<size_t>(at)];
  }
  // Valid as long as the shape is, and unchanged.
  std::span<const int64_t> sizes() const { return {rank_ > kFew ? many_.data() : few_, rank_}; }
  int64_t num_elements() const {
    int64_t count = 1;
    for (const int64_t size : sizes()) count *= size;
    return count;
  }
  bool operator==(const TensorShape& other) const {
    return std::equal(sizes().begin(), sizes().end(), other.sizes().begin(), other.sizes().end());
  }
  friend std::ostream& operator<<(std::ostream& out, const TensorShape& shape) {
    out << "[";
    for (int64_t d = 0; d < shape.rank(); ++d) out << (d > 0 ? "," : "") << shape.dim(d);
    return out << "]";
  }

 private:
  static constexpr size_t kFew = 4;

  size_t rank_ = 0;
  int64_t few_[kFew] = {};
  std::vector<int64_t> many_;  // of more
};

inline bool IsScalar(const TensorShape& shape) { return shape.rank() == 0; }
inline bool IsVector(const TensorShape& shape) { return shape.rank() == 1; }
inline bool IsMatrix(const TensorShape& shape) { return shape.rank() == 2; }
inline bool IsVectorOrHigher(const TensorShape& shape) { return shape.rank() >= 1; }
inline bool IsMatrixOrHigher(const TensorShape& shape) { return shape.rank() >= 2; }
inline bool IsSquareMatrix(const TensorShape& shape) {
  return shape.rank() == 2 && shape.dim(0) == shape.dim(1);
}
inline bool SameSize(const TensorShape& a, const TensorShape& b) { return a == b; }

// Elements of one type, row-major. It owns nothing: it is valid while the kernel runs.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Type type, TensorShape shape, void* data) : type_(type), shape_(std::move(shape)), data_(data) {}
  Type type() const { return type_; }
  const TensorShape& shape() const { return shape_; }
  int64_t dim(int64_t d) const { return shape_.dim(d); }
  int64_t num_elements() const { return shape_.num_elements(); }
  void* data() const { return data_; }
  // All elements in a row; empty where T is not the element type.
  template <typename T>
  std::span<T> flat() const {
    if (TypeOf<std::remove_const_t<T>>() != type_) return {};
    return {static_cast<T*>(data_), static_cast<size_t>(num_elements())};
  }
  template <typename T>
  T& scalar() const {
    return *static_cast<T*>(data_);
  }

 private:
  Type type_ = Type::kPred;
  TensorShape shape_;
  void* data_ = nullptr;
};

inline TensorShape ShapeOf(const AssayArray& array) {
  return TensorShape(std::span<const int64_t>(array.sizes, static_cast<size_t>(array.rank)));
}

inline Tensor TensorOf(const AssayArray& array) {
  return {static_cast<Type>(array.type), ShapeOf(array), array.data};
}

// What a kernel's constructor sees.
class KernelConstruction {
 public:
  explicit KernelConstruction(const AssayConstruction& call)
      : call_(call), attributes_(call.attrs, call.num_attrs) {}

  std::string op_name() const { return StringOf(call_.op); }
  template <typename T>
  Status GetAttr(std::string_view name, T* value) const {
    return attributes_.Get(name, value);
  }
  // The first error counts; the kernel is not used then.
  void SetStatus(const Status& status) {
    if (status.ok() || failed_) return;
    failed_ = true;
    call_.fail(call_.self, status.code(), TextOf(status.message()));
  }
  bool failed() const { return failed_; }

 private:
  const AssayConstruction& call_;
  const Attributes attributes_;
  bool failed_ = false;
};

// What a run of a kernel sees.
class KernelContext {
 public:
  explicit KernelContext(const AssayCompute& call) : call_(call) {}
  KernelContext(const KernelContext&) = delete;
  KernelContext& operator=(const KernelContext&) = delete;

  int64_t num_inputs() const { return static_cast<int64_t>(call_.num_inputs); }
  int64_t num_outputs() const { return static_cast<int64_t>(call_.num_outputs); }
  Tensor input(int64_t i) const { return TensorOf(call_.inputs[i]); }
  Status input(std::string_view name, Tensor* tensor) const {
    std::vector<Tensor> list;
    ASSAY_OP_RETURN_IF_ERROR(input_list(name, &list));
    if (list.size() != 1) return InvalidArgument("input '", name, "' is a list of ", list.size());
    *tensor = list[0];
    return Ok();
  }
  Status input_list(std::string_view name, std::vector<Tensor>* tensors) const {
    const AssayArgument* const at = FindArgument(call_.input_arguments, call_.num_input_arguments, name);
    if (at == nullptr) return InvalidArgument("no input '", name, "'");
    tensors->clear();
    for (int64_t i = 0; i < at->count; ++i) tensors->push_back(input(at->first + i));
    return Ok();
  }
  // The most that dimension d of input i can be.
  int64_t bound(int64_t i, int64_t d) const { return call_.inputs[i].bounds[d]; }
  // Type and shape that the program wants of output i; of a dynamic dimension its bound.
  Type output_type(int64_t i) const { return static_cast<Type>(call_.outputs[i].type); }
  TensorShape output_shape(int64_t i) const { return ShapeOf(call_.outputs[i]); }

  Status allocate_output(int64_t i, const TensorShape& shape, Tensor* tensor) {
    void* const data =
        call_.allocate_output(call_.self, static_cast<size_t>(i), shape.rank(), shape.sizes().data());
    if (data == nullptr) return Failed();
    *tensor = {output_type(i), shape, data};
    return Ok();
  }
  Status allocate_temp(Type type, const TensorShape& shape, Tensor* tensor) {
    void* const data =
        call_.allocate_temp(call_.self, static_cast<AssayType>(type), shape.rank(), shape.sizes().data());
    if (data == nullptr) return Failed();
    *tensor = {type, shape, data};
    return Ok();
  }
  // The memory of the first of these inputs that the output may have, with its elements, or new memory.
  Status forward_input_or_allocate(std::initializer_list<int64_t> inputs, int64_t i, const TensorShape& shape,
                                   Tensor* tensor) {
    for (const int64_t from : inputs) {
      const AssayArray& x = call_.inputs[from];
      if (!std::equal(shape.sizes().begin(), shape.sizes().end(), x.sizes, x.sizes + x.rank)) continue;
      if (void* const data =
              call_.forward_input(call_.self, static_cast<size_t>(from), static_cast<size_t>(i))) {
        *tensor = {output_type(i), shape, data};
        return Ok();
      }
    }
    return allocate_output(i, shape, tensor);
  }

  // Runs the call's called computation.
  Status call(int64_t computation, const std::vector<Tensor>& arguments, std::vector<Tensor>* results,
              size_t num_results = 1) {
    std::vector<AssayArray> given, got(num_results);
    for (const Tensor& x : arguments) {
      given.push_back({static_cast<AssayType>(x.type()), 0, x.shape().rank(), x.shape().sizes().data(),
                       x.shape().sizes().data(), x.data(), 0});
    }
    if (call_.call(call_.self, static_cast<size_t>(computation), given.size(), given.data(), got.size(),
                   got.data()) != 0)
      return Failed();
    results->clear();
    for (const AssayArray& y : got) results->push_back(TensorOf(y));
    return Ok();
  }

  // The first error counts; it ends the run of the program.
  void SetStatus(const Status& status) {
    if (status.ok() || failed_) return;
    failed_ = true;
    if (status.code() != kToldAlready) call_.fail(call_.self, status.code(), TextOf(status.message()));
  }
  // Of a kernel for CUDA, the stream that its work is told to (a CUstream); data() of its tensors is memory
  // of the device, but for arguments that its registration wants in the host's.
  void* cuda_stream() const {
    return call_.size >= offsetof(AssayCompute, stream) + sizeof(void*) ? call_.stream : nullptr;
  }
  const AssayCompute& c_call() const { return call_; }

 private:
  static constexpr int32_t kToldAlready = -1;  // the run has failed, and who ran it knows
  static Status Failed() { return {kToldAlready, "the run has failed"}; }

  const AssayCompute& call_;
  bool failed_ = false;
};

// One call's kernel. Compute may run on several threads at once.
class Kernel {
 public:
  explicit Kernel(KernelConstruction*) {}
  virtual ~Kernel() = default;
  virtual void Compute(KernelContext* c) = 0;
};

// work(begin, end) on disjoint ranges that cover [0, total), on several threads, the caller's among them;
// returns when all are done. A unit takes about `cost_per_unit` nanoseconds, which decides how many ranges
// pay. Results must not depend on the cut. An exception of `work` is thrown again here.
template <typename Work>
void Shard(KernelContext* c, int64_t max_parallelism, int64_t total, int64_t cost_per_unit, Work&& work) {
  struct Shared {
    std::remove_reference_t<Work>& work;
    std::mutex mutex;
    std::exception_ptr thrown;
  } shared{work, {}, nullptr};
  c->c_call().shard(
      c->c_call().self, max_parallelism, total, cost_per_unit,
      [](void* argument, int64_t begin, int64_t end) {
        auto& of = *static_cast<Shared*>(argument);
        try {
          of.work(begin, end);
        } catch (...) {
          const std::lock_guard<std::mutex> lock(of.mutex);
          if (of.thrown == nullptr) of.thrown = std::current_exception();
        }
      },
      &shared);
  if (shared.thrown != nullptr) std::rethrow_exception(shared.thrown);
}

}  // namespace ASSAY_OP_API
}  // namespace assay

#endif  // ASSAY_CUSTOM_API_KERNEL_H_
