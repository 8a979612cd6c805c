// What a program asks of the values of its parameters, so that random inputs mean something: indices in
// range, sorted or distinct where the program promises that, matrices that factorise.
//
// An analysis, not a rule: a demand is followed backward from the op that makes it to the parameters, through
// ops that move values or choose among them, across calls, loops and branches, and given up elsewhere.
#ifndef ASSAY_RUN_INPUTS_INPUT_DEMANDS_H_
#define ASSAY_RUN_INPUTS_INPUT_DEMANDS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "hlo/module.h"

namespace assay {

struct InputDemand {
  enum class Kind : uint8_t {
    kIndices,    // vectors of integers, each component in its own range
    kPartition,  // rows of `width` sizes >= 0 with a sum of at most `bound`
    kMatrices,   // Hermitian positive definite, `width` x `width`
  };
  // low + step * [0, count): a range of one component.
  struct Component {
    int64_t low = 0, count = 1, step = 1;
    int64_t rank = 0;  // lower: more significant when vectors are ordered
    friend bool operator==(const Component&, const Component&) = default;
  };
  Kind kind = Kind::kIndices;
  // kIndices: in row-major order, element p is component (p / inner) % components.size() of the vector
  // (p / (inner * components.size())) * inner + p % inner.
  std::vector<Component> components = {Component{}};
  int64_t inner = 1;
  bool sorted = false, unique = false;
  int64_t width = 0, bound = 0;
};

// Parameter number and index of an array in it.
using ParameterLeaf = std::pair<int64_t, std::vector<int64_t>>;

// Demands on the parameters of the entry computation; leaves without one may hold anything.
std::map<ParameterLeaf, InputDemand> InputDemands(const Module& module);

}  // namespace assay

#endif  // ASSAY_RUN_INPUTS_INPUT_DEMANDS_H_
