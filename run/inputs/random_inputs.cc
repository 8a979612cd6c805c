// Values that meet the demands of input_demands.h.
#include "run/inputs/random_inputs.h"

#include <algorithm>
#include <complex>
#include <numeric>

#include "base/checked.h"
#include "base/run_guard.h"
#include "literal/element_io.h"
#include "literal/float_format.h"
#include "literal/random.h"
#include "run/inputs/input_demands.h"

namespace assay {
namespace {

using Component = InputDemand::Component;

// The component's range as far as the type can hold it.
Component Clipped(const Component& component, ElementType type) {
  const auto [least, most] = ExactIntegerRange(type);
  Component clipped = component;
  clipped.low = std::clamp(component.low, least, most);
  // Steps from low to the largest value, at most 2^64 - 1 of them.
  const uint64_t steps = (static_cast<uint64_t>(most) - static_cast<uint64_t>(clipped.low)) /
                         static_cast<uint64_t>(component.step);
  if (steps < static_cast<uint64_t>(component.count)) clipped.count = static_cast<int64_t>(steps) + 1;
  clipped.count = std::max<int64_t>(1, std::min(clipped.count, component.count));
  return clipped;
}

// Index vectors as whole numbers in mixed radix, so that sorted and distinct numbers give sorted and distinct
// vectors. Where the numbers would not fit in 62 bits, components are drawn on their own.
std::vector<int64_t> IndexVectorValues(RandomSource& source, const InputDemand& demand, ElementType type,
                                       int64_t elements) {
  const int64_t k = static_cast<int64_t>(demand.components.size());
  std::vector<Component> components;
  for (const Component& component : demand.components) components.push_back(Clipped(component, type));
  std::vector<int64_t> order(k);  // most significant first
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return components[a].rank < components[b].rank; });
  std::optional<int64_t> codes = 1;
  for (const Component& component : components) codes = codes ? CheckedMul(*codes, component.count) : codes;
  const bool whole = (demand.sorted || demand.unique) && codes && *codes < int64_t{1} << 62;
  std::vector<int64_t> numbers;
  if (whole) {
    numbers = RandomIntegers(source, elements / k, 0, *codes - 1, demand.sorted, demand.unique);
  }
  std::vector<int64_t> values(elements);
  for (int64_t vector = 0; vector < elements / k; ++vector) {
    const int64_t first = vector / demand.inner * demand.inner * k + vector % demand.inner;
    for (int64_t place = k - 1; place >= 0; --place) {
      const Component& component = components[order[place]];
      int64_t digit;
      if (whole) {
        digit = numbers[vector] % component.count;
        numbers[vector] /= component.count;
      } else {
        digit = source.Between(0, component.count - 1);
      }
      values[first + order[place] * demand.inner] = component.low + component.step * digit;
    }
  }
  return values;
}

// Rows of `width` sizes: the gaps between sorted cuts of [0, bound].
std::vector<int64_t> PartitionValues(RandomSource& source, const InputDemand& demand, ElementType type,
                                     int64_t elements) {
  const int64_t bound = std::min(demand.bound, ExactIntegerRange(type).second);
  std::vector<int64_t> values;
  values.reserve(elements);
  for (int64_t row = 0; row < elements / demand.width; ++row) {
    std::vector<int64_t> cuts = RandomIntegers(source, demand.width, 0, bound, true, false);
    for (int64_t i = 0; i < demand.width; ++i) values.push_back(cuts[i] - (i > 0 ? cuts[i - 1] : 0));
  }
  return values;
}

