// Operations that take shapes, paddings or indices as operands, with these known: the operations that have them as attributes.
#include "hlo/mlir/refine/refiner.h"

namespace assay::mlir {
namespace {

// The operands behind the first `kept` become attributes, in this order; "" is dropped, since the result's type says it.
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

}  // namespace assay::mlir
