#include "evaluator/steps.h"

#include <algorithm>
#include <bit>

namespace assay {
namespace {

constexpr int64_t kMost = int64_t{1} << 48;

int64_t Times(int64_t a, int64_t b) { return std::min(CheckedMul(a, b).value_or(kMost), kMost); }

int64_t Elements(const Shape& shape) {
  if (shape.IsArray()) return std::min(shape.num_elements(), kMost);  // 0 where there is no bound
  int64_t sum = 0;
  for (const Shape& element : shape.elements()) sum = std::min(sum + Elements(element), kMost);
  return sum;
}

int64_t CeilLog2(int64_t n) { return n <= 1 ? 0 : std::bit_width(static_cast<uint64_t>(n - 1)); }

bool HasNoWork(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAddDependency:
    case Opcode::kAfterAll:
    case Opcode::kAsyncDone:
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
    case Opcode::kBitcast:
    case Opcode::kCall:
    case Opcode::kConditional:
    case Opcode::kConstant:
    case Opcode::kCopy:
    case Opcode::kCopyDone:
    case Opcode::kCopyStart:
    case Opcode::kDomain:
    case Opcode::kDynamicReshape:
    case Opcode::kFusion:
    case Opcode::kGetDimensionSize:
    case Opcode::kGetTupleElement:
    case Opcode::kOptBarrier:
    case Opcode::kParameter:
    case Opcode::kReshape:
    case Opcode::kSetDimensionSize:
    case Opcode::kTuple:
    case Opcode::kWhile:
      return true;
    default:
      return false;
  }
}

class Counter {
 public:
  Counter(const Computation& computation, const Instruction& instruction)
      : computation_(computation), instruction_(instruction) {}

  int64_t Work() const {
    const Opcode opcode = instruction_.opcode;
    if (HasNoWork(opcode)) return 0;
    const int64_t result = Elements(*instruction_.shape);
    switch (opcode) {
      case Opcode::kDot:
      case Opcode::kScaledDot:
        return Times(result, Sizes(0, Attr::kLhsContractingDims));
      case Opcode::kRaggedDot:
        return Times(Elements(Operand(0)), FreeOfRaggedRhs());
      case Opcode::kConvolution:
        return Times(result, ProductsOfConvolution());
      case Opcode::kReduceWindow:
        return Times(result, WindowSize());
      case Opcode::kSelectAndScatter:
        return Times(Elements(Operand(1)), WindowSize());
      case Opcode::kSlice:
      case Opcode::kDynamicSlice:
      case Opcode::kGather:
        return result;
      case Opcode::kDynamicUpdateSlice:
        return Elements(Operand(1));
      case Opcode::kScatter:
        return Updates();
      default:
        return Lines(result);
    }
  }

 private:
  const Shape& Operand(size_t k) const {
    return *computation_.instructions[static_cast<size_t>(instruction_.operands[k])].shape;
  }
  const AttributeMap& Attributes() const { return instruction_.attributes; }

  int64_t Largest(int64_t result) const {
    for (size_t k = 0; k < instruction_.operands.size(); ++k) result = std::max(result, Elements(Operand(k)));
    return result;
  }

  // Those that work on whole lines of an array, and all others.
  int64_t Lines(int64_t result) const {
    const int64_t largest = Largest(result);
    switch (instruction_.opcode) {
      case Opcode::kSort: {
        const std::span<const int64_t> dims = Attributes().List(Attr::kDimensions);
        const int64_t length = dims.empty() ? 1 : Size(0, dims[0]);
        return Times(result, std::max<int64_t>(CeilLog2(length), 1));
      }
      case Opcode::kFft: {
        int64_t logs = 0;
        for (int64_t length : Attributes().List(Attr::kFftLength)) logs += CeilLog2(length);
        return Times(largest, std::max<int64_t>(logs, 1));
      }
      case Opcode::kCholesky:
        return Times(result, Size(0, Operand(0).rank() - 1));
      case Opcode::kTriangularSolve:
        return Times(result, Size(0, Operand(0).rank() - 1));
      default:
        return largest;
    }
  }

  int64_t Size(size_t operand, int64_t d) const {
    return std::max<int64_t>(Operand(operand).size(d), 0);  // without a bound: kUnboundedSize
  }
  int64_t Sizes(size_t operand, Attr dims) const {
    int64_t product = 1;
    for (int64_t d : Attributes().List(dims)) product = Times(product, Size(operand, d));
    return product;
  }
  int64_t FreeOfRaggedRhs() const {
    int64_t free = Elements(Operand(1));
    for (const Attr dims : {Attr::kRhsBatchDims, Attr::kRhsContractingDims, Attr::kRhsGroupDims})
      free /= std::max<int64_t>(Sizes(1, dims), 1);
    return free;
  }
  int64_t ProductsOfConvolution() const {
    const auto* const labels =
        std::get_if<std::shared_ptr<const ConvDimensionNumbers>>(Attributes().Find(Attr::kDimLabels));
    const int64_t kernel = Elements(Operand(1));
    return labels == nullptr ? kernel
                             : kernel / std::max<int64_t>(Size(1, (*labels)->kernel_output_feature), 1);
  }
  int64_t WindowSize() const {
    int64_t size = 1;
    for (const WindowDimension& dimension : Attributes().WindowOf()) size = Times(size, dimension.size);
    return size;
  }
  int64_t Updates() const {
    int64_t sum = 0;
    for (size_t k = instruction_.operands.size() / 2 + 1; k < instruction_.operands.size(); ++k)
      sum = std::min(sum + Elements(Operand(k)), kMost);
    return sum;
  }

  const Computation& computation_;
  const Instruction& instruction_;
};

}  // namespace

int64_t CountsOf(const Computation& computation, const Instruction& instruction) {
  return std::min(kCountsPerStep + Counter(computation, instruction).Work(), kMost);
}

}  // namespace assay
