// Every addition in f64 also gives its error exactly (TwoSum), so that the exact sum is s plus these errors,
// which are at most d = sum |error| together; the computed d is at least half of that. Mostly they are 0, and
// s is the exact sum. Else, with u = 2^-53, e = 2 d + 4 u |s| covers the errors and the rounding of s - e and
// s + e. No sum of these types leaves the range of f64, nor does an error.
#include "engines/native/window/window_sums.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "engines/codegen/scalar_code.h"
#include "engines/native/sums/strided_sum.h"
#include "engines/native/sums/tiers.h"
#include "engines/native/walk/loops.h"
#include "engines/native/window/window_fold.h"
#include "engines/native/window/window_grid.h"
#include "evaluator/eval_context.h"
#include "evaluator/ops/reduction/element_sum.h"
#include "fmt/format.h"
#include "literal/element_io.h"

namespace assay::native {
namespace {

using codegen::ScalarCode;

constexpr int64_t kSumsWorthCode = 1 << 10;  // additions
constexpr int64_t kLargestWindow = 128;      // elements; more are quicker by sums that slide

// A computation of scalars in the making; only its root is a tuple.
class Body {
 public:
  int32_t Parameter(ElementType type) {
    const auto number = static_cast<int64_t>(computation_.parameters.size());
    const int32_t at = Op(Opcode::kParameter, type, {});
    computation_.instructions[static_cast<size_t>(at)].parameter_number = number;
    computation_.parameters.push_back(at);
    return at;
  }
  int32_t Op(Opcode opcode, ElementType type, std::initializer_list<int32_t> operands) {
    Instruction op(opcode);
    op.operands.assign(operands);
    return Add(std::move(op), type);
  }
  int32_t Compare(const char* direction, int32_t a, int32_t b, bool bits = false) {
    Instruction op(Opcode::kCompare);
    op.operands = {a, b};
    op.attributes.Set(Attr::kDirection, Word{direction});
    if (bits) op.attributes.Set(Attr::kType, Word{"TOTALORDER"});
    return Add(std::move(op), ElementType::kPred);
  }
  absl::StatusOr<std::shared_ptr<const ScalarCode>> Code(std::string name, int32_t a, int32_t b, Isa isa) && {
    Instruction root(Opcode::kTuple);
    root.operands = {a, b};
    root.shape = std::make_shared<const Shape>(Shape::Tuple({*At(a).shape, *At(b).shape}));
    computation_.instructions.push_back(std::move(root));
    computation_.root = static_cast<int32_t>(computation_.instructions.size()) - 1;
    computation_.name = std::move(name);
    Module module;
    module.computations.push_back(std::move(computation_));
    return ScalarCode::Make(module, ComputationId{0}, isa, /*vectors=*/true);
  }

 private:
  const Instruction& At(int32_t i) const { return computation_.instructions[static_cast<size_t>(i)]; }
  int32_t Add(Instruction instruction, ElementType type) {
    instruction.shape = std::make_shared<const Shape>(Shape::Scalar(type));
    computation_.instructions.push_back(std::move(instruction));
    return static_cast<int32_t>(computation_.instructions.size()) - 1;
  }

