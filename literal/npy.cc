// One array in NumPy's .npy format: header, conversion to and from Literals (npz.h). Archives of them are in
// npz.cc.
//
// A file is \x93NUMPY, two version bytes, the header's length (2 bytes, from version 2 on 4), the header as a
// Python dict literal, and the elements. Everything is checked before anything is allocated.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "absl/strings/ascii.h"
#include "base/checked.h"
#include "base/counted.h"
#include "base/limits.h"
#include "base/quoted.h"
#include "base/text_cursor.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "literal/npz.h"
#include "shape/index.h"

namespace assay {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxHeader = 10000;

// Text from a file, fit for a message.
std::string Quoted(std::string_view text) { return ShownText(text, 64); }
std::string SizesText(std::span<const int64_t> sizes) { return fmt::format("[{}]", fmt::join(sizes, ",")); }

// What a descriptor says: byte order, kind letter, bytes of an element.
struct Descr {
  char order = '|';
  char kind = 0;
  int64_t bytes = 0;
};
std::optional<Descr> ParseDescr(std::string_view text) {
  Descr descr;
  if (!text.empty() && std::string_view("<>=|").find(text[0]) != std::string_view::npos) {
    descr.order = text[0];
    text.remove_prefix(1);
  }
  if (text.size() < 2 || text.size() > 4) return std::nullopt;
  descr.kind = text[0];
  for (char c : text.substr(1)) {
    if (!absl::ascii_isdigit(c)) return std::nullopt;
    descr.bytes = descr.bytes * 10 + (c - '0');
  }
  if (descr.bytes < 1 || std::string_view("biufcV").find(descr.kind) == std::string_view::npos) {
    return std::nullopt;
  }
  return descr;
}

// The dict literal of a header: keys descr, fortran_order and shape, each once, in any order.
class HeaderParser : public TextCursor {
 public:
  HeaderParser(std::string_view name, std::string_view text) : TextCursor(text), name_(name) {}

  absl::StatusOr<NpyArray> Parse() {
    NpyArray array;
    if (!TakeNext('{')) return Error("the header is not a dict");
    while (!TakeNext('}')) {
      ASSAY_ASSIGN_OR_RETURN(const std::string key, String());
      if (!TakeNext(':')) return Error("the header lacks a ':'");
      ASSAY_RETURN_IF_ERROR(Value(key, &array));
      if (!TakeNext(',') && Peek() != '}') return Error("the header lacks a ','");
    }
    if (PeekNext() != '\0') return Error("the header goes on after its dict");
    if (!has_descr_ || !has_order_ || !has_shape_) {
      return Error("the header lacks descr, fortran_order or shape");
    }
    return array;
  }

 private:
  absl::Status Error(std::string_view message) const {
    return BadInput(fmt::format("{}: {}", Quoted(name_), message));
  }
  char PeekNext() {
    SkipSpace();
    return Peek();
  }

  absl::StatusOr<std::string> String() {
    const char quote = PeekNext();
    if (quote != '\'' && quote != '"') return Error("the header has something else where a string belongs");
    Skip();
    const std::string_view value = TakeWhile([&](char c) { return c != quote; });
    if (!Take(quote)) return Error("the header has a string without an end");
    return std::string(value);
  }

  absl::Status Value(std::string_view key, NpyArray* array) {
    bool* seen = key == "descr" ? &has_descr_ : key == "fortran_order" ? &has_order_ : &has_shape_;
    if (key != "descr" && key != "fortran_order" && key != "shape") {
      return Error(fmt::format("the header has an unknown key {}", Quoted(key)));
    }
    if (*seen) return Error(fmt::format("the header has {} twice", key));
    *seen = true;
    if (key == "shape") return Sizes(&array->sizes);
    if (key == "fortran_order") {
      array->fortran_order = TakeNext("True");
      return array->fortran_order || TakeNext("False") ? absl::OkStatus()
                                                       : Error("fortran_order is not a bool");
    }
    if (PeekNext() == '[' || Peek() == '(') return Error("arrays of structures are not supported");
    ASSAY_ASSIGN_OR_RETURN(array->descr, String());
    return absl::OkStatus();
  }

  absl::Status Sizes(std::vector<int64_t>* sizes) {
    if (!TakeNext('(')) return Error("the shape is not a tuple");
    while (!TakeNext(')')) {
      if (!absl::ascii_isdigit(PeekNext())) return Error("the shape has something else than sizes");
      int64_t size = 0;
      if (ReadNumber(size).ec != std::errc()) return Error("the shape has a size over 2^63 - 1");
      Take('L');
      if (sizes->size() == kMaxRank)
        return Error(fmt::format("the shape has more than {} dimensions", kMaxRank));
      sizes->push_back(size);
      if (!TakeNext(',') && Peek() != ')') return Error("the shape lacks a ','");
    }
    return absl::OkStatus();
  }

