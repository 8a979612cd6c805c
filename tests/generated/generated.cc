// assay_generated [--first SEED] [--count N] [--exact ISA]: the programs of seeds in order, by every engine
// (differential.h). Each 100 programs a line with a digest of the reference's results. With --exact
// (baseline, avx2 or avx512) the digests are of the results by `exact` with that instruction set, and nothing
// is compared: processes of either kind print the same lines. Exit code 1 where engines differ.
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/sha256.h"
#include "tests/generated/differential.h"

namespace assay::testing {
namespace {

constexpr uint64_t kProgramsOfLine = 100;

std::optional<Isa> IsaNamed(std::string_view name) {
  if (name == "baseline") return Isa::kBaseline;
  if (name == "avx2") return Isa::kAvx2;
  if (name == "avx512") return Isa::kAvx512;
  return std::nullopt;
}

int Main(int argc, char** argv) {
  uint64_t first = 1, count = 100000;
  std::optional<Isa> exact;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (flag == "--first") {
      first = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (flag == "--count") {
      count = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (flag == "--exact" && IsaNamed(argv[i + 1])) {
      exact = IsaNamed(argv[i + 1]);
    } else {
      return 2;
    }
  }
  if (argc % 2 == 0) return 2;
  if (exact.value_or(Isa::kBaseline) > MachineIsa()) {
    std::fprintf(stderr, "assay_generated: this machine lacks the instruction set\n");
    return 2;
  }
  uint64_t different = 0;
  std::string digests;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t seed = first + i;
    if (exact) {
      digests += DigestByExact(ProgramOfSeed(seed), *exact);
    } else {
      const Difference difference = CompareEngines(ProgramOfSeed(seed));
      digests += difference.digest;
      if (!difference.text.empty()) {
        ++different;
        std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(seed),
                     difference.text.c_str());
      }
    }
    if ((i + 1) % kProgramsOfLine != 0 && i + 1 != count) continue;
    std::printf("to %llu: %s\n", static_cast<unsigned long long>(seed), Sha256Hex(digests).c_str());
    std::fflush(stdout);
    digests.clear();
  }
  return different > 0 ? 1 : 0;
}

}  // namespace
}  // namespace assay::testing

int main(int argc, char** argv) {
  const int code = assay::testing::Main(argc, argv);
  if (code == 2)
    std::fprintf(stderr,
                 "usage: assay_generated [--first SEED] [--count N] [--exact baseline|avx2|avx512]\n");
  return code;
}
