// Modules and functions: which computations become functions, what they are called,
// and in which order they stand.
#include "hlo/mlir/export/export.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "fmt/format.h"
#include "hlo/mlir/export/exporter.h"
#include "hlo/mlir/text_writer.h"

namespace assay {

namespace {

bool HaveSameDynamism(const Shape& a, const Shape& b) {
  for (int64_t d = 0; a.IsArray() && b.IsArray() && d < std::min(a.rank(), b.rank()); ++d)
    if (a.is_dynamic(d) != b.is_dynamic(d)) return false;
  const size_t count = std::min(a.elements().size(), b.elements().size());
  for (size_t i = 0; i < count; ++i)
    if (!HaveSameDynamism(a.elements()[i], b.elements()[i])) return false;
  return true;
}

bool IsDeclaredOtherwise(const Instruction& instruction) {
  return PrintedShape(instruction) != instruction.shape;
}

// StableHLO's types say which dimensions are dynamic in the result of an operation, so that what the program
// declares can be written. What gives the results of computations has their types,
// and functions have no type but their own.
absl::Status CheckDeclaredResult(const Module& module, const Instruction& instruction) {
  const auto refuse = [&] {
    return NotSupported(
        instruction.position,
        fmt::format("{} '%{}' as StableHLO: its result, {}, is declared with other dynamic "
                    "dimensions than what it is made of",
                    Name(instruction.opcode), instruction.name, PrintedShape(instruction)->ToString()));
  };
  switch (instruction.opcode) {
    case Opcode::kCall:
    case Opcode::kFusion:
    case Opcode::kConditional:
    case Opcode::kWhile:
      for (const ComputationId called : CalledComputations(instruction)) {
        const Shape& given = *PrintedShape(module.computation(called).root_instruction());
        // (A loop's condition gives a scalar, which differs from nothing.)
        if (!HaveSameDynamism(given, *PrintedShape(instruction))) return refuse();
      }
      // StableHLO wants the very types of the operands in a loop's state, too.
      if (instruction.opcode != Opcode::kWhile) return absl::OkStatus();
      [[fallthrough]];
    case Opcode::kOptBarrier:
      return IsDeclaredOtherwise(instruction) ? refuse() : absl::OkStatus();
    default:
      // Starts and updates of asynchronous calls, custom calls and whatever else has tuples of its own.
      if (!IsDeclaredOtherwise(instruction)) return absl::OkStatus();
      return PrintedShape(instruction)->IsTuple() && instruction.opcode != Opcode::kTuple ? refuse()
                                                                                          : absl::OkStatus();
  }
}

// Types of functions are those of their instructions: StableHLO has no further place for
// what the entry layout says.
// Decision: static-result-size
absl::Status CheckEntryLayout(const Module& module) {
  if (!module.entry_computation_layout) return absl::OkStatus();
  const Computation& entry = module.entry_computation();
  const auto check = [](const Instruction& instruction, const Shape& said) {
    if (HaveSameDynamism(said, *PrintedShape(instruction))) return absl::OkStatus();
    return NotSupported(instruction.position,
                        fmt::format("{} '%{}' as StableHLO: entry_computation_layout says {}, with other "
                                    "dynamic dimensions",
                                    Name(instruction.opcode), instruction.name, said.ToString()));
  };
  const ProgramShape& layout = *module.entry_computation_layout;
  for (size_t i = 0; i < std::min(layout.parameters.size(), entry.parameters.size()); ++i) {
    const auto parameter = static_cast<size_t>(entry.parameters[i]);
    ASSAY_RETURN_IF_ERROR(check(entry.instructions[parameter], layout.parameters[i]));
  }
  return check(entry.root_instruction(), layout.result);
}

}  // namespace

absl::StatusOr<std::string> ExportStableHlo(const Module& module) {
  ASSAY_RETURN_IF_ERROR(CheckEntryLayout(module));
  const bool is_as_declared = std::none_of(
      module.computations.begin(), module.computations.end(), [](const Computation& computation) {
        return std::any_of(computation.instructions.begin(), computation.instructions.end(),
                           IsDeclaredOtherwise);
      });
  if (is_as_declared) return mlir::Exporter(module).Run();
  // What is written are the declared shapes; an operation that StableHLO does not have (copy, tuple) is
  // refused where it would lose them (OpExport::Bind). Decision: static-result-size
  Module declared = module;
  for (Computation& computation : declared.computations) {
    for (Instruction& instruction : computation.instructions) {
      ASSAY_RETURN_IF_ERROR(CheckDeclaredResult(module, instruction));
      instruction.shape = PrintedShape(instruction);
    }
  }
  return mlir::Exporter(declared).Run();
}

namespace mlir {
namespace {

// Regions around a region, beyond which it becomes a call of a function: readers recurse.
constexpr int kMaxDepth = 16;
// Computations of several regions that have more instructions are written once, as a function.
constexpr size_t kMaxRepeated = 64;

bool IsLegal(char c) { return absl::ascii_isalnum(c) || c == '_'; }

// The name of a function: the computation's without the number that the importer puts behind it ("add.3"), in
// the characters that the importer keeps.
std::string SymbolOf(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot != std::string_view::npos && dot > 0 && dot + 1 < name.size() &&
      name.find_first_not_of("0123456789", dot + 1) == std::string_view::npos) {
    name = name.substr(0, dot);
  }
  std::string symbol(name);
  for (char& c : symbol) c = IsLegal(c) ? c : '_';
  if (symbol.empty() || (symbol[0] >= '0' && symbol[0] <= '9')) symbol.insert(symbol.begin(), '_');
  return symbol;
}

bool IsWrittenAsFunction(Opcode opcode) {
  return opcode == Opcode::kCall || opcode == Opcode::kFusion || opcode == Opcode::kCustomCall ||
         opcode == Opcode::kAsyncStart || opcode == Opcode::kAsyncUpdate || opcode == Opcode::kAsyncDone;
}

// What the entry returns: the elements of a tuple, or one value. (x) is one value, a tuple, because a
// function with one result returns the result itself.
bool ReturnsElements(const Shape& root) { return root.IsTuple() && root.elements().size() != 1; }

}  // namespace

Exporter::Exporter(const Module& module)
    : module_(module),
      function_names_(module.computations.size()),
      region_uses_(module.computations.size(), 0),
      has_regions_(module.computations.size(), false) {}

absl::StatusOr<std::string> Exporter::Run() {
  used_names_.insert("main");
  FindMeshes();
  for (const Computation& computation : module_.computations) FindManualRegions(computation);
  CountRegions();
  FindEntryAttributes();
  function_names_[static_cast<size_t>(module_.entry.value)] = "main";
  functions_.push_back(module_.entry);
  out_ += "module @" + WordOrQuoted(module_.name.empty() ? "main" : module_.name);
  if (const std::string attributes = ModuleAttributes(); !attributes.empty())
    out_ += fmt::format(" attributes {{{}}}", attributes);
  out_ += " {\n";
  WriteMeshes();
  // Writing a function finds further ones.
  for (size_t i = 0; i < functions_.size(); ++i) ASSAY_RETURN_IF_ERROR(WriteFunction(functions_[i]));
  out_ += "}\n";
  return std::move(alias_lines_) + out_;
}

std::string Exporter::ModuleAttributes() const {
  std::string attributes, frontend;
  const auto add = [&](std::string_view name, std::string_view value) {
    attributes += fmt::format("{}{} = {}", attributes.empty() ? "" : ", ", name, value);
  };
  for (const auto& [key, value] : module_.frontend_attributes) {
    if (key == kMeshes && !meshes_.empty()) continue;
    frontend += fmt::format("{}{} = {}", frontend.empty() ? "" : ", ", WordOrQuoted(key), Quoted(value.text));
  }
  if (!frontend.empty()) add("mhlo.frontend_attributes", fmt::format("{{{}}}", frontend));
  if (module_.num_partitions != 1)
    add("mhlo.num_partitions", fmt::format("{} : i32", module_.num_partitions));
  if (module_.replica_count != 1) add("mhlo.num_replicas", fmt::format("{} : i32", module_.replica_count));
  return attributes;
}

void Exporter::CountRegions() {
  for (size_t c = 0; c < module_.computations.size(); ++c) {
    for (const Instruction& instruction : module_.computations[c].instructions) {
      if (IsWrittenAsFunction(instruction.opcode) && !IsRegion(instruction)) continue;
      for (const ComputationId called : CalledComputations(instruction)) {
        ++region_uses_[static_cast<size_t>(called.value)];
        has_regions_[c] = true;
      }
    }
  }
}

// Regions are written where they are used. Those inside of shared ones would be written as often as there are
// ways to them, of which there may be 2^n. What is a call of a function already is never outlined again.
bool Exporter::IsOutlined(ComputationId id, int depth) const {
  const auto c = static_cast<size_t>(id.value);
  const bool shared = region_uses_[c] > 1;
  if (has_regions_[c]) return shared || depth > kMaxDepth;
  return shared && module_.computations[c].instructions.size() > kMaxRepeated;
}

std::string_view Exporter::Function(ComputationId id) {
  std::string& name = function_names_[static_cast<size_t>(id.value)];
  if (!name.empty()) return name;
  const std::string base = SymbolOf(module_.computation(id).name);
  name = base;
  if (!used_names_.insert(name).second) {
    int64_t& suffix = next_suffix_[base];
    do {
      name = fmt::format("{}_{}", base, suffix++);
    } while (!used_names_.insert(name).second);
  }
  functions_.push_back(id);
  return name;
}

std::vector<const Shape*> Exporter::ResultTypes(const Shape& shape) const {
  std::vector<const Shape*> types;
  const auto walk = [&types](const auto& self, const Shape& part) -> void {
    if (!part.IsTuple()) types.push_back(&part);
    for (const Shape& element : part.elements()) self(self, element);
  };
  walk(walk, shape);
  return types;
}

absl::Status Exporter::WriteFunction(ComputationId id) {
  const Computation& computation = module_.computation(id);
  const bool is_entry = id == module_.entry;
  num_values_ = num_arguments_ = 0;
  Block block;
  block.computation = &computation;
  block.nodes.assign(computation.instructions.size(), -1);
  out_ += fmt::format("  func.func {} @{}(", is_entry ? "public" : "private", Function(id));
  ASSAY_RETURN_IF_ERROR(WriteParameters(block, is_entry));
  out_ += ")";
  const Shape& root = *computation.root_instruction().shape;
  std::vector<const Shape*> types;
  if (!is_entry) {
    types = ResultTypes(root);
  } else if (ReturnsElements(root)) {
    for (const Shape& element : root.elements()) types.push_back(&element);
  } else {
    types.push_back(&root);
  }
  std::vector<std::string> attributes = ResultShardings(block, is_entry);
  attributes.resize(types.size());
  const bool in_brackets = types.size() > 1 || (types.size() == 1 && !attributes[0].empty());
  if (!types.empty()) out_ += in_brackets ? " -> (" : " -> ";
  for (size_t i = 0; i < types.size(); ++i) {
    if (i > 0) out_ += ", ";
    AppendTypeOf(*types[i]);
    if (!attributes[i].empty()) out_ += fmt::format(" {{{}}}", attributes[i]);
  }
  out_ += in_brackets ? ") {\n" : " {\n";
  // Tuples among the arguments of @main come apart first.
  for (const int32_t parameter : computation.parameters) {
    NodeId& node = block.nodes[static_cast<size_t>(parameter)];
    if (is_entry && computation.instructions[static_cast<size_t>(parameter)].shape->IsTuple()) {
      node = OpExport(*this, block, parameter).TakenApart(node);
    }
  }
  ASSAY_RETURN_IF_ERROR(WriteInstructions(block));
  ASSAY_RETURN_IF_ERROR(WriteResults(block, is_entry));
  out_ += "  }\n";
  return absl::OkStatus();
}

// "%arg0: type, ...": of @main a value for each parameter, else one for each leaf.
absl::Status Exporter::WriteParameters(Block& block, bool is_entry) {
  bool first = true;
  const auto write = [&](const Shape& shape) {
    if (!first) out_ += ", ";
    first = false;
    const NodeId argument = Argument(shape);
    AppendValue(argument);
    out_ += ": ";
    AppendTypeOf(shape);
    return argument;
  };
  for (const int32_t parameter : block.computation->parameters) {
    const Instruction& instruction = block.computation->instructions[static_cast<size_t>(parameter)];
    if (const std::string without = WithoutType(*instruction.shape); !without.empty()) {
      return NotSupported(
          instruction.position,
          fmt::format("StableHLO has no type for {} (in 'parameter %{}')", without, instruction.name));
    }
    block.nodes[static_cast<size_t>(parameter)] =
        is_entry ? write(*instruction.shape) : Tree(*instruction.shape, write);
    const Shape* const type = instruction.shape.get();
    std::string attributes;
    if (is_entry || !type->IsTuple()) attributes = DiscardableAttributes(instruction, {&type, 1}, {});
    if (const auto known = entry_attributes_.find(instruction.parameter_number);
        is_entry && known != entry_attributes_.end()) {
      attributes = fmt::format("{}{}{}", known->second, attributes.empty() ? "" : ", ", attributes);
    }
    if (!attributes.empty()) out_ += fmt::format(" {{{}}}", attributes);
  }
  return absl::OkStatus();
}

// tf.aliasing_output = 0 : i32, jax.buffer_donor = true: of whole parameters and results, the first of each.
void Exporter::FindEntryAttributes() {
  const Shape& root = *module_.entry_computation().root_instruction().shape;
  const size_t depth = ReturnsElements(root) ? 1 : 0;
  for (const InputOutputAlias& alias : module_.input_output_alias) {
    if (!alias.parameter_index.empty() || alias.output_index.size() != depth ||
        (depth == 0 && root.IsTuple()))
      continue;
    entry_attributes_.try_emplace(
        alias.parameter_number,
        fmt::format("tf.aliasing_output = {} : i32", depth == 0 ? 0 : alias.output_index[0]));
  }
  HashSet<int64_t> donors;
  for (const BufferDonor& donor : module_.buffer_donor) {
    if (!donor.parameter_index.empty() || !donors.insert(donor.parameter_number).second) continue;
    std::string& attributes = entry_attributes_[donor.parameter_number];
    attributes += attributes.empty() ? "jax.buffer_donor = true" : ", jax.buffer_donor = true";
  }
}

absl::Status Exporter::WriteResults(Block& block, bool is_entry) {
  const int32_t root = block.computation->root;
  const NodeId value = block.nodes[static_cast<size_t>(root)];
  OpExport op(*this, block, root);
  std::vector<NodeId> results;
  if (is_entry && ReturnsElements(*op.hlo.shape)) {
    for (const NodeId element : std::vector<NodeId>(node(value).elements))
      results.push_back(op.Whole(element));
  } else if (is_entry) {
    results.push_back(op.Whole(value));
  } else if (!Leaves(block, value, &results)) {
    op.Refuse("what it gives can't leave a computation");
  }
  ASSAY_RETURN_IF_ERROR(op.status);
  return WriteReturn(block, "return", results);
}

}  // namespace mlir
}  // namespace assay
