#include "hlo/mlir/refine/refiner.h"

#include <algorithm>
#include <numeric>

#include "base/counted.h"
#include "base/limits.h"
#include "fmt/format.h"
#include "hlo/mlir/quantization.h"
#include "hlo/mlir/refine/refine.h"
#include "hlo/mlir/refine/size_attributes.h"

namespace assay::mlir {
namespace {

// Calls and regions inside of each other, as deep as the refinement follows them.
constexpr int kMaxDepth = 1024;
// Sizes by which an instance of a function is told from another one.
constexpr size_t kMaxSpecializedElements = 64;

int64_t CountOperations(const Region& region) {
  int64_t count = 0;
  for (const Operation* operation : region.operations) {
    ++count;
    for (const Region& nested : operation->regions) count += CountOperations(nested);
  }
  return count;
}

bool HasBounds(const SizedValue& value) { return !value.type->bounds.empty(); }

// QUANT-8 of a tensor whose sizes have become known.
absl::Status CheckAxisSizes(const Type& tensor, const Sizes& sizes) {
  if (tensor.element_type->kind != Type::Kind::kQuantized) return absl::OkStatus();
  const absl::Status status = CheckAxis(*tensor.element_type->quantization, sizes);
  return status.ok() ? status : SizesContradict(std::string(status.message()));
}

}  // namespace

bool SameSizes(const Type& a, const Type& b) {
  return std::ranges::equal(a.sizes, b.sizes) && a.inputs.size() == b.inputs.size() &&
         std::ranges::equal(a.inputs, b.inputs,
                            [](const Type* x, const Type* y) { return SameSizes(*x, *y); });
}

Refiner::Refiner(Tree& tree, bool checking) : tree_(tree), checking_(checking) {}

absl::Status Refiner::Run(std::span<const KnownArgument> arguments) {
  absl::Status status = Refine(arguments);
  if (!IsSizeContradiction(status) || checking_ || arguments.empty()) return status;
  // The program is right for other sizes.
  std::string given;
  for (size_t i = 0; i < arguments.size() && i < 8; ++i) {
    given += fmt::format("{}arg{} {}", i == 0 ? "" : ", ", i, arguments[i].shape.ToString());
    if (arguments[i].value) given += fmt::format(" = {}", *arguments[i].value);
  }
  if (arguments.size() > 8) given += ", …";
  return EvalError(PositionOf(status).value_or(SourcePosition{}),
                   fmt::format("{} (refined for {})", std::string(status.message()), given));
}

absl::Status Refiner::Refine(std::span<const KnownArgument> arguments) {
  ASSAY_RETURN_IF_ERROR(FindFunctions());
  const Operation* const entry = EntryFunction(tree_);
  if (entry == nullptr)
    return InvalidProgram({}, "found no function @main with a body, and not one public function");
  max_steps_ = 64 * CountOperations(*tree_.top) + (1 << 18);
  const std::span<const Value> parameters = entry->regions[0].arguments;
  if (!arguments.empty() && arguments.size() != parameters.size()) {
    return BadInput(fmt::format("found {}, the program takes {}", Counted(arguments.size(), "argument"),
                                parameters.size()));
  }
  has_arguments_ = !arguments.empty();
  std::vector<SizedValue> values;
  for (size_t i = 0; i < parameters.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(SizedValue value,
                           EntryArgument(*entry, i, arguments.empty() ? nullptr : &arguments[i]));
    values.push_back(std::move(value));
  }
  const absl::StatusOr<Instance*> main = InstanceOf(TextOfField(*entry, "sym_name"), values);
  if (!main.ok()) return is_placed_ ? main.status() : tree_.WithPlace(main.status(), *entry);
  (*main)->is_called = true;
  if (!checking_) ReplaceProgram();
  return absl::OkStatus();
}

absl::Status Refiner::FindFunctions() {
  const Region* region = tree_.top;
  if (region->operations.size() == 1 && region->operations[0]->name == "builtin.module" &&
      region->operations[0]->regions.size() == 1)
    region = &region->operations[0]->regions[0];
  const auto note = [&](const Region& body, const auto& self) -> void {
    for (const Operation* operation : body.operations) {
      names_.emplace(operation->name, operation->name_id);
      for (const Region& nested : operation->regions) self(nested, self);
    }
  };
  note(*tree_.top, note);
  for (const Operation* operation : region->operations) {
    if (operation->name != "func.func") continue;
    const std::string_view name = TextOfField(*operation, "sym_name");
    const Type* const type = TypeOfFunction(*operation);
    const bool is_sound = type != nullptr && operation->regions.size() <= 1 &&
                          (operation->regions.empty() || operation->regions[0].operations.empty() ||
                           operation->regions[0].arguments.size() == type->inputs.size());
    if (name.empty() || !is_sound)
      return tree_.WithPlace(InvalidProgram({}, "func.func: want a name and the type of its arguments"),
                             *operation);
    if (!functions_.emplace(name, operation).second) {
      return tree_.WithPlace(InvalidProgram({}, fmt::format("function @{} is defined twice", name)),
                             *operation);
    }
    used_names_[name] = 1;
  }
  return absl::OkStatus();
}

// The declared type, with the sizes of `shape` in place of '?'.
absl::StatusOr<const Type*> Refiner::TypeFor(const Type& declared, const Shape& shape,
                                             std::string_view name) {
  const auto wrong = [&] {
    return BadInput(
        fmt::format("{} is {}, the program wants {}", name, shape.ToString(), ToString(declared)));
  };
  if (declared.kind == Type::Kind::kTuple) {
    if (!shape.IsTuple() || shape.elements().size() != declared.inputs.size()) return wrong();
    std::vector<const Type*> parts;
    for (size_t i = 0; i < declared.inputs.size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(parts.emplace_back(), TypeFor(*declared.inputs[i], shape.elements()[i],
                                                           fmt::format("{}.{}", name, i)));
    }
    Type* const tuple = tree_.NewType(Type::Kind::kTuple);
    tuple->inputs = tree_.arena().Copy(parts);
    tuple->weight = declared.weight;
    return tuple;
  }
  if (declared.kind != Type::Kind::kTensor) return &declared;
  if (!shape.IsArray() || shape.rank() != std::ssize(declared.sizes)) return wrong();
  if (declared.element_type->kind == Type::Kind::kElement &&
      declared.element_type->element != shape.element_type())
    return wrong();
  Sizes sizes(declared.sizes.begin(), declared.sizes.end());
  bool changed = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t size = shape.size(static_cast<int64_t>(d));
    if (!declared.bounds.empty() && declared.bounds[d] != kDynamicSize) continue;
    if (sizes[d] == kDynamicSize && size != kUnboundedSize) {
      if (!declared.bounds.empty())
        return NotSupported(
            {}, fmt::format("{} of type {}: sizes with and without bounds", name, ToString(declared)));
      sizes[d] = size;
      changed = true;
    } else if (sizes[d] != kDynamicSize && sizes[d] != size) {
      return wrong();
    }
  }
  if (!changed) return &declared;
  ASSAY_RETURN_IF_ERROR(CheckAxisSizes(declared, sizes));
  return WithSizes(declared, sizes);
}

