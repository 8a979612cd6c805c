// Shape functions: what an operation's author says about shapes (docs/spec/custom-ops.md, 1.3). Shapes may be
// known in part, and functions are monotone: more that is known of the inputs never makes them fail less or
// say less.
#ifndef ASSAY_CUSTOM_API_SHAPE_INFERENCE_H_
#define ASSAY_CUSTOM_API_SHAPE_INFERENCE_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "custom/api/attributes.h"

namespace assay {
namespace op ASSAY_OP_API {

// A size, or an unknown one. Two handles are the same dimension where one was copied from the other: `id`
// says so to the test of shape functions (shape_test.h). Id 0: nobody's.
struct DimensionHandle {
  int64_t value = kUnknown;
  int64_t id = 0;
  bool is_known() const { return value != kUnknown; }
};

// Of unknown rank where it was not made otherwise.
class ShapeHandle {
 public:
  ShapeHandle() = default;
  explicit ShapeHandle(std::vector<DimensionHandle> dims)
      : dims_(std::make_shared<const std::vector<DimensionHandle>>(std::move(dims))) {}
  bool has_rank() const { return dims_ != nullptr; }
  int64_t rank() const { return has_rank() ? static_cast<int64_t>(dims_->size()) : kUnknown; }
  const std::vector<DimensionHandle>& dims() const { return *dims_; }  // has_rank()
  // Whether one was copied from the other.
  bool IsSame(const ShapeHandle& other) const { return dims_ == other.dims_; }

 private:
  std::shared_ptr<const std::vector<DimensionHandle>> dims_;
};

inline std::string ToString(DimensionHandle d) { return d.is_known() ? std::to_string(d.value) : "?"; }
inline std::string ToString(const ShapeHandle& shape) {
  if (!shape.has_rank()) return "?";
  std::string text = "[";
  for (const DimensionHandle& d : shape.dims()) text += (text.size() > 1 ? "," : "") + ToString(d);
  return text + "]";
}

class InferenceContext {
 public:
  explicit InferenceContext(const AssayInference& call)
      : call_(call), attributes_(call.attrs, call.num_attrs) {
    for (size_t i = 0; i < call.num_inputs; ++i) inputs_.push_back(NewShape(call.inputs[i]));
    outputs_.resize(call.num_outputs);
  }
  InferenceContext(const InferenceContext&) = delete;
  InferenceContext& operator=(const InferenceContext&) = delete;

  int64_t num_inputs() const { return static_cast<int64_t>(inputs_.size()); }
  int64_t num_outputs() const { return static_cast<int64_t>(outputs_.size()); }
  const ShapeHandle& input(int64_t i) const { return inputs_.at(static_cast<size_t>(i)); }
  // The values of a sequence of inputs, or the one of an input that is none.
  Status input(std::string_view name, std::vector<ShapeHandle>* shapes) const {
    const AssayArgument* const at = FindArgument(call_.input_arguments, call_.num_input_arguments, name);
    if (at == nullptr) return InvalidArgument("no input '", name, "'");
    shapes->assign(inputs_.begin() + at->first, inputs_.begin() + at->first + at->count);
    return Ok();
  }
  void set_output(int64_t i, ShapeHandle shape) { outputs_.at(static_cast<size_t>(i)) = std::move(shape); }
  const ShapeHandle& output(int64_t i) const { return outputs_.at(static_cast<size_t>(i)); }
  // The elements of an input that is a constant of the program; null: not known.
  const AssayArray* input_literal(int64_t i) const {
    return call_.values == nullptr ? nullptr : call_.values[static_cast<size_t>(i)];
  }
  template <typename T>
  Status GetAttr(std::string_view name, T* value) const {
    return attributes_.Get(name, value);
  }

  // --- Ranks ---
  Status WithRank(const ShapeHandle& shape, int64_t rank, ShapeHandle* out) {
    return WithRankBetween(shape, rank, rank, out);
  }
  Status WithRankAtLeast(const ShapeHandle& shape, int64_t rank, ShapeHandle* out) {
    return WithRankBetween(shape, rank, INT64_MAX, out);
  }
  Status WithRankAtMost(const ShapeHandle& shape, int64_t rank, ShapeHandle* out) {
    return WithRankBetween(shape, 0, rank, out);
  }

