// What a conforming backend may do: the tables that bounds are derived by (docs/bounds.md).
#ifndef ASSAY_CHECK_PROFILE_H_
#define ASSAY_CHECK_PROFILE_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "hlo/opcode.h"
#include "shape/element_type.h"

namespace assay {

struct Profile {
  struct Ulps {
    std::optional<Opcode> op;         // none: any
    std::optional<ElementType> type;  // none: any
    double ulps;
  };
  // A line on where the figures come from. Those of an inherited profile do not count.
  struct Origin {
    std::string key, text;  // "device", "NVIDIA H200"
  };
  std::string name;
  std::vector<Origin> origin;         // in the order of the file
  std::vector<std::string> variants;  // profiles of the same backend with other settings; not inherited
  std::vector<Ulps> ulps;             // the last line that fits an instruction holds
  std::vector<Ulps> underflows;       // of these, results below the smallest normal number may be zero
  // The format that sums of a type are added up in, that those of dots and convolutions are, and the
  // significant bits (with the leading one) that dots
  // keep of an operand; 0: all.
  std::array<ElementType, kNumElementTypes> accumulators, dot_accumulators;
  std::array<int, kNumElementTypes> dot_input_bits = {};
  // Of dots and convolutions of operands of a type on tensor cores: the fraction bits that are kept of a sum
  // of products, counted from the largest one, and cut behind; 0: sums are rounded as those of other
  // instructions.
  std::array<int, kNumElementTypes> tensor_core_bits = {};
  // Types whose results may stay in a wider format until they leave the program, and those whose subnormal
  // numbers may be taken for zero, as operands and as results.
  TypeSet keeps_precision, flushes;
  bool contracts = false;  // products that are added may stay unrounded
  // All instructions that read a dot or convolution read the same numbers. Others may be computed anew for
  // each reader, in fusions that round them otherwise.
  bool stores_dots = false;
  // All instructions of an iteration read the same numbers of a loop's state. A compiler that unrolls loops
  // before it fuses may compute an element of the state once for each reader, with other roundings.
  bool stores_loop_state = false;

  Profile();
  double UlpsOf(Opcode op, ElementType type) const;
  bool Underflows(Opcode op, ElementType type) const;
  // Whether subnormal numbers of the type, or subnormal parts of its complex numbers, may be taken for zero.
  bool Flushes(ElementType type) const;
};

// The names of the profiles that Assay brings along.
std::vector<std::string_view> ProfileNames();
// One of these by name, or else the file at that path. Errors are BadInput, with the file's line.
absl::StatusOr<Profile> LoadProfile(const std::string& name_or_path);
// Reads the text of a profile: see docs/bounds.md.
absl::StatusOr<Profile> ParseProfile(std::string_view name, std::string_view text);
// A text that ParseProfile reads as this profile: what it inherits is written out.
std::string TextOf(const Profile& profile);

}  // namespace assay

#endif  // ASSAY_CHECK_PROFILE_H_