absl::StatusOr<SizedValue> Refiner::EntryArgument(const Operation& entry, size_t i,
                                                  const KnownArgument* given) {
  SizedValue value;
  value.type = entry.regions[0].arguments[i].type;
  if (given == nullptr) return value;
  ASSAY_ASSIGN_OR_RETURN(value.type, TypeFor(*value.type, given->shape, fmt::format("arg{}", i)));
  if (given->value && !DimensionVariable(entry, i).empty()) value.known = MakeKnown({*given->value});
  return value;
}

// The name of the next instance of a function: its own, then with a number behind it.
std::string_view Refiner::NameOfInstance(std::string_view symbol) {
  int number = used_names_[symbol]++;
  if (number == 1) return symbol;
  for (;; number = used_names_[symbol]++) {
    const std::string other = fmt::format("{}_{}", symbol, number - 1);
    if (used_names_.contains(other)) continue;
    const std::string_view kept = tree_.arena().Copy(other);
    used_names_[kept] = 1;
    return kept;
  }
}

absl::StatusOr<Refiner::Instance*> Refiner::InstanceOf(std::string_view symbol,
                                                       absl::Span<const SizedValue> arguments) {
  const auto known = functions_.find(symbol);
  if (known == functions_.end() || known->second->regions.empty() ||
      known->second->regions[0].operations.empty())
    return InvalidProgram({}, fmt::format("function @{} is not defined", symbol));
  const Operation& function = *known->second;
  const std::span<const Value> parameters = function.regions[0].arguments;
  if (arguments.size() != parameters.size()) {
    return InvalidProgram({}, fmt::format("function @{} is called with {}, it takes {}", symbol,
                                          Counted(arguments.size(), "argument"), parameters.size()));
  }
  std::string key = fmt::format("{}(", symbol);
  std::vector<SizedValue> inputs;
  for (size_t i = 0; i < arguments.size(); ++i) {
    SizedValue& input = inputs.emplace_back(arguments[i]);
    const Type &given = *input.type, &declared = *parameters[i].type;
    if (given.kind == Type::Kind::kTensor && declared.kind == Type::Kind::kTensor) {
      if (given.sizes.size() != declared.sizes.size() ||
          !SameType(*given.element_type, *declared.element_type)) {
        return InvalidProgram({}, fmt::format("function @{}: argument {} is {}, it takes {}", symbol, i,
                                              ToString(given), ToString(declared)));
      }
      if (given.bounds.empty() && declared.bounds.empty()) {
        Sizes sizes;
        for (size_t d = 0; d < given.sizes.size(); ++d) {
          ASSAY_ASSIGN_OR_RETURN(sizes.emplace_back(),
                                 CommonSize(given.sizes[d], declared.sizes[d], d, given, declared));
        }
        ASSAY_RETURN_IF_ERROR(CheckAxisSizes(given, sizes));
        if (!std::ranges::equal(sizes, given.sizes)) input.type = WithSizes(given, sizes);
      }
    }
    if (input.known != nullptr && input.known->size() > kMaxSpecializedElements) input.known = nullptr;
    key += ToString(*input.type);
    if (input.known != nullptr) key += fmt::format(" = [{}]", fmt::join(*input.known, ","));
    key += ", ";
  }
  if (const auto instance = instances_.find(key); instance != instances_.end()) return instance->second.get();
  if (open_[symbol] > 0) return InvalidProgram({}, fmt::format("function @{} calls itself", symbol));
  if (nesting_ >= kMaxDepth)
    return NotSupported(
        {},
        fmt::format("calls and regions nested deeper than {} in a program whose sizes are free", kMaxDepth));
  auto instance = std::make_unique<Instance>();
  instance->name = NameOfInstance(TextOfField(function, "sym_name"));
  ++open_[symbol];
  ++nesting_;
  const absl::Status status = WriteFunction(function, inputs, *instance);
  --nesting_;
  --open_[symbol];
  ASSAY_RETURN_IF_ERROR(status);
  Instance* const made = instance.get();
  order_.push_back(made);
  instances_.emplace(std::move(key), std::move(instance));
  return made;
}

