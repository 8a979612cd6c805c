// __onednn$matmul and __onednn$convolution of XLA:CPU: store(operations behind it(contraction)), the
// operations in the order of the field fusions.ops, each of BIAS, BINARY_ADD and SUM with the next operand of
// the call. Facts: openxla/xla onednn_config.proto, onednn_contraction_rewriter, onednn_matmul_test.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/counted.h"
#include "custom/xla/xla_call.h"
#include "fmt/format.h"

namespace assay::custom {
namespace {

// A float whose bits XLA writes as an integer.
absl::StatusOr<double> FloatInBits(const CallConfig& config, std::string_view name, double absent) {
  if (!config.Has(name)) return absent;
  ASSAY_ASSIGN_OR_RETURN(const int64_t bits, config.Int(name, 0));
  if (bits > 0xFFFFFFFF || bits < -0x80000000LL)
    return InvalidProgram(
        {}, fmt::format("backend_config has {} = {}, wanted the 32 bits of a float", name, bits));
  const uint32_t word = static_cast<uint32_t>(bits);
  float value = 0;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

constexpr std::string_view kKinds[] = {"UNDEFINED", "BIAS",      "RELU",       "TANH",
                                       "GELU_ERF",  "GELU_TANH", "BINARY_ADD", "LINEAR"};

struct Fusions {
  std::vector<std::string> ops;
  double alpha = 1;
};

absl::StatusOr<Fusions> FusionsOf(const CallConfig& config) {
  ASSAY_ASSIGN_OR_RETURN(const CallConfig fusions, config.Message("fusions"));
  Fusions result;
  // Older modules have the list in fused_ops.
  ASSAY_ASSIGN_OR_RETURN(result.ops,
                         config.Has("fused_ops") ? config.Words("fused_ops") : fusions.Words("ops"));
  ASSAY_ASSIGN_OR_RETURN(result.alpha, FloatInBits(fusions, "alpha_typecast", 1));
  for (std::string& op : result.ops) {
    for (size_t i = 0; i < std::size(kKinds); ++i) {
      if (op == fmt::format("{}", i)) op = kKinds[i];
    }
  }
  return result;
}

// y + x, y's sizes those of x, or those of its last dimensions, ones stretched.
absl::StatusOr<WrittenArray> Added(CallWriter& write, const WrittenArray& x, WrittenArray y) {
  const Ints found = y.sizes;
  Ints kept, dimensions;
  for (int64_t d = 0; d < y.rank(); ++d) {
    const int64_t size = y.sizes[static_cast<size_t>(d)], to = x.rank() - y.rank() + d;
    if (size == 1 && (to < 0 || x.sizes[static_cast<size_t>(to)] != 1)) continue;
    if (to < 0 || x.sizes[static_cast<size_t>(to)] != size) {
      return InvalidProgram(
          {}, fmt::format("an operand of sizes {} is added to {}", Braced(found), Braced(x.sizes)));
    }
    kept.push_back(size);
    dimensions.push_back(to);
  }
  y = write.Convert(y, x.type);
  if (kept.size() != found.size()) y = write.Reshape(y, kept);
  if (kept.size() != x.sizes.size()) y = write.Broadcast(y, x.sizes, dimensions);
  return write.Apply("add", x, y);
}

absl::StatusOr<WrittenArray> Fused(const XlaCall& call, const Fusions& fusions, WrittenArray x,
                                   int64_t next) {
  for (const std::string& op : fusions.ops) {
    if (op == "BIAS" || op == "BINARY_ADD" || op == "SUM") {
      if (next >= call.num_operands())
        return InvalidProgram(
            {}, fmt::format("{} wants operand {}, the call has {}", op, next, call.num_operands()));
      ASSAY_ASSIGN_OR_RETURN(x, Added(call.write, x, call.write.operand(next++)));
    } else {
      ASSAY_ASSIGN_OR_RETURN(x, Activated(call.write, op, x, fusions.alpha));
    }
  }
  if (next != call.num_operands()) {
    return InvalidProgram(
        {}, fmt::format("fusions take {}, the call has {}", Counted(next, "operand"), call.num_operands()));
  }
  return x;
}

absl::Status CheckNotPrepacked(const CallConfig& config) {
  ASSAY_ASSIGN_OR_RETURN(const CallConfig optimization, config.Message("optimization_config"));
  for (const CallConfig* const place : {&config, &optimization}) {
    ASSAY_ASSIGN_OR_RETURN(const bool prepacked, place->Bool("weights_prepacked", false));
    if (prepacked) return NotSupported({}, "weights_prepacked: the order of the weights is oneDNN's own");
  }
  return absl::OkStatus();
}

// The matrices in the last two dimensions, batches before them; a batch of 1, or none, serves all.
absl::StatusOr<WrittenArray> Batched(CallWriter& write, const WrittenArray& x, const Ints& batch) {
  Ints sizes = batch, kept, dimensions;
  const int64_t rank = static_cast<int64_t>(batch.size()) + 2;
  sizes.push_back(x.sizes[static_cast<size_t>(x.rank() - 2)]);
  sizes.push_back(x.sizes.back());
  if (x.sizes == sizes) return x;
  for (int64_t d = 0; d < x.rank(); ++d) {
    const int64_t to = rank - x.rank() + d, size = x.sizes[static_cast<size_t>(d)];
    if (d < x.rank() - 2 && size == 1) continue;
    if (to < 0 || size != sizes[static_cast<size_t>(to)])
      return InvalidProgram(
          {}, fmt::format("a matrix of sizes {} for a result of batches {}", Braced(x.sizes), Braced(batch)));
    kept.push_back(size);
    dimensions.push_back(to);
  }
  return write.Broadcast(kept.size() == x.sizes.size() ? x : write.Reshape(x, kept), sizes, dimensions);
}

// Repeated fields of whole numbers. Older modules wrote each but the window's sizes one larger: that is seen
// from dimensions, which with batch and feature are 0, 1, …; two sets of numbers can't be both that.
struct Layouts {
  ConvDimensionNumbers dims;
  int64_t offset = 0;
};

// The numbers of the spatial dimensions, counted from 0.
std::optional<Ints> CountedFromZero(Ints spatial, int64_t offset) {
  for (int64_t& d : spatial) {
    if (d < offset) return std::nullopt;
    d -= offset;
  }
  return spatial;
}

absl::StatusOr<Layouts> LayoutsOf(const CallConfig& config) {
  Layouts layouts;
  ConvDimensionNumbers& dims = layouts.dims;
  struct Part {
    std::string_view name, inner, first, second;
    int64_t* numbers[2];
    Ints* spatial;
  };
  const Part parts[] = {{"input",
                         "data",
                         "batch_dim",
                         "feature_dim",
                         {&dims.input_batch, &dims.input_feature},
                         &dims.input_spatial},
                        {"kernel",
                         "filter",
                         "input_feature_dim",
                         "output_feature_dim",
                         {&dims.kernel_input_feature, &dims.kernel_output_feature},
                         &dims.kernel_spatial},
                        {"output",
                         "data",
                         "batch_dim",
                         "feature_dim",
                         {&dims.output_batch, &dims.output_feature},
                         &dims.output_spatial}};
  for (const int64_t offset : {0, 1}) {
    bool all = true;
    for (const Part& part : parts) {
      ASSAY_ASSIGN_OR_RETURN(const CallConfig outer, config.Message(part.name));
      ASSAY_ASSIGN_OR_RETURN(const CallConfig inner, outer.Message(part.inner));
      ASSAY_ASSIGN_OR_RETURN(*part.numbers[0], inner.Int(part.first, 0));
      ASSAY_ASSIGN_OR_RETURN(*part.numbers[1], inner.Int(part.second, 0));
      ASSAY_ASSIGN_OR_RETURN(Ints spatial, inner.List("spatial_dims"));
      const std::optional<Ints> counted = CountedFromZero(std::move(spatial), offset);
      all = all && counted && EachDimensionOnce(*part.numbers[0], *part.numbers[1], *counted);
      if (counted) *part.spatial = *counted;
    }
    layouts.offset = offset;
    if (all) return layouts;
  }
  return InvalidProgram(
      {}, "onednn_conv_config: batch, features and spatial dimensions are not each dimension once");
}

absl::StatusOr<ConvolutionText> OneDnnConvolutionOf(const XlaCall& call, const CallConfig& config) {
  ASSAY_ASSIGN_OR_RETURN(const Layouts layouts, LayoutsOf(config));
  ASSAY_ASSIGN_OR_RETURN(const CallConfig window, config.Message("window"));
  ConvolutionText text;
  text.dims = layouts.dims;
  ASSAY_ASSIGN_OR_RETURN(text.feature_groups, config.Int("feature_groups", 1));
  if (text.feature_groups == 0) text.feature_groups = 1;
  const size_t spatial = layouts.dims.input_spatial.size();
  if (text.dims.kernel_spatial.size() != spatial || text.dims.output_spatial.size() != spatial)
    return InvalidProgram(
        {}, "onednn_conv_config has other numbers of spatial dimensions for input, kernel and output");
  for (const Shape* const shape : {&call.operands[0], &call.operands[1], &call.result_shape(0)}) {
    if (shape->rank() != static_cast<int64_t>(spatial) + 2)
      return InvalidProgram({}, fmt::format("onednn_conv_config has {} spatial dimensions, and there is {}",
                                            spatial, shape->ToString()));
  }
  Ints lists[4];
  constexpr std::string_view kNames[] = {"pad_left", "pad_right", "strides", "window_dilations"};
  for (size_t k = 0; k < std::size(kNames); ++k) {
    ASSAY_ASSIGN_OR_RETURN(lists[k], window.List(kNames[k]));
    if (lists[k].size() != spatial) {
      return InvalidProgram({}, fmt::format("onednn_conv_config.window.{} has {}, wanted {}", kNames[k],
                                            Counted(lists[k].size(), "number"), spatial));
    }
    for (int64_t& n : lists[k]) {
      if (n < layouts.offset || n > (int64_t{1} << 40))
        return InvalidProgram({}, fmt::format("onednn_conv_config.window.{} has {}", kNames[k], n));
      n -= layouts.offset;
    }
  }
  for (size_t i = 0; i < spatial; ++i) {
    text.window.push_back({.size = call.operands[1].size(text.dims.kernel_spatial[i]),
                           .stride = lists[2][i],
                           .padding_low = lists[0][i],
                           .padding_high = lists[1][i],
                           .window_dilation = lists[3][i]});
  }
  return text;
}

}  // namespace

CallResults WriteOneDnnMatmul(const XlaCall& call) {
  ASSAY_RETURN_IF_ERROR(call.CheckOperands(2, 100));
  ASSAY_ASSIGN_OR_RETURN(const CallConfig config, call.config.Message("onednn_matmul_config"));
  ASSAY_RETURN_IF_ERROR(CheckNotPrepacked(config));
  ASSAY_ASSIGN_OR_RETURN(const Fusions fusions, FusionsOf(config));
  ASSAY_ASSIGN_OR_RETURN(const bool transpose_a, config.Bool("transpose_a", false));
  ASSAY_ASSIGN_OR_RETURN(const bool transpose_b, config.Bool("transpose_b", false));
  const Shape& d = call.result_shape(0);
  CallWriter& write = call.write;
  WrittenArray a = write.operand(0), b = write.operand(1);
  if (d.rank() < 2 || a.rank() < 2 || b.rank() < 2 || a.rank() > d.rank() || b.rank() > d.rank())
    return InvalidProgram(
        {}, fmt::format("matrices of ranks {} and {} that give {}", a.rank(), b.rank(), d.ToString()));
  Ints batch(d.sizes().begin(), d.sizes().end() - 2);
  ASSAY_ASSIGN_OR_RETURN(a, Batched(write, a, batch));
  ASSAY_ASSIGN_OR_RETURN(b, Batched(write, b, batch));
  const bool is_plain = fusions.ops.empty() && Bits(d.element_type()) > 8;
  const ElementType type = is_plain ? d.element_type() : ComputeType(a.type, d.element_type());
  if (a.type != b.type) {
    a = write.Convert(a, type);
    b = write.Convert(b, type);
  }
  Ints batches;
  const int64_t rank = d.rank();
  for (int64_t k = 0; k < rank - 2; ++k) batches.push_back(k);
  const WrittenArray product = write.Add(
      type, d.sizes(), "dot", {a, b},
      fmt::format("lhs_batch_dims={0}, lhs_contracting_dims={{{1}}}, rhs_batch_dims={0}, "
                  "rhs_contracting_dims={{{2}}}",
                  Braced(batches), transpose_a ? rank - 2 : rank - 1, transpose_b ? rank - 1 : rank - 2));
  ASSAY_ASSIGN_OR_RETURN(const WrittenArray x, Fused(call, fusions, product, 2));
  return std::vector{Stored(write, x, d.element_type())};
}

CallResults WriteOneDnnConvolution(const XlaCall& call) {
  ASSAY_RETURN_IF_ERROR(call.CheckOperands(2, 100));
  ASSAY_ASSIGN_OR_RETURN(const CallConfig config, call.config.Message("onednn_conv_config"));
  ASSAY_RETURN_IF_ERROR(CheckNotPrepacked(config));
  ASSAY_ASSIGN_OR_RETURN(const Fusions fusions, FusionsOf(config));
  ASSAY_ASSIGN_OR_RETURN(const ConvolutionText convolution, OneDnnConvolutionOf(call, config));
  const Shape& y = call.result_shape(0);
  CallWriter& write = call.write;
  const bool is_plain = fusions.ops.empty() && Bits(y.element_type()) > 8;
  const ElementType type = is_plain ? y.element_type() : ComputeType(write.operand(0).type, y.element_type());
  const WrittenArray product =
      Convolve(write, convolution, write.operand(0), write.operand(1), type, y.sizes());
  ASSAY_ASSIGN_OR_RETURN(const WrittenArray x, Fused(call, fusions, product, 2));
  return std::vector{Stored(write, x, y.element_type())};
}

}  // namespace assay::custom
