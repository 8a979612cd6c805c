// The test dialects `check` and `interpreter` become custom calls of the same names, whose fields are a
// dictionary in backend_config (evaluator/ops/control/test_call.h).
#include <algorithm>
#include <array>
#include <optional>

#include "base/counted.h"
#include "fmt/format.h"
#include "hlo/mlir/import/importer.h"

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
    if (inputs.size() != 1)
      return in.Invalid(fmt::format("found {}, want 1", Counted(inputs.size(), "operand")));
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

// --- run_parallel ------------------------------------------------------------------------------------------
//
// A grid of one process is a call. One of R x P is the module's: every device runs all of the program; at
// run_parallel each takes the branch of its number, which calls its function;
// then each gets the results of all by an all-gather.

struct ProcessGrid {
  int64_t replicas = 0, partitions = 0;
  std::vector<std::string_view> programs;  // by device number

  int64_t size() const { return replicas * partitions; }
};

constexpr int64_t kMaxProcesses = 4096;  // each has a thread (evaluator/device.h)

absl::StatusOr<ProcessGrid> GridOf(const Operation& op) {
  const Attribute* const programs = op.Find("programs");
  if (programs == nullptr || programs->kind != Attribute::Kind::kArray || programs->elements.empty())
    return InvalidProgram({}, fmt::format("{}: want rows of functions in programs", op.name));
  ProcessGrid grid{.replicas = std::ssize(programs->elements),
                   .partitions = std::ssize(programs->elements[0]->elements)};
  for (const Attribute* row : programs->elements) {
    if (row->kind != Attribute::Kind::kArray || row->elements.empty() ||
        std::ssize(row->elements) != grid.partitions) {
      return InvalidProgram(
          {}, fmt::format("{}: a row of programs has {}, want {} in each", op.name,
                          Counted(row->elements.size(), "function"), std::max(grid.partitions, int64_t{1})));
    }
    for (const Attribute* program : row->elements) grid.programs.push_back(program->text);
  }
  if (grid.size() > kMaxProcesses) return LimitExceeded("processes", grid.size(), kMaxProcesses);
  return grid;
}

// What one process takes and gives: operands and results number `first_...` and the following ones.
struct Process {
  ComputationId function;
  size_t first_operand = 0, num_operands = 0, first_result = 0, num_results = 0;
};

absl::StatusOr<std::vector<Process>> ProcessesOf(OpImport& in, const ProcessGrid& grid) {
  std::vector<Process> processes;
  size_t operands = 0, results = 0;
  for (const std::string_view program : grid.programs) {
    ASSAY_ASSIGN_OR_RETURN(const ComputationId function, in.importer.Function(program));
    const Computation& computation = in.importer.module().computation(function);
    const Shape& result = *computation.root_instruction().shape;
    const size_t gives = result.IsTuple() ? result.elements().size() : 1;
    processes.push_back({function, operands, computation.parameters.size(), results, gives});
    operands += computation.parameters.size();
    results += gives;
  }
  if (operands != in.num_operands() || results != in.num_results()) {
    return InvalidProgram({}, fmt::format("{}: found {} and {}, the programs have {} and {}", in.op.name,
                                          Counted(in.num_operands(), "operand"),
                                          Counted(in.num_results(), "result"), operands, results));
  }
  return processes;
}