  std::string_view name_;
  bool has_descr_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

// Whether files with this descriptor hold elements of `type`. ml_dtypes arrays have kind V, f8e5m2 '<f1'.
bool DescrHolds(const Descr& descr, ElementType type) {
  const std::string_view native = Info(type).numpy_descr;
  if (descr.bytes != Bytes(type)) return false;
  if (native[1] == 'V') return descr.kind == 'V' || (descr.kind == 'f' && descr.bytes == 1);
  return descr.kind == native[1];
}

// The one type that has the descriptor.
std::optional<ElementType> TypeOfDescr(const Descr& descr) {
  if (descr.kind == 'f' && descr.bytes == 1) return ElementType::kF8E5M2;
  for (int t = 0; descr.kind != 'V' && t < kNumElementTypes; ++t) {
    const auto type = static_cast<ElementType>(t);
    if (DescrHolds(descr, type)) return type;
  }
  return std::nullopt;
}

// The types whose elements a descriptor of raw bytes may stand for, to choose from.
std::string RawTypesText(const Descr& descr) {
  std::string text;
  for (int t = 0; t < kNumElementTypes; ++t) {
    const auto type = static_cast<ElementType>(t);
    if (Info(type).numpy_descr[1] != 'V' || Bytes(type) != descr.bytes) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", Name(type));
  }
  return text;
}

// Reverses the bytes of each word.
void SwapBytes(std::byte* data, size_t size, size_t word) {
  for (size_t i = 0; i + word <= size; i += word) std::reverse(data + i, data + i + word);
}

bool AnyByteIsAnElement(ElementType type) { return type != ElementType::kPred && Bits(type) >= 8; }

// Elements as Literals hold them: pred 0 or 1, unused upper bits as the type wants them.
void Normalise(ElementType type, std::byte* data, int64_t n) {
  if (AnyByteIsAnElement(type)) return;
  if (IsFloat(type)) {
    for (int64_t i = 0; i < n; ++i) data[i] &= std::byte((1 << Bits(type)) - 1);
    return;
  }
  alignas(64) std::byte strip[kStripBytes];
  for (int64_t i = 0; i < n; i += kStrip) {
    const int64_t count = std::min(kStrip, n - i);
    LoadStrip(type, data + i, 1, count, strip);
    StoreStrip(type, strip, count, data + i, 1);
  }
}

// Copies elements between two affine layouts of the same index space.
void CopyElements(std::span<const int64_t> sizes, int64_t bytes, const std::byte* src,
                  const DimVector& src_strides, std::byte* dst, const DimVector& dst_strides) {
  const AffineMap maps[2] = {{0, src_strides}, {0, dst_strides}};
  ForEachRun(sizes, maps, [&](const int64_t* offsets, const int64_t* strides, int64_t length) {
    const std::byte* from = src + offsets[0] * bytes;
    std::byte* to = dst + offsets[1] * bytes;
    if (strides[0] == 1 && strides[1] == 1) {
      std::memcpy(to, from, length * bytes);
      return;
    }
    for (int64_t i = 0; i < length; ++i) {
      std::memcpy(to + i * strides[1] * bytes, from + i * strides[0] * bytes, bytes);
    }
  });
}
DimVector ColumnMajorStrides(std::span<const int64_t> sizes) {
  DimVector strides(sizes.size());
  int64_t stride = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    strides[d] = stride;
    stride *= sizes[d];
  }
  return strides;
}

bool SizesFit(std::span<const int64_t> sizes, const Shape& shape) {
  if (static_cast<int64_t>(sizes.size()) != shape.rank()) return false;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const bool fits = shape.is_dynamic(d) ? sizes[d] <= shape.size(d) : sizes[d] == shape.size(d);
    if (!fits) return false;
  }
  return true;
}

}  // namespace

RawBytes::RawBytes(size_t size) {
  const int64_t sizes[] = {static_cast<int64_t>(size)};
  auto shape = std::make_shared<const Shape>(Shape::ArrayOrDie(ElementType::kU8, sizes));
  absl::StatusOr<Literal> bytes = Literal::Make(std::move(shape), nullptr, false);
  if (!bytes.ok()) throw std::bad_alloc();
  bytes_ = *std::move(bytes);
}

