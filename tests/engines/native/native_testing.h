// Programs run by native kernels of a chosen instruction set and number of threads, and hostile operands.
#ifndef ASSAY_TESTS_ENGINES_NATIVE_NATIVE_TESTING_H_
#define ASSAY_TESTS_ENGINES_NATIVE_NATIVE_TESTING_H_

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "engines/native/native_engine.h"
#include "literal/element_io.h"
#include "literal/float_format.h"
#include "literal/literal_text.h"
#include "tests/run/program_testing.h"

namespace assay::testing {

inline std::vector<Isa> MachineIsas() {
  std::vector<Isa> isas;
  for (Isa isa : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512}) {
    if (isa <= MachineIsa()) isas.push_back(isa);
  }
  return isas;
}

inline Plan ReferencePlan(const std::string& body) {
  return PlanOf(R"(HloModule m
ENTRY e {
)" + body + "\n}\n",
                EngineChoice::kReference);
}

// What an engine makes of the entry's root alone.
inline absl::StatusOr<std::shared_ptr<const Kernel>> PrepareRoot(const Engine& engine, const Module& module) {
  const Computation& entry = module.entry_computation();
  return engine.Prepare({module, entry, {&entry.root, 1}, entry.root_instruction().operands});
}

// Every step that the native engine takes; `kernels` counts them.
inline Plan NativePlan(Plan plan, Isa isa, int* kernels) {
  plan.engines = {&native::NativeEngine()};
  *kernels = 0;
  for (size_t c = 0; c < plan.computations.size(); ++c) {
    const Computation& computation = plan.module->computations[c];
    for (Step& step : plan.computations[c].steps) {
      const Engine& engine = native::NativeEngine(isa);
      auto kernel =
          engine.Prepare({*plan.module, computation, {&step.instruction, 1}, step.Reads(computation)});
      if (!kernel.ok()) continue;
      step.kernel = *std::move(kernel);
      step.engine = &engine;
      ++*kernels;
    }
  }
  return plan;
}

// Whether the entry's root is a native kernel's.
inline bool RootHasKernel(const Plan& plan) {
  return plan.computations[static_cast<size_t>(plan.module->entry.value)].steps.back().kernel != nullptr;
}

inline absl::StatusOr<Literal> RunPlan(const Plan& plan, const std::vector<Literal>& arguments,
                                       int jobs = 1) {
  RunOptions options;
  options.jobs = jobs;
  return Executor(plan, options).Run(arguments);
}

// How the elements of an operand are drawn.
enum class Draw {
  kNormal,
  kWide,        // exponents all over the format's range
  kCancelling,  // pairs x, -x, with exponents spread
  kTies,        // one element a power of two, others at half a unit of it and less
  kSmall,       // subnormals and the smallest normals
  kLarge,       // the largest magnitudes
  kIntegers,    // -2 .. 2, so that many sums are zero
  kZeros,       // +0 and -0 alone
  kSpecials,    // now and then an infinity or a NaN
};

class Drawer {
 public:
  Drawer(Draw draw, const FloatFormat& format, uint64_t seed) : draw_(draw), format_(format), random_(seed) {}
  // Infinite or NaN for kSpecials alone.
  double Next() {
    const double value = RoundToFormat(Raw(), format_);
    return draw_ == Draw::kSpecials || std::isfinite(value) ? value : 1.0;
  }

 private:
  double Normal() { return normal_(random_); }
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  double Raw() {
    const int range = format_.max_exponent - format_.min_exponent + 1;
    switch (draw_) {
      case Draw::kNormal:
        return Normal();
      case Draw::kWide:
        return std::ldexp(Normal(), format_.min_exponent + Below(range));
      case Draw::kCancelling:
        if (++count_ % 2 == 0) return -last_;
        return last_ = RoundToFormat(std::ldexp(Normal(), (Below(range) - range / 2) / 2), format_);
      case Draw::kTies: {
        const double sign = Below(2) == 0 ? 1 : -1;
        if (Below(8) == 0) return sign;
        return sign * std::ldexp(1.0, -format_.mantissa_bits - 1 - Below(3));
      }
      case Draw::kSmall:
        return Normal() * format_.min_subnormal * std::ldexp(1.0, Below(format_.mantissa_bits + 3));
      case Draw::kLarge:
        return (Below(2) == 0 ? 1 : -1) * format_.max_finite * (1 - Below(4) * 0.125);
      case Draw::kIntegers:
        return Below(5) - 2;
      case Draw::kZeros:
        return Below(2) == 0 ? 0.0 : -0.0;
      case Draw::kSpecials:
        if (Below(40) != 0) return Normal();
        return Below(3) == 0 ? std::nan("") : Below(2) == 0 ? HUGE_VAL : -HUGE_VAL;
    }
    return 0;
  }

