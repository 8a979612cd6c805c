// What batch normalization says of sizes and of one feature's numbers.
#ifndef ASSAY_EVALUATOR_OPS_REDUCTION_BATCH_NORM_H_
#define ASSAY_EVALUATOR_OPS_REDUCTION_BATCH_NORM_H_

#include <cstdint>
#include <span>

#include "evaluator/eval_context.h"

namespace assay {

// epsilon as a value of the element type.
double BatchNormEpsilon(const EvalContext& context, const FloatFormat& format);

// DYN-4: every vector has as many live elements as the operand has features.
absl::Status CheckBatchNormVectors(const EvalContext& context, int64_t features,
                                   std::span<const Literal> vectors);

// r = RN(1 / sqrt(RN(var + eps)))
double InverseDeviation(double variance, double epsilon, const FloatFormat& format);

// mean_c = RN(sum x / n), var_c = RN(sum x^2 / n - (sum x / n)^2) of batch-norm-training.
struct FeatureMoments {
  double mean, variance;
};
// grad_offset = RN(sum g) and S = RN(sum g * RN(x - mean)) of batch-norm-grad.
struct FeatureSums {
  double gradient, product;
};

}  // namespace assay

#endif  // ASSAY_EVALUATOR_OPS_REDUCTION_BATCH_NORM_H_
