// Attribute values. Which words an attribute takes is decided by its name, as its form is; words that may be
// written in any case are stored in the case that is printed.
#include "hlo/text/attribute_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/counted.h"
#include "fmt/format.h"
#include "hlo/text/device_groups.h"
#include "hlo/text/literal_value.h"

namespace assay {
namespace {

struct WordList {
  Attr attr;
  bool any_case;
  std::vector<std::string_view> words;
};

const std::vector<WordList>& WordLists() {
  static const auto* const kLists = new std::vector<WordList>{
      {Attr::kAlgorithm,
       true,
       {"unset", "dot_any_f8_any_f8_f32", "dot_any_f8_any_f8_f32_fast_accum", "dot_f16_f16_f16",
        "dot_f16_f16_f32", "dot_bf16_bf16_bf16", "dot_bf16_bf16_f32", "dot_bf16_bf16_f32_x3",
        "dot_bf16_bf16_f32_x6", "dot_bf16_bf16_f32_x9", "dot_tf32_tf32_f32", "dot_tf32_tf32_f32_x3",
        "dot_f32_f32_f32", "dot_f64_f64_f64", "rng_default", "rng_three_fry", "rng_philox"}},
      {Attr::kApiVersion,
       true,
       {"API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED",
        "API_VERSION_TYPED_FFI"}},
      {Attr::kConvolutionKind, false, {"fprop", "wgrad", "dgrad", "unset"}},
      {Attr::kDirection, false, {"EQ", "NE", "GE", "GT", "LE", "LT"}},
      {Attr::kDistribution, true, {"rng_uniform", "rng_normal", "rng_invalid"}},
      {Attr::kFftType, false, {"FFT", "IFFT", "RFFT", "IRFFT"}},
      {Attr::kKind, false, {"kLoop", "kInput", "kOutput", "kCustom"}},
      {Attr::kMode,
       false,
       {"cross_replica", "cross_partition", "cross_replica_and_partition", "flattened_id"}},
      {Attr::kOperandPrecision, true, {"default", "high", "highest"}},
      {Attr::kPaddingType, false, {"PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"}},
      {Attr::kSchedule, true, {"SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"}},
      {Attr::kTransposeA, false, {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}},
      {Attr::kType, false, {"FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"}},
  };
  return *kLists;
}

bool SameIgnoringCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

absl::Status ReadAttrWord(TokenReader& in, Attr attr, std::string* word) {
  const auto& lists = WordLists();
  const auto list =
      std::find_if(lists.begin(), lists.end(), [&](const WordList& entry) { return entry.attr == attr; });
  ASSAY_CHECK(list != lists.end());
  if (in.At(TokenKind::kIdent)) {
    for (std::string_view known : list->words) {
      const std::string_view found = in.token().text;
      if (list->any_case ? !SameIgnoringCase(found, known) : found != known) continue;
      *word = std::string(known);
      in.Next();
      return absl::OkStatus();
    }
  }
  return in.Unexpected(fmt::format("one of: {}", fmt::join(list->words, ", ")));
}

// The numbers of a DXD token or a single INT: "3x3", "3".
absl::Status ReadDxD(TokenReader& in, Ints* values) {
  if (in.At(TokenKind::kInt)) {
    values->push_back(in.token().integer);
    in.Next();
    return absl::OkStatus();
  }
  if (!in.At(TokenKind::kDxD)) return in.Unexpected("sizes like 3x3");
  const std::string_view text = in.token().text;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    const auto [next, error] = std::from_chars(at, end, values->emplace_back());
    if (error != std::errc())
      return InvalidProgram(in.position(), "a number of the sizes does not fit 64 bits");
    if (next == end) break;
    at = next + 1;
  }
  in.Next();
  return absl::OkStatus();
}

// The numbers of a PAD token, by dimension: "0_1x2_2_1" is {{0,1},{2,2,1}}.
absl::Status ReadPad(TokenReader& in, IntLists* dimensions) {
  if (!in.At(TokenKind::kPad)) return in.Unexpected("padding like 0_1x2_2");
  const std::string_view text = in.token().text;
  const char* at = text.data();
  const char* const end = at + text.size();
  dimensions->emplace_back();
  while (true) {
    const auto [next, error] = std::from_chars(at, end, dimensions->back().emplace_back());
    if (error != std::errc())
      return InvalidProgram(in.position(), "a number of the padding does not fit 64 bits");
    if (next == end) break;
    if (*next == 'x') dimensions->emplace_back();
    at = next + 1;
  }
  in.Next();
  return absl::OkStatus();
}

struct WindowField {
  std::string_view name;
  int64_t WindowDimension::*member;
  int64_t least;
};
constexpr WindowField kWindowFields[] = {
    {"size", &WindowDimension::size, 0},
    {"stride", &WindowDimension::stride, 0},
    {"lhs_dilate", &WindowDimension::base_dilation, 0},
    {"rhs_dilate", &WindowDimension::window_dilation, 0},
};

struct WindowParts {
  Ints sizes[4];  // as kWindowFields
  Ints reversal;
  IntLists pad;
};

absl::Status ReadWindowPart(TokenReader& in, WindowParts* parts) {
  const SourcePosition where = in.position();
  const std::string name(in.token().text);
  const auto twice = [&] {
    return InvalidProgram(where, fmt::format("window: '{}=' is written twice", name));
  };
  if (name == "pad") {
    if (!parts->pad.empty()) return twice();
    in.Next();
    const SourcePosition value = in.position();
    ASSAY_RETURN_IF_ERROR(ReadPad(in, &parts->pad));
    for (const Ints& dimension : parts->pad) {
      if (dimension.size() == 2) continue;
      return InvalidProgram(value, "window: pad has 3 numbers for a dimension, want 2 (low_high)");
    }
    return absl::OkStatus();
  }
  Ints* values = name == "rhs_reversal" ? &parts->reversal : nullptr;
  for (size_t i = 0; i < std::size(kWindowFields); ++i) {
    if (name == kWindowFields[i].name) values = &parts->sizes[i];
  }
  if (values == nullptr) {
    return in.Unexpected("size=, stride=, pad=, lhs_dilate=, rhs_dilate= or rhs_reversal=");
  }
  if (!values->empty()) return twice();
  in.Next();
  return ReadDxD(in, values);
}

// Puts the numbers of one part into the window; an absent part keeps the defaults.
absl::Status FillWindow(SourcePosition where, std::string_view name, const Ints& values, int64_t least,
                        int64_t most, Window* window,
                        const std::function<void(WindowDimension&, int64_t)>& set) {
  if (values.empty()) return absl::OkStatus();
  if (values.size() != window->size()) {
    return InvalidProgram(where, fmt::format("window: {} has {}, size has {}", name,
                                             Counted(values.size(), "number"), window->size()));
  }
  for (size_t d = 0; d < values.size(); ++d) {
    if (values[d] < least || values[d] > most) {
      return InvalidProgram(where, fmt::format("window: {} is {} in dimension {}, want at least {}{}", name,
                                               values[d], d, least, most == 1 ? " and at most 1" : ""));
    }
    set((*window)[d], values[d]);
  }
  return absl::OkStatus();
}

absl::StatusOr<AttrValue> ReadWindow(TokenReader& in) {
  const SourcePosition where = in.position();
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLeftBrace));
  WindowParts parts;
  while (in.At(TokenKind::kAttrName)) ASSAY_RETURN_IF_ERROR(ReadWindowPart(in, &parts));
  if (!in.Eat(TokenKind::kRightBrace)) return in.Unexpected("a part like size=3x3, or '}'");
  Window window(parts.sizes[0].size());
  constexpr int64_t kNoMost = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < std::size(kWindowFields); ++i) {
    const WindowField& field = kWindowFields[i];
    ASSAY_RETURN_IF_ERROR(
        FillWindow(where, field.name, parts.sizes[i], field.least, kNoMost, &window,
                   [&](WindowDimension& dimension, int64_t value) { dimension.*field.member = value; }));
  }
  ASSAY_RETURN_IF_ERROR(
      FillWindow(where, "rhs_reversal", parts.reversal, 0, 1, &window,
                 [](WindowDimension& dimension, int64_t value) { dimension.reversal = value != 0; }));
  if (!parts.pad.empty() && parts.pad.size() != window.size()) {
    return InvalidProgram(where, fmt::format("window: pad has {}, size has {}",
                                             Counted(parts.pad.size(), "dimension"), window.size()));
  }
  for (size_t d = 0; d < parts.pad.size(); ++d) {
    window[d].padding_low = parts.pad[d][0];
    window[d].padding_high = parts.pad[d][1];
  }
  return AttrValue(std::move(window));
}

