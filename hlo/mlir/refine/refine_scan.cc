// chlo.scan, whose body takes a line of each input and gives a line of each output.
#include <algorithm>

#include "base/counted.h"
#include "fmt/format.h"
#include "hlo/mlir/refine/refiner.h"
#include "hlo/mlir/refine/size_attributes.h"

namespace assay::mlir {

// The length is that of the inputs. A carry that the body hands on unchanged stays known.
absl::StatusOr<std::vector<SizedValue>> Refiner::ArgumentsOfScan(const Visited& at, Scan& scan) {
  const Region& body = at.op.regions[0];
  const std::span<Value* const> last = body.operations.back()->operands;
  std::vector<SizedValue> arguments = at.operands;
  for (size_t i = 0; i < arguments.size(); ++i) {
    SizedValue& argument = arguments[i];
    argument.value = nullptr;
    const bool is_unchanged = i >= scan.inputs && last.size() == at.op.results.size() &&
                              last[scan.outputs + i - scan.inputs] == &body.arguments[i];
    if (!is_unchanged) argument.known = nullptr;
    if (i >= scan.inputs) continue;
    const Type& input = *argument.type;
    if (input.kind != Type::Kind::kTensor || scan.along >= input.sizes.size()) {
      return InvalidProgram({}, fmt::format("chlo.scan: input {} is {}, which has no dimension {}", i,
                                            ToString(input), scan.along));
    }
    ASSAY_ASSIGN_OR_RETURN(scan.length, CommonSize(scan.length, input.sizes[scan.along], scan.along,
                                                   *at.operands[0].type, input));
    Sizes line(input.sizes.begin(), input.sizes.end());
    line.erase(line.begin() + static_cast<int64_t>(scan.along));
    argument.type = WithSizes(input, line);
  }
  return arguments;
}

// Without inputs the length is what the outputs are declared with.
absl::StatusOr<std::vector<const Type*>> Refiner::ResultsOfScan(const Visited& at, const Scan& scan,
                                                                absl::Span<const SizedValue> arguments,
                                                                absl::Span<const SizedValue> returned) {
  std::vector<const Type*> types;
  for (size_t i = 0; i < scan.outputs; ++i) {
    const Type &line = *returned[i].type, &declared = *at.op.results[i].type;
    if (line.kind != Type::Kind::kTensor || declared.sizes.size() != line.sizes.size() + 1 ||
        scan.along >= declared.sizes.size()) {
      return InvalidProgram({}, fmt::format("chlo.scan: output {} is {}, and a line of it {}", i,
                                            ToString(declared), ToString(line)));
    }
    Sizes sizes(line.sizes.begin(), line.sizes.end());
    sizes.insert(sizes.begin() + static_cast<int64_t>(scan.along),
                 scan.inputs > 0 ? scan.length : declared.sizes[scan.along]);
    ASSAY_ASSIGN_OR_RETURN(types.emplace_back(), Merged(at.op, i, sizes));
  }
  for (size_t i = 0; i < scan.carries; ++i) {
    const Type& before = *arguments[scan.inputs + i].type;
    const Type& after = *returned[scan.outputs + i].type;
    types.push_back(&before);
    if (SameSizes(before, after) || (checking_ && !(IsStatic(before) && IsStatic(after)))) continue;
    return SizesContradict(
        fmt::format("chlo.scan: carry {} is {} and comes back as {}", i, ToString(before), ToString(after)));
  }
  return types;
}

absl::Status Refiner::VisitScan(Visited& at) {
  const Operation& op = at.op;
  const Ints segments = IntsOfField(op, "operandSegmentSizes");
  const int64_t along = IntOfField(op, "dimension").value_or(-1);
  const auto most = static_cast<int64_t>(std::min(op.operands.size(), op.results.size()));
  if (segments.size() != 2 || segments[1] < 0 || segments[1] > most || along < 0 || op.regions.size() != 1 ||
      op.regions[0].operations.empty() || op.regions[0].arguments.size() != op.operands.size()) {
    return InvalidProgram(
        {}, "chlo.scan: want a dimension, operandSegmentSizes, and a body with an argument for each operand");
  }
  Scan scan;
  scan.along = static_cast<size_t>(along);
  scan.carries = static_cast<size_t>(segments[1]);
  scan.inputs = op.operands.size() - scan.carries;
  scan.outputs = op.results.size() - scan.carries;
  ASSAY_ASSIGN_OR_RETURN(const std::vector<SizedValue> arguments, ArgumentsOfScan(at, scan));
  std::vector<Region> written(1);
  written[0].depth = at.place.depth + 1;
  std::vector<SizedValue> returned;
  ASSAY_RETURN_IF_ERROR(WriteRegion(op.regions[0], arguments, at.values, written.data(), &returned));
  if (returned.size() != op.results.size()) {
    return InvalidProgram({}, fmt::format("chlo.scan: the body gives {}, want {}",
                                          Counted(returned.size(), "value"), op.results.size()));
  }
  ASSAY_ASSIGN_OR_RETURN(const std::vector<const Type*> types, ResultsOfScan(at, scan, arguments, returned));
  ASSAY_RETURN_IF_ERROR(CheckKnownSizes(op, types));
  Operation* const loop = Append(at, op.name, UseAll(at), op.attributes, types);
  loop->regions = tree_.arena().Copy(written);
  for (size_t i = 0; i < scan.carries; ++i) {
    const size_t result = scan.outputs + i;
    Bind(at, result, {&loop->results[result], types[result], arguments[scan.inputs + i].known});
  }
  return absl::OkStatus();
}

}  // namespace assay::mlir