const Type* Refiner::WrittenFunctionType(const Region& body, absl::Span<const SizedValue> results) {
  std::vector<const Type*> inputs, outputs;
  for (const Value& argument : body.arguments) inputs.push_back(argument.type);
  for (const SizedValue& result : results) outputs.push_back(Static(*result.type));
  Type* const type = tree_.NewType(Type::Kind::kFunction);
  type->inputs = tree_.arena().Copy(inputs);
  type->results = tree_.arena().Copy(outputs);
  Tree::Weigh(type);
  return type;
}

absl::Status Refiner::WriteFunction(const Operation& function, absl::Span<const SizedValue> arguments,
                                    Instance& instance) {
  const Type& declared = *TypeOfFunction(function);
  Operation* const written = NewOperation(function.name, function);
  written->regions = tree_.arena().Array<Region>(1);
  Region& body = written->regions[0];
  body.depth = function.regions[0].depth;
  Values values;
  ASSAY_RETURN_IF_ERROR(WriteRegion(function.regions[0], arguments, values, &body, &instance.results));
  if (instance.results.size() != declared.results.size())
    return InvalidProgram(
        {}, fmt::format("function @{} returns {}, its type says {}", TextOfField(function, "sym_name"),
                        Counted(instance.results.size(), "value"), declared.results.size()));
  for (size_t i = 0; i < instance.results.size(); ++i) {
    SizedValue& result = instance.results[i];
    const Type& wanted = *declared.results[i];
    result.value = nullptr;
    if (result.type->kind != Type::Kind::kTensor || wanted.kind != Type::Kind::kTensor) continue;
    if (result.type->sizes.size() != wanted.sizes.size() ||
        !SameType(*result.type->element_type, *wanted.element_type))
      return InvalidProgram(
          {}, fmt::format("function @{} returns {}, its type says {}", TextOfField(function, "sym_name"),
                          ToString(*result.type), ToString(wanted)));
    for (size_t d = 0; d < wanted.sizes.size(); ++d)
      ASSAY_RETURN_IF_ERROR(
          CommonSize(result.type->sizes[d], wanted.sizes[d], d, *result.type, wanted).status());
  }
  const auto is_known = [](const SizedValue& result) { return result.known != nullptr; };
  const auto writes_nothing = [&] {
    return std::ranges::all_of(body.operations, [](const Operation* operation) {
      return operation->name == "stablehlo.constant" || operation->name == "func.return";
    });
  };
  instance.is_empty = std::ranges::all_of(instance.results, is_known) && writes_nothing();
  std::vector<NamedAttribute> attributes;
  for (NamedAttribute attribute : function.attributes) {
    if (attribute.name == "sym_name") {
      Attribute* const name = tree_.NewAttribute(Attribute::Kind::kString);
      name->text = instance.name;
      attribute.value = name;
    } else if (attribute.name == "function_type") {
      Attribute* const type = tree_.NewAttribute(Attribute::Kind::kType);
      type->type = WrittenFunctionType(body, instance.results);
      attribute.value = type;
    }
    attributes.push_back(attribute);
  }
  written->attributes = tree_.arena().Copy(attributes);
  instance.written = written;
  return absl::OkStatus();
}

