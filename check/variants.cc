#include "check/variants.h"

#include <algorithm>
#include <set>

#include "evaluator/bounds/products.h"
#include "evaluator/instruction_view.h"
#include "fmt/format.h"

namespace assay {
namespace {

// Of dots and convolutions alone: their settings are what differs between variants of a backend.
void Explain(const Module& module, const Profile& profile, VariantVerdict& verdict, const Profile& variant) {
  std::set<ElementType> types;
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (!bound::SumsProducts(instruction.opcode)) continue;
      const InstructionView view{computation, instruction};
      bool differs = false;
      for (size_t k = 0; k < 2; ++k) {
        const ElementType type = view.operand(k).element_type();
        const auto t = static_cast<size_t>(type);
        if (profile.dot_input_bits[t] == variant.dot_input_bits[t] &&
            profile.tensor_core_bits[t] == variant.tensor_core_bits[t])
          continue;
        differs = true;
        types.insert(type);
      }
      if (differs) verdict.instructions.push_back(instruction.name);
    }
  }
  for (const ElementType type : types) {
    const auto t = static_cast<size_t>(type);
    if (profile.dot_input_bits[t] != variant.dot_input_bits[t]) {
      verdict.allows.push_back(
          variant.dot_input_bits[t] == 0
              ? fmt::format("{} operands with all their bits", Name(type))
              : fmt::format("{} operands cut to {} significant bits", Name(type), variant.dot_input_bits[t]));
    }
    if (profile.tensor_core_bits[t] != variant.tensor_core_bits[t]) {
      verdict.allows.push_back(variant.tensor_core_bits[t] == 0
                                   ? fmt::format("sums of {} products without tensor cores", Name(type))
                                   : fmt::format("sums of {} products cut at {} fraction bits", Name(type),
                                                 variant.tensor_core_bits[t]));
    }
  }
}

}  // namespace

absl::StatusOr<std::vector<VariantVerdict>> CompareToVariants(const Program& program, const Profile& profile,
                                                              const DeviceGrid& grid,
                                                              const std::vector<DeviceInputs>& inputs,
                                                              const RunOptions& options,
                                                              const std::map<std::string, Literal>& actual,
                                                              std::span<const Engine* const> engines) {
  std::vector<VariantVerdict> verdicts;
  for (const std::string& name : profile.variants) {
    ASSAY_ASSIGN_OR_RETURN(const Profile variant, LoadProfile(name));
    ASSAY_ASSIGN_OR_RETURN(const BoundedOutputs bounded,
                           RunWithBounds(program, variant, grid, inputs, options, engines));
    VariantVerdict verdict{name, 0, {}, {}};
    for (const BoundedOutput& output : bounded.outputs) {
      const Conformance found = CompareToBounds(output, ActualOf(actual, output));
      verdict.outside += found.error.empty() ? found.outside : 1;
    }
    Explain(program.module(), profile, verdict, variant);
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

}  // namespace assay
