// Elements of instructions as reports show them.
#ifndef ASSAY_FIND_ORIGIN_DESCRIBED_H_
#define ASSAY_FIND_ORIGIN_DESCRIBED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "find/origin/backward.h"

namespace assay {

struct LoopIteration {
  std::string loop;  // the while's name, with the path to it
  int64_t iteration = 0;
  bool is_condition = false;
};

struct DescribedElement {
  std::string name;  // with the path: "while.1/it0002/add.5"; of an argument "arg0"
  std::string op, shape;
  std::string source;  // "FILE:12", or the op_name of the metadata; empty: none
  std::vector<int64_t> index;
  std::string value;                 // empty: not recorded
  std::vector<LoopIteration> loops;  // from the outside in
  std::string device;                // "r0p1"; empty: there is one
};

DescribedElement Describe(const RunRecord& record, const Backward& backward, const ElementPlace& place);
// The element as HLO text prints it.
std::string ElementText(const Literal& array, int64_t position);
// "out0", "out1.0": of a leaf of the program's result.
std::string OutputName(const ShapeIndex& leaf);
// "%add.5 = f32[4] add, element [2], is nan (FILE:12)"
std::string ToText(const DescribedElement& element);
// "[2,3]"; of a scalar empty.
std::string IndexText(const std::vector<int64_t>& index);

}  // namespace assay

#endif  // ASSAY_FIND_ORIGIN_DESCRIBED_H_
