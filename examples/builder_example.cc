// Builds a program by calls, evaluates it, and prints the program and its result.
#include <assay/assay.h>

#include <iostream>

int main() {
  using namespace assay::builder;

  // softmax(x) over the last dimension of f32[2,3].
  XlaBuilder b("softmax");
  const int64_t sizes[] = {2, 3};
  const XlaOp x = Parameter(&b, 0, assay::Shape::ArrayOrDie(assay::ElementType::kF32, sizes), "x");
  const auto max = CreateScalarMaxComputation(assay::ElementType::kF32);
  const auto add = CreateScalarAddComputation(assay::ElementType::kF32);
  if (!max.ok() || !add.ok()) return 1;
  const XlaOp largest = Reduce(x, ConstantR0<float>(&b, -INFINITY), *max, {1});
  const XlaOp e = Exp(Sub(x, largest, {0}));
  const XlaOp softmax = Div(e, Reduce(e, ConstantR0<float>(&b, 0), *add, {1}), {0});

  // The first error of all those calls, if there was one, comes out here.
  const absl::StatusOr<XlaComputation> program = b.Build(softmax);
  if (!program.ok()) {
    std::cerr << program.status() << "\n";
    return 1;
  }
  std::cout << program->ToText();

  const double values[] = {1, 2, 3, 0, 0, 0};
  const auto result = assay::Program(program->verified())
                          .Run({assay::Literal::FromDoubles(assay::ElementType::kF32, sizes, values)});
  if (!result.ok()) {
    std::cerr << result.status() << "\n";
    return 1;
  }
  std::cout << assay::LiteralToText(*result) << "\n";
}
