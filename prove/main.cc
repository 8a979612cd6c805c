// tools/prove: exhaustive and random proofs of the elementwise functions and of exact sums, outside tools/test.
// Exit code 1 if anything is wrong, 2 if the command line is.
#include <ctime>
#include <string>
#include <thread>

#include "CLI/CLI.hpp"
#include "fmt/format.h"
#include "prove/narrow.h"
#include "prove/report.h"

namespace assay::prove {
namespace {

struct Flags {
  int bits = 0;
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

int Run(const Flags& flags) {
  Ledger ledger(flags.engine);
  if (flags.bits > 0) ProveNarrow(flags.bits, flags.engine, flags.jobs, ledger);
  if (flags.record) {
    const absl::Status recorded = ledger.Record("docs/proofs.md", Today());
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
  app.add_option("--engine", flags.engine,
                 "whose functions are proved: exact, reference, exact-baseline, exact-avx2, exact-avx512")
      ->check(CLI::Validator(
          [](const std::string& name) {
            return assay::prove::IsEngine(name) ? "" : "unknown engine " + name;
          },
          "ENGINE"));
  flags.jobs = static_cast<int>(std::thread::hardware_concurrency());
  app.add_option("--jobs", flags.jobs, "threads")->check(CLI::Range(1, 1024));
  app.add_flag("--record", flags.record, "put the results into the table of docs/proofs.md");
  CLI11_PARSE(app, argc, argv);
  return assay::prove::Run(flags);
}
