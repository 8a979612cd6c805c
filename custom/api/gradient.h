// Gradients: instructions for dL/d(inputs) from those for dL/d(outputs) (docs/spec/custom-ops.md, section 5).
#ifndef ASSAY_CUSTOM_API_GRADIENT_H_
#define ASSAY_CUSTOM_API_GRADIENT_H_

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "custom/api/attributes.h"
#include "custom/api/kernel.h"

namespace assay {
namespace op ASSAY_OP_API {

// An instruction of the program under construction; invalid: none.
struct Op {
  int64_t id = -1;
  bool valid() const { return id >= 0; }
};

class GradContext {
 public:
  explicit GradContext(const AssayGradient& call) : call_(call), attributes_(call.attrs, call.num_attrs) {}

  int64_t num_inputs() const { return static_cast<int64_t>(call_.num_inputs); }
  int64_t num_outputs() const { return static_cast<int64_t>(call_.num_outputs); }
  Op input(int64_t i) const { return {call_.inputs[i]}; }
  Op output(int64_t i) const { return {call_.outputs[i]}; }
  // dL/d(output i); zeros where nothing depends on the output.
  Op grad(int64_t i) const { return {call_.gradients[i]}; }
  template <typename T>
  Status GetAttr(std::string_view name, T* value) const {
    return attributes_.Get(name, value);
  }
  Type type(Op x) const { return static_cast<Type>(call_.type_of(call_.self, x.id)); }
  TensorShape shape(Op x) const {
    const AssayShape shape = call_.shape_of(call_.self, x.id);
    return TensorShape(std::vector<int64_t>(shape.sizes, shape.sizes + (shape.rank < 0 ? 0 : shape.rank)));
  }
  // dL/d(input i). An input that is not set has no gradient.
  void set_gradient(int64_t i, Op gradient) {
    call_.set_gradient(call_.self, static_cast<size_t>(i), gradient.id);
  }

  // Any instruction of HLO: opcode, operands, and the attributes as HLO text writes them. `shape` is for
  // opcodes whose shape does not follow from these, as broadcast and reshape: "f32[2,3]". An invalid Op where
  // it is wrong; the gradient then fails.
  Op Add(const std::string& opcode, const std::vector<Op>& operands, const std::string& attributes = "",
         const std::string& shape = "") {
    std::vector<int64_t> ids;
    ids.reserve(operands.size());
    for (const Op& operand : operands) ids.push_back(operand.id);
    return {call_.add(call_.self, TextOf(opcode), TextOf(shape), ids.size(), ids.data(), TextOf(attributes))};
  }

  // --- What gradients are mostly made of ---
  Op Add(Op a, Op b) { return Add("add", {a, b}); }
  Op Subtract(Op a, Op b) { return Add("subtract", {a, b}); }
  Op Multiply(Op a, Op b) { return Add("multiply", {a, b}); }
  Op Divide(Op a, Op b) { return Add("divide", {a, b}); }
  Op Negate(Op a) { return Add("negate", {a}); }
  // A scalar of the type.
  Op Constant(double value, Type type) {
    std::ostringstream text;
    text.precision(17);
    text << value;
    return Add("constant", {}, text.str(), ShapeText(type, {}));
  }
  Op ConstantInt(int64_t value, Type type) {
    return Add("constant", {}, std::to_string(value), ShapeText(type, {}));
  }
  // Element by element the scalar.
  Op Broadcast(Op scalar, const TensorShape& shape) {
    return Add("broadcast", {scalar}, "dimensions={}", ShapeText(type(scalar), shape));
  }
  Op Zeros(Type type, const TensorShape& shape) { return Broadcast(Constant(0, type), shape); }
  Op Reshape(Op x, const TensorShape& shape) { return Add("reshape", {x}, "", ShapeText(type(x), shape)); }
  Op Convert(Op x, Type to) { return Add("convert", {x}, "", ShapeText(to, shape(x))); }
  // Elements starts[d], starts[d] + 1, … limits[d] - 1 of each dimension d.
  Op Slice(Op x, const std::vector<int64_t>& starts, const std::vector<int64_t>& limits) {
    std::string text = "slice={";
    for (size_t d = 0; d < starts.size(); ++d)
      text += Joined(d > 0 ? ", [" : "[", starts[d], ":", limits[d], "]");
    return Add("slice", {x}, text + "}");
  }
  // `value` around x: low[d] before and high[d] behind it in dimension d.
  Op Pad(Op x, Op value, const std::vector<int64_t>& low, const std::vector<int64_t>& high) {
    std::string text = "padding=";
    for (size_t d = 0; d < low.size(); ++d) text += Joined(d > 0 ? "x" : "", low[d], "_", high[d]);
    return low.empty() ? x : Add("pad", {x, value}, text);
  }

  // "f32[2,3]"
  static std::string ShapeText(Type type, const TensorShape& shape) {
    std::ostringstream text;
    text << NameOf(type) << shape;
    return text.str();
  }
  static const char* NameOf(Type type) {
    switch (type) {
      case Type::kPred:
        return "pred";
      case Type::kS8:
        return "s8";
      case Type::kS16:
        return "s16";
      case Type::kS32:
        return "s32";
      case Type::kS64:
        return "s64";
      case Type::kU8:
        return "u8";
      case Type::kU16:
        return "u16";
      case Type::kU32:
        return "u32";
      case Type::kU64:
        return "u64";
      case Type::kF16:
        return "f16";
      case Type::kF32:
        return "f32";
      case Type::kF64:
        return "f64";
      case Type::kC64:
        return "c64";
      case Type::kBF16:
        return "bf16";
      case Type::kC128:
        return "c128";
    }
    return "?";
  }

 private:
  const AssayGradient& call_;
  const Attributes attributes_;
};

using GradientFn = Status (*)(GradContext* c);

}  // namespace ASSAY_OP_API
}  // namespace assay

#endif  // ASSAY_CUSTOM_API_GRADIENT_H_
