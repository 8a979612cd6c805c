#include "plan/costs.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "evaluator/registry.h"
#include "fmt/format.h"

namespace assay {
namespace {

// Window positions that are looked at one by one; beyond, the padding's products count too.
constexpr int64_t kMaxPositions = 1 << 16;
constexpr double kMost = 1e300;  // operations: no sum is infinite

double Elements(const Shape& shape) {
  if (!shape.IsTuple()) return shape.IsArray() ? static_cast<double>(shape.num_elements()) : 0;
  return shape.elements().empty() ? 0 : Elements(shape.element(0));  // of several results side by side
}
double BytesOf(const Shape& shape) { return static_cast<double>(shape.TotalBytes()); }

bool HasUnbounded(const Shape& shape) {
  if (shape.IsArray()) return shape.HasUnbounded();
  return std::any_of(shape.elements().begin(), shape.elements().end(), HasUnbounded);
}

double CeilLog2(int64_t n) {
  return n <= 1 ? 0 : static_cast<double>(std::bit_width(static_cast<uint64_t>(n - 1)));
}

// HloCostAnalysis' list.
bool IsFunction(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAcos:
    case Opcode::kAcosh:
    case Opcode::kAsin:
    case Opcode::kAsinh:
    case Opcode::kAtan2:
    case Opcode::kAtanh:
    case Opcode::kCbrt:
    case Opcode::kCos:
    case Opcode::kCosh:
    case Opcode::kErf:
    case Opcode::kExp:
    case Opcode::kExpm1:
    case Opcode::kLog:
    case Opcode::kLog1p:
    case Opcode::kLogistic:
    case Opcode::kPower:
    case Opcode::kRsqrt:
    case Opcode::kSin:
    case Opcode::kSinh:
    case Opcode::kSqrt:
    case Opcode::kTan:
    case Opcode::kTanh:
      return true;
    default:
      return false;
  }
}

// Nothing is moved.
bool IsPassedOn(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAddDependency:
    case Opcode::kAfterAll:
    case Opcode::kBitcast:
    case Opcode::kConstant:
    case Opcode::kCopy:
    case Opcode::kCopyDone:
    case Opcode::kCopyStart:
    case Opcode::kDomain:
    case Opcode::kDynamicReshape:
    case Opcode::kGetTupleElement:
    case Opcode::kInfeed:
    case Opcode::kOptBarrier:
    case Opcode::kOutfeed:
    case Opcode::kParameter:
    case Opcode::kRecv:
    case Opcode::kRecvDone:
    case Opcode::kReshape:
    case Opcode::kSend:
    case Opcode::kSendDone:
    case Opcode::kTuple:
      return true;
    default:
      return false;
  }
}

bool RunsSteps(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAsyncDone:
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
    case Opcode::kCall:
    case Opcode::kConditional:
    case Opcode::kFusion:
    case Opcode::kScan:
    case Opcode::kWhile:
      return true;
    default:
      return false;
  }
}

// Outputs o in [0, outputs) whose element at o * stride + offset of the base, dilated or not, is neither padding nor a hole.
int64_t ValidOutputs(int64_t dilated, int64_t outputs, int64_t offset, const WindowDimension& window) {
  // The first o with o * stride + offset >= low.
  const auto first = [&](int64_t low) {
    return std::clamp<int64_t>(low <= offset ? 0 : (low - offset - 1) / window.stride + 1, 0, outputs);
  };
  const int64_t begin = first(0), end = first(dilated);
  if (window.base_dilation == 1) return end - begin;
  int64_t valid = 0;
  for (int64_t o = begin; o < end; ++o) valid += (o * window.stride + offset) % window.base_dilation == 0;
  return valid;
}

// Pairs of an output and a window position that meet an element of the base.
double ValidPositions(int64_t base, int64_t outputs, const WindowDimension& window) {
  const int64_t each = window.base_dilation == 1 ? 1 : std::max<int64_t>(outputs, 1);
  if (window.size > kMaxPositions / each)
    return static_cast<double>(outputs) * static_cast<double>(window.size);
  const int64_t dilated = base == 0 ? 0 : (base - 1) * window.base_dilation + 1;
  int64_t valid = 0;
  for (int64_t k = 0; k < window.size; ++k)
    valid += ValidOutputs(dilated, outputs, k * window.window_dilation - window.padding_low, window);
  return static_cast<double>(valid);
}

