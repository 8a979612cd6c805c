// Values, regions and instructions.
#include "hlo/mlir/export/exporter.h"

#include <algorithm>

#include "fmt/format.h"
#include "hlo/mlir/text_writer.h"

namespace assay::mlir {

NodeId Exporter::Add(Node node) {
  nodes_.push_back(std::move(node));
  return static_cast<NodeId>(nodes_.size() - 1);
}

NodeId Exporter::Tuple(const Shape& shape, std::vector<NodeId> elements) {
  Node tuple;
  tuple.kind = Node::Kind::kTuple;
  tuple.shape = &shape;
  tuple.elements = std::move(elements);
  return Add(std::move(tuple));
}

NodeId Exporter::Tree(const Shape& shape, absl::FunctionRef<NodeId(const Shape&)> leaf) {
  if (!shape.IsTuple()) return leaf(shape);
  std::vector<NodeId> elements;
  for (const Shape& element : shape.elements()) elements.push_back(Tree(element, leaf));
  return Tuple(shape, std::move(elements));
}

NodeId Exporter::Argument(const Shape& shape) {
  Node argument;
  argument.kind = Node::Kind::kArgument;
  argument.number = num_arguments_++;
  argument.shape = &shape;
  return Add(std::move(argument));
}

// stablehlo.constant [{attributes}] dense<...> : type
NodeId Exporter::Constant(Block& block, NodeId id) {
  if (const auto known = block.written.find(id); known != block.written.end()) return known->second;
  const Node constant = node(id);
  Node value;
  value.kind = Node::Kind::kValue;
  value.number = NewValue();
  value.shape = constant.shape;
  const NodeId written = Add(std::move(value));
  block.written.emplace(id, written);
  Indent(block);
  AppendValue(written);
  out_ += " = stablehlo.constant";
  if (constant.origin != nullptr) {
    const std::string attributes = DiscardableAttributes(*constant.origin, {&constant.shape, 1}, {});
    if (!attributes.empty()) out_ += fmt::format(" {{{}}}", attributes);
  }
  out_ += ' ';
  AppendDense(constant.shape->element_type(), constant.shape->sizes(),
              constant.shape->num_elements() == 0 ? std::span<const std::byte>() : constant.literal->bytes(),
              out_);
  if (constant.origin != nullptr) AppendLocation(*constant.origin, out_);
  out_ += '\n';
  return written;
}

bool Exporter::Leaves(Block& block, NodeId id, std::vector<NodeId>* leaves) {
  switch (node(id).kind) {
    case Node::Kind::kAbsent:
      return false;
    case Node::Kind::kConstant:
      leaves->push_back(Constant(block, id));
      return true;
    case Node::Kind::kTuple: {
      const size_t count = node(id).elements.size();
      for (size_t i = 0; i < count; ++i) {
        if (!Leaves(block, node(id).elements[i], leaves)) return false;
      }
      return true;
    }
    default:
      leaves->push_back(id);
      return true;
  }
}

void Exporter::AppendValue(NodeId id) {
  const Node& value = node(id);
  out_ += value.kind == Node::Kind::kArgument ? "%arg" : "%";
  const fmt::format_int number(value.number);
  out_.append(number.data(), number.size());
  if (value.result < 0) return;
  const fmt::format_int result(value.result);
  out_ += '#';
  out_.append(result.data(), result.size());
}

void Exporter::AppendTypeOf(const Shape& shape) {
  constexpr size_t kMaxSpelledOut = 8;
  if (!shape.IsTuple() || shape.elements().size() <= kMaxSpelledOut) return AppendType(shape, out_);
  const auto [known, is_new] = alias_of_.try_emplace(&shape, 0);
  if (is_new) {
    std::string text;
    AppendType(shape, text);
    const auto [alias, is_new_type] = aliases_.try_emplace(text, static_cast<int64_t>(aliases_.size()));
    if (is_new_type) alias_lines_ += fmt::format("!tuple{} = {}\n", alias->second, text);
    known->second = alias->second;
  }
  out_ += fmt::format("!tuple{}", known->second);
}

void Exporter::AppendTypes(std::span<const NodeId> ids) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i > 0) out_ += ", ";
    AppendTypeOf(*node(ids[i]).shape);
  }
}

absl::Status Exporter::WriteInstructions(Block& block) {
  const std::vector<Instruction>& instructions = block.computation->instructions;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const Instruction& instruction = instructions[i];
    if (instruction.opcode == Opcode::kParameter || passed_over_.contains(&instruction)) continue;
    OpExport op(*this, block, static_cast<int32_t>(i));
    const ExportFn fn = FindExport(instruction.opcode);
    if (fn == nullptr) {
      op.Refuse("StableHLO has no such operation");
    } else if (const std::string without = WithoutType(*instruction.shape); !without.empty()) {
      op.Refuse(fmt::format("StableHLO has no type for {}", without));
    } else {
      fn(op);
    }
    ASSAY_RETURN_IF_ERROR(op.status);
  }
  return absl::OkStatus();
}