  const Draw draw_;
  const FloatFormat& format_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  double last_ = 0;
  int64_t count_ = 0;
};

inline Literal Drawn(const Shape& shape, Draw draw, uint64_t seed) {
  const ElementType type = shape.element_type();
  Literal literal = *Literal::Make(shape);
  std::byte* const dst = literal.MutableBytes().data();
  std::mt19937_64 random(seed);
  const FloatFormat* const format = Info(type).format;
  Drawer drawer(draw, format != nullptr ? *format : *Info(ElementType::kF32).format, seed);
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    ScalarValue value;
    value.kind = KindOf(type);
    if (format != nullptr) value.r = drawer.Next();
    if (IsComplex(type)) value.c = {value.r, drawer.Next()};
    if (format == nullptr) value.u = random(), value.i = static_cast<int64_t>(value.u), value.b = value.u & 1;
    if (IsIntegral(type) && draw == Draw::kIntegers)
      value.i = static_cast<int64_t>(value.u % 5) - 2, value.u %= 5;
    StoreElement(type, value, dst + i * Bytes(type));
  }
  return literal;
}

inline std::vector<Literal> DrawnArguments(const Plan& plan, Draw draw, uint64_t seed) {
  const Computation& entry = plan.module->entry_computation();
  std::vector<Literal> arguments;
  for (int32_t parameter : entry.parameters)
    arguments.push_back(Drawn(*entry.instructions[parameter].shape, draw, seed + arguments.size()));
  return arguments;
}

// The program gives the reference's bits on every instruction set with 1, 2 and 7 threads.
class NativePlans {
 public:
  explicit NativePlans(const std::string& body) : body_(body), reference_(ReferencePlan(body)) {
    for (Isa isa : MachineIsas()) {
      int kernels = 0;
      natives_.push_back(NativePlan(reference_, isa, &kernels));
      REQUIRE(kernels > 0);
    }
  }
  const Plan& reference() const { return reference_; }

  void Check(const std::vector<Literal>& arguments) const {
    const absl::StatusOr<Literal> wanted = RunPlan(reference_, arguments);
    REQUIRE(wanted.ok());
    for (size_t i = 0; i < natives_.size(); ++i) {
      for (int jobs : {1, 2, 7}) {
        const absl::StatusOr<Literal> result = RunPlan(natives_[i], arguments, jobs);
        INFO(body_ << "\ninstruction set " << i << ", jobs " << jobs << " " << result.status().message());
        REQUIRE(result.ok());
        CHECK(Literal::BitwiseEqual(*wanted, *result));
      }
    }
  }

 private:
  const std::string body_;
  const Plan reference_;
  std::vector<Plan> natives_;
};

inline void CheckAgainstReference(const std::string& body, std::initializer_list<Draw> draws,
                                  uint64_t seed = 1) {
  const NativePlans plans(body);
  for (Draw draw : draws) {
    INFO("draw " << static_cast<int>(draw));
    plans.Check(DrawnArguments(plans.reference(), draw, seed + static_cast<uint64_t>(draw)));
  }
}

inline constexpr std::initializer_list<Draw> kAllDraws = {Draw::kNormal,   Draw::kWide,  Draw::kCancelling,
                                                          Draw::kTies,     Draw::kSmall, Draw::kLarge,
                                                          Draw::kIntegers, Draw::kZeros, Draw::kSpecials};

}  // namespace assay::testing

#endif  // ASSAY_TESTS_ENGINES_NATIVE_NATIVE_TESTING_H_