  Computation computation_;
};

// (s, d, x, -) -> (s + x, d + |error|)
absl::StatusOr<std::shared_ptr<const ScalarCode>> AddingCode(ElementType type, Isa isa) {
  constexpr ElementType kF64 = ElementType::kF64;
  Body body;
  const int32_t s = body.Parameter(kF64), d = body.Parameter(kF64), element = body.Parameter(type);
  body.Parameter(type);
  const int32_t x = body.Op(Opcode::kConvert, kF64, {element});
  const int32_t sum = body.Op(Opcode::kAdd, kF64, {s, x});
  const int32_t of_x = body.Op(Opcode::kSubtract, kF64, {sum, s});
  const int32_t of_s = body.Op(Opcode::kSubtract, kF64, {sum, of_x});
  const int32_t error =
      body.Op(Opcode::kAdd, kF64,
              {body.Op(Opcode::kSubtract, kF64, {s, of_s}), body.Op(Opcode::kSubtract, kF64, {x, of_x})});
  const int32_t errors = body.Op(Opcode::kAdd, kF64, {d, body.Op(Opcode::kAbs, kF64, {error})});
  return std::move(body).Code("window_sums", sum, errors, isa);
}

// (s, d, 4 u) -> (RN(s - e), whether RN(s + e) has the same bits and is a number)
absl::StatusOr<std::shared_ptr<const ScalarCode>> RoundingCode(ElementType type, Isa isa) {
  constexpr ElementType kF64 = ElementType::kF64, kPred = ElementType::kPred;
  Body body;
  const int32_t s = body.Parameter(kF64), d = body.Parameter(kF64), c = body.Parameter(kF64);
  const int32_t zero = body.Op(Opcode::kSubtract, kF64, {d, d});
  const int32_t of_s = body.Op(Opcode::kMultiply, kF64, {c, body.Op(Opcode::kAbs, kF64, {s})});
  const int32_t bound = body.Op(Opcode::kAdd, kF64, {body.Op(Opcode::kAdd, kF64, {d, d}), of_s});
  const int32_t e = body.Op(Opcode::kSelect, kF64, {body.Compare("EQ", d, zero), zero, bound});
  const int32_t low = body.Op(Opcode::kConvert, type, {body.Op(Opcode::kSubtract, kF64, {s, e})}),
                high = body.Op(Opcode::kConvert, type, {body.Op(Opcode::kAdd, kF64, {s, e})});
  const int32_t same = body.Compare("EQ", low, high, /*bits=*/true), number = body.Compare("EQ", low, low);
  const int32_t decided = body.Op(Opcode::kAnd, kPred, {same, number});
  return std::move(body).Code("round_sums", low, decided, isa);
}

struct SumCode {
  std::shared_ptr<const ScalarCode> adding, rounding;
};

// The sums of one type; each thread has its own.
class TileSummer {
 public:
  TileSummer(const SumCode& code, const WindowGrid& grid, ElementType type, const std::byte* input,
             const std::byte* init)
      : grid_(grid),
        type_(type),
        bytes_(Bytes(type)),
        input_(input),
        init_(init),
        lanes_(code.rounding->lanes()),
        sum_(type),
        rounding_(*code.rounding, /*vectors=*/true),
        factor_(static_cast<size_t>(lanes_), 0x1p-51) {
    const size_t room = static_cast<size_t>(grid.most_results() + lanes_);
    sums_.resize(room), errors_.resize(room), settled_.resize(room), rounded_.resize(room);
    LoadStrip(type, init, 0, 1, &start_);
    operands_[0] = {input, Address(&start_), Address(sums_.data()), bytes_, 8};
    operands_[1] = {input, Address(&no_error_), Address(errors_.data()), bytes_, 8};
    folder_.emplace(*code.adding, operands_);
    const int64_t strides[] = {8 * lanes_, 8 * lanes_, 0};
    for (size_t k = 0; k < 3; ++k) rounding_.SetInputStride(k, strides[k]);
    rounding_.SetOutputStride(0, bytes_ * lanes_);
    rounding_.SetOutputStride(1, lanes_);
  }

  void Run(int64_t tile, std::byte* result, TierCounts& counts) {
    const WindowBlock results = grid_.Results(tile);
    const int64_t n = results.count * results.width;
    folder_->Run(grid_, tile, results.to);
    rounding_.SetInput(0, Address(sums_.data()));
    rounding_.SetInput(1, Address(errors_.data()));
    rounding_.SetInput(2, Address(factor_.data()));
    rounding_.SetOutput(0, Address(rounded_.data()));
    rounding_.SetOutput(1, Address(settled_.data()));
    rounding_.Run((n + lanes_ - 1) / lanes_);
    std::byte* const out = result + results.to * bytes_;
    std::memcpy(out, rounded_.data(), static_cast<size_t>(n * bytes_));
    counts.sums += n;
    for (int64_t i = 0; i < n; ++i) {
      if (settled_[static_cast<size_t>(i)] != 0) continue;
      // Infinite terms, of one sign or of both; or a NaN.
      const double sum = sums_[static_cast<size_t>(i)];
      if (!std::isfinite(sum)) {
        const double special = std::isnan(sum) ? std::numeric_limits<double>::quiet_NaN() : sum;
        StoreStrip(type_, &special, 1, out + i * bytes_, 0);
        continue;
      }
      SumExactly(tile, results.to + i, out + i * bytes_);
      ++counts.slices;
    }
  }

