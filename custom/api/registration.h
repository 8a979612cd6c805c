// Registration: what a library of operations says of itself when it is loaded (docs/spec/custom-ops.md,
// sections 1 and 3). The two functions that Assay looks for in a library are defined here.
#ifndef ASSAY_CUSTOM_API_REGISTRATION_H_
#define ASSAY_CUSTOM_API_REGISTRATION_H_

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "custom/api/gradient.h"
#include "custom/api/kernel.h"
#include "custom/api/shape_inference.h"

namespace assay {
namespace op ASSAY_OP_API {

enum Device : int32_t { kCpu = ASSAY_DEVICE_CPU, kCuda = ASSAY_DEVICE_CUDA };

// Runs `work`, which may throw, and tells `fail` what it threw.
template <typename Work, typename Fail>
void Guarded(Work&& work, Fail&& fail) {
  try {
    work();
  } catch (const std::exception& thrown) {
    fail(Internal("threw: ", thrown.what()));
  } catch (...) {
    fail(Internal("threw something that is not a std::exception"));
  }
}

class OpBuilder {
 public:
  explicit OpBuilder(std::string name) : name_(std::move(name)) {}
  OpBuilder& Attr(std::string spec) { return attrs_.push_back(std::move(spec)), *this; }
  OpBuilder& Input(std::string spec) { return inputs_.push_back(std::move(spec)), *this; }
  OpBuilder& Output(std::string spec) { return outputs_.push_back(std::move(spec)), *this; }
  OpBuilder& SetShapeFn(ShapeFn fn) { return shape_fn_ = fn, *this; }
  OpBuilder& Doc(std::string doc) { return doc_ = std::move(doc), *this; }
  OpBuilder& SetSideEffect() { return has_side_effect_ = true, *this; }
  OpBuilder& SetStateful() { return is_stateful_ = true, *this; }
  // The composite operation that this one may be taken for.
  OpBuilder& Composite(std::string name, int64_t version) {
    return composite_ = std::move(name), composite_version_ = version, *this;
  }

  void Tell(const AssayRegistrar& registrar) const {
    const std::vector<AssayText> attrs = Texts(attrs_), inputs = Texts(inputs_), outputs = Texts(outputs_);
    AssayOp op = {};
    op.size = sizeof(op);
    op.name = TextOf(name_), op.doc = TextOf(doc_);
    op.attrs = attrs.data(), op.inputs = inputs.data(), op.outputs = outputs.data();
    op.num_attrs = attrs.size(), op.num_inputs = inputs.size(), op.num_outputs = outputs.size();
    op.has_side_effect = has_side_effect_ ? 1 : 0, op.is_stateful = is_stateful_ ? 1 : 0;
    op.composite = TextOf(composite_), op.composite_version = composite_version_;
    if (shape_fn_ != nullptr) {
      op.user = reinterpret_cast<void*>(shape_fn_);
      op.infer = [](void* user, const AssayInference* call) {
        const auto fail = [&](const Status& status) {
          call->fail(call->self, status.code(), TextOf(status.message()));
        };
        Guarded(
            [&] {
              InferenceContext context(*call);
              const Status status = reinterpret_cast<ShapeFn>(user)(&context);
              status.ok() ? context.Finish() : fail(status);
            },
            fail);
      };
    }
    registrar.op(registrar.self, &op);
  }

 private:
  static std::vector<AssayText> Texts(const std::vector<std::string>& strings) {
    std::vector<AssayText> texts;
    texts.reserve(strings.size());
    for (const std::string& text : strings) texts.push_back(TextOf(text));
    return texts;
  }

