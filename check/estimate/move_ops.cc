#include "check/estimate/move_ops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/parallel.h"
#include "evaluator/eval_context.h"
#include "evaluator/op.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay {
namespace {

enum class Kind : uint8_t { kMove, kMoveInUnit, kCut, kAdd, kSubtract, kMultiply };

// The finalizer of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
uint64_t Mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// The distance of neighbours in the format around a number that is not infinite.
double UlpAround(double value, const FloatFormat& format) {
  const int exponent = static_cast<int>(std::bit_cast<uint64_t>(value) >> 52 & 0x7ff) - 1023;
  return std::ldexp(1, std::max(exponent, format.min_exponent) - format.mantissa_bits);
}

// Draws of one element, in [-1, 1).
class Draws {
 public:
  Draws(uint64_t stream, int64_t place, double bits)
      : state_(stream + static_cast<uint64_t>(place + 1) * 0x9e3779b97f4a7c15 +
               std::bit_cast<uint64_t>(bits) * 0xd6e8feb86659fd93) {}
  double Next() {
    state_ = Mixed(state_ + 0x9e3779b97f4a7c15);
    return std::ldexp(static_cast<double>(static_cast<int64_t>(state_) >> 11), -52);
  }

 private:
  uint64_t state_;
};

// How one call moves its elements.
struct Mover {
  Kind kind;
  const FloatFormat& format;
  bool flushes, cuts;
  double smallest;  // below 256 of these the radius of a zero is that of underflow alone

  // The number rounded up or down, the nearer neighbour more often: rounding what is moved by up to half an
  // ulp.
  double Rounded(double value, Draws& draws) const {
    if (!std::isfinite(value)) return value;
    const double ulp = UlpAround(value, format);
    double rounded = RoundToFormat(value + 0.5 * ulp * draws.Next(), format);
    // What overflows by chance alone does not: its neighbour does not either.
    if (!std::isfinite(rounded)) rounded = RoundToFormat(value, format);
    return Flushed(rounded);
  }
  double Flushed(double value) const {
    const double least = std::ldexp(1, format.min_exponent);
    return flushes && std::fabs(value) < least ? std::copysign(0.0, value) : value;
  }
  double Moved(double value, double radius, Draws& draws) const {
    if (!std::isfinite(value) || !std::isfinite(radius)) return value;
    if (radius == 0 || (value == 0 && radius <= 256 * smallest)) return Flushed(value);
    double by = draws.Next();
    if (cuts) by = -std::copysign(by, value);
    double moved = Rounded(value + radius * by, draws);
    if (kind == Kind::kMoveInUnit) moved = std::clamp(moved, -1.0, 1.0);
    return moved;
  }
};

class MoveKernel final : public CustomKernel {
 public:
  MoveKernel(Kind kind, ElementType type, bool flushes) : kind_(kind), type_(type), flushes_(flushes) {}
  std::string_view name() const override { return "moved at random"; }

