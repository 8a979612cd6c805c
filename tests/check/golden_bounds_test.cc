// Bounds are derived of every golden that is a valid program: one that has no rule for an op has elements of
// which nothing is known, never a program that can't be verified.
#include <catch2/catch.hpp>

#include "base/file_io.h"
#include "check/derive_bounds.h"
#include "check/golden/golden.h"
#include "run/program.h"

namespace assay {

TEST_CASE("bounds: every golden has a derived program", "[bounds]") {
  const absl::StatusOr<Profile> profile = LoadProfile("tpu-bf16");
  REQUIRE(profile.ok());
  int derived = 0, refused = 0;
  for (const std::string& path : FindGoldens({ASSAY_SOURCE_DIR "/golden"}).files) {
    const absl::StatusOr<std::string> text = ReadFile(path);
    REQUIRE(text.ok());
    const absl::StatusOr<Program> program = Program::Load(path, *text);
    if (!program.ok()) continue;  // a golden of what is refused
    INFO(path);
    absl::StatusOr<DerivedBounds> bounds = DeriveBounds(program->verified(), *profile);
    if (!bounds.ok()) {
      INFO(bounds.status());
      CHECK(ExitCodeOf(bounds.status()) == 4);
      ++refused;
      continue;
    }
    const absl::StatusOr<Program> with_bounds = Program::OfModule(std::move(bounds->module));
    INFO(with_bounds.status());
    CHECK(with_bounds.ok());
    ++derived;
  }
  CHECK(derived > 2000);
  CHECK(refused < 600);
}

}  // namespace assay
