#include "custom/composites.h"

#include <charconv>
#include <memory>
#include <utility>

#include "fmt/format.h"

namespace assay::custom {
namespace {

int64_t VersionOf(const Instruction& call) {
  const std::string* const text = FrontendAttribute(call, "composite.version");
  int64_t version = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), version);
  return version;
}

const RegisteredOp* OpFor(const OpSet& ops, const Instruction& call) {
  const std::string* const name = FrontendAttribute(call, "composite.name");
  if (name == nullptr) return nullptr;
  for (const auto& [key, op] : ops.ops()) {
    const OpInterface& interface = op->interface();
    if (interface.composite == *name && interface.composite_version == VersionOf(call)) return op.get();
  }
  return nullptr;
}

// Appends to a computation, whose instructions then still stand behind their operands.
class Appender {
 public:
  Appender(Computation& computation, const Instruction& call) : computation_(computation), call_(call) {}

  int32_t CustomCall(std::string_view suffix, std::string_view target, std::vector<int32_t> operands,
                     std::shared_ptr<const Shape> shape, std::string config, bool has_effect) {
    Instruction made = New(Opcode::kCustomCall, suffix, std::move(shape));
    made.operands.assign(operands.begin(), operands.end());
    made.attributes.Set(Attr::kCustomCallTarget, std::string(target));
    made.attributes.Set(Attr::kApiVersion, Word{"API_VERSION_TYPED_FFI"});
    if (has_effect) made.attributes.Set(Attr::kCustomCallHasSideEffect, true);
    auto extras = std::make_shared<InstructionExtras>();
    extras->backend_config.text = std::move(config);
    made.extras = std::move(extras);
    return Add(std::move(made));
  }
  int32_t Element(std::string_view suffix, int32_t tuple, int64_t i) {
    const Shape& shape = *computation_.instructions[static_cast<size_t>(tuple)].shape;
    Instruction made = New(Opcode::kGetTupleElement, fmt::format("{}.{}", suffix, i),
                           std::make_shared<const Shape>(shape.element(i)));
    made.operands = {tuple};
    made.attributes.Set(Attr::kIndex, i);
    return Add(std::move(made));
  }

 private:
  Instruction New(Opcode opcode, std::string_view suffix, std::shared_ptr<const Shape> shape) const {
    Instruction made(opcode);
    made.name = fmt::format("{}.{}", call_.name, suffix);
    made.position = call_.position;
    made.shape = std::move(shape);
    return made;
  }
  int32_t Add(Instruction instruction) {
    computation_.instructions.push_back(std::move(instruction));
    return static_cast<int32_t>(computation_.instructions.size()) - 1;
  }

  Computation& computation_;
  const Instruction call_;
};

// CALL-5: within `atol`, else to the bit; empty.
std::string ToleranceOf(const OpInterface& op) {
  const OpAttrDef* const atol = op.FindAttr("atol");
  if (atol == nullptr || !atol->default_value) return "";
  const auto* const value = std::get_if<float>(&atol->default_value->value);
  return value == nullptr ? "" : fmt::format("{{tolerance = {} : f64}}", static_cast<double>(*value));
}

void AddCheck(Computation& computation, int32_t number, const RegisteredOp& op) {
  const Instruction call = computation.instructions[static_cast<size_t>(number)];
  Appender appender(computation, call);
  const std::string* const config = FrontendAttribute(call, "composite.attributes");
  const int32_t taken =
      appender.CustomCall("taken", op.interface().name, {call.operands.begin(), call.operands.end()},
                          call.shape, config == nullptr ? "" : *config, op.interface().has_side_effect);
  const std::string tolerance = ToleranceOf(op.interface());
  const auto compare = [&](std::string_view suffix, int32_t found, int32_t wanted) {
    appender.CustomCall(suffix, tolerance.empty() ? "check.expect_eq" : "check.expect_almost_eq",
                        {found, wanted}, std::make_shared<const Shape>(Shape::Tuple({})), tolerance,
                        /*has_effect=*/true);
  };
  if (!call.shape->IsTuple()) return compare("check", taken, number);
  for (int64_t i = 0; i < static_cast<int64_t>(call.shape->elements().size()); ++i) {
    if (!call.shape->element(i).IsArray()) continue;
    const int32_t found = appender.Element("taken", taken, i),
                  wanted = appender.Element("decomposed", number, i);
    compare(fmt::format("check.{}", i), found, wanted);
  }
}

}  // namespace

int64_t AddCompositeChecks(Module& module, const OpSet& ops) {
  int64_t checked = 0;
  for (Computation& computation : module.computations) {
    const auto count = static_cast<int32_t>(computation.instructions.size());
    for (int32_t i = 0; i < count; ++i) {
      const Instruction& call = computation.instructions[static_cast<size_t>(i)];
      if (call.opcode != Opcode::kCall || !call.attributes.Bool(Attr::kIsComposite) || call.shape == nullptr)
        continue;
      const RegisteredOp* const op = OpFor(ops, call);
      if (op == nullptr) continue;
      AddCheck(computation, i, *op);
      ++checked;
    }
  }
  return checked;
}

}  // namespace assay::custom
