// Loops, branches, calls, composites and custom calls whose sizes are refined.
#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "base/counted.h"
#include "fmt/format.h"
#include "hlo/mlir/refine/refiner.h"
#include "hlo/mlir/refine/size_attributes.h"

namespace assay::mlir {
namespace {

// "{0}" is the first value, "{{" a brace.
std::string Filled(std::string_view format, absl::Span<const SizedValue> values) {
  std::string text;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] == '{' && i + 1 < format.size() && format[i + 1] == '{') {
      text += '{';
      ++i;
      continue;
    }
    const size_t end = format[i] == '{' ? format.find('}', i) : std::string_view::npos;
    uint32_t number = 0;
    if (end != std::string_view::npos &&
        absl::SimpleAtoi(absl::string_view(format.data() + i + 1, end - i - 1), &number) &&
        number < values.size() && values[number].known != nullptr) {
      text += fmt::format("{}", fmt::join(*values[number].known, ","));
      i = end;
      continue;
    }
    text += format[i];
  }
  return text;
}

// Targets that give what they take.
bool IsIdentity(std::string_view target) {
  return target == "Sharding" || target == "LayoutConstraint" || target == "annotate_device_placement" ||
         target == "xla.sdy.FuncResultSharding" || target == "xla.sdy.PropagationBarrier" ||
         target == "X64Combine";
}

}  // namespace

// The state keeps its types. What a turn hands on unchanged stays known.
absl::Status Refiner::VisitWhile(Visited& at) {
  const std::span<const Region> regions = at.op.regions;
  if (regions.size() != 2 || regions[1].operations.empty() ||
      regions[1].operations.back()->operands.size() != at.operands.size() ||
      regions[1].arguments.size() != at.operands.size() || at.op.results.size() != at.operands.size())
    return InvalidProgram({}, "stablehlo.while: want as many operands, region arguments and results");
  const Operation& last = *regions[1].operations.back();
  std::vector<SizedValue> state = at.operands;
  for (size_t i = 0; i < state.size(); ++i) {
    state[i].value = nullptr;
    if (last.operands[i] != &regions[1].arguments[i]) state[i].known = nullptr;
  }
  std::vector<Region> written(2);
  for (size_t r = 0; r < 2; ++r) {
    std::vector<SizedValue> returned;
    written[r].depth = at.place.depth + 1;
    ASSAY_RETURN_IF_ERROR(WriteRegion(regions[r], state, at.values, &written[r], &returned));
    for (size_t i = 0; r == 1 && i < state.size(); ++i) {
      if (SameSizes(*state[i].type, *returned[i].type)) continue;
      if (checking_ && !(IsStatic(*state[i].type) && IsStatic(*returned[i].type))) continue;
      return SizesContradict(
          fmt::format("stablehlo.while: value {} of the state is {} before a turn and {} behind it", i,
                      ToString(*state[i].type), ToString(*returned[i].type)));
    }
  }
  std::vector<const Type*> types;
  types.reserve(state.size());
  for (const SizedValue& value : state) types.push_back(value.type);
  ASSAY_RETURN_IF_ERROR(CheckKnownSizes(at.op, types));
  Operation* const loop = Append(at, at.op.name, UseAll(at), at.op.attributes, types);
  loop->regions = tree_.arena().Copy(written);
  for (size_t i = 0; i < state.size(); ++i) Bind(at, i, {&loop->results[i], types[i], state[i].known});
  return absl::OkStatus();
}

