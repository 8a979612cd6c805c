// __cublas$gemm, __cublas$lt$matmul, __cublas$lt$matmul$f8:
//   D = store(epilogue(alpha (scale_A scale_B) A B + beta C))
// Facts: openxla/xla gemm_rewriter, gemm_rewriter_test, thunk_emitter, backend_configs.proto; NVIDIA's
// document of cuBLAS, cublasLtMatmul and cublasLtEpilogue_t.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/counted.h"
#include "custom/xla/xla_call.h"
#include "fmt/format.h"

namespace assay::custom {
namespace {

struct Epilogue {
  bool bias = false, aux = false;
  std::string_view activation = "kNone";
};

struct EpilogueName {
  std::string_view name, number;
  Epilogue epilogue;
};
constexpr EpilogueName kEpilogues[] = {
    {"DEFAULT", "0", {}},
    {"BIAS", "1", {.bias = true}},
    {"RELU", "2", {.activation = "kRelu"}},
    {"BIAS_RELU", "3", {.bias = true, .activation = "kRelu"}},
    {"GELU", "4", {.activation = "GELU"}},
    {"GELU_AUX", "5", {.aux = true, .activation = "GELU"}},
    {"BIAS_GELU", "6", {.bias = true, .activation = "GELU"}},
    {"BIAS_GELU_AUX", "7", {.bias = true, .aux = true, .activation = "GELU"}},
};

absl::StatusOr<Epilogue> EpilogueOf(const CallConfig& config) {
  ASSAY_ASSIGN_OR_RETURN(const std::string word, config.Word("epilogue", "DEFAULT"));
  for (const EpilogueName& known : kEpilogues) {
    if (word == known.name || word == known.number) return known.epilogue;
  }
  return NotSupported({}, fmt::format("epilogue '{}'", word));
}

// What the call says, in the order of its operands: A, B, C if beta is not 0, the scales of $f8, bias.
struct Gemm {
  double alpha_real = 1, alpha_imag = 0, beta = 0;
  Epilogue epilogue;
  bool is_f8 = false, has_amax = false;
  Ints lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
  bool lhs_is_broadcast = false, rhs_is_broadcast = false;  // a stride of 0 instead of batch dimensions
  std::optional<WrittenArray> c, scale, d_scale, bias;

