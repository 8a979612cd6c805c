// What one operation's import can ask and do, and the table of all imports.
#include <algorithm>
#include <cstring>
#include <limits>

#include "base/counted.h"
#include "fmt/format.h"
#include "hlo/mlir/import/importer.h"
#include "hlo/mlir/quantization.h"
#include "hlo/mlir/text_writer.h"
#include "literal/element_io.h"

namespace assay::mlir {
namespace {

using Kind = Attribute::Kind;

const Shape& NoShape() {
  static const auto* const kShape = new Shape();
  return *kShape;
}

bool IntegersOfDense(const Attribute& dense, Ints* values) {
  const Type& tensor = *dense.type;
  if (!dense.is_splat && tensor.element_type->kind == Type::Kind::kElement &&
      tensor.element_type->element == ElementType::kS64) {  // nearly all lists are of this type
    values->resize(dense.data.size() / sizeof(int64_t));
    if (!values->empty()) std::memcpy(values->data(), dense.data.data(), values->size() * sizeof(int64_t));
    return true;
  }
  ElementType element = ElementType::kS64;
  if (tensor.element_type->kind == Type::Kind::kElement) element = tensor.element_type->element;
  if (!IsIntegral(element) && element != ElementType::kPred) return false;
  const size_t bytes = static_cast<size_t>(Bytes(element));
  size_t count = dense.data.size() / bytes;
  if (dense.is_splat) {
    count = 1;
    for (int64_t size : tensor.sizes) count *= static_cast<size_t>(size);
    // Lists of this kind have an entry a dimension or device; a splat must not ask for much more.
    constexpr size_t kMaxSplat = size_t{1} << 20;
    if (count > kMaxSplat) return false;
  }
  const auto value = [&](size_t i) {
    const std::byte* const at = dense.data.data() + i * bytes;
    return element == ElementType::kPred ? std::to_integer<int64_t>(*at) : LoadIndex(element, at);
  };
  if (dense.is_splat) {
    values->assign(count, value(0));
    return true;
  }
  values->reserve(count);
  for (size_t i = 0; i < count; ++i) values->push_back(value(i));
  return true;
}

std::string FieldsText(std::span<const NamedAttribute> fields, bool whole) {
  std::string text;
  for (const NamedAttribute& field : fields) {
    text += text.empty() ? "" : ", ";
    text += WordOrQuoted(field.name);
    if (field.value->kind != Kind::kUnit) text += " = " + ToString(*field.value, whole);
  }
  return text;
}

ElementType ElementOf(const Type* type, ElementType absent) {
  if (type != nullptr && type->kind == Type::Kind::kQuantized) return type->quantization->storage;
  return type != nullptr && type->kind == Type::Kind::kElement ? type->element : absent;
}

std::string DenseText(const Attribute& dense) {
  std::string text;
  AppendDenseElements(ElementOf(dense.type->element_type, ElementType::kS64), dense.type->sizes, dense.data,
                      text, /*as_splat=*/false);
  return text;
}

}  // namespace

bool IntegersOf(const Attribute& attribute, Ints* values) {
  switch (attribute.kind) {
    case Kind::kIntegers:
      values->assign(attribute.integers.begin(), attribute.integers.end());
      return true;
    case Kind::kArray:
      values->reserve(attribute.elements.size());
      for (const Attribute* element : attribute.elements) {
        if (element->kind != Kind::kInteger) return false;
        values->push_back(element->integer);
      }
      return true;
    case Kind::kDense:
      return attribute.type->kind == Type::Kind::kTensor && IntegersOfDense(attribute, values);
    default:
      return false;
  }
}

std::string ToString(const Attribute& attribute, bool whole) {
  const auto typed = [&](std::string text, std::string_view default_type) {
    if (attribute.type == nullptr) return fmt::format("{} : {}", text, default_type);
    return fmt::format("{} : {}", text, ToString(*attribute.type));
  };
  switch (attribute.kind) {
    case Kind::kUnit:
      return "unit";
    case Kind::kBool:
      return attribute.integer != 0 ? "true" : "false";
    case Kind::kInteger:
      return typed(fmt::format("{}", attribute.integer), "i64");
    case Kind::kFloat:
      return typed(FloatText(attribute.real, ElementOf(attribute.type, ElementType::kF64)), "f64");
    case Kind::kString:
      return Quoted(attribute.text);
    case Kind::kArray: {
      std::string text;
      for (const Attribute* element : attribute.elements)
        text += (text.empty() ? "" : ", ") + ToString(*element, whole);
      return fmt::format("[{}]", text);
    }
    case Kind::kDictionary:
      return fmt::format("{{{}}}", FieldsText(attribute.fields, whole));
    case Kind::kType:
      return ToString(*attribute.type);
    case Kind::kSymbol:
      return fmt::format("@{}", attribute.text);
    case Kind::kIntegers: {
      std::string text =
          fmt::format("array<{}", attribute.type == nullptr ? "i64" : ToString(*attribute.type));
      for (size_t i = 0; i < attribute.integers.size(); ++i) {
        text += fmt::format("{}{}", i == 0 ? ": " : ", ", attribute.integers[i]);
      }
      return text + '>';
    }
    case Kind::kDense:
      return fmt::format("{} : {}", whole ? DenseText(attribute) : "dense<...>", ToString(*attribute.type));
    case Kind::kStruct:
      return fmt::format("#stablehlo.{}<{}>", attribute.text, FieldsText(attribute.fields, whole));
    default:
      return std::string(attribute.text);
  }
}

NameFacts FactsOf(std::string_view name) {
  using Role = NameFacts::Role;
  static constexpr std::pair<absl::string_view, Role> kRoles[] = {
      {"stablehlo.return", Role::kTerminator},
      {"func.return", Role::kTerminator},
      {"sdy.return", Role::kTerminator},
      {"mhlo.return", Role::kTerminator},
      {"stablehlo.constant", Role::kConstant},
      {"chlo.constant", Role::kConstant},
      {"sdy.constant", Role::kConstant},
      {"func.call", Role::kCall},
      {"stablehlo.composite", Role::kComposite},
      {"stablehlo.custom_call", Role::kCustomCall},
      {"interpreter.run_parallel", Role::kRunParallel}};
  static const auto* const kFacts = [] {
    auto* map = new HashMap<absl::string_view, NameFacts>();
    for (const auto rows : {ElementwiseRows(), ShapeRows(), LinalgRows(), ControlRows(), CallRows(),
                            CollectiveRows(), ChloRows(), DynamicRows(), ShardingRows(), TestRows()}) {
      for (const ImportRow& row : rows) {
        map->try_emplace(absl::string_view(row.name.data(), row.name.size()),
                         NameFacts{Role::kOther, row.fn});
      }
    }
    for (const auto& [known, role] : kRoles) (*map)[known].role = role;
    return map;
  }();
  const auto known = kFacts->find(absl::string_view(name.data(), name.size()));
  return known == kFacts->end() ? NameFacts{Role::kOther, nullptr} : known->second;
}

void OpImport::Fail(absl::Status error) {
  if (status.ok()) status = std::move(error);
}

void OpImport::Invalid(std::string_view message) {
  Fail(InvalidProgram({}, fmt::format("{}: {}", op.name, message)));
}

void OpImport::Unsupported(std::string_view message) {
  Fail(NotSupported({}, fmt::format("{}: {}", op.name, message)));
}

bool OpImport::Arity(size_t wanted_operands, size_t wanted_results) {
  if (num_operands() != wanted_operands) {
    Invalid(fmt::format("found {}, want {}", Counted(num_operands(), "operand"), wanted_operands));
  } else if (num_results() != wanted_results) {
    Invalid(fmt::format("found {}, want {}", Counted(num_results(), "result"), wanted_results));
  }
  return ok();
}

bool OpImport::Regions(size_t count) {
  if (op.regions.size() != count)
    Invalid(fmt::format("found {}, want {}", Counted(op.regions.size(), "region"), count));
  return ok();
}

const Shape& OpImport::OperandShape(size_t i) {
  return i < operands.size() ? *scope.computation.instructions[operands[i]].shape : NoShape();
}

const SharedShape& OpImport::NewResultShape(size_t i) {
  static const auto* const kNone = new SharedShape(std::make_shared<const Shape>());
  if (i >= op.results.size()) {
    Invalid(fmt::format("found {}, want {}", Counted(op.results.size(), "result"), i + 1));
    return *kNone;
  }
  const absl::StatusOr<SharedShape> shape = importer.ShapeOf(*op.results[i].type);
  if (shape.ok()) return importer.KnownShape(*op.results[i].type);
  Fail(shape.status());
  return *kNone;
}

SharedShape OpImport::WholeShape() {
  if (num_results() == 1) return ResultShape();
  std::vector<Shape> shapes;
  shapes.reserve(num_results());
  for (size_t i = 0; i < num_results(); ++i) shapes.push_back(*ResultShape(i));
  return importer.Share(Shape::Tuple(std::move(shapes)));
}

std::span<const NamedAttribute> OpImport::Fields(std::string_view group) {
  if (!group.empty()) {
    if (const Attribute* whole = op.Find(group); whole != nullptr && whole->kind == Kind::kStruct)
      return whole->fields;
  }
  return op.attributes;
}

const Attribute* OpImport::Find(std::string_view name, std::string_view group) {
  return mlir::Find(Fields(group), name);
}

const Attribute* OpImport::Require(std::string_view name, std::string_view group) {
  const Attribute* const attribute = Find(name, group);
  if (attribute == nullptr) Invalid(fmt::format("attribute {} is missing", name));
  return attribute;
}

bool OpImport::Bool(std::string_view name, bool absent) {
  const Attribute* const attribute = Find(name);
  if (attribute == nullptr) return absent;
  if (attribute->kind == Kind::kUnit) return true;
  if (attribute->kind != Kind::kBool && attribute->kind != Kind::kInteger) {
    Invalid(fmt::format("{} is {}, want true or false", name, ToString(*attribute)));
  }
  return attribute->integer != 0;
}

int64_t OpImport::Int(std::string_view name) { return Require(name) == nullptr ? 0 : Int(name, 0); }

int64_t OpImport::Int(std::string_view name, int64_t absent, std::string_view group) {
  const Attribute* const attribute = Find(name, group);
  if (attribute == nullptr) return absent;
  if (attribute->kind != Kind::kInteger)
    Invalid(fmt::format("{} is {}, want an integer", name, ToString(*attribute)));
  return attribute->integer;
}

double OpImport::Float(std::string_view name) {
  const Attribute* const attribute = Require(name);
  if (attribute == nullptr) return 0;
  if (attribute->kind != Kind::kFloat)
    Invalid(fmt::format("{} is {}, want a number", name, ToString(*attribute)));
  return attribute->real;
}

Ints OpImport::IntsOf(const Attribute* attribute, std::string_view name) {
  Ints values;
  if (attribute != nullptr && !IntegersOf(*attribute, &values)) {
    NotIntegers(*attribute, name);
  }
  return values;
}

void OpImport::NotIntegers(const Attribute& attribute, std::string_view name) {
  Invalid(fmt::format("{} is {}, want integers", name, ToString(attribute)));
}

Ints OpImport::IntList(std::string_view name, std::string_view group) {
  return IntsOf(Find(name, group), name);
}

Ints OpImport::RequiredInts(std::string_view name) { return IntsOf(Require(name), name); }

Ints OpImport::IntsOr(std::string_view name, size_t count, int64_t fill) {
  const Attribute* const attribute = Find(name);
  if (attribute == nullptr) return Ints(count, fill);
  Ints values = IntsOf(attribute, name);
  if (values.size() != count)
    Invalid(fmt::format("{} has {}, want {}", name, Counted(values.size(), "entry"), count));
  values.resize(count, fill);
  return values;
}

IntLists OpImport::IntRows(std::string_view name, size_t columns) {
  const Attribute* const attribute = Find(name);
  if (attribute == nullptr) return {};
  if (attribute->kind == Kind::kDense && attribute->type->sizes.size() == 2) {
    const auto written = static_cast<size_t>(attribute->type->sizes[1]);
    if (columns != 0 && written != columns) {
      Invalid(fmt::format("{} has {}, want {}", name, Counted(written, "column"), columns));
      return {};
    }
    columns = written;
  }
  const Ints values = IntList(name);
  if (columns == 0 || values.size() % columns != 0) {
    if (!values.empty())
      Invalid(fmt::format("{} is {}, want a matrix of integers", name, ToString(*attribute)));
    return {};
  }
  IntLists rows;
  for (size_t i = 0; i < values.size(); i += columns) {
    rows.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(i),
                      values.begin() + static_cast<std::ptrdiff_t>(i + columns));
  }
  return rows;
}