  absl::StatusOr<Literal> Run(EvalContext& context, std::span<Literal> operands) const override {
    uint64_t seed = 0, number = 0;
    LoadStrip(ElementType::kU64, operands[2].data(), 0, 1, &seed);
    LoadStrip(ElementType::kU64, operands[3].data(), 0, 1, &number);
    const uint64_t stream = Mixed(seed * 0x2545f4914f6cdd1d + number);
    const Literal second = std::move(operands[1]);
    Literal result = std::move(operands[0]);
    ASSAY_RETURN_IF_ERROR(result.Fetch());
    ASSAY_RETURN_IF_ERROR(second.Fetch());
    ASSAY_RETURN_IF_ERROR(result.Unshare());
    result = std::move(result).WithShape(context.shared_result_shape());
    std::byte* const bytes = result.MutableBytes().data();
    const std::byte* const others = second.data();
    const ElementType other_type = second.shape().element_type();
    const ElementType component = IsComplex(type_) ? ComponentType(type_) : type_;
    const FloatFormat& format = *Info(component).format;
    const double least =
        std::max(format.min_subnormal, component == ElementType::kF64 ? 0x1p-1074 : 0x1p-149);
    const Mover mover = {kind_, format, flushes_ && (seed & 1) != 0, kind_ == Kind::kCut && (seed & 2) != 0,
                         least};
    context.parallel().For(second.shape().num_elements(), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t first = begin; first < end; first += kStrip) {
        const int64_t n = std::min(kStrip, end - first);
        MoveStrip(mover, stream, first, n, bytes + first * Bytes(type_), others + first * Bytes(other_type),
                  other_type);
      }
    });
    return result;
  }

 private:
  void MoveStrip(const Mover& mover, uint64_t stream, int64_t first, int64_t n, std::byte* values,
                 const std::byte* others, ElementType other_type) const {
    alignas(64) std::byte buffer[kStripBytes];
    alignas(64) std::byte other_buffer[kStripBytes];
    LoadStrip(other_type, others, Bytes(other_type), n, other_buffer);
    const double* const second = reinterpret_cast<const double*>(other_buffer);
    LoadStrip(type_, values, Bytes(type_), n, buffer);
    double* const numbers = reinterpret_cast<double*>(buffer);
    if (IsComplex(type_)) {
      for (int64_t k = 0; k < n; ++k) {
        Draws draws(stream, first + k, numbers[2 * k] + 3 * numbers[2 * k + 1]);
        for (const int64_t part : {2 * k, 2 * k + 1})
          numbers[part] = mover.Moved(numbers[part], second[k] * 0.7071067811865476, draws);
      }
    } else {
      for (int64_t k = 0; k < n; ++k) numbers[k] = Result(mover, stream, first + k, numbers[k], second[k]);
    }
    StoreStrip(type_, buffer, n, values, Bytes(type_));
  }

  double Result(const Mover& mover, uint64_t stream, int64_t place, double a, double b) const {
    Draws draws(stream, place, kind_ >= Kind::kAdd ? a + 3 * b : a);
    switch (kind_) {
      case Kind::kAdd:
        return mover.Rounded(a + b, draws);
      case Kind::kSubtract:
        return mover.Rounded(a - b, draws);
      case Kind::kMultiply: {
        const double product = a * b;
        if (type_ != ElementType::kF64 || !std::isfinite(product)) return mover.Rounded(product, draws);
        // Of f64 the product's rounding error is a number, but where it underflows.
        const double error = std::fma(a, b, -product), ulp = UlpAround(product, mover.format);
        const bool moves = std::fabs(error) > ulp * std::fabs(draws.Next());
        return mover.Flushed(moves ? product + std::copysign(ulp, error) : product);
      }
      default:
        return mover.Moved(a, b, draws);
    }
  }

  const Kind kind_;
  const ElementType type_;
  const bool flushes_;
};

class MoveOp final : public CustomOp {
 public:
  MoveOp(Kind kind, const TypeSet& flushes) : kind_(kind), flushes_(flushes) {}

  absl::StatusOr<Shape> Infer(const InferContext& context) const override { return context.Declared(); }
  absl::StatusOr<std::shared_ptr<const CustomKernel>> Prepare(const Module&, const Computation&,
                                                              const Instruction& call,
                                                              KernelRole) const override {
    const ElementType type = call.shape->element_type();
    return std::make_shared<MoveKernel>(kind_, type,
                                        flushes_.Has(IsComplex(type) ? ComponentType(type) : type));
  }

 private:
  const Kind kind_;
  const TypeSet flushes_;
};

class AllOps final : public CustomOps {
 public:
  AllOps(std::shared_ptr<const CustomOps> program, const TypeSet& flushes) : program_(std::move(program)) {
    for (const Kind kind :
         {Kind::kMove, Kind::kMoveInUnit, Kind::kCut, Kind::kAdd, Kind::kSubtract, Kind::kMultiply})
      ops_.emplace_back(kind, flushes);
  }
  const CustomCallTarget* Find(std::string_view target) const override {
    static constexpr std::string_view kTargets[] = {kMoveTarget, kMoveInUnitTarget, kCutTarget,
                                                    kAddTarget,  kSubtractTarget,   kMultiplyTarget};
    for (size_t k = 0; k < std::size(kTargets); ++k) {
      if (kTargets[k] == target) return &ops_[k];
    }
    return program_ == nullptr ? nullptr : program_->Find(target);
  }

 private:
  const std::shared_ptr<const CustomOps> program_;
  std::vector<MoveOp> ops_;  // in Kind's order
};

}  // namespace

std::shared_ptr<const CustomOps> MoveOps(std::shared_ptr<const CustomOps> program, const TypeSet& flushes) {
  return std::make_shared<AllOps>(std::move(program), flushes);
}

}  // namespace assay