  std::string name_, doc_, composite_;
  std::vector<std::string> attrs_, inputs_, outputs_;
  ShapeFn shape_fn_ = nullptr;
  bool has_side_effect_ = false, is_stateful_ = false;
  int64_t composite_version_ = 0;
};

class KernelBuilder {
 public:
  explicit KernelBuilder(std::string op) : op_(std::move(op)) {}
  KernelBuilder& Device(op::Device device) { return device_ = device, *this; }
  // The attribute is one of these types; several calls for several attributes.
  template <typename... T>
  KernelBuilder& TypeConstraint(std::string attr) {
    constraints_.emplace_back(std::move(attr),
                              std::vector<AssayType>{static_cast<AssayType>(TypeOf<T>())...});
    return *this;
  }
  KernelBuilder& HostMemory(std::string argument) {
    return host_memory_.push_back(std::move(argument)), *this;
  }
  // The highest wins among kernels that fit.
  KernelBuilder& Priority(int32_t priority) { return priority_ = priority, *this; }
  // Only for calls that ask for it. "reference": the one that the others are compared with.
  KernelBuilder& Label(std::string label) { return label_ = std::move(label), *this; }
  // How far floats may be from the kernel with the label "reference": |x - r| <= absolute + relative |r|.
  KernelBuilder& Tolerance(double absolute, double relative) {
    return absolute_ = absolute, relative_ = relative, *this;
  }

  template <typename K>
  void Tell(const AssayRegistrar& registrar) const {
    std::vector<AssayTypeConstraint> constraints;
    for (const auto& [attr, types] : constraints_)
      constraints.push_back({TextOf(attr), types.data(), types.size()});
    std::vector<AssayText> host_memory;
    for (const std::string& name : host_memory_) host_memory.push_back(TextOf(name));
    AssayKernel kernel = {};
    kernel.size = sizeof(kernel);
    kernel.op = TextOf(op_), kernel.label = TextOf(label_);
    kernel.device = device_, kernel.priority = priority_;
    kernel.constraints = constraints.data(), kernel.num_constraints = constraints.size();
    kernel.host_memory = host_memory.data(), kernel.num_host_memory = host_memory.size();
    kernel.absolute_tolerance = absolute_, kernel.relative_tolerance = relative_;
    kernel.create = [](void*, const AssayConstruction* call) -> void* {
      KernelConstruction construction(*call);
      std::unique_ptr<K> made;
      Guarded([&] { made = std::make_unique<K>(&construction); },
              [&](const Status& status) { construction.SetStatus(status); });
      if (construction.failed()) return nullptr;
      return static_cast<Kernel*>(made.release());
    };
    kernel.compute = [](void* self, const AssayCompute* call) {
      KernelContext context(*call);
      Guarded([&] { static_cast<Kernel*>(self)->Compute(&context); },
              [&](const Status& status) { context.SetStatus(status); });
    };
    kernel.destroy = [](void* self) { delete static_cast<Kernel*>(self); };
    registrar.kernel(registrar.self, &kernel);
  }

 private:
  std::string op_, label_;
  int32_t device_ = kCpu, priority_ = 0;
  std::vector<std::pair<std::string, std::vector<AssayType>>> constraints_;
  std::vector<std::string> host_memory_;
  double absolute_ = 0, relative_ = 0;
};
inline KernelBuilder Name(std::string op) { return KernelBuilder(std::move(op)); }

// `fn` null: the operation is not differentiable, and its inputs' gradients are zero.
inline void TellGradient(const AssayRegistrar& registrar, const std::string& op, GradientFn fn) {
  AssayGradientDef gradient = {};
  gradient.size = sizeof(gradient);
  gradient.op = TextOf(op);
  if (fn != nullptr) {
    gradient.user = reinterpret_cast<void*>(fn);
    gradient.build = [](void* user, const AssayGradient* call) {
      const auto fail = [&](const Status& status) {
        call->fail(call->self, status.code(), TextOf(status.message()));
      };
      Guarded(
          [&] {
            GradContext context(*call);
            if (const Status status = reinterpret_cast<GradientFn>(user)(&context); !status.ok())
              fail(status);
          },
          fail);
    };
  }
  registrar.gradient(registrar.self, &gradient);
}

// What the library's static objects want to say, in the order of their construction.
using Telling = std::function<void(const AssayRegistrar&)>;
inline std::deque<Telling>& Tellings() {
  static std::deque<Telling> tellings;
  return tellings;
}
struct Registered {
  Registered(const OpBuilder& op) {  // NOLINT(google-explicit-constructor): what the macro assigns
    Tellings().push_back([op](const AssayRegistrar& to) { op.Tell(to); });
  }
  explicit Registered(Telling telling) { Tellings().push_back(std::move(telling)); }
};
template <typename K>
Registered RegisteredKernel(const KernelBuilder& kernel) {
  return Registered([kernel](const AssayRegistrar& to) { kernel.Tell<K>(to); });
}
inline Registered RegisteredGradient(std::string op, GradientFn fn) {
  return Registered([op = std::move(op), fn](const AssayRegistrar& to) { TellGradient(to, op, fn); });
}

}  // namespace ASSAY_OP_API
}  // namespace assay

