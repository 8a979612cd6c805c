// The files that --xla_dump_to writes of a module: before optimization, after each pass that
// --xla_dump_hlo_pass_re names, and after optimization.
#ifndef ASSAY_FIND_PASSES_DUMP_FOLDER_H_
#define ASSAY_FIND_PASSES_DUMP_FOLDER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace assay {

struct DumpFile {
  static constexpr int64_t kBefore = -1, kAfter = INT64_MAX;  // `number` before and after optimization
  std::string file;                                           // its name in the folder
  std::string module;                                         // module_0000.jit_f
  int64_t number = 0;
  std::string pipeline, pass, next;  // empty: the name says none

  // "simplification algsimp (0006)"
  std::string Title() const;
};

// From MODULE.NUMBER.PIPELINE.after_PASS.before_NEXT.txt, MODULE.before_optimizations.txt and
// MODULE.…after_optimizations.txt; endings are .txt, .hlo, .pb and .hlo.pb. nullopt: the file is no module.
std::optional<DumpFile> ParseDumpName(std::string_view file);

struct ModuleDumps {
  std::string module;
  std::vector<DumpFile> files;  // in order of the passes
};

// By module, those that the regular expression (ECMAScript) is found in, in order of their names. Where a
// step has a text and a proto, the proto is taken, which leaves no constant out. BadInput: the folder can't
// be read, or has no such file.
absl::StatusOr<std::vector<ModuleDumps>> ReadDumpFolder(const std::string& folder,
                                                        const std::string& module_pattern);

}  // namespace assay

#endif  // ASSAY_FIND_PASSES_DUMP_FOLDER_H_
