// The table of VHLO operations. Later variants of an operation only add attributes, so one import reads all.
#include "hlo/mlir/bytecode/vhlo.h"

#include <array>
#include <cstring>

#include "base/hash_map.h"

namespace assay::mlir {
namespace {

struct VhloRow {
  std::string_view names;       // one or more, with versions
  std::string_view attributes;  // separated by blanks
};

constexpr VhloRow kVhloRows[] = {
    {"abs_v1 bitcast_convert_v1 ceil_v1 convert_v1 count_leading_zeros_v1 floor_v1 imag_v1 is_finite_v1 "
     "negate_v1 "
     "not_v1 popcnt_v1 real_v1 reshape_v1 round_nearest_afz_v1 round_nearest_even_v1 sign_v1 "
     "uniform_dequantize_v1 "
     "uniform_quantize_v1 async_done_v1",
     ""},
    {"add_v1 and_v1 atan2_v1 complex_v1 divide_v1 maximum_v1 minimum_v1 multiply_v1 or_v1 power_v1 "
     "remainder_v1 "
     "shift_left_v1 shift_right_arithmetic_v1 shift_right_logical_v1 subtract_v1 xor_v1",
     ""},
    {"after_all_v1 clamp_v1 create_token_v1 partition_id_v1 replica_id_v1 select_v1 tuple_v1 "
     "optimization_barrier_v1 "
     "return_v1 dynamic_pad_v1 dynamic_reshape_v1 dynamic_update_slice_v1 real_dynamic_slice_v1 case_v1 "
     "if_v1 while_v1 "
     "async_start_v1",
     ""},
    {"cbrt_v1 cosine_v1 exponential_minus_one_v1 log_v1 log_plus_one_v1 logistic_v1 rsqrt_v1 sine_v1 sqrt_v1 "
     "tan_v1 "
     "tanh_v1 exponential_v1",
     ""},
    {"cbrt_v2 cosine_v2 exponential_minus_one_v2 log_v2 log_plus_one_v2 logistic_v2 rsqrt_v2 sine_v2 sqrt_v2 "
     "tan_v2 "
     "tanh_v2 exponential_v2",
     "result_accuracy"},
    {"all_gather_v1 all_gather_v2", "all_gather_dim channel_id replica_groups use_global_device_ids"},
    {"all_reduce_v1 all_reduce_v2", "channel_id replica_groups use_global_device_ids"},
    {"all_to_all_v1 all_to_all_v2", "channel_id concat_dimension replica_groups split_count split_dimension"},
    {"batch_norm_grad_v1 batch_norm_inference_v1 batch_norm_training_v1", "epsilon feature_index"},
    {"broadcast_in_dim_v1", "broadcast_dimensions"},
    {"broadcast_v1", "broadcast_sizes"},
    {"call_v1", "callee"},
    {"cholesky_v1", "lower"},
    {"collective_broadcast_v1", "channel_id replica_groups"},
    {"collective_broadcast_v2", "channel_id has_dynamic_root replica_groups"},
    {"collective_permute_v1", "channel_id source_target_pairs"},
    {"collective_reduce_v1", "channel_id has_dynamic_root replica_groups use_global_device_ids"},
    {"compare_v1", "compare_type comparison_direction"},
    {"composite_v1 composite_v2", "composite_attributes decomposition name version"},
    {"concatenate_v1", "dimension"},
    {"constant_v1", "value"},
    {"convolution_v1 dynamic_conv_v1",
     "batch_group_count feature_group_count input_batch_dimension input_feature_dimension "
     "input_spatial_dimensions "
     "kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation "
     "output_batch_dimension output_feature_dimension output_spatial_dimensions padding precision_config "
     "rhs_dilation "
     "window_reversal window_strides"},
    {"dynamic_conv_v2",
     "batch_group_count feature_group_count input_batch_dimension input_feature_dimension "
     "input_spatial_dimensions "
     "kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation "
     "output_batch_dimension output_feature_dimension output_spatial_dimensions precision_config "
     "rhs_dilation "
     "window_reversal window_strides"},
    {"cross-replica-sum_v1", "replica_groups"},
    {"custom_call_v1",
     "api_version backend_config call_target_name called_computations has_side_effect operand_layouts "
     "output_operand_aliases result_layouts"},
    {"custom_call_v2",
     "api_version backend_config call_target_name called_computations has_side_effect operand_layouts "
     "output_operand_aliases result_layouts result_tilings"},
    {"dot_v1", "precision_config"},
    {"dot_general_v1",
     "lhs_batching_dimensions lhs_contracting_dimensions precision_config rhs_batching_dimensions "
     "rhs_contracting_dimensions"},
    {"dot_general_v2",
     "accumulation_type allow_imprecise_accumulation lhs_batching_dimensions lhs_component_count "
     "lhs_contracting_dimensions lhs_precision_type num_primitive_operations precision_config "
     "rhs_batching_dimensions "
     "rhs_component_count rhs_contracting_dimensions rhs_precision_type"},
    {"dynamic_broadcast_in_dim_v1",
     "broadcast_dimensions known_expanding_dimensions known_nonexpanding_dimensions"},
    {"dynamic_gather_v1",
     "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims start_index_map"},
    {"dynamic_gather_v2",
     "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims "
     "start_index_map "
     "start_indices_batching_dims"},
    {"gather_v1",
     "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims slice_sizes start_index_map"},
    {"gather_v2",
     "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims slice_sizes "
     "start_index_map start_indices_batching_dims"},
    {"scatter_v1",
     "index_vector_dim indices_are_sorted inserted_window_dims scatter_dims_to_operand_dims unique_indices "
     "update_window_dims"},
    {"scatter_v2",
     "index_vector_dim indices_are_sorted input_batching_dims inserted_window_dims "
     "scatter_dims_to_operand_dims "
     "scatter_indices_batching_dims unique_indices update_window_dims"},
    {"dynamic_iota_v1 iota_v1", "iota_dimension"},
    {"dynamic_slice_v1", "slice_sizes"},
    {"einsum_v1 unary_einsum_v1", "einsum_config"},
    {"fft_v1", "fft_length fft_type"},
    {"func_v1", "arg_attrs function_type res_attrs sym_name sym_visibility"},
    {"get_dimension_size_v1 set_dimension_size_v1", "dimension"},
    {"get_tuple_element_v1", "index"},
    {"infeed_v1", "infeed_config layout"},
    {"map_v1 reverse_v1 reduce_v1", "dimensions"},
    {"outfeed_v1", "outfeed_config"},
    {"pad_v1", "edge_padding_high edge_padding_low interior_padding"},
    {"recv_v1 send_v1", "channel_id channel_type is_host_transfer"},
    {"recv_v2 send_v2", "channel_id channel_type is_host_transfer source_target_pairs"},
    {"reduce_precision_v1", "exponent_bits mantissa_bits"},
    {"reduce_scatter_v1", "channel_id replica_groups scatter_dimension use_global_device_ids"},
    {"reduce_window_v1", "base_dilations padding window_dilations window_dimensions window_strides"},
    {"rng_v1", "rng_distribution"},
    {"rng_bit_generator_v1", "rng_algorithm"},
    {"select_and_scatter_v1", "padding window_dimensions window_strides"},
    {"slice_v1", "limit_indices start_indices strides"},
    {"sort_v1", "dimension is_stable"},
    {"torch_index_select_v1", "batch_dims dim"},
    {"transpose_v1", "permutation"},
    {"triangular_solve_v1", "left_side lower transpose_a unit_diagonal"},
};

constexpr int32_t NumOperations() {
  int32_t count = 0;
  for (const VhloRow& row : kVhloRows) {
    count += 1;
    for (const char c : row.names) count += c == ' ' ? 1 : 0;
  }
  return count;
}
static_assert(NumOperations() <= kNumVhloNames);

std::vector<std::string_view> Split(std::string_view words) {
  std::vector<std::string_view> split;
  while (!words.empty()) {
    const size_t blank = words.find(' ');
    split.push_back(words.substr(0, blank));
    words = blank == std::string_view::npos ? std::string_view() : words.substr(blank + 1);
  }
  return split;
}

std::string StableHloNameOf(std::string_view name) {
  const std::string_view base = name.substr(0, name.rfind("_v"));
  if (base == "func" || base == "call") return "func." + std::string(base);
  return "stablehlo." + std::string(base);
}

// Looks up by the length, the first eight bytes and the last eight of a name, of which each has four or more:
// nearly every name has a place of its own, and the next ones are free.
class VhloTable {
 public:
  VhloTable() {
    HashMap<std::string, int32_t> numbers;
    for (const VhloRow& row : kVhloRows) {
      for (std::string_view known : Split(row.names)) {
        const std::string stablehlo = StableHloNameOf(known);
        const int32_t number = numbers.emplace(stablehlo, static_cast<int32_t>(numbers.size())).first->second;
        size_t place = PlaceOf(known);
        while (!entries_[place].name.empty()) place = (place + 1) % kSize;
        entries_[place] = {known, new VhloOp{stablehlo, number, Split(row.attributes)}};
      }
    }
  }

