// Bitwise ops and shifts: and, or, xor, shift-left, shift-right-arithmetic, shift-right-logical
// (docs/spec/operations-elementwise.md, "Binary bitwise and shifts").
#include "evaluator/audits/rules.h"
#include "evaluator/bounds/ends.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/map_elements.h"
#include "evaluator/scalar/integer.h"
#include "evaluator/strips.h"

namespace assay {
namespace {

constexpr auto kAnd = [](auto a, auto b) { return static_cast<decltype(a)>(a & b); };
constexpr auto kOr = [](auto a, auto b) { return static_cast<decltype(a)>(a | b); };
constexpr auto kXor = [](auto a, auto b) { return static_cast<decltype(a)>(a ^ b); };

// Two patterns that are extended alike give one that is too, so there is nothing to wrap.
template <typename T, const auto& f>
void MapBits(const StripParams&, int64_t n, const void* const* in, void* out) {
  MapStrip2<T, T>(n, in, out, f);
}

template <const auto& f>
constexpr KindStrips kBitStrips = {
    .boolean = MapBits<uint8_t, f>,
    .signed_integer = MapBits<int64_t, f>,
    .unsigned_integer = MapBits<uint64_t, f>,
};

template <int64_t (*fn)(int64_t, int64_t, int)>
void ShiftSigned(const StripParams& params, int64_t n, const void* const* in, void* out) {
  const int bits = Bits(params.operand);
  MapStrip2<int64_t, int64_t>(n, in, out, [bits](int64_t a, int64_t b) { return fn(a, b, bits); });
}

template <uint64_t (*fn)(uint64_t, uint64_t, int)>
void ShiftUnsigned(const StripParams& params, int64_t n, const void* const* in, void* out) {
  const int bits = Bits(params.operand);
  MapStrip2<uint64_t, uint64_t>(n, in, out, [bits](uint64_t a, uint64_t b) { return fn(a, b, bits); });
}

constexpr KindStrips kShiftLeftStrips = {
    .signed_integer = ShiftSigned<SignedShiftLeft>,
    .unsigned_integer = ShiftUnsigned<UnsignedShiftLeft>,
};
constexpr KindStrips kShiftRightArithmeticStrips = {
    .signed_integer = ShiftSigned<SignedShiftRightArithmetic>,
    .unsigned_integer = ShiftUnsigned<UnsignedShiftRightArithmetic>,
};
constexpr KindStrips kShiftRightLogicalStrips = {
    .signed_integer = ShiftSigned<SignedShiftRightLogical>,
    .unsigned_integer = ShiftUnsigned<UnsignedShiftRightLogical>,
};

}  // namespace

// and, or, xor: bit by bit.
constinit const OpDef ops::And = {
    .operands = Exactly(2),
    .types = kPredTypes | kIntegralTypes,
    .infer = InferBinaryOp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Undecided,
    .audit = audit::Nothing,
    .strip = ByKind<kBitStrips<kAnd>>,
};
constinit const OpDef ops::Or = {
    .operands = Exactly(2),
    .types = kPredTypes | kIntegralTypes,
    .infer = InferBinaryOp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Undecided,
    .audit = audit::Nothing,
    .strip = ByKind<kBitStrips<kOr>>,
};
constinit const OpDef ops::Xor = {
    .operands = Exactly(2),
    .types = kPredTypes | kIntegralTypes,
    .infer = InferBinaryOp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Xor,
    .audit = audit::Nothing,
    .strip = ByKind<kBitStrips<kXor>>,
};

// Shifts: s = rhs[i] read as an unsigned number of w bits.
// shift-left: lhs[i] * 2^s mod 2^w, 0 for s >= w.
constinit const OpDef ops::ShiftLeft = {
    .operands = Exactly(2),
    .types = kIntegralTypes,
    .infer = InferBinaryOp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Undecided,
    .audit = audit::Shift,
    .strip = ByKind<kShiftLeftStrips>,
};
// shift-right-arithmetic: the top bit of the pattern comes in from the left, for unsigned types too.
constinit const OpDef ops::ShiftRightArithmetic = {
    .operands = Exactly(2),
    .types = kIntegralTypes,
    .infer = InferBinaryOp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Undecided,
    .audit = audit::Shift,
    .strip = ByKind<kShiftRightArithmeticStrips>,
};
// shift-right-logical: zeros come in from the left.
constinit const OpDef ops::ShiftRightLogical = {
    .operands = Exactly(2),
    .types = kIntegralTypes,
    .infer = InferBinaryOp,
    .eval = EvalElementwise,
    .work = work::Elementwise,
    .bound = bound::Undecided,
    .audit = audit::Shift,
    .strip = ByKind<kShiftRightLogicalStrips>,
};

}  // namespace assay