// The branches give the same types. With a known index, what is known of that branch's results is known.
absl::Status Refiner::VisitBranches(Visited& at) {
  const std::span<const Region> regions = at.op.regions;
  if (at.operands.size() != 1 || regions.empty())
    return InvalidProgram({}, fmt::format("{}: want one operand and branches", at.op.name));
  const bool is_if = at.op.name == "stablehlo.if";
  std::vector<Region> written(regions.size());
  std::vector<std::vector<SizedValue>> results(regions.size());
  for (size_t r = 0; r < regions.size(); ++r) {
    written[r].depth = at.place.depth + 1;
    ASSAY_RETURN_IF_ERROR(WriteRegion(regions[r], {}, at.values, &written[r], &results[r]));
    if (results[r].size() != at.op.results.size())
      return InvalidProgram({}, fmt::format("{}: branch {} gives {}, want {}", at.op.name, r,
                                            Counted(results[r].size(), "value"), at.op.results.size()));
  }
  std::vector<const Type*> types;
  for (size_t i = 0; i < at.op.results.size(); ++i) {
    const Type* type = results[0][i].type;
    for (size_t r = 1; r < regions.size(); ++r) {
      const Type& other = *results[r][i].type;
      if (SameSizes(*type, other)) continue;
      if (IsStatic(*type) && IsStatic(other)) {
        return SizesContradict(fmt::format("{}: result {} is {} in branch 0 and {} in branch {}", at.op.name,
                                           i, ToString(*type), ToString(other), r));
      }
      type = at.op.results[i].type;
    }
    types.push_back(type);
  }
  ASSAY_RETURN_IF_ERROR(CheckKnownSizes(at.op, types));
  Operation* const copy = Append(at, at.op.name, UseAll(at), at.op.attributes, types);
  copy->regions = tree_.arena().Copy(written);
  const Known& index = at.operands[0].known;
  if (index == nullptr || index->size() != 1) return absl::OkStatus();
  const int64_t number = is_if ? ((*index)[0] != 0 ? 0 : 1) : (*index)[0];
  const size_t chosen =
      number < 0 || number >= std::ssize(regions) ? regions.size() - 1 : static_cast<size_t>(number);
  for (size_t i = 0; i < types.size(); ++i)
    Bind(at, i, {&copy->results[i], types[i], results[chosen][i].known});
  return absl::OkStatus();
}

// What is done under the condition that shapes fit, which has been checked: its operations in place.
absl::Status Refiner::VisitAssuming(Visited& at) {
  if (at.op.regions.size() != 1 || !at.op.regions[0].arguments.empty() || at.op.regions[0].operations.empty())
    return InvalidProgram({}, "shape.assuming: want one region without arguments");
  const Region& region = at.op.regions[0];
  ASSAY_RETURN_IF_ERROR(VisitAll(region, at.values, at.place));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<SizedValue> results,
                         Operands(*region.operations.back(), at.values));
  if (results.size() != at.op.results.size())
    return InvalidProgram({}, "shape.assuming: want as many results as its region gives");
  for (size_t i = 0; i < results.size(); ++i) Bind(at, i, results[i]);
  return absl::OkStatus();
}

absl::Status Refiner::VisitCall(Visited& at) {
  ASSAY_ASSIGN_OR_RETURN(Instance* const instance, InstanceOf(TextOfField(at.op, "callee"), at.operands));
  if (instance->results.size() != at.op.results.size())
    return InvalidProgram({}, fmt::format("func.call: function @{} gives {}, want {}", instance->name,
                                          Counted(instance->results.size(), "value"), at.op.results.size()));
  if (instance->is_empty) {
    for (size_t i = 0; i < instance->results.size(); ++i) Bind(at, i, instance->results[i]);
    return absl::OkStatus();
  }
  instance->is_called = true;
  std::vector<const Type*> types;
  for (size_t i = 0; i < instance->results.size(); ++i) {
    const Type& result = *instance->results[i].type;
    const Type* type = &result;
    if (result.kind == Type::Kind::kTensor && result.bounds.empty()) {
      ASSAY_ASSIGN_OR_RETURN(type, Merged(at.op, i, Sizes(result.sizes.begin(), result.sizes.end())));
    }
    types.push_back(type);
  }
  ASSAY_RETURN_IF_ERROR(CheckKnownSizes(at.op, types));
  std::vector<NamedAttribute> attributes = AttributesWithout(at.op, {{"callee"}});
  attributes.push_back(Symbol("callee", instance->name));
  Operation* const call = Append(at, at.op.name, UseAll(at), attributes, types);
  for (size_t i = 0; i < types.size(); ++i)
    Bind(at, i, {&call->results[i], types[i], instance->results[i].known});
  return absl::OkStatus();
}

