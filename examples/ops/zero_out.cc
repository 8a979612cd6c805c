// The example of docs/custom_ops.md in its stages: an operation that keeps one element of its
// input and sets all others to 0.
#include <cstdint>
#include <vector>

#include "assay/op_library.h"

namespace {

using assay::op::GradContext;
using assay::op::InferenceContext;
using assay::op::InvalidArgument;
using assay::op::Kernel;
using assay::op::KernelConstruction;
using assay::op::KernelContext;
using assay::op::Op;
using assay::op::ShapeHandle;
using assay::op::Shard;
using assay::op::Status;
using assay::op::Tensor;
using assay::op::TensorShape;

// --- 1. The plainest: one type, element 0 stays
// -----------------------------------------------------------------

ASSAY_REGISTER_OP("Acme.ZeroOutFirst").Input("to_zero: s32").Output("zeroed: s32").Doc("Keeps element 0.");

class ZeroOutFirst : public Kernel {
 public:
  using Kernel::Kernel;

  void Compute(KernelContext* c) override {
    const Tensor x = c->input(0);
    Tensor y;
    ASSAY_REQUIRES_OK(c, c->allocate_output(0, x.shape(), &y));
    for (int64_t i = 0; i < x.num_elements(); ++i) y.flat<int32_t>()[i] = i == 0 ? x.flat<int32_t>()[0] : 0;
  }
};
ASSAY_REGISTER_KERNEL(Name("Acme.ZeroOutFirst").Device(kCpu), ZeroOutFirst);

// --- 2. With validation: vectors only, said by the kernel
// ---------------------------------------------------------

ASSAY_REGISTER_OP("Acme.ZeroOutVector").Input("to_zero: s32").Output("zeroed: s32");

class ZeroOutVector : public ZeroOutFirst {
 public:
  using ZeroOutFirst::ZeroOutFirst;

  void Compute(KernelContext* c) override {
    ASSAY_REQUIRES(c, IsVector(c->input(0).shape()),
                   InvalidArgument("expected a vector, got ", c->input(0).shape()));
    ZeroOutFirst::Compute(c);
  }
};
ASSAY_REGISTER_KERNEL(Name("Acme.ZeroOutVector").Device(kCpu), ZeroOutVector);

// --- 3. With an attribute, for several types, on several threads,
// with a shape function and a gradient -------------

ASSAY_REGISTER_OP("Acme.ZeroOut")
    .Attr("preserve_index: int >= 0 = 0")
    .Attr("T: {f32, f64, s32, bf16}")
    .Input("to_zero: T")
    .Output("zeroed: T")
    .SetShapeFn(assay::op::UnchangedShape)
    .Doc(R"(Copies the input, sets all but one element to zero.

preserve_index: the row-major position of the element that stays.)");

template <typename T>
class ZeroOut : public Kernel {
 public:
  explicit ZeroOut(KernelConstruction* c) : Kernel(c) {
    ASSAY_REQUIRES_OK(c, c->GetAttr("preserve_index", &preserve_index_));
  }

  void Compute(KernelContext* c) override {
    const Tensor x = c->input(0);
    ASSAY_REQUIRES(c, preserve_index_ < x.num_elements() || x.num_elements() == 0,
                   InvalidArgument("preserve_index is ", preserve_index_, ", the input has ",
                                   x.num_elements(), " elements"));
    Tensor y;
    ASSAY_REQUIRES_OK(c, c->forward_input_or_allocate({0}, 0, x.shape(), &y));
    const auto from = x.flat<T>(), to = y.flat<T>();
    const T kept = from.empty() ? T() : from[preserve_index_];
    Shard(c, /*max_parallelism=*/64, x.num_elements(), /*cost_per_unit=*/1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = i == preserve_index_ ? kept : T();
    });
  }

 private:
  int64_t preserve_index_ = 0;
};
#define ACME_REGISTER_ZERO_OUT(T) \
  ASSAY_REGISTER_KERNEL(Name("Acme.ZeroOut").Device(kCpu).TypeConstraint<T>("T"), ZeroOut<T>);
ACME_REGISTER_ZERO_OUT(float)
ACME_REGISTER_ZERO_OUT(double)
ACME_REGISTER_ZERO_OUT(int32_t)
ACME_REGISTER_ZERO_OUT(assay::op::bfloat16)
#undef ACME_REGISTER_ZERO_OUT

// dL/dx = dL/dy where the element stays, else 0: the element's gradient,
// cut out of the flat one and padded again.
Status ZeroOutGradient(GradContext* c) {
  int64_t kept = 0;
  ASSAY_OP_RETURN_IF_ERROR(c->GetAttr("preserve_index", &kept));
  const Op gradient = c->grad(0);
  const TensorShape shape = c->shape(gradient);
  const int64_t n = shape.num_elements();
  if (n == 0) return c->set_gradient(0, gradient), assay::op::Ok();
  const Op flat = c->Reshape(gradient, TensorShape{n});
  const Op element = c->Slice(flat, {kept}, {kept + 1});
  const Op padded = c->Pad(element, c->Constant(0, c->type(gradient)), {kept}, {n - kept - 1});
  c->set_gradient(0, c->Reshape(padded, shape));
  return assay::op::Ok();
}
ASSAY_REGISTER_GRADIENT("Acme.ZeroOut", ZeroOutGradient);

// --- 4. Over lists: each of N arrays of one type, or each of some of any types
// --------------------------------------

Status EachUnchanged(InferenceContext* c) {
  for (int64_t i = 0; i < c->num_inputs(); ++i) c->set_output(i, c->input(i));
  return assay::op::Ok();
}

ASSAY_REGISTER_OP("Acme.ZeroOutEach")
    .Attr("N: int >= 1")
    .Attr("T: {f32, s32}")
    .Input("to_zero: N * T")
    .Output("zeroed: N * T")
    .SetShapeFn(EachUnchanged)
    .Doc("Keeps element 0 of each input.");
ASSAY_REGISTER_OP("Acme.ZeroOutMixed")
    .Attr("T: list({f32, s32}) >= 1")
    .Input("to_zero: T")
    .Output("zeroed: T")
    .SetShapeFn(EachUnchanged)
    .Doc("Keeps element 0 of each input.");

class ZeroOutEach : public Kernel {
 public:
  using Kernel::Kernel;

  void Compute(KernelContext* c) override {
    std::vector<Tensor> inputs;
    ASSAY_REQUIRES_OK(c, c->input_list("to_zero", &inputs));
    for (size_t k = 0; k < inputs.size(); ++k) {
      Tensor y;
      ASSAY_REQUIRES_OK(c, c->allocate_output(static_cast<int64_t>(k), inputs[k].shape(), &y));
      inputs[k].type() == assay::op::Type::kF32 ? Fill<float>(inputs[k], y) : Fill<int32_t>(inputs[k], y);
    }
  }

 private:
  template <typename T>
  static void Fill(const Tensor& x, const Tensor& y) {
    for (int64_t i = 0; i < x.num_elements(); ++i) y.flat<T>()[i] = i == 0 ? x.flat<T>()[0] : T();
  }
};
ASSAY_REGISTER_KERNEL(Name("Acme.ZeroOutEach").Device(kCpu), ZeroOutEach);
ASSAY_REGISTER_KERNEL(Name("Acme.ZeroOutMixed").Device(kCpu), ZeroOutEach);

}  // namespace
