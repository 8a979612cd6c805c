#include "hlo/load/load.h"

#include <algorithm>

#include "base/text_cursor.h"
#include "fmt/format.h"
#include "hlo/mlir/bytecode/reader.h"
#include "hlo/mlir/import/importer.h"
#include "hlo/mlir/quantized/lowering.h"
#include "hlo/mlir/refine/refine.h"
#include "hlo/mlir/text/parser.h"
#include "hlo/mlir/text/tree_text.h"
#include "hlo/proto/import.h"
#include "hlo/text/parser.h"

namespace assay {
namespace {

// Editors put a byte order mark before text in UTF-8. No other form starts with its bytes.
std::string_view StripByteOrderMark(std::string_view bytes) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  return bytes.substr(bytes.starts_with(kMark) ? kMark.size() : 0);
}

// The text behind white space and comments: // of both texts, /* */ of HLO text alone.
std::string_view BehindSpace(std::string_view text) {
  TextCursor cursor(text);
  return cursor.SkipSpaceAndComments() ? cursor.rest() : std::string_view();
}

std::string_view FirstToken(std::string_view text) {
  TextCursor cursor(BehindSpace(text));
  return cursor.TakeWhile([](char c) { return c > ' ' && c != '(' && c != '{'; });
}

// Where the parts of StableHLO text begin. The separator is a comment of the part behind it.
std::vector<size_t> BeginsOfMlir(std::string_view text) {
  constexpr std::string_view kSeparator = "\n// -----";
  std::vector<size_t> begins = {0};
  for (size_t at = text.find(kSeparator); at != std::string_view::npos; at = text.find(kSeparator, at + 1))
    begins.push_back(at + 1);
  return begins;
}

// Whether the text begins as a program without a header does: with ENTRY, a computation or an instruction.
bool BeginsWithoutHeader(std::string_view text) {
  const auto take_word = [&text] {
    text = BehindSpace(text);
    const std::string_view word = FirstToken(text);
    text.remove_prefix(word.size());
    return word;
  };
  std::string_view word = take_word();
  if (word == "ROOT") word = take_word();
  if (word == "ENTRY" || word.find('=') != std::string_view::npos) return true;
  text = BehindSpace(text);
  return !word.empty() && !text.empty() && (text[0] == '=' || text[0] == '(' || text[0] == '{');
}

// Where those of HLO text do: lines that start with HloModule, outside of comments and strings. What stands
// before the first of them is a part where it begins as a program does, else wrong text of the first one.
std::vector<size_t> BeginsOfHlo(std::string_view text) {
  constexpr std::string_view kHeader = "HloModule";
  std::vector<size_t> begins = {0};
  // Most texts are one module, and are not gone through.
  const size_t first = text.find(kHeader);
  if (first == std::string_view::npos) return begins;
  if (first == text.rfind(kHeader) && !BeginsWithoutHeader(text.substr(0, first))) return begins;
  const auto end_of = [&](std::string_view mark, size_t from) {
    const size_t found = text.find(mark, from);
    return found == std::string_view::npos ? text.size() : found + mark.size();
  };
  bool has_header = false;
  for (size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("//")) {
      i = std::min(text.find('\n', i), text.size());
    } else if (rest.starts_with("/*")) {
      i = end_of("*/", i + 2);
    } else if (rest[0] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\';
      ++i;
    } else {
      const bool starts_line = i == 0 || text[i - 1] == '\n';
      const bool ends_word =
          rest.size() == kHeader.size() ||
          (rest.size() > kHeader.size() && (rest[kHeader.size()] == ' ' || rest[kHeader.size()] == '\t'));
      if (starts_line && ends_word && rest.starts_with(kHeader)) {
        if (has_header || BeginsWithoutHeader(text.substr(0, i))) begins.push_back(i);
        has_header = true;
      }
      ++i;
    }
  }
  return begins;
}

bool IsStableHlo(ProgramForm form) {
  return form == ProgramForm::kStableHloText || form == ProgramForm::kStableHloBytecode;
}