absl::Status Refiner::VisitComposite(Visited& at) {
  if (!at.op.regions.empty())
    return NotSupported({}, "stablehlo.composite: regions in a program whose sizes are free");
  const std::string_view operation = OperationOfComposite(TextOfField(at.op, "name"));
  const Attribute* const decomposition = at.op.Find("decomposition");
  std::vector<NamedAttribute> attributes(at.op.attributes.begin(), at.op.attributes.end());
  std::vector<const Type*> types;
  if (FindSizeRow(operation) != nullptr) {
    ASSAY_ASSIGN_OR_RETURN(types, ResultTypes(at.op, at.operands, operation));
  } else {
    if (decomposition == nullptr)
      return InvalidProgram({}, "stablehlo.composite: attribute decomposition is missing");
    ASSAY_ASSIGN_OR_RETURN(Instance* const instance, InstanceOf(decomposition->text, at.operands));
    if (instance->results.size() != at.op.results.size())
      return InvalidProgram({}, "stablehlo.composite: want as many results as its decomposition gives");
    instance->is_called = true;
    attributes = AttributesWithout(at.op, {{"decomposition"}});
    attributes.push_back(Symbol("decomposition", instance->name));
    for (const SizedValue& result : instance->results) types.push_back(result.type);
  }
  ASSAY_RETURN_IF_ERROR(CheckKnownSizes(at.op, types));
  Append(at, at.op.name, UseAll(at), attributes, types);
  return absl::OkStatus();
}

// The names of functions in lists, of lists: each for arguments of the types that it declares.
absl::StatusOr<const Attribute*> Refiner::WrittenSymbols(const Attribute& symbols) {
  if (symbols.kind == Attribute::Kind::kArray) {
    std::vector<const Attribute*> elements;
    for (const Attribute* element : symbols.elements) {
      ASSAY_ASSIGN_OR_RETURN(elements.emplace_back(), WrittenSymbols(*element));
    }
    Attribute* const array = tree_.NewAttribute(Attribute::Kind::kArray);
    array->elements = tree_.arena().Copy(elements);
    return array;
  }
  if (symbols.kind != Attribute::Kind::kSymbol) return &symbols;
  const auto function = functions_.find(symbols.text);
  if (function == functions_.end() || function->second->regions.empty())
    return InvalidProgram({}, fmt::format("function @{} is not defined", symbols.text));
  std::vector<SizedValue> arguments;
  for (const Value& argument : function->second->regions[0].arguments)
    arguments.push_back({nullptr, argument.type, nullptr});
  ASSAY_ASSIGN_OR_RETURN(Instance* const instance, InstanceOf(symbols.text, arguments));
  instance->is_called = true;
  return Symbol("", instance->name).value;
}

// shape_assertion(condition, sizes...): an error with its own message where the condition does not hold.
absl::Status Refiner::CheckAssertion(Visited& at) {
  if (at.operands.empty()) return InvalidProgram({}, "shape_assertion: want a condition");
  const Known& condition = at.operands[0].known;
  if (condition == nullptr || condition->size() != 1) {
    if (checking_) return absl::OkStatus();
    return NotSupported({}, "shape_assertion: a condition that depends on data");
  }
  if ((*condition)[0] != 0) return absl::OkStatus();
  const std::string_view message = TextOfField(at.op, "error_message");
  return SizesContradict(message.empty() ? "shape_assertion: the condition does not hold"
                                         : Filled(message, absl::MakeConstSpan(at.operands).subspan(1)));
}