absl::Status Exporter::WriteReturn(Block& block, std::string_view name, std::span<const NodeId> values) {
  Indent(block);
  out_ += name;
  for (size_t i = 0; i < values.size(); ++i) {
    out_ += i == 0 ? " " : ", ";
    AppendValue(values[i]);
  }
  if (!values.empty()) out_ += " : ";
  AppendTypes(values);
  out_ += '\n';
  return absl::OkStatus();
}

// A region that calls a function and returns what that returns.
absl::Status Exporter::WriteCallOf(Block& block, ComputationId id, const std::vector<NodeId>& arguments,
                                   std::string_view terminator) {
  std::vector<NodeId> leaves, results;
  for (const NodeId argument : arguments) Leaves(block, argument, &leaves);
  const std::vector<const Shape*> types = ResultTypes(*module_.computation(id).root_instruction().shape);
  const int32_t number = types.empty() ? 0 : NewValue();
  Indent(block);
  if (!types.empty()) out_ += fmt::format("%{}", number);
  if (types.size() > 1) out_ += fmt::format(":{}", types.size());
  out_ += fmt::format("{}func.call @{}(", types.empty() ? "" : " = ", Function(id));
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (i > 0) out_ += ", ";
    AppendValue(leaves[i]);
  }
  out_ += ") : (";
  AppendTypes(leaves);
  for (size_t i = 0; i < types.size(); ++i) {
    Node value;
    value.kind = Node::Kind::kValue;
    value.number = number;
    value.result = types.size() > 1 ? static_cast<int32_t>(i) : -1;
    value.shape = types[i];
    results.push_back(Add(std::move(value)));
  }
  out_ += types.size() == 1 ? ") -> " : ") -> (";
  AppendTypes(results);
  out_ += types.size() == 1 ? "\n" : ")\n";
  return WriteReturn(block, terminator, results);
}

absl::Status Exporter::WriteRegion(ComputationId id, NodeId captured, std::string_view terminator,
                                   const Block& outer) {
  const Computation& computation = module_.computation(id);
  Block block;
  block.computation = &computation;
  block.depth = outer.depth + 1;
  const bool outlined = IsOutlined(id, block.depth);
  if (!outlined) block.nodes.assign(computation.instructions.size(), -1);
  out_ += "{\n";
  std::vector<NodeId> arguments;
  bool first = true;
  const auto write = [&](const Shape& shape) {
    if (first) out_.append(2 * (static_cast<size_t>(outer.depth) + 2), ' ');
    out_ += first ? "^bb0(" : ", ";
    first = false;
    const NodeId argument = Argument(shape);
    AppendValue(argument);
    out_ += ": ";
    AppendTypeOf(shape);
    return argument;
  };
  for (const int32_t parameter : computation.parameters) {
    const Instruction& instruction = computation.instructions[static_cast<size_t>(parameter)];
    arguments.push_back(captured >= 0 ? captured : Tree(*instruction.shape, write));
    if (!outlined) block.nodes[static_cast<size_t>(parameter)] = arguments.back();
  }
  if (!first) out_ += "):\n";
  if (outlined) {
    ASSAY_RETURN_IF_ERROR(WriteCallOf(block, id, arguments, terminator));
  } else {
    ASSAY_RETURN_IF_ERROR(WriteInstructions(block));
    std::vector<NodeId> results;
    if (!Leaves(block, block.nodes[static_cast<size_t>(computation.root)], &results)) {
      OpExport op(*this, block, computation.root);
      op.Refuse("what it gives can't leave a computation");
      return op.status;
    }
    ASSAY_RETURN_IF_ERROR(WriteReturn(block, terminator, results));
  }
  Indent(outer);
  out_ += '}';
  return absl::OkStatus();
}

// loc("name"("file":line:0))
void AppendLocation(const Instruction& instruction, std::string& out) {
  if (instruction.extras == nullptr) return;
  const OpMetadata& metadata = instruction.extras->metadata;
  const bool has_name = !metadata.op_name.empty(), has_file = !metadata.source_file.empty();
  if (!has_name && !has_file) return;
  out += " loc(";
  if (has_name) out += Quoted(metadata.op_name);
  if (has_name && has_file) out += '(';
  if (has_file) {
    const int64_t line = std::clamp<int64_t>(metadata.source_line, 0, INT32_MAX);
    out += fmt::format("{}:{}:0", Quoted(metadata.source_file), line);
  }
  if (has_name && has_file) out += ')';
  out += ')';
}

}  // namespace assay::mlir
