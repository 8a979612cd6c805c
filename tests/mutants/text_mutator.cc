#include "tests/mutants/text_mutator.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "fmt/format.h"
#include "hlo/opcode.h"
#include "shape/element_type.h"

namespace assay::testing {
namespace {

using Kind = TextToken::Kind;
using Words = std::vector<std::string>;

void Replace(std::string& text, const TextToken& token, std::string_view with) {
  text.replace(token.begin, token.end - token.begin, with);
}

// The token, or with it all that are spelled alike.
void ReplaceSome(const ScannedText& scanned, size_t at, bool all, std::string_view with, std::string& text) {
  const std::string_view was = scanned.Of(scanned.tokens()[at]);
  for (size_t i = scanned.tokens().size(); i-- > 0;) {
    if (i == at || (all && scanned.Of(scanned.tokens()[i]) == was)) Replace(text, scanned.tokens()[i], with);
  }
}

bool ChangeNumber(const ScannedText& scanned, Choices& choices, std::string& text) {
  const std::vector<size_t> numbers = scanned.All(Kind::kNumber);
  if (numbers.empty()) return false;
  const size_t at = AnyOf(numbers, choices);
  const std::string_view was = scanned.Of(scanned.tokens()[at]);
  static constexpr std::string_view kOthers[] = {
      "0",  "1",   "2",   "3",    "4",    "5",          "7",          "8",   "16",  "-1",   "-2", "17",
      "64", "127", "128", "1024", "4096", "2147483647", "4294967296", "inf", "nan", "-0.0", "1.5"};
  std::string with(AnyOf(kOthers, choices));
  int64_t value = 0;
  const auto parsed = std::from_chars(was.data(), was.data() + was.size(), value);
  if (parsed.ec == std::errc() && parsed.ptr == was.data() + was.size() && value < INT64_MAX &&
      value > INT64_MIN && !choices.OneIn(3))
    with = std::to_string(choices.OneIn(2) ? value + 1 : value - 1);
  ReplaceSome(scanned, at, choices.OneIn(2), with, text);
  return true;
}

// Words that may stand for each other.
const std::vector<Words>& WordClasses() {
  static const auto* const classes = [] {
    auto* all = new std::vector<Words>;
    Words types, opcodes, stablehlo;
    for (int t = 0; t < kNumElementTypes; ++t) types.emplace_back(Name(static_cast<ElementType>(t)));
    for (int i = 0; i < kNumOpcodes; ++i) {
      opcodes.emplace_back(Name(static_cast<Opcode>(i)));
      const std::string name(StableHloName(static_cast<Opcode>(i)));
      if (!name.empty())
        stablehlo.push_back(name.find('.') == std::string::npos ? "stablehlo." + name : name);
    }
    all->push_back(std::move(types));
    // Ops that take what the others take are tried more often than any.
    all->push_back({"abs", "negate", "copy", "tanh", "floor", "sign", "not", "exponential", "sqrt", "cosine",
                    "bitcast", "reshape", "opt-barrier", "popcnt", "logistic", "round-nearest-even", "real",
                    "is-finite"});
    all->push_back({"add", "subtract", "multiply", "divide", "maximum", "minimum", "and", "or", "xor",
                    "power", "remainder", "shift-left", "shift-right-logical", "atan2", "complex", "mulhi"});
    all->push_back(std::move(opcodes));
    all->push_back(std::move(stablehlo));
    all->push_back({"i1", "i4", "ui4", "i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64", "f16",
                    "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2"});
    all->push_back({"EQ", "NE", "LT", "LE", "GT", "GE"});
    all->push_back({"FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"});
    all->push_back({"true", "false"});
    all->push_back({"kLoop", "kInput", "kOutput", "kCustom"});
    all->push_back({"FFT", "IFFT", "RFFT", "IRFFT"});
    all->push_back({"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"});
    all->push_back({"rng_uniform", "rng_normal"});
    all->push_back({"rng_default", "rng_three_fry", "rng_philox"});
    all->push_back({"default", "high", "highest"});
    return all;
  }();
  return *classes;
}

bool ChangeWord(const ScannedText& scanned, Choices& choices, std::string& text) {
  std::vector<size_t> words = scanned.All(Kind::kWord);
  // A few tries: many words are of no class.
  for (int tries = 0; tries < 12 && !words.empty(); ++tries) {
    const size_t at = AnyOf(words, choices);
    const std::string_view was = scanned.Of(scanned.tokens()[at]);
    std::vector<const Words*> fitting;
    for (const Words& words_of_class : WordClasses()) {
      if (std::find(words_of_class.begin(), words_of_class.end(), was) != words_of_class.end())
        fitting.push_back(&words_of_class);
    }
    if (fitting.empty()) continue;
    const std::string& with = AnyOf(*AnyOf(fitting, choices), choices);
    // Of a type, all that are spelled alike as a rule: else it hardly fits.
    ReplaceSome(scanned, at, !choices.OneIn(4) && fitting[0] == &WordClasses()[0], with, text);
    return true;
  }
  return false;
}

// Another value in the place of an operand, of the same shape more often than not.
bool ChangeName(const ScannedText& scanned, Choices& choices, std::string& text) {
  std::vector<size_t> uses;
  for (size_t at : scanned.All(Kind::kName)) {
    if (!scanned.tokens()[at].defines) uses.push_back(at);
  }
  if (uses.empty()) return false;
  const size_t at = AnyOf(uses, choices);
  const TextToken* const definition = scanned.DefinitionOf(at);
  const bool alike = definition != nullptr && !choices.OneIn(4);
  std::vector<std::string_view> others;
  for (size_t i = scanned.ScopeOf(at).first; i < at; ++i) {
    const TextToken& token = scanned.tokens()[i];
    if (token.defines && scanned.Of(token) != scanned.Of(scanned.tokens()[at]) &&
        (!alike || token.type == definition->type))
      others.push_back(scanned.Of(token));
  }
  if (others.empty()) return false;
  Replace(text, scanned.tokens()[at], std::string(AnyOf(others, choices)));
  return true;
}

// What stands between the commas of brackets: two of them swapped, one left out, or one twice.
bool ChangeList(const ScannedText& scanned, Choices& choices, std::string& text) {
  std::vector<size_t> opens;
  for (size_t at : scanned.All(Kind::kMark)) {
    if (std::string_view("([{<").find(scanned.text()[scanned.tokens()[at].begin]) != std::string_view::npos)
      opens.push_back(at);
  }
  if (opens.empty()) return false;
  const size_t open = AnyOf(opens, choices), close = scanned.CloserOf(open);
  // A list, not a computation.
  if (close == 0 || scanned.text()
                            .substr(scanned.tokens()[open].begin,
                                    scanned.tokens()[close].begin - scanned.tokens()[open].begin)
                            .find('\n') != std::string_view::npos)
    return false;
  std::vector<std::string> elements = {""};
  int depth = 0;
  size_t end = scanned.tokens()[open].end;
  for (size_t i = end; i < scanned.tokens()[close].begin; ++i) {
    const char c = text[i];
    depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    if (c == ',' && depth == 0) {
      elements.emplace_back();
    } else {
      elements.back() += c;
    }
  }
  const size_t i = static_cast<size_t>(choices.Below(static_cast<int64_t>(elements.size())));
  switch (choices.Below(4)) {
    case 0:
      elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    case 1:
      elements.push_back(elements[i]);
      break;
    default:
      if (elements.size() < 2) return false;
      std::swap(elements[i], elements[(i + 1) % elements.size()]);
  }
  text.replace(end, scanned.tokens()[close].begin - end, fmt::format("{}", fmt::join(elements, ",")));
  return true;
}

// A line left out, twice, in the place of its neighbour, or moved.
bool ChangeLines(const ScannedText& scanned, Choices& choices, std::string& text) {
  const std::vector<TextLine>& lines = scanned.definitions();
  if (lines.empty()) return false;
  const size_t i = static_cast<size_t>(choices.Below(static_cast<int64_t>(lines.size())));
  const std::string line(scanned.Of(lines[i]));
  const size_t length = lines[i].end - lines[i].begin;
  switch (choices.Below(4)) {
    case 0:
      text.erase(lines[i].begin, length);
      return true;
    case 1: {  // twice, by another name
      std::string again = line;
      if (const size_t root = again.find("ROOT "); root != std::string::npos) again.erase(root, 5);
      again.insert(again.find(" = "), ".again" + std::to_string(text.size()));
      text.insert(lines[i].begin, again);
      return true;
    }
    case 2: {  // the other way round
      if (i + 1 >= lines.size() || lines[i + 1].begin != lines[i].end) return false;
      text.erase(lines[i].begin, length);
      text.insert(lines[i].begin + (lines[i + 1].end - lines[i + 1].begin), line);
      return true;
    }
    default: {  // another root
      const size_t here = line.find_first_not_of(' ');
      size_t root = i + 1;
      while (root < lines.size() && scanned.Of(lines[root]).find("ROOT ") == std::string_view::npos) ++root;
      if (root >= lines.size() || here == std::string::npos) return false;
      text.erase(lines[root].begin + scanned.Of(lines[root]).find("ROOT "), 5);
      text.insert(lines[i].begin + here, "ROOT ");
      return true;
    }
  }
}

// An attribute of an instruction, from ", key=" to its end; nullopt: it has none.
std::optional<std::string> AnyAttribute(std::string_view line, Choices& choices, size_t& at) {
  std::vector<std::pair<size_t, size_t>> attributes;
  int depth = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    if (depth != 0 || (c != ',' && c != '\n')) continue;
    if (!attributes.empty() && attributes.back().second == 0) attributes.back().second = i;
    const size_t equals = line.find('=', i);
    if (c == ',' && equals != std::string_view::npos && line[equals - 1] != ' ')
      attributes.emplace_back(i, 0);
  }
  if (attributes.empty() || attributes.back().second == 0) return std::nullopt;
  const auto& [begin, end] = AnyOf(attributes, choices);
  at = begin;
  return std::string(line.substr(begin, end - begin));
}

// An attribute left out, or taken from another instruction.
bool ChangeAttribute(const ScannedText& scanned, Choices& choices, std::string& text) {
  if (!scanned.is_hlo() || scanned.definitions().empty()) return false;
  const TextLine& line = AnyOf(scanned.definitions(), choices);
  size_t at = 0;
  const std::optional<std::string> attribute = AnyAttribute(scanned.Of(line), choices, at);
  if (!attribute) return false;
  if (choices.OneIn(2)) {
    text.erase(line.begin + at, attribute->size());
    return true;
  }
  const TextLine& other = AnyOf(scanned.definitions(), choices);
  if (scanned.Of(other).back() != '\n') return false;
  text.insert(other.end - 1, *attribute);
  return true;
}

// Of a shape: left out, another layout, elements of 4 bits, a dimension that is dynamic,
// more or fewer dimensions.
bool ChangeShape(const ScannedText& scanned, Choices& choices, std::string& text) {
  if (!scanned.is_hlo()) return false;
  std::vector<const TextToken*> shaped;
  for (const TextToken& token : scanned.tokens()) {
    if (token.defines && token.type.find('[') != std::string_view::npos) shaped.push_back(&token);
  }
  if (shaped.empty()) return false;
  const TextToken& value = *AnyOf(shaped, choices);
  const std::string type(value.type);
  const auto place = static_cast<size_t>(value.type.data() - scanned.text().data());
  if (choices.OneIn(3)) {
    text.erase(place, type.size() + 1);
    return true;
  }
  const size_t open = type.find('['), close = type.find(']', open);
  if (type[0] == '(' || close == std::string::npos) return false;
  const std::string sizes = type.substr(open + 1, close - open - 1);
  const auto rank = sizes.empty() ? 0 : 1 + std::count(sizes.begin(), sizes.end(), ',');
  std::string with = type.substr(0, close + 1);
  switch (choices.Below(5)) {
    case 0:
    case 1: {  // a layout
      std::vector<int> order;
      for (int d = 0; d < rank; ++d) order.insert(order.begin() + choices.Below(d + 1), d);
      static constexpr std::string_view kTails[] = {"",        "",      "",      "",
                                                    ":T(2,4)", ":E(4)", ":S(1)", ":T(8,128)(2,1)"};
      with += fmt::format("{{{}{}}}", fmt::join(order, ","), AnyOf(kTails, choices));
      break;
    }
    case 2:
      if (rank == 0) return false;
      with.insert(open + 1, "<=");
      break;
    case 3:
      with.insert(open + 1, rank == 0 ? "1" : "1,");
      break;
    default:
      if (rank < 2) return false;
      with.erase(open + 1, type.find(',') - open);
  }
  // In one place, or wherever the shape stands.
  if (choices.OneIn(2)) {
    text.replace(place, type.size(), with);
    return true;
  }
  for (size_t at = text.find(type); at != std::string::npos; at = text.find(type, at + with.size()))
    text.replace(at, type.size(), with);
  return true;
}

// Noise: a character that is another, or is not there.
bool ChangeCharacter(const ScannedText&, Choices& choices, std::string& text) {
  if (text.empty()) return false;
  const auto at = static_cast<size_t>(choices.Below(static_cast<int64_t>(text.size())));
  static constexpr std::string_view kCharacters = "0123456789,.-_ {}()[]<>=%\"abexf?*:/";
  if (choices.OneIn(3)) {
    text.erase(at, 1);
  } else {
    text[at] = AnyOf(kCharacters, choices);
  }
  return true;
}

constexpr std::array<Mutation, 24> kMutations = {
    ChangeNumber,      ChangeNumber,      ChangeNumber,      ChangeNumber,    ChangeWord,  ChangeWord,
    ChangeWord,        ChangeWord,        ChangeName,        ChangeName,      ChangeName,  ChangeList,
    ChangeList,        ChangeLines,       ChangeLines,       ChangeAttribute, ChangeShape, ChangeShape,
    InsertInstruction, InsertInstruction, InsertInstruction, ChangeShape,     ChangeShape, ChangeCharacter};

}  // namespace

std::string MutateText(std::string_view text, Choices& choices, int changes) {
  std::string mutant(text);
  for (int i = 0; i < changes; ++i) {
    // Some mutations find no place in some texts.
    for (int tries = 0; tries < 8; ++tries) {
      const std::string before = mutant;
      const ScannedText scanned(before);
      if (AnyOf(kMutations, choices)(scanned, choices, mutant)) break;
    }
  }
  return mutant;
}

}  // namespace assay::testing