absl::Status Refiner::VisitCustomCall(Visited& at) {
  const std::string_view target = TextOfField(at.op, "call_target_name");
  if (target == "shape_assertion") return CheckAssertion(at);
  if (target == "stablehlo.dynamic_reduce_window") return VisitDynamicReduceWindow(at);
  if (target == "stablehlo.dynamic_rng_bit_generator") return VisitDynamicRngBitGenerator(at);
  if (target == "stablehlo.dynamic_top_k") return VisitDynamicTopK(at);
  if (target == "stablehlo.dynamic_approx_top_k") return VisitDynamicApproxTopK(at);
  const Ints indices = IntsOfField(at.op, "indices_of_shape_operands");
  if (!indices.empty()) return VisitShapeOperands(at, indices);
  std::vector<const Type*> types;
  for (const Value& result : at.op.results) types.push_back(result.type);
  const std::string older = target.starts_with("mhlo.")
                                ? fmt::format("chlo.{}", target == "mhlo.topk" ? "top_k" : target.substr(5))
                                : std::string();
  if (IsIdentity(target) && at.operands.size() == types.size()) {
    for (size_t i = 0; i < types.size(); ++i) types[i] = at.operands[i].type;
  } else if (FindSizeRow(older) != nullptr) {
    ASSAY_ASSIGN_OR_RETURN(types, ResultTypes(at.op, at.operands, older));
  }
  ASSAY_RETURN_IF_ERROR(CheckKnownSizes(at.op, types));
  return AppendCopy(at, types);
}

// Operands `indices` hold the sizes of the results, one after the other, and are no operands of what is
// called.
absl::Status Refiner::VisitShapeOperands(Visited& at, absl::Span<const int64_t> indices) {
  if (indices.size() != at.op.results.size())
    return InvalidProgram({}, fmt::format("indices_of_shape_operands: found {} of them for {}",
                                          indices.size(), Counted(at.op.results.size(), "result")));
  std::vector<const Type*> types;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < 0 || indices[i] >= std::ssize(at.operands))
      return InvalidProgram({}, fmt::format("indices_of_shape_operands[{}] is {}, there are {} operands", i,
                                            indices[i], at.operands.size()));
    const Known& sizes = at.operands[static_cast<size_t>(indices[i])].known;
    if (sizes == nullptr) {
      types.push_back(at.op.results[i].type);
      continue;
    }
    if (std::ranges::any_of(*sizes, [](int64_t size) { return size < 0; }))
      return SizesContradict(
          fmt::format("the sizes [{}] of result {} hold a negative one", fmt::join(*sizes, ","), i));
    ASSAY_ASSIGN_OR_RETURN(types.emplace_back(), Merged(at.op, i, *sizes));
  }
  ASSAY_RETURN_IF_ERROR(CheckKnownSizes(at.op, types));
  return AppendCallWithout(at, TextOfField(at.op, "call_target_name"), indices, {}, types);
}

absl::Status Refiner::AppendCallWithout(Visited& at, std::string_view target,
                                        absl::Span<const int64_t> dropped,
                                        absl::Span<const NamedAttribute> added,
                                        absl::Span<const Type* const> types) {
  const auto is_dropped = [&](size_t i) {
    return std::ranges::find(dropped, static_cast<int64_t>(i)) != dropped.end();
  };
  std::vector<Value*> operands;
  for (size_t i = 0; i < at.operands.size(); ++i) {
    if (!is_dropped(i)) operands.push_back(Use(at.operands[i], at.op.operands[i], at.place));
  }
  std::vector<std::string_view> without = {"indices_of_shape_operands", "call_target_name"};
  for (const NamedAttribute& attribute : added) without.push_back(attribute.name);
  std::vector<NamedAttribute> attributes = AttributesWithout(at.op, without);
  for (NamedAttribute& attribute : attributes) {
    if (attribute.name == "called_computations") {
      ASSAY_ASSIGN_OR_RETURN(attribute.value, WrittenSymbols(*attribute.value));
    } else if (attribute.name == "operand_layouts" &&
               attribute.value->elements.size() == at.operands.size()) {
      std::vector<const Attribute*> layouts;
      for (size_t i = 0; i < at.operands.size(); ++i) {
        if (!is_dropped(i)) layouts.push_back(attribute.value->elements[i]);
      }
      Attribute* const array = tree_.NewAttribute(Attribute::Kind::kArray);
      array->elements = tree_.arena().Copy(layouts);
      attribute.value = array;
    }
  }
  Attribute* const name = tree_.NewAttribute(Attribute::Kind::kString);
  name->text = target;
  attributes.push_back({"call_target_name", name});
  attributes.insert(attributes.end(), added.begin(), added.end());
  Append(at, at.op.name, operands, attributes, types);
  return absl::OkStatus();
}