// The results of all processes as a tuple: those of `process`, which is called with its part
// of the argument, and zeros.
absl::StatusOr<ComputationId> BranchOf(OpImport& in, const Process& process, const SharedShape& argument,
                                       const SharedShape& whole) {
  Scope scope = in.importer.NewScope(in.op);
  OpImport inside(in.importer, scope, in.op);
  const int32_t parameter = inside.Add(Opcode::kParameter, argument, {});
  scope.computation.parameters = {parameter};
  std::vector<int32_t> arguments, results;
  for (size_t i = 0; i < process.num_operands; ++i) {
    arguments.push_back(inside.TupleElement(
        parameter, in.importer.Share(Shape(argument->element(static_cast<int64_t>(i)))), i));
  }
  const SharedShape gives = in.importer.module().computation(process.function).root_instruction().shape;
  const int32_t call =
      inside.Add(Opcode::kCall, gives, arguments, in.Map({{Attr::kToApply, process.function}}));
  for (size_t i = 0; i < in.num_results(); ++i) {
    const SharedShape& shape = in.ResultShape(i);
    const bool is_own = i >= process.first_result && i < process.first_result + process.num_results;
    if (is_own) {
      results.push_back(gives->IsTuple() ? inside.TupleElement(call, shape, i - process.first_result) : call);
    } else if (shape->IsArray()) {
      const int32_t zero = inside.Constant(shape->element_type(), 0);
      results.push_back(shape->IsScalar() ? zero : inside.Broadcast(zero, shape));
    } else {
      results.push_back(inside.Add(Opcode::kAfterAll, shape, {}));
    }
  }
  if (!inside.ok()) return inside.status;
  const int32_t root = inside.Add(Opcode::kTuple, whole, results);
  return in.importer.Finish(scope, "process", root);
}

// replica-id * P + partition-id
int32_t DeviceNumber(OpImport& in, int64_t partitions) {
  const SharedShape u32 = in.importer.Scalar(ElementType::kU32);
  const int32_t replica = in.Add(Opcode::kReplicaId, u32, {});
  const int32_t first = in.Add(Opcode::kMultiply, u32,
                               {replica, in.Constant(ElementType::kU32, static_cast<double>(partitions))});
  const int32_t number = in.Add(Opcode::kAdd, u32, {first, in.Add(Opcode::kPartitionId, u32, {})});
  return in.Add(Opcode::kConvert, in.importer.Scalar(ElementType::kS32), {number});
}

// The value that device number `owner` has, on all devices.
int32_t FromDevice(OpImport& in, int32_t value, const SharedShape& shape, int64_t owner, int64_t devices) {
  std::vector<int64_t> sizes(shape->sizes().begin(), shape->sizes().end());
  sizes.insert(sizes.begin(), 1);
  const absl::StatusOr<Shape> row = Shape::Array(shape->element_type(), sizes);
  sizes[0] = devices;
  const absl::StatusOr<Shape> all = Shape::Array(shape->element_type(), sizes);
  for (const absl::StatusOr<Shape>* made : {&row, &all})
    if (!made->ok()) return in.Fail(made->status()), -1;
  auto group = std::make_shared<ReplicaGroups>();
  Ints& ids = group->groups.emplace_back();
  for (int64_t id = 0; id < devices; ++id) ids.push_back(id);
  AttributeMap attributes = in.Map({{Attr::kDimensions, Ints{0}}, {Attr::kChannelId, int64_t{1}}});
  attributes.Set(Attr::kReplicaGroups, std::shared_ptr<const ReplicaGroups>(std::move(group)));
  attributes.Set(Attr::kUseGlobalDeviceIds, true);
  const SharedShape row_shape = in.importer.Share(Shape(*row));
  const int32_t gathered = in.Add(Opcode::kAllGather, in.importer.Share(Shape(*all)),
                                  {in.Add(Opcode::kReshape, row_shape, {value})}, std::move(attributes));
  SliceConfig slice;
  slice.push_back({owner, owner + 1, 1});
  for (const int64_t size : shape->sizes()) slice.push_back({0, size, 1});
  const int32_t part =
      in.Add(Opcode::kSlice, row_shape, {gathered}, in.Map({{Attr::kSlice, std::move(slice)}}));
  return in.Add(Opcode::kReshape, shape, {part});
}

