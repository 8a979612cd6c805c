// Operations whose kernels do what a test asks of them, right and wrong.
#include <atomic>
#include <cfenv>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "assay/op_library.h"

namespace {

using namespace assay::op;

// y = x, and what `fault` names.
ASSAY_REGISTER_OP("Test.Faulty")
    .Attr(
        "fault: {'none', 'throws', 'throws_other', 'fails', 'unimplemented', 'exhausted', 'unfilled', "
        "'wrong_shape', 'wrong_rank', "
        "'twice', 'no_such_output', 'constructor', 'constructor_throws', 'huge_temp', 'shard_throws'} = "
        "'none'")
    .Attr("T: numbertype")
    .Input("x: T")
    .Output("y: T");

class Faulty : public Kernel {
 public:
  explicit Faulty(KernelConstruction* c) : Kernel(c) {
    ASSAY_REQUIRES_OK(c, c->GetAttr("fault", &fault_));
    ASSAY_REQUIRES(c, fault_ != "constructor", InvalidArgument("the constructor refuses"));
    if (fault_ == "constructor_throws") throw std::runtime_error("from the constructor");
  }

  void Compute(KernelContext* c) override {
    const Tensor x = c->input(0);
    Tensor y;
    if (fault_ == "throws") throw std::runtime_error("on purpose");
    if (fault_ == "throws_other") throw 5;
    ASSAY_REQUIRES(c, fault_ != "fails", FailedPrecondition("value ", 5, " is wrong"));
    ASSAY_REQUIRES(c, fault_ != "unimplemented", Unimplemented("not here"));
    ASSAY_REQUIRES(c, fault_ != "exhausted", ResourceExhausted("too much"));
    if (fault_ == "unfilled") return;
    if (fault_ == "wrong_shape") ASSAY_REQUIRES_OK(c, c->allocate_output(0, TensorShape{7, 7}, &y));
    if (fault_ == "wrong_rank") ASSAY_REQUIRES_OK(c, c->allocate_output(0, TensorShape{}, &y));
    if (fault_ == "no_such_output") ASSAY_REQUIRES_OK(c, c->allocate_output(3, x.shape(), &y));
    if (fault_ == "huge_temp")
      ASSAY_REQUIRES_OK(c, c->allocate_temp(Type::kF64, TensorShape{int64_t{1} << 45}, &y));
    ASSAY_REQUIRES_OK(c, c->allocate_output(0, x.shape(), &y));
    if (fault_ == "twice") ASSAY_REQUIRES_OK(c, c->allocate_output(0, x.shape(), &y));
    Shard(c, 8, x.num_elements(), 100000, [&](int64_t, int64_t) {
      if (fault_ == "shard_throws") throw std::runtime_error("from a thread");
    });
    std::memcpy(y.data(), x.data(), static_cast<size_t>(c->c_call().inputs[0].bytes));
  }