// (inputs..., inits..., window_dimensions, window_strides, base_dilations, window_dilations, padding):
// reduce_window with the called function as its body.
absl::Status Refiner::VisitDynamicReduceWindow(Visited& at) {
  static constexpr std::string_view kNames[] = {"window_dimensions", "window_strides", "base_dilations",
                                                "window_dilations", "padding"};
  const size_t count = at.op.results.size();
  const Attribute* const called = at.op.Find("called_computations");
  const bool is_sound = at.operands.size() == 2 * count + std::size(kNames) && called != nullptr &&
                        called->elements.size() == 1;
  const auto function = is_sound ? functions_.find(called->elements[0]->text) : functions_.end();
  if (function == functions_.end() || function->second->regions.empty())
    return InvalidProgram(
        {},
        "stablehlo.dynamic_reduce_window: want inputs, initial values, five operands of the window, and one "
        "called computation");
  std::vector<NamedAttribute> attributes;
  bool all_known = true;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    const Known& known = at.operands[2 * count + i].known;
    all_known &= known != nullptr;
    if (known != nullptr) attributes.push_back(Integers(kNames[i], *known));
  }
  if (!all_known) {
    if (checking_) {
      for (size_t i = 0; i < count; ++i) Bind(at, i, {nullptr, at.op.results[i].type, nullptr});
      return absl::OkStatus();
    }
    return NotSupported({}, "stablehlo.dynamic_reduce_window: a window whose sizes are not known");
  }
  Operation form = at.op;
  form.name = "stablehlo.reduce_window";
  form.attributes = tree_.arena().Copy(attributes);
  const auto inputs = absl::MakeConstSpan(at.operands).first(2 * count);
  ASSAY_ASSIGN_OR_RETURN(const std::vector<const Type*> types, ResultTypes(form, inputs, form.name));
  ASSAY_RETURN_IF_ERROR(CheckKnownSizes(form, types));
  std::vector<Value*> operands;
  for (size_t i = 0; i < 2 * count; ++i) operands.push_back(Use(at.operands[i], at.op.operands[i], at.place));
  const Region& body = function->second->regions[0];
  std::vector<SizedValue> arguments, returned;
  for (const Value& argument : body.arguments) arguments.push_back({nullptr, argument.type, nullptr});
  std::vector<Region> regions(1);
  regions[0].depth = at.place.depth + 1;
  Values values;
  ASSAY_RETURN_IF_ERROR(WriteRegion(body, arguments, values, regions.data(), &returned));
  Operation* const last = regions[0].operations.back();
  last->name = "stablehlo.return";
  last->name_id = NewOperation(last->name, at.op)->name_id;
  Append(at, form.name, operands, attributes, types)->regions = tree_.arena().Copy(regions);
  return absl::OkStatus();
}

// (state, sizes): rng_bit_generator of these sizes.
absl::Status Refiner::VisitDynamicRngBitGenerator(Visited& at) {
  if (at.operands.size() != 2 || at.op.results.size() != 2)
    return InvalidProgram(
        {}, "stablehlo.dynamic_rng_bit_generator: want a state and sizes, a state and an array");
  std::vector<const Type*> types = {at.operands[0].type, at.op.results[1].type};
  if (const Known& sizes = at.operands[1].known; sizes != nullptr) {
    ASSAY_ASSIGN_OR_RETURN(types[1], Merged(at.op, 1, *sizes));
  }
  ASSAY_RETURN_IF_ERROR(CheckKnownSizes(at.op, types));
  std::vector<NamedAttribute> attributes;
  if (const Attribute* const algorithm = at.op.Find("rng_algorithm"); algorithm != nullptr)
    attributes.push_back({"rng_algorithm", algorithm});
  Value* const state = Use(at.operands[0], at.op.operands[0], at.place);
  Append(at, "stablehlo.rng_bit_generator", {state}, attributes, types);
  return absl::OkStatus();
}

