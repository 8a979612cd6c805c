#include "hlo/proto/words.h"

#include <algorithm>

#include "fmt/format.h"

namespace assay::proto {
namespace {

struct TypeNumber {
  ElementType type;
  int32_t number;
};
constexpr TypeNumber kTypeNumbers[] = {
    {ElementType::kPred, 1},        {ElementType::kS8, 2},
    {ElementType::kS16, 3},         {ElementType::kS32, 4},
    {ElementType::kS64, 5},         {ElementType::kU8, 6},
    {ElementType::kU16, 7},         {ElementType::kU32, 8},
    {ElementType::kU64, 9},         {ElementType::kF16, 10},
    {ElementType::kF32, 11},        {ElementType::kF64, 12},
    {ElementType::kC64, 15},        {ElementType::kBF16, 16},
    {ElementType::kC128, 18},       {ElementType::kF8E5M2, 19},
    {ElementType::kF8E4M3FN, 20},   {ElementType::kS4, 21},
    {ElementType::kU4, 22},         {ElementType::kF8E4M3B11FNUZ, 23},
    {ElementType::kF8E5M2FNUZ, 24}, {ElementType::kF8E4M3FNUZ, 25},
    {ElementType::kS2, 26},         {ElementType::kU2, 27},
    {ElementType::kF8E4M3, 28},     {ElementType::kF8E3M4, 29},
    {ElementType::kS1, 30},         {ElementType::kU1, 31},
    {ElementType::kF4E2M1FN, 32},   {ElementType::kF8E8M0FNU, 33},
    {ElementType::kF6E3M2FN, 35},   {ElementType::kF6E2M3FN, 36},
};
static_assert(std::size(kTypeNumbers) == kNumElementTypes);

constexpr std::string_view kPrecisionWords[] = {"default", "high", "highest"};
constexpr std::string_view kDotAlgorithmWords[] = {"unset",
                                                   "dot_any_f8_any_f8_f32",
                                                   "dot_any_f8_any_f8_f32_fast_accum",
                                                   "dot_f16_f16_f16",
                                                   "dot_f16_f16_f32",
                                                   "dot_bf16_bf16_bf16",
                                                   "dot_bf16_bf16_f32",
                                                   "dot_bf16_bf16_f32_x3",
                                                   "dot_bf16_bf16_f32_x6",
                                                   "dot_tf32_tf32_f32",
                                                   "dot_tf32_tf32_f32_x3",
                                                   "dot_f32_f32_f32",
                                                   "dot_f64_f64_f64",
                                                   "dot_bf16_bf16_f32_x9"};
constexpr std::string_view kRngAlgorithmWords[] = {"rng_default", "rng_three_fry", "rng_philox"};
constexpr std::string_view kApiVersionWords[] = {
    "API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"};
constexpr std::string_view kDistributionWords[] = {"rng_invalid", "rng_uniform", "rng_normal"};
constexpr std::string_view kFftTypeWords[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
constexpr std::string_view kPaddingTypeWords[] = {"PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"};
constexpr std::string_view kScheduleWords[] = {"SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"};
constexpr std::string_view kTransposeWords[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
constexpr std::string_view kConvolutionKindWords[] = {"unset", "fprop", "dgrad", "wgrad"};
constexpr std::string_view kShardingTypeWords[] = {"replicated", "maximal", "tuple",    "other",
                                                   "manual",     "unknown", "unreduced"};
constexpr std::string_view kReductionWords[] = {"sum", "max", "min"};
constexpr std::string_view kDirectionWords[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
constexpr std::string_view kComparisonTypeWords[] = {"FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
constexpr std::string_view kFusionKindWords[] = {"kLoop", "kInput", "kOutput", "kCustom"};

bool SameIgnoringCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

const WordTable kPrecisions{"operand_precision", kPrecisionWords};
const WordTable kDotAlgorithms{"algorithm", kDotAlgorithmWords};
const WordTable kRngAlgorithms{"rng_algorithm", kRngAlgorithmWords};
const WordTable kApiVersions{"custom_call_api_version", kApiVersionWords};
const WordTable kDistributions{"distribution", kDistributionWords};
const WordTable kFftTypes{"fft_type", kFftTypeWords};
const WordTable kPaddingTypes{"padding_type", kPaddingTypeWords};
const WordTable kSchedules{"custom_call_schedule", kScheduleWords};
const WordTable kTransposes{"transpose_a", kTransposeWords};
const WordTable kConvolutionKinds{"conv_kind", kConvolutionKindWords};
const WordTable kShardingTypes{"sharding type", kShardingTypeWords};
const WordTable kReductionOps{"reduction_op", kReductionWords};
const std::span<const std::string_view> kDirections = kDirectionWords;
const std::span<const std::string_view> kComparisonTypes = kComparisonTypeWords;
const std::span<const std::string_view> kFusionKinds = kFusionKindWords;

std::optional<ElementType> ElementTypeFromNumber(int32_t number) {
  static constexpr auto kByNumber = [] {
    std::array<int8_t, 37> types{};
    types.fill(-1);
    for (const TypeNumber& entry : kTypeNumbers) types[entry.number] = static_cast<int8_t>(entry.type);
    return types;
  }();
  if (number < 0 || number >= static_cast<int32_t>(kByNumber.size()) || kByNumber[number] < 0)
    return std::nullopt;
  return static_cast<ElementType>(kByNumber[number]);
}

int32_t NumberOf(ElementType type) {
  const auto* const entry = std::find_if(std::begin(kTypeNumbers), std::end(kTypeNumbers),
                                         [&](const TypeNumber& e) { return e.type == type; });
  ASSAY_CHECK(entry != std::end(kTypeNumbers));
  return entry->number;
}

absl::StatusOr<std::string_view> WordOf(const WordTable& table, int32_t number) {
  if (number >= 0 && number < static_cast<int32_t>(table.words.size())) return table.words[number];
  return InvalidProgram({},
                        fmt::format("{} is {}, want 0 to {}", table.field, number, table.words.size() - 1));
}

absl::StatusOr<int32_t> NumberOf(const WordTable& table, std::string_view word) {
  for (size_t i = 0; i < table.words.size(); ++i) {
    if (SameIgnoringCase(table.words[i], word)) return static_cast<int32_t>(i);
  }
  return CheckWord(table.field, table.words, word);
}

absl::Status CheckWord(std::string_view field, std::span<const std::string_view> words,
                       std::string_view word) {
  if (std::find(words.begin(), words.end(), word) != words.end()) return absl::OkStatus();
  return InvalidProgram(
      {}, fmt::format("{} is '{}', want one of: {}", field, word.substr(0, 40), fmt::join(words, ", ")));
}

}  // namespace assay::proto
