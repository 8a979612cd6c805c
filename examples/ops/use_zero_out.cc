// A program made with the builder that calls an operation of a library. The wrapper AcmeZeroOut is what
//   assay ops --load-ops zero_out.so --wrappers cpp
// writes. Usage: use_zero_out LIBRARY
#include <assay/assay.h>

#include <iostream>

namespace assay::builder {
#include "zero_out_wrappers.inc"
}  // namespace assay::builder

namespace {

absl::Status Run(const std::string& library) {
  assay::OpRegistry registry;
  const absl::StatusOr<std::vector<std::string>> added = assay::LoadOps(registry, library);
  if (!added.ok()) return added.status();
  std::cout << added->size() << " operations\n";

  assay::builder::XlaBuilder b("zero_out");
  b.SetCustomOps(registry.ops());
  const int32_t values[] = {5, 4, 3, 2, 1};
  const assay::builder::XlaOp x = assay::builder::ConstantR1<int32_t>(&b, values);
  const int64_t sizes[] = {5};
  const assay::Shape shape = assay::Shape::ArrayOrDie(assay::ElementType::kS32, sizes);
  assay::builder::AcmeZeroOut(&b, x, shape, /*preserve_index=*/2);
  const absl::StatusOr<assay::builder::XlaComputation> program = b.Build();
  if (!program.ok()) return program.status();

  const absl::StatusOr<assay::Literal> result = assay::Program(program->verified()).Run({});
  if (!result.ok()) return result.status();
  std::cout << assay::LiteralToText(*result) << "\n";
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const absl::Status status = Run(argv[1]);
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