// (x, k): chlo.top_k.
absl::Status Refiner::VisitDynamicTopK(Visited& at) {
  if (at.operands.size() != 2 || at.op.results.size() != 2)
    return InvalidProgram({}, "stablehlo.dynamic_top_k: want an array and k, values and indices");
  const Known& k = at.operands[1].known;
  if (k == nullptr || k->size() != 1) {
    if (!checking_) return NotSupported({}, "stablehlo.dynamic_top_k: a k that is not known");
    for (size_t i = 0; i < 2; ++i) Bind(at, i, {nullptr, at.op.results[i].type, nullptr});
    return absl::OkStatus();
  }
  const std::vector<NamedAttribute> attributes = {Integer("k", (*k)[0])};
  Operation form = at.op;
  form.name = "chlo.top_k";
  form.attributes = tree_.arena().Copy(attributes);
  ASSAY_ASSIGN_OR_RETURN(const std::vector<const Type*> types,
                         ResultTypes(form, absl::MakeConstSpan(at.operands).first(1), form.name));
  ASSAY_RETURN_IF_ERROR(CheckKnownSizes(at.op, types));
  Append(at, form.name, {Use(at.operands[0], at.op.operands[0], at.place)}, attributes, types);
  return absl::OkStatus();
}

// (inputs..., inits..., k, sizes...): ApproxTopK with top_k = k in its configuration.
absl::Status Refiner::VisitDynamicApproxTopK(Visited& at) {
  const size_t count = at.op.results.size();
  if (at.operands.size() < 2 * count + 1)
    return InvalidProgram({}, "stablehlo.dynamic_approx_top_k: want inputs, initial values and k");
  const Known& k = at.operands[2 * count].known;
  if (k == nullptr || k->size() != 1) {
    if (!checking_) return NotSupported({}, "stablehlo.dynamic_approx_top_k: a k that is not known");
    for (size_t i = 0; i < count; ++i) Bind(at, i, {nullptr, at.op.results[i].type, nullptr});
    return absl::OkStatus();
  }
  std::vector<const Type*> types;
  std::vector<int64_t> dropped;
  for (size_t i = 2 * count; i < at.operands.size(); ++i) dropped.push_back(static_cast<int64_t>(i));
  const Ints indices = IntsOfField(at.op, "indices_of_shape_operands");
  for (size_t i = 0; i < count; ++i) {
    types.push_back(at.op.results[i].type);
    if (i >= indices.size() || indices[i] < 0 || indices[i] >= std::ssize(at.operands)) continue;
    const Known& sizes = at.operands[static_cast<size_t>(indices[i])].known;
    if (sizes == nullptr) continue;
    ASSAY_ASSIGN_OR_RETURN(types[i], Merged(at.op, i, *sizes));
  }
  ASSAY_RETURN_IF_ERROR(CheckKnownSizes(at.op, types));
  std::vector<NamedAttribute> fields;
  const Attribute* const config = at.op.Find("mhlo.backend_config");
  if (config != nullptr) fields.assign(config->fields.begin(), config->fields.end());
  fields.push_back(Integer("top_k", (*k)[0]));
  Attribute* const whole = tree_.NewAttribute(Attribute::Kind::kDictionary);
  whole->fields = tree_.arena().Copy(fields);
  const NamedAttribute added[] = {{"mhlo.backend_config", whole}};
  return AppendCallWithout(at, "ApproxTopK", dropped, added, types);
}

}  // namespace assay::mlir
