#include "hlo/sharding_syntax.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/ascii.h"
#include "base/text_cursor.h"
#include "fmt/format.h"

namespace assay {
namespace {

bool IsDigit(char c) { return absl::ascii_isdigit(c); }
bool IsWordStart(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool IsWordPart(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '$'; }

// Characters, words, numbers and strings of one attribute.
class Reader : private TextCursor {
 public:
  Reader(std::string_view text, SourcePosition base) : TextCursor(text), base_(base) {}

  absl::Status Error(std::string_view message) const {
    return InvalidProgram(Position(), fmt::format("sharding '{}': {}", Shortened(), message));
  }
  absl::Status Unexpected(std::string_view wanted) {
    SkipSpace();
    if (AtEnd()) return Error(fmt::format("found its end, want {}", wanted));
    return Error(fmt::format("found '{}', want {}", Peek(), wanted));
  }

  bool At(char c) {
    SkipSpace();
    return Peek() == c;
  }
  bool Eat(std::string_view token) { return TakeNext(token); }
  absl::Status Expect(std::string_view token) {
    return Eat(token) ? absl::OkStatus() : Unexpected(fmt::format("'{}'", token));
  }
  // Empty: there is none.
  std::string_view EatWord() {
    SkipSpace();
    return IsWordStart(Peek()) ? TakeWhile(IsWordPart) : std::string_view();
  }
  bool EatWord(std::string_view wanted) {
    const size_t begin = at();
    if (EatWord() == wanted) return true;
    GoTo(begin);
    return false;
  }
  absl::Status ReadInt(int64_t* value) {
    SkipSpace();
    const std::errc error = ReadNumber(*value).ec;
    if (error == std::errc::invalid_argument) return Unexpected("an integer");
    return error == std::errc() ? absl::OkStatus() : Error("found an integer of more than 64 bits");
  }
  // "..." with the escapes of MLIR.
  absl::Status ReadString(std::string* value) {
    if (!At('"')) return Unexpected("a name in quotes");
    value->clear();
    for (Skip(); !AtEnd() && Peek() != '"'; Skip()) {
      if (!Take('\\')) {
        *value += Peek();
        continue;
      }
      if (AtEnd()) break;
      const char escaped = Peek();
      const int high = HexDigitValue(escaped), low = HexDigitValue(Peek(1));
      if (escaped == '\\' || escaped == '"') {
        *value += escaped;
      } else if (escaped == 'n' || escaped == 't') {
        *value += escaped == 'n' ? '\n' : '\t';
      } else if (high >= 0 && low >= 0) {
        *value += static_cast<char>(high * 16 + low);
        Skip();
      } else {
        return Error("found an escape that is none of \\\\, \\\", \\n, \\t and \\HH");
      }
    }
    return Take('"') ? absl::OkStatus() : Error("a name has no closing quote");
  }
  absl::Status ReadSymbol(std::string* name) {
    ASSAY_RETURN_IF_ERROR(Expect("@"));
    if (At('"')) return ReadString(name);
    *name = EatWord();
    return name->empty() ? Unexpected("the name of a mesh") : absl::OkStatus();
  }
  // open [item {',' item}] close
  absl::Status ReadList(std::string_view open, std::string_view close,
                        absl::FunctionRef<absl::Status()> item) {
    ASSAY_RETURN_IF_ERROR(Expect(open));
    if (Eat(close)) return absl::OkStatus();
    do {
      ASSAY_RETURN_IF_ERROR(item());
    } while (Eat(","));
    return Expect(close);
  }
  absl::Status ExpectEnd() {
    SkipSpace();
    return AtEnd() ? absl::OkStatus() : Unexpected("the end");
  }

 private:
  std::string Shortened() const {
    constexpr size_t kMost = 80;
    return std::string(text().substr(0, kMost)) + (text().size() > kMost ? "..." : "");
  }
  SourcePosition Position() const { return base_.known() ? PositionAt(text(), at(), base_) : base_; }

  SourcePosition base_;
};

// '<' '[' list(STRING '=' INT) ']' [',' 'device_ids' '=' '[' list(INT) ']'] '>'
absl::Status ReadMeshBody(Reader& in, Mesh* mesh) {
  ASSAY_RETURN_IF_ERROR(in.Expect("<"));
  const auto read_axis = [&]() -> absl::Status {
    MeshAxis& axis = mesh->axes.emplace_back();
    ASSAY_RETURN_IF_ERROR(in.ReadString(&axis.name));
    ASSAY_RETURN_IF_ERROR(in.Expect("="));
    return in.ReadInt(&axis.size);
  };
  ASSAY_RETURN_IF_ERROR(in.ReadList("[", "]", read_axis));
  if (in.Eat(",")) {
    if (!in.EatWord("device_ids")) return in.Unexpected("device_ids");
    ASSAY_RETURN_IF_ERROR(in.Expect("="));
    ASSAY_RETURN_IF_ERROR(
        in.ReadList("[", "]", [&] { return in.ReadInt(&mesh->device_ids.emplace_back()); }));
    if (mesh->device_ids.empty()) return in.Error("SDY-V2: device_ids is empty, want at least one");
  }
  return in.Expect(">");
}

// Device ids in their natural order say nothing.
void DropNaturalOrder(Mesh* mesh) {
  if (mesh->axes.empty()) return;
  for (size_t i = 0; i < mesh->device_ids.size(); ++i) {
    if (mesh->device_ids[i] != static_cast<int64_t>(i)) return;
  }
  if (static_cast<int64_t>(mesh->device_ids.size()) == mesh->size()) mesh->device_ids.clear();
}

absl::Status ReadCheckedMesh(Reader& in, Mesh* mesh) {
  ASSAY_RETURN_IF_ERROR(ReadMeshBody(in, mesh));
  if (mesh->axes.size() > kMaxMeshAxes) return CheckMesh(*mesh);
  if (absl::Status status = CheckMesh(*mesh); !status.ok()) return in.Error(std::string(status.message()));
  DropNaturalOrder(mesh);
  return absl::OkStatus();
}

// STRING [':' '(' INT ')' INT]
absl::Status ReadAxis(Reader& in, AxisRef* ref) {
  ASSAY_RETURN_IF_ERROR(in.ReadString(&ref->axis));
  if (!in.Eat(":")) return absl::OkStatus();
  ASSAY_RETURN_IF_ERROR(in.Expect("("));
  ASSAY_RETURN_IF_ERROR(in.ReadInt(&ref->before));
  ASSAY_RETURN_IF_ERROR(in.Expect(")"));
  ASSAY_RETURN_IF_ERROR(in.ReadInt(&ref->part));
  if (ref->before >= 1 && ref->part > 1) return absl::OkStatus();
  return in.Error(
      fmt::format("SDY-V6: a part ({}){}, want (at least 1) and at least 2", ref->before, ref->part));
}

// pN behind a dimension, without leading zero.
absl::Status ReadPriority(Reader& in, DimSharding* dim) {
  if (!in.At('p')) return absl::OkStatus();
  const std::string_view digits = in.EatWord().substr(1);
  int64_t priority = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), priority);
  const bool good = !digits.empty() && end == digits.data() + digits.size() && error == std::errc() &&
                    (digits.size() == 1 || digits[0] != '0');
  if (!good) return in.Error(fmt::format("SDY-V8: priority p{}, want a number without leading zero", digits));
  dim->priority = priority;
  return absl::OkStatus();
}

// '{' [axis {',' axis} [',' '?'] | '?'] '}' ['p' INT]
absl::Status ReadDim(Reader& in, DimSharding* dim) {
  ASSAY_RETURN_IF_ERROR(in.ReadList("{", "}", [&]() -> absl::Status {
    if (dim->is_open) return in.Error("SDY-V8: '?' is not the last in its dimension");
    dim->is_open = in.Eat("?");
    return dim->is_open ? absl::OkStatus() : ReadAxis(in, &dim->axes.emplace_back());
  }));
  return ReadPriority(in, dim);
}

// {"a", "b":(1)2}, not empty.
absl::Status ReadAxes(Reader& in, std::vector<AxisRef>* axes) {
  ASSAY_RETURN_IF_ERROR(in.ReadList("{", "}", [&] { return ReadAxis(in, &axes->emplace_back()); }));
  return axes->empty() ? in.Error("found no axes in braces, want at least one") : absl::OkStatus();
}

// ',' 'replicated' '=' axes, ',' 'unreduced' '=' [max | min | sum] axes
absl::Status ReadSuffixes(Reader& in, Sharding* sharding) {
  while (in.Eat(",")) {
    const std::string_view word = in.EatWord();
    const bool unreduced = word == "unreduced";
    std::vector<AxisRef>& axes = unreduced ? sharding->unreduced : sharding->replicated;
    if ((!unreduced && word != "replicated") || !axes.empty())
      return in.Error("want replicated= or unreduced=, each at most once");
    ASSAY_RETURN_IF_ERROR(in.Expect("="));
    if (unreduced && in.EatWord("max")) sharding->reduction = Sharding::Reduction::kMax;
    if (unreduced && in.EatWord("min")) sharding->reduction = Sharding::Reduction::kMin;
    if (unreduced) in.EatWord("sum");
    ASSAY_RETURN_IF_ERROR(ReadAxes(in, &axes));
  }
  return absl::OkStatus();
}

absl::Status ReadShardingBody(Reader& in, Sharding* sharding) {
  ASSAY_RETURN_IF_ERROR(in.Expect("<"));
  if (in.EatWord("mesh")) {
    auto mesh = std::make_shared<Mesh>();
    ASSAY_RETURN_IF_ERROR(ReadCheckedMesh(in, mesh.get()));
    sharding->inlined_mesh = std::move(mesh);
  } else {
    ASSAY_RETURN_IF_ERROR(in.ReadSymbol(&sharding->mesh_name));
  }
  ASSAY_RETURN_IF_ERROR(in.Expect(","));
  ASSAY_RETURN_IF_ERROR(in.ReadList("[", "]", [&] { return ReadDim(in, &sharding->dims.emplace_back()); }));
  ASSAY_RETURN_IF_ERROR(ReadSuffixes(in, sharding));
  return in.Expect(">");
}

absl::Status ReadShardingList(Reader& in, std::vector<Sharding>* shardings) {
  return in.ReadList("[", "]", [&] { return ReadShardingBody(in, &shardings->emplace_back()); });
}

// i to z, then z_1, z_2, ...: several in a row are the factors of one dimension.
absl::Status AppendFactors(Reader& in, std::string* text) {
  const std::string_view word = in.EatWord();
  for (size_t i = 0; i < word.size();) {
    const size_t begin = i;
    if (word[i] < 'i' || word[i] > 'z') return in.Error(fmt::format("'{}' is not a list of factors", word));
    const bool is_numbered = word[i++] == 'z' && i < word.size() && word[i] == '_';
    if (is_numbered) {
      for (++i; i < word.size() && IsDigit(word[i]);) ++i;
      if (i == begin + 2) return in.Error(fmt::format("'{}' is not a list of factors", word));
    }
    text->append(word.substr(begin, i - begin));
  }
  return word.empty() ? in.Unexpected("factors") : absl::OkStatus();
}

absl::Status AppendFactorList(Reader& in, std::string_view open, std::string_view close, std::string* text) {
  text->append(open);
  std::string_view separator = "";
  ASSAY_RETURN_IF_ERROR(in.ReadList(open, close, [&] {
    text->append(std::exchange(separator, ", "));
    return AppendFactors(in, text);
  }));
  text->append(close);
  return absl::OkStatus();
}

// '(' list('[' list(factors) ']') ')'
absl::Status AppendMappings(Reader& in, std::string* text) {
  *text += '(';
  std::string_view separator = "";
  ASSAY_RETURN_IF_ERROR(in.ReadList("(", ")", [&] {
    text->append(std::exchange(separator, ", "));
    return AppendFactorList(in, "[", "]", text);
  }));
  *text += ')';
  return absl::OkStatus();
}

// '{' list(factor '=' INT) '}'
absl::Status AppendFactorSizes(Reader& in, std::string* text) {
  std::string_view separator = " {";
  const auto append_size = [&]() -> absl::Status {
    text->append(std::exchange(separator, ", "));
    ASSAY_RETURN_IF_ERROR(AppendFactors(in, text));
    ASSAY_RETURN_IF_ERROR(in.Expect("="));
    int64_t size = 0;
    ASSAY_RETURN_IF_ERROR(in.ReadInt(&size));
    text->append(fmt::format("={}", size));
    return absl::OkStatus();
  };
  ASSAY_RETURN_IF_ERROR(in.ReadList("{", "}", append_size));
  if (separator != " {") *text += '}';
  return absl::OkStatus();
}

absl::Status ReadRule(Reader& in, std::string* text) {
  *text += '<';
  ASSAY_RETURN_IF_ERROR(in.Expect("<"));
  ASSAY_RETURN_IF_ERROR(AppendMappings(in, text));
  ASSAY_RETURN_IF_ERROR(in.Expect("->"));
  *text += "->";
  ASSAY_RETURN_IF_ERROR(AppendMappings(in, text));
  if (in.At('{')) ASSAY_RETURN_IF_ERROR(AppendFactorSizes(in, text));
  for (const std::string_view set : {"reduction", "need_replication", "permutation", "blocked_propagation"}) {
    if (!in.EatWord(set)) continue;
    ASSAY_RETURN_IF_ERROR(in.Expect("="));
    text->append(fmt::format(" {}=", set));
    ASSAY_RETURN_IF_ERROR(AppendFactorList(in, "{", "}", text));
  }
  if (in.Eat(",")) {
    if (!in.EatWord("custom")) return in.Unexpected("custom");
    *text += ", custom";
  }
  *text += '>';
  return in.Expect(">");
}

absl::Status ReadManualAxes(Reader& in, std::vector<std::string>* axes) {
  return in.ReadList("{", "}", [&]() -> absl::Status {
    if (axes->size() == kMaxMeshAxes)
      return NotSupported({}, fmt::format("more than {} manual axes", kMaxMeshAxes));
    return in.ReadString(&axes->emplace_back());
  });
}

// The escapes of a string within a string: older programs write quotes as \" in what is a string already.
std::string WithoutSecondEscapes(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\')) ++i;
    plain += text[i];
  }
  return plain;
}