// StableHLO of either form.
absl::StatusOr<std::unique_ptr<mlir::Tree>> ReadTree(std::string_view name, std::string_view bytes) {
  bytes = StripByteOrderMark(bytes);
  return FormOfProgram(name, bytes) == ProgramForm::kStableHloText ? mlir::ParseMlirText(bytes)
                                                                   : mlir::ReadMlirBytecode(bytes);
}

// The call that stands for a free program's body is no program's own.
absl::StatusOr<Module> WithoutStandIn(absl::StatusOr<Module> module) {
  if (!module.ok() || !HasFreeDimensions(*module)) return module;
  return NotSupported(
      {},
      fmt::format("a custom call of {}, which stands for a program with free dimensions: the program itself, "
                  "StableHLO, can be run",
                  mlir::kFreeProgram));
}

absl::StatusOr<Module> Imported(mlir::Tree& tree) {
  ASSAY_RETURN_IF_ERROR(mlir::LowerQuantizedTypes(tree));
  return WithoutStandIn(mlir::ImportModule(tree));
}

// What computes sizes from its own types alone is refined here; what takes them from arguments is checked.
absl::StatusOr<Module> ModuleOf(mlir::Tree& tree) {
  if (!mlir::NeedsRefinement(tree)) return Imported(tree);
  ASSAY_ASSIGN_OR_RETURN(const bool is_free, mlir::HasFreeArguments(tree));
  if (is_free) {
    ASSAY_RETURN_IF_ERROR(mlir::CheckSizes(tree));
    return mlir::SignatureOf(tree);
  }
  ASSAY_RETURN_IF_ERROR(mlir::RefineSizes(tree, {}));
  return Imported(tree);
}

}  // namespace

ProgramForm FormOfProgram(std::string_view name, std::string_view bytes) {
  bytes = StripByteOrderMark(bytes);
  constexpr std::string_view kBytecodeMagic = "ML\xefR";
  if (bytes.starts_with(kBytecodeMagic)) return ProgramForm::kStableHloBytecode;
  // This comes before the first word is looked for: a module's name may start with anything.
  if (HoldsProtoModule(bytes)) return ProgramForm::kProto;
  const std::string_view word = FirstToken(bytes);
  if (word == "module" || word == "func.func" || word == "builtin.module" || word == "\"builtin.module\"" ||
      word == "\"func.func\"" || (!word.empty() && (word[0] == '#' || word[0] == '!'))) {
    return ProgramForm::kStableHloText;
  }
  if (word == "HloModule" || word == "ENTRY" || name.ends_with(".hlo") || name.ends_with(".txt")) {
    return ProgramForm::kHloText;
  }
  if (name.ends_with(".pb")) return ProgramForm::kProto;
  if (name.ends_with(".mlirbc")) return ProgramForm::kStableHloBytecode;
  if (name.ends_with(".mlir")) return ProgramForm::kStableHloText;
  // What is left of a broken protocol buffer has bytes that no text has.
  const auto is_binary = [](char c) {
    const auto byte = static_cast<uint8_t>(c);
    return byte < '\t' || (byte > '\r' && byte < ' ');
  };
  return std::any_of(bytes.begin(), bytes.end(), is_binary) ? ProgramForm::kProto : ProgramForm::kHloText;
}

std::vector<ProgramPart> PartsOfFile(std::string_view name, std::string_view bytes) {
  bytes = StripByteOrderMark(bytes);
  const ProgramForm form = FormOfProgram(name, bytes);
  std::vector<size_t> begins = form == ProgramForm::kStableHloText ? BeginsOfMlir(bytes)
                               : form == ProgramForm::kHloText     ? BeginsOfHlo(bytes)
                                                                   : std::vector<size_t>{0};
  if (begins.size() == 1) return {{bytes, 0}};
  begins.push_back(bytes.size());
  std::vector<ProgramPart> parts;
  int32_t lines_before = 0;
  for (size_t i = 0; i + 1 < begins.size(); ++i) {
    const std::string_view part = bytes.substr(begins[i], begins[i + 1] - begins[i]);
    if (!FirstToken(part).empty()) parts.push_back({part, lines_before});
    lines_before += static_cast<int32_t>(std::count(part.begin(), part.end(), '\n'));
  }
  return parts;
}