  // --- Dimensions ---
  // Dimension i, from the end where it is negative; an unknown one where the rank is
  // unknown or has no such dimension.
  DimensionHandle Dim(const ShapeHandle& shape, int64_t i) {
    if (!shape.has_rank()) return UnknownDim();
    const int64_t at = i < 0 ? shape.rank() + i : i;
    return at < 0 || at >= shape.rank() ? UnknownDim() : shape.dims()[static_cast<size_t>(at)];
  }
  Status WithValue(DimensionHandle d, int64_t value, DimensionHandle* out) {
    if (d.is_known() && d.value != value)
      return InvalidArgument("Dimension must be ", value, " but is ", d.value);
    *out = d.is_known() ? d : DimensionHandle{value, d.id};
    return Ok();
  }
  Status Merge(DimensionHandle a, DimensionHandle b, DimensionHandle* out) {
    if (a.is_known() && b.is_known() && a.value != b.value)
      return InvalidArgument("Dimensions must be equal, but are ", a.value, " and ", b.value);
    *out = a.is_known() || !b.is_known() ? a : b;
    return Ok();
  }
  // Axis by axis; of two shapes of which one says no more than the other, the one that says more.
  Status Merge(const ShapeHandle& a, const ShapeHandle& b, ShapeHandle* out) {
    if (!b.has_rank() || a.IsSame(b)) return *out = a, Ok();
    if (!a.has_rank()) return *out = b, Ok();
    if (a.rank() != b.rank())
      return InvalidArgument("Shapes must be equal rank, but are ", a.rank(), " and ", b.rank());
    std::vector<DimensionHandle> dims(a.dims());
    bool is_a = true, is_b = true;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (!Merge(a.dims()[d], b.dims()[d], &dims[d]).ok()) {
        return InvalidArgument("Dimension ", d, " in both shapes must be equal, but are ", a.dims()[d].value,
                               " and ", b.dims()[d].value, ". Shapes are ", ToString(a), " and ",
                               ToString(b));
      }
      is_a = is_a && dims[d].value == a.dims()[d].value;
      is_b = is_b && dims[d].value == b.dims()[d].value;
    }
    *out = is_a ? a : is_b ? b : ShapeHandle(std::move(dims));
    return Ok();
  }
  // Errors: a result below 0 or past an int64, a divisor that is not above 0, a quotient that is not whole
  // where `exact`.
  Status Add(DimensionHandle a, int64_t b, DimensionHandle* out) {
    int64_t sum = 0;
    if (b == 0) return *out = a, Ok();
    if (!a.is_known()) return *out = UnknownDim(), Ok();
    if (__builtin_add_overflow(a.value, b, &sum) || sum < 0)
      return InvalidArgument("Dimension size overflow or below 0 from adding ", a.value, " and ", b);
    return *out = MakeDim(sum), Ok();
  }
  Status Add(DimensionHandle a, DimensionHandle b, DimensionHandle* out) {
    if (b.is_known()) return Add(a, b.value, out);
    return a.is_known() ? Add(b, a.value, out) : (*out = UnknownDim(), Ok());
  }
  Status Subtract(DimensionHandle a, int64_t b, DimensionHandle* out) {
    int64_t difference = 0;
    if (b == 0) return *out = a, Ok();
    if (!a.is_known()) return *out = UnknownDim(), Ok();
    if (__builtin_sub_overflow(a.value, b, &difference) || difference < 0)
      return InvalidArgument("Negative dimension size caused by subtracting ", b, " from ", a.value);
    return *out = MakeDim(difference), Ok();
  }
  Status Subtract(DimensionHandle a, DimensionHandle b, DimensionHandle* out) {
    return b.is_known() ? Subtract(a, b.value, out) : (*out = UnknownDim(), Ok());
  }
  Status Multiply(DimensionHandle a, int64_t b, DimensionHandle* out) {
    int64_t product = 0;
    if (b == 1) return *out = a, Ok();
    if (b == 0) return *out = MakeDim(0), Ok();
    if (!a.is_known()) return *out = UnknownDim(), Ok();
    if (__builtin_mul_overflow(a.value, b, &product) || product < 0)
      return InvalidArgument("Dimension size overflow or below 0 from multiplying ", a.value, " and ", b);
    return *out = MakeDim(product), Ok();
  }
  Status Multiply(DimensionHandle a, DimensionHandle b, DimensionHandle* out) {
    if (b.is_known()) return Multiply(a, b.value, out);
    return a.is_known() ? Multiply(b, a.value, out) : (*out = UnknownDim(), Ok());
  }
  Status Divide(DimensionHandle a, int64_t divisor, bool exact, DimensionHandle* out) {
    if (divisor <= 0) return InvalidArgument("Divisor must be positive but is ", divisor);
    if (divisor == 1) return *out = a, Ok();
    if (!a.is_known()) return *out = UnknownDim(), Ok();
    if (exact && a.value % divisor != 0)
      return InvalidArgument("Dimension size must be evenly divisible by ", divisor, " but is ", a.value);
    return *out = MakeDim(a.value / divisor), Ok();
  }
  Status Divide(DimensionHandle a, DimensionHandle divisor, bool exact, DimensionHandle* out) {
    if (!divisor.is_known()) return *out = UnknownDim(), Ok();
    return Divide(a, divisor.value, exact, out);
  }

