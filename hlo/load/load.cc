#include "hlo/load/load.h"

#include <algorithm>

#include "hlo/mlir/bytecode_reader.h"
#include "hlo/mlir/import.h"
#include "hlo/mlir/text_parser.h"
#include "hlo/mlir/tree_text.h"
#include "hlo/proto/import.h"
#include "hlo/text/parser.h"

namespace assay {
namespace {

bool EndsWith(std::string_view text, std::string_view ending) {
  return text.size() >= ending.size() && text.substr(text.size() - ending.size()) == ending;
}

// Editors put a byte order mark before text in UTF-8. No other form starts with its bytes.
std::string_view WithoutMark(std::string_view bytes) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  return bytes.substr(bytes.substr(0, kMark.size()) == kMark ? kMark.size() : 0);
}

// The first word of the text behind white space and // comments (both HLO and MLIR text have them).
std::string_view FirstWord(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++i;
    } else if (c == '/' && i + 1 < text.size() && text[i + 1] == '/') {
      while (i < text.size() && text[i] != '\n') ++i;
    } else {
      break;
    }
  }
  size_t end = i;
  while (end < text.size() && text[end] > ' ' && text[end] != '(' && text[end] != '{') ++end;
  return text.substr(i, end - i);
}

}  // namespace

ProgramForm FormOfProgram(std::string_view name, std::string_view bytes) {
  bytes = WithoutMark(bytes);
  constexpr std::string_view kBytecodeMagic = "ML\xefR";
  if (bytes.substr(0, kBytecodeMagic.size()) == kBytecodeMagic) return ProgramForm::kStableHloBytecode;
  // This comes before the first word is looked for: a module's name may start with anything.
  if (HoldsProtoModule(bytes)) return ProgramForm::kProto;
  const std::string_view word = FirstWord(bytes);
  if (word == "module" || word == "func.func" || word == "builtin.module" || word == "\"builtin.module\"" ||
      word == "\"func.func\"" || (!word.empty() && (word[0] == '#' || word[0] == '!'))) {
    return ProgramForm::kStableHloText;
  }
  if (word == "HloModule" || word == "ENTRY" || EndsWith(name, ".hlo") || EndsWith(name, ".txt")) {
    return ProgramForm::kHloText;
  }
  if (EndsWith(name, ".pb")) return ProgramForm::kProto;
  if (EndsWith(name, ".mlirbc")) return ProgramForm::kStableHloBytecode;
  if (EndsWith(name, ".mlir")) return ProgramForm::kStableHloText;
  // What is left of a broken protocol buffer has bytes that no text has.
  const auto is_binary = [](char c) {
    const auto byte = static_cast<uint8_t>(c);
    return byte < '\t' || (byte > '\r' && byte < ' ');
  };
  return std::any_of(bytes.begin(), bytes.end(), is_binary) ? ProgramForm::kProto : ProgramForm::kHloText;
}

std::vector<ProgramPart> PartsOfFile(std::string_view name, std::string_view bytes) {
  bytes = WithoutMark(bytes);
  constexpr std::string_view kSeparator = "\n// -----";
  if (bytes.find(kSeparator) == std::string_view::npos ||
      FormOfProgram(name, bytes) != ProgramForm::kStableHloText) {
    return {{bytes, 0}};
  }
  std::vector<ProgramPart> parts;
  int32_t lines_before = 0;
  for (size_t begin = 0; begin < bytes.size();) {
    // The separator is a comment of the part behind it.
    const size_t end = std::min(bytes.find(kSeparator, begin), bytes.size());
    const std::string_view part = bytes.substr(begin, end - begin);
    if (!FirstWord(part).empty()) parts.push_back({part, lines_before});
    lines_before += static_cast<int32_t>(std::count(part.begin(), part.end(), '\n')) + 1;
    begin = end + 1;
  }
  return parts;
}

absl::StatusOr<std::optional<std::string>> QuantizedProgramText(std::string_view name,
                                                                std::string_view bytes) {
  bytes = WithoutMark(bytes);
  const ProgramForm form = FormOfProgram(name, bytes);
  if (form != ProgramForm::kStableHloText && form != ProgramForm::kStableHloBytecode) return std::nullopt;
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<mlir::Tree> tree, form == ProgramForm::kStableHloText
                                                                     ? mlir::ParseMlirText(bytes)
                                                                     : mlir::ReadMlirBytecode(bytes));
  if (!tree->has_quantized) return std::nullopt;
  ASSAY_ASSIGN_OR_RETURN(std::string text, mlir::TreeToText(*tree));
  return std::optional(std::move(text));
}

absl::StatusOr<Module> LoadProgram(std::string_view name, std::string_view bytes,
                                   std::vector<Warning>* warnings) {
  bytes = WithoutMark(bytes);
  switch (FormOfProgram(name, bytes)) {
    case ProgramForm::kHloText:
      return ParseHloText(bytes, warnings);
    case ProgramForm::kProto:
      return ImportProto(bytes);
    case ProgramForm::kStableHloText:
      return ParseStableHloText(bytes);
    case ProgramForm::kStableHloBytecode:
      return ParseStableHloBytecode(bytes);
  }
  return NotSupported({}, "unknown program form");
}

}  // namespace assay