bool IsEscapedTwice(std::string_view text) {
  const size_t quote = text.find('"');
  return quote != std::string_view::npos && quote > 0 && text[quote - 1] == '\\';
}

// Reads the whole text by `read`.
absl::Status ReadWhole(std::string_view text, SourcePosition at,
                       absl::FunctionRef<absl::Status(Reader&)> read) {
  std::string unescaped;
  if (IsEscapedTwice(text)) text = unescaped = WithoutSecondEscapes(text);
  Reader in(text, at);
  ASSAY_RETURN_IF_ERROR(read(in));
  return in.ExpectEnd();
}

std::string AxisListText(std::span<const AxisRef> axes) {
  std::string text = "{";
  for (const AxisRef& axis : axes) text += (text.size() == 1 ? "" : ", ") + ToString(axis);
  return text + '}';
}

std::string DimText(const DimSharding& dim) {
  std::string text = AxisListText(dim.axes);
  if (dim.is_open) {
    text.pop_back();
    text += dim.axes.empty() ? "?}" : ", ?}";
  }
  return dim.priority ? text + fmt::format("p{}", *dim.priority) : text;
}

}  // namespace

absl::StatusOr<Mesh> ParseMesh(std::string_view text, SourcePosition at) {
  Mesh mesh;
  ASSAY_RETURN_IF_ERROR(ReadWhole(text, at, [&](Reader& in) {
    if (!in.Eat("#sdy.mesh")) in.EatWord("mesh");
    return ReadCheckedMesh(in, &mesh);
  }));
  return mesh;
}