  // --- New shapes ---
  DimensionHandle MakeDim(int64_t value) { return {value, next_id_++}; }
  DimensionHandle UnknownDim() { return {kUnknown, next_id_++}; }
  ShapeHandle UnknownShape() { return {}; }
  ShapeHandle UnknownShapeOfRank(int64_t rank) {
    std::vector<DimensionHandle> dims;
    for (int64_t d = 0; d < rank; ++d) dims.push_back(UnknownDim());
    return ShapeHandle(std::move(dims));
  }
  ShapeHandle MakeShape(std::vector<DimensionHandle> dims) { return ShapeHandle(std::move(dims)); }
  ShapeHandle MakeShape(const std::vector<int64_t>& sizes) {
    std::vector<DimensionHandle> dims;
    dims.reserve(sizes.size());
    for (const int64_t size : sizes) dims.push_back(size == kUnknown ? UnknownDim() : MakeDim(size));
    return ShapeHandle(std::move(dims));
  }
  ShapeHandle MakeShape(const PartialShape& shape) {
    return shape.has_rank ? MakeShape(shape.sizes) : UnknownShape();
  }
  ShapeHandle Scalar() { return MakeShape(std::vector<DimensionHandle>{}); }
  ShapeHandle Vector(DimensionHandle d) { return MakeShape(std::vector<DimensionHandle>{d}); }
  ShapeHandle Vector(int64_t size) { return Vector(MakeDim(size)); }
  ShapeHandle Matrix(DimensionHandle d1, DimensionHandle d2) {
    return MakeShape(std::vector<DimensionHandle>{d1, d2});
  }
  ShapeHandle Matrix(DimensionHandle d1, int64_t d2) { return Matrix(d1, MakeDim(d2)); }
  ShapeHandle Matrix(int64_t d1, int64_t d2) { return Matrix(MakeDim(d1), MakeDim(d2)); }
  Status Concatenate(const ShapeHandle& a, const ShapeHandle& b, ShapeHandle* out) {
    if (!a.has_rank() || !b.has_rank()) return *out = UnknownShape(), Ok();
    std::vector<DimensionHandle> dims(a.dims());
    dims.insert(dims.end(), b.dims().begin(), b.dims().end());
    return *out = ShapeHandle(std::move(dims)), Ok();
  }
  Status ReplaceDim(const ShapeHandle& shape, int64_t i, DimensionHandle d, ShapeHandle* out) {
    if (!shape.has_rank()) return *out = UnknownShape(), Ok();
    const int64_t at = i < 0 ? shape.rank() + i : i;
    if (at < 0 || at >= shape.rank())
      return InvalidArgument("Out of range dimension index ", i, " for shape with ", shape.rank(),
                             " dimensions");
    std::vector<DimensionHandle> dims(shape.dims());
    dims[static_cast<size_t>(at)] = d;
    return *out = ShapeHandle(std::move(dims)), Ok();
  }

  // Tells the outputs to who asked.
  void Finish() const {
    std::vector<int64_t> sizes;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      sizes.clear();
      if (outputs_[i].has_rank()) {
        for (const DimensionHandle& d : outputs_[i].dims()) sizes.push_back(d.value);
      }
      call_.set_output(call_.self, i, {outputs_[i].rank(), sizes.data()});
    }
  }

