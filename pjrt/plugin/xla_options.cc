#include "pjrt/plugin/xla_options.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/numbers.h"
#include "fmt/format.h"

namespace assay::pjrt {
namespace {

enum class OptionType : uint8_t { kBool, kInt32, kInt64, kFloat, kString, kMessage, kEnum };

std::string_view TypeName(OptionType type) {
  switch (type) {
    case OptionType::kBool:
      return "bool";
    case OptionType::kInt32:
      return "int32";
    case OptionType::kInt64:
      return "int64";
    case OptionType::kFloat:
      return "float";
    case OptionType::kString:
      return "string";
    case OptionType::kMessage:
      return "message";
    case OptionType::kEnum:
      return "enum";
  }
  return "";
}

struct XlaOption {
  std::string_view name;
  OptionType type;
  bool is_list;
  std::string_view values;  // of an enum, with spaces between them
};

constexpr std::string_view kAutotuneBackend =
    "UNSPECIFIED_BACKEND CUDNN TRITON CUBLASLT HIPBLASLT MIOPEN CUSTOM_KERNEL BLOCK_LEVEL_EMITTER "
    "NATIVE_EMITTER LLVM_KERNEL_EMITTER CUBLASLT_FISSION CUSTOM_KERNEL_FISSION HIPBLASLT_FISSION";
constexpr std::string_view kAutotuneCacheMode =
    "AUTOTUNE_CACHE_MODE_UNSPECIFIED AUTOTUNE_CACHE_MODE_UPDATE AUTOTUNE_CACHE_MODE_READ";
constexpr std::string_view kCollectiveOpType =
    "NOOP ALLREDUCE ALLGATHER REDUCESCATTER COLLECTIVEBROADCAST ALLTOALL COLLECTIVEPERMUTE "
    "RAGGEDALLTOALL ALLCOLLECTIVES";
constexpr std::string_view kCollectivesMode =
    "COLLECTIVES_MODE_INVALID COLLECTIVES_PRIVATE_MEMORY COLLECTIVES_SYMMETRIC_MEMORY "
    "COLLECTIVES_PEER_MEMORY";
constexpr std::string_view kCommandBufferCmdType =
    "INVALID FUSION CUBLAS CUDNN COLLECTIVES CONDITIONAL WHILE CUSTOM_CALL CUBLASLT "
    "DYNAMIC_SLICE_FUSION CONVOLUTION";
constexpr std::string_view kCommandBufferSchedulingMode = "SERIALIZE CONCURRENT LHS CONCURRENT_REGIONS";
constexpr std::string_view kCommandBufferUpdateMode = "ALWAYS_UPDATE NEVER_UPDATE CAPTURE_CMD_NEVER_UPDATE";
constexpr std::string_view kCpuOptPreset =
    "CPU_OPT_PRESET_DEFAULT CPU_OPT_PRESET_FAST_RUNTIME CPU_OPT_PRESET_FAST_COMPILE";
constexpr std::string_view kCpuSchedulerType =
    "CPU_SCHEDULER_TYPE_DEFAULT CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED "
    "CPU_SCHEDULER_TYPE_CONCURRENCY_OPTIMIZED";
constexpr std::string_view kDetectionMode = "DETECTION_MODE_NONE DETECTION_MODE_WARNING DETECTION_MODE_FAIL";
constexpr std::string_view kDevicelessCubMode =
    "DEVICELESS_CUB_UNSET DEVICELESS_CUB_DISABLED DEVICELESS_CUB_WITH_FALLBACK "
    "DEVICELESS_CUB_NO_FALLBACK DEVICELESS_CUB_FORCE_ON_NO_FALLBACK";
constexpr std::string_view kLibNvJitLinkMode =
    "LIB_NV_JIT_LINK_MODE_AUTO LIB_NV_JIT_LINK_MODE_DISABLED LIB_NV_JIT_LINK_MODE_ENABLED";
constexpr std::string_view kLibraryFusionType =
    "LIBRARY_FUSION_TYPE_INVALID LIBRARY_FUSION_TYPE_DOT LIBRARY_FUSION_TYPE_ELTWISE "
    "LIBRARY_FUSION_TYPE_REDUCE LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT "
    "LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION";
constexpr std::string_view kPGLEStrictnessLevel =
    "PGLE_STRICTNESS_LEVEL_OFF PGLE_STRICTNESS_LEVEL_WARN PGLE_STRICTNESS_LEVEL_ERROR";
constexpr std::string_view kPartitioningAlgorithm =
    "PARTITIONING_ALGORITHM_NOOP PARTITIONING_ALGORITHM_EXP0 PARTITIONING_ALGORITHM_EXP1 "
    "PARTITIONING_ALGORITHM_EXP2";
constexpr std::string_view kPipelineParallelismOptLevel =
    "PIPELINE_PARALLELISM_OPT_LEVEL_DISABLE PIPELINE_PARALLELISM_OPT_LEVEL_ENABLE";
constexpr std::string_view kShapeChecks = "IGNORE RUNTIME COMPILE_TIME";
constexpr std::string_view kStepMarkerLocation =
    "STEP_MARK_AT_ENTRY STEP_MARK_AT_TOP_LEVEL_WHILE_LOOP STEP_MARK_AT_SECOND_LEVEL_WHILE_LOOP "
    "STEP_MARK_NONE";
constexpr std::string_view kWhileLoopUnrolling =
    "WHILE_LOOP_UNROLLING_NO_UNROLL WHILE_LOOP_UNROLLING_DOUBLE_BUFFER "
    "WHILE_LOOP_UNROLLING_FULL_UNROLL WHILE_LOOP_UNROLLING_AUTO_UNROLL "
    "WHILE_LOOP_UNROLLING_MANUAL_UNROLL";
constexpr std::string_view kXnnGraphFusionMode =
    "XNN_GRAPH_FUSION_MODE_DISABLED XNN_GRAPH_FUSION_MODE_GREEDY XNN_GRAPH_FUSION_MODE_GREEDY_SLINKY "
    "XNN_GRAPH_FUSION_MODE_BYPASS_COST_MODEL";

using enum OptionType;
// In order of their names.
constexpr XlaOption kOptions[] = {
#define OPTION(name, type) {#name, type, false, {}},
#define LIST(name, type) {#name, type, true, {}},
#define ENUM(name, values) {#name, kEnum, false, values},
#define ENUM_LIST(name, values) {#name, kEnum, true, values},
#include "pjrt/plugin/xla_options.def"
#undef OPTION
#undef LIST
#undef ENUM
#undef ENUM_LIST
};
static_assert(std::ranges::is_sorted(kOptions, {}, &XlaOption::name));

// Takes the text before the next separator, or all of it, off `rest`.
std::string_view TakeBefore(char separator, std::string_view& rest) {
  const std::string_view part = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  return part;
}

bool IsOf(const XlaOption& option, std::string_view text) {
  const absl::string_view digits(text.data(), text.size());
  int32_t narrow;
  int64_t wide;
  float number;
  switch (option.type) {
    case kBool:
      return text == "True" || text == "False";
    case kInt32:
      return absl::SimpleAtoi(digits, &narrow);
    case kInt64:
      return absl::SimpleAtoi(digits, &wide);
    case kFloat:
      return absl::SimpleAtof(digits, &number);
    case kString:
      return true;
    case kMessage:
      return false;
    case kEnum:
      for (std::string_view rest = option.values; !rest.empty();) {
        if (TakeBefore(' ', rest) == text) return true;
      }
      return absl::SimpleAtoi(digits, &narrow);
  }
  return false;
}

// Numbers are not converted, but for integers of an enum.
bool IsOf(const XlaOption& option, bool value) {
  static_cast<void>(value);
  return option.type == kBool;
}
bool IsOf(const XlaOption& option, int64_t value) {
  if (option.type == kInt32) return value == static_cast<int32_t>(value);
  return option.type == kInt64 || option.type == kEnum;
}
bool IsOf(const XlaOption& option, double value) {
  return option.type == kFloat &&
         (!(std::abs(value) > std::numeric_limits<float>::max()) || std::isinf(value));
}

absl::Status RefuseOption(const XlaOption& option, std::string_view value) {
  return InvalidProgram({}, fmt::format("While setting option {}, '{}' is not a valid {} value.", option.name,
                                        value.substr(0, 100), TypeName(option.type)));
}

}  // namespace

absl::Status CheckXlaOption(std::string_view name, const XlaOptionValue& value) {
  const auto* const option = std::ranges::lower_bound(kOptions, name, {}, &XlaOption::name);
  if (option == std::end(kOptions) || option->name != name)
    return InvalidProgram({}, fmt::format("No such compile option: '{}'", name.substr(0, 100)));
  if (const auto* const text = std::get_if<std::string>(&value); text != nullptr) {
    if (!option->is_list) return IsOf(*option, *text) ? absl::OkStatus() : RefuseOption(*option, *text);
    if (text->empty()) return absl::OkStatus();
    std::string_view rest = *text;
    do {
      const bool is_last = rest.find(',') == std::string_view::npos;
      const std::string_view part = TakeBefore(',', rest);
      if (!IsOf(*option, part)) return RefuseOption(*option, part);
      if (is_last) return absl::OkStatus();
    } while (true);
  }
  if (const auto* const flag = std::get_if<bool>(&value); flag != nullptr)
    return IsOf(*option, *flag) ? absl::OkStatus() : RefuseOption(*option, *flag ? "1" : "0");
  if (const auto* const number = std::get_if<int64_t>(&value); number != nullptr)
    return IsOf(*option, *number) ? absl::OkStatus() : RefuseOption(*option, fmt::format("{}", *number));
  const double number = std::get<double>(value);
  return IsOf(*option, number) ? absl::OkStatus() : RefuseOption(*option, fmt::format("{:g}", number));
}

}  // namespace assay::pjrt