void Refiner::ReplaceProgram() {
  Region* region = tree_.top;
  if (region->operations.size() == 1 && region->operations[0]->name == "builtin.module")
    region = &region->operations[0]->regions[0];
  std::vector<Operation*> operations;
  for (Operation* operation : region->operations) {
    if (operation->name != "func.func") operations.push_back(operation);
  }
  for (size_t i = order_.size(); i-- > 0;) {  // the entry first
    if (order_[i]->is_called) operations.push_back(order_[i]->written);
  }
  region->operations = tree_.arena().Copy(operations);
  FillCaptures(tree_, *tree_.top);
}

absl::Status Refiner::WriteRegion(const Region& from, absl::Span<const SizedValue> arguments, Values& values,
                                  Region* to, std::vector<SizedValue>* returned) {
  if (from.arguments.size() != arguments.size())
    return InvalidProgram({}, fmt::format("a region takes {}, want {}",
                                          Counted(from.arguments.size(), "argument"), arguments.size()));
  if (nesting_ >= kMaxDepth)
    return NotSupported(
        {},
        fmt::format("calls and regions nested deeper than {} in a program whose sizes are free", kMaxDepth));
  to->arguments = tree_.NewValues(arguments.size(), nullptr, to->depth);
  for (size_t i = 0; i < arguments.size(); ++i) {
    to->arguments[i].type = Static(*arguments[i].type);
    values[&from.arguments[i]] = {&to->arguments[i], arguments[i].type, arguments[i].known};
  }
  Place place;
  place.depth = to->depth;
  ++nesting_;
  const absl::Status status = VisitAll(from, values, place);
  --nesting_;
  ASSAY_RETURN_IF_ERROR(status);
  const Operation& last = *from.operations.back();
  ASSAY_ASSIGN_OR_RETURN(*returned, Operands(last, values));
  std::vector<Value*> operands;
  for (size_t i = 0; i < last.operands.size(); ++i)
    operands.push_back(Use((*returned)[i], last.operands[i], place));
  Operation* const end = NewOperation(last.name, last);
  end->operands = tree_.arena().Copy(operands);
  end->attributes = last.attributes;
  place.operations.push_back(end);
  to->operations = tree_.arena().Copy(place.operations);
  return absl::OkStatus();
}

