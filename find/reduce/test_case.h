// A program and the values that it runs on: what is made smaller.
#ifndef ASSAY_FIND_REDUCE_TEST_CASE_H_
#define ASSAY_FIND_REDUCE_TEST_CASE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hlo/module.h"
#include "literal/literal.h"
#include "run/program.h"

namespace assay {

struct TestCase {
  Module module;
  std::vector<Literal> arguments;  // one for each parameter of the entry computation
};

// A test case whose program was verified.
class CheckedCase {
 public:
  // Removes what RemoveDead does and verifies the rest. Errors are Verify's; arguments that do not fit the
  // parameters are BadInput.
  static absl::StatusOr<CheckedCase> Of(TestCase test_case);
  // A program as it was read: nothing is removed.
  static CheckedCase AsRead(const Program& program, std::vector<Literal> arguments);

  // As it is printed; every instruction has a shape.
  const Module& module() const { return program_.as_written(); }
  const Computation& entry() const { return module().entry_computation(); }
  const Program& program() const { return program_; }
  const std::vector<Literal>& arguments() const { return arguments_; }
  TestCase Copy() const { return {module(), arguments_}; }

  // The canonical text and the bytes of the arguments, hashed.
  const std::string& digest() const { return digest_; }

  // The values of the entry computation's instructions, by the reference; nullopt: one that has none, such as
  // of instructions that did not run. Computed once, at the first call (of one thread); empty where the
  // program can't be evaluated.
  void ComputeValues(const RunOptions& options);
  const std::vector<std::optional<Literal>>& values() const { return *values_; }

 private:
  CheckedCase(Program program, std::vector<Literal> arguments);

  Program program_;
  std::vector<Literal> arguments_;
  std::string digest_;
  std::shared_ptr<const std::vector<std::optional<Literal>>> values_;
};

}  // namespace assay

#endif  // ASSAY_FIND_REDUCE_TEST_CASE_H_
