// The texts by which a library registers an operation: name, attributes, inputs, outputs and documentation,
// one a line, each with a letter before it. What is taken has a document and wrappers, and is the same
// interface once more.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "custom/op_document.h"
#include "custom/op_interface.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using assay::custom::MakeInterface;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  assay::custom::OpRegistration texts;
  texts.name = "Fuzzed.Op";
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    const std::string rest = line.substr(1);
    if (line[0] == 'n') texts.name = rest;
    if (line[0] == 'a') texts.attrs.push_back(rest);
    if (line[0] == 'i') texts.inputs.push_back(rest);
    if (line[0] == 'o') texts.outputs.push_back(rest);
    if (line[0] == 'd') texts.doc = rest;
    if (line[0] == 'c') texts.composite = rest;
    if (line[0] == 's') texts.has_side_effect = true;
  }
  const absl::StatusOr<assay::custom::OpInterface> op = MakeInterface(texts);
  if (!op.ok()) {
    const int exit_code = assay::ExitCodeOf(op.status());
    ASSAY_CHECK(exit_code == 3 || exit_code == 4 || exit_code == 5);
    return 0;
  }
  ASSAY_CHECK(!assay::custom::DocumentOf(*op).empty());
  ASSAY_CHECK(!assay::custom::PythonWrapper(*op).empty());
  ASSAY_CHECK(!assay::custom::CppWrapper(*op).empty());
  const absl::StatusOr<assay::custom::OpInterface> again = MakeInterface(texts);
  ASSAY_CHECK(again.ok() && assay::custom::SameInterface(*op, *again));
  return 0;
}
