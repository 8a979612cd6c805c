// Operations that take shapes, paddings or indices as operands, with these known: the operations that have
// them as attributes.
#include <algorithm>
#include <array>

#include "fmt/format.h"
#include "hlo/mlir/refine/refiner.h"

namespace assay::mlir {
namespace {

// The operands behind the first `kept` become attributes, in this order; "" is dropped, since the result's
// type says it.
struct StaticForm {
  std::string_view dynamic, name;
  size_t kept = 1;
  std::array<std::string_view, 3> attributes;
  std::array<std::string_view, 2> dropped;  // attributes of the dynamic form alone
};

constexpr StaticForm kForms[] = {
    {"stablehlo.dynamic_iota", "stablehlo.iota", 0, {""}, {}},
    {"stablehlo.dynamic_reshape", "stablehlo.reshape", 1, {""}, {}},
    {"chlo.dynamic_reshape", "stablehlo.reshape", 1, {""}, {}},
    {"stablehlo.dynamic_broadcast_in_dim",
     "stablehlo.broadcast_in_dim",
     1,
     {""},
     {"known_expanding_dimensions", "known_nonexpanding_dimensions"}},
    {"stablehlo.real_dynamic_slice", "stablehlo.slice", 1, {"start_indices", "limit_indices", "strides"}, {}},
    {"stablehlo.dynamic_pad",
     "stablehlo.pad",
     2,
     {"edge_padding_low", "edge_padding_high", "interior_padding"},
     {}},
    {"stablehlo.dynamic_gather", "stablehlo.gather", 2, {"slice_sizes"}, {}},
    {"stablehlo.dynamic_conv", "stablehlo.convolution", 2, {"padding"}, {"padding"}},
};

}  // namespace

bool Refiner::AppendStaticForm(Visited& at, absl::Span<const Type* const> results) {
  for (const StaticForm& form : kForms) {
    if (at.op.name != form.dynamic) continue;
    if (at.operands.size() < form.kept) return false;
    std::vector<NamedAttribute> attributes = AttributesWithout(at.op, form.dropped);
    for (size_t i = form.kept; i < at.operands.size(); ++i) {
      const size_t position = i - form.kept;
      if (position >= form.attributes.size()) return false;
      const std::string_view name = form.attributes[position];
      if (name.empty()) continue;
      if (at.operands[i].known == nullptr) return false;
      // Lists of several lengths: the importer says what is wrong, in the operation's own words.
      if (at.operands[i].known->size() != at.operands[form.kept].known->size()) return false;
      attributes.push_back(Integers(name, *at.operands[i].known));
    }
    std::vector<Value*> operands;
    for (size_t i = 0; i < form.kept; ++i)
      operands.push_back(Use(at.operands[i], at.op.operands[i], at.place));
    Append(at, form.name, operands, attributes, results);
    return true;
  }
  return false;
}

// limits = starts + sizes, with sizes that are known, and strides of 1: dynamic_slice(x, starts...), which
// JAX has clamped.
absl::StatusOr<bool> Refiner::AppendDynamicSlice(Visited& at) {
  if (at.operands.size() != 4 || at.op.results.size() != 1 || at.operands[1].known != nullptr) return false;
  const Value *const starts = at.op.operands[1], *const limits = at.op.operands[2];
  const Known& strides = at.operands[3].known;
  const Type& starts_type = *at.operands[1].type;
  if (limits->owner == nullptr || limits->owner->name != "stablehlo.add" || strides == nullptr ||
      !std::ranges::all_of(*strides, [](int64_t stride) { return stride == 1; }) ||
      starts_type.kind != Type::Kind::kTensor || starts_type.sizes.size() != 1 || !IsStatic(starts_type))
    return false;
  const std::span<Value* const> terms = limits->owner->operands;
  if (terms.size() != 2 || (terms[0] != starts && terms[1] != starts)) return false;
  const auto other = at.values.find(terms[terms[0] == starts ? 1 : 0]);
  if (other == at.values.end() || other->second.known == nullptr) return false;
  const Sizes sizes = *other->second.known;
  const Type& from = *at.operands[0].type;
  if (from.kind != Type::Kind::kTensor || from.sizes.size() != sizes.size() ||
      static_cast<int64_t>(sizes.size()) != starts_type.sizes[0])
    return false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] >= 0 && (from.sizes[d] == kDynamicSize || sizes[d] <= from.sizes[d])) continue;
    return SizesContradict(
        fmt::format("{}: a slice of size {} in dimension {} of {}", at.op.name, sizes[d], d, ToString(from)));
  }
  ASSAY_ASSIGN_OR_RETURN(const Type* const result, Merged(at.op, 0, sizes));
  const Type* const results[] = {result};
  ASSAY_RETURN_IF_ERROR(CheckKnownSizes(at.op, results));
  std::vector<Value*> operands = {Use(at.operands[0], at.op.operands[0], at.place)};
  Value* const list = Use(at.operands[1], starts, at.place);
  const auto append = [&](std::string_view name, Value* operand, absl::Span<const NamedAttribute> attributes,
                          const Sizes& of_result) {
    Operation* const operation = NewOperation(name, at.op);
    operation->operands = tree_.arena().Copy(std::vector<Value*>{operand});
    operation->attributes = tree_.arena().Copy(attributes.data(), attributes.size());
    operation->results = tree_.NewValues(1, operation, at.place.depth);
    operation->results[0].type = WithSizes(*Static(starts_type), of_result);
    at.place.operations.push_back(operation);
    return operation->results.data();
  };
  for (size_t d = 0; d < sizes.size(); ++d) {
    const auto index = static_cast<int64_t>(d);
    const NamedAttribute attributes[] = {Integers("start_indices", {index}),
                                         Integers("limit_indices", {index + 1}), Integers("strides", {1})};
    operands.push_back(append("stablehlo.reshape", append("stablehlo.slice", list, attributes, {1}), {}, {}));
  }
  Append(at, "stablehlo.dynamic_slice", operands, {Integers("slice_sizes", sizes)}, results);
  return true;
}

}  // namespace assay::mlir