std::string_view ProgramPart::Name() const {
  const std::string_view word = FirstToken(text);
  if (word != "HloModule" && word != "module") return {};
  std::string_view rest = text.substr(static_cast<size_t>(word.data() + word.size() - text.data()));
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t@%\""), rest.size()));
  return rest.substr(0, rest.find_first_of(" \t\r\n,:{\""));
}

absl::StatusOr<std::optional<std::string>> QuantizedProgramText(std::string_view name,
                                                                std::string_view bytes) {
  if (!IsStableHlo(FormOfProgram(name, bytes))) return std::nullopt;
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<mlir::Tree> tree, ReadTree(name, bytes));
  if (!tree->has_quantized) return std::nullopt;
  ASSAY_ASSIGN_OR_RETURN(std::string text, mlir::TreeToText(*tree));
  return std::optional(std::move(text));
}

absl::StatusOr<std::optional<std::string>> FreeProgramText(std::string_view name, std::string_view bytes) {
  if (!IsStableHlo(FormOfProgram(name, bytes))) return std::nullopt;
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<mlir::Tree> tree, ReadTree(name, bytes));
  if (!mlir::NeedsRefinement(*tree)) return std::nullopt;
  ASSAY_ASSIGN_OR_RETURN(std::string text, mlir::TreeToText(*tree));
  return std::optional(std::move(text));
}

absl::StatusOr<Module> LoadProgram(std::string_view name, std::string_view bytes,
                                   std::vector<Warning>* warnings) {
  bytes = StripByteOrderMark(bytes);
  switch (FormOfProgram(name, bytes)) {
    case ProgramForm::kHloText:
      return WithoutStandIn(ParseHloText(bytes, warnings));
    case ProgramForm::kProto:
      return WithoutStandIn(ImportProto(bytes));
    case ProgramForm::kStableHloText:
    case ProgramForm::kStableHloBytecode: {
      ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<mlir::Tree> tree, ReadTree(name, bytes));
      return ModuleOf(*tree);
    }
  }
  return NotSupported({}, "unknown program form");
}

bool HasFreeDimensions(const Module& module) {
  // What was not verified may lack either.
  if (module.entry.value < 0 || module.entry.value >= std::ssize(module.computations)) return false;
  const Computation& entry = module.entry_computation();
  if (entry.root < 0 || entry.root >= std::ssize(entry.instructions)) return false;
  const Instruction& root = entry.root_instruction();
  if (root.opcode != Opcode::kCustomCall) return false;
  const auto* const target = std::get_if<std::string>(root.attributes.Find(Attr::kCustomCallTarget));
  return target != nullptr && *target == mlir::kFreeProgram;
}

absl::StatusOr<Module> RefineProgram(std::string_view name, std::string_view bytes,
                                     std::span<const KnownArgument> arguments) {
  bytes = StripByteOrderMark(bytes);
  if (!IsStableHlo(FormOfProgram(name, bytes))) return LoadProgram(name, bytes);
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<mlir::Tree> tree, ReadTree(name, bytes));
  if (!mlir::NeedsRefinement(*tree)) return ModuleOf(*tree);
  ASSAY_RETURN_IF_ERROR(mlir::RefineSizes(*tree, arguments));
  absl::StatusOr<Module> module = Imported(*tree);
  if (module.ok() || arguments.empty()) return module;
  return WrongForShapes(module.status());
}

absl::Status WrongForShapes(const absl::Status& status) {
  if (ExitCodeOf(status) != 3) return status;
  return EvalError(PositionOf(status).value_or(SourcePosition{}),
                   fmt::format("refined for the shapes of its arguments: {}", std::string(status.message())));
}

absl::Status LacksShapes(const Module& module) {
  std::string parameters;
  const Computation& entry = module.entry_computation();
  for (size_t i = 0; i < entry.parameters.size() && i < 8; ++i) {
    const Shape& shape = *entry.instructions[static_cast<size_t>(entry.parameters[i])].shape;
    parameters += fmt::format("{}arg{} {}", i == 0 ? "" : ", ", i, shape.ToString());
  }
  return NotSupported(
      {}, fmt::format("DYN-2: the program has free dimensions ({}{}), whose sizes come from inputs or from "
                      "--shapes arg0=2x3,…",
                      parameters, entry.parameters.size() > 8 ? ", …" : ""));
}

}  // namespace assay