void ImportProcesses(OpImport& in, const ProcessGrid& grid) {
  const absl::StatusOr<std::vector<Process>> processes = ProcessesOf(in, grid);
  if (!processes.ok()) return in.Fail(processes.status());
  for (size_t i = 0; i < in.num_results(); ++i) {
    if (const Shape& shape = *in.ResultShape(i); in.ok() && (shape.HasDynamic() || shape.HasUnbounded()))
      return in.Unsupported(fmt::format("a result of type {}", shape.ToString()));
  }
  std::vector<Shape> parts;
  for (size_t i = 0; i < in.num_results(); ++i) parts.push_back(*in.ResultShape(i));
  if (!in.ok()) return;
  const SharedShape whole = in.importer.Share(Shape::Tuple(std::move(parts)));
  std::vector<int32_t> inputs = {DeviceNumber(in, grid.partitions)};
  std::vector<ComputationId> branches;
  for (const Process& process : *processes) {
    std::vector<Shape> shapes;
    const absl::Span<const int32_t> arguments =
        absl::MakeConstSpan(in.operands).subspan(process.first_operand, process.num_operands);
    for (const int32_t argument : arguments)
      shapes.push_back(*in.scope.computation.instructions[argument].shape);
    const SharedShape argument = in.importer.Share(Shape::Tuple(std::move(shapes)));
    inputs.push_back(in.Add(Opcode::kTuple, argument, arguments));
    const absl::StatusOr<ComputationId> branch = BranchOf(in, process, argument, whole);
    if (!branch.ok()) return in.Fail(branch.status());
    branches.push_back(*branch);
  }
  const int32_t own =
      in.Add(Opcode::kConditional, whole, inputs, in.Map({{Attr::kBranchComputations, std::move(branches)}}));
  for (int64_t device = 0; device < grid.size(); ++device) {
    const Process& process = (*processes)[static_cast<size_t>(device)];
    for (size_t i = process.first_result; i < process.first_result + process.num_results; ++i) {
      const SharedShape& shape = in.ResultShape(i);
      const int32_t value = in.TupleElement(own, shape, i);
      const int32_t result = shape->IsArray() ? FromDevice(in, value, shape, device, grid.size()) : value;
      if (!in.ok()) return;
      in.BindResult(i, result);
    }
  }
}

void ImportRunParallel(OpImport& in) {
  const absl::StatusOr<ProcessGrid> grid = GridOf(in.op);
  if (!grid.ok()) return in.Fail(grid.status());
  if (in.Find("infeed") != nullptr) return in.Unsupported("an infeed");
  if (grid->size() > 1) return ImportProcesses(in, *grid);
  const absl::StatusOr<ComputationId> callee = in.importer.Function(grid->programs[0]);
  if (!callee.ok()) return in.Fail(callee.status());
  in.Emit(Opcode::kCall, in.operands, in.Map({{Attr::kToApply, *callee}}));
}

// What a device does alone outside of processes, which all devices of the module do here.
constexpr std::string_view kOutsideAlone[] = {"interpreter.print",
                                              "stablehlo.all_gather",
                                              "stablehlo.all_reduce",
                                              "stablehlo.all_to_all",
                                              "stablehlo.collective_broadcast",
                                              "stablehlo.collective_permute",
                                              "stablehlo.infeed",
                                              "stablehlo.outfeed",
                                              "stablehlo.partition_id",
                                              "stablehlo.recv",
                                              "stablehlo.reduce_scatter",
                                              "stablehlo.replica_id",
                                              "stablehlo.rng",
                                              "stablehlo.send"};

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

bool HasTests(const Region& region) {
  return std::ranges::any_of(region.operations, [](const Operation* operation) {
    return operation->name.starts_with("check.") || operation->name.starts_with("interpreter.") ||
           std::ranges::any_of(operation->regions, HasTests);
  });
}

// The functions that are called from `roots`, not those that run_parallel names; `visit` sees each operation.
absl::Status Importer::VisitCalled(std::vector<int32_t> roots,
                                   absl::FunctionRef<absl::Status(const Operation&)> visit) const {
  std::vector<bool> seen(functions_.size());
  for (const int32_t root : roots) seen[static_cast<size_t>(root)] = true;
  const auto call = [&](const Attribute& symbol) {
    const int32_t function = FunctionIndex(symbol.text);
    if (function < 0 || seen[static_cast<size_t>(function)]) return;
    seen[static_cast<size_t>(function)] = true;
    roots.push_back(function);
  };
  const auto walk = [&](const auto& self, const Region& region) -> absl::Status {
    for (const Operation* operation : region.operations) {
      ASSAY_RETURN_IF_ERROR(tree_.WithPlace(visit(*operation), *operation));
      for (const std::string_view name : {"callee", "decomposition", "called_computations"}) {
        const Attribute* const called = operation->Find(name);
        if (called == nullptr) continue;
        if (called->kind == Attribute::Kind::kSymbol) call(*called);
        for (const Attribute* element : called->elements) call(*element);
      }
      for (const Region& nested : operation->regions) ASSAY_RETURN_IF_ERROR(self(self, nested));
    }
    return absl::OkStatus();
  };
  while (!roots.empty()) {
    const Operation& function = *functions_[static_cast<size_t>(roots.back())].operation;
    roots.pop_back();
    if (!function.regions.empty()) ASSAY_RETURN_IF_ERROR(walk(walk, function.regions[0]));
  }
  return absl::OkStatus();
}

