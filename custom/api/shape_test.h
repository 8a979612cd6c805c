// For tests of shape functions, in any test framework: shapes as text.
//
//   CHECK(assay::op::InferOk(MyShapeFn, "[?,2];[3]", "[d0_0,3]") == "");
//   CHECK(assay::op::InferError("must be rank 1", MyShapeFn, "[1,2]") == "");
//
// Inputs are separated by ';', a shape is [2,?] or ?, an unknown one. Outputs likewise; besides, `in0` is
// input 0 itself and `d0_1` its dimension 1.
#ifndef ASSAY_CUSTOM_API_SHAPE_TEST_H_
#define ASSAY_CUSTOM_API_SHAPE_TEST_H_

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "custom/api/shape_inference.h"

namespace assay {
namespace op ASSAY_OP_API {

class ShapeTestCall {
 public:
  ShapeTestCall(const std::string& inputs, size_t num_outputs, const std::vector<AssayAttr>& attrs)
      : attrs_(attrs) {
    for (const std::string& text : Parts(inputs, ';')) {
      std::vector<int64_t>& sizes = sizes_.emplace_back();
      if (text != "?") {
        for (const std::string& size : Parts(text.substr(1, text.size() - 2), ','))
          sizes.push_back(size == "?" ? kUnknown : std::atoll(size.c_str()));
      }
      ranks_.push_back(text == "?" ? kUnknown : static_cast<int64_t>(sizes.size()));
    }
    for (size_t i = 0; i < sizes_.size(); ++i) shapes_.push_back({ranks_[i], sizes_[i].data()});
    call_ = {};
    call_.size = sizeof(call_);
    call_.num_inputs = shapes_.size(), call_.inputs = shapes_.data();
    call_.num_outputs = num_outputs;
    call_.num_attrs = attrs_.size(), call_.attrs = attrs_.data();
  }
  ShapeTestCall(const ShapeTestCall&) = delete;
  ShapeTestCall& operator=(const ShapeTestCall&) = delete;
  const AssayInference& call() const { return call_; }

  static std::vector<std::string> Parts(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (!text.empty()) {
      const size_t end = text.find(separator);
      parts.emplace_back(text.substr(0, end));
      text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
    return parts;
  }

 private:
  std::vector<std::vector<int64_t>> sizes_;
  std::vector<int64_t> ranks_;
  std::vector<AssayShape> shapes_;
  std::vector<AssayAttr> attrs_;
  AssayInference call_;
};

// What is wrong with dimension d of an output, of which `wanted` is said; empty: nothing.
inline std::string WrongDimension(const InferenceContext& c, DimensionHandle d, const std::string& wanted) {
  if (wanted == "?") return d.is_known() ? Joined("found ", d.value, ", wanted an unknown size") : "";
  if (wanted[0] != 'd') {
    return d.is_known() && d.value == std::atoll(wanted.c_str())
               ? ""
               : Joined("found ", ToString(d), ", wanted ", wanted);
  }
  const std::vector<std::string> places = ShapeTestCall::Parts(wanted.substr(1), '_');
  const ShapeHandle& input = c.input(std::atoll(places.at(0).c_str()));
  const DimensionHandle of = input.dims().at(static_cast<size_t>(std::atoll(places.at(1).c_str())));
  return d.id == of.id ? "" : Joined("found another dimension than ", wanted);
}

// Empty where the function gives these outputs; else what is wrong.
inline std::string InferOk(ShapeFn fn, const std::string& inputs, const std::string& outputs,
                           const std::vector<AssayAttr>& attrs = {}) {
  const std::vector<std::string> wanted = ShapeTestCall::Parts(outputs, ';');
  const ShapeTestCall call(inputs, wanted.size(), attrs);
  InferenceContext c(call.call());
  if (const Status status = fn(&c); !status.ok()) return status.message();
  for (size_t i = 0; i < wanted.size(); ++i) {
    const ShapeHandle& found = c.output(static_cast<int64_t>(i));
    const std::string& text = wanted[i];
    const std::string where = Joined("output ", i, ", ", ToString(found), ": ");
    if (text == "?") {
      if (found.has_rank()) return where + "wanted an unknown shape";
    } else if (text.substr(0, 2) == "in") {
      if (!found.IsSame(c.input(std::atoll(text.c_str() + 2)))) return where + "is not " + text;
    } else {
      const std::vector<std::string> sizes = ShapeTestCall::Parts(text.substr(1, text.size() - 2), ',');
      if (!found.has_rank() || found.dims().size() != sizes.size()) return where + "wanted " + text;
      for (size_t d = 0; d < sizes.size(); ++d) {
        const std::string wrong = WrongDimension(c, found.dims()[d], sizes[d]);
        if (!wrong.empty()) return where + "dimension " + std::to_string(d) + ": " + wrong;
      }
    }
  }
  return "";
}

// Empty where the function refuses the inputs with a message that holds `part`.
inline std::string InferError(std::string_view part, ShapeFn fn, const std::string& inputs,
                              const std::vector<AssayAttr>& attrs = {}, size_t num_outputs = 1) {
  const ShapeTestCall call(inputs, num_outputs, attrs);
  InferenceContext c(call.call());
  const Status status = fn(&c);
  if (status.ok()) return "is not refused";
  return status.message().find(part) == std::string::npos ? status.message() : "";
}

}  // namespace ASSAY_OP_API
}  // namespace assay

#endif  // ASSAY_CUSTOM_API_SHAPE_TEST_H_
