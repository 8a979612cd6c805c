#include "hlo/mlir/text/tree_text.h"

#include <algorithm>
#include <vector>

#include "base/hash_map.h"
#include "fmt/format.h"
#include "hlo/mlir/import/importer.h"
#include "hlo/mlir/quantization.h"
#include "hlo/mlir/text_writer.h"

namespace assay::mlir {
namespace {

using FieldNames = std::span<const std::string_view>;

// Attributes of the generic form that bytecode and pretty forms have as several: a struct of fields.
struct Group {
  std::string_view attribute, name;
  FieldNames fields;
};
constexpr std::string_view kDotFields[] = {"lhs_batching_dimensions", "rhs_batching_dimensions",
                                           "lhs_contracting_dimensions", "rhs_contracting_dimensions"};
constexpr std::string_view kAlgorithmFields[] = {
    "lhs_precision_type",  "rhs_precision_type",       "accumulation_type",           "lhs_component_count",
    "rhs_component_count", "num_primitive_operations", "allow_imprecise_accumulation"};
constexpr std::string_view kConvFields[] = {
    "input_batch_dimension",          "input_feature_dimension",         "input_spatial_dimensions",
    "kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions",
    "output_batch_dimension",         "output_feature_dimension",        "output_spatial_dimensions"};
constexpr std::string_view kGatherFields[] = {"offset_dims",           "collapsed_slice_dims",
                                              "operand_batching_dims", "start_indices_batching_dims",
                                              "start_index_map",       "index_vector_dim"};
constexpr std::string_view kScatterFields[] = {
    "update_window_dims",           "inserted_window_dims",
    "input_batching_dims",          "scatter_indices_batching_dims",
    "scatter_dims_to_operand_dims", "index_vector_dim"};
constexpr std::string_view kChannelFields[] = {"channel_id", "channel_type"};

constexpr Group kDotGroups[] = {{"dot_dimension_numbers", "dot", kDotFields},
                                {"algorithm", "dot_algorithm", kAlgorithmFields}};
constexpr Group kConvGroups[] = {{"dimension_numbers", "conv", kConvFields}};
constexpr Group kGatherGroups[] = {{"dimension_numbers", "gather", kGatherFields}};
constexpr Group kScatterGroups[] = {{"scatter_dimension_numbers", "scatter", kScatterFields}};
constexpr Group kChannelGroups[] = {{"channel_handle", "channel_handle", kChannelFields}};

std::span<const Group> GroupsOf(std::string_view operation) {
  if (operation == "stablehlo.dot_general") return kDotGroups;
  if (operation == "stablehlo.convolution" || operation == "stablehlo.dynamic_conv") return kConvGroups;
  if (operation == "stablehlo.gather" || operation == "stablehlo.dynamic_gather") return kGatherGroups;
  if (operation == "stablehlo.scatter") return kScatterGroups;
  return kChannelGroups;
}

// Lists that are arrays in the generic form, however they were read.
bool IsArray(std::string_view attribute) {
  static constexpr std::string_view kArrays[] = {"broadcast_dimensions",
                                                 "broadcast_sizes",
                                                 "permutation",
                                                 "dimensions",
                                                 "start_indices",
                                                 "limit_indices",
                                                 "strides",
                                                 "slice_sizes",
                                                 "edge_padding_low",
                                                 "edge_padding_high",
                                                 "interior_padding",
                                                 "window_strides",
                                                 "window_dimensions",
                                                 "base_dilations",
                                                 "window_dilations",
                                                 "lhs_dilation",
                                                 "rhs_dilation",
                                                 "fft_length",
                                                 "known_expanding_dimensions",
                                                 "known_nonexpanding_dimensions"};
  return std::ranges::find(kArrays, attribute) != std::end(kArrays);
}

bool IsOf32Bits(std::string_view attribute) {
  return attribute == "exponent_bits" || attribute == "mantissa_bits" || attribute == "index" ||
         attribute == "version" || attribute == "api_version";
}

// The enumeration that a word of this attribute is of.
std::string_view EnumerationOf(std::string_view attribute) {
  static constexpr std::pair<std::string_view, std::string_view> kEnumerations[] = {
      {"comparison_direction", "comparison_direction"},
      {"compare_type", "comparison_type"},
      {"precision_config", "precision"},
      {"fft_type", "fft_type"},
      {"transpose_a", "transpose"},
      {"rng_distribution", "rng_distribution"},
      {"rng_algorithm", "rng_algorithm"}};
  for (const auto& [name, enumeration] : kEnumerations) {
    if (name == attribute) return enumeration;
  }
  return {};
}

bool IsFunctionAttribute(std::string_view name) {
  return name == "sym_name" || name == "sym_visibility" || name == "function_type" || name == "arg_attrs" ||
         name == "res_attrs";
}

// What meshes of StableHLO's own say has no text here; no result shows it.
bool IsLeftOut(const NamedAttribute& attribute) {
  return attribute.value->kind == Attribute::Kind::kOpaque && attribute.name == "stablehlo.mesh";
}

std::string SymbolText(std::string_view name) { return "@" + WordOrQuoted(name); }

class TreeWriter {
 public:
  explicit TreeWriter(const Tree& tree) : tree_(tree), names_(static_cast<size_t>(tree.num_values())) {}
  absl::StatusOr<std::string> Run();