// Decision: rank-0-pad-text. An empty value is the padding of a scalar.
absl::StatusOr<AttrValue> ReadPadding(TokenReader& in) {
  PaddingConfig config;
  if (in.At(TokenKind::kComma) || in.At(TokenKind::kRightBrace) || in.At(TokenKind::kEof) || in.AtName() ||
      in.AtWord(TokenKind::kKeyword, "ROOT")) {
    return AttrValue(std::move(config));
  }
  const SourcePosition where = in.position();
  IntLists dimensions;
  ASSAY_RETURN_IF_ERROR(ReadPad(in, &dimensions));
  for (const Ints& d : dimensions) {
    config.push_back({d[0], d[1], d.size() > 2 ? d[2] : 0});
    if (config.back().interior < 0) {
      return InvalidProgram(where, fmt::format("Pad-C4: padding: interior is {}, want at least 0", d[2]));
    }
  }
  return AttrValue(std::move(config));
}

absl::StatusOr<AttrValue> ReadSlices(TokenReader& in) {
  SliceConfig slices;
  const auto read_item = [&] {
    SliceDimension& slice = slices.emplace_back();
    ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLeftSquare));
    ASSAY_RETURN_IF_ERROR(in.ReadInt(&slice.start));
    ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kColon));
    ASSAY_RETURN_IF_ERROR(in.ReadInt(&slice.limit));
    if (in.Eat(TokenKind::kColon)) ASSAY_RETURN_IF_ERROR(in.ReadInt(&slice.stride));
    return in.Expect(TokenKind::kRightSquare);
  };
  ASSAY_RETURN_IF_ERROR(in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace, read_item));
  return AttrValue(std::move(slices));
}

