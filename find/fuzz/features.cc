#include "find/fuzz/features.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace assay::fuzz {
namespace {

constexpr std::string_view kInAComputation = "in a computation ";

std::string TypeName(const Shape& shape) {
  return shape.IsArray() ? std::string(Name(shape.element_type())) : shape.IsTuple() ? "tuple" : "other";
}

bool IsPlumbing(Opcode opcode) {
  return opcode == Opcode::kParameter || opcode == Opcode::kConstant || opcode == Opcode::kTuple ||
         opcode == Opcode::kGetTupleElement;
}

}  // namespace

std::string SignatureOf(const Computation& computation, const Instruction& instruction) {
  std::vector<std::string> operands;
  for (const int32_t operand : instruction.operands) {
    std::string type = TypeName(*computation.instructions[static_cast<size_t>(operand)].shape);
    // A concatenation of five arrays is one of two.
    if (operands.size() < 2 || operands.back() != type) operands.push_back(std::move(type));
  }
  return fmt::format("{}({})->{}", Name(instruction.opcode), fmt::join(operands, ","),
                     TypeName(*instruction.shape));
}

std::set<std::string> FeaturesOf(const Module& module, const Plan& plan) {
  std::set<std::string> features;
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (IsPlumbing(instruction.opcode)) continue;
      features.insert(SignatureOf(computation, instruction));
      for (const int32_t operand : instruction.operands) {
        const Opcode below = computation.instructions[static_cast<size_t>(operand)].opcode;
        if (!IsPlumbing(below))
          features.insert(fmt::format("{} of {}", Name(instruction.opcode), Name(below)));
      }
    }
  }
  for (const ComputationPlan& computation : plan.computations) {
    for (const Step& step : computation.steps) {
      if (step.kernel != nullptr)
        features.insert(fmt::format("kernel {} {} {}", step.engine->name(), step.kernel->algorithm(),
                                    step.fusion == nullptr ? "" : "fused"));
    }
  }
  return features;
}

std::set<std::string> FeaturesOfShares(const Module& module,
                                       std::span<const std::pair<int64_t, double>> shares) {
  constexpr int kFewest = -4;  // exponents of shares
  const Computation& entry = module.entry_computation();
  const Instruction& root = entry.root_instruction();
  const bool is_tuple = root.opcode == Opcode::kTuple;
  std::set<std::string> features;
  for (const auto& [leaf, share] : shares) {
    if (!(share > 0) || !std::isfinite(share)) continue;
    const int exponent = std::ilogb(share);
    if (exponent < kFewest) continue;
    // Generated programs give tuples of arrays; of others the leaf tells nothing.
    if (is_tuple && leaf >= std::ssize(root.operands)) continue;
    const Instruction& output =
        is_tuple ? entry.instructions[static_cast<size_t>(root.operands[static_cast<size_t>(leaf)])] : root;
    if (!IsPlumbing(output.opcode))
      features.insert(fmt::format("share 2^{} of {}", exponent, SignatureOf(entry, output)));
  }
  return features;
}

std::string CauseOf(const Module& module) {
  std::vector<std::string> signatures;
  for (const Computation& computation : module.computations) {
    const bool is_entry = &computation == &module.entry_computation();
    for (const Instruction& instruction : computation.instructions) {
      if (!IsPlumbing(instruction.opcode))
        signatures.push_back(std::string(is_entry ? "" : kInAComputation) +
                             SignatureOf(computation, instruction));
    }
  }
  return fmt::format("{}", fmt::join(signatures, "; "));
}

bool HasOperationsOf(const Module& module, std::string_view cause) {
  std::set<std::pair<bool, std::string_view>> has;  // in a computation that is called; the opcode
  for (const Computation& computation : module.computations) {
    const bool is_called = &computation != &module.entry_computation();
    for (const Instruction& instruction : computation.instructions)
      has.emplace(is_called, Name(instruction.opcode));
  }
  while (!cause.empty()) {
    std::string_view signature = cause.substr(0, cause.find("; "));
    cause.remove_prefix(std::min(signature.size() + 2, cause.size()));
    const bool is_called = signature.starts_with(kInAComputation);
    if (is_called) signature.remove_prefix(kInAComputation.size());
    if (!has.contains({is_called, signature.substr(0, signature.find('('))})) return false;
  }
  return true;
}

std::string Skeleton(std::string_view message) {
  constexpr size_t kMostBytes = 160;
  std::string skeleton;
  char quote = 0;
  for (const char c : message.substr(0, message.find('\n'))) {
    if (quote != 0) {
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '\'' || c == '"' || c == '`') {
      quote = c;
      skeleton += "_";
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      if (skeleton.empty() || skeleton.back() != '#') skeleton += '#';
    } else {
      skeleton += std::iscntrl(static_cast<unsigned char>(c)) != 0 ? ' ' : c;
    }
  }
  return skeleton.substr(0, kMostBytes);
}

}  // namespace assay::fuzz