// All operations but the last one, which gives the region's results.
absl::Status Refiner::VisitAll(const Region& region, Values& values, Place& place) {
  if (region.operations.empty()) return InvalidProgram({}, "a region does not end with a return");
  const std::string_view last = region.operations.back()->name;
  if (!last.ends_with(".return") && last != "shape.assuming_yield")
    return tree_.WithPlace(InvalidProgram({}, "a region does not end with a return"),
                           *region.operations.back());
  for (const Operation* operation : region.operations.first(region.operations.size() - 1)) {
    if (++steps_ > max_steps_) {
      return tree_.WithPlace(
          ProgramLimitExceeded({}, "operations that refinement writes", steps_, max_steps_), *operation);
    }
    absl::Status status = Visit(*operation, values, place);
    if (status.ok()) continue;
    // In bytecode a place is a prefix, and the operations around this one would add theirs.
    if (std::exchange(is_placed_, true)) return status;
    return tree_.WithPlace(status, *operation);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<SizedValue>> Refiner::Operands(const Operation& op, const Values& values) {
  std::vector<SizedValue> operands;
  for (const Value* operand : op.operands) {
    const auto known = values.find(operand);
    if (known == values.end())
      return NotSupported({}, fmt::format("{}: an operand from outside of the function", op.name));
    operands.push_back(known->second);
  }
  return operands;
}

absl::Status Refiner::Visit(const Operation& op, Values& values, Place& place) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<SizedValue> operands, Operands(op, values));
  Visited at{op, std::move(operands), values, place};
  const std::string_view name = op.name;
  if (name == "stablehlo.while") return VisitWhile(at);
  if (name == "chlo.scan" && !std::ranges::any_of(at.operands, HasBounds)) return VisitScan(at);
  if (name == "stablehlo.if" || name == "stablehlo.case") return VisitBranches(at);
  if (name == "shape.assuming") return VisitAssuming(at);
  if (name == "func.call") return VisitCall(at);
  if (name == "stablehlo.composite") return VisitComposite(at);
  if (name == "stablehlo.custom_call") return VisitCustomCall(at);
  if (name == "stablehlo.real_dynamic_slice") {
    ASSAY_ASSIGN_OR_RETURN(const bool is_done, AppendDynamicSlice(at));
    if (is_done) return absl::OkStatus();
  }
  return VisitAny(at);
}

// Whether the result is known, and need not be computed.
absl::StatusOr<bool> Refiner::FindKnown(Visited& at, const Type& type) {
  if (at.op.results.size() != 1 || !at.op.regions.empty()) return false;
  absl::StatusOr<Known> known = KnownResult(at.op, at.operands, type);
  if (!known.ok()) {
    // StableHLO says what a division by zero is; of sizes it is an error.
    if (!IsSizeDialect(at.op.name)) return false;
    return SizesContradict(fmt::format("{}: {}", at.op.name, std::string(known.status().message())));
  }
  if (*known == nullptr) return false;
  Bind(at, 0, {nullptr, &type, *std::move(known)});
  return true;
}

absl::Status Refiner::VisitAny(Visited& at) {
  const Operation& op = at.op;
  // Conversions of quantized numbers have a size rule, but no form in HLO:
  // they are lowered before the import.
  const bool has_form =
      IsSizeOperation(op.name) || FactsOf(op.name).import != nullptr || FindSizeRow(op.name) != nullptr;
  if (!has_form) return NotSupported({}, fmt::format("operation '{}'", op.name));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<const Type*> types, ResultTypes(op, at.operands, op.name));
  if (op.name == "tensor.cast" && types.size() == 1 && at.operands.size() == 1) {
    SizedValue same = at.operands[0];
    const std::span<const int64_t> sizes = same.type->sizes;
    ASSAY_ASSIGN_OR_RETURN(same.type, Merged(op, 0, Sizes(sizes.begin(), sizes.end())));
    Bind(at, 0, std::move(same));
    return absl::OkStatus();
  }
  if (!types.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const bool is_known, FindKnown(at, *types[0]));
    if (is_known) return absl::OkStatus();
  }
  if (IsSizeDialect(op.name)) {
    if (checking_) {
      for (size_t i = 0; i < types.size(); ++i) Bind(at, i, {nullptr, types[i], nullptr});
      return absl::OkStatus();
    }
    const std::string_view dialect = op.name.substr(0, op.name.find('.'));
    return NotSupported(
        {}, fmt::format("operation '{}' of the dialect '{}', which computes no size that is known from the "
                        "arguments' shapes: lower the program to StableHLO (in MLIR: --canonicalize "
                        "and legalization of {} to stablehlo) before it is given",
                        op.name, dialect, dialect));
  }
  ASSAY_RETURN_IF_ERROR(CheckKnownSizes(op, types));
  if (AppendStaticForm(at, types)) return absl::OkStatus();
  return AppendCopy(at, types);
}

