// The test dialects `check` and `interpreter` become custom calls of the same names, whose fields are a dictionary in
// backend_config (evaluator/ops/test_call.h).
#include <array>

#include "fmt/format.h"
#include "hlo/mlir/importer.h"

namespace assay::mlir {
namespace {

// A field, and its value where it is not written; "": the field has no default.
struct Field {
  std::string_view name, absent;
};
struct TestOp {
  std::string_view name;
  std::array<Field, 2> fields;
};
constexpr TestOp kTestOps[] = {
    {"check.expect_almost_eq", {{{"tolerance", "1.000000e-04 : f64"}}}},
    {"check.expect_almost_eq_const", {{{"tolerance", "1.000000e-04 : f64"}}}},
    {"check.expect_close", {{{"max_ulp_difference", "1 : ui64"}, {"min_ulp_difference", "0 : ui64"}}}},
    {"check.expect_serialized_eq", {{{"iteration", "0 : ui32"}, {"probe_id", ""}}}},
    {"interpreter.probe", {{{"probe_id", ""}}}},
};

// The fields of the operation as a dictionary, with the defaults of the dialect or without.
std::string Dictionary(const Operation& op, std::string_view name, bool with_defaults) {
  std::string text;
  for (const TestOp& test : kTestOps) {
    if (test.name != name) continue;
    for (const Field& field : test.fields) {
      if (field.name.empty()) continue;
      const Attribute* value = op.Find(field.name);
      if (value == nullptr && field.name == "iteration") value = op.Find("iter");
      if (value == nullptr && (!with_defaults || field.absent.empty())) continue;
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", field.name,
                          value == nullptr ? std::string(field.absent) : ToString(*value, /*whole=*/true));
    }
  }
  return text.empty() ? text : "{" + text + "}";
}

// Operands, the constant of "value" if there is one, and what the operation gives: nothing or its operand.
void ImportTest(OpImport& in) {
  std::vector<int32_t> inputs(in.operands.begin(), in.operands.end());
  if (const Attribute* const value = in.Find("value"); value != nullptr) {
    if (inputs.size() != 1) return in.Invalid(fmt::format("found {} operands, want 1", inputs.size()));
    if (value->type == nullptr || !SameType(*value->type, *in.op.operands[0]->type)) {
      return in.Invalid(fmt::format("value is {}, want one of type {}", ToString(*value),
                                    ToString(*in.op.operands[0]->type)));
    }
    inputs.push_back(in.DenseConstant(*value, in.scope.computation.instructions[inputs[0]].shape));
  }
  SharedShape shape = in.WholeShape();
  if (!in.ok()) return;
  const int32_t call = in.Add(
      Opcode::kCustomCall, std::move(shape), inputs,
      in.Map({{Attr::kCustomCallTarget, std::string(in.op.name)}, {Attr::kCustomCallHasSideEffect, true}}));
  FinishTestCall(in, call, in.op.name, Dictionary(in.op, in.op.name, /*with_defaults=*/true));
  in.BindResults(call);
}

// run_parallel on a grid of one process is a call.
void ImportRunParallel(OpImport& in) {
  const Attribute* const programs = in.Require("programs");
  if (!in.ok()) return;
  if (programs->elements.size() != 1 || programs->elements[0]->elements.size() != 1)
    return in.Unsupported("several processes");
  if (in.Find("infeed") != nullptr) return in.Unsupported("an infeed");
  const absl::StatusOr<ComputationId> callee = in.importer.Function(programs->elements[0]->elements[0]->text);
  if (!callee.ok()) return in.Fail(callee.status());
  in.Emit(Opcode::kCall, in.operands, in.Map({{Attr::kToApply, *callee}}));
}

constexpr ImportRow kTestRows[] = {
    {"check.expect_eq", ImportTest},
    {"check.expect_eq_const", ImportTest},
    {"check.expect_almost_eq", ImportTest},
    {"check.expect_almost_eq_const", ImportTest},
    {"check.expect_close", ImportTest},
    {"check.expect_serialized_eq", ImportTest},
    {"interpreter.probe", ImportTest},
    {"interpreter.print", ImportTest},
    {"interpreter.run_parallel", ImportRunParallel},
};

}  // namespace

std::span<const ImportRow> TestRows() { return kTestRows; }

std::string TestCallConfig(const Operation& op, std::string_view target) {
  return Dictionary(op, target, /*with_defaults=*/false);
}

void FinishTestCall(OpImport& in, int32_t call, std::string_view target, std::string config) {
  if (!config.empty()) {
    in.OwnExtras(call).backend_config = {std::move(config), true};
    in.scope.computation.instructions[call].attributes.Set(Attr::kApiVersion,
                                                           assay::Word{"API_VERSION_TYPED_FFI"});
  }
  if (target == "check.expect_serialized_eq" || target.substr(0, 12) == "interpreter.") {
    // HLO orders effects by operands and control alone.
    in.scope.computation.instructions[call].control_predecessors = std::move(in.scope.unordered);
    in.scope.unordered = {call};
  }
}

}  // namespace assay::mlir
