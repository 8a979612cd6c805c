// Enumerations of the messages and the words that attributes have for them (docs/spec/hlo-proto.md sections 3
// to 5).
#ifndef ASSAY_HLO_PROTO_WORDS_H_
#define ASSAY_HLO_PROTO_WORDS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/error.h"
#include "shape/element_type.h"

namespace assay::proto {

// PrimitiveType: array types, and the four that are none.
inline constexpr int32_t kTupleType = 13, kOpaqueType = 14, kTokenType = 17, kBufferType = 34;
std::optional<ElementType> ElementTypeFromNumber(int32_t number);
int32_t NumberOf(ElementType type);

// Words by number, from 0.
struct WordTable {
  std::string_view field;
  std::span<const std::string_view> words;
};
extern const WordTable kPrecisions, kDotAlgorithms, kRngAlgorithms, kApiVersions, kDistributions, kFftTypes,
    kPaddingTypes, kSchedules, kTransposes, kConvolutionKinds, kShardingTypes, kReductionOps;

absl::StatusOr<std::string_view> WordOf(const WordTable& table, int32_t number);
// The case of the word's letters does not matter.
absl::StatusOr<int32_t> NumberOf(const WordTable& table, std::string_view word);

// A field that holds a word: compare's, fusion's. Error: none of them.
absl::Status CheckWord(std::string_view field, std::span<const std::string_view> words,
                       std::string_view word);
extern const std::span<const std::string_view> kDirections, kComparisonTypes, kFusionKinds;

}  // namespace assay::proto

#endif  // ASSAY_HLO_PROTO_WORDS_H_
