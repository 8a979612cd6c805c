// Softmax and layer normalisation as calls: __cudnn$norm, __onednn$softmax, __onednn$layernorm. Facts:
// openxla/xla cudnn_norm_rewriter and its test, backend_configs.proto, onednn_ops_rewriter,
// onednn_config.proto.
#include <algorithm>
#include <cstring>

#include "custom/xla/xla_call.h"
#include "fmt/format.h"

namespace assay::custom {
namespace {

Ints Except(int64_t rank, std::span<const int64_t> out) {
  Ints kept;
  for (int64_t d = 0; d < rank; ++d) {
    if (std::find(out.begin(), out.end(), d) == out.end()) kept.push_back(d);
  }
  return kept;
}

struct Normalized {
  WrittenArray y, mean, rsqrt;  // of the last two the dimensions that are kept
};

// (x - mean(x)) rsqrt(mean((x - mean(x))^2) + epsilon) over the dimensions `over`.
Normalized Normalize(CallWriter& write, const WrittenArray& x, const Ints& over, double epsilon) {
  const Ints kept = Except(x.rank(), over);
  double count = 1;
  for (const int64_t d : over) count *= static_cast<double>(x.sizes[static_cast<size_t>(d)]);
  const WrittenArray mean = write.Apply("divide", write.Reduce(x, "add", over), count);
  const WrittenArray centred = write.Apply("subtract", x, write.Broadcast(mean, x.sizes, kept));
  const WrittenArray squares = write.Reduce(write.Apply("multiply", centred, centred), "add", over);
  const WrittenArray rsqrt =
      write.Apply("rsqrt", write.Apply("add", write.Apply("divide", squares, count), epsilon));
  return {write.Apply("multiply", centred, write.Broadcast(rsqrt, x.sizes, kept)), mean, rsqrt};
}

// An array with one element for each of the dimensions `over` of x, sizes of 1 anywhere between them, as
// large as x.
absl::StatusOr<WrittenArray> Along(CallWriter& write, const WrittenArray& array, const WrittenArray& x,
                                   const Ints& over) {
  Ints wanted, found;
  for (const int64_t d : over) wanted.push_back(x.sizes[static_cast<size_t>(d)]);
  for (const int64_t size : array.sizes) {
    if (size != 1) found.push_back(size);
  }
  Ints without_ones;
  for (const int64_t size : wanted) {
    if (size != 1) without_ones.push_back(size);
  }
  if (found != without_ones) {
    return InvalidProgram(
        {}, fmt::format("scale or bias has sizes {}, wanted {}", Braced(array.sizes), Braced(wanted)));
  }
  const WrittenArray flat = array.sizes == wanted ? array : write.Reshape(array, wanted);
  return write.Broadcast(write.Convert(flat, x.type), x.sizes, over);
}

}  // namespace

// x[n, …] is normalised over all dimensions but the first; LAYER_FWD_TRAIN gives the mean and the factor of
// each n as well.
CallResults WriteCudnnNorm(const XlaCall& call) {
  ASSAY_ASSIGN_OR_RETURN(const CallConfig nested, call.config.Message("cudnn_norm_backend_config"));
  const CallConfig& config = nested.empty() ? call.config : nested;
  ASSAY_ASSIGN_OR_RETURN(const std::string kind, config.Word("kind", "LAYER_FWD_INFER"));
  ASSAY_ASSIGN_OR_RETURN(const double epsilon, config.Number("epsilon", 0));
  const bool trains = kind == "LAYER_FWD_TRAIN" || kind == "1";
  if (!trains && kind != "LAYER_FWD_INFER" && kind != "0")
    return NotSupported({}, fmt::format("kind '{}': the gradient's public description is too thin", kind));
  ASSAY_RETURN_IF_ERROR(call.CheckOperands(3, 3));
  CallWriter& write = call.write;
  const WrittenArray& operand = write.operand(0);
  const ElementType type = ComputeType(operand.type, call.result_shape(0).element_type());
  if (operand.rank() < 2) return InvalidProgram({}, fmt::format("the operand has rank {}", operand.rank()));
  const Ints over = Except(operand.rank(), {{0}});
  const Normalized norm = Normalize(write, write.Convert(operand, type), over, epsilon);
  ASSAY_ASSIGN_OR_RETURN(const WrittenArray scale, Along(write, write.operand(1), norm.y, over));
  ASSAY_ASSIGN_OR_RETURN(const WrittenArray bias, Along(write, write.operand(2), norm.y, over));
  const WrittenArray y = write.Apply("add", write.Apply("multiply", norm.y, scale), bias);
  std::vector<WrittenArray> results = {write.Convert(y, call.result_shape(0).element_type())};
  if (!trains) return results;
  Ints ones(static_cast<size_t>(operand.rank()), 1);
  ones[0] = operand.sizes[0];
  results.push_back(write.Reshape(norm.mean, ones));
  results.push_back(write.Reshape(norm.rsqrt, ones));
  return results;
}

// exp(x - max) / sum(exp(x - max)) along an axis, by default the last.
CallResults WriteOneDnnSoftmax(const XlaCall& call) {
  ASSAY_RETURN_IF_ERROR(call.CheckOperands(1, 1));
  ASSAY_ASSIGN_OR_RETURN(const CallConfig config, call.config.Message("onednn_softmax_config"));
  CallWriter& write = call.write;
  const WrittenArray& operand = write.operand(0);
  ASSAY_ASSIGN_OR_RETURN(const int64_t axis, config.Int("softmax_axis", operand.rank() - 1));
  if (axis < 0 || axis >= operand.rank())
    return InvalidProgram({},
                          fmt::format("softmax_axis is {}, the operand has rank {}", axis, operand.rank()));
  const ElementType result = call.result_shape(0).element_type();
  const WrittenArray x = write.Convert(operand, ComputeType(operand.type, result));
  const Ints over = {axis}, kept = Except(x.rank(), over);
  const WrittenArray most = write.Broadcast(write.Reduce(x, "maximum", over), x.sizes, kept);
  const WrittenArray e = write.Apply("exponential", write.Apply("subtract", x, most));
  const WrittenArray sum = write.Broadcast(write.Reduce(e, "add", over), x.sizes, kept);
  return std::vector{write.Convert(write.Apply("divide", e, sum), result)};
}

// Over the last dimension; scale and shift as the field rescale says.
CallResults WriteOneDnnLayerNorm(const XlaCall& call) {
  ASSAY_ASSIGN_OR_RETURN(const CallConfig config, call.config.Message("onednn_layer_norm_config"));
  ASSAY_ASSIGN_OR_RETURN(const std::string rescale, config.Word("rescale", "UNDEFINED"));
  const bool scales = rescale == "SCALE" || rescale == "SCALE_AND_SHIFT" || rescale == "1" || rescale == "3";
  const bool shifts = rescale == "SHIFT" || rescale == "SCALE_AND_SHIFT" || rescale == "2" || rescale == "3";
  if (!scales && !shifts && rescale != "UNDEFINED" && rescale != "0")
    return InvalidProgram({}, fmt::format("backend_config has rescale = {}", rescale));
  ASSAY_RETURN_IF_ERROR(call.CheckOperands(1 + scales + shifts, 1 + scales + shifts));
  ASSAY_ASSIGN_OR_RETURN(const int64_t bits, config.Int("epsilon_typecast", 0));
  if (bits < -0x80000000LL || bits > 0xFFFFFFFF)
    return InvalidProgram({}, fmt::format("backend_config has epsilon_typecast = {}, wanted 32 bits", bits));
  const uint32_t word = static_cast<uint32_t>(bits);
  float epsilon = 0;
  std::memcpy(&epsilon, &word, sizeof(epsilon));
  CallWriter& write = call.write;
  const WrittenArray& operand = write.operand(0);
  if (operand.rank() < 1) return InvalidProgram({}, "the operand is a scalar");
  const ElementType result = call.result_shape(0).element_type();
  const Ints over = {operand.rank() - 1};
  WrittenArray y =
      Normalize(write, write.Convert(operand, ComputeType(operand.type, result)), over, epsilon).y;
  int64_t next = 1;
  if (scales) {
    ASSAY_ASSIGN_OR_RETURN(const WrittenArray scale, Along(write, write.operand(next++), y, over));
    y = write.Apply("multiply", y, scale);
  }
  if (shifts) {
    ASSAY_ASSIGN_OR_RETURN(const WrittenArray shift, Along(write, write.operand(next++), y, over));
    y = write.Apply("add", y, shift);
  }
  return std::vector{write.Convert(y, result)};
}

}  // namespace assay::custom