// One of the three parts of dimension labels: where the two named dimensions and the spatial ones stand.
absl::Status ReadLabels(SourcePosition where, std::string_view labels, std::string_view part, char first,
                        char second, int64_t* first_at, int64_t* second_at, Ints* spatial) {
  const auto bad = [&](std::string_view why) {
    return InvalidProgram(where,
                          fmt::format("dim_labels: {} labels '{}' {}", part, labels.substr(0, 40), why));
  };
  *first_at = *second_at = -1;
  spatial->assign(labels.size(), -1);
  int64_t num_spatial = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    const char c = labels[i];
    if (c == '?') continue;
    int64_t* at = c == first ? first_at : c == second ? second_at : nullptr;
    if (at == nullptr) {
      if (c < '0' || c > '9')
        return bad(fmt::format("hold '{}', want '{}', '{}', digits or '?'", c, first, second));
      if (static_cast<size_t>(c - '0') >= labels.size())
        return bad(fmt::format("hold '{}' without the digits below it", c));
      at = &(*spatial)[c - '0'];
      ++num_spatial;
    }
    if (*at != -1) return bad(fmt::format("hold '{}' twice", c));
    *at = static_cast<int64_t>(i);
  }
  if (*first_at < 0) return bad(fmt::format("lack '{}'", first));
  if (*second_at < 0) return bad(fmt::format("lack '{}'", second));
  spatial->resize(num_spatial);
  const auto missing = std::find(spatial->begin(), spatial->end(), -1);
  if (missing != spatial->end()) return bad(fmt::format("lack '{}'", missing - spatial->begin()));
  return absl::OkStatus();
}

