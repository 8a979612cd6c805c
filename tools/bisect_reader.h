// What `assay bisect` reads: programs of a compiler's, by the flags; and its two forms.
#ifndef ASSAY_TOOLS_BISECT_READER_H_
#define ASSAY_TOOLS_BISECT_READER_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "check/profile.h"
#include "find/programs/value_trace.h"
#include "tools/commands.h"

namespace assay::cli {

class ProgramReader {
 public:
  ProgramReader(const BisectFlags& flags, LoadedOps ops) : flags_(flags), ops_(std::move(ops)) {}

  // Reads and verifies a program; `path` names it in errors.
  absl::StatusOr<Program> Load(const std::string& path, std::string_view bytes) const;
  // What it runs on: --inputs or --random-inputs. BadInput: it has parameters, and neither is given.
  absl::StatusOr<ProgramInputs> InputsOf(const Program& program) const;

 private:
  const BisectFlags& flags_;
  const LoadedOps ops_;
};

// What is wrong with --command and --passes; empty: nothing.
std::string BisectCommandUsage(const BisectFlags& flags);
int BisectCompiler(const BisectFlags& flags, const ProgramReader& reader,
                   const std::optional<Profile>& profile);

}  // namespace assay::cli

#endif  // ASSAY_TOOLS_BISECT_READER_H_
