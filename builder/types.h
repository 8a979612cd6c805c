// Arguments of builder calls: enumerations and dimension numbers (docs/spec/operations.md and its family
// pages).
#ifndef ASSAY_BUILDER_TYPES_H_
#define ASSAY_BUILDER_TYPES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hlo/attribute.h"

namespace assay::builder {

enum class Padding : uint8_t { kSame, kValid };
enum class FftType : uint8_t { kFft, kIfft, kRfft, kIrfft };
enum class RandomAlgorithm : uint8_t { kDefault, kThreeFry, kPhilox };
enum class TriangularSolveTranspose : uint8_t { kNoTranspose, kTranspose, kAdjoint };
enum class ComparisonDirection : uint8_t { kEq, kNe, kGe, kGt, kLe, kLt };
enum class ComparisonType : uint8_t { kDefault, kFloat, kTotalOrder, kSigned, kUnsigned };
enum class FusionKind : uint8_t { kLoop, kInput, kOutput, kCustom };
enum class CustomCallSchedule : uint8_t { kNone, kLatest, kEarliest };
enum class CustomCallApiVersion : uint8_t { kOriginal, kStatusReturning, kStatusReturningUnified, kTypedFfi };

enum class Precision : uint8_t { kDefault, kHigh, kHighest };
struct PrecisionConfig {
  std::vector<Precision> operand_precision;  // one an operand, or none
  std::string algorithm;                     // "dot_bf16_bf16_f32", ...; empty: unset
};

struct GatherDimensionNumbers {
  Ints offset_dims;
  Ints collapsed_slice_dims;
  Ints start_index_map;
  int64_t index_vector_dim = 0;
  Ints operand_batching_dims;
  Ints start_indices_batching_dims;
};

struct ScatterDimensionNumbers {
  Ints update_window_dims;
  Ints inserted_window_dims;
  Ints scatter_dims_to_operand_dims;
  int64_t index_vector_dim = 0;
  Ints input_batching_dims;
  Ints scatter_indices_batching_dims;
};

struct DotDimensionNumbers {
  Ints lhs_contracting_dimensions;
  Ints rhs_contracting_dimensions;
  Ints lhs_batch_dimensions;
  Ints rhs_batch_dimensions;
};

struct RaggedDotDimensionNumbers {
  DotDimensionNumbers dot_dimension_numbers;
  Ints lhs_ragged_dimensions;
  Ints rhs_group_dimensions;
};

struct ReplicaGroup {
  Ints replica_ids;
};

struct ChannelHandle {
  enum class Type : uint8_t { kDeviceToDevice, kDeviceToHost, kHostToDevice };
  int64_t handle = 0;
  Type type = Type::kDeviceToDevice;
};

using PaddingPair = std::pair<int64_t, int64_t>;  // low, high

}  // namespace assay::builder

#endif  // ASSAY_BUILDER_TYPES_H_