RawBytes::RawBytes(std::string_view bytes) : RawBytes(bytes.size()) {
  if (!bytes.empty()) std::memcpy(mutable_data(), bytes.data(), bytes.size());
}

absl::StatusOr<NpyArray> ParseNpyHeader(std::string_view name, std::string_view prefix, size_t size,
                                        size_t* begin) {
  const auto error = [&](std::string_view message) {
    return BadInput(fmt::format("{}: {}", Quoted(name), message));
  };
  if (!prefix.starts_with(kMagic)) return error("not a .npy file");
  if (size < 10) return error("the file ends inside its header");
  const int major = static_cast<unsigned char>(prefix[6]);
  if (major < 1 || major > 3) return error(fmt::format(".npy version {} is unknown", major));
  const size_t length_bytes = major == 1 ? 2 : 4;
  const size_t header_start = kMagic.size() + 2 + length_bytes;
  if (size < header_start) return error("the file ends inside its header");
  size_t header_size = 0;
  for (size_t i = 0; i < length_bytes; ++i) {
    header_size |= size_t{static_cast<unsigned char>(prefix[8 + i])} << (8 * i);
  }
  if (header_size > kMaxHeader) {
    return error(
        fmt::format("the header has {}, over the limit of {}", Counted(header_size, "byte"), kMaxHeader));
  }
  if (size - header_start < header_size) return error("the file ends inside its header");
  ASSAY_ASSIGN_OR_RETURN(NpyArray array,
                         HeaderParser(name, prefix.substr(header_start, header_size)).Parse());
  if (array.descr.find('O') != std::string::npos) return error("pickled objects are refused");
  const std::optional<Descr> descr = ParseDescr(array.descr);
  if (!descr) return error(fmt::format("descriptor {} is not supported", Quoted(array.descr)));
  const std::optional<int64_t> elements = CheckedProduct(array.sizes);
  const std::optional<int64_t> wanted = elements ? CheckedMul(*elements, descr->bytes) : std::nullopt;
  *begin = header_start + header_size;
  const size_t data_size = size - *begin;
  if (!wanted || static_cast<uint64_t>(*wanted) != data_size) {
    return error(fmt::format("{} of {} needs {} bytes of data, the file has {}", SizesText(array.sizes),
                             Quoted(array.descr), wanted ? fmt::format("{}", *wanted) : "over 2^63",
                             data_size));
  }
  array.data = RawBytes(data_size);
  return array;
}

absl::StatusOr<NpyArray> ParseNpy(std::string_view name, std::string_view bytes) {
  size_t begin = 0;
  ASSAY_ASSIGN_OR_RETURN(NpyArray array, ParseNpyHeader(name, bytes, bytes.size(), &begin));
  if (array.data.size() > 0) std::memcpy(array.data.mutable_data(), bytes.data() + begin, array.data.size());
  return array;
}

absl::StatusOr<Literal> DecodeNpy(std::string_view key, const NpyArray& array, const Shape& shape) {
  if (!shape.IsArray()) {
    return BadInput(
        fmt::format("{}: an array is given for a value of shape {}", Quoted(key), shape.ToString()));
  }
  const ElementType type = shape.element_type();
  if (array.type && *array.type != type) {
    return BadInput(fmt::format("{}: found {}{}, wanted {}", Quoted(key), Name(*array.type),
                                SizesText(array.sizes), shape.ToString()));
  }
  const std::optional<Descr> descr = ParseDescr(array.descr);
  const bool holds = descr && (array.type ? MayHoldBitsOf(array, type) : DescrHolds(*descr, type));
  if (!holds || !SizesFit(array.sizes, shape)) {
    return BadInput(fmt::format("{}: found {} {}, wanted {} for {}", Quoted(key), Quoted(array.descr),
                                SizesText(array.sizes), Quoted(Info(type).numpy_descr), shape.ToString()));
  }
  const int64_t bytes = Bytes(type);
  const std::optional<int64_t> elements = CheckedProduct(array.sizes);
  if (!elements || static_cast<uint64_t>(*elements) != array.data.size() / bytes ||
      array.data.size() % bytes != 0) {
    return BadInput(fmt::format("{}: found {} of data for {}", Quoted(key),
                                Counted(array.data.size(), "byte"), SizesText(array.sizes)));
  }
  const bool row_major = !array.fortran_order || array.sizes.size() <= 1;
  const bool full = std::equal(array.sizes.begin(), array.sizes.end(), shape.sizes().begin());
  const bool swapped = descr->order == '>' && Bytes(ComponentType(type)) > 1;
  if (*elements > 0 && row_major && full && !swapped && AnyByteIsAnElement(type)) {
    return array.data.literal().WithShape(std::make_shared<const Shape>(shape));
  }
  ASSAY_ASSIGN_OR_RETURN(Literal literal, Literal::Make(std::make_shared<const Shape>(shape)));
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.is_dynamic(d)) literal.set_dynamic_size(d, array.sizes[d]);
  }
  const std::span<std::byte> target = literal.MutableBytes();
  const std::byte* source = array.data.data();
  if (*elements > 0) {
    CopyElements(array.sizes, bytes, source,
                 array.fortran_order ? ColumnMajorStrides(array.sizes) : RowMajorStrides(array.sizes),
                 target.data(), RowMajorStrides(shape.sizes()));
  }
  if (descr->order == '>') SwapBytes(target.data(), target.size(), Bytes(ComponentType(type)));
  Normalise(type, target.data(), static_cast<int64_t>(target.size()) / bytes);
  return literal;
}

