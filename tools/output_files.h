// The .npz files of outputs that `assay diff` reads, and what it knows of their
// element types (docs/limits.md).
#ifndef ASSAY_TOOLS_OUTPUT_FILES_H_
#define ASSAY_TOOLS_OUTPUT_FILES_H_

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "literal/npz.h"
#include "shape/element_type.h"
#include "tools/commands.h"

namespace assay::cli {

using Arrays = std::map<std::string, NpyArray>;
using TypesByKey = std::map<std::string, ElementType>;

// The text of --types: "out0=bf16,out1=s4". Any error is of the usage.
absl::StatusOr<TypesByKey> ParseTypes(std::string_view text);
// Sets the types of the arrays that `types` names; a name without a device is every device's. BadInput where
// an array can't hold such bits, or is of another type by its own word.
// Names that are found are added to `found`.
absl::Status SetTypes(const TypesByKey& types, Arrays& arrays, TypesByKey& found);
// Arrays of raw bytes are of the types that their namesakes in `other` have. BadInput where an array of
// unsigned integers has a namesake that NumPy would store as raw bytes of that width: it may hold numbers,
// or its bits.
absl::Status TakeTypesFrom(const Arrays& other, Arrays& arrays);
// Reads a backend's outputs for a program, of the types that --types says: arrays of its outputs' names are
// of its types and sizes. Nothing, with `exit_code` set and the error shown,
// where they can't be what the program gives.
std::optional<Arrays> ReadActual(const DiffFlags& flags, const LoadedProgram& loaded, int& exit_code);
// --types names arrays that are not there, none of `files`': says so (exit 2).
bool NamesOthers(const TypesByKey& types, const TypesByKey& found, std::span<const Arrays> files);
// The value of an array of known type; BadInput says how to give it where it is not.
absl::StatusOr<Literal> DecodeOutput(const std::string& key, const NpyArray& array);

}  // namespace assay::cli

#endif  // ASSAY_TOOLS_OUTPUT_FILES_H_