std::string_view OpImport::Text(std::string_view name, std::string_view absent) {
  const Attribute* const attribute = Find(name);
  if (attribute == nullptr) return absent;
  if (attribute->kind != Kind::kString && attribute->kind != Kind::kSymbol &&
      attribute->kind != Kind::kWord) {
    Invalid(fmt::format("{} is {}, want a string", name, ToString(*attribute)));
  }
  return attribute->text;
}

std::string_view OpImport::EnumWord(std::string_view name, std::string_view absent,
                                    std::span<const std::string_view> allowed) {
  const std::string_view word = Text(name, absent);
  if (std::find(allowed.begin(), allowed.end(), word) == allowed.end() && word != absent) {
    std::string wanted;
    for (std::string_view value : allowed) wanted += (wanted.empty() ? "" : ", ") + std::string(value);
    Invalid(fmt::format("{} is '{}', want one of {}", name, word, wanted));
  }
  if (word.empty()) Invalid(fmt::format("attribute {} is missing", name));
  return word;
}

void OpImport::Emit(Opcode opcode, absl::Span<const int32_t> inputs, AttributeMap&& attributes) {
  if (!ok()) return;
  if (num_results() == 1) {
    // Nearly every operation: one result of a type that was seen before.
    if (const SharedShape& known = importer.KnownShape(*op.results[0].type); known != nullptr) {
      return importer.Bind(scope, op.results[0], Add(opcode, known, inputs, std::move(attributes)));
    }
  }
  SharedShape shape = WholeShape();
  if (ok()) BindResults(Add(opcode, std::move(shape), inputs, std::move(attributes)));
}