absl::StatusOr<std::vector<NamedMesh>> ParseMeshes(std::string_view text, SourcePosition at) {
  std::vector<NamedMesh> meshes;
  const auto read_mesh = [&](Reader& in) -> absl::Status {
    if (meshes.size() == kMaxMeshes) return NotSupported({}, fmt::format("more than {} meshes", kMaxMeshes));
    NamedMesh& added = meshes.emplace_back();
    if (in.At('"')) {
      ASSAY_RETURN_IF_ERROR(in.ReadString(&added.name));
    } else {
      added.name = in.EatWord();
    }
    ASSAY_RETURN_IF_ERROR(in.Expect("="));
    ASSAY_RETURN_IF_ERROR(in.Expect("#sdy.mesh"));
    return ReadCheckedMesh(in, &added.mesh);
  };
  ASSAY_RETURN_IF_ERROR(
      ReadWhole(text, at, [&](Reader& in) { return in.ReadList("{", "}", [&] { return read_mesh(in); }); }));
  return meshes;
}

absl::StatusOr<Sharding> ParseSharding(std::string_view text, SourcePosition at) {
  Sharding sharding;
  ASSAY_RETURN_IF_ERROR(ReadWhole(text, at, [&](Reader& in) {
    in.Eat("#sdy.sharding");
    return ReadShardingBody(in, &sharding);
  }));
  return sharding;
}

