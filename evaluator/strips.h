// What the elementwise families (unary, transcendental, binary, bitwise, select, convert) share: loops over
// strips, the choice of a strip function by compute kind, and shape rules that take their element types from
// the op table. What a strip is stands in evaluator/elementwise.h.
#ifndef ASSAY_EVALUATOR_STRIPS_H_
#define ASSAY_EVALUATOR_STRIPS_H_

#include <bit>
#include <complex>
#include <cstdint>
#include <span>
#include <string_view>

#include "evaluator/elementwise.h"
#include "evaluator/op.h"
#include "literal/element_io.h"

namespace assay {

// One strip function for each compute kind of operand 0; null where the op does not take it.
struct KindStrips {
  StripFn boolean = nullptr;
  StripFn signed_integer = nullptr;
  StripFn unsigned_integer = nullptr;
  StripFn real = nullptr;
  StripFn complex = nullptr;
};

// The parameters that depend on types alone.
StripParams ParamsFor(std::span<const ElementType> operands, ElementType result);
StripKernel KernelFor(const KindStrips& strips, std::span<const ElementType> operands, ElementType result);

// The StripFor of an op whose strip function depends on the kind of operand 0 alone.
template <const KindStrips& strips>
StripKernel ByKind(const Instruction&, std::span<const ElementType> operands, ElementType result) {
  return KernelFor(strips, operands, result);
}

// Shape rules of ops that keep the element type; the admitted types are those of the op's table row.
absl::StatusOr<Shape> InferUnaryOp(const InferContext& context);
absl::StatusOr<Shape> InferBinaryOp(const InferContext& context);

// The dimensions and layout of `like`, dynamic flags included, with another element type (TakeLayout).
absl::StatusOr<Shape> WithElementType(const Shape& like, ElementType type);
// `label` unless the declared shape is missing or compatible with `inferred` (unbounded sizes fit any).
absl::Status CheckDeclared(const InferContext& context, const Shape& inferred, std::string_view label);
// Sizes are equal; an unbounded one fits any.
bool SameOrUnboundedDimensions(const Shape& a, const Shape& b);
// `into`, its layout too, with the dynamic flags of `from` added, and its sizes where `into` is unbounded.
absl::StatusOr<Shape> JoinDimensions(const Shape& into, const Shape& from);

// out[i] = f(in[i]). Blocks of a constant length are what -O2 vectorises; a block is read whole before it is
// written, because out may be an input.
inline constexpr int kBlock = 8;
template <typename Out, typename In, typename F>
inline void MapStrip(int64_t n, const void* in, void* out, F f) {
  const In* a = static_cast<const In*>(in);
  Out* result = static_cast<Out*>(out);
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    Out block[kBlock];
    for (int j = 0; j < kBlock; ++j) block[j] = f(a[i + j]);
    for (int j = 0; j < kBlock; ++j) result[i + j] = block[j];
  }
  for (; i < n; ++i) result[i] = f(a[i]);
}
template <typename Out, typename In, typename F>
inline void MapStrip2(int64_t n, const void* const* in, void* out, F f) {
  const In* a = static_cast<const In*>(in[0]);
  const In* b = static_cast<const In*>(in[1]);
  Out* result = static_cast<Out*>(out);
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    Out block[kBlock];
    for (int j = 0; j < kBlock; ++j) block[j] = f(a[i + j], b[i + j]);
    for (int j = 0; j < kBlock; ++j) result[i + j] = block[j];
  }
  for (; i < n; ++i) result[i] = f(a[i], b[i]);
}

// IEEE maximum and minimum of two reals: NaN wins, -0 < +0.
inline double MaximumOf(double a, double b) {
  if (a > b) return a;
  if (b > a) return b;
  // Equal: the sign of a zero is negative only where both are. Unordered: NaN.
  return a == b ? std::bit_cast<double>(std::bit_cast<uint64_t>(a) & std::bit_cast<uint64_t>(b)) : a + b;
}
inline double MinimumOf(double a, double b) {
  if (a < b) return a;
  if (b < a) return b;
  return a == b ? std::bit_cast<double>(std::bit_cast<uint64_t>(a) | std::bit_cast<uint64_t>(b)) : a + b;
}

// The integer results of an op, wrapped to the result type, where wrapping is all that is left to do.
void WrapResult(const StripParams& params, int64_t n, void* out);
// RN of n results held as doubles; complex results are 2 n doubles.
void RoundResult(const StripParams& params, int64_t n, void* out);
void RoundComplexResult(const StripParams& params, int64_t n, void* out);

}  // namespace assay

#endif  // ASSAY_EVALUATOR_STRIPS_H_
