// The module that the generator builds up: instructions are tried,
// and kept where the op's shape rule takes them.
#ifndef ASSAY_FIND_FUZZ_MAKER_H_
#define ASSAY_FIND_FUZZ_MAKER_H_

#include <functional>
#include <optional>
#include <vector>

#include "find/fuzz/generator.h"

namespace assay::fuzz {

class Maker {
 public:
  Maker(Choices& choices, const GeneratorOptions& options) : choices_(choices), options_(options) {
    open_.push_back(NewComputation());
  }
  GeneratedProgram Make();

 private:
  static Computation NewComputation();
  Computation& current() { return open_.back(); }
  const Shape& ShapeOf(int32_t value) { return *current().instructions[value].shape; }
  int64_t Below(int64_t n) { return choices_.Below(n); }

  // The index of the new value; nullopt where the shape rule refuses it, or it would be large.
  std::optional<int32_t> Add(Opcode opcode, std::vector<int32_t> operands,
                             std::vector<AttributeMap::Entry> attributes = {},
                             std::optional<Shape> declared = std::nullopt);
  int32_t AddParameter(const Shape& shape);
  int32_t AddConstant(Literal value);
  int32_t ScalarOf(ElementType type, double value);  // as a constant
  // Ends the computation that was begun last, and makes it callable.
  ComputationId Close(int32_t root);
  ComputationId Binary(Opcode opcode, ElementType type);
  ComputationId Comparator(ElementType type, const char* direction, int pairs);

  ElementType AnyType();
  ElementType AnyFloat();
  ElementType TypeOfProducts();
  DimVector AnySizes(int64_t max_rank);
  Shape AnyShape();
  std::optional<int32_t> AnyArray();
  // An array for which `wanted` holds.
  std::optional<int32_t> ArrayThat(const std::function<bool(const Shape&)>& wanted);
  int32_t LikeThat(
      const Shape& shape);  // a value of exactly this shape: one that there is, or a new parameter
  // A value of this shape whose dimensions are dynamic where the shape's are: what calls and loops take.
  std::optional<int32_t> JustLike(const Shape& shape);
  Ints SomeDims(const Shape& shape, bool all_but_one = false);
  Window AnyWindow(int64_t rank, bool dilated);
  ComputationId AnyReducer(ElementType type);
  // Of `parameters` scalars, to one of `result`: a few elementwise instructions, constants among them.
  std::optional<ComputationId> AnyScalarBody(const std::vector<ElementType>& parameters, ElementType result);
  // An array for windows: now and then one with enough elements for code.
  std::optional<int32_t> AnyWindowed();

  void Step();
  // maker_moves.cc
  void Elementwise();
  std::optional<int32_t> BelowWidth(int32_t amount);
  void Chain(Opcode opcode, std::optional<int32_t> first);
  void Broadcast();
  void Reshape();
  void Transpose();
  void Reverse();
  void Slice();
  void Pad();
  void Concatenate();
  void Iota();
  void DynamicSlice();
  void DynamicUpdate();
  void Gather();
  // maker_sums.cc
  void Reduce();
  void ReduceWindow();
  void ReduceWindowOfTwo();
  void SelectAndScatter();
  void Scatter();
  void Dot();
  void Convolution();
  void Sort();
  void TopK();
  void Fft();
  std::optional<int32_t> RowAgainstColumn(Shape matrix, const char* direction);
  std::optional<int32_t> PositiveDefinite(int32_t matrix);
  void Cholesky(int32_t a);
  void Solve();
  void BatchNorm();
  void Map();
  void While();
  void Conditional();

  // maker_async.cc
  struct Body {
    ComputationId id;
    std::vector<Shape> parameters;
    Shape result = Shape::Token();
    std::vector<int32_t> operands;  // outside, one a parameter
  };
  // A computation of whole arrays and what to call it with.
  Body AnyBody(int64_t parameters, bool one_instruction, bool with_effects);
  void LeaveOutUnused(Body& body);
  void TakeApart(std::optional<int32_t> value);                    // an array of a tuple
  ComputationId CountsTo(const Shape& state, int64_t iterations);  // whether element 0 of a state is below
  void Async();
  void CopyStart();
  void Fusion();
  void Call();
  void Buffers();
  void EffectfulLoop();
  // maker_effects.cc
  std::vector<AttributeMap::Entry> CollectiveAttributes(bool global_ids);
  AttributeMap::Entry SelfPairs();
  int32_t AnyToken();
  Shape AnyLayout(const Shape& array);
  void Effect();  // one of the next
  void Collective();
  void CollectiveStart();
  void Channel();
  void HostTransfer();
  void Stream();
  void Random();
  void Barrier();
  void Dynamic();

  // Forgets some shapes that the ops' rules know, so that reading finds them.
  void LeaveOutShapes();

  Choices& choices_;
  const GeneratorOptions& options_;
  Module module_;
  std::vector<Computation> open_;  // those being written; the first is the entry computation
  std::vector<int32_t> parameters_;
  std::vector<Literal> arguments_;
};

}  // namespace assay::fuzz

#endif  // ASSAY_FIND_FUZZ_MAKER_H_