  const VhloOp* Find(std::string_view name) const {
    if (name.size() < 4) return nullptr;
    for (size_t place = PlaceOf(name); !entries_[place].name.empty(); place = (place + 1) % kSize) {
      if (entries_[place].name == name) return entries_[place].op;
    }
    return nullptr;
  }

 private:
  struct Entry {
    std::string_view name;
    const VhloOp* op = nullptr;
  };
  static constexpr int kBits = 10;
  static constexpr size_t kSize = size_t{1} << kBits;

  template <typename T>
  static uint64_t Ends(std::string_view name) {
    T first, last;
    std::memcpy(&first, name.data(), sizeof(T));
    std::memcpy(&last, name.data() + name.size() - sizeof(T), sizeof(T));
    return first * uint64_t{0x9e3779b97f4a7c15} ^ last;
  }
  static size_t PlaceOf(std::string_view name) {
    const uint64_t ends = name.size() >= 8 ? Ends<uint64_t>(name) : Ends<uint32_t>(name);
    return static_cast<size_t>((ends ^ name.size()) * uint64_t{0xbf58476d1ce4e5b9} >> (64 - kBits));
  }

  std::array<Entry, kSize> entries_;
};
static_assert(2 * NumOperations() <= 1024);

}  // namespace

const VhloOp* FindVhloOp(std::string_view name) {
  static const auto* const kTable = new VhloTable();
  return kTable->Find(name);
}

}  // namespace assay::mlir