 private:
  void WriteModule(std::span<Operation* const> operations, const Operation* module);
  void WriteFunction(const Operation& function);
  void WriteOperations(const Region& region, int indent);
  void WriteOperation(const Operation& operation, int indent);
  void WriteRegion(const Region& region, int indent);
  void WriteAttributes(const Operation& operation);
  void WriteTypes(const Operation& operation);
  void WriteLocation(const Operation& operation);
  void WriteNames(std::span<const Value> values);
  void WriteOperands(const Operation& operation);
  std::string ValueText(std::string_view name, const Attribute& value);
  std::string Fields(std::span<const NamedAttribute> fields);
  std::string StructText(std::string_view name, std::span<const NamedAttribute> fields);
  std::string StructField(const Attribute& value);
  std::string TypeText(const Type& type);
  std::string DenseText(const Attribute& dense);

  const Tree& tree_;
  std::string out_, aliases_;
  HashMap<const Quantization*, std::string> alias_names_;
  HashMap<std::string, std::string> names_of_texts_;
  std::vector<std::string> names_;  // by value id
  int num_arguments_ = 0, num_results_ = 0;
  absl::Status status_;
};

// Types with many scales are written once, under a name.
std::string TreeWriter::TypeText(const Type& type) {
  constexpr size_t kMaxInPlace = 8;
  if (type.kind == Type::Kind::kTuple) {
    std::string text;
    for (const Type* part : type.inputs) text += (text.empty() ? "" : ", ") + TypeText(*part);
    return fmt::format("tuple<{}>", text);
  }
  const bool is_quantized =
      type.kind == Type::Kind::kTensor && type.element_type->kind == Type::Kind::kQuantized;
  if (!is_quantized || type.element_type->quantization->scales.size() <= kMaxInPlace) return ToString(type);
  const Quantization& quantization = *type.element_type->quantization;
  const auto [known, is_new] = alias_names_.try_emplace(&quantization);
  if (is_new) {
    const std::string text = ToString(quantization);
    const auto [name, is_first] = names_of_texts_.try_emplace(text);
    if (is_first) {
      name->second = fmt::format("!quantized{}", names_of_texts_.size() - 1);
      aliases_ += fmt::format("{} = {}\n", name->second, text);
    }
    known->second = name->second;
  }
  Type element;
  element.kind = Type::Kind::kUnsupported;
  element.text = known->second;
  Type named = type;
  named.element_type = &element;
  return ToString(named);
}

std::string TreeWriter::DenseText(const Attribute& dense) {
  const std::string text = ToString(dense, /*whole=*/true);
  return text.substr(0, text.size() - ToString(*dense.type).size()) + TypeText(*dense.type);
}

std::string TreeWriter::ValueText(std::string_view name, const Attribute& value) {
  using Kind = Attribute::Kind;
  Ints integers;
  if (IsArray(name) && IntegersOf(value, &integers)) {
    std::string text = ListText(integers);
    return integers.empty() ? "array<i64>" : fmt::format("array<i64: {}>", text.substr(1, text.size() - 2));
  }
  // What pretty forms write shorter.
  if (value.kind == Kind::kIntegers && name == "padding") {
    const int64_t sizes[] = {static_cast<int64_t>(value.integers.size() / 2), 2};
    std::string text;
    AppendDense(ElementType::kS64, sizes, std::as_bytes(value.integers), text);
    return text;
  }
  if (value.kind == Kind::kInteger && IsOf32Bits(name)) return fmt::format("{} : i32", value.integer);
  switch (value.kind) {
    case Kind::kWord: {
      if (name == "mode") return fmt::format("#stablehlo.result_accuracy_mode<{}>", value.text);
      const std::string_view enumeration = EnumerationOf(name);
      if (enumeration.empty()) break;
      return fmt::format("#stablehlo<{} {}>", enumeration, value.text);
    }
    case Kind::kArray: {
      std::string text;
      for (const Attribute* element : value.elements)
        text += (text.empty() ? "" : ", ") + ValueText(name, *element);
      return value.type == nullptr ? fmt::format("[{}]", text)
                                   : fmt::format("array<{}: {}>", ToString(*value.type), text);
    }
    case Kind::kDictionary:
      return fmt::format("{{{}}}", Fields(value.fields));
    case Kind::kStruct:
      return StructText(value.text, value.fields);
    case Kind::kSymbol:
      return SymbolText(value.text);
    case Kind::kDense:
      return DenseText(value);
    case Kind::kIntegers: {
      const std::string type = name == "window_reversal" ? "i1"
                               : value.type == nullptr   ? "i64"
                                                         : ToString(*value.type);
      if (value.integers.empty()) return fmt::format("array<{}>", type);
      std::string text;
      for (const int64_t integer : value.integers) {
        text += text.empty() ? "" : ", ";
        text += type == "i1" ? (integer != 0 ? "true" : "false") : fmt::format("{}", integer);
      }
      return fmt::format("array<{}: {}>", type, text);
    }
    case Kind::kOpaque:
      if (value.text.starts_with("#sdy")) return std::string(value.text);
      break;
    case Kind::kLocation:
    case Kind::kAlias:
      break;
    default:
      return ToString(value, /*whole=*/true);
  }
  if (status_.ok())
    status_ = NotSupported({}, fmt::format("attribute {} can't be written: it was read over", name));
  return {};
}

std::string TreeWriter::Fields(std::span<const NamedAttribute> fields) {
  std::string text;
  for (const NamedAttribute& field : fields) {
    if (IsLeftOut(field)) continue;
    text += (text.empty() ? "" : ", ") + WordOrQuoted(field.name);
    if (field.value->kind != Attribute::Kind::kUnit) text += " = " + ValueText(field.name, *field.value);
  }
  return text;
}

// In structs lists are [0, 1], integers have no type.
std::string TreeWriter::StructField(const Attribute& value) {
  Ints integers;
  if (IntegersOf(value, &integers)) return ListText(integers);
  if (value.kind == Attribute::Kind::kInteger) return fmt::format("{}", value.integer);
  return {};
}

std::string TreeWriter::StructText(std::string_view name, std::span<const NamedAttribute> fields) {
  std::string text;
  for (const NamedAttribute& field : fields) {
    std::string value = StructField(*field.value);
    if (value.empty()) value = ValueText(field.name, *field.value);
    if (value == "[]") continue;
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", field.name, value);
  }
  return fmt::format("#stablehlo.{}<{}{}>", name, name == "conv" ? "raw " : "", text);
}

void TreeWriter::WriteAttributes(const Operation& operation) {
  std::vector<std::pair<std::string_view, std::string>> written;
  const std::span<const Group> groups = GroupsOf(operation.name);
  const auto is_grouped = [&](std::string_view name) {
    return std::ranges::any_of(groups, [&](const Group& group) {
      return std::ranges::find(group.fields, name) != group.fields.end();
    });
  };
  for (const Group& group : groups) {
    std::vector<NamedAttribute> fields;
    for (const std::string_view name : group.fields) {
      const Attribute* const value = operation.Find(name);
      if (value == nullptr) continue;
      const bool is_handle = group.name == "channel_handle";
      fields.push_back({!is_handle ? name : name == "channel_id" ? "handle" : "type", value});
    }
    const auto is_absent = [](const NamedAttribute& field) {
      const Attribute& value = *field.value;
      if (value.kind == Attribute::Kind::kType) return value.type->kind == Type::Kind::kNone;
      return field.name == "handle" && value.integer == 0;
    };
    if (fields.empty() || std::ranges::any_of(fields, is_absent)) continue;
    if (group.name == "channel_handle" && fields.size() == 1) {
      written.emplace_back(group.attribute, fmt::format("#stablehlo.channel_handle<handle = {}, type = 0>",
                                                        fields[0].value->integer));
      continue;
    }
    written.emplace_back(group.attribute, StructText(group.name, fields));
  }
  for (const NamedAttribute& attribute : operation.attributes) {
    if (is_grouped(attribute.name) || IsLeftOut(attribute)) continue;
    const bool is_unit = attribute.value->kind == Attribute::Kind::kUnit;
    written.emplace_back(attribute.name,
                         is_unit ? std::string() : ValueText(attribute.name, *attribute.value));
  }
  if (written.empty()) return;
  std::ranges::sort(written);
  out_ += " {";
  for (size_t i = 0; i < written.size(); ++i) {
    out_ += (i == 0 ? "" : ", ") + WordOrQuoted(written[i].first);
    if (!written[i].second.empty()) out_ += " = " + written[i].second;
  }
  out_ += '}';
}

void TreeWriter::WriteTypes(const Operation& operation) {
  std::string operands, results;
  for (const Value* operand : operation.operands)
    operands += (operands.empty() ? "" : ", ") + TypeText(*operand->type);
  for (const Value& result : operation.results)
    results += (results.empty() ? "" : ", ") + TypeText(*result.type);
  if (operation.results.size() != 1) results = "(" + results + ")";
  out_ += fmt::format(" : ({}) -> {}", operands, results);
}

// loc("name"("file":line:column))
void TreeWriter::WriteLocation(const Operation& operation) {
  const Location* const location = operation.location;
  if (location == nullptr || (location->name.empty() && location->source_file.empty())) return;
  std::string file;
  if (!location->source_file.empty())
    file = fmt::format("{}:{}:{}", Quoted(location->source_file), location->line, location->column);
  if (location->name.empty()) {
    out_ += fmt::format(" loc({})", file);
  } else {
    out_ += fmt::format(" loc({}{})", Quoted(location->name), file.empty() ? "" : "(" + file + ")");
  }
}

// The results of an operation: %3 =, %4:2 =
void TreeWriter::WriteNames(std::span<const Value> values) {
  if (values.empty()) return;
  const int number = num_results_++;
  for (size_t i = 0; i < values.size(); ++i) {
    names_[static_cast<size_t>(values[i].id)] =
        values.size() == 1 ? fmt::format("%{}", number) : fmt::format("%{}#{}", number, i);
  }
  out_ +=
      values.size() == 1 ? fmt::format("%{} = ", number) : fmt::format("%{}:{} = ", number, values.size());
}

void TreeWriter::WriteOperands(const Operation& operation) {
  for (size_t i = 0; i < operation.operands.size(); ++i)
    out_ += (i == 0 ? "" : ", ") + names_[static_cast<size_t>(operation.operands[i]->id)];
}

void TreeWriter::WriteOperation(const Operation& operation, int indent) {
  out_.append(static_cast<size_t>(indent), ' ');
  WriteNames(operation.results);
  const Attribute* const value = operation.Find("value");
  if (operation.name == "stablehlo.constant" && operation.attributes.size() == 1 && value != nullptr &&
      value->kind == Attribute::Kind::kDense && SameType(*value->type, *operation.results[0].type)) {
    out_ += "stablehlo.constant " + DenseText(*value);
  } else {
    out_ += Quoted(operation.name) + "(";
    WriteOperands(operation);
    out_ += ')';
    if (!operation.regions.empty()) {
      out_ += " (";
      for (size_t i = 0; i < operation.regions.size(); ++i) {
        if (i > 0) out_ += ", ";
        WriteRegion(operation.regions[i], indent);
      }
      out_ += ')';
    }
    WriteAttributes(operation);
    WriteTypes(operation);
  }
  WriteLocation(operation);
  out_ += '\n';
}

void TreeWriter::WriteRegion(const Region& region, int indent) {
  out_ += "{\n";
  if (!region.arguments.empty()) {
    out_.append(static_cast<size_t>(indent), ' ');
    out_ += "^bb0(";
    for (const Value& argument : region.arguments) {
      std::string& name = names_[static_cast<size_t>(argument.id)];
      name = fmt::format("%arg{}", num_arguments_++);
      out_ += fmt::format("{}{}: {}", argument.index == 0 ? "" : ", ", name, TypeText(*argument.type));
    }
    out_ += "):\n";
  }
  WriteOperations(region, indent + 2);
  out_.append(static_cast<size_t>(indent), ' ');
  out_ += '}';
}

void TreeWriter::WriteOperations(const Region& region, int indent) {
  for (const Operation* operation : region.operations) WriteOperation(*operation, indent);
}

void TreeWriter::WriteFunction(const Operation& function) {
  num_arguments_ = num_results_ = 0;
  const auto text_of = [&](std::string_view name) {
    const Attribute* const attribute = function.Find(name);
    return attribute == nullptr ? std::string_view() : attribute->text;
  };
  const auto fields_of = [&](std::string_view name, size_t i) -> std::string {
    const Attribute* const all = function.Find(name);
    if (all == nullptr || i >= all->elements.size()) return {};
    const std::string text = Fields(all->elements[i]->fields);
    return text.empty() ? text : fmt::format(" {{{}}}", text);
  };
  const Attribute* const type = function.Find("function_type");
  if (type == nullptr || type->type == nullptr) return;  // refused where it is imported
  const std::string visibility(text_of("sym_visibility"));
  out_ += fmt::format("  func.func {}{}{}(", visibility, visibility.empty() ? "" : " ",
                      SymbolText(text_of("sym_name")));
  const bool has_body = !function.regions.empty() && !function.regions[0].operations.empty();
  for (size_t i = 0; i < type->type->inputs.size(); ++i) {
    out_ += i == 0 ? "" : ", ";
    if (has_body && i < function.regions[0].arguments.size()) {
      std::string& name = names_[static_cast<size_t>(function.regions[0].arguments[i].id)];
      name = fmt::format("%arg{}", num_arguments_++);
      out_ += name + ": ";
    }
    out_ += TypeText(*type->type->inputs[i]) + fields_of("arg_attrs", i);
  }
  out_ += ')';
  const std::span<const Type* const> results = type->type->results;
  for (size_t i = 0; i < results.size(); ++i)
    out_ += (i == 0 ? " -> (" : ", ") + TypeText(*results[i]) + fields_of("res_attrs", i);
  if (!results.empty()) out_ += ')';
  std::vector<NamedAttribute> others;
  for (const NamedAttribute& attribute : function.attributes) {
    if (!IsFunctionAttribute(attribute.name)) others.push_back(attribute);
  }
  if (const std::string text = Fields(others); !text.empty()) out_ += fmt::format(" attributes {{{}}}", text);
  if (has_body) {
    out_ += " {\n";
    WriteOperations(function.regions[0], 4);
    out_ += "  }";
  }
  WriteLocation(function);
  out_ += '\n';
}

void TreeWriter::WriteModule(std::span<Operation* const> operations, const Operation* module) {
  const Attribute* const name = module == nullptr ? nullptr : module->Find("sym_name");
  out_ += "module " + SymbolText(name == nullptr || name->text.empty() ? "main" : name->text);
  std::vector<NamedAttribute> others;
  if (module != nullptr) {
    for (const NamedAttribute& attribute : module->attributes) {
      if (attribute.name != "sym_name" && attribute.name != "sym_visibility") others.push_back(attribute);
    }
  }
  if (const std::string text = Fields(others); !text.empty()) out_ += fmt::format(" attributes {{{}}}", text);
  out_ += " {\n";
  for (const Operation* operation : operations) {
    if (operation->name == "stablehlo.mesh") continue;
    operation->name == "func.func" ? WriteFunction(*operation) : WriteOperation(*operation, 2);
  }
  out_ += "}\n";
}

absl::StatusOr<std::string> TreeWriter::Run() {
  const std::span<Operation* const> operations = tree_.top->operations;
  const bool has_module =
      operations.size() == 1 && operations[0]->name == "builtin.module" && operations[0]->regions.size() == 1;
  if (has_module) {
    WriteModule(operations[0]->regions[0].operations, operations[0]);
  } else {
    WriteModule(operations, nullptr);
  }
  if (!status_.ok()) return status_;
  return aliases_ + out_;
}

}  // namespace

absl::StatusOr<std::string> TreeToText(const Tree& tree) { return TreeWriter(tree).Run(); }

}  // namespace assay::mlir