absl::StatusOr<AttrValue> ReadDimLabels(TokenReader& in) {
  if (!in.At(TokenKind::kDimLabels)) return in.Unexpected("dimension labels like bf01_oi01->bf01");
  const SourcePosition where = in.position();
  const std::string_view text = in.token().text;
  const size_t underscore = text.find('_'), arrow = text.find("->");
  auto numbers = std::make_shared<ConvDimensionNumbers>();
  ASSAY_RETURN_IF_ERROR(ReadLabels(where, text.substr(0, underscore), "input", 'b', 'f',
                                   &numbers->input_batch, &numbers->input_feature, &numbers->input_spatial));
  ASSAY_RETURN_IF_ERROR(ReadLabels(where, text.substr(underscore + 1, arrow - underscore - 1), "kernel", 'o',
                                   'i', &numbers->kernel_output_feature, &numbers->kernel_input_feature,
                                   &numbers->kernel_spatial));
  ASSAY_RETURN_IF_ERROR(ReadLabels(where, text.substr(arrow + 2), "output", 'b', 'f', &numbers->output_batch,
                                   &numbers->output_feature, &numbers->output_spatial));
  if (numbers->input_spatial.size() != numbers->kernel_spatial.size() ||
      numbers->input_spatial.size() != numbers->output_spatial.size()) {
    return InvalidProgram(
        where,
        fmt::format("dim_labels: {} spatial dimensions in the input, {} in the kernel and {} in the output, "
                    "want as many in each",
                    numbers->input_spatial.size(), numbers->kernel_spatial.size(),
                    numbers->output_spatial.size()));
  }
  in.Next();
  return AttrValue(std::shared_ptr<const ConvDimensionNumbers>(std::move(numbers)));
}

absl::StatusOr<AttrValue> ReadAliasing(TokenReader& in) {
  Aliasing aliasing;
  const auto read_item = [&] {
    OutputOperandAlias& alias = aliasing.emplace_back();
    ASSAY_RETURN_IF_ERROR(ReadShapeIndex(in, &alias.output_index));
    ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kColon));
    ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLeftParen));
    ASSAY_RETURN_IF_ERROR(in.ReadNonNegative(&alias.operand, "operand number"));
    ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kComma));
    ASSAY_RETURN_IF_ERROR(ReadShapeIndex(in, &alias.operand_index));
    return in.Expect(TokenKind::kRightParen);
  };
  ASSAY_RETURN_IF_ERROR(in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace, read_item));
  return AttrValue(std::move(aliasing));
}

absl::Status ReadTolerance(TokenReader& in, ResultAccuracy* accuracy) {
  accuracy->mode = ResultAccuracy::Mode::kTolerance;
  bool seen[3] = {};
  return in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace, [&]() -> absl::Status {
    double* const values[] = {&accuracy->atol, &accuracy->rtol, &accuracy->ulps};
    constexpr std::string_view kNames[] = {"atol", "rtol", "ulps"};
    for (int i = 0; i < 3; ++i) {
      if (seen[i] || !in.EatAttrName(kNames[i])) continue;
      seen[i] = true;
      const SourcePosition where = in.position();
      ASSAY_RETURN_IF_ERROR(in.ReadFloat(values[i]));
      if (values[i] != &accuracy->ulps) return absl::OkStatus();
      // XLA keeps a whole number of 64 bits, whatever is written.
      if (!(std::abs(accuracy->ulps) < 0x1p63))
        return InvalidProgram(where, fmt::format("ulps is {}, want a number of 64 bits", accuracy->ulps));
      accuracy->ulps = std::trunc(accuracy->ulps) + 0.0;
      return absl::OkStatus();
    }
    return in.Unexpected("atol=, rtol= or ulps=, each once");
  });
}

