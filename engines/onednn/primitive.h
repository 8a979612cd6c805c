// Matrix products and convolutions by oneDNN, whose library is loaded when the first one is asked for: it is
// 40 MB large, and programs without large steps need none of it.
//
// The library is libdnnl.so.2, opened by that name alone. What its environment variables set
// (number formats that round more, output, dumps) is set back.
#ifndef ASSAY_ENGINES_ONEDNN_PRIMITIVE_H_
#define ASSAY_ENGINES_ONEDNN_PRIMITIVE_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "evaluator/eval_context.h"
#include "jit/isa.h"

namespace assay::onednn {

// An array as oneDNN sees it: sizes and strides in elements.
struct Array {
  ElementType type = ElementType::kF32;
  DimVector sizes, strides;
};

// How a window slides in each spatial dimension; dilation 1 is none.
struct Sliding {
  DimVector strides, dilations, padding_low, padding_high;
};

// One operation on arrays of fixed sizes. It is made in two steps: choosing an implementation is cheap, code
// for it is made when it first runs.
class Primitive {
 public:
  // c[b, m, n] = sum over k of a[b, m, k] b[b, k, n], or the same without b. NotSupported with the reason
  // where the library is missing, or has but its slow reference.
  static absl::StatusOr<std::unique_ptr<Primitive>> MatrixProduct(Isa isa, const Array& a, const Array& b,
                                                                  const Array& c);
  // image [batch, features, spatial...], kernel [(groups,) output features, features, spatial...], result
  // [batch, output features, spatial...]. oneDNN may want other layouts, which are then made on the way.
  static absl::StatusOr<std::unique_ptr<Primitive>> Convolution(Isa isa, const Array& image,
                                                                const Array& kernel, const Array& result,
                                                                const Sliding& sliding);
  ~Primitive();

  // Runs on up to `jobs` threads (0: one a core). EvalError where oneDNN fails.
  absl::Status Run(EvalContext& context, const std::byte* a, const std::byte* b, std::byte* c,
                   int jobs) const;
  // oneDNN's name for the implementation.
  std::string implementation() const;

 private:
  struct State;
  explicit Primitive(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace assay::onednn

#endif  // ASSAY_ENGINES_ONEDNN_PRIMITIVE_H_