void OpImport::BindResults(int32_t instruction) {
  if (!ok()) return;
  if (num_results() == 1) return BindResult(0, instruction);
  for (size_t i = 0; i < num_results(); ++i) {
    SharedShape shape = ResultShape(i);
    if (!ok()) return;
    BindResult(i, TupleElement(instruction, std::move(shape), i));
  }
}

void OpImport::BindResult(size_t i, int32_t instruction) {
  if (i >= op.results.size())
    return Invalid(fmt::format("found {}, want {}", Counted(op.results.size(), "result"), i + 1));
  const SharedShape& own = scope.computation.instructions[instruction].shape;
  if (own == importer.KnownShape(*op.results[i].type))
    return importer.Bind(scope, op.results[i], instruction);
  const Shape& given = *own;
  const SharedShape& wanted = ResultShape(i);
  // Verify compares what an instruction says with what its operation gives; here an operation became another
  // one, or none, and its own type must agree with that.
  if (ok() && !Shape::Equal(given, *wanted)) {
    return Invalid(fmt::format("result {} has type {}, want {}", i, wanted->ToString(), given.ToString()));
  }
  importer.Bind(scope, op.results[i], instruction);
}

InstructionExtras& OpImport::OwnExtras(int32_t instruction) {
  std::shared_ptr<const InstructionExtras>& extras = scope.computation.instructions[instruction].extras;
  auto own = extras == nullptr ? std::make_shared<InstructionExtras>()
                               : std::make_shared<InstructionExtras>(*extras);
  InstructionExtras& result = *own;
  extras = std::move(own);
  return result;
}