absl::StatusOr<std::vector<Sharding>> ParseShardings(std::string_view text, SourcePosition at) {
  std::vector<Sharding> shardings;
  const auto read = [&](Reader& in) -> absl::Status {
    if (!in.Eat("#sdy.sharding_per_value")) return ReadShardingList(in, &shardings);
    ASSAY_RETURN_IF_ERROR(in.Expect("<"));
    ASSAY_RETURN_IF_ERROR(ReadShardingList(in, &shardings));
    return in.Expect(">");
  };
  ASSAY_RETURN_IF_ERROR(ReadWhole(text, at, read));
  return shardings;
}

absl::StatusOr<std::vector<std::string>> ParseManualAxes(std::string_view text, SourcePosition at) {
  std::vector<std::string> axes;
  const auto read = [&](Reader& in) -> absl::Status {
    if (!in.Eat("#sdy<")) return ReadManualAxes(in, &axes);
    if (!in.EatWord("manual_axes")) return in.Unexpected("manual_axes");
    ASSAY_RETURN_IF_ERROR(ReadManualAxes(in, &axes));
    return in.Expect(">");
  };
  ASSAY_RETURN_IF_ERROR(ReadWhole(text, at, read));
  return axes;
}

absl::StatusOr<std::string> CanonicalShardingRule(std::string_view text, SourcePosition at) {
  std::string canonical = "#sdy.op_sharding_rule";
  ASSAY_RETURN_IF_ERROR(ReadWhole(text, at, [&](Reader& in) {
    in.Eat("#sdy.op_sharding_rule");
    return ReadRule(in, &canonical);
  }));
  return canonical;
}

