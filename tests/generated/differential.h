// One generated program by every engine: the reference is what the others are compared with.
#ifndef ASSAY_TESTS_GENERATED_DIFFERENTIAL_H_
#define ASSAY_TESTS_GENERATED_DIFFERENTIAL_H_

#include <cstdint>
#include <string>

#include "find/fuzz/generator.h"
#include "jit/isa.h"

namespace assay::testing {

struct Difference {
  std::string text;        // what differs, and where; empty: nothing
  std::string digest;      // of the reference's results or error
  bool evaluated = false;  // the reference gave a result, not an error
  // Steps of the plans that engines took, those of generated code among them, and those within a bound.
  int kernels = 0, generated = 0, bounded = 0;
};

// Of 4 to 23 instructions; every 25th has large arrays and only cheap ops.
fuzz::GeneratedProgram ProgramOfSeed(uint64_t seed);

// `exact` with AVX2 and with AVX-512, with 1, 2 and 7 threads, gives the reference's bits and errors, and as
// many steps by any number of threads; `fast` is within its bounds. Engines take steps of any size;
// arguments, results and what lies between them are between pages that can't be touched, but with 7 threads.
// Needs what the machine has. Without `with_fast`, `fast` is left out.
Difference CompareEngines(fuzz::GeneratedProgram program, bool with_fast = true);

// Of the results or the error by `exact` with this instruction set: equal to Difference::digest.
std::string DigestByExact(fuzz::GeneratedProgram program, Isa isa);

}  // namespace assay::testing

#endif  // ASSAY_TESTS_GENERATED_DIFFERENTIAL_H_