 private:
  std::string fault_;
};
ASSAY_REGISTER_KERNEL(Name("Test.Faulty").Device(kCpu), Faulty);

// Its token and how many ranges a loop of 1000 dear units on 3 threads at most is cut into, and of none.
class Ranges : public Kernel {
 public:
  using Kernel::Kernel;
  void Compute(KernelContext* c) override {
    Tensor y;
    ASSAY_REQUIRES_OK(c, c->allocate_output(1, TensorShape{3}, &y));
    std::atomic<int32_t> ranges = 0, units = 0, ranges_of_none = 0;
    Shard(c, 3, 1000, 1'000'000, [&](int64_t begin, int64_t end) {
      ++ranges;
      units += static_cast<int32_t>(end - begin);
    });
    Shard(c, 3, 0, 1, [&](int64_t, int64_t) { ++ranges_of_none; });
    y.flat<int32_t>()[0] = ranges <= 3 ? 1 : ranges.load();
    y.flat<int32_t>()[1] = units;
    y.flat<int32_t>()[2] = ranges_of_none;
  }
};
ASSAY_REGISTER_OP("Test.Ranges").Input("t: Token").Output("u: Token").Output("y: s32");
ASSAY_REGISTER_KERNEL(Name("Test.Ranges").Device(kCpu), Ranges);

// Leaves another rounding behind wherever its code runs; y = x.
const int left_by_the_start = std::fesetround(FE_UPWARD);
class Upward : public Kernel {
 public:
  explicit Upward(KernelConstruction* c) : Kernel(c) { std::fesetround(FE_UPWARD); }
  void Compute(KernelContext* c) override {
    const Tensor x = c->input(0);
    Tensor y;
    ASSAY_REQUIRES_OK(c, c->allocate_output(0, x.shape(), &y));
    Shard(c, 8, x.num_elements(), 100000, [](int64_t, int64_t) { std::fesetround(FE_UPWARD); });
    std::memcpy(y.data(), x.data(), static_cast<size_t>(c->c_call().inputs[0].bytes));
    std::fesetround(FE_UPWARD);
  }
};
ASSAY_REGISTER_OP("Test.Upward").Input("x: f32").Output("y: f32").SetShapeFn([](InferenceContext* c) {
  std::fesetround(FE_UPWARD);
  c->set_output(0, c->input(0));
  return Ok();
});
ASSAY_REGISTER_KERNEL(Name("Test.Upward").Device(kCpu), Upward);

// Nothing at all, for the cost of a call: the output is the input.
ASSAY_REGISTER_OP("Test.Empty").Input("x: f32").Output("y: f32").SetShapeFn(UnchangedShape);
class Empty : public Kernel {
 public:
  using Kernel::Kernel;
  void Compute(KernelContext* c) override {
    Tensor y;
    ASSAY_REQUIRES_OK(c, c->forward_input_or_allocate({0}, 0, c->input(0).shape(), &y));
  }
};
ASSAY_REGISTER_KERNEL(Name("Test.Empty").Device(kCpu), Empty);

// Two kernels that fit alike, and one for f64 alone.
ASSAY_REGISTER_OP("Test.Twice").Attr("T: {f32, f64, s32}").Input("x: T").Output("y: T");
ASSAY_REGISTER_KERNEL(Name("Test.Twice").Device(kCpu).TypeConstraint<float>("T"), Faulty);
ASSAY_REGISTER_KERNEL(Name("Test.Twice").Device(kCpu).TypeConstraint<float>("T"), Faulty);
ASSAY_REGISTER_KERNEL(Name("Test.Twice").Device(kCpu).TypeConstraint<double>("T"), Empty);

// y = 2 x; the kernel of the higher priority is wrong by one unit, within its tolerance of 1.5 or not at all.
template <int kExtra>
class Doubled : public Kernel {
 public:
  using Kernel::Kernel;
  void Compute(KernelContext* c) override {
    const Tensor x = c->input(0);
    Tensor y;
    ASSAY_REQUIRES_OK(c, c->allocate_output(0, x.shape(), &y));
    for (int64_t i = 0; i < x.num_elements(); ++i) y.flat<float>()[i] = 2 * x.flat<float>()[i] + kExtra;
  }
};
ASSAY_REGISTER_OP("Test.Doubled").Input("x: f32").Output("y: f32").SetShapeFn(UnchangedShape);
ASSAY_REGISTER_KERNEL(Name("Test.Doubled").Device(kCpu).Label("reference"), Doubled<0>);
ASSAY_REGISTER_KERNEL(Name("Test.Doubled").Device(kCpu).Priority(1), Doubled<1>);
ASSAY_REGISTER_OP("Test.Near").Input("x: f32").Output("y: f32").SetShapeFn(UnchangedShape);
ASSAY_REGISTER_KERNEL(Name("Test.Near").Device(kCpu).Label("reference"), Doubled<0>);
ASSAY_REGISTER_KERNEL(Name("Test.Near").Device(kCpu).Priority(1).Tolerance(1.5, 0), Doubled<1>);

// 1 where all memory that a kernel gets is 64-byte aligned, inputs, outputs and temporaries of any size.
class Aligned : public Kernel {
 public:
  using Kernel::Kernel;
  void Compute(KernelContext* c) override {
    Tensor y, temp;
    const auto is_aligned = [](const Tensor& x) { return reinterpret_cast<uintptr_t>(x.data()) % 64 == 0; };
    ASSAY_REQUIRES_OK(c, c->allocate_output(0, TensorShape{1}, &y));
    bool all = is_aligned(y);
    for (int64_t i = 0; i < c->num_inputs(); ++i) all = all && is_aligned(c->input(i));
    for (const int64_t size : {0, 1, 3, 1000}) {
      ASSAY_REQUIRES_OK(c, c->allocate_temp(Type::kF64, TensorShape{size}, &temp));
      all = all && is_aligned(temp);
      for (double& element : temp.flat<double>()) element = 1;
    }
    y.flat<int32_t>()[0] = all ? 1 : 0;
  }
};
ASSAY_REGISTER_OP("Test.Aligned")
    .Attr("N: int >= 1")
    .Attr("T: numbertype")
    .Input("x: N * T")
    .Output("y: s32");
ASSAY_REGISTER_KERNEL(Name("Test.Aligned").Device(kCpu), Aligned);

// The first `count` elements, as many as a value says: a run-time size.
class FirstOf : public Kernel {
 public:
  using Kernel::Kernel;
  void Compute(KernelContext* c) override {
    const Tensor x = c->input(0);
    const int64_t count = c->input(1).scalar<int32_t>();
    ASSAY_REQUIRES(c, count >= 0 && count <= x.num_elements(), InvalidArgument("count is ", count));
    Tensor y;
    ASSAY_REQUIRES_OK(c, c->allocate_output(0, TensorShape{count}, &y));
    std::memcpy(y.data(), x.data(), static_cast<size_t>(4 * count));
  }
};
ASSAY_REGISTER_OP("Test.FirstOf").Input("x: f32").Input("count: s32").Output("y: f32");
ASSAY_REGISTER_KERNEL(Name("Test.FirstOf").Device(kCpu), FirstOf);

// Doubles, taken for the composite "test.double", and wrongly for "test.triple"; within 1.5 for "test.near".
ASSAY_REGISTER_OP("Test.DoubleOp")
    .Input("x: f32")
    .Output("y: f32")
    .SetShapeFn(UnchangedShape)
    .Composite("test.double", 1);
ASSAY_REGISTER_KERNEL(Name("Test.DoubleOp").Device(kCpu), Doubled<0>);
ASSAY_REGISTER_OP("Test.TripleOp")
    .Input("x: f32")
    .Output("y: f32")
    .SetShapeFn(UnchangedShape)
    .Composite("test.triple", 0);
ASSAY_REGISTER_KERNEL(Name("Test.TripleOp").Device(kCpu), Doubled<0>);
ASSAY_REGISTER_OP("Test.NearOp")
    .Attr("atol: float = 1.5")
    .Input("x: f32")
    .Output("y: f32")
    .SetShapeFn(UnchangedShape)
    .Composite("test.near", 0);
ASSAY_REGISTER_KERNEL(Name("Test.NearOp").Device(kCpu), Doubled<1>);

// What the attributes are, as text in u8.
class Attrs : public Kernel {
 public:
  explicit Attrs(KernelConstruction* c) : Kernel(c) {
    std::vector<int64_t> axes;
    std::vector<std::string> names;
    float eps = 0;
    bool flag = false;
    Type type = Type::kPred;
    PartialShape shape;
    ASSAY_REQUIRES_OK(c, c->GetAttr("axes", &axes));
    ASSAY_REQUIRES_OK(c, c->GetAttr("names", &names));
    ASSAY_REQUIRES_OK(c, c->GetAttr("eps", &eps));
    ASSAY_REQUIRES_OK(c, c->GetAttr("flag", &flag));
    ASSAY_REQUIRES_OK(c, c->GetAttr("type", &type));
    ASSAY_REQUIRES_OK(c, c->GetAttr("shape", &shape));
    for (const int64_t axis : axes) text_ += std::to_string(axis) + " ";
    for (const std::string& name : names) text_ += name + " ";
    text_ += Joined(eps, flag ? " yes " : " no ", static_cast<int>(type), shape.has_rank ? " " : " ?");
    for (const int64_t size : shape.sizes) text_ += std::to_string(size) + ",";
  }
  void Compute(KernelContext* c) override {
    Tensor y;
    ASSAY_REQUIRES_OK(c, c->allocate_output(0, c->output_shape(0), &y));
    ASSAY_REQUIRES(c, static_cast<size_t>(y.num_elements()) >= text_.size(),
                   Internal("text of ", text_.size()));
    std::memset(y.data(), 0, static_cast<size_t>(y.num_elements()));
    std::memcpy(y.data(), text_.data(), text_.size());
  }

