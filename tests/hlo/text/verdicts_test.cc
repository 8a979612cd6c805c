// Which texts are read and which are refused, against the parser of jaxlib 0.10.2: verdicts.txt is written by
// golden/oracles/hlo_text_verdicts.py, which also says why Assay decides otherwise in a few cases.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "hlo/text/parser.h"

namespace assay {
namespace {

TEST_CASE("parser: texts are read or refused as the reference does", "[parser]") {
  std::ifstream file(ASSAY_SOURCE_DIR "/tests/hlo/text/verdicts.txt", std::ios::binary);
  REQUIRE(file.good());
  std::stringstream contents;
  contents << file.rdbuf();
  const std::string all = contents.str();
  int texts = 0;
  for (size_t at = all.find("\n==== "); at != std::string::npos;) {
    const size_t line_end = all.find('\n', at + 1);
    const size_t next = all.find("\n==== ", line_end - 1);
    const std::string heading = all.substr(at + 1, line_end - at - 1);
    std::string text =
        all.substr(line_end + 1, (next == std::string::npos ? all.size() - 1 : next) - line_end - 1);
    if (const size_t nul = text.find("<NUL>"); nul != std::string::npos) text.replace(nul, 5, 1, '\0');
    const absl::StatusOr<Module> module = ParseHloText(text);
    INFO(heading << "\n" << text << "\n" << module.status().ToString());
    CHECK(module.ok() == (heading.find("assay: accept") != std::string::npos));
    if (!module.ok()) {
      const int exit_code = ExitCodeOf(module.status());
      CHECK((exit_code == 3 || exit_code == 4));
      CHECK(PositionOf(module.status()).has_value());
    }
    ++texts;
    at = next;
  }
  CHECK(texts >= 400);
}

}  // namespace
}  // namespace assay
