#include "custom/xla/expand_calls.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "base/hash_map.h"
#include "custom/xla/xla_call.h"
#include "evaluator/custom_op.h"
#include "evaluator/ops/control/custom_call.h"
#include "fmt/format.h"
#include "hlo/text/parser.h"

namespace assay::custom {
namespace {

struct Target {
  std::string_view name;
  CallResults (*write)(const XlaCall& call);
};
constexpr Target kTargets[] = {
    {"__cub$DeviceRadixSort", WriteRadixSort},
    {"__cub$DeviceRadixSortUnassignedScratchSize", WriteRadixSort},
    {"__cublas$gemm", WriteGemm},
    {"__cublas$lt$matmul", WriteGemm},
    {"__cublas$lt$matmul$f8", WriteGemm},
    {"__cublas$triangularSolve", WriteTriangularSolve},
    {"__cudnn$convBackwardFilter", WriteConvolution},
    {"__cudnn$convBackwardInput", WriteConvolution},
    {"__cudnn$convBiasActivationForward", WriteConvolution},
    {"__cudnn$convForward", WriteConvolution},
    {"__cudnn$convForwardGraph", WriteConvolutionGraph},
    {"__cudnn$norm", WriteCudnnNorm},
    {"__cusolver$cholesky", WriteCholesky},
    {"__gpu$TopK", WriteTopK},
    {"__onednn$convolution", WriteOneDnnConvolution},
    {"__onednn$layernorm", WriteOneDnnLayerNorm},
    {"__onednn$matmul", WriteOneDnnMatmul},
    {"__onednn$softmax", WriteOneDnnSoftmax},
    {"cpu_csr_sparse_dense_ffi", WriteCsrProduct},
};

const Target* FindTarget(std::string_view name) {
  const auto found = std::find_if(std::begin(kTargets), std::end(kTargets),
                                  [&](const Target& target) { return target.name == name; });
  return found == std::end(kTargets) ? nullptr : found;
}

const Target* TargetOf(const Module& module, const Instruction& instruction) {
  if (instruction.opcode != Opcode::kCustomCall) return nullptr;
  const Target* const target = FindTarget(instruction.attributes.Text(Attr::kCustomCallTarget));
  return target == nullptr || CustomOpOf(module, instruction) != nullptr ? nullptr : target;
}

bool IsStaticArray(const Shape& shape) { return shape.IsArray() && !shape.HasDynamic(); }

bool IsOfStaticArrays(const Shape& result) {
  return result.IsTuple() ? !result.elements().empty() &&
                                std::all_of(result.elements().begin(), result.elements().end(), IsStaticArray)
                          : IsStaticArray(result);
}

// One array of bytes behind the results is what the library works in. Decision: xla-call-workspace
bool HasWorkspace(const XlaCall& call, size_t results) {
  if (call.num_results() != static_cast<int64_t>(results) + 1) return false;
  const Shape& last = call.result_shape(call.num_results() - 1);
  return last.rank() == 1 &&
         (last.element_type() == ElementType::kS8 || last.element_type() == ElementType::kU8);
}

absl::Status CheckResults(const XlaCall& call, std::span<const WrittenArray> results) {
  if (static_cast<int64_t>(results.size()) != call.num_results()) {
    return InvalidProgram({}, fmt::format("the result is {}, wanted {} and a workspace of bytes",
                                          call.result.ToString(), Counted(results.size(), "array")));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const Shape& shape = call.result_shape(static_cast<int64_t>(i));
    if (shape.element_type() == results[i].type &&
        std::equal(shape.sizes().begin(), shape.sizes().end(), results[i].sizes.begin(),
                   results[i].sizes.end()))
      continue;
    return InvalidProgram({}, fmt::format("result {} is {}, the operands give {}[{}]", i, shape.ToString(),
                                          Name(results[i].type), ListText(results[i].sizes)));
  }
  return absl::OkStatus();
}

// The computations that the call stands for, the last of them with the call's parameters.
absl::StatusOr<std::vector<Computation>> ComputationsFor(const Computation& caller,
                                                         const Instruction& instruction,
                                                         const Target& target) {
  std::vector<Shape> operands;
  for (const int32_t operand : instruction.operands) {
    operands.push_back(*caller.instructions[static_cast<size_t>(operand)].shape);
    if (!IsStaticArray(operands.back()))
      return NotSupported({},
                          fmt::format("an operand of {}, wanted static arrays", operands.back().ToString()));
  }
  if (!IsOfStaticArrays(*instruction.shape))
    return NotSupported({},
                        fmt::format("a result of {}, wanted static arrays", instruction.shape->ToString()));
  ASSAY_ASSIGN_OR_RETURN(const CallConfig config, CallConfig::Of(instruction));
  CallWriter write(operands);
  const XlaCall call{instruction, target.name, operands, *instruction.shape, config, write};
  ASSAY_ASSIGN_OR_RETURN(std::vector<WrittenArray> results, target.write(call));
  if (HasWorkspace(call, results.size())) {
    const Shape& workspace = call.result_shape(call.num_results() - 1);
    results.push_back(write.Splat(workspace.element_type(), 0, workspace.sizes()));
  }
  ASSAY_RETURN_IF_ERROR(CheckResults(call, results));
  ASSAY_ASSIGN_OR_RETURN(Module module, ParseHloText(write.Text(results, call.result.IsTuple())));
  ASSAY_ASSIGN_OR_RETURN(const VerifiedModule verified, Verify(std::move(module)));
  return verified.module().computations;
}

// The error of a call, where it stands in the program: the lines of what it was written out to mean nothing
// to a reader.
absl::Status AtCall(const absl::Status& status, const Instruction& call, std::string_view target) {
  return InvalidProgram(call.position, fmt::format("custom-call {}: CustomCall-C4: {}: {}", call.name, target,
                                                   std::string(status.message())));
}

// A call without a meaning stays, with the reason for who runs it.
void KeepWithReason(Instruction& call, const absl::Status& status) {
  auto extras = call.extras == nullptr ? std::make_shared<InstructionExtras>()
                                       : std::make_shared<InstructionExtras>(*call.extras);
  std::erase_if(extras->frontend_attributes, [](const auto& a) { return a.first == kNotSupportedReason; });
  extras->frontend_attributes.emplace_back(std::string(kNotSupportedReason),
                                           StringOrJson{std::string(status.message())});
  std::sort(extras->frontend_attributes.begin(), extras->frontend_attributes.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  call.extras = std::move(extras);
}

class CallExpander {
 public:
  explicit CallExpander(const Module& module) : module_(module), result_(module) {}

  absl::StatusOr<Module> Run() {
    for (const Computation& computation : module_.computations) names_.insert(computation.name);
    result_.computations.clear();
    for (const Computation& computation : module_.computations) {
      Computation copy = computation;
      for (Instruction& instruction : copy.instructions) {
        Renumber(instruction, new_ids_);
        const Target* const target = TargetOf(module_, instruction);
        if (target != nullptr) ASSAY_RETURN_IF_ERROR(Expand(copy, instruction, *target));
      }
      new_ids_.push_back(Append(std::move(copy)));
    }
    result_.entry = new_ids_[static_cast<size_t>(module_.entry.value)];
    return std::move(result_);
  }

 private:
  ComputationId Append(Computation computation) {
    result_.computations.push_back(std::move(computation));
    return ComputationId{static_cast<int32_t>(result_.computations.size() - 1)};
  }

  static void Renumber(Instruction& instruction, const std::vector<ComputationId>& new_ids) {
    for (const AttributeMap::Entry& entry : AttributeMap(instruction.attributes).entries()) {
      if (const ComputationId* const id = std::get_if<ComputationId>(&entry.value)) {
        instruction.attributes.Set(entry.attr, new_ids[static_cast<size_t>(id->value)]);
      } else if (const auto* const ids = std::get_if<std::vector<ComputationId>>(&entry.value)) {
        std::vector<ComputationId> renumbered;
        for (const ComputationId old : *ids) renumbered.push_back(new_ids[static_cast<size_t>(old.value)]);
        instruction.attributes.Set(entry.attr, std::move(renumbered));
      }
    }
  }

  std::string UniqueName(const std::string& wish) {
    std::string name = wish;
    for (int64_t n = 1; !names_.insert(name).second; ++n) name = fmt::format("{}.{}", wish, n);
    return name;
  }

  absl::Status Expand(const Computation& caller, Instruction& call, const Target& target) {
    absl::StatusOr<std::vector<Computation>> computations = ComputationsFor(caller, call, target);
    if (ExitCodeOf(computations.status()) == 4) {
      KeepWithReason(call, computations.status());
      return absl::OkStatus();
    }
    if (!computations.ok()) return AtCall(computations.status(), call, target.name);
    std::vector<ComputationId> ids;
    int64_t number = 0;  // names are unique in the call
    for (Computation& computation : *computations) {
      computation.name = UniqueName(fmt::format("{}.{}", call.name, computation.name));
      computation.position = call.position;
      for (Instruction& instruction : computation.instructions) {
        instruction.position = call.position;
        instruction.name = fmt::format("{}.{}.{}", call.name, Name(instruction.opcode), number++);
        Renumber(instruction, ids);
      }
      ids.push_back(Append(std::move(computation)));
    }
    call.opcode = Opcode::kCall;
    call.attributes = AttributeMap();
    call.attributes.Set(Attr::kToApply, ids.back());
    if (call.extras != nullptr) {
      auto extras = std::make_shared<InstructionExtras>(*call.extras);
      extras->backend_config = {};
      call.extras = std::move(extras);
    }
    return absl::OkStatus();
  }

  const Module& module_;
  Module result_;
  std::vector<ComputationId> new_ids_;  // by the old number
  HashSet<std::string> names_;
};

}  // namespace

absl::StatusOr<std::optional<VerifiedModule>> ExpandXlaCalls(const VerifiedModule& verified) {
  const Module& module = verified.module();
  const bool has_any =
      std::any_of(module.computations.begin(), module.computations.end(), [&](const Computation& c) {
        return std::any_of(c.instructions.begin(), c.instructions.end(),
                           [&](const Instruction& i) { return TargetOf(module, i) != nullptr; });
      });
  if (!has_any) return std::optional<VerifiedModule>();
  ASSAY_ASSIGN_OR_RETURN(Module expanded, CallExpander(module).Run());
  ASSAY_ASSIGN_OR_RETURN(VerifiedModule result, Verify(std::move(expanded)));
  return std::optional<VerifiedModule>(std::move(result));
}

std::vector<std::string> XlaCallTargets() {
  std::vector<std::string> names;
  for (const Target& target : kTargets) names.emplace_back(target.name);
  return names;
}

}  // namespace assay::custom
