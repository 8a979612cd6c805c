// The header for authors of operations (docs/custom_ops.md). A library is built against the installed headers
// alone, and links nothing of Assay:
//
//   ASSAY_REGISTER_OP("Acme.ZeroOut")
//       .Attr("T: {f32, s32}").Input("to_zero: T").Output("zeroed: T")
//       .SetShapeFn(assay::op::UnchangedShape);
//
//   template <typename T>
//   class ZeroOut : public assay::op::Kernel { … void Compute(assay::op::KernelContext* c) override; };
//   ASSAY_REGISTER_KERNEL(Name("Acme.ZeroOut").Device(kCpu).TypeConstraint<float>("T"), ZeroOut<float>);
#ifndef ASSAY_OP_LIBRARY_H_
#define ASSAY_OP_LIBRARY_H_

#include "custom/api/attributes.h"
#include "custom/api/gradient.h"
#include "custom/api/kernel.h"
#include "custom/api/registration.h"
#include "custom/api/shape_inference.h"
#include "custom/api/status.h"

#endif  // ASSAY_OP_LIBRARY_H_
