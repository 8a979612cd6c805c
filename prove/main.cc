// tools/prove: exhaustive and random proofs of the elementwise functions and of exact sums, outside
// tools/test. Exit code 1 if anything is wrong, 2 if the command line is.
#include <cstdio>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "CLI/CLI.hpp"
#include "base/error.h"
#include "fmt/format.h"
#include "prove/approximate.h"
#include "prove/narrow.h"
#include "prove/random_proof.h"
#include "prove/report.h"
#include "prove/single.h"
#include "prove/sums.h"

namespace assay::prove {
namespace {

struct Flags {
  int bits = 0;
  std::vector<std::string> f32;
  std::string shard = "0/1";
  int64_t f64 = 0;
  int64_t sums = 0;
  std::vector<std::string> only;
  std::vector<std::string> approximate;
  std::string engine = "exact";
  int jobs = 0;
  bool record = false;
};

std::string Today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof(text), "%Y-%m-%d", std::gmtime(&now));
  return text;
}

// "I/N"
absl::StatusOr<Shard> ParseShard(const std::string& text) {
  Shard shard;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%ld/%ld%c", &shard.index, &shard.count, &rest) != 2 || shard.count < 1 ||
      shard.count > kUnits || shard.index < 0 || shard.index >= shard.count) {
    return BadInput(fmt::format("--shard is {}, wanted I/N with 0 <= I < N <= {}", text, kUnits));
  }
  return shard;
}

absl::Status RunSingle(const Flags& flags, Ledger& ledger) {
  ASSAY_ASSIGN_OR_RETURN(const Shard shard, ParseShard(flags.shard));
  for (const std::string& name : flags.f32) {
    if (name != "all" && FindFunction1(name) == nullptr) return BadInput("--f32: no function " + name);
    for (const Function1& f : Functions1()) {
      if (name != "all" && FindFunction1(name) != &f) continue;
      ASSAY_RETURN_IF_ERROR(ProveSingle(f, flags.engine, shard, flags.jobs, "build/prove", ledger));
    }
  }
  return absl::OkStatus();
}

int Run(const Flags& flags) {
  Ledger ledger(flags.approximate.empty() ? flags.engine : "fast");
  for (const std::string& name : flags.approximate) {
    if (const absl::Status status = ProveApproximate(name, flags.f64, flags.jobs, ledger); !status.ok()) {
      fmt::print(stderr, "{}\n", std::string(status.message()));
      return 2;
    }
  }
  if (const absl::Status status = RunSingle(flags, ledger); !status.ok()) {
    fmt::print(stderr, "{}\n", std::string(status.message()));
    return 2;
  }
  if (flags.f64 > 0 && flags.approximate.empty())
    ProveDoubles(flags.f64, flags.only, flags.engine, flags.jobs, ledger);
  if (flags.sums > 0) {
    if (const absl::Status status = ProveSums(flags.sums, flags.engine, ledger); !status.ok()) {
      fmt::print(stderr, "{}\n", std::string(status.message()));
      return 2;
    }
  }
  if (flags.bits > 0) ProveNarrow(flags.bits, flags.engine, flags.jobs, ledger);
  if (flags.record) {
    const absl::Status recorded = ledger.Record("docs/data/proofs.md", Today());
    if (!recorded.ok()) {
      fmt::print(stderr, "{}\n", std::string(recorded.message()));
      return 2;
    }
  }
  return ledger.AllRight() ? 0 : 1;
}

}  // namespace
}  // namespace assay::prove

int main(int argc, char** argv) {
  assay::prove::Flags flags;
  CLI::App app("Proves elementwise functions and exact sums against MPFR and GMP.", "tools/prove");
  app.add_option("--bits", flags.bits,
                 "every input of float types of at most N bits (pairs: 8), integers, converts")
      ->check(CLI::Range(1, 16));
  app.add_option("--f32", flags.f32,
                 "all 2^32 inputs of a function (exp, log, …) or of all; takes up where it ended")
      ->take_all();
  app.add_option("--shard", flags.shard, "I/N: the I-th of N parts of the f32 inputs, spread over the range");
  app.add_option("--f64", flags.f64,
                 "N random, boundary and hard inputs of every f64 function, f32 pairs too")
      ->expected(0, 1)
      ->default_str("10000000")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--sums", flags.sums, "N sums and dots of each op and type, 1, 2 and 7 threads, permuted")
      ->expected(0, 1)
      ->default_str("10000")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--approximate", flags.approximate,
                 "the approximate functions of --engine fast within what they state: all inputs of f32, f16 "
                 "and bf16, and "
                 "--f64 N inputs of f64; of a function or of all")
      ->take_all();
  app.add_option("--only", flags.only, "with --f64: these functions")->take_all();
  app.add_option(
         "--engine", flags.engine,
         "whose functions are proved: exact, exact-avx2, exact-avx512; exact-strips: those with a rounding "
         "test where there are others, too; exact-baseline, reference")
      ->check(CLI::Validator(
          [](const std::string& name) {
            return assay::prove::IsEngine(name) ? "" : "unknown engine " + name;
          },
          "ENGINE"));
  flags.jobs = static_cast<int>(std::thread::hardware_concurrency());
  app.add_option("--jobs", flags.jobs, "threads")->check(CLI::Range(1, 1024));
  app.add_flag("--record", flags.record, "put the results into the table of docs/data/proofs.md");
  CLI11_PARSE(app, argc, argv);
  return assay::prove::Run(flags);
}