 private:
  std::string text_;
};
ASSAY_REGISTER_OP("Test.Attrs")
    .Attr("axes: list(int) = [1, 2]")
    .Attr("names: list(string) = ['a']")
    .Attr("eps: float = 0.5")
    .Attr("flag: bool = false")
    .Attr("type: type = f32")
    .Attr("shape: shape = ?")
    .Output("text: u8");
ASSAY_REGISTER_KERNEL(Name("Test.Attrs").Device(kCpu), Attrs);

// f(f(x)), f the called computation.
class Applied : public Kernel {
 public:
  using Kernel::Kernel;
  void Compute(KernelContext* c) override {
    std::vector<Tensor> once, twice;
    ASSAY_REQUIRES_OK(c, c->call(0, {c->input(0)}, &once));
    ASSAY_REQUIRES_OK(c, c->call(0, {once[0]}, &twice));
    Tensor y;
    ASSAY_REQUIRES_OK(c, c->allocate_output(0, c->output_shape(0), &y));
    std::memcpy(y.data(), twice[0].data(), static_cast<size_t>(4 * y.num_elements()));
  }
};
ASSAY_REGISTER_OP("Test.Applied").Input("x: f32").Output("y: f32").SetShapeFn(UnchangedShape);
ASSAY_REGISTER_KERNEL(Name("Test.Applied").Device(kCpu), Applied);

// (n, 3) of (n, …), for shapes alone.
ASSAY_REGISTER_OP("Test.Rows").Input("x: f32").Output("y: f32").SetShapeFn([](InferenceContext* c) {
  ShapeHandle x;
  ASSAY_OP_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &x));
  c->set_output(0, c->Matrix(c->Dim(x, 0), 3));
  return Ok();
});
ASSAY_REGISTER_OP("Test.Print").Input("x: f32").Output("y: f32").SetSideEffect();

}  // namespace