double ConvolutionFlops(const Instruction& instruction, const Shape& input, const Shape& kernel) {
  const auto* const labels =
      std::get_if<std::shared_ptr<const ConvDimensionNumbers>>(instruction.attributes.Find(Attr::kDimLabels));
  if (labels == nullptr) return 0;
  const ConvDimensionNumbers& dims = **labels;
  const Shape& result = *instruction.shape;
  double flops = 2.0 * static_cast<double>(kernel.size(dims.kernel_input_feature)) *
                 static_cast<double>(result.size(dims.output_batch)) *
                 static_cast<double>(result.size(dims.output_feature));
  const Window& window = instruction.attributes.WindowOf();
  for (size_t d = 0; d < dims.input_spatial.size(); ++d) {
    flops *= ValidPositions(input.size(dims.input_spatial[d]), result.size(dims.output_spatial[d]),
                            d < window.size() ? window[d] : WindowDimension{});
  }
  return flops;
}

void AddOperations(const Cost& more, double times, Cost& cost) {
  cost.flops = std::min(cost.flops + times * more.flops, kMost);
  cost.functions = std::min(cost.functions + times * more.functions, kMost);
  cost.known = cost.known && more.known;
}

// What one instruction takes.
class Counter {
 public:
  // `totals` of the computations that it calls.
  Counter(std::span<const Cost> totals, const Computation& computation, const Instruction& instruction)
      : totals_(totals), computation_(computation), instruction_(instruction) {}

  Cost Run() {
    Bytes();
    Operations();
    const auto unbounded = [&](int32_t operand) {
      return HasUnbounded(*computation_.instructions[operand].shape);
    };
    if (HasUnbounded(*instruction_.shape) ||
        std::any_of(instruction_.operands.begin(), instruction_.operands.end(), unbounded)) {
      cost_.known = false;
    }
    return cost_;
  }

 private:
  const Shape& Operand(size_t k) const { return *computation_.instructions[instruction_.operands[k]].shape; }
  const AttributeMap& Attributes() const { return instruction_.attributes; }

  // Of the operands from `first` on, each once.
  double OperandBytes(size_t first = 0) const {
    double bytes = 0;
    const auto begin = instruction_.operands.begin();
    for (size_t k = first; k < instruction_.operands.size(); ++k) {
      const auto at = begin + static_cast<std::ptrdiff_t>(k);
      if (std::find(begin, at, *at) == at) bytes += BytesOf(Operand(k));
    }
    return bytes;
  }

  void Bytes() {
    const Shape& result = *instruction_.shape;
    if (IsPassedOn(instruction_.opcode) || RunsSteps(instruction_.opcode)) return;
    cost_.written = BytesOf(result);
    switch (instruction_.opcode) {
      case Opcode::kSlice:
      case Opcode::kDynamicSlice:
      case Opcode::kGather:
        cost_.read = cost_.written + OperandBytes(1);
        break;
      case Opcode::kDynamicUpdateSlice:
        cost_.written = BytesOf(Operand(1));
        cost_.read = OperandBytes(1);
        break;
      case Opcode::kScatter: {
        const size_t arrays = instruction_.operands.size() / 2;  // and as many updates behind the indices
        cost_.written = 0;
        for (size_t k = arrays + 1; k < instruction_.operands.size(); ++k)
          cost_.written += BytesOf(Operand(k));
        cost_.read = cost_.written + OperandBytes(arrays);
        break;
      }
      case Opcode::kGetDimensionSize:
      case Opcode::kSetDimensionSize:
        cost_.written = 0;
        break;
      default:
        cost_.read = OperandBytes();
    }
  }

  // `times` applications of a called computation.
  void Apply(Attr attr, double times) {
    const std::optional<ComputationId> id = Attributes().Computation(attr);
    if (!id || times <= 0) return;
    AddOperations(totals_[static_cast<size_t>(id->value)], times, cost_);
  }

