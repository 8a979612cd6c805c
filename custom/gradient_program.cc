#include "custom/gradient_program.h"

#include <deque>
#include <utility>
#include <vector>

#include "custom/c_values.h"
#include "evaluator/verify.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "hlo/proto/words.h"
#include "hlo/text/parser.h"

namespace assay::custom {
namespace {

// An instruction as a line of text, without the name of its operands.
std::string LineOf(std::string_view name, std::string_view shape, std::string_view opcode,
                   std::string_view inside, std::string_view attributes) {
  return fmt::format("{} = {}{}{}({}){}{}", name, shape, shape.empty() ? "" : " ", opcode, inside,
                     attributes.empty() ? "" : ", ", attributes);
}

// What a gradient function adds to, by way of AssayGradient.
class GradientWriter {
 public:
  GradientWriter(const RegisteredOp& op, const ResolvedCall& bound) : op_(op), attrs_(bound.attrs) {}

  int64_t AddParameter(const Shape& shape) {
    Append(LineOf(NameOf(size()), shape.ToString(), "parameter", fmt::format("{}", parameters_++), ""),
           shape);
    return size() - 1;
  }

  // -1, and the first error kept, where the instruction is wrong.
  // Its shape is that of the same instruction alone.
  int64_t Add(std::string_view opcode, std::string_view shape, std::span<const int64_t> operands,
              std::string_view attributes) {
    if (!status_.ok()) return -1;
    std::vector<std::string> names, lines;
    for (size_t k = 0; k < operands.size(); ++k) {
      const int64_t operand = operands[k];
      if (operand < 0 || operand >= size()) {
        Fail(InvalidProgram({}, fmt::format("operand {} of {} is not an instruction", k, opcode)));
        return -1;
      }
      names.push_back(NameOf(operand));
      lines.push_back(LineOf(NameOf(operand), shapes_[static_cast<size_t>(operand)].ToString(), "parameter",
                             fmt::format("{}", lines.size()), ""));
      for (size_t j = 0; j < k; ++j) {
        if (operands[j] != operand) continue;
        lines.pop_back();
        break;
      }
    }
    // A constant's literal stands where other opcodes have operands.
    const bool is_constant = opcode == "constant";
    const std::string line =
        LineOf(NameOf(size()), shape, opcode,
               is_constant ? std::string(attributes) : fmt::format("{}", fmt::join(names, ", ")),
               is_constant ? std::string_view() : attributes);
    absl::StatusOr<Shape> inferred = ShapeOf(lines, line);
    if (!inferred.ok()) {
      Fail(WithPrefix(inferred.status(), fmt::format("'{}'", line)));
      return -1;
    }
    Append(line, *std::move(inferred));
    return size() - 1;
  }

  void Fail(const absl::Status& status) {
    if (status_.ok()) status_ = WithPrefix(status, fmt::format("gradient of op {}", op_.interface().name));
  }

  // Zeros where a value has no gradient.
  int64_t Zeros(const Shape& shape) {
    const std::string type(Name(shape.element_type()));
    const int64_t zero =
        Add("constant", type + "[]", {}, shape.element_type() == ElementType::kPred ? "false" : "0");
    const int64_t operands[] = {zero};
    return shape.rank() == 0 ? zero : Add("broadcast", shape.ToString(), operands, "dimensions={}");
  }

  std::string Text(std::span<const int64_t> results) const {
    std::vector<std::string> names;
    for (const int64_t result : results) names.push_back(NameOf(result));
    std::string text = "HloModule gradient\n\nENTRY main {\n";
    for (const std::string& line : lines_) text += "  " + line + "\n";
    return text + fmt::format("  ROOT gradients = tuple({})\n}}\n", fmt::join(names, ", "));
  }

  absl::Status Build(const GradientFunction& function, std::span<const int64_t> inputs,
                     std::span<const int64_t> outputs, std::span<const int64_t> gradients);

  const Shape& shape(int64_t instruction) const { return shapes_[static_cast<size_t>(instruction)]; }
  const std::vector<int64_t>& found() const { return found_; }
  const absl::Status& status() const { return status_; }

 private:
  static std::string NameOf(int64_t instruction) { return fmt::format("v{}", instruction); }
  int64_t size() const { return std::ssize(shapes_); }
  void Append(std::string line, Shape shape) {
    lines_.push_back(std::move(line));
    shapes_.push_back(std::move(shape));
  }