  bool IsPlain() const {
    return alpha_real == 1 && alpha_imag == 0 && beta == 0 && !scale && !d_scale && !has_amax &&
           !epilogue.bias && !epilogue.aux && epilogue.activation == "kNone";
  }
};

absl::Status CheckDims(std::string_view name, std::span<const int64_t> dims, const WrittenArray& operand) {
  for (const int64_t d : dims) {
    if (d < 0 || d >= operand.rank()) {
      return InvalidProgram({}, fmt::format("{} has {}, the operand has rank {}", name, d, operand.rank()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Gemm> GemmOf(const XlaCall& call) {
  // Older modules have the fields of GemmBackendConfig at the top.
  ASSAY_ASSIGN_OR_RETURN(const CallConfig nested, call.config.Message("gemm_backend_config"));
  const CallConfig& config = nested.empty() ? call.config : nested;
  Gemm gemm;
  // Decision: xla-call-defaults
  ASSAY_ASSIGN_OR_RETURN(gemm.alpha_real, config.Number("alpha_real", 1));
  ASSAY_ASSIGN_OR_RETURN(gemm.alpha_imag, config.Number("alpha_imag", 0));
  ASSAY_ASSIGN_OR_RETURN(gemm.beta, config.Number("beta", 0));
  ASSAY_ASSIGN_OR_RETURN(gemm.epilogue, EpilogueOf(config));
  ASSAY_ASSIGN_OR_RETURN(gemm.has_amax, config.Bool("damax_output", false));
  ASSAY_ASSIGN_OR_RETURN(const int64_t scale_mode, config.Int("scale_mode", 0));
  gemm.is_f8 = call.target == "__cublas$lt$matmul$f8";
  if (scale_mode > 1) {
    return NotSupported(
        {}, fmt::format("scale_mode {}: how block scales are arranged is cuBLAS's own", scale_mode));
  }
  ASSAY_ASSIGN_OR_RETURN(const CallConfig dims, config.Message("dot_dimension_numbers"));
  ASSAY_ASSIGN_OR_RETURN(gemm.lhs_contracting, dims.List("lhs_contracting_dimensions"));
  ASSAY_ASSIGN_OR_RETURN(gemm.rhs_contracting, dims.List("rhs_contracting_dimensions"));
  ASSAY_ASSIGN_OR_RETURN(gemm.lhs_batch, dims.List("lhs_batch_dimensions"));
  ASSAY_ASSIGN_OR_RETURN(gemm.rhs_batch, dims.List("rhs_batch_dimensions"));
  ASSAY_RETURN_IF_ERROR(CheckDims("lhs_contracting_dimensions", gemm.lhs_contracting, call.write.operand(0)));
  ASSAY_RETURN_IF_ERROR(CheckDims("lhs_batch_dimensions", gemm.lhs_batch, call.write.operand(0)));
  ASSAY_RETURN_IF_ERROR(CheckDims("rhs_contracting_dimensions", gemm.rhs_contracting, call.write.operand(1)));
  ASSAY_RETURN_IF_ERROR(CheckDims("rhs_batch_dimensions", gemm.rhs_batch, call.write.operand(1)));
  ASSAY_ASSIGN_OR_RETURN(const int64_t lhs_stride, config.Int("lhs_stride", -1));
  ASSAY_ASSIGN_OR_RETURN(const int64_t rhs_stride, config.Int("rhs_stride", -1));
  gemm.lhs_is_broadcast = lhs_stride == 0 && gemm.lhs_batch.empty() && !gemm.rhs_batch.empty();
  gemm.rhs_is_broadcast = rhs_stride == 0 && gemm.rhs_batch.empty() && !gemm.lhs_batch.empty();
  return gemm;
}

// The operands behind A and B. Of $f8 the scalars are scale_A and scale_B, then, where D has 8 bits, scale_D,
// and in older modules scale_C before it; the bias has a dimension.
absl::Status TakeOperands(const XlaCall& call, Gemm& gemm) {
  CallWriter& write = call.write;
  int64_t next = 2;
  const int64_t count = call.num_operands();
  if (gemm.beta != 0) {
    if (next >= count)
      return InvalidProgram({}, fmt::format("beta is {}, and there is no third operand, C", gemm.beta));
    gemm.c = write.operand(next++);
  }
  std::vector<WrittenArray> scales;
  for (; next < count; ++next) {
    const WrittenArray& operand = write.operand(next);
    if (gemm.is_f8 && operand.rank() == 0) {
      scales.push_back(write.Convert(operand, ElementType::kF32));
    } else if (gemm.epilogue.bias && !gemm.bias) {
      gemm.bias = operand;
    } else {
      return InvalidProgram(
          {}, fmt::format("operand {} is one too many for beta = {} and the epilogue", next, gemm.beta));
    }
  }
  if (gemm.epilogue.bias && !gemm.bias)
    return InvalidProgram({}, "the epilogue wants a bias, and there is none");
  if (scales.size() == 1 || scales.size() > 4)
    return InvalidProgram(
        {}, fmt::format("{}, wanted those of A and B, and of D", Counted(scales.size(), "scale")));
  if (scales.size() >= 2) gemm.scale = write.Apply("multiply", scales[0], scales[1]);
  // That of C acts on a C of 8 bits alone, which XLA never passes, nor has that of D a meaning for a wider D.
  const ElementType d = call.result_shape(0).element_type();
  if (scales.size() >= 3 && IsFloat(d) && Bits(d) <= 8) gemm.d_scale = scales.back();
  return absl::OkStatus();
}

// `x` with the batch dimensions of the other operand in front.
WrittenArray WithBatches(CallWriter& write, const WrittenArray& x, const WrittenArray& other,
                         std::span<const int64_t> batch) {
  Ints sizes, dimensions;
  for (const int64_t d : batch) sizes.push_back(other.sizes[static_cast<size_t>(d)]);
  for (int64_t d = 0; d < x.rank(); ++d) {
    dimensions.push_back(static_cast<int64_t>(sizes.size()));
    sizes.push_back(x.sizes[static_cast<size_t>(d)]);
  }
  return write.Broadcast(x, sizes, dimensions);
}

void AddBatches(size_t count, Ints& contracting, Ints& batch) {
  for (int64_t& d : contracting) d += static_cast<int64_t>(count);
  for (size_t b = 0; b < count; ++b) batch.push_back(static_cast<int64_t>(b));
}

WrittenArray Product(const XlaCall& call, const Gemm& gemm, ElementType type) {
  CallWriter& write = call.write;
  WrittenArray a = write.operand(0), b = write.operand(1);
  // Integers that give floats are summed as floats; types that differ are widened first, which is exact.
  const bool widens = a.type != b.type || (IsIntegral(a.type) && !IsIntegral(type));
  if (widens) {
    const ElementType wide = ComputeType(a.type, type);
    a = write.Convert(a, wide);
    b = write.Convert(b, wide);
  }
  Ints lhs_contracting = gemm.lhs_contracting, rhs_contracting = gemm.rhs_contracting;
  Ints lhs_batch = gemm.lhs_batch, rhs_batch = gemm.rhs_batch;
  if (gemm.lhs_is_broadcast) {
    a = WithBatches(write, a, b, rhs_batch);
    AddBatches(rhs_batch.size(), lhs_contracting, lhs_batch);
  }
  if (gemm.rhs_is_broadcast) {
    b = WithBatches(write, b, a, lhs_batch);
    AddBatches(lhs_batch.size(), rhs_contracting, rhs_batch);
  }
  return write.Add(
      type, call.result_shape(0).sizes(), "dot", {a, b},
      fmt::format("lhs_batch_dims={}, lhs_contracting_dims={}, rhs_batch_dims={}, "
                  "rhs_contracting_dims={}",
                  Braced(lhs_batch), Braced(lhs_contracting), Braced(rhs_batch), Braced(rhs_contracting)));
}

// The bias lies along the dimensions of D that are minor in memory, in their order there: XLA folds only such
// an addition. Decision: xla-call-bias
absl::StatusOr<WrittenArray> BroadcastBias(const XlaCall& call, const WrittenArray& bias, int64_t operand,
                                           ElementType type) {
  const Shape& d = call.result_shape(0);
  const Shape& shape = call.operands[static_cast<size_t>(operand)];
  if (bias.rank() > d.rank())
    return InvalidProgram({}, fmt::format("the bias has rank {}, the result {}", bias.rank(), d.rank()));
  Ints dimensions(static_cast<size_t>(bias.rank()));
  const auto minor = [](const Shape& of, int64_t i) {
    const DimVector& order = of.layout().minor_to_major;
    return static_cast<int64_t>(order.size()) == of.rank() ? order[static_cast<size_t>(i)]
                                                           : of.rank() - 1 - i;
  };
  for (int64_t i = 0; i < bias.rank(); ++i) {
    const int64_t from = minor(shape, i), to = minor(d, i);
    dimensions[static_cast<size_t>(from)] = to;
    if (shape.size(from) != d.size(to)) {
      return InvalidProgram({}, fmt::format("the bias has size {}, dimension {} of the result {}",
                                            shape.size(from), to, d.size(to)));
    }
  }
  for (size_t i = 1; i < dimensions.size(); ++i) {
    if (dimensions[i] <= dimensions[i - 1])
      return NotSupported({}, "a bias whose dimensions lie in another order than the result's");
  }
  return call.write.Broadcast(call.write.Convert(bias, type), d.sizes(), dimensions);
}

int64_t NumberOfOperand(const XlaCall& call, const WrittenArray& operand) {
  int64_t i = 0;
  while (call.write.operand(i).name != operand.name) ++i;
  return i;
}

// alpha A B + beta C, with the bias.
absl::StatusOr<WrittenArray> Linear(const XlaCall& call, const Gemm& gemm, ElementType type) {
  CallWriter& write = call.write;
  WrittenArray x = Product(call, gemm, type);
  if (gemm.scale) x = write.Apply("multiply", x, write.Broadcast(*gemm.scale, x.sizes, {}));
  if (gemm.alpha_real != 1 || gemm.alpha_imag != 0) {
    if (gemm.alpha_imag != 0 && !IsComplex(type))
      return InvalidProgram({},
                            fmt::format("alpha_imag is {}, the result is {}", gemm.alpha_imag, Name(type)));
    const WrittenArray alpha = write.Constant(type, gemm.alpha_real, gemm.alpha_imag);
    x = write.Apply("multiply", x, write.Broadcast(alpha, x.sizes, {}));
  }
  if (gemm.c) {
    if (gemm.c->sizes != x.sizes) {
      return InvalidProgram(
          {}, fmt::format("C has sizes {}, the product {}", Braced(gemm.c->sizes), Braced(x.sizes)));
    }
    const WrittenArray c = write.Convert(*gemm.c, type);
    x = write.Apply("add", x, gemm.beta == 1 ? c : write.Apply("multiply", c, gemm.beta));
  }
  if (!gemm.bias) return x;
  ASSAY_ASSIGN_OR_RETURN(const WrittenArray bias,
                         BroadcastBias(call, *gemm.bias, NumberOfOperand(call, *gemm.bias), type));
  return write.Apply("add", x, bias);
}

}  // namespace

CallResults WriteGemm(const XlaCall& call) {
  ASSAY_RETURN_IF_ERROR(call.CheckOperands(2, 8));
  CallWriter& write = call.write;
  const ElementType d_type = call.result_shape(0).element_type();
  ASSAY_ASSIGN_OR_RETURN(Gemm gemm, GemmOf(call));
  ASSAY_RETURN_IF_ERROR(TakeOperands(call, gemm));
  const ElementType a_type = write.operand(0).type;
  const bool saturates = Bits(d_type) <= 8;
  if (gemm.IsPlain() && !saturates) return std::vector{Product(call, gemm, d_type)};
  const ElementType type = ComputeType(a_type, d_type);
  if (IsIntegral(type)) {
    const auto is_whole = [](double x) { return std::abs(x) <= 2147483647 && x == std::floor(x); };
    if (!is_whole(gemm.alpha_real) || !is_whole(gemm.beta))
      return InvalidProgram(
          {}, fmt::format("alpha is {} and beta {}, wanted integers", gemm.alpha_real, gemm.beta));
  }
  ASSAY_ASSIGN_OR_RETURN(const WrittenArray linear, Linear(call, gemm, type));
  ASSAY_ASSIGN_OR_RETURN(const WrittenArray x, Activated(write, gemm.epilogue.activation, linear, 0));
  std::vector<WrittenArray> results = {Stored(
      write, gemm.d_scale ? write.Apply("multiply", x, write.Broadcast(*gemm.d_scale, x.sizes, {})) : x,
      d_type)};
  if (gemm.epilogue.aux) results.push_back(Stored(write, linear, d_type));
  if (gemm.has_amax) {
    Ints all;
    for (int64_t d = 0; d < x.rank(); ++d) all.push_back(d);
    results.push_back(write.Reduce(write.Apply("abs", x), "maximum", all));
  }
  return results;
}

}  // namespace assay::custom