  double WindowSize() const {
    double size = 1;
    for (const WindowDimension& dimension : Attributes().WindowOf())
      size *= static_cast<double>(dimension.size);
    return size;
  }

  double Contracted() const {
    double size = 1;
    for (int64_t d : Attributes().List(Attr::kLhsContractingDims))
      size *= static_cast<double>(Operand(0).size(d));
    return size;
  }

  // Every product's row of lhs meets the free dimensions of rhs, in whatever group it is.
  double RaggedDotFlops() const {
    double columns = Elements(Operand(1));
    for (const Attr attr : {Attr::kRhsBatchDims, Attr::kRhsContractingDims, Attr::kRhsGroupDims}) {
      for (int64_t d : Attributes().List(attr))
        columns /= std::max(1.0, static_cast<double>(Operand(1).size(d)));
    }
    return 2 * Elements(Operand(0)) * columns;
  }

  void Operations() {
    const Opcode opcode = instruction_.opcode;
    const double n = Elements(*instruction_.shape);
    if (IsFunction(opcode)) {
      cost_.functions = n;
    } else if (DefinitionOf(opcode).strip != nullptr) {
      cost_.flops = n;
    } else if (!instruction_.operands.empty()) {
      WithOperands(opcode, n);
    }
  }

  void WithOperands(Opcode opcode, double n) {
    const Shape& first = Operand(0);
    switch (opcode) {
      case Opcode::kDot:
      case Opcode::kScaledDot:
        cost_.flops = 2 * n * Contracted();
        break;
      case Opcode::kRaggedDot:
        cost_.flops = RaggedDotFlops();
        break;
      case Opcode::kConvolution:
        cost_.flops = ConvolutionFlops(instruction_, first, Operand(1));
        break;
      case Opcode::kReduce:
        Apply(Attr::kToApply, Elements(first) - n);
        break;
      case Opcode::kReduceWindow:
        Apply(Attr::kToApply, n * (WindowSize() - 1));
        break;
      case Opcode::kSelectAndScatter:
        Apply(Attr::kSelect, Elements(Operand(1)) * (WindowSize() - 1));
        Apply(Attr::kScatter, Elements(Operand(1)));
        break;
      case Opcode::kMap:
        Apply(Attr::kToApply, n);
        break;
      case Opcode::kScatter:
        Apply(Attr::kToApply, Elements(Operand(instruction_.operands.size() / 2 + 1)));
        break;
      case Opcode::kCustomCall:
        cost_.known = false;
        break;
      default:
        Others(opcode, first, n);
    }
  }

  void Others(Opcode opcode, const Shape& first, double n) {
    const double elements = Elements(first);
    switch (opcode) {
      case Opcode::kSort: {
        const std::span<const int64_t> dims = Attributes().List(Attr::kDimensions);
        if (!dims.empty()) cost_.flops = elements * CeilLog2(first.size(dims[0]));
        break;
      }
      case Opcode::kTopK:
        cost_.flops = elements;
        break;
      case Opcode::kFft: {
        double logs = 0;
        for (int64_t length : Attributes().List(Attr::kFftLength)) logs += CeilLog2(length);
        cost_.flops = 8 * std::max(elements, n) * logs;
        break;
      }
      case Opcode::kCholesky:
        cost_.flops = elements * static_cast<double>(first.size(first.rank() - 1)) / 3;
        break;
      case Opcode::kTriangularSolve:
        cost_.flops = 2 * Elements(Operand(1)) * static_cast<double>(first.size(first.rank() - 1));
        break;
      case Opcode::kRng:
        cost_.functions = n;
        break;
      default:
        break;
    }
  }

  const std::span<const Cost> totals_;
  const Computation& computation_;
  const Instruction& instruction_;
  Cost cost_;
};

// Of the computations that the instruction runs as steps: of a conditional the largest one's.
Cost CalledOperations(std::span<const Cost> totals, const Instruction& instruction) {
  Cost sum, largest;
  for (ComputationId id : CalledComputations(instruction)) {
    const Cost& called = totals[static_cast<size_t>(id.value)];
    AddOperations(called, 1, sum);
    if (called.flops + called.functions >= largest.flops + largest.functions) largest = called;
  }
  return instruction.opcode == Opcode::kConditional ? largest : sum;
}