absl::StatusOr<AttrValue> ReadAccuracy(TokenReader& in) {
  ResultAccuracy accuracy;
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLeftBrace));
  if (in.EatAttrName("mode")) {
    if (in.At(TokenKind::kIdent) && SameIgnoringCase(in.token().text, "highest")) {
      accuracy.mode = ResultAccuracy::Mode::kHighest;
    } else if (!in.At(TokenKind::kIdent) || !SameIgnoringCase(in.token().text, "default")) {
      return in.Unexpected("default or highest");
    }
    in.Next();
  } else if (in.EatAttrName("tolerance")) {
    ASSAY_RETURN_IF_ERROR(ReadTolerance(in, &accuracy));
  } else {
    return in.Unexpected("mode= or tolerance=");
  }
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kRightBrace));
  return AttrValue(accuracy);
}

absl::StatusOr<AttrValue> ReadIntsOrIntLists(TokenReader& in, AttrForm form) {
  if (form == AttrForm::kInts || (form == AttrForm::kIntsOrIntLists && in.Ahead() != TokenKind::kLeftBrace)) {
    Ints ints;
    ASSAY_RETURN_IF_ERROR(in.ReadInts(&ints));
    return AttrValue(std::move(ints));
  }
  IntLists lists;
  ASSAY_RETURN_IF_ERROR(in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace,
                                    [&] { return in.ReadInts(&lists.emplace_back()); }));
  return AttrValue(std::move(lists));
}

absl::StatusOr<AttrValue> ReadWords(TokenReader& in, Attr attr) {
  std::vector<Word> words;
  ASSAY_RETURN_IF_ERROR(in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace,
                                    [&] { return ReadAttrWord(in, attr, &words.emplace_back().text); }));
  return AttrValue(std::move(words));
}

absl::StatusOr<AttrValue> ReadShapes(TokenReader& in) {
  ShapeList shapes;
  const auto read_item = [&]() -> absl::Status {
    std::shared_ptr<const Shape> shape;
    ASSAY_RETURN_IF_ERROR(in.ReadShape(&shape));
    shapes.push_back(*shape);
    return absl::OkStatus();
  };
  ASSAY_RETURN_IF_ERROR(in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace, read_item));
  return AttrValue(std::move(shapes));
}

// literal=s32[2] {1,2}, or literal=(s32[2] {1,2}, f32[] 3): a shape stands before each array. Null: elided.
absl::StatusOr<LiteralPtr> ReadShapedLiteral(TokenReader& in) {
  const TokenReader::Nesting nesting(in);
  ASSAY_RETURN_IF_ERROR(nesting.status());
  if (!in.At(TokenKind::kLeftParen)) {
    std::shared_ptr<const Shape> shape;
    ASSAY_RETURN_IF_ERROR(in.ReadShape(&shape));
    return ReadLiteral(in, *shape);
  }
  std::vector<Literal> elements;
  bool elided = false;
  ASSAY_RETURN_IF_ERROR(in.ReadList(TokenKind::kLeftParen, TokenKind::kRightParen, [&]() -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(const LiteralPtr element, ReadShapedLiteral(in));
    if (element == nullptr) {
      elided = true;
    } else {
      elements.push_back(*element);
    }
    return absl::OkStatus();
  }));
  if (elided) return LiteralPtr();
  return std::make_shared<const Literal>(Literal::Tuple(std::move(elements)));
}