#define ASSAY_OP_JOIN_(a, b) a##b
#define ASSAY_OP_JOIN(a, b) ASSAY_OP_JOIN_(a, b)
#define ASSAY_OP_UNIQUE static const ::assay::op::Registered ASSAY_OP_JOIN(assay_op_registered_, __COUNTER__)

// ASSAY_REGISTER_OP("Acme.ZeroOut").Attr("T: {f32, s32}").Input("to_zero: T").Output("zeroed: T");
#define ASSAY_REGISTER_OP(name) [[maybe_unused]] ASSAY_OP_UNIQUE = ::assay::op::OpBuilder(name)
// ASSAY_REGISTER_KERNEL(Name("Acme.ZeroOut").Device(kCpu).TypeConstraint<float>("T"), ZeroOutKernel<float>);
#define ASSAY_REGISTER_KERNEL(builder, ...)                                             \
  [[maybe_unused]] ASSAY_OP_UNIQUE = [] {                                               \
    using namespace ::assay::op; /* NOLINT(google-build-using-namespace): Name, kCpu */ \
    return ::assay::op::RegisteredKernel<__VA_ARGS__>(::assay::op::builder);            \
  }()
#define ASSAY_REGISTER_GRADIENT(name, fn) \
  [[maybe_unused]] ASSAY_OP_UNIQUE = ::assay::op::RegisteredGradient(name, fn)
#define ASSAY_NOT_DIFFERENTIABLE(name) \
  [[maybe_unused]] ASSAY_OP_UNIQUE = ::assay::op::RegisteredGradient(name, nullptr)

// M(type) for each.
#define ASSAY_CALL_FLOATING_TYPES(M) M(::assay::op::float16) M(::assay::op::bfloat16) M(float) M(double)
#define ASSAY_CALL_INTEGRAL_TYPES(M) \
  M(int8_t) M(int16_t) M(int32_t) M(int64_t) M(uint8_t) M(uint16_t) M(uint32_t) M(uint64_t)
#define ASSAY_CALL_REAL_NUMBER_TYPES(M) ASSAY_CALL_FLOATING_TYPES(M) ASSAY_CALL_INTEGRAL_TYPES(M)
#define ASSAY_CALL_ALL_TYPES(M) \
  ASSAY_CALL_REAL_NUMBER_TYPES(M) M(std::complex<float>) M(std::complex<double>) M(bool)

extern "C" {

__attribute__((weak, visibility("default"))) uint32_t assay_abi_version() { return ASSAY_OP_ABI_VERSION; }

__attribute__((weak, visibility("default"))) void assay_register_ops(const AssayRegistrar* registrar) {
  ::assay::op::Guarded(
      [&] {
        for (const ::assay::op::Telling& telling : ::assay::op::Tellings()) telling(*registrar);
      },
      [&](const ::assay::op::Status& status) {
        registrar->fail(registrar->self, ::assay::op::TextOf(status.message()));
      });
}

}  // extern "C"

#endif  // ASSAY_CUSTOM_API_REGISTRATION_H_