 private:
  ShapeHandle NewShape(const AssayShape& shape) {
    if (shape.rank < 0) return {};
    return MakeShape(std::vector<int64_t>(shape.sizes, shape.sizes + shape.rank));
  }
  Status WithRankBetween(const ShapeHandle& shape, int64_t least, int64_t most, ShapeHandle* out) {
    if (!shape.has_rank()) {
      *out = least == most ? UnknownShapeOfRank(least) : shape;
      return Ok();
    }
    if (shape.rank() >= least && shape.rank() <= most) return *out = shape, Ok();
    if (least == most) return InvalidArgument("Shape must be rank ", least, " but is rank ", shape.rank());
    return shape.rank() < least
               ? InvalidArgument("Shape must be at least rank ", least, " but is rank ", shape.rank())
               : InvalidArgument("Shape must be at most rank ", most, " but is rank ", shape.rank());
  }

  const AssayInference& call_;
  const Attributes attributes_;
  int64_t next_id_ = 1;
  std::vector<ShapeHandle> inputs_, outputs_;
};

using ShapeFn = Status (*)(InferenceContext* c);

// --- Stock functions ---------------------------------------------------------------------------------------

inline Status UnchangedShape(InferenceContext* c) {
  c->set_output(0, c->input(0));
  return Ok();
}
template <int64_t kRank>
Status UnchangedShapeWithRank(InferenceContext* c) {
  ShapeHandle shape;
  ASSAY_OP_RETURN_IF_ERROR(c->WithRank(c->input(0), kRank, &shape));
  c->set_output(0, shape);
  return Ok();
}
template <int64_t kRank>
Status UnchangedShapeWithRankAtLeast(InferenceContext* c) {
  ShapeHandle shape;
  ASSAY_OP_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), kRank, &shape));
  c->set_output(0, shape);
  return Ok();
}
inline Status ScalarShape(InferenceContext* c) {
  c->set_output(0, c->Scalar());
  return Ok();
}
inline Status UnknownShape(InferenceContext* c) {
  for (int64_t i = 0; i < c->num_outputs(); ++i) c->set_output(i, c->UnknownShape());
  return Ok();
}
inline Status MergeBothInputs(InferenceContext* c) {
  ShapeHandle shape;
  ASSAY_OP_RETURN_IF_ERROR(c->Merge(c->input(0), c->input(1), &shape));
  c->set_output(0, shape);
  return Ok();
}
// Numpy's rule: axes are held against each other from the last one on; 1 gives way.
inline Status BroadcastBinaryOpShape(InferenceContext* c) {
  const ShapeHandle &a = c->input(0), &b = c->input(1);
  if (!a.has_rank() || !b.has_rank()) {
    c->set_output(0, c->UnknownShape());
    return Ok();
  }
  const int64_t rank = a.rank() > b.rank() ? a.rank() : b.rank();
  std::vector<DimensionHandle> dims(static_cast<size_t>(rank));
  for (int64_t i = 1; i <= rank; ++i) {
    DimensionHandle& out = dims[static_cast<size_t>(rank - i)];
    if (i > a.rank() || i > b.rank()) {
      out = i > a.rank() ? c->Dim(b, -i) : c->Dim(a, -i);
      continue;
    }
    const DimensionHandle x = c->Dim(a, -i), y = c->Dim(b, -i);
    if (x.value == 1 || y.value == 1) {
      out = x.value == 1 ? y : x;
    } else if (x.is_known() && y.is_known()) {
      ASSAY_OP_RETURN_IF_ERROR(c->Merge(x, y, &out));
    } else if (x.value > 1 || y.value > 1) {
      out = x.is_known() ? x : y;  // the other is the same, or 1
    } else {
      out = x.id == y.id ? x : c->UnknownDim();
    }
  }
  c->set_output(0, c->MakeShape(std::move(dims)));
  return Ok();
}
// What attr `shape` says, or for several outputs the list `shapes`.
inline Status ExplicitShapes(InferenceContext* c) {
  PartialShape shape;
  if (c->GetAttr("shape", &shape).ok()) {
    c->set_output(0, c->MakeShape(shape));
    return Ok();
  }
  std::vector<PartialShape> shapes;
  ASSAY_OP_RETURN_IF_ERROR(c->GetAttr("shapes", &shapes));
  if (static_cast<int64_t>(shapes.size()) != c->num_outputs())
    return InvalidArgument("attr 'shapes' has ", shapes.size(), " shapes for ", c->num_outputs(), " outputs");
  for (int64_t i = 0; i < c->num_outputs(); ++i)
    c->set_output(i, c->MakeShape(shapes[static_cast<size_t>(i)]));
  return Ok();
}

}  // namespace ASSAY_OP_API
}  // namespace assay

#endif  // ASSAY_CUSTOM_API_SHAPE_INFERENCE_H_