  static absl::StatusOr<Shape> ShapeOf(const std::vector<std::string>& parameters, const std::string& line) {
    const std::string text =
        fmt::format("HloModule m\nENTRY e {{\n{}\nROOT {}\n}}\n", fmt::join(parameters, "\n"), line);
    ASSAY_ASSIGN_OR_RETURN(Module module, ParseHloText(text));
    ASSAY_ASSIGN_OR_RETURN(const VerifiedModule verified, Verify(std::move(module)));
    return *verified.module().entry_computation().root_instruction().shape;
  }

  const RegisteredOp& op_;
  const CAttrs attrs_;
  std::vector<std::string> lines_;
  std::deque<Shape> shapes_;
  int64_t parameters_ = 0;
  std::vector<int64_t> found_;  // by input
  absl::Status status_;
};

absl::Status GradientWriter::Build(const GradientFunction& function, std::span<const int64_t> inputs,
                                   std::span<const int64_t> outputs, std::span<const int64_t> gradients) {
  found_.assign(inputs.size(), -1);
  if (function.build == nullptr) return absl::OkStatus();
  AssayGradient call = {};
  call.size = sizeof(call);
  call.self = this;
  call.num_inputs = inputs.size(), call.num_outputs = outputs.size();
  call.inputs = inputs.data(), call.outputs = outputs.data(), call.gradients = gradients.data();
  call.num_attrs = attrs_.size(), call.attrs = attrs_.data();
  call.add = [](void* self, AssayText opcode, AssayText shape, size_t num_operands, const int64_t* operands,
                AssayText attributes) {
    return static_cast<GradientWriter*>(self)->Add(ViewOf(opcode), ViewOf(shape), {operands, num_operands},
                                                   ViewOf(attributes));
  };
  call.type_of = [](void* self, int64_t instruction) -> AssayType {
    auto& of = *static_cast<GradientWriter*>(self);
    const bool is_array = instruction >= 0 && instruction < of.size() && of.shape(instruction).IsArray();
    return is_array ? proto::NumberOf(of.shape(instruction).element_type()) : 0;
  };
  call.shape_of = [](void* self, int64_t instruction) -> AssayShape {
    auto& of = *static_cast<GradientWriter*>(self);
    const bool is_array = instruction >= 0 && instruction < of.size() && of.shape(instruction).IsArray();
    if (!is_array) return {ASSAY_UNKNOWN, nullptr};
    return {of.shape(instruction).rank(), of.shape(instruction).sizes().data()};
  };
  call.set_gradient = [](void* self, size_t input, int64_t instruction) {
    auto& of = *static_cast<GradientWriter*>(self);
    if (input >= of.found_.size() || instruction >= of.size())
      return of.Fail(InvalidProgram({}, fmt::format("input {} gets the gradient {}", input, instruction)));
    of.found_[input] = instruction;
  };
  call.fail = [](void* self, int32_t error, AssayText message) {
    auto& of = *static_cast<GradientWriter*>(self);
    of.Fail(ErrorOf(of.op_.interface().name, error, message, /*running=*/false));
  };
  function.build(function.user, &call);
  return status_;
}

}  // namespace

absl::StatusOr<std::string> GradientProgram(const RegisteredOp& op, const Instruction& call,
                                            std::span<const Shape* const> operands,
                                            std::span<const Shape> results) {
  if (op.gradient() == nullptr)
    return NotSupported({}, fmt::format("op {} has registered no gradient", op.interface().name));
  ASSAY_ASSIGN_OR_RETURN(const ResolvedCall bound, BindCall(op.interface(), call, operands, nullptr));
  GradientWriter writer(op, bound);
  std::vector<int64_t> inputs, outputs, gradients;
  for (const Shape* const operand : operands) {
    if (!operand->IsArray()) return NotSupported({}, "gradients of a value that is not an array");
    inputs.push_back(writer.AddParameter(*operand));
  }
  for (const Shape& result : results) outputs.push_back(writer.AddParameter(result));
  for (const Shape& result : results) gradients.push_back(writer.AddParameter(result));
  ASSAY_RETURN_IF_ERROR(writer.Build(*op.gradient(), inputs, outputs, gradients));
  std::vector<int64_t> found = writer.found();
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i] < 0) {
      found[i] = writer.Zeros(*operands[i]);
    } else if (!Shape::Compatible(writer.shape(found[i]), *operands[i])) {
      return InvalidProgram(
          {}, fmt::format("gradient of op {}: that of input {} is {}, wanted {}", op.interface().name, i,
                          writer.shape(found[i]).ToString(), operands[i]->ToString()));
    }
  }
  ASSAY_RETURN_IF_ERROR(writer.status());
  return writer.Text(found);
}

}  // namespace assay::custom
