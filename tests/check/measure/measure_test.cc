// Profiles that are measured: of Assay itself, and of backends that are off by what the test plants.
#include "check/measure/measure.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "hlo/module.h"
#include "run/inputs/program_io.h"
#include "run/program.h"

namespace assay::testing {
namespace {

using Outputs = Backend::Outputs;

// What Assay gives, for other arguments and with other outputs.
struct Planted final : Backend {
  std::function<absl::Status(const Module&)> refuse;
  std::function<void(const Module&, std::vector<Literal>&)> change_arguments;
  std::function<void(const Module&, const std::vector<Literal>&, Outputs&)> change_outputs;

  std::string Name() const override { return "planted"; }
  absl::StatusOr<Outputs> Run(const Request& request) override {
    if (refuse) ASSAY_RETURN_IF_ERROR(refuse(request.module));
    std::vector<Literal> arguments = request.arguments;
    if (change_arguments) change_arguments(request.module, arguments);
    Module module = request.module;
    ASSAY_ASSIGN_OR_RETURN(const Program program, Program::OfModule(std::move(module)));
    ASSAY_ASSIGN_OR_RETURN(const Literal root, program.Run(arguments));
    Outputs outputs;
    for (auto& [key, value] : ResultsOf(root)) outputs.emplace(key, value);
    if (change_outputs) change_outputs(request.module, request.arguments, outputs);
    return outputs;
  }
};

bool Has(const Module& module, Opcode op) {
  for (const Instruction& instruction : module.entry_computation().instructions) {
    if (instruction.opcode == op) return true;
  }
  return false;
}

Measurement Measured(Planted& backend, int64_t count = 500) {
  MeasureOptions options;
  options.count = count;
  const absl::StatusOr<Measurement> measured = MeasureProfile(backend, options);
  INFO(measured.status());
  REQUIRE(measured.ok());
  return *measured;
}

const MeasuredFunction& Of(const Measurement& measured, Opcode op, ElementType type) {
  for (const MeasuredFunction& function : measured.functions) {
    if (function.op == op && function.type == type) return function;
  }
  FAIL("not measured");
  return measured.functions[0];
}

Profile ReadAgain(const Measurement& measured) {
  const std::string text = MeasuredProfileText(measured, {{"device", "none"}});
  absl::StatusOr<Profile> profile = ParseProfile("measured", text);
  INFO(text);
  REQUIRE(profile.ok());
  REQUIRE(profile->origin.size() == 1);
  return *std::move(profile);
}

// f of each number, rounded to the type.
Literal Mapped(const Literal& array, const std::function<double(double)>& f) {
  std::vector<double> values;
  for (int64_t i = 0; i < array.shape().num_elements(); ++i) values.push_back(f(array.GetDouble(i)));
  return Literal::FromDoubles(array.shape().element_type(), array.shape().sizes(), values);
}

}  // namespace

TEST_CASE("measure: what is allowed is more than what was seen", "[check][measure]") {
  CHECK(AllowedUlps(Opcode::kAdd, 0.5, false) == 0.5);
  CHECK(AllowedUlps(Opcode::kTanh, 0.5, false) == 1.5);
  CHECK(AllowedUlps(Opcode::kDivide, 1.5, false) == 2.5);
  CHECK(AllowedUlps(Opcode::kTanh, 4.5, false) == 6);
  CHECK(AllowedUlps(Opcode::kLog1p, 127.5, false) == 159.5);
  CHECK(AllowedUlps(Opcode::kTanh, 1.5, true) == 1.5);
}

TEST_CASE("measure: Assay itself is strict", "[check][measure]") {
  Planted backend;
  const Measurement measured = Measured(backend);
  CHECK(measured.functions.size() == 4 * 27 + 3);
  CHECK(measured.is_exact());
  for (const MeasuredFunction& function : measured.functions) CHECK(function.compared > 100);
  CHECK(MeasuredProfileText(measured, {}).find("inherit strict\n# Every result was the exact one") == 0);
  const Profile profile = ReadAgain(measured), strict = *LoadProfile("strict");
  CHECK(profile.ulps.size() == strict.ulps.size());
  CHECK(profile.UlpsOf(Opcode::kTanh, ElementType::kF32) == 0.5);
}

TEST_CASE("measure: functions that are ulps off are found", "[check][measure]") {
  Planted backend;
  backend.change_outputs = [](const Module& module, const std::vector<Literal>&, Outputs& outputs) {
    const Computation& entry = module.entry_computation();
    const Instruction& root = entry.root_instruction();
    if (root.opcode != Opcode::kTuple) return;
    for (size_t k = 0; k < root.operands.size(); ++k) {
      const Instruction& term = entry.instructions[static_cast<size_t>(root.operands[k])];
      Literal& value = outputs.at("out" + std::to_string(k));
      if (!value.shape().IsArray() || term.opcode != Opcode::kTanh) continue;
      const int bits = Info(value.shape().element_type()).format->mantissa_bits;
      // Seven ulps off between 1/4 and 1/2, and right elsewhere.
      value = Mapped(value, [&](double x) {
        return x > 0.25 && x < 0.5 ? x - 7 * std::ldexp(1, std::ilogb(x) - bits) : x;
      });
    }
  };
  const Measurement measured = Measured(backend);
  CHECK_FALSE(measured.is_exact());
  for (const ElementType type :
       {ElementType::kF32, ElementType::kF64, ElementType::kBF16, ElementType::kF16}) {
    const MeasuredFunction& tanh = Of(measured, Opcode::kTanh, type);
    CHECK(tanh.ulps == 7.5);
    REQUIRE(tanh.at.size() == 1);
    CHECK(std::fabs(std::tanh(tanh.at[0]) - 0.375) < 0.126);
    CHECK(Of(measured, Opcode::kSinh, type).ulps == 0.5);
  }
  const Profile profile = ReadAgain(measured);
  CHECK(profile.UlpsOf(Opcode::kTanh, ElementType::kF32) == 9.5);   // 7.5 and a quarter
  CHECK(profile.UlpsOf(Opcode::kTanh, ElementType::kBF16) == 7.5);  // all arguments were tried
  CHECK(profile.UlpsOf(Opcode::kSinh, ElementType::kF32) == 1.5);
  CHECK(profile.UlpsOf(Opcode::kAdd, ElementType::kF32) == 0.5);
}

TEST_CASE("measure: a tail that is flushed, subnormal numbers that are", "[check][measure]") {
  Planted backend;
  backend.change_outputs = [](const Module& module, const std::vector<Literal>&, Outputs& outputs) {
    const Computation& entry = module.entry_computation();
    const Instruction& root = entry.root_instruction();
    for (size_t k = 0; root.opcode == Opcode::kTuple && k < root.operands.size(); ++k) {
      const Opcode op = entry.instructions[static_cast<size_t>(root.operands[k])].opcode;
      Literal& value = outputs.at("out" + std::to_string(k));
      const ElementType type = value.shape().element_type();
      const bool is_logistic = op == Opcode::kLogistic && type == ElementType::kF32;
      if (!is_logistic && type != ElementType::kF64) continue;
      const double tiny = std::ldexp(1, Info(type).format->min_exponent);
      value = Mapped(value, [&](double x) { return std::fabs(x) < tiny ? 0 : x; });
    }
  };
  const Measurement measured = Measured(backend, 20'000);  // some results of logistic are subnormal
  CHECK(measured.found.flushes == TypeSet::Of(ElementType::kF64));
  const Profile profile = ReadAgain(measured);
  CHECK(profile.Underflows(Opcode::kLogistic, ElementType::kF32));
  CHECK_FALSE(profile.Underflows(Opcode::kExp, ElementType::kF32));
  CHECK_FALSE(profile.Underflows(Opcode::kLogistic, ElementType::kF64));  // said for all of f64
}

TEST_CASE("measure: operands of dots that are cut", "[check][measure]") {
  Planted backend;
  backend.change_arguments = [](const Module& module, std::vector<Literal>& arguments) {
    if (!Has(module, Opcode::kConvolution)) return;
    for (Literal& argument : arguments) {
      argument = Mapped(argument, [](double x) {
        if (x == 0) return x;
        const double quantum = std::ldexp(1, std::ilogb(x) - 10);
        return std::trunc(x / quantum) * quantum;
      });
    }
  };
  const Measurement measured = Measured(backend);
  CHECK_FALSE(measured.is_exact());
  CHECK(ReadAgain(measured).dot_input_bits[static_cast<size_t>(ElementType::kF32)] == 11);
}

TEST_CASE("measure: sums on tensor cores", "[check][measure]") {
  Planted backend;
  backend.change_outputs = [](const Module& module, const std::vector<Literal>& arguments, Outputs& outputs) {
    if (!Has(module, Opcode::kDot) || arguments[0].shape().element_type() != ElementType::kBF16) return;
    if (outputs.size() != 1) return;
    const int64_t rows = arguments[0].shape().size(0), terms = arguments[0].shape().size(1),
                  columns = arguments[1].shape().size(1);
    std::vector<double> sums;
    for (int64_t i = 0; i < rows * columns; ++i) {
      std::vector<double> products;
      double largest = 0, sum = 0;
      for (int64_t k = 0; k < terms; ++k) {
        products.push_back(arguments[0].GetDouble(i / columns * terms + k) *
                           arguments[1].GetDouble(k * columns + i % columns));
        largest = std::max(largest, std::fabs(products.back()));
      }
      const double quantum = largest == 0 ? 1 : std::ldexp(1, std::ilogb(largest) - 25);
      for (const double product : products) sum += std::trunc(product / quantum) * quantum;
      const double last = sum == 0 ? 1 : std::ldexp(1, std::ilogb(sum) - 23);
      sums.push_back(std::trunc(sum / last) * last);
    }
    outputs.at("out0") = Literal::FromDoubles(ElementType::kF32, outputs.at("out0").shape().sizes(), sums);
  };
  const Profile profile = ReadAgain(Measured(backend));
  CHECK(profile.tensor_core_bits[static_cast<size_t>(ElementType::kBF16)] == 25);
  CHECK(profile.tensor_core_bits[static_cast<size_t>(ElementType::kF16)] == 0);
}

TEST_CASE("measure: products that are fused, and sums of bf16 that are kept", "[check][measure]") {
  Planted backend;
  backend.change_outputs = [](const Module& module, const std::vector<Literal>& arguments, Outputs& outputs) {
    if (arguments.size() != 3 || !Has(module, Opcode::kSubtract) || Has(module, Opcode::kPower)) return;
    const ElementType type = arguments[0].shape().element_type();
    const bool fuses = type == ElementType::kF64 && Has(module, Opcode::kMultiply);
    if (!fuses && type != ElementType::kBF16) return;
    for (auto& [key, value] : outputs) {
      std::vector<double> results;
      for (int64_t i = 0; i < value.shape().num_elements(); ++i) {
        const double x = arguments[0].GetDouble(i), y = arguments[1].GetDouble(i),
                     z = arguments[2].GetDouble(i);
        results.push_back(fuses ? std::fma(x, y, -z) : (x + y) - x);
      }
      value = Literal::FromDoubles(type, value.shape().sizes(), results);
    }
  };
  const Profile profile = ReadAgain(Measured(backend));
  CHECK(profile.contracts);
  CHECK(profile.keeps_precision == TypeSet::Of(ElementType::kBF16));
}

TEST_CASE("measure: what a backend refuses is named, and an end is an end", "[check][measure]") {
  Planted backend;
  backend.refuse = [](const Module& module) {
    return Has(module, Opcode::kTan) ? NotSupported({}, "no tan here") : absl::OkStatus();
  };
  const Measurement measured = Measured(backend);
  CHECK(measured.refused == std::vector<std::string>{"tan f32: no tan here", "tan f64: no tan here",
                                                     "tan bf16: no tan here", "tan f16: no tan here"});
  CHECK(measured.functions.size() == 4 * 26 + 3);
  CHECK(MeasuredProfileText(measured, {}).find("# not measured: tan f32: no tan here") != std::string::npos);
  backend.refuse = [](const Module&) { return NotSupported({}, "nothing"); };
  CHECK(MeasureProfile(backend, {.count = 100}).status().message() == "nothing");
  backend.refuse = [](const Module&) { return LimitExceeded("timeout", 1, 0); };
  CHECK(MeasureProfile(backend, {.count = 100}).status().code() == absl::StatusCode::kResourceExhausted);
}

}  // namespace assay::testing
