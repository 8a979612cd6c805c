// A page with hostile names: of a file, an instruction, a backend's words. It has the elements of the page
// with harmless names, and no others; what stands in quotes stays there.
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "check/profile.h"
#include "check/report/html.h"
#include "check/report/report.h"
#include "hlo/text/parser.h"

namespace {

constexpr std::string_view kProgram = R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  y = f32[2] exponential(x)
  ROOT z = f32[2] add(x, y)
}
)";

std::string Page(std::string_view name) {
  absl::StatusOr<assay::Module> module = assay::ParseHloText(kProgram);
  ASSAY_CHECK(module.ok());
  module->name = name;
  for (assay::Computation& computation : module->computations) {
    for (assay::Instruction& instruction : computation.instructions) instruction.name = name;
  }
  const std::string text(name);
  const assay::ReportHeader header = {text, text, text, text, text, text};
  assay::Profile profile;
  profile.name = name;
  profile.origin.push_back({"device", text});
  const std::vector<assay::DerivedBounds::Note> notes = {{text, text, text}};
  const std::vector<assay::ReportedOrigin> origins = {{text, {{0, text}, {1, text}}, {text}}};
  absl::StatusOr<std::string> page =
      assay::HtmlReport({header, *module, profile, {}, notes, {}, nullptr, &origins});
  ASSAY_CHECK(page.ok());
  return *std::move(page);
}

// Names of elements, and of their attributes with the element's before them.
std::set<std::string> ElementsOf(std::string_view page) {
  std::set<std::string> names;
  for (size_t at = page.find('<'); at < page.size(); at = page.find('<', at)) {
    const size_t end = page.find_first_of(" >\n", at);
    ASSAY_CHECK(end != std::string_view::npos);
    const std::string element(page.substr(at, end - at));
    names.insert(element);
    at = end;
    bool quoted = false;
    size_t attribute = at;
    for (; at < page.size() && (quoted || page[at] != '>'); ++at) {
      if (page[at] == '"') quoted = !quoted;
      if (quoted) continue;
      if (page[at] == ' ' || page[at] == '\n') attribute = at + 1;
      if (page[at] == '=') names.insert(element + " " + std::string(page.substr(attribute, at - attribute)));
    }
    // Scripts and styles are not text.
    if (element == "<script" || element == "<style") at = page.find("</", at);
  }
  return names;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 4096) return 0;
  static const std::set<std::string>& known = *new std::set<std::string>([] {
    std::set<std::string> names = ElementsOf(Page("harmless"));
    names.merge(ElementsOf(Page(std::string(3000, 'w'))));
    return names;
  }());
  const std::string_view name(reinterpret_cast<const char*>(data), size);
  for (const char c : assay::EscapeHtml(name)) ASSAY_CHECK(c != '<' && c != '>' && c != '"');
  for (const std::string& element : ElementsOf(Page(name))) ASSAY_CHECK(known.contains(element));
  return 0;
}
