// Random numbers: rng-bit-generator, rng-get-and-update-state, rng. Spec: docs/spec/operations-rng.md. Every
// stream is fixed: equal program and run seed give equal bits.
#include "evaluator/ops/elementwise/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "evaluator/audits/rules.h"
#include "evaluator/bounds/rules.h"
#include "evaluator/device.h"
#include "evaluator/eval_context.h"
#include "evaluator/op.h"
#include "evaluator/open_sizes.h"
#include "evaluator/scalar/real.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay {

uint64_t ThreeFry2x32(uint64_t key, uint64_t counter) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  const std::array<uint32_t, 3> k = {k0, k1, k0 ^ k1 ^ 0x1BD11BDAu};
  uint32_t x0 = static_cast<uint32_t>(counter) + k0, x1 = static_cast<uint32_t>(counter >> 32) + k1;
  for (uint32_t g = 0; g < 5; ++g) {
    for (int d : kRotations[g % 2]) {
      x0 += x1;
      x1 = (x1 << d) | (x1 >> (32 - d));
      x1 ^= x0;
    }
    x0 += k[(g + 1) % 3];
    x1 += k[(g + 2) % 3] + g + 1;
  }
  return x0 | static_cast<uint64_t>(x1) << 32;
}

std::array<uint32_t, 4> Philox4x32(uint64_t key, absl::uint128 counter) {
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  const uint64_t low = absl::Uint128Low64(counter), high = absl::Uint128High64(counter);
  std::array<uint32_t, 4> c = {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
                               static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)};
  for (int round = 0; round < 10; ++round) {
    const uint64_t p = uint64_t{0xD2511F53} * c[0], q = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(q >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(q),
         static_cast<uint32_t>(p >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

namespace {

// The Philox word stream of a key and counter: blocks in order, words c0..c3 of each.
class PhiloxWords {
 public:
  PhiloxWords(uint64_t key, absl::uint128 counter) : key_(key), counter_(counter) {}
  uint32_t Next32() {
    if (used_ == 4) {
      block_ = Philox4x32(key_, counter_++);
      used_ = 0;
    }
    return block_[used_++];
  }
  uint64_t Next64() {
    const uint64_t low = Next32();
    return low | static_cast<uint64_t>(Next32()) << 32;
  }
  uint64_t Next(bool wide) { return wide ? Next64() : Next32(); }
  // The same stream from word `position` on.
  PhiloxWords From(uint64_t position) const {
    PhiloxWords words(key_, counter_ + position / 4);
    for (uint64_t i = 0; i < position % 4; ++i) words.Next32();
    return words;
  }

 private:
  uint64_t key_;
  absl::uint128 counter_;
  std::array<uint32_t, 4> block_{};
  int used_ = 4;
};

// How 32-bit pairs are laid over a shape: along the first dimension whose size is even (0 counts), else the
// first of maximal size. `half` is the shape with that size halved, rounded up.
struct PairSplit {
  int64_t dimension = 0;
  DimVector sizes, half;
};

PairSplit SplitPairs(const Shape& shape) {
  PairSplit split;
  split.sizes.assign(shape.sizes().begin(), shape.sizes().end());
  if (split.sizes.empty()) split.sizes.push_back(1);
  const auto even =
      std::find_if(split.sizes.begin(), split.sizes.end(), [](int64_t n) { return n % 2 == 0; });
  const auto chosen =
      even != split.sizes.end() ? even : std::max_element(split.sizes.begin(), split.sizes.end());
  split.dimension = chosen - split.sizes.begin();
  split.half = split.sizes;
  split.half[split.dimension] = CeilDiv(split.half[split.dimension], 2);
  return split;
}

// Calls fn(i) for i in [0, count), charging in chunks, so that a long fill can be interrupted: a normal value
// takes up to 100 us, in f64.
constexpr int64_t kChunk = 1 << 8;

template <typename Fn>
absl::Status ForEachElement(EvalContext& context, int64_t count, Fn fn) {
  for (int64_t first = 0; first < count; first += kChunk) {
    const int64_t end = std::min(first + kChunk, count);
    ASSAY_RETURN_IF_ERROR(context.Charge(end - first));
    for (int64_t i = first; i < end; ++i) fn(i);
  }
  return absl::OkStatus();
}

// Element J takes half position H = J with J_s div 2, and its low word where J_s is even, the high word
// otherwise. Calls fn(row-major position in `half`, odd) for every element in row-major order.
template <typename Fn>
absl::Status ForEachPairElement(EvalContext& context, const PairSplit& split, Fn fn) {
  int64_t inner = 1;
  for (size_t d = split.dimension + 1; d < split.sizes.size(); ++d) inner *= split.sizes[d];
  int64_t outer = 1;
  for (int64_t d = 0; d < split.dimension; ++d) outer *= split.sizes[d];
  const int64_t size = split.sizes[split.dimension], half = split.half[split.dimension];
  int64_t uncharged = 0;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t s = 0; s < size; ++s) {
      const int64_t base = (o * half + s / 2) * inner;
      for (int64_t i = 0; i < inner; ++i) {
        if (++uncharged == kChunk) ASSAY_RETURN_IF_ERROR(context.Charge(std::exchange(uncharged, 0)));
        fn(base + i, s % 2 == 1);
      }
    }
  }
  return context.Charge(uncharged);
}

void StoreBits(uint64_t bits, int bytes, std::byte*& out) {
  for (int b = 0; b < bytes; ++b) *out++ = static_cast<std::byte>(bits >> (8 * b));
}

// Low w bits of a pattern as a literal stores them: sub-byte types extended to their byte.
uint64_t StoragePattern(ElementType type, uint64_t bits) {
  const int w = Bits(type);
  if (IsSignedIntegral(type)) return static_cast<uint64_t>(WrapSigned(static_cast<int64_t>(bits), w));
  return w == 64 ? bits : bits & ((uint64_t{1} << w) - 1);
}

// rng-bit-generator(state), algorithm=a: (new state, bits).
constexpr AttrSpec kRngBitGeneratorAttrs[] = {Required(Attr::kAlgorithm)};

std::string LowerAscii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

absl::Status CheckGeneratorState(const InferContext& context, std::string_view algorithm) {
  const Shape& state = context.operand(0);
  const bool is_vector = state.IsArray() && state.element_type() == ElementType::kU64 && state.rank() == 1;
  const int64_t words = is_vector ? state.size(0) : 0;
  if (words == 2 || (words == 3 && algorithm != "rng_three_fry")) return absl::OkStatus();
  return InvalidProgram(
      {}, fmt::format("RngBitGenerator-C1: the state is {}, {} wants {}", state.ToString(), algorithm,
                      algorithm == "rng_three_fry" ? "u64[2]" : "u64[2] or u64[3]"));
}

absl::StatusOr<Shape> InferRngBitGenerator(const InferContext& context) {
  const std::string algorithm = LowerAscii(context.attributes().Text(Attr::kAlgorithm));
  if (algorithm != "rng_default" && algorithm != "rng_three_fry" && algorithm != "rng_philox") {
    return InvalidProgram(
        {}, fmt::format("rng-bit-generator: algorithm is '{}', wanted rng_default, rng_three_fry or "
                        "rng_philox",
                        algorithm));
  }
  ASSAY_RETURN_IF_ERROR(CheckGeneratorState(context, algorithm));
  ASSAY_ASSIGN_OR_RETURN(Shape result, context.Declared());
  // Assay also accepts the old form that returns the bits alone.
  const bool bits_only = result.IsArray();
  if (!bits_only && (!result.IsTuple() || result.elements().size() != 2 || !result.element(1).IsArray() ||
                     !Shape::Compatible(result.element(0), context.operand(0)))) {
    return InvalidProgram({}, fmt::format("RngBitGenerator-C2: the result is {}, wanted ({}, bits)",
                                          result.ToString(), context.operand(0).ToString()));
  }
  const ElementType type = (bits_only ? result : result.element(1)).element_type();
  if (type == ElementType::kPred || IsComplex(type)) {
    return InvalidProgram({}, fmt::format("RngBitGenerator-C3: bits of type {}", Name(type)));
  }
  return result;
}

// Both fill `bits` and return by how much the counter moves on.
// 64-bit elements take one counter each, narrower ones share a counter in pairs.
absl::StatusOr<uint64_t> FillThreeFry(EvalContext& context, uint64_t key, uint64_t base, Literal& bits) {
  const Shape& shape = bits.shape();
  const ElementType type = shape.element_type();
  const int64_t count = shape.num_elements();
  if (count == 0) return 0;
  std::byte* out = bits.MutableBytes().data();
  const int bytes = Bytes(type);
  if (Bits(type) == 64) {
    ASSAY_RETURN_IF_ERROR(ForEachElement(
        context, count, [&](int64_t i) { StoreBits(ThreeFry2x32(key, base + i), bytes, out); }));
    return static_cast<uint64_t>(count);
  }
  const PairSplit split = SplitPairs(shape);
  ASSAY_RETURN_IF_ERROR(ForEachPairElement(context, split, [&](int64_t position, bool odd) {
    const uint64_t pair = ThreeFry2x32(key, base + position);
    StoreBits(StoragePattern(type, odd ? pair >> 32 : pair & 0xffffffffu), bytes, out);
  }));
  return static_cast<uint64_t>(*CheckedProduct(split.half));
}

absl::StatusOr<uint64_t> FillPhilox(EvalContext& context, uint64_t key, absl::uint128 counter,
                                    Literal& bits) {
  const ElementType type = bits.shape().element_type();
  const bool wide = Bits(type) == 64;
  const int64_t count = bits.shape().num_elements();
  std::byte* out = bits.MutableBytes().data();
  PhiloxWords words(key, counter);
  ASSAY_RETURN_IF_ERROR(ForEachElement(
      context, count, [&](int64_t) { StoreBits(StoragePattern(type, words.Next(wide)), Bytes(type), out); }));
  return static_cast<uint64_t>(CeilDiv(count * (wide ? 2 : 1), 4));
}

absl::StatusOr<Literal> EvalRngBitGenerator(EvalContext& context, std::span<Literal> operands) {
  const bool bits_only = context.result_shape().IsArray();
  ASSAY_ASSIGN_OR_RETURN(Literal bits, bits_only ? context.NewResult() : context.NewResultElement(1));
  const int64_t words = operands[0].shape().size(0);
  std::array<uint64_t, 3> state{};
  for (int64_t i = 0; i < words; ++i) state[i] = LoadElement(ElementType::kU64, operands[0].data() + 8 * i).u;
  if (LowerAscii(context.attributes().Text(Attr::kAlgorithm)) == "rng_three_fry") {
    ASSAY_ASSIGN_OR_RETURN(const uint64_t used, FillThreeFry(context, state[0], state[1], bits));
    state[1] += used;
  } else {
    const absl::uint128 counter = absl::MakeUint128(words == 3 ? state[2] : state[0], state[1]);
    ASSAY_ASSIGN_OR_RETURN(const uint64_t used, FillPhilox(context, state[0], counter, bits));
    const absl::uint128 next = counter + used;
    state[1] = absl::Uint128Low64(next);
    if (words == 3) state[2] = absl::Uint128High64(next);
  }
  if (bits_only) return bits;
  ASSAY_ASSIGN_OR_RETURN(Literal new_state, context.NewResultElement(0));
  std::byte* out = new_state.MutableBytes().data();
  for (int64_t i = 0; i < words; ++i) StoreBits(state[i], 8, out);
  return Literal::Tuple(context.shared_result_shape(), {std::move(new_state), std::move(bits)});
}

// rng-get-and-update-state(), delta=n: the 128-bit state of the process as {low, high}; then state += n.
constexpr AttrSpec kRngStateAttrs[] = {Required(Attr::kDelta)};

absl::StatusOr<Shape> InferRngGetAndUpdateState(const InferContext& context) {
  constexpr int64_t kSizes[] = {2};
  const Shape wanted = Shape::ArrayOrDie(ElementType::kU64, kSizes);
  if (context.declared != nullptr && !Shape::Compatible(*context.declared, wanted)) {
    return InvalidProgram({}, fmt::format("RngGetAndUpdateState-C1: the result is {}, wanted u64[2]",
                                          context.declared->ToString()));
  }
  const int64_t delta = context.attributes().Int(Attr::kDelta);
  if (delta < 0)
    return InvalidProgram({}, fmt::format("RngGetAndUpdateState-C3: delta is {}, wanted >= 0", delta));
  return wanted;
}

absl::uint128 AdvanceState(ProcessState& process, absl::uint128 delta) {
  const absl::uint128 old = process.rng_state;
  process.rng_state += delta;
  return old;
}

absl::StatusOr<Literal> EvalRngGetAndUpdateState(EvalContext& context, std::span<Literal>) {
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
  const absl::uint128 state =
      AdvanceState(context.process(), static_cast<uint64_t>(context.attributes().Int(Attr::kDelta)));
  std::byte* out = result.MutableBytes().data();
  StoreBits(absl::Uint128Low64(state), 8, out);
  StoreBits(absl::Uint128High64(state), 8, out);
  return result;
}

// rng(a, b), distribution=rng_uniform: over [a, b); of pred either value with probability 1/2.
// rng(mu, sigma), distribution=rng_normal.
// Decision: rng-stream
constexpr AttrSpec kRngAttrs[] = {Required(Attr::kDistribution)};

absl::StatusOr<Shape> InferRng(const InferContext& context) {
  const std::string distribution = LowerAscii(context.attributes().Text(Attr::kDistribution));
  const bool normal = distribution == "rng_normal";
  if (!normal && distribution != "rng_uniform") {
    return InvalidProgram(
        {}, fmt::format("rng: distribution is '{}', wanted rng_uniform or rng_normal", distribution));
  }
  const std::string_view name = normal ? "RngNormal" : "RngUniform";
  ASSAY_ASSIGN_OR_RETURN(Shape result, context.Declared());
  if (!result.IsArray()) {
    return InvalidProgram({},
                          fmt::format("{}-C3: the result is {}, wanted an array", name, result.ToString()));
  }
  const ElementType type = result.element_type();
  for (int i = 0; i < 2; ++i) {
    if (!context.operand(i).IsScalar(type)) {
      return InvalidProgram({}, fmt::format("{}-C1: operand {} is {}, wanted {}[]", name, i,
                                            context.operand(i).ToString(), Name(type)));
    }
  }
  if (!IsFloat(type) && (normal || !(IsIntegral(type) || type == ElementType::kPred))) {
    return InvalidProgram({}, fmt::format("{}-C2: element type is {}, wanted {}", name, Name(type),
                                          normal ? "a floating type" : "pred, an integral or floating type"));
  }
  return result;
}

// The format that uniform and normal draws compute in: f64 for f64, f32 for every other float.
const FloatFormat& DrawFormat(ElementType type) {
  return *Info(type == ElementType::kF64 ? type : ElementType::kF32).format;
}

// u in [0, 1) from the top mantissa bits of a word: (bits >> (W - m)) * 2^-m, exact.
double UnitUniform(PhiloxWords& words, const FloatFormat& format) {
  const bool wide = format.bits == 64;
  const uint64_t bits = words.Next(wide) >> (format.bits - format.mantissa_bits);
  return std::ldexp(static_cast<double>(bits), -format.mantissa_bits);
}

PhiloxWords DrawStream(EvalContext& context) {
  const Shape& shape = context.result_shape();
  ProcessState& process = context.process();
  const DeviceGrid& grid = context.device().grid();
  const int64_t id = grid.logical ? 0 : context.device().id();
  const uint64_t key = context.options().run_seed ^ static_cast<uint64_t>(grid.replica(id)) ^
                       (static_cast<uint64_t>(grid.partition(id)) << 32);
  const uint64_t words_each = static_cast<uint64_t>(std::max(Bits(shape.element_type()), 32) / 32);
  return PhiloxWords(key, AdvanceState(process, absl::uint128(shape.num_elements()) * words_each));
}

// r = RN(RN(u * RN(b - a)) + a); where a < b and r >= b: the largest value below b. Narrow types round once
// more.
absl::Status FillUniformFloat(EvalContext& context, double a, double b, Literal& result) {
  PhiloxWords words = DrawStream(context);
  const ElementType type = result.shape().element_type();
  const FloatFormat& draw = DrawFormat(type);
  const FloatFormat& format = *Info(type).format;
  const double range = RealSubtract(b, a, draw);
  std::byte* out = result.MutableBytes().data();
  return ForEachElement(context, result.shape().num_elements(), [&](int64_t) {
    double r = a;
    if (a < b) {
      const double u = UnitUniform(words, draw);
      r = RoundToFormat(RealAdd(RealMultiply(u, range, draw), a, draw), format);
      if (r >= b) r = NextBelow(b, format);
    }
    StoreStrip(type, &r, 1, out, Bytes(type));
    out += Bytes(type);
  });
}

// r = a + bits mod (b - a), in w bits; b <= a: a.
absl::Status FillUniformInteger(EvalContext& context, const ScalarValue& a, const ScalarValue& b,
                                Literal& result) {
  PhiloxWords words = DrawStream(context);
  const ElementType type = result.shape().element_type();
  const bool is_signed = IsSignedIntegral(type);
  const bool empty = is_signed ? b.i <= a.i : b.u <= a.u;
  const uint64_t low = is_signed ? static_cast<uint64_t>(a.i) : a.u;
  const uint64_t range = (is_signed ? static_cast<uint64_t>(b.i) : b.u) - low;
  std::byte* out = result.MutableBytes().data();
  return ForEachElement(context, result.shape().num_elements(), [&](int64_t) {
    const uint64_t value = empty ? low : low + words.Next(Bits(type) == 64) % range;
    StoreBits(StoragePattern(type, value), Bytes(type), out);
  });
}

// The lowest bit of a word, whatever the operands are.
absl::Status FillUniformPred(EvalContext& context, Literal& result) {
  PhiloxWords words = DrawStream(context);
  std::byte* out = result.MutableBytes().data();
  return ForEachElement(context, result.shape().num_elements(),
                        [&](int64_t) { *out++ = static_cast<std::byte>(words.Next(false) & 1); });
}

absl::StatusOr<Literal> EvalUniform(EvalContext& context, std::span<Literal> operands) {
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
  const ElementType type = context.result_shape().element_type();
  if (type == ElementType::kPred) {
    ASSAY_RETURN_IF_ERROR(FillUniformPred(context, result));
    return result;
  }
  const ScalarValue a = LoadElement(type, operands[0].data()), b = LoadElement(type, operands[1].data());
  ASSAY_RETURN_IF_ERROR(IsFloat(type) ? FillUniformFloat(context, a.r, b.r, result)
                                      : FillUniformInteger(context, a, b, result));
  return result;
}

// One Box-Muller pair, each operation rounded in the draw format:
//   u1 = max(x0, 1e-7); R = sqrt(-2 ln u1); v = 2 pi x1; (R sin v, R cos v)
std::pair<double, double> NormalPair(double x0, double x1, const FloatFormat& format) {
  const FloatFormat& f32 = *Info(ElementType::kF32).format;
  const double smallest = RoundToFormat(1e-7, f32);
  const double two_pi = RoundToFormat(6.283185307179586, f32);
  const double u1 = std::max(x0, smallest);
  const double radius = RealSqrt(RealMultiply(-2.0, RealLog(u1, format), format), format);
  const double angle = RealMultiply(two_pi, x1, format);
  return {RealMultiply(radius, RealSin(angle, format), format),
          RealMultiply(radius, RealCos(angle, format), format)};
}

absl::StatusOr<Literal> EvalNormal(EvalContext& context, std::span<Literal> operands) {
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewResult());
  const ElementType type = context.result_shape().element_type();
  const FloatFormat& draw = DrawFormat(type);
  const double mu = LoadElement(type, operands[0].data()).r, sigma = LoadElement(type, operands[1].data()).r;
  const PairSplit split = SplitPairs(context.result_shape());

  // Uniforms of the concat shape (dimension s padded to even), one pair from positions 2h and 2h + 1 of it.
  const PhiloxWords words = DrawStream(context);
  if (context.result_shape().num_elements() == 0) return result;
  const int64_t words_each = draw.bits / 32;
  int64_t inner = 1;
  for (size_t d = split.dimension + 1; d < split.sizes.size(); ++d) inner *= split.sizes[d];
  const auto uniform = [&](int64_t position) {
    PhiloxWords at = words.From(static_cast<uint64_t>(position) * words_each);
    return UnitUniform(at, draw);
  };

  std::byte* out = result.MutableBytes().data();
  ASSAY_RETURN_IF_ERROR(ForEachPairElement(context, split, [&](int64_t half_position, bool odd) {
    const int64_t first = half_position / inner * 2 * inner + half_position % inner;
    const auto [even_value, odd_value] = NormalPair(uniform(first), uniform(first + inner), draw);
    const double scaled = RealMultiply(sigma, odd ? odd_value : even_value, draw);
    const double value = RoundToFormat(RealAdd(mu, scaled, draw), *Info(type).format);
    StoreStrip(type, &value, 1, out, Bytes(type));
    out += Bytes(type);
  }));
  return result;
}

absl::StatusOr<Literal> EvalRng(EvalContext& context, std::span<Literal> operands) {
  return LowerAscii(context.attributes().Text(Attr::kDistribution)) == "rng_normal"
             ? EvalNormal(context, operands)
             : EvalUniform(context, operands);
}

}  // namespace

constinit const OpDef ops::RngBitGenerator = {
    .operands = Exactly(1),
    .types = kIntegralTypes | kFloatTypes,
    .attributes = kRngBitGeneratorAttrs,
    .infer = InferRngBitGenerator,
    .eval = EvalRngBitGenerator,
    .work = work::Move,
    .bound = bound::RngBitGenerator,
    .audit = audit::Random,
    .open_sizes = open::Declared,
};
constinit const OpDef ops::RngGetAndUpdateState = {
    .operands = Exactly(0),
    .types = TypeSet::Of(ElementType::kU64),
    .attributes = kRngStateAttrs,
    .infer = InferRngGetAndUpdateState,
    .eval = EvalRngGetAndUpdateState,
    .work = work::Move,
    .bound = bound::NoRule,
    .audit = audit::Random,
    .has_side_effect = true,
};
constinit const OpDef ops::Rng = {
    .operands = Exactly(2),
    .types = kPredTypes | kIntegralTypes | kFloatTypes,
    .attributes = kRngAttrs,
    .infer = InferRng,
    .eval = EvalRng,
    .work = work::Function,
    .bound = bound::NoRule,
    .audit = audit::Random,
    .open_sizes = open::Declared,
    .has_side_effect = true,
};

}  // namespace assay
