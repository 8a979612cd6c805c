// The operand of a batch normalization as loops over strided elements, feature by feature, and the exact
// statistics of one feature, for those that enclosures leave open.
#ifndef ASSAY_ENGINES_NATIVE_LINALG_BATCH_NORM_FEATURES_H_
#define ASSAY_ENGINES_NATIVE_LINALG_BATCH_NORM_FEATURES_H_

#include <algorithm>

#include "engines/native/walk/loops.h"
#include "evaluator/eval_context.h"
#include "evaluator/ops/reduction/batch_norm.h"
#include "literal/element_io.h"
#include "literal/float_format.h"

namespace assay::native {

// The operand as the formulas see it: for each feature c its elements, at offsets of `others` from c *
// stride.
struct BatchNormFeatures {
  EvalContext& context;
  const ElementType type;
  const FloatFormat& format;
  int64_t count, n;  // features; elements of each
  int64_t stride;
  LoopDims others;
  LoopDim run;
  double epsilon;

  BatchNormFeatures(EvalContext& c, const Literal& x)
      : context(c), type(x.shape().element_type()), format(*Info(type).format) {
    const int64_t feature = c.attributes().Int(Attr::kFeatureIndex);
    const DimVector strides = StridesOf(x);
    count = x.dynamic_size(feature);
    stride = strides[feature];
    for (int64_t d = 0; d < x.shape().rank(); ++d) {
      if (d != feature) others.push_back({x.dynamic_size(d), {strides[d]}});
    }
    n = LoopCount(others);
    others = MergeLoops(others);
    run = TakeInnermostLoop(others);
    epsilon = BatchNormEpsilon(c, format);
  }

  // fn(address of a strip's first element in each array, stride in bytes, elements) over feature c.
  template <typename Fn>
  void ForEachStrip(int64_t c, Fn fn) const {
    const int64_t bytes = Bytes(type);
    for (LoopNest loop(others); !loop.done(); loop.Next()) {
      for (int64_t done = 0; done < run.size; done += kStrip) {
        const int64_t at = c * stride + loop.offset(0) + done * run.strides[0];
        fn(at * bytes, run.strides[0] * bytes, std::min(kStrip, run.size - done));
      }
    }
  }

  double Load(const Literal& vector, int64_t c) const {
    double value;
    LoadStrip(type, vector.data() + c * Bytes(type), 0, 1, &value);
    return value;
  }
  void Store(Literal& vector, int64_t c, double value) const {
    StoreStrip(type, &value, 1, vector.MutableBytes().data() + c * Bytes(type), 0);
  }
};

// mean_c and var_c of batch-norm-training.
FeatureMoments ExactMoments(const BatchNormFeatures& f, int64_t c, const Literal& x);
// grad_offset and S of batch-norm-grad.
FeatureSums ExactFeatureSums(const BatchNormFeatures& f, int64_t c, const Literal& x, const Literal& g,
                             double mean);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_LINALG_BATCH_NORM_FEATURES_H_
