#include "custom/resolved_call.h"

#include <algorithm>
#include <optional>

#include "base/counted.h"
#include "custom/attr_config.h"
#include "custom/spec_reader.h"
#include "custom/value_text.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace assay::custom {
namespace {

// "a: f32, b: N * s32"
std::string SpecsOf(const std::vector<OpArgument>& arguments) {
  std::vector<std::string_view> specs;
  specs.reserve(arguments.size());
  for (const OpArgument& argument : arguments) specs.push_back(argument.spec);
  return fmt::format("{}", fmt::join(specs, ", "));
}

class CallBinder {
 public:
  CallBinder(const OpInterface& op, const Instruction& call, std::span<const Shape* const> operands,
             const Shape* result)
      : op_(op), call_(call), operands_(operands), result_(result), known_(op.attrs.size()) {}

  absl::StatusOr<ResolvedCall> Bind() {
    ASSAY_RETURN_IF_ERROR(ReadAttrs());
    ASSAY_RETURN_IF_ERROR(SizeInputs());
    for (size_t i = 0; i < op_.inputs.size(); ++i)
      ASSAY_RETURN_IF_ERROR(BindInput(op_.inputs[i], bound_.inputs[i]));
    ASSAY_RETURN_IF_ERROR(CompleteAttrs());
    ASSAY_RETURN_IF_ERROR(BindOutputs());
    return std::move(bound_);
  }

 private:
  // What is known of an attribute, and who says it.
  struct Known {
    std::optional<OpAttrValue> value;
    std::string by;
  };

  absl::Status ReadAttrs();
  absl::Status SizeInputs();
  absl::Status BindInput(const OpArgument& input, ArgumentRange range);
  absl::Status CompleteAttrs();
  absl::Status BindOutputs();
  absl::Status BindOutput(const OpArgument& output, ArgumentRange range, std::span<const Shape> results);

  // Somebody says an attribute's value: it becomes known, or is compared with what others have said.
  absl::Status Say(std::string_view attr, OpAttrValue value, std::string by);
  absl::Status CheckKind(const OpArgument& argument, const Shape& shape, bool may_be_aliased,
                         const std::string& who) const;
  bool IsAliased(int64_t operand) const;
  // The number of values of an argument; none: its attribute is not known yet.
  std::optional<int64_t> LengthOf(const OpArgument& argument) const;
  size_t IndexOf(std::string_view attr) const {
    return static_cast<size_t>(op_.FindAttr(attr) - op_.attrs.data());
  }
  absl::Status Error(std::string_view message) const {
    return InvalidProgram({}, fmt::format("op {}: {}", op_.name, message));
  }
  absl::Status AttrError(const OpAttrDef& attr, std::string_view message) const {
    return InvalidProgram({}, fmt::format("attr '{}' of op {}: {}", attr.name, op_.name, message));
  }