absl::Status Refiner::CheckKnownSizes(const Operation& op, absl::Span<const Type* const> types) {
  if (checking_) return absl::OkStatus();
  for (size_t i = 0; i < types.size(); ++i) {
    if (HasFreeSize(*types[i])) {
      return NotSupported({}, fmt::format("{}: the sizes of its result {} do not follow from its operands",
                                          op.name, ToString(*types[i])));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<const Type*>> Refiner::ResultTypes(const Operation& op,
                                                              absl::Span<const SizedValue> operands,
                                                              std::string_view rule_name) {
  std::vector<const Type*> types;
  for (const Value& result : op.results) types.push_back(result.type);
  if (rule_name == "stablehlo.optimization_barrier" && operands.size() == types.size()) {
    for (size_t i = 0; i < types.size(); ++i) types[i] = operands[i].type;
    return types;
  }
  if (rule_name == "stablehlo.get_tuple_element" && operands.size() == 1) {
    const int64_t index = IntOfField(op, "index").value_or(-1);
    const std::span<const Type* const> parts = operands[0].type->inputs;
    if (index >= 0 && index < std::ssize(parts))
      types.assign(op.results.size(), parts[static_cast<size_t>(index)]);
    return types;
  }
  if (rule_name == "stablehlo.tuple" && types.size() == 1) {
    std::vector<const Type*> parts;
    for (const SizedValue& operand : operands) parts.push_back(operand.type);
    Type* const tuple = tree_.NewType(Type::Kind::kTuple);
    tuple->inputs = tree_.arena().Copy(parts);
    if (!Tree::Weigh(tuple)) return ProgramLimitExceeded({}, "type", tuple->weight, Tree::kMaxWeight);
    return std::vector<const Type*>{tuple};
  }
  const SizeRow* const row = FindSizeRow(rule_name);
  const auto is_tensor = [](const SizedValue& operand) { return operand.type->kind == Type::Kind::kTensor; };
  if (row == nullptr || op.results.empty() || operands.size() < row->tensors ||
      !std::ranges::all_of(operands, is_tensor) || std::ranges::any_of(operands, HasBounds))
    return types;
  absl::StatusOr<ResultSizes> sizes = row->rule({op, operands});
  if (!sizes.ok()) {
    return IsSizeContradiction(sizes.status())
               ? SizesContradict(fmt::format("{}: {}", op.name, std::string(sizes.status().message())))
               : sizes.status();
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (!(*sizes)[i]) continue;
    ASSAY_ASSIGN_OR_RETURN(types[i], Merged(op, i, *(*sizes)[i]));
  }
  return types;
}

absl::StatusOr<const Type*> Refiner::Merged(const Operation& op, size_t result, const Sizes& sizes) {
  const Type& declared = *op.results[result].type;
  if (declared.kind != Type::Kind::kTensor || !declared.bounds.empty()) return &declared;
  // Where nothing comes from outside, the verifier says what is wrong with declared sizes.
  if (!checking_ && !has_arguments_ && IsStatic(declared)) return &declared;
  const auto differ = [&] {
    return SizesContradict(
        fmt::format("{}: result {} is declared as {}, and its operands give it the sizes [{}]", op.name,
                    result, ToString(declared), fmt::join(sizes, ",")));
  };
  if (declared.sizes.size() != sizes.size()) return differ();
  Sizes merged(sizes);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (declared.sizes[d] == kDynamicSize) continue;
    if (sizes[d] != kDynamicSize && sizes[d] != declared.sizes[d]) return differ();
    merged[d] = declared.sizes[d];
  }
  ASSAY_RETURN_IF_ERROR(CheckAxisSizes(declared, merged));
  return std::ranges::equal(merged, declared.sizes) ? &declared : WithSizes(declared, merged);
}

}  // namespace assay::mlir
