// The custom calls by which XLA's compilers reach libraries, each written out as the ops that it stands for
// (docs/optimized_modules.md). Each function gives the arrays of the call's results, without a workspace
// behind them. Errors: InvalidProgram where the call contradicts itself, NotSupported where it asks for what
// has no public meaning.
#ifndef ASSAY_CUSTOM_XLA_XLA_CALL_H_
#define ASSAY_CUSTOM_XLA_XLA_CALL_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "custom/xla/call_config.h"
#include "custom/xla/call_writer.h"

namespace assay::custom {

struct XlaCall {
  const Instruction& instruction;
  std::string_view target;
  std::span<const Shape> operands;  // static arrays
  const Shape& result;              // a static array, or a tuple of some
  const CallConfig& config;
  CallWriter& write;

  int64_t num_operands() const { return static_cast<int64_t>(operands.size()); }
  int64_t num_results() const {
    return result.IsTuple() ? static_cast<int64_t>(result.elements().size()) : 1;
  }
  const Shape& result_shape(int64_t i) const { return result.IsTuple() ? result.element(i) : result; }
  // CustomCall-C4: so many operands.
  absl::Status CheckOperands(int64_t least, int64_t most) const;
};

using CallResults = absl::StatusOr<std::vector<WrittenArray>>;

CallResults WriteGemm(const XlaCall& call);              // gemm.cc: __cublas$gemm, $lt$matmul, $lt$matmul$f8
CallResults WriteConvolution(const XlaCall& call);       // convolution.cc: __cudnn$conv…
CallResults WriteConvolutionGraph(const XlaCall& call);  // convolution_graph.cc: __cudnn$convForwardGraph
CallResults WriteCudnnNorm(const XlaCall& call);         // normalization.cc: __cudnn$norm
CallResults WriteOneDnnMatmul(const XlaCall& call);      // onednn.cc
CallResults WriteOneDnnConvolution(const XlaCall& call);
CallResults WriteOneDnnSoftmax(const XlaCall& call);
CallResults WriteOneDnnLayerNorm(const XlaCall& call);
CallResults WriteRadixSort(const XlaCall& call);        // other_calls.cc: __cub$DeviceRadixSort…
CallResults WriteTopK(const XlaCall& call);             // __gpu$TopK
CallResults WriteTriangularSolve(const XlaCall& call);  // __cublas$triangularSolve
CallResults WriteCholesky(const XlaCall& call);         // __cusolver$cholesky
CallResults WriteCsrProduct(const XlaCall& call);       // cpu_csr_sparse_dense_ffi

// The type that sums, scales and activations are rounded to, of a contraction of `operand` that gives
// `result`: f64, c64 and c128 as they are, f32 else. Decision: xla-call-rounding
ElementType ComputeType(ElementType operand, ElementType result);
// x, of a compute type, as `type`. Floats of 8 bits saturate, and so do integers, which are cut towards zero.
// Decision: xla-call-saturation
WrittenArray Stored(CallWriter& write, const WrittenArray& x, ElementType type);

// An activation by the words of cuDNN's and oneDNN's configurations; `alpha` is the slope of leaky ReLU, the
// factor of ELU and LINEAR's factor. NotSupported for other words.
absl::StatusOr<WrittenArray> Activated(CallWriter& write, std::string_view name, const WrittenArray& x,
                                       double alpha);

// A convolution as an instruction.
struct ConvolutionText {
  Window window;
  ConvDimensionNumbers dims;
  int64_t feature_groups = 1, batch_groups = 1;
};
WrittenArray Convolve(CallWriter& write, const ConvolutionText& convolution, const WrittenArray& lhs,
                      const WrittenArray& rhs, ElementType type, std::span<const int64_t> sizes);
// Whether batch, feature and spatial dimensions are 0, 1, …, each once.
bool EachDimensionOnce(int64_t first, int64_t second, std::span<const int64_t> spatial);
// The attributes of a call that has them; CustomCall-C4 where dim_labels are missing or of other ranks than
// the call's.
absl::StatusOr<ConvolutionText> ConvolutionOf(const XlaCall& call);

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_XLA_XLA_CALL_H_