  const OpInterface& op_;
  const Instruction& call_;
  const std::span<const Shape* const> operands_;
  const Shape* const result_;
  std::vector<Known> known_;  // by the interface's order of attributes
  ResolvedCall bound_;
};

constexpr int64_t kMaxResults = 1 << 20;

// ATTR-2, ATTR-3, ATTR-4.
absl::Status CallBinder::ReadAttrs() {
  const absl::StatusOr<ConfigDictionary> config = ReadCallConfig(call_);
  if (!config.ok()) return WithPrefix(config.status(), fmt::format("op {}", op_.name));
  for (const auto& [name, entry] : *config) {
    const OpAttrDef* const attr = op_.FindAttr(name);
    if (attr == nullptr) {
      std::vector<std::string> specs;
      specs.reserve(op_.attrs.size());
      for (const OpAttrDef& a : op_.attrs) specs.push_back(fmt::format("'{}'", a.spec));
      return InvalidProgram(
          {}, fmt::format("attr {} of op {}: the call gives {}, but the op has no such attr, wanted {}",
                          ShownText(name), op_.name, ShownText(ConfigText({{name, entry}})),
                          specs.empty() ? "none" : fmt::format("one of {}", fmt::join(specs, ", "))));
    }
    absl::StatusOr<OpAttrValue> value = ValueOfConfig(*attr, entry);
    if (!value.ok()) {
      return AttrError(*attr,
                       fmt::format("{}: {}", std::string(value.status().message()), ShownText(attr->spec)));
    }
    ASSAY_RETURN_IF_ERROR(CheckValue(op_, *attr, *value));
    known_[IndexOf(name)] = {*std::move(value), "the call's attributes"};
  }
  return absl::OkStatus();
}

int64_t LengthBy(const OpAttrValue& value) {
  if (const auto* count = std::get_if<int64_t>(&value.value)) return *count;
  return static_cast<int64_t>(std::get<std::vector<OpAttrValue>>(value.value).size());
}

std::optional<int64_t> CallBinder::LengthOf(const OpArgument& argument) const {
  if (argument.length_attr().empty()) return 1;
  const std::optional<OpAttrValue>& value = known_[IndexOf(argument.length_attr())].value;
  return value ? std::optional(LengthBy(*value)) : std::nullopt;
}

// CALL-1: how many operands each input takes.
absl::Status CallBinder::SizeInputs() {
  std::vector<const OpAttrDef*> open;
  for (const OpArgument& input : op_.inputs) {
    const OpAttrDef* const attr = op_.FindAttr(input.length_attr());
    if (!LengthOf(input) && std::ranges::count(open, attr) == 0) open.push_back(attr);
  }
  // All but one of the open lengths are those of the defaults; the one that is left has none where one has
  // none.
  std::stable_partition(open.begin(), open.end(), [](const OpAttrDef* attr) { return !attr->default_value; });
  std::vector<Known> said = known_;
  for (size_t i = 1; i < open.size(); ++i) {
    if (!open[i]->default_value) {
      return Error(fmt::format("{} operands don't say both attr '{}' and attr '{}', wanted one of them given",
                               operands_.size(), open[0]->spec, open[i]->spec));
    }
    known_[IndexOf(open[i]->name)].value = open[i]->default_value;
  }
  const auto total = static_cast<int64_t>(operands_.size());
  int64_t sized = 0, shares = 0;  // operands of known inputs; inputs that share the open length
  for (const OpArgument& input : op_.inputs) {
    const std::optional<int64_t> length = LengthOf(input);
    shares += length ? 0 : 1;
    sized += std::min(length.value_or(0), total + 1);  // no overflow, and still too many
  }
  const int64_t left = total - sized;
  if (left < 0 || (shares == 0 ? left != 0 : left % shares != 0)) {
    return Error(fmt::format("found {}, wanted {}{} for '{}'", Counted(total, "operand"),
                             shares == 0   ? ""
                             : shares == 1 ? "at least "
                                           : fmt::format("a multiple of {} above ", shares),
                             sized, SpecsOf(op_.inputs)));
  }
  int64_t first = 0;
  for (const OpArgument& input : op_.inputs) {
    const int64_t count = LengthOf(input).value_or(shares == 0 ? 0 : left / shares);
    bound_.inputs.push_back({first, count});
    first += count;
  }
  known_ = std::move(said);
  return absl::OkStatus();
}

absl::Status CallBinder::Say(std::string_view attr, OpAttrValue value, std::string by) {
  Known& known = known_[IndexOf(attr)];
  if (!known.value) {
    known = {std::move(value), std::move(by)};
    return CheckValue(op_, *op_.FindAttr(attr), *known.value);
  }
  if (ValueText(*known.value) == ValueText(value)) return absl::OkStatus();
  return AttrError(*op_.FindAttr(attr),
                   fmt::format("{} by {}, but {} by {}, wanted one value for {}", ShownValue(*known.value),
                               known.by, ShownValue(value), by, ShownText(op_.FindAttr(attr)->spec)));
}

bool CallBinder::IsAliased(int64_t operand) const {
  const AttrValue* const value = call_.attributes.Find(Attr::kOutputToOperandAliasing);
  const Aliasing* const aliasing = value == nullptr ? nullptr : std::get_if<Aliasing>(value);
  return aliasing != nullptr && std::ranges::count(*aliasing, operand, &OutputOperandAlias::operand) > 0;
}

// What stands in an argument's place is of its kind. The element type is left to the caller.
absl::Status CallBinder::CheckKind(const OpArgument& argument, const Shape& shape, bool may_be_aliased,
                                   const std::string& who) const {
  std::string_view wanted;
  if (argument.kind == OpArgument::Kind::kToken) {
    if (!shape.IsToken()) wanted = "a token";
  } else if (argument.kind == OpArgument::Kind::kOpaque) {
    if (!shape.IsOpaque()) wanted = "an opaque handle";
  } else if (argument.is_reference) {
    const bool is_good = shape.IsBuffer() || (shape.IsArray() && may_be_aliased);
    if (!is_good) wanted = "a buffer, or an array that a result aliases (output_to_operand_aliasing)";
  } else if (!shape.IsArray()) {
    wanted = "an array";
  }
  if (wanted.empty()) return absl::OkStatus();
  return Error(fmt::format("{} is {}, wanted {} for '{}'", who, shape.ToString(), wanted, argument.spec));
}

ElementType TypeOfArray(const Shape& shape) {
  return shape.IsBuffer() ? shape.element(0).element_type() : shape.element_type();
}

absl::Status CallBinder::BindInput(const OpArgument& input, ArgumentRange range) {
  if (!input.count_attr.empty()) {
    ASSAY_RETURN_IF_ERROR(
        Say(input.count_attr, {range.count}, fmt::format("the operands of '{}'", input.spec)));
  }
  std::vector<OpAttrValue> types;
  for (int64_t i = range.first; i < range.first + range.count; ++i) {
    const Shape& shape = *operands_[i];
    const std::string who = fmt::format("operand {}", i);
    ASSAY_RETURN_IF_ERROR(CheckKind(input, shape, input.is_reference && IsAliased(i), who));
    if (input.kind != OpArgument::Kind::kArray) continue;
    const ElementType type = TypeOfArray(shape);
    if (input.type && type != *input.type) {
      return Error(fmt::format("{} is {}, wanted {} for '{}'", who, shape.ToString(),
                               assay::Name(*input.type), input.spec));
    }
    if (input.has_type_list) {
      types.push_back({type});
    } else if (!input.type_attr.empty()) {
      ASSAY_RETURN_IF_ERROR(Say(input.type_attr, {type}, fmt::format("{} ('{}')", who, input.spec)));
    }
  }
  if (!input.has_type_list) return absl::OkStatus();
  return Say(input.type_attr, {std::move(types)}, fmt::format("the operands of '{}'", input.spec));
}

// ATTR-1, and what is left out is the default.
absl::Status CallBinder::CompleteAttrs() {
  for (size_t i = 0; i < op_.attrs.size(); ++i) {
    const OpAttrDef& attr = op_.attrs[i];
    const std::optional<OpAttrValue>& value = known_[i].value ? known_[i].value : attr.default_value;
    if (!value) {
      return InvalidProgram({}, fmt::format("attr '{}' of op {} missing, wanted {}", attr.name, op_.name,
                                            ShownText(attr.spec)));
    }
    bound_.attrs.emplace_back(attr.name, *value);
  }
  return absl::OkStatus();
}

// CALL-1: a tuple's elements are the results in order; a single result is bare, or a tuple of one.
absl::Status CallBinder::BindOutputs() {
  std::span<const Shape> results;
  if (result_ != nullptr) results = result_->IsTuple() ? result_->elements() : std::span(result_, 1);
  const auto total = static_cast<int64_t>(results.size());
  int64_t first = 0;
  for (const OpArgument& output : op_.outputs) {
    const OpAttrValue* const length = FindValue(bound_.attrs, output.length_attr());
    const int64_t count = length == nullptr ? 1 : LengthBy(*length);
    if (result_ != nullptr && count > total - first) {
      return Error(fmt::format("the result is {}, which has {}, wanted {} for '{}' after {}",
                               result_->ToString(), Counted(total, "value"), count, output.spec, first));
    }
    // Of a call whose result is not declared yet nothing else bounds an attribute that counts results.
    if (count > kMaxResults - first) {
      return Error(fmt::format("{} for '{}' after {}, wanted at most {} in all", Counted(count, "result"),
                               output.spec, first, kMaxResults));
    }
    bound_.outputs.push_back({first, count});
    ASSAY_RETURN_IF_ERROR(BindOutput(output, bound_.outputs.back(), results));
    first += count;
  }
  if (result_ == nullptr || first == total) return absl::OkStatus();
  return Error(fmt::format("the result is {}, which has {}, wanted {} for '{}'", result_->ToString(),
                           Counted(total, "value"), first, SpecsOf(op_.outputs)));
}

absl::Status CallBinder::BindOutput(const OpArgument& output, ArgumentRange range,
                                    std::span<const Shape> results) {
  const OpAttrValue* const attr = FindValue(bound_.attrs, output.type_attr);
  for (int64_t i = 0; i < range.count; ++i) {
    const Shape* const shape = results.empty() ? nullptr : &results[range.first + i];
    const std::string who = fmt::format("result {}", range.first + i);
    if (shape != nullptr) ASSAY_RETURN_IF_ERROR(CheckKind(output, *shape, /*may_be_aliased=*/true, who));
    if (output.kind != OpArgument::Kind::kArray) {
      bound_.output_types.push_back(ElementType::kPred);
      continue;
    }
    const OpAttrValue* value = attr;
    if (output.has_type_list) value = &std::get<std::vector<OpAttrValue>>(attr->value)[i];
    const ElementType type = output.type ? *output.type : std::get<ElementType>(value->value);
    if (shape != nullptr && TypeOfArray(*shape) != type) {
      return Error(fmt::format("{} is {}, wanted {} for '{}'", who, shape->ToString(), assay::Name(type),
                               output.spec));
    }
    bound_.output_types.push_back(type);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ResolvedCall> BindCall(const OpInterface& op, const Instruction& call,
                                      std::span<const Shape* const> operands, const Shape* result) {
  return CallBinder(op, call, operands, result).Bind();
}

}  // namespace assay::custom