int32_t OpImport::TupleElement(int32_t tuple, SharedShape shape, size_t index) {
  return Add(Opcode::kGetTupleElement, std::move(shape), {tuple}, importer.TupleIndex(index));
}

int32_t OpImport::Constant(ElementType type, double value) {
  const int32_t constant = Add(Opcode::kConstant, importer.Scalar(type), {});
  const Literal literal = IsFloat(type) ? Literal::ScalarDouble(type, value)
                                        : Literal::ScalarInt(type, static_cast<int64_t>(value));
  scope.computation.instructions[constant].literal = std::make_shared<const Literal>(literal);
  return constant;
}

int32_t OpImport::DenseConstant(const Attribute& value, const SharedShape& shape) {
  if (value.kind != Kind::kDense) {
    Invalid("value is not dense<...>");
    return -1;
  }
  if (!shape->IsArray() || shape->HasDynamic() || shape->HasUnbounded()) {
    Invalid(fmt::format("the value is {}, want a static array", shape->ToString()));
    return -1;
  }
  const absl::StatusOr<LiteralPtr> literal = importer.LiteralOf(value, shape);
  if (!literal.ok()) {
    Fail(literal.status());
    return -1;
  }
  const int32_t constant = Add(Opcode::kConstant, (*literal)->shared_shape(), {});
  scope.computation.instructions[constant].literal = *literal;
  return value.is_splat && !shape->IsScalar() ? Broadcast(constant, shape) : constant;
}

int32_t OpImport::Broadcast(int32_t scalar, const SharedShape& shape) {
  if (shape->IsScalar()) return scalar;
  return Add(Opcode::kBroadcast, shape, {scalar}, importer.NoDimensions());
}

std::optional<ComputationId> OpImport::Body(size_t region) {
  if (!ok()) return std::nullopt;
  if (region >= op.regions.size()) {
    Invalid(fmt::format("found {}, want {}", Counted(op.regions.size(), "region"), region + 1));
    return std::nullopt;
  }
  const absl::StatusOr<ComputationId> body = importer.RegionComputation(
      op.regions[region], Importer::Arguments::kScalars, {}, /*keeps_captured=*/false, op);
  if (body.ok()) return *body;
  Fail(body.status());
  return std::nullopt;
}

}  // namespace assay::mlir
