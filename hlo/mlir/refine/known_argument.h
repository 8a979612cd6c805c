// What a program with free dimensions is refined for.
#ifndef ASSAY_HLO_MLIR_REFINE_KNOWN_ARGUMENT_H_
#define ASSAY_HLO_MLIR_REFINE_KNOWN_ARGUMENT_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "shape/shape.h"

namespace assay {

// An argument of the entry function: its shape, and its value where that is a size (an integer scalar with
// the attribute jax.global_constant, a dimension variable).
struct KnownArgument {
  Shape shape;
  std::optional<int64_t> value;
};

// The frontend attribute of a parameter whose value is a size: the name of the dimension variable.
inline constexpr std::string_view kDimensionVariable = "assay.dimension_variable";

}  // namespace assay

#endif  // ASSAY_HLO_MLIR_REFINE_KNOWN_ARGUMENT_H_