// Of an operand of a fusion: the slices alone where no other member reads it.
double BytesReadOf(const Computation& computation, const Fusion& fusion, int32_t operand) {
  const auto shape = [&](int32_t i) -> const Shape& {
    return *computation.instructions[static_cast<size_t>(i)].shape;
  };
  const double whole = BytesOf(shape(operand));
  double sliced = 0;
  for (int32_t member : fusion.members) {
    const Instruction& instruction = computation.instructions[static_cast<size_t>(member)];
    if (std::find(instruction.operands.begin(), instruction.operands.end(), operand) ==
        instruction.operands.end()) {
      continue;
    }
    if (instruction.opcode != Opcode::kSlice) return whole;
    sliced += BytesOf(shape(member));
  }
  return std::min(whole, sliced);
}

}  // namespace

Costs::Costs(const Module& module) {
  totals_.reserve(module.computations.size());
  for (const Computation& computation : module.computations) {
    Cost total;
    for (const Instruction& instruction : computation.instructions) {
      AddOperations(Of(computation, instruction), 1, total);
      if (RunsSteps(instruction.opcode)) AddOperations(CalledOperations(totals_, instruction), 1, total);
    }
    totals_.push_back(total);
  }
}

Cost Costs::Of(const Computation& computation, const Instruction& instruction) const {
  return Counter(totals_, computation, instruction).Run();
}

Cost Costs::Of(const Computation& computation, const Step& step) const {
  const Instruction& instruction = computation.instructions[static_cast<size_t>(step.instruction)];
  const auto bytes = [&](int32_t i) {
    return BytesOf(*computation.instructions[static_cast<size_t>(i)].shape);
  };
  if (step.fusion == nullptr && (step.kernel == nullptr || !RunsSteps(instruction.opcode)))
    return Of(computation, instruction);
  Cost cost;
  for (int32_t operand : step.Reads(computation))
    cost.read += step.fusion == nullptr ? bytes(operand) : BytesReadOf(computation, *step.fusion, operand);
  cost.written = bytes(step.instruction);
  if (step.fusion == nullptr) {
    AddOperations(CalledOperations(totals_, instruction), 1, cost);
    cost.per_turn = true;
    return cost;
  }
  for (int32_t member : step.fusion->members)
    AddOperations(Of(computation, computation.instructions[static_cast<size_t>(member)]), 1, cost);
  return cost;
}

namespace {

// Three digits and a prefix: {1.07, "G"}, also of 1023 as {1023, ""}.
struct Scaled {
  std::string digits;
  std::string_view prefix;
};
Scaled ScaledBy(double base, double value) {
  constexpr std::string_view kPrefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t k = 0;
  for (; k + 1 < std::size(kPrefixes) && value >= base - 0.5; ++k) value /= base;
  const bool whole = k == 0 || value >= 99.95;
  return {whole ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value), kPrefixes[k]};
}

}  // namespace

std::string BytesText(double bytes) {
  const Scaled scaled = ScaledBy(1024, bytes);
  if (scaled.prefix.empty()) return scaled.digits + " B";
  return fmt::format("{} {}iB", scaled.digits, scaled.prefix == "k" ? "K" : scaled.prefix);
}

std::string OperationsText(const Cost& cost) {
  const Scaled flops = ScaledBy(1000, cost.flops), functions = ScaledBy(1000, cost.functions);
  std::string text;
  if (!cost.known) {
    text = "? flop";
  } else if (cost.flops > 0 || cost.functions == 0) {
    text = fmt::format("{} {}flop", flops.digits, flops.prefix);
  }
  if (cost.functions > 0) {
    text += fmt::format("{}{}{}{} functions", text.empty() ? "" : " + ", functions.digits,
                        functions.prefix.empty() ? "" : " ", functions.prefix);
  }
  return cost.per_turn ? text + " a turn" : text;
}

}  // namespace assay