// The source of a bracketed value, one space between tokens only where a list or words need it.
absl::StatusOr<AttrValue> ReadRaw(TokenReader& in) {
  const SourcePosition where = in.position();
  RawText raw;
  int64_t depth = 0;
  if (!in.At(TokenKind::kLeftBrace)) return in.Unexpected("'{'");
  bool space = false;
  do {
    if (in.At(TokenKind::kError)) return in.lexer().error();
    if (in.At(TokenKind::kEof)) return InvalidProgram(where, "value is not closed: '}' is missing");
    const bool opens = in.At(TokenKind::kLeftBrace), closes = in.At(TokenKind::kRightBrace);
    const bool tight = closes || in.At(TokenKind::kComma) || raw.text.ends_with('{');
    depth += opens - closes;
    if (space && !tight) raw.text += ' ';
    raw.text += in.lexer().Spelling();
    space = !in.At(TokenKind::kAttrName);
    in.Next();
  } while (depth > 0);
  return AttrValue(std::move(raw));
}

}  // namespace

absl::Status ReadShapeIndex(TokenReader& in, Ints* index) {
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLeftBrace));
  while (!in.At(TokenKind::kRightBrace)) {
    ASSAY_RETURN_IF_ERROR(in.ReadNonNegative(&index->emplace_back(), "shape index"));
    if (!in.Eat(TokenKind::kComma)) break;
  }
  return in.Expect(TokenKind::kRightBrace);
}

absl::StatusOr<AttrValue> ReadAttributeValue(TokenReader& in, Attr attr) {
  switch (FormOf(attr)) {
    case AttrForm::kBool: {
      bool value;
      ASSAY_RETURN_IF_ERROR(in.ReadBool(&value));
      return AttrValue(value);
    }
    case AttrForm::kInt: {
      int64_t value;
      ASSAY_RETURN_IF_ERROR(in.ReadInt(&value));
      return AttrValue(value);
    }
    case AttrForm::kFloat: {
      double value;
      ASSAY_RETURN_IF_ERROR(in.ReadFloat(&value));
      return AttrValue(value);
    }
    case AttrForm::kString: {
      std::string value;
      ASSAY_RETURN_IF_ERROR(in.ReadString(&value));
      return AttrValue(std::move(value));
    }
    case AttrForm::kWord: {
      Word word;
      ASSAY_RETURN_IF_ERROR(ReadAttrWord(in, attr, &word.text));
      return AttrValue(std::move(word));
    }
    case AttrForm::kWords:
      return ReadWords(in, attr);
    case AttrForm::kInts:
    case AttrForm::kIntLists:
    case AttrForm::kIntsOrIntLists:
      return ReadIntsOrIntLists(in, FormOf(attr));
    case AttrForm::kWindow:
      return ReadWindow(in);
    case AttrForm::kPadding:
      return ReadPadding(in);
    case AttrForm::kSlices:
      return ReadSlices(in);
    case AttrForm::kDimLabels:
      return ReadDimLabels(in);
    case AttrForm::kShape: {
      std::shared_ptr<const Shape> shape;
      ASSAY_RETURN_IF_ERROR(in.ReadShape(&shape));
      return AttrValue(std::move(shape));
    }
    case AttrForm::kShapes:
      return ReadShapes(in);
    case AttrForm::kLiteral: {
      const SourcePosition where = in.position();
      ASSAY_ASSIGN_OR_RETURN(LiteralPtr literal, ReadShapedLiteral(in));
      if (literal == nullptr) {
        return InvalidProgram(where, "LIT-3: the literal is elided, '{...}' stands for no particular value");
      }
      return AttrValue(std::move(literal));
    }
    case AttrForm::kAliasing:
      return ReadAliasing(in);
    case AttrForm::kReplicaGroups: {
      ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<const ReplicaGroups> groups, ReadReplicaGroups(in));
      return AttrValue(std::move(groups));
    }
    case AttrForm::kAccuracy:
      return ReadAccuracy(in);
    case AttrForm::kRaw:
      return ReadRaw(in);
    case AttrForm::kComputation:
    case AttrForm::kComputations:
      break;
  }
  ASSAY_CHECK(false);
  return absl::InternalError("unreachable");
}

}  // namespace assay