std::optional<ElementType> TypeOfNpy(const NpyArray& array) {
  if (array.type) return array.type;
  const std::optional<Descr> descr = ParseDescr(array.descr);
  return descr ? TypeOfDescr(*descr) : std::nullopt;
}

bool MayHoldBitsOf(const NpyArray& array, ElementType type) {
  const std::optional<Descr> descr = ParseDescr(array.descr);
  if (!descr || descr->bytes != Bytes(type)) return false;
  return descr->kind == 'V' || descr->kind == 'u' || TypeOfDescr(*descr) == type;
}

bool IsRaw(const NpyArray& array) {
  const std::optional<Descr> descr = ParseDescr(array.descr);
  return descr && descr->kind == 'V';
}

absl::StatusOr<Literal> DecodeNpyByDescr(std::string_view key, const NpyArray& array) {
  const std::optional<Descr> descr = ParseDescr(array.descr);
  if (const std::optional<ElementType> type = TypeOfNpy(array); descr && type) {
    const absl::StatusOr<Shape> shape = Shape::Array(*type, array.sizes);
    if (!shape.ok())
      return BadInput(fmt::format("{}: {}", Quoted(key), std::string(shape.status().message())));
    return DecodeNpy(key, array, *shape);
  }
  const std::string types = descr && descr->kind == 'V' ? RawTypesText(*descr) : "";
  if (types.empty())
    return BadInput(fmt::format("{}: descriptor {} is not supported", Quoted(key), Quoted(array.descr)));
  return BadInput(fmt::format("{}: {} does not say the element type, which may be {}", Quoted(key),
                              Quoted(array.descr), types));
}

std::string NpyHeader(const Literal& array) {
  const ElementType type = array.shape().element_type();
  const DimVector sizes = array.runtime_sizes();
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", Info(type).numpy_descr,
                  fmt::join(sizes, ", "), sizes.size() == 1 ? "," : "");
  // Data starts at a multiple of 64 bytes; the header ends with a line feed.
  const size_t unpadded = kMagic.size() + 4 + header.size() + 1;
  header += std::string((64 - unpadded % 64) % 64, ' ') + "\n";
  std::string file(kMagic);
  file += '\1';
  file += '\0';
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  file += header;
  return file;
}

bool StoredAsNpy(const Literal& array) {
  const ElementType type = array.shape().element_type();
  return array.IsFullSize() && !(IsSignedIntegral(type) && Bits(type) < 8);
}

std::string EncodeNpy(const Literal& array) {
  const Shape& shape = array.shape();
  const ElementType type = shape.element_type();
  const DimVector sizes = array.runtime_sizes();
  const int64_t bytes = Bytes(type);
  std::string file = NpyHeader(array);
  const int64_t elements = *CheckedProduct(sizes);
  const size_t start = file.size();
  file.resize(start + elements * bytes);
  auto* data = reinterpret_cast<std::byte*>(file.data() + start);
  if (elements > 0) {
    CopyElements(sizes, bytes, array.data(), RowMajorStrides(shape.sizes()), data, RowMajorStrides(sizes));
  }
  // ml_dtypes leaves the unused bits of narrow signed integers zero.
  if (IsSignedIntegral(type) && Bits(type) < 8) {
    for (int64_t i = 0; i < elements; ++i) data[i] &= std::byte((1 << Bits(type)) - 1);
  }
  return file;
}

}  // namespace assay