 private:
  template <class T>
  static std::byte* Address(T* data) {
    return reinterpret_cast<std::byte*>(data);
  }

  void SumExactly(int64_t tile, int64_t target, std::byte* result) {
    sum_.Clear();
    sum_.Add(init_, 0, 1);
    grid_.ForEachBlock(tile, [&](const WindowBlock& block) {
      const int64_t behind = target - block.to;
      if (behind < 0) return;
      if (block.to_step == 0) {
        if (behind < block.width)
          sum_.Add(input_ + (block.from + behind) * bytes_, block.from_step * bytes_, block.count);
        return;
      }
      const int64_t i = behind / block.to_step, f = behind % block.to_step;
      if (i < block.count && f < block.width)
        sum_.Add(input_ + (block.from + i * block.from_step + f) * bytes_, 0, 1);
    });
    sum_.Store(result);
  }

  const WindowGrid& grid_;
  const ElementType type_;
  const int64_t bytes_;
  const std::byte* const input_;
  const std::byte* const init_;
  const int64_t lanes_;
  StridedSum sum_;
  ScalarCode::Frame rounding_;
  std::vector<double> factor_, sums_, errors_;
  std::vector<uint8_t> settled_;
  std::vector<uint32_t> rounded_;  // room for elements of either size
  double start_ = 0, no_error_ = 0;
  WindowOperand operands_[2];
  std::optional<TileFolder> folder_;
};

class WindowSums final : public Kernel {
 public:
  WindowSums(SumCode code, WindowGrid grid) : code_(std::move(code)), grid_(std::move(grid)) {}

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    const Literal& x = operands[0];
    if (!x.IsFullSize()) return Fallback("run-time sizes");
    ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
    std::byte* const out = result.MutableBytes().data();
    const absl::int128 work = grid_.folds() + result.shape().num_elements();
    ASSAY_RETURN_IF_ERROR(ForEachTile(context, grid_, work, [&](int64_t begin, int64_t end) {
      TileSummer summer(code_, grid_, x.shape().element_type(), x.data(), operands[1].data());
      TierCounts counts;
      for (int64_t tile = begin; tile < end; ++tile) summer.Run(tile, out, counts);
      CountTiers(counts);
    }));
    return result;
  }

 private:
  const SumCode code_;
  const WindowGrid grid_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareWindowSums(const StepView& step, Isa isa) {
  const Shape &x = step.operand_shape(0), &result = step.result_shape();
  const ElementType type = x.element_type();
  if (type != ElementType::kF32 && type != ElementType::kBF16 && type != ElementType::kF16)
    return NotSupported({}, fmt::format("window sums of {}", Name(type)));
  int64_t most = 1;
  for (const WindowDimension& d : step.instruction.attributes.WindowOf())
    most = std::min(most * std::min(d.size, kLargestWindow + 1), kLargestWindow + 1);
  if (most > kLargestWindow) return NotSupported({}, "large windows");
  if (result.HasDynamic()) return NotSupported({}, "a dynamic dimension");
  if (result.rank() == 0) return NotSupported({}, "a scalar");
  if (x.num_elements() == 0 || result.num_elements() < std::max<int64_t>(kSumsWorthCode / most, 1))
    return NotSupported({}, "too few sums to generate code");
  std::optional<WindowGrid> grid =
      WindowGrid::Of(step.instruction.attributes.WindowOf(), DimVector(x.sizes().begin(), x.sizes().end()),
                     DimVector(result.sizes().begin(), result.sizes().end()));
  if (!grid) return NotSupported({}, "windows mostly in padding, or too large");
  SumCode code;
  ASSAY_ASSIGN_OR_RETURN(code.adding, AddingCode(type, isa));
  ASSAY_ASSIGN_OR_RETURN(code.rounding, RoundingCode(type, isa));
  return std::make_shared<WindowSums>(std::move(code), *std::move(grid));
}

}  // namespace assay::native