// Diagonally dominant Hermitian matrices: n + 1 on the diagonal, multiples of 1/8 of at most 1/2 elsewhere,
// so they are positive definite and their triangles are well conditioned.
absl::StatusOr<Literal> MatrixValues(RandomSource& source, const Shape& shape, int64_t n) {
  ASSAY_ASSIGN_OR_RETURN(Literal literal, Literal::Make(shape));
  const ElementType type = shape.element_type();
  const FloatFormat& format = *Info(type).format;
  std::byte* out = literal.MutableBytes().data();
  const auto store = [&](int64_t position, std::complex<double> number) {
    ScalarValue value;
    value.kind = KindOf(type);
    value.r = RoundToFormat(number.real(), format);
    value.c = {value.r, IsComplex(type) ? RoundToFormat(number.imag(), format) : 0};
    StoreElement(type, value, out + position * Bytes(type));
  };
  for (int64_t first = 0; first < shape.num_elements(); first += n * n) {
    for (int64_t i = 0; i < n; ++i) {
      ASSAY_RETURN_IF_ERROR(PollWork());
      store(first + i * n + i, static_cast<double>(n + 1));
      for (int64_t j = 0; j < i; ++j) {
        const double re = static_cast<double>(source.Between(-3, 3)) / 8;
        const double im = IsComplex(type) ? static_cast<double>(source.Between(-2, 2)) / 8 : 0;
        store(first + i * n + j, {re, im});
        store(first + j * n + i, {re, -im});
      }
    }
  }
  return literal;
}

absl::StatusOr<Literal> LeafValue(const Shape& shape, uint64_t seed, const InputDemand* demand) {
  if (demand == nullptr || !shape.IsArray() || shape.num_elements() == 0) return RandomLiteral(shape, seed);
  if (demand->kind != InputDemand::Kind::kMatrices) ASSAY_RETURN_IF_ERROR(CheckRoomForIntegers(shape));
  RandomSource source(seed);
  const ElementType type = shape.element_type();
  const int64_t elements = shape.num_elements();
  switch (demand->kind) {
    case InputDemand::Kind::kMatrices:
      // With elements, the operand's matrices have at most that many: the square can't overflow.
      if (demand->width == 0 || elements / demand->width < demand->width) break;
      if (elements % (demand->width * demand->width) != 0) break;
      if (IsFloat(type) || IsComplex(type)) return MatrixValues(source, shape, demand->width);
      break;
    case InputDemand::Kind::kPartition:
      if (demand->width == 0 || elements % demand->width != 0) break;
      return ArrayOfIntegers(shape, PartitionValues(source, *demand, type, elements));
    case InputDemand::Kind::kIndices:
      if (elements % (demand->inner * static_cast<int64_t>(demand->components.size())) != 0) break;
      return ArrayOfIntegers(shape, IndexVectorValues(source, *demand, type, elements));
  }
  return RandomLiteral(shape, seed);
}

using Demands = std::map<ParameterLeaf, InputDemand>;

absl::StatusOr<Literal> Value(const std::shared_ptr<const Shape>& shape, uint64_t seed,
                              const Demands& demands, ParameterLeaf& leaf) {
  if (!shape->IsTuple()) {
    const auto demand = demands.find(leaf);
    return LeafValue(*shape, seed, demand == demands.end() ? nullptr : &demand->second);
  }
  std::vector<Literal> elements;
  for (size_t i = 0; i < shape->elements().size(); ++i) {
    leaf.second.push_back(static_cast<int64_t>(i));
    const std::shared_ptr<const Shape> part(shape, &shape->elements()[i]);
    ASSAY_ASSIGN_OR_RETURN(Literal element, Value(part, DerivedSeed(seed, i), demands, leaf));
    elements.push_back(std::move(element));
    leaf.second.pop_back();
  }
  return Literal::Tuple(shape, std::move(elements));
}

}  // namespace

absl::StatusOr<std::vector<Literal>> RandomInputs(const VerifiedModule& module, uint64_t seed) {
  const Demands demands = InputDemands(module.module());
  const Computation& entry = module.module().entry_computation();
  std::vector<Literal> inputs;
  for (size_t p = 0; p < entry.parameters.size(); ++p) {
    ParameterLeaf leaf(static_cast<int64_t>(p), {});
    const std::shared_ptr<const Shape>& shape = entry.instructions[entry.parameters[p]].shape;
    ASSAY_ASSIGN_OR_RETURN(Literal value, Value(shape, DerivedSeed(seed, p), demands, leaf));
    inputs.push_back(std::move(value));
  }
  return inputs;
}

StreamItem RandomStream(uint64_t seed) {
  // Not the seeds of parameters, which count from 0.
  constexpr uint64_t kStream = 0x73747265616d;
  return [source = DerivedSeed(seed, kStream), count = uint64_t{0}](const Shape& wanted) mutable {
    return RandomLiteral(wanted, DerivedSeed(source, count++));
  };
}

}  // namespace assay
