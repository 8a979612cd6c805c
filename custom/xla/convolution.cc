// __cudnn$convForward, __cudnn$convBiasActivationForward, __cudnn$convBackwardInput,
// __cudnn$convBackwardFilter:
//   y = store(activation(conv_result_scale conv(x, w) + side_input_scale side_input + bias))
// window and dim_labels of all of them are those of the forward convolution y = conv(x, w); the backward
// calls take (dy, w) and (x, dy). Facts: openxla/xla conv_rewriter, cudnn_fused_conv_rewriter,
// backend_configs.proto, dnn.proto.
#include <algorithm>
#include <optional>

#include "base/counted.h"
#include "custom/xla/xla_call.h"
#include "fmt/format.h"
#include "shape/index.h"

namespace assay::custom {
namespace {

using Wide = __int128;  // sums of sizes and paddings that a program may give any value
constexpr int64_t kMaxPadding = int64_t{1} << 40;

std::string LabelsText(int64_t rank, int64_t first, int64_t second, std::span<const int64_t> spatial,
                       std::string_view names) {
  std::string text(static_cast<size_t>(rank), '?');
  text[static_cast<size_t>(first)] = names[0];
  text[static_cast<size_t>(second)] = names[1];
  for (size_t i = 0; i < spatial.size(); ++i)
    text[static_cast<size_t>(spatial[i])] = static_cast<char>('0' + i);
  return text;
}

template <typename Part>
std::string WindowList(const Window& window, Part part) {
  std::string text;
  for (const WindowDimension& d : window) text += (text.empty() ? "" : "x") + part(d);
  return text;
}

std::string WindowText(const Window& window) {
  if (window.empty()) return "";
  const auto number = [](int64_t n) { return fmt::format("{}", n); };
  return fmt::format(
      "window={{size={} stride={} pad={} lhs_dilate={} rhs_dilate={} rhs_reversal={}}}, ",
      WindowList(window, [&](const WindowDimension& d) { return number(d.size); }),
      WindowList(window, [&](const WindowDimension& d) { return number(d.stride); }),
      WindowList(
          window,
          [](const WindowDimension& d) { return fmt::format("{}_{}", d.padding_low, d.padding_high); }),
      WindowList(window, [&](const WindowDimension& d) { return number(d.base_dilation); }),
      WindowList(window, [&](const WindowDimension& d) { return number(d.window_dilation); }),
      WindowList(window, [&](const WindowDimension& d) { return number(d.reversal ? 1 : 0); }));
}

// What the two backward convolutions share: a forward one without base dilation, with padding that is no
// joke.
absl::Status CheckForward(const ConvolutionText& forward, const Shape& x, const Shape& w, const Shape& y) {
  if (forward.batch_groups != 1) {
    return NotSupported(
        {}, fmt::format("a backward convolution with batch_group_count {}", forward.batch_groups));
  }
  for (size_t i = 0; i < forward.window.size(); ++i) {
    const WindowDimension& d = forward.window[i];
    if (d.base_dilation != 1)
      return NotSupported({}, fmt::format("a backward convolution with lhs_dilate {}", d.base_dilation));
    for (const int64_t n : {d.padding_low, d.padding_high, d.stride, d.window_dilation, d.size}) {
      if (n > kMaxPadding || n < -kMaxPadding)
        return InvalidProgram({}, fmt::format("window: {} is out of all proportion", n));
    }
    if (d.stride < 1 || d.window_dilation < 1)
      return InvalidProgram({}, fmt::format("window: stride {} and dilation {}, wanted 1 or more", d.stride,
                                            d.window_dilation));
    if (d.size != w.size(forward.dims.kernel_spatial[i])) {
      return InvalidProgram({}, fmt::format("window has size {}, the filter {}", d.size,
                                            w.size(forward.dims.kernel_spatial[i])));
    }
    const std::optional<int64_t> positions = WindowOutputSize(x.size(forward.dims.input_spatial[i]), d);
    if (!positions || *positions != y.size(forward.dims.output_spatial[i])) {
      return InvalidProgram({}, fmt::format("window: the forward convolution of size {} gives {}, here {}",
                                            x.size(forward.dims.input_spatial[i]), positions.value_or(-1),
                                            y.size(forward.dims.output_spatial[i])));
    }
  }
  return absl::OkStatus();
}

// (n - 1) d + 1, 0 of none.
Wide Dilated(int64_t n, int64_t d) { return n == 0 ? 0 : Wide{n - 1} * d + 1; }

// The dimensions of one array: batch and feature, or input and output feature; and the spatial ones.
struct ArrayDims {
  int64_t first, second;
  Ints spatial;
};
ArrayDims InputDims(const ConvDimensionNumbers& d) {
  return {d.input_batch, d.input_feature, d.input_spatial};
}
ArrayDims KernelDims(const ConvDimensionNumbers& d) {
  return {d.kernel_input_feature, d.kernel_output_feature, d.kernel_spatial};
}
ArrayDims OutputDims(const ConvDimensionNumbers& d) {
  return {d.output_batch, d.output_feature, d.output_spatial};
}

ArrayDims Exchanged(ArrayDims dims) { return {dims.second, dims.first, std::move(dims.spatial)}; }

ConvDimensionNumbers DimensionNumbers(const ArrayDims& input, const ArrayDims& kernel,
                                      const ArrayDims& output) {
  return {.input_batch = input.first,
          .input_feature = input.second,
          .input_spatial = input.spatial,
          .kernel_output_feature = kernel.second,
          .kernel_input_feature = kernel.first,
          .kernel_spatial = kernel.spatial,
          .output_batch = output.first,
          .output_feature = output.second,
          .output_spatial = output.spatial};
}

absl::StatusOr<int64_t> Padding(Wide padding) {
  if (padding > kMaxPadding || padding < -kMaxPadding)
    return InvalidProgram({}, "window: padding out of all proportion");
  return static_cast<int64_t>(padding);
}

// The filter [.., C/G, .., O, ..] of a forward convolution in G groups as [.., C, .., O/G, ..]: that of the
// convolution back, whose output features are C.
absl::StatusOr<WrittenArray> RegroupedFilter(CallWriter& write, const WrittenArray& w,
                                             const ConvolutionText& forward) {
  const int64_t groups = forward.feature_groups;
  const int64_t in = forward.dims.kernel_input_feature, out = forward.dims.kernel_output_feature;
  if (groups == 1) return w;
  if (groups < 1 || w.sizes[static_cast<size_t>(out)] % groups != 0) {
    return InvalidProgram({}, fmt::format("feature_group_count is {}, the filter has {} output features",
                                          groups, w.sizes[static_cast<size_t>(out)]));
  }
  if (w.sizes[static_cast<size_t>(in)] > kMaxPadding || groups > kMaxPadding / (int64_t{1} << 18))
    return NotSupported({},
                        fmt::format("a filter of sizes {} in {}", Braced(w.sizes), Counted(groups, "group")));
  // The groups as a dimension of their own, moved before the input features, and put together with them.
  Ints split, merged = w.sizes, order;
  for (int64_t d = 0; d < w.rank(); ++d) {
    if (d == out) split.push_back(groups);
    split.push_back(d == out ? w.sizes[static_cast<size_t>(d)] / groups : w.sizes[static_cast<size_t>(d)]);
  }
  for (int64_t d = 0; d < w.rank(); ++d) {
    if (d == in) order.push_back(out);
    order.push_back(d >= out ? d + 1 : d);
  }
  merged[static_cast<size_t>(in)] *= groups;
  merged[static_cast<size_t>(out)] /= groups;
  return write.Reshape(write.Transpose(write.Reshape(w, split), order), merged);
}

// dx = conv(dy dilated by the stride, w reversed), C and O of the filter exchanged.
absl::StatusOr<WrittenArray> BackwardInput(const XlaCall& call, const ConvolutionText& forward,
                                           ElementType type) {
  const Shape& dx = call.result_shape(0);
  const Shape &dy = call.operands[0], &w = call.operands[1];
  ASSAY_RETURN_IF_ERROR(CheckForward(forward, dx, w, dy));
  ConvolutionText back = forward;
  back.dims = DimensionNumbers(OutputDims(forward.dims), Exchanged(KernelDims(forward.dims)),
                               InputDims(forward.dims));
  for (size_t i = 0; i < back.window.size(); ++i) {
    WindowDimension& d = back.window[i];
    const Wide reach = d.size == 0 ? 0 : Wide{d.size - 1} * d.window_dilation;
    ASSAY_ASSIGN_OR_RETURN(const int64_t low, Padding(reach - d.padding_low));
    ASSAY_ASSIGN_OR_RETURN(const int64_t high,
                           Padding(dx.size(forward.dims.input_spatial[i]) + reach -
                                   Dilated(dy.size(forward.dims.output_spatial[i]), d.stride) - low));
    d = {.size = d.size,
         .padding_low = low,
         .padding_high = high,
         .base_dilation = d.stride,
         .window_dilation = d.window_dilation,
         .reversal = !d.reversal};
  }
  ASSAY_ASSIGN_OR_RETURN(const WrittenArray filter,
                         RegroupedFilter(call.write, call.write.operand(1), forward));
  return Convolve(call.write, back, call.write.operand(0), filter, type, dx.sizes());
}

// dw = conv(x, dy): features of x are its batch, the batch is what is summed over, stride and dilation change
// places.
absl::StatusOr<WrittenArray> BackwardFilter(const XlaCall& call, const ConvolutionText& forward,
                                            ElementType type) {
  const Shape& dw = call.result_shape(0);
  const Shape &x = call.operands[0], &dy = call.operands[1];
  ASSAY_RETURN_IF_ERROR(CheckForward(forward, x, dw, dy));
  ConvolutionText back = forward;
  back.dims = DimensionNumbers(Exchanged(InputDims(forward.dims)), OutputDims(forward.dims),
                               KernelDims(forward.dims));
  back.feature_groups = 1;
  back.batch_groups = forward.feature_groups;
  Ints reversed;
  for (size_t i = 0; i < back.window.size(); ++i) {
    WindowDimension& d = back.window[i];
    if (d.reversal) reversed.push_back(forward.dims.kernel_spatial[i]);
    const int64_t positions = dy.size(forward.dims.output_spatial[i]);
    ASSAY_ASSIGN_OR_RETURN(const int64_t high,
                           Padding(Dilated(d.size, d.window_dilation) - 1 + Dilated(positions, d.stride) -
                                   x.size(forward.dims.input_spatial[i]) - d.padding_low));
    d = {.size = positions,
         .stride = d.window_dilation,
         .padding_low = d.padding_low,
         .padding_high = high,
         .window_dilation = d.stride};
  }
  const WrittenArray result =
      Convolve(call.write, back, call.write.operand(0), call.write.operand(1), type, dw.sizes());
  return call.write.Reverse(result, reversed);
}

struct Fields {
  double result_scale = 1, side_scale = 0, leaky_alpha = 0;
  std::string activation;
};

absl::StatusOr<Fields> FieldsOf(const XlaCall& call) {
  ASSAY_ASSIGN_OR_RETURN(const CallConfig nested, call.config.Message("cudnn_conv_backend_config"));
  const CallConfig& config = nested.empty() ? call.config : nested;
  Fields fields;
  // Decision: xla-call-defaults
  ASSAY_ASSIGN_OR_RETURN(fields.result_scale, config.Number("conv_result_scale", 1));
  ASSAY_ASSIGN_OR_RETURN(fields.side_scale, config.Number("side_input_scale", 0));
  ASSAY_ASSIGN_OR_RETURN(fields.leaky_alpha, config.Number("leakyrelu_alpha", 0));
  ASSAY_ASSIGN_OR_RETURN(fields.activation, config.Word("activation_mode", "kNone"));
  constexpr std::string_view kNumbers[] = {"kNone", "kSigmoid",  "kRelu", "kRelu6",     "kReluX",
                                           "kTanh", "kBandPass", "kElu",  "kLeakyRelu", "kGeluExact"};
  for (size_t i = 0; i < std::size(kNumbers); ++i) {
    if (fields.activation == fmt::format("{}", i)) fields.activation = kNumbers[i];
  }
  ASSAY_ASSIGN_OR_RETURN(const bool reordered, config.Bool("reordered_int8_nchw_vect", false));
  if (reordered) return NotSupported({}, "reordered_int8_nchw_vect: the order of its filter is cuDNN's own");
  if (config.Has("serialized_graph") && call.target != "__cudnn$convForwardGraph") {
    return InvalidProgram({},
                          "backend_config has a serialized_graph, which __cudnn$convForwardGraph alone has");
  }
  return fields;
}

// + side_input_scale side_input + bias
absl::StatusOr<WrittenArray> WithSideInput(const XlaCall& call, const Fields& fields,
                                           const ConvolutionText& forward, WrittenArray x) {
  CallWriter& write = call.write;
  const bool has_side = call.num_operands() == 4;
  if (!has_side && fields.side_scale != 0) {
    return InvalidProgram(
        {}, fmt::format("side_input_scale is {}, and there is no fourth operand", fields.side_scale));
  }
  if (has_side) {
    if (write.operand(3).sizes != x.sizes) {
      return InvalidProgram({}, fmt::format("the side input has sizes {}, the result {}",
                                            Braced(write.operand(3).sizes), Braced(x.sizes)));
    }
    const WrittenArray side = write.Convert(write.operand(3), x.type);
    x = write.Apply("add", x,
                    fields.side_scale == 1 ? side : write.Apply("multiply", side, fields.side_scale));
  }
  const WrittenArray& bias = write.operand(2);
  const int64_t feature = forward.dims.output_feature;
  if (bias.rank() != 1 || bias.sizes[0] != x.sizes[static_cast<size_t>(feature)]) {
    return InvalidProgram({}, fmt::format("the bias has sizes {}, wanted one for each of {} output features",
                                          Braced(bias.sizes), x.sizes[static_cast<size_t>(feature)]));
  }
  return write.Apply("add", x, write.Broadcast(write.Convert(bias, x.type), x.sizes, {{feature}}));
}

}  // namespace

bool EachDimensionOnce(int64_t first, int64_t second, std::span<const int64_t> spatial) {
  const int64_t rank = static_cast<int64_t>(spatial.size()) + 2;
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  const auto take = [&](int64_t d) {
    if (d < 0 || d >= rank || seen[static_cast<size_t>(d)]) return false;
    seen[static_cast<size_t>(d)] = true;
    return true;
  };
  return take(first) && take(second) && std::all_of(spatial.begin(), spatial.end(), take);
}

absl::StatusOr<ConvolutionText> ConvolutionOf(const XlaCall& call) {
  const AttributeMap& attributes = call.instruction.attributes;
  const AttrValue* const labels = attributes.Find(Attr::kDimLabels);
  if (labels == nullptr) return InvalidProgram({}, "dim_labels are missing");
  ConvolutionText text{attributes.WindowOf(), *std::get<std::shared_ptr<const ConvDimensionNumbers>>(*labels),
                       attributes.Int(Attr::kFeatureGroupCount, 1),
                       attributes.Int(Attr::kBatchGroupCount, 1)};
  const ConvDimensionNumbers& d = text.dims;
  // Protos may have any numbers.
  if (d.kernel_spatial.size() != d.input_spatial.size() ||
      d.output_spatial.size() != d.input_spatial.size() ||
      !EachDimensionOnce(d.input_batch, d.input_feature, d.input_spatial) ||
      !EachDimensionOnce(d.kernel_input_feature, d.kernel_output_feature, d.kernel_spatial) ||
      !EachDimensionOnce(d.output_batch, d.output_feature, d.output_spatial)) {
    return InvalidProgram({}, "dim_labels do not name each dimension once");
  }
  const int64_t rank = static_cast<int64_t>(d.input_spatial.size()) + 2;
  for (const Shape* const shape : {&call.operands[0], &call.operands[1], &call.result_shape(0)}) {
    if (shape->rank() != rank) {
      return InvalidProgram(
          {}, fmt::format("dim_labels are for rank {}, and there is {}", rank, shape->ToString()));
    }
  }
  if (static_cast<int64_t>(text.window.size()) != rank - 2) {
    return InvalidProgram({}, fmt::format("window has {}, dim_labels have {}",
                                          Counted(text.window.size(), "dimension"), rank - 2));
  }
  return text;
}

WrittenArray Convolve(CallWriter& write, const ConvolutionText& convolution, const WrittenArray& lhs,
                      const WrittenArray& rhs, ElementType type, std::span<const int64_t> sizes) {
  const ConvDimensionNumbers& d = convolution.dims;
  const int64_t rank = lhs.rank();
  const bool widens = lhs.type != rhs.type || (IsIntegral(lhs.type) && !IsIntegral(type));
  return write.Add(
      type, sizes, "convolution",
      {widens ? write.Convert(lhs, type) : lhs, widens ? write.Convert(rhs, type) : rhs},
      fmt::format("{}dim_labels={}_{}->{}, feature_group_count={}, batch_group_count={}",
                  WindowText(convolution.window),
                  LabelsText(rank, d.input_batch, d.input_feature, d.input_spatial, "bf"),
                  LabelsText(rank, d.kernel_input_feature, d.kernel_output_feature, d.kernel_spatial, "io"),
                  LabelsText(rank, d.output_batch, d.output_feature, d.output_spatial, "bf"),
                  convolution.feature_groups, convolution.batch_groups));
}

CallResults WriteConvolution(const XlaCall& call) {
  const bool is_fused = call.target == "__cudnn$convBiasActivationForward";
  ASSAY_RETURN_IF_ERROR(call.CheckOperands(is_fused ? 3 : 2, is_fused ? 4 : 2));
  ASSAY_ASSIGN_OR_RETURN(const Fields fields, FieldsOf(call));
  if (!is_fused && (fields.activation != "kNone" || fields.side_scale != 0)) {
    return InvalidProgram({},
                          fmt::format("activation_mode {} and side_input_scale {} of a call that has neither",
                                      fields.activation, fields.side_scale));
  }
  ASSAY_ASSIGN_OR_RETURN(const ConvolutionText forward, ConvolutionOf(call));
  CallWriter& write = call.write;
  const ElementType y = call.result_shape(0).element_type();
  const bool is_plain = !is_fused && fields.result_scale == 1 && Bits(y) > 8;
  const ElementType type = is_plain ? y : ComputeType(write.operand(0).type, y);
  absl::StatusOr<WrittenArray> product =
      call.target == "__cudnn$convBackwardInput" ? BackwardInput(call, forward, type)
      : call.target == "__cudnn$convBackwardFilter"
          ? BackwardFilter(call, forward, type)
          : Convolve(write, forward, write.operand(0), write.operand(1), type, call.result_shape(0).sizes());
  if (!product.ok()) return product.status();
  WrittenArray x = *std::move(product);
  if (is_plain) return std::vector{x};
  if (fields.result_scale != 1) {
    if (IsIntegral(type)) return InvalidProgram({}, "conv_result_scale of a result of integers");
    x = write.Apply("multiply", x, fields.result_scale);
  }
  if (is_fused) {
    ASSAY_ASSIGN_OR_RETURN(x, WithSideInput(call, fields, forward, x));
    ASSAY_ASSIGN_OR_RETURN(x, Activated(write, fields.activation, x, fields.leaky_alpha));
  }
  return std::vector{Stored(write, x, y)};
}

}  // namespace assay::custom
