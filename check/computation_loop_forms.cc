// First-order forms of the state of loops. A loop's state has a symbol for each of its elements in each of
// the last few iterations, so that an error that one iteration makes is seen to shrink, or to cancel
// itself, in the iterations behind it; radii alone would grow by the magnitudes of the slopes. Forms are
// derived of the loops that ModuleDeriver is given: those that a run without forms leaves undecided.
//
// A symbol is one number, whatever reads it. The state of a loop is, where the profile stores it between
// iterations; else there are no forms. These elements of it have no symbols:
//   - those that an iteration passes on unchanged: what they were made of may be computed anew in the body
//     (XLA's WhileLoopFusibleSinking), for each reader;
//   - all of them in the first iteration: a loop of one iteration is inlined, and fused with what is before;
//   - those of types that may be kept in a wider format.
// Two readers may still have products of which only one is rounded (fused with a sum, where LLVM unrolls the
// loop), or one of them zero for a subnormal number: that stays part of the rest.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "check/computation_deriver.h"
#include "evaluator/bounds/loop_forms.h"
#include "evaluator/bounds/loop_state.h"
#include "evaluator/registry.h"

namespace assay {
namespace {

// A state of more elements has no forms; its symbols are at most as many.
constexpr int64_t kMaxElements = 64, kMaxSymbols = 128;
// The symbols of as many iterations.
constexpr int64_t kMostIterations = 16;

struct ParameterPlace {
  int64_t parameter;  // of a computation
  ShapeIndex path;
};

// The place in the computation's parameters of the value at this path of the instruction, where that is
// passed on unchanged, or only moved.
std::optional<ParameterPlace> PassedOn(const Module& module, const Computation& computation, int32_t at,
                                       ShapeIndex path) {
  for (;;) {
    const Instruction& instruction = computation.instructions[static_cast<size_t>(at)];
    switch (instruction.opcode) {
      case Opcode::kParameter: {
        const auto& parameters = computation.parameters;
        return ParameterPlace{std::find(parameters.begin(), parameters.end(), at) - parameters.begin(), path};
      }
      case Opcode::kGetTupleElement:
        path.insert(path.begin(), instruction.attributes.Int(Attr::kIndex));
        at = instruction.operands[0];
        break;
      case Opcode::kTuple:
        at = instruction.operands[static_cast<size_t>(path[0])];
        path.erase(path.begin());
        break;
      case Opcode::kCall: {
        const Computation& callee = module.computation(*instruction.attributes.Computation(Attr::kToApply));
        const std::optional<ParameterPlace> place = PassedOn(module, callee, callee.root, path);
        if (!place) return std::nullopt;
        at = instruction.operands[static_cast<size_t>(place->parameter)];
        path = place->path;
        break;
      }
      default: {
        const OpDef& definition = DefinitionOf(instruction.opcode);
        if (!definition.is_identity && (instruction.operands.size() != 1 || definition.moves.count(1) != 1))
          return std::nullopt;
        at = instruction.operands[0];
      }
    }
  }
}

// Which leaves of a loop's state an iteration passes on unchanged.
std::vector<bool> LeavesPassedOn(const Module& module, const Computation& body) {
  std::vector<bool> passed;
  ForEachLeaf(*body.root_instruction().shape, [&](const ShapeIndex& path, const Shape&) {
    const std::optional<ParameterPlace> place = PassedOn(module, body, body.root, path);
    passed.push_back(place && place->path == path);
  });
  return passed;
}

}  // namespace

void ComputationDeriver::AddLoopForms(const std::vector<BoundedLeaf>& leaves, const std::vector<bool>& with,
                                      std::vector<Node>& elements) {
  for (size_t k = 0; k < with.size(); ++k) {
    if (!with[k]) continue;
    const LoopForm form = bound::Settled(*this, leaves[k].loop_form);
    elements.insert(elements.end(), {form.tangents, form.rest, form.total});
  }
}

void ComputationDeriver::TakeLoopForms(std::vector<BoundedLeaf>& leaves, const std::vector<bool>& with,
                                       std::span<const Node> elements) {
  for (size_t k = 0, next = 0; k < with.size(); ++k) {
    if (!with[k]) continue;
    leaves[k].loop_form = {elements[next], elements[next + 1], elements[next + 2]};
    next += 3;
  }
}

void ComputationDeriver::AddLoopFormShapes(const LoopForms& forms, size_t leaves,
                                           std::vector<Shape>& shapes) {
  if (forms.symbols == 0) return;
  ElementType type = ElementType::kF32;
  for (size_t k = 0; k < leaves; ++k) {
    if (!forms.leaves[k]) continue;
    type = shapes[k].element_type();
    if (forms.rows > 0) continue;
    DimVector sizes = {forms.symbols};
    for (const int64_t size : shapes[k].sizes()) sizes.push_back(size);
    const Shape like = Shape::ArrayOrDie(type, shapes[k].sizes());
    shapes.insert(shapes.end(), {Shape::ArrayOrDie(type, sizes), like, like});
  }
  if (forms.rows == 0) return;
  shapes.push_back(Shape::ArrayOrDie(type, DimVector{forms.rows, forms.symbols}));
  const Shape vector = Shape::ArrayOrDie(type, DimVector{forms.symbols});
  shapes.insert(shapes.end(), {vector, vector});
}

LoopForms ComputationDeriver::LoopFormsOf(const std::vector<BoundedLeaf>& leaves) const {
  LoopForms forms{std::vector<bool>(leaves.size()), 0, 0};
  for (size_t k = 0; k < leaves.size(); ++k) {
    if (!leaves[k].loop_form) continue;
    forms.leaves[k] = true;
    forms.symbols = writer_.ShapeOf(leaves[k].loop_form.tangents).size(0);
  }
  return forms.symbols > 0 ? forms : LoopForms();
}

// Of one type: symbols are a matrix.
absl::StatusOr<LoopForms> ComputationDeriver::FormsOfLoop(ComputationId body,
                                                          const std::vector<BoundedLeaf>& start,
                                                          const std::vector<bool>& radii) {
  const Profile& profile = module_.profile();
  if (!profile.stores_loop_state || !module_.HasLoopForms(view_->instruction)) return LoopForms();
  LoopForms forms{std::vector<bool>(start.size()), 0, 0};
  const std::vector<bool> passed = LeavesPassedOn(module(), module().computation(body));
  std::optional<ElementType> of_all;
  for (size_t k = 0; k < start.size(); ++k) {
    if (!radii[k] || passed[k]) continue;
    const Shape& shape = writer_.ShapeOf(start[k].value);
    const ElementType type = shape.element_type();
    if (!IsFloat(type) || RadiusType(type) != type || profile.keeps_precision.Has(type) ||
        (of_all && *of_all != type))
      continue;
    const int64_t size = shape.num_elements();
    if (size == 0 || forms.symbols + size > kMaxElements) continue;
    of_all = type;
    forms.leaves[k] = true;
    forms.symbols += size;
  }
  if (forms.symbols == 0) return LoopForms();
  forms.rows = forms.symbols * std::clamp<int64_t>(kMaxSymbols / forms.symbols, 2, kMostIterations);
  ASSAY_ASSIGN_OR_RETURN(const DerivedComputation derived,
                         module_.Derive(body, radii, radii, std::nullopt, forms));
  // Where no array of the state has a form its symbols would say no more than its radii.
  for (size_t k = 0; k < derived.loop_forms.size(); ++k) {
    if (forms.leaves[k] && derived.loop_forms[k]) return forms;
  }
  return LoopForms();
}

void ComputationDeriver::StartState(const std::vector<BoundedLeaf>& start, const LoopForms& forms,
                                    std::vector<Node>& elements) {
  if (forms.symbols == 0) return;
  std::vector<Node> radii;
  for (size_t k = 0; k < start.size(); ++k) {
    if (forms.leaves[k]) radii.push_back(OrZero(start[k].radius, ZeroRadius(start[k].value)));
  }
  const bound::LoopState state = bound::StartOfLoop(*this, radii, forms.rows);
  elements.insert(elements.end(), {state.matrix, state.rest, state.sizes});
}

void ComputationDeriver::TakeState(std::vector<BoundedLeaf>& leaves, const LoopForms& forms,
                                   std::span<const Node> elements) {
  carried_ = {elements[0], elements[1], elements[2]};
  std::vector<Shape> shapes;
  for (size_t k = 0; k < leaves.size(); ++k) {
    if (forms.leaves[k]) shapes.push_back(writer_.ShapeOf(leaves[k].value));
  }
  const std::vector<LoopForm> of_state = bound::FormsOfState(*this, carried_, shapes);
  for (size_t k = 0, next = 0; k < leaves.size(); ++k) {
    if (forms.leaves[k]) leaves[k].loop_form = of_state[next++];
  }
}

void ComputationDeriver::AddState(std::vector<BoundedLeaf>& leaves, const LoopForms& forms,
                                  const std::vector<bool>& radii, std::vector<Node>& elements) {
  std::vector<bound::StateArray> arrays;
  std::vector<size_t> places;  // of their radii
  size_t place = leaves.size();
  for (size_t k = 0; k < leaves.size(); ++k) {
    if (forms.leaves[k]) {
      arrays.push_back({leaves[k].loop_form, leaves[k].value, elements[place]});
      places.push_back(place);
    }
    if (radii[k]) ++place;
  }
  const ElementType type = writer_.ShapeOf(arrays[0].value).element_type();
  const Profile& profile = module_.profile();
  const double smallest = std::ldexp(1, Info(type).format->min_exponent);
  const bound::LoopState next = bound::NextState(
      *this, carried_, arrays, {profile.contracts, profile.flushes.Has(type) ? smallest : 0});
  for (size_t k = 0; k < arrays.size(); ++k) elements[places[k]] = arrays[k].radius;
  elements.insert(elements.end(), {next.matrix, next.rest, next.sizes});
}

}  // namespace assay
