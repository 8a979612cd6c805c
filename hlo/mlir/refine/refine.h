// Refinement of StableHLO programs with free dimensions ('?'): with the shapes of the entry's arguments,
// sizes are computed and propagated through all operations and functions, and a program of static sizes is
// left, which is then imported like any other. docs/free_dimensions.md.
#ifndef ASSAY_HLO_MLIR_REFINE_REFINE_H_
#define ASSAY_HLO_MLIR_REFINE_REFINE_H_

#include <span>

#include "hlo/mlir/ir.h"
#include "hlo/mlir/refine/known_argument.h"
#include "hlo/module.h"

namespace assay::mlir {

// Whether the tree has a size '?' without a bound, or operations that compute sizes.
bool NeedsRefinement(const Tree& tree);

// Whether the sizes depend on the arguments: one of the entry's has a size '?', or is a dimension variable.
absl::StatusOr<bool> HasFreeArguments(const Tree& tree);

// Replaces the program by the refined one. Functions that are called with several shapes or sizes become
// several functions. Errors: InvalidProgram and NotSupported where the program can't be refined whatever the
// shapes; BadInput and EvalError where shapes do not fit it: they are not those of the arguments, sizes
// contradict each other, a shape assertion does not hold. `arguments` empty: the entry's own types have all
// sizes.
absl::Status RefineSizes(Tree& tree, std::span<const KnownArgument> arguments);

// What can be said without the arguments' shapes: InvalidProgram where sizes contradict each other whatever
// they are, NotSupported for operations that are not known.
absl::Status CheckSizes(Tree& tree);

// A module with the entry's parameters and result, as declared, and a custom call of kFreeProgram in place of
// what it does.
inline constexpr std::string_view kFreeProgram = "assay.free_dimensions";
absl::StatusOr<Module> SignatureOf(const Tree& tree);

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_REFINE_REFINE_H_
