// What the values of flags have to be; a message says what is wrong with one.
#ifndef ASSAY_TOOLS_VALIDATORS_H_
#define ASSAY_TOOLS_VALIDATORS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::cli {

// A whole number of decimal digits in [low, high]: CLI11 itself would take the nearest one that fits.
CLI::Validator Whole(uint64_t low, uint64_t high);
CLI::Validator Count();
CLI::Validator Seed();
// Numbers, neither nan nor inf.
CLI::Validator Seconds();
CLI::Validator Tolerance();
// A file that is read, one that is written: what stands for nothing, as an unset variable of a script does,
// is no file.
CLI::Validator Input();
CLI::Validator Output();
// One of these words. Its description, which --help and completions show, lists them: {exact,reference}.
CLI::Validator OneOf(const std::vector<std::string>& words);
// A regular expression of ECMAScript.
CLI::Validator Regex();
// LOW:HIGH, two whole numbers.
CLI::Validator PassRange();
// out0=bf16,out1=s4
CLI::Validator Types();
// arg0=3x1,arg1.0=4: what the program says of the names is checked later.
CLI::Validator ArgumentShapes();

}  // namespace assay::cli

#endif  // ASSAY_TOOLS_VALIDATORS_H_
