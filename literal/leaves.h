// The leaves of a value: what is no tuple in it (arrays, tokens, opaque handles), depth first, in the order
// of ForEachLeaf of a shape. Empty tuples have none.
#ifndef ASSAY_LITERAL_LEAVES_H_
#define ASSAY_LITERAL_LEAVES_H_

#include <memory>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "literal/literal.h"

namespace assay {

// Calls `fn` for each leaf with its path.
void ForEachLeaf(const Literal& value, absl::FunctionRef<void(const ShapeIndex&, const Literal&)> fn);

// The leaves as values of their own. Those of a tuple that has no other owner are moved out of it, and so
// stay unshared.
std::vector<Literal> LeavesOf(Literal value);
void AppendLeaves(Literal value, std::vector<Literal>& leaves);

// The value of the shape. Its leaves are moved from the front of `leaves`, which begins behind them
// afterwards.
Literal FromLeaves(const std::shared_ptr<const Shape>& shape, std::span<Literal>& leaves);

}  // namespace assay

#endif  // ASSAY_LITERAL_LEAVES_H_