// All devices run what stands outside of processes, so nothing there may tell them apart.
absl::Status Importer::SettleProcesses(int32_t entry) {
  if (!runs_parallel_) return absl::OkStatus();
  std::optional<ProcessGrid> grid;
  std::vector<int32_t> programs;
  bool looks_at_probes = false;
  const auto find = [&](const Operation& op) -> absl::Status {
    looks_at_probes = looks_at_probes || op.name == "check.expect_serialized_eq";
    if (Facts(op).role != NameFacts::Role::kRunParallel) return absl::OkStatus();
    ASSAY_ASSIGN_OR_RETURN(const ProcessGrid found, GridOf(op));
    if (grid && (grid->replicas != found.replicas || grid->partitions != found.partitions))
      return NotSupported({},
                          fmt::format("{}: grids of {} x {} and {} x {} processes in one program", op.name,
                                      grid->replicas, grid->partitions, found.replicas, found.partitions));
    grid = found;
    for (const std::string_view program : found.programs) programs.push_back(FunctionIndex(program));
    return absl::OkStatus();
  };
  ASSAY_RETURN_IF_ERROR(VisitCalled({entry}, find));
  if (!grid || grid->size() == 1) return absl::OkStatus();
  ASSAY_RETURN_IF_ERROR(VisitCalled({entry}, [](const Operation& op) {
    return std::ranges::find(kOutsideAlone, op.name) == std::end(kOutsideAlone)
               ? absl::OkStatus()
               : NotSupported(
                     {}, fmt::format("{} outside of the processes of interpreter.run_parallel", op.name));
  }));
  ASSAY_RETURN_IF_ERROR(VisitCalled(programs, [&](const Operation& op) {
    if (Facts(op).role == NameFacts::Role::kRunParallel)
      return NotSupported({}, fmt::format("{} inside of a process", op.name));
    return looks_at_probes && op.name == "interpreter.probe"
               ? NotSupported({}, "interpreter.probe in a process, in a program that looks at probes")
               : absl::OkStatus();
  }));
  if ((said_.replicas && module_.replica_count != grid->replicas) ||
      (said_.partitions && module_.num_partitions != grid->partitions)) {
    return NotSupported(
        {}, fmt::format("interpreter.run_parallel of {} x {} processes in a module of {} of {} "
                        "partitions",
                        grid->replicas, grid->partitions, Counted(module_.replica_count, "replica"),
                        module_.num_partitions));
  }
  module_.replica_count = grid->replicas;
  module_.num_partitions = grid->partitions;
  said_ = {true, true};
  return absl::OkStatus();
}

std::string TestCallConfig(const Operation& op, std::string_view target) {
  return Dictionary(op, target, /*with_defaults=*/false);
}

void FinishTestCall(OpImport& in, int32_t call, std::string_view target, std::string config) {
  if (!config.empty()) {
    in.OwnExtras(call).backend_config = {std::move(config), true};
    in.scope.computation.instructions[call].attributes.Set(Attr::kApiVersion,
                                                           assay::Word{"API_VERSION_TYPED_FFI"});
  }
  if (target == "check.expect_serialized_eq" || target.starts_with("interpreter.")) {
    // HLO orders effects by operands and control alone.
    in.scope.computation.instructions[call].control_predecessors = std::move(in.scope.unordered);
    in.scope.unordered = {call};
  }
}

}  // namespace assay::mlir