absl::StatusOr<std::string> CanonicalSdyAttribute(std::string_view text, SourcePosition at) {
  if (text.starts_with("#sdy.mesh")) {
    ASSAY_ASSIGN_OR_RETURN(const Mesh mesh, ParseMesh(text, at));
    return "#sdy.mesh" + ToString(mesh);
  }
  if (text.starts_with("#sdy.sharding_per_value")) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<Sharding> shardings, ParseShardings(text, at));
    return fmt::format("#sdy.sharding_per_value<{}>", ToString(shardings));
  }
  if (text.starts_with("#sdy.sharding")) {
    ASSAY_ASSIGN_OR_RETURN(const Sharding sharding, ParseSharding(text, at));
    return "#sdy.sharding" + ToString(sharding);
  }
  if (text.starts_with("#sdy.op_sharding_rule")) return CanonicalShardingRule(text, at);
  if (text.starts_with("#sdy<manual_axes")) {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<std::string> axes, ParseManualAxes(text, at));
    return fmt::format("#sdy<manual_axes{}>", AxesText(axes));
  }
  return std::string(text);
}

std::string QuotedName(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '\\') {
      text += "\\\\";
    } else if (c == '"' || c < 0x20 || c == 0x7f) {
      text += fmt::format("\\{:02X}", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
  return text + '"';
}

std::string SymbolText(std::string_view name) {
  const bool is_word = !name.empty() && IsWordStart(name[0]) && std::ranges::all_of(name, IsWordPart);
  return "@" + (is_word ? std::string(name) : QuotedName(name));
}

std::string ToString(const AxisRef& ref) {
  std::string text = QuotedName(ref.axis);
  return ref.IsWhole() ? text : text + fmt::format(":({}){}", ref.before, ref.part);
}

std::string ToString(const Mesh& mesh) {
  std::string text = "<[";
  for (size_t i = 0; i < mesh.axes.size(); ++i)
    text += fmt::format("{}{}={}", i == 0 ? "" : ", ", QuotedName(mesh.axes[i].name), mesh.axes[i].size);
  text += ']';
  if (!mesh.device_ids.empty()) text += fmt::format(", device_ids=[{}]", fmt::join(mesh.device_ids, ", "));
  return text + '>';
}

std::string ToString(const Sharding& sharding) {
  std::string text = "<";
  text += sharding.inlined_mesh == nullptr ? SymbolText(sharding.mesh_name)
                                           : "mesh" + ToString(*sharding.inlined_mesh);
  text += ", [";
  for (size_t i = 0; i < sharding.dims.size(); ++i) text += (i == 0 ? "" : ", ") + DimText(sharding.dims[i]);
  text += ']';
  if (!sharding.replicated.empty()) text += ", replicated=" + AxisListText(sharding.replicated);
  if (!sharding.unreduced.empty()) {
    constexpr std::string_view kWords[] = {"", "max ", "min "};
    text += fmt::format(", unreduced={}{}", kWords[static_cast<size_t>(sharding.reduction)],
                        AxisListText(sharding.unreduced));
  }
  return text + '>';
}

std::string ToString(std::span<const Sharding> shardings) {
  std::string text = "[";
  for (const Sharding& sharding : shardings) text += (text.size() == 1 ? "" : ", ") + ToString(sharding);
  return text + ']';
}

std::string AxesText(std::span<const std::string> axes) {
  std::string text = "{";
  for (const std::string& axis : axes) text += (text.size() == 1 ? "" : ", ") + QuotedName(axis);
  return text + '}';
}

std::string MeshesText(std::span<const NamedMesh> meshes) {
  std::string text = "{";
  for (const NamedMesh& named : meshes) {
    const std::string symbol = SymbolText(named.name).substr(1);
    text += fmt::format("{}{} = #sdy.mesh{}", text.size() == 1 ? "" : ", ", symbol, ToString(named.mesh));
  }
  return text + '}';
}

}  // namespace assay
