#include "literal/npz.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/file_io.h"
#include "fmt/format.h"
#include "literal/literal_text.h"
#include "shape/shape_text.h"

namespace assay {
namespace {

Shape ShapeFrom(std::string_view text) { return *ParseShape(text); }
Literal ParsedValue(std::string_view shape, std::string_view text) {
  return *ParseLiteral(ShapeFrom(shape), text, {.hex_floats = true});
}
template <class Result>
std::string ErrorOf(const Result& result) {
  if (result.ok()) return "no error";
  CHECK(ExitCodeOf(result.status()) == 5);
  return std::string(result.status().message());
}

std::string Word(uint64_t value, int bytes) {
  std::string result;
  for (int i = 0; i < bytes; ++i) result += static_cast<char>(value >> (8 * i));
  return result;
}
std::string Npy(const std::string& header, const std::string& data) {
  return "\x93NUMPY\x01" + std::string(1, '\0') + Word(header.size(), 2) + header + data;
}
std::string Dict(const std::string& descr, const std::string& shape, const char* fortran = "False") {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}\n", descr, fortran, shape);
}

// One member of a zip file, and everything in it that can lie.
struct Member {
  std::string name;
  std::string data;
  int method = 0;
  uint64_t size = 0;        // announced; 0: the truth
  uint64_t compressed = 0;  // announced; 0: the truth
  int flags = 0;
  bool damaged = false;
};
uint32_t Crc32(const std::string& data) {
  uint32_t crc = ~0u;
  for (char c : data) {
    crc ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}
// One deflate block of fixed Huffman codes: literals, and runs of zeros as copies of the byte before.
std::string Deflate(const std::string& data) {
  std::string out;
  int used = 0;
  const auto put = [&](uint32_t code, int bits) {  // most significant bit first
    while (bits-- > 0) {
      if (used % 8 == 0) out += '\0';
      out.back() = static_cast<char>(out.back() | (code >> bits & 1) << used++ % 8);
    }
  };
  put(0b110, 3);
  for (size_t i = 0; i < data.size();) {
    const size_t run = std::min(data.find_first_not_of('\0', i), data.size()) - i;
    if (run >= 258 && i > 0 && data[i - 1] == '\0') {
      put(0b11000101, 8);  // copy 258 bytes
      put(0, 5);           // from one byte back
      i += 258;
      continue;
    }
    const auto byte = static_cast<unsigned char>(data[i++]);
    byte < 144 ? put(0x30 + byte, 8) : put(0x190 + byte - 144, 9);
  }
  put(0, 7);
  return out;
}
std::string Zip(const std::vector<Member>& members) {
  std::string file, directory;
  for (const Member& m : members) {
    const std::string stored = m.method == 8 ? Deflate(m.data) : m.data;
    uint32_t crc = Crc32(m.data);
    if (m.damaged) crc ^= 1;
    const std::string common = Word(20, 2) + Word(m.flags, 2) + Word(m.method, 2) + Word(0, 2) +
                               Word(0x21, 2) + Word(crc, 4) +
                               Word(m.compressed ? m.compressed : stored.size(), 4) +
                               Word(m.size ? m.size : m.data.size(), 4) + Word(m.name.size(), 2) + Word(0, 2);
    directory += "PK\1\2" + Word(20, 2) + common + Word(0, 2) + Word(0, 2) + Word(0, 2) + Word(0, 4) +
                 Word(file.size(), 4) + m.name;
    file += "PK\3\4" + common + m.name + stored;
  }
  return file + directory + "PK\5\6" + Word(0, 4) + Word(members.size(), 2) + Word(members.size(), 2) +
         Word(directory.size(), 4) + Word(file.size(), 4) + Word(0, 2);
}
const std::string kGood = Npy(Dict("<f4", "(2,)"), Word(0x3f800000, 4) + Word(0x40000000, 4));

// A folder of its own, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    char name[] = "/tmp/assay_npz_test_XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  int64_t files() const {
    return std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator());
  }

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("npy: what we write has NumPy's header and our bytes", "[npz]") {
  const std::string file = EncodeNpy(ParsedValue("f32[2]", "{1, 2}"));
  REQUIRE(file.size() == 128 + 8);
  CHECK(file.substr(0, 10) == std::string("\x93NUMPY\x01\0\x76\0", 10));
  CHECK(file.substr(10, 60) == "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }   ");
  CHECK(file[127] == '\n');
  CHECK(file.substr(128) == Word(0x3f800000, 4) + Word(0x40000000, 4));
  CHECK(EncodeNpy(ParsedValue("s32[]", "7")).find("'shape': (), }") != std::string::npos);
  CHECK(EncodeNpy(ParsedValue("bf16[1,2]", "{{1,2}}"))
            .find("'descr': '|V2', 'fortran_order': False, 'shape': (1, 2), }") != std::string::npos);
}

TEST_CASE("npy: arrays of every element type come back bit for bit", "[npz]") {
  for (int t = 0; t < kNumElementTypes; ++t) {
    const auto type = static_cast<ElementType>(t);
    const std::string text = IsComplex(type)            ? "{{(1,-2),(0,1)},{(1,1),(0,0)}}"
                             : type == ElementType::kS1 ? "{{-1,0},{0,-1}}"
                             : type == ElementType::kS2 ? "{{-2,-1},{0,1}}"
                             : IsUnsignedIntegral(type) ? "{{0,1},{1,0}}"
                                                        : "{{1,2},{4,1}}";
    const Literal literal = ParsedValue(fmt::format("{}[2,2]", Name(type)), text);
    INFO(Name(type));
    const absl::StatusOr<NpyArray> array = ParseNpy("a", EncodeNpy(literal));
    REQUIRE(array.ok());
    CHECK(array->descr == Info(type).numpy_descr);
    const absl::StatusOr<Literal> back = DecodeNpy("a", *array, literal.shape());
    INFO(back.status());
    REQUIRE(back.ok());
    CHECK(Literal::BitwiseEqual(*back, literal));
  }
}

TEST_CASE("npy: narrow integers are written with the unused bits zero, as ml_dtypes does", "[npz]") {
  const std::string file = EncodeNpy(ParsedValue("s4[3]", "{-1, 3, -8}"));
  CHECK(file.substr(file.size() - 3) == "\x0f\x03\x08");
}

TEST_CASE("npy: big-endian and Fortran-order files are converted", "[npz]") {
  const auto decode = [](const std::string& header, const std::string& data, std::string_view shape) {
    const absl::StatusOr<NpyArray> array = ParseNpy("a", Npy(header, data));
    REQUIRE(array.ok());
    const absl::StatusOr<Literal> literal = DecodeNpy("a", *array, ShapeFrom(shape));
    INFO(literal.status());
    REQUIRE(literal.ok());
    return LiteralToText(*literal);
  };
  CHECK(decode(Dict(">i2", "(2,)"), std::string("\0\1\1\0", 4), "s16[2]") == "{1, 256}");
  CHECK(decode(Dict(">c8", "(1,)"), std::string("\x3f\x80\0\0\x40\0\0\0", 8), "c64[1]") == "{(1, 2)}");
  CHECK(decode(Dict("|i1", "(2, 3)", "True"), "\1\2\3\4\5\6", "s8[2,3]") == "{ { 1, 3, 5 }, { 2, 4, 6 } }");
  CHECK(decode(Dict(">u2", "(2, 2)", "True"), std::string("\0\1\0\2\0\3\0\4", 8), "u16[2,2]") ==
        "{ { 1, 3 }, { 2, 4 } }");
  CHECK(decode(Dict("=f8", "()"), Word(0x3ff0000000000000, 8), "f64[]") == "1");
}

TEST_CASE("npy: what ml_dtypes arrays are written as is accepted by width", "[npz]") {
  const NpyArray one{.descr = "<V1", .sizes = {1}, .data = "\x3c"};
  CHECK(LiteralToText(*DecodeNpy("a", one, ShapeFrom("f8e4m3fn[1]"))) == "{1.5}");
  NpyArray same = one;
  for (const char* descr : {"|V1", "<V1", "<f1", "|f1"}) {
    same.descr = descr;
    CHECK(LiteralToText(*DecodeNpy("a", same, ShapeFrom("f8e5m2[1]"))) == "{1}");
  }
  const NpyArray two{.descr = "<V2", .sizes = {1}, .data = std::string("\x80\x3f", 2)};
  CHECK(LiteralToText(*DecodeNpy("a", two, ShapeFrom("bf16[1]"))) == "{1}");
  CHECK(ErrorOf(DecodeNpy("a", {.descr = "<f2", .sizes = {1}, .data = "12"}, ShapeFrom("bf16[1]"))) ==
        "'a': found '<f2' [1], wanted '|V2' for bf16[1]");
}

TEST_CASE("npy: elements are made what the type allows", "[npz]") {
  const auto text = [](const char* descr, const std::string& data, std::string_view shape) {
    return LiteralToText(*DecodeNpy("a", {.descr = descr, .sizes = {2}, .data = data}, ShapeFrom(shape)));
  };
  CHECK(text("|V1", "\x0f\x18", "s4[2]") == "{-1, -8}");
  CHECK(text("|V1", "\xff\x13", "u4[2]") == "{15, 3}");
  CHECK(text("|V1", "\xf5\x02", "f4e2m1fn[2]") == "{3, 1}");
  CHECK(text("|b1", std::string("\x02\0", 2), "pred[2]") == "{1, 0}");
}

TEST_CASE("npy: an array smaller than a dynamic bound sets the run-time size", "[npz]") {
  const NpyArray array{.descr = "|u1", .sizes = {2, 2}, .data = "\1\2\3\4"};
  const absl::StatusOr<Literal> literal = DecodeNpy("a", array, ShapeFrom("u8[<=3,<=4]"));
  REQUIRE(literal.ok());
  CHECK(LiteralToText(*literal) == "{ { 1, 2 }, { 3, 4 } }");
  const std::string again = EncodeNpy(*literal);
  CHECK(again.substr(again.size() - 4) == "\1\2\3\4");
  CHECK(ErrorOf(DecodeNpy("a", array, ShapeFrom("u8[<=3,<=1]"))) ==
        "'a': found '|u1' [2,2], wanted '|u1' for u8[<=3,<=1]");
}

TEST_CASE("npy: arrays that are not what the program wants are refused with both sides", "[npz]") {
  const NpyArray array{.descr = "<f4", .sizes = {1}, .data = "1234"};
  CHECK(ErrorOf(DecodeNpy("arg0", array, ShapeFrom("f32[2]"))) ==
        "'arg0': found '<f4' [1], wanted '<f4' for f32[2]");
  CHECK(ErrorOf(DecodeNpy("arg0", array, ShapeFrom("f32[]"))) ==
        "'arg0': found '<f4' [1], wanted '<f4' for f32[]");
  CHECK(ErrorOf(DecodeNpy("arg0", array, ShapeFrom("s32[1]"))) ==
        "'arg0': found '<f4' [1], wanted '<i4' for s32[1]");
  CHECK(ErrorOf(DecodeNpy("arg0", array, ShapeFrom("(f32[1])"))) ==
        "'arg0': an array is given for a value of shape (f32[1])");
}

TEST_CASE("npy: without a program the descriptor says the type", "[npz]") {
  const auto decode = [](const char* descr, const std::string& data) {
    const absl::StatusOr<Literal> literal =
        DecodeNpyByDescr("a", {.descr = descr, .sizes = {1}, .data = data});
    return literal.ok() ? literal->shape().ToString() + LiteralToText(*literal) : ErrorOf(literal);
  };
  CHECK(decode("|u1", "\x05") == "u8[1]{5}");
  CHECK(decode("<u2", std::string("\x05\0", 2)) == "u16[1]{5}");
  // Raw bytes may be of many types; f1 is what ml_dtypes calls f8e5m2, and that alone.
  CHECK(decode("|V1", "\x05") ==
        "'a': '|V1' does not say the element type, which may be s1, s2, s4, u1, u2, u4, f8e5m2, f8e4m3, "
        "f8e4m3fn, f8e4m3b11fnuz, f8e3m4, f8e5m2fnuz, f8e4m3fnuz, f8e8m0fnu, f6e3m2fn, f6e2m3fn, f4e2m1fn");
  CHECK(decode("<V2", "12") == "'a': '<V2' does not say the element type, which may be bf16");
  CHECK(decode("<f1", "\x3c") == "f8e5m2[1]{1}");
  CHECK(decode("|b1", "\1") == "pred[1]{1}");
  CHECK(decode(">i2", std::string("\0\2", 2)) == "s16[1]{2}");
  CHECK(decode("<c16", std::string(16, '\0')) == "c128[1]{(0, 0)}");
  CHECK(decode("<f2", std::string("\0\x3c", 2)) == "f16[1]{1}");
  CHECK(decode("|V3", "123") == "'a': descriptor '|V3' is not supported");
  CHECK(decode("<f16", std::string(16, '\0')) == "'a': descriptor '<f16' is not supported");
}

TEST_CASE("npy: headers that NumPy writes in other versions and orders are read", "[npz]") {
  const std::string dict = "{\"shape\": (2L, ), \"fortran_order\":False,\"descr\":'|u1'}  \n";
  CHECK(ParseNpy("a", Npy(dict, "12")).ok());
  CHECK(ParseNpy("a", "\x93NUMPY\x02" + std::string(1, '\0') + Word(dict.size(), 4) + dict + "12").ok());
  CHECK(ParseNpy("a", "\x93NUMPY\x03" + std::string(1, '\0') + Word(dict.size(), 4) + dict + "12").ok());
  CHECK(ParseNpy("a", Npy(Dict("<f4", "(0, 5)"), "")).ok());
  CHECK(ParseNpy("a", Npy(Dict("<f4", "(0, 9223372036854775807, 9223372036854775807)"), "")).ok());
}

TEST_CASE("npy: a header may have 10000 bytes and no more", "[npz]") {
  const std::string dict = Dict("|u1", "(1,)");
  CHECK(ParseNpy("a", Npy(dict + std::string(10000 - dict.size(), ' '), "1")).ok());
  CHECK(ErrorOf(ParseNpy("a", Npy(dict + std::string(10001 - dict.size(), ' '), "1"))) ==
        "'a': the header has 10001 bytes, over the limit of 10000");
}

TEST_CASE("npy: damaged and hostile files are refused", "[npz]") {
  struct Row {
    std::string file, message;
  };
  const std::string magic = "\x93NUMPY";
  const Row kRows[] = {
      {"", "not a .npy file"},
      {"PK\3\4", "not a .npy file"},
      {magic, "the file ends inside its header"},
      {magic + "\1", "the file ends inside its header"},
      {magic + std::string("\1\0\5\0", 4), "the file ends inside its header"},
      {magic + std::string("\2\0\5\0", 4), "the file ends inside its header"},
      {magic + std::string("\7\0\5\0", 4), ".npy version 7 is unknown"},
      {magic + std::string("\0\0\5\0", 4), ".npy version 0 is unknown"},
      {magic + std::string("\1\0\xff\xff", 4), "the header has 65535 bytes, over the limit of 10000"},
      {magic + std::string("\2\0\xff\xff\xff\xff", 6),
       "the header has 4294967295 bytes, over the limit of 10000"},
      {Npy("", ""), "the header is not a dict"},
      {Npy("[1]", ""), "the header is not a dict"},
      {Npy("{}", ""), "the header lacks descr, fortran_order or shape"},
      {Npy("{'descr': '<f4', 'shape': ()}", "1234"), "the header lacks descr, fortran_order or shape"},
      {Npy("{'descr': '<f4'", ""), "the header lacks a ','"},
      {Npy("{'descr'", ""), "the header lacks a ':'"},
      {Npy("{'descr", ""), "the header has a string without an end"},
      {Npy("{5: 1}", ""), "the header has something else where a string belongs"},
      {Npy("{'descr': '<f4', 'descr': '<f4'}", ""), "the header has descr twice"},
      {Npy("{'evil': 1}", ""), "the header has an unknown key 'evil'"},
      {Npy(Dict("<f4", "()") + "x", "1234"), "the header goes on after its dict"},
      {Npy(Dict("<f4", "()", "Maybe"), "1234"), "fortran_order is not a bool"},
      {Npy(Dict("<f4", "5"), "1234"), "the shape is not a tuple"},
      {Npy(Dict("<f4", "(-1,)"), "1234"), "the shape has something else than sizes"},
      {Npy(Dict("<f4", "(1.5,)"), "1234"), "the shape lacks a ','"},
      {Npy(Dict("<f4", "(1"), "1234"), "the shape has something else than sizes"},
      {Npy(Dict("<f4", "(9223372036854775808,)"), ""), "the shape has a size over 2^63 - 1"},
      {Npy(Dict("|O", "(1,)"), "12345678"), "pickled objects are refused"},
      {Npy(Dict("O", "(1,)"), "12345678"), "pickled objects are refused"},
      {Npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "1234"),
       "arrays of structures are not supported"},
      {Npy(Dict("<U4", "(1,)"), "1234"), "descriptor '<U4' is not supported"},
      {Npy(Dict("<M8[ns]", "(1,)"), "12345678"), "descriptor '<M8[ns]' is not supported"},
      {Npy(Dict("<f", "(1,)"), "1234"), "descriptor '<f' is not supported"},
      {Npy(Dict("<f0", "(1,)"), ""), "descriptor '<f0' is not supported"},
      {Npy(Dict("<f99999999999", "(1,)"), ""), "descriptor '<f99999999999' is not supported"},
      {Npy(Dict("", "(1,)"), ""), "descriptor '' is not supported"},
      {Npy(Dict("<f4", "(2,)"), "1234"), "[2] of '<f4' needs 8 bytes of data, the file has 4"},
      {Npy(Dict("<f4", "(2,)"), "123456789"), "[2] of '<f4' needs 8 bytes of data, the file has 9"},
      {Npy(Dict("<f4", "(4611686018427387904,)"), "1234"),
       "[4611686018427387904] of '<f4' needs over 2^63 bytes of data, the file has 4"},
      {Npy(Dict("<f4", "(4294967296, 4294967296)"), ""),
       "[4294967296,4294967296] of '<f4' needs over 2^63 bytes of data, the file has 0"},
      {Npy(Dict("<f4", fmt::format("({})", fmt::join(std::vector<int>(65, 1), ","))), "1234"),
       "the shape has more than 64 dimensions"},
  };
  for (const Row& row : kRows) {
    INFO(row.file);
    CHECK(ErrorOf(ParseNpy("a\n", row.file)) == "'a\\x0a': " + row.message);
  }
}

TEST_CASE("npz: archives come back, and equal values give equal bytes", "[npz]") {
  const std::vector<std::pair<std::string, Literal>> arrays = {
      {"r0p0/arg0", ParsedValue("f32[2]", "{1, nan(0x5)}")},
      {"b", ParsedValue("s8[]", "-5")},
      {"a", ParsedValue("pred[0]", "{}")}};
  const absl::StatusOr<std::string> bytes = EncodeNpz(arrays);
  REQUIRE(bytes.ok());
  CHECK(*bytes == *EncodeNpz(arrays));
  const auto back = ParseNpz("x.npz", *bytes);
  INFO(back.status());
  REQUIRE(back.ok());
  REQUIRE(back->size() == 3);
  for (const auto& [key, literal] : arrays) {
    CHECK(Literal::BitwiseEqual(*DecodeNpy(key, back->at(key), literal.shape()), literal));
  }
  // Stored, 1980-01-01: the first local header.
  CHECK(bytes->substr(8, 6) == std::string("\0\0\0\0\x21\0", 6));
  CHECK(ParseNpz("x", *EncodeNpz({}))->empty());
  CHECK(ErrorOf(EncodeNpz({{"t", Literal::Token()}})) == "writing .npz: 't' is not an array");
}

TEST_CASE("npz: stored and deflated members are read", "[npz]") {
  const auto back =
      ParseNpz("x", Zip({{.name = "a.npy", .data = kGood}, {.name = "b.npy", .data = kGood, .method = 8}}));
  INFO(back.status());
  REQUIRE(back.ok());
  CHECK(LiteralToText(*DecodeNpyByDescr("b", back->at("b"))) == "{1, 2}");
}

TEST_CASE("npz: damaged and hostile archives are refused", "[npz]") {
  struct Row {
    std::string file, message;
  };
  const std::string good = Zip({{.name = "a.npy", .data = kGood}});
  const Row kRows[] = {
      {Zip({{.name = "a.npy", .data = kGood}, {.name = "a.npy", .data = kGood}}),
       "member 'a.npy' is there twice"},
      {Zip({{.name = "a.txt", .data = kGood}}), "member 'a.txt' is not a .npy file"},
      {Zip({{.name = "", .data = kGood}}), "member '' is not a .npy file"},
      {Zip({{.name = "a.npy", .data = "hello"}}), "'a.npy': not a .npy file"},
      {Zip({{.name = "a.npy", .data = kGood, .method = 8, .size = 400000}}),
       "over the limit of 1000 times; save it uncompressed"},
      {Zip({{.name = "a.npy", .data = kGood, .method = 8, .size = 50}}),
       "member 'a.npy': holds more than the 50 bytes"},
      {Zip({{.name = "a.npy", .data = kGood, .method = 8, .size = 5000}}), "member 'a.npy'"},
      {Zip({{.name = "a.npy", .data = kGood, .size = 5000}}), "member 'a.npy'"},
      {Zip({{.name = "a.npy", .data = kGood, .size = 4000000000, .compressed = 4000000000}}),
       "member 'a.npy' is larger than the archive"},
      {Zip({{.name = "a.npy", .data = kGood, .damaged = true}}), "member 'a.npy': damaged: CRC error"},
      {Zip({{.name = "a.npy", .data = kGood, .method = 8, .damaged = true}}),
       "member 'a.npy': damaged: CRC error"},
      {Zip({{.name = "a.npy", .data = kGood, .method = 12}}),
       "is compressed by method 12, wanted stored or deflated"},
      {Zip({{.name = "a.npy", .data = kGood, .flags = 1}}), "member 'a.npy' is encrypted"},
      {good.substr(0, good.size() - 1), "not a readable .npz file"},
      {good.substr(0, 30), "not a readable .npz file"},
      {"", "not a readable .npz file"},
      {"hello", "not a readable .npz file"},
      {std::string(100000, 'P'), "not a readable .npz file"},
  };
  for (const Row& row : kRows) {
    const std::string error = ErrorOf(ParseNpz("x.npz", row.file));
    INFO(error << " wanted " << row.message);
    CHECK(error.find(row.message) != std::string::npos);
    CHECK(error.rfind("x.npz: ", 0) == 0);
  }
}

TEST_CASE("npz: every truncation and every flipped byte is refused or read, never fatal", "[npz]") {
  const std::string file =
      Zip({{.name = "a.npy", .data = kGood, .method = 8}, {.name = "b.npy", .data = kGood}});
  for (size_t i = 0; i < file.size(); ++i) {
    CHECK_FALSE(ParseNpz("x", file.substr(0, i)).ok());
    for (int flip : {0x01, 0x80, 0xff}) {
      std::string damaged = file;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      (void)ParseNpz("x", damaged);
    }
  }
}

TEST_CASE("npz: overlapping members may not grow without bound", "[npz]") {
  // Many directory entries for one local file that grows 150 times: each alone is fine.
  const std::string data = Npy(Dict("|u1", "(400000,)"), std::string(400000, '\0'));
  const std::string one = Zip({{.name = "a.npy", .data = data, .method = 8}});
  REQUIRE(ParseNpz("x", one).ok());
  const size_t directory = one.find("PK\1\2");
  std::string entries;
  constexpr int kEntries = 100;
  for (int i = 0; i < kEntries; ++i) {
    std::string entry = one.substr(directory, one.find("PK\5\6") - directory);
    entry[46] = static_cast<char>('!' + i);  // the name's first byte
    entries += entry;
  }
  const std::string file = one.substr(0, directory) + entries + "PK\5\6" + Word(0, 4) + Word(kEntries, 2) +
                           Word(kEntries, 2) + Word(entries.size(), 4) + Word(directory, 4) + Word(0, 2);
  CHECK(ErrorOf(ParseNpz("x", file)).find("bytes grow to more than 1000 times as many") != std::string::npos);
}

TEST_CASE("files: written atomically, whatever was there before", "[npz]") {
  const TemporaryFolder folder;
  const std::string path = folder / "out.npz";
  REQUIRE(WriteFileAtomically(path, "one").ok());
  CHECK(*ReadFile(path) == "one");
  ::chmod(path.c_str(), 0640);
  REQUIRE(WriteFileAtomically(path, "two").ok());
  CHECK(*ReadFile(path) == "two");
  struct stat status;
  ::stat(path.c_str(), &status);
  CHECK((status.st_mode & 0777) == 0640);
  // A link stays a link; what it names is replaced.
  const std::string link = folder / "link";
  REQUIRE(::symlink("out.npz", link.c_str()) == 0);
  REQUIRE(WriteFileAtomically(link, "three").ok());
  CHECK(std::filesystem::is_symlink(link));
  CHECK(*ReadFile(path) == "three");
  const std::string dangling = folder / "dangling";
  REQUIRE(::symlink("made", dangling.c_str()) == 0);
  REQUIRE(WriteFileAtomically(dangling, "four").ok());
  CHECK(*ReadFile(folder / "made") == "four");
  CHECK(folder.files() == 4);
}

TEST_CASE("files: what can't be written is an error and leaves nothing behind", "[npz]") {
  const TemporaryFolder folder;
  CHECK(ErrorOf(absl::StatusOr<int>(WriteFileAtomically("/dev/full", "x"))) ==
        "/dev/full: can't write: No space left on device");
  CHECK(WriteFileAtomically("/dev/null", "x").ok());
  CHECK_FALSE(WriteFileAtomically(folder / "", "x").ok());
  CHECK_FALSE(WriteFileAtomically(folder / "no/such/folder", "x").ok());
  CHECK_FALSE(WriteFileAtomically("", "x").ok());
  CHECK_FALSE(WriteFileAtomically(folder / std::string(300, 'n'), "x").ok());
  REQUIRE(::symlink("loop", (folder / "loop").c_str()) == 0);
  CHECK_FALSE(WriteFileAtomically(folder / "loop", "x").ok());
  CHECK(folder.files() == 1);
}

TEST_CASE("files: a write that fails half way leaves the old file and no other", "[npz]") {
  const TemporaryFolder folder;
  const std::string path = folder / "out";
  REQUIRE(WriteFileAtomically(path, "old").ok());
  rlimit unlimited;
  ::getrlimit(RLIMIT_FSIZE, &unlimited);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{10, unlimited.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const absl::Status status = WriteFileAtomically(path, std::string(100, 'x'));
  const absl::Status archive_status = WriteNpzFile(path, {{"a", ParsedValue("f32[3]", "{1, 2, 3}")}});
  ::setrlimit(RLIMIT_FSIZE, &unlimited);
  ::signal(SIGXFSZ, handler);
  CHECK(status.message() == fmt::format("{}: can't write: File too large", path));
  CHECK(archive_status.message() == status.message());
  CHECK(*ReadFile(path) == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("files: a pipe is written directly", "[npz]") {
  const TemporaryFolder folder;
  const std::string path = folder / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(WriteFileAtomically(path, "through").ok());
  char buffer[16];
  CHECK(std::string(buffer, ::read(reader, buffer, sizeof(buffer))) == "through");
  ::close(reader);
}

TEST_CASE("files: what can't be read is an error", "[npz]") {
  const TemporaryFolder folder;
  CHECK(ErrorOf(ReadFile(folder / "none")) == (folder / "none") + ": can't open: No such file or directory");
  CHECK(ErrorOf(ReadFile(folder / "")) == (folder / "") + ": can't read: Is a directory");
  std::ofstream(folder / "big").close();
  REQUIRE(::truncate((folder / "big").c_str(), int64_t{1} << 42) == 0);
  CHECK(ErrorOf(ReadFile(folder / "big")).find("over the limit") != std::string::npos);
}

TEST_CASE("npz: a file is written with the bytes of the archive in memory", "[npz]") {
  const TemporaryFolder folder;
  const std::vector<std::pair<std::string, Literal>> arrays = {{"a", ParsedValue("f32[3]", "{1, 2, 3}")},
                                                               {"b", ParsedValue("s4[3]", "{-1, 3, -8}")},
                                                               {"c", ParsedValue("u8[0]", "{}")},
                                                               {"d", ParsedValue("bf16[]", "7")}};
  for (int again = 0; again < 2; ++again) {
    REQUIRE(WriteNpzFile(folder / "out.npz", arrays).ok());
    CHECK(*ReadFile(folder / "out.npz") == *EncodeNpz(arrays));
  }
  REQUIRE(WriteNpzFile(folder / "none.npz", {}).ok());
  CHECK(ReadNpzFile(folder / "none.npz")->empty());
  CHECK_FALSE(WriteNpzFile(folder / "no/out.npz", arrays).ok());
  CHECK(ErrorOf(absl::StatusOr<int>(WriteNpzFile(folder / "t.npz", {{"t", Literal::Token()}}))) ==
        "writing .npz: 't' is not an array");
}

TEST_CASE("npz: a large archive is read member by member, into the storage of the values", "[npz]") {
  const TemporaryFolder folder;
  const std::string path = folder / "large.npz";
  std::vector<int64_t> values(400000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i * i % 100003);
  const int64_t sizes[] = {400, 1000};
  const Literal large = Literal::FromInts(ElementType::kS32, sizes, values);
  REQUIRE(WriteNpzFile(path, {{"a", large}, {"b", ParsedValue("f32[2]", "{1, 2}")}}).ok());
  const auto arrays = ReadNpzFile(path);
  REQUIRE(arrays.ok());
  const absl::StatusOr<Literal> a = DecodeNpy("a", arrays->at("a"), large.shape());
  REQUIRE(a.ok());
  CHECK(Literal::BitwiseEqual(*a, large));
  CHECK(a->data() == arrays->at("a").data.data());
  CHECK(LiteralToText(*DecodeNpy("b", arrays->at("b"), ShapeFrom("f32[2]"))) == "{1, 2}");

  std::string bytes = *ReadFile(path);
  bytes[1000000] ^= 1;
  REQUIRE(WriteFileAtomically(path, bytes).ok());
  CHECK(ErrorOf(ReadNpzFile(path)) == path + ": member 'a.npy': damaged: CRC error");
  REQUIRE(WriteFileAtomically(path, bytes.substr(0, bytes.size() - 30)).ok());
  CHECK(ErrorOf(ReadNpzFile(path)).find("not a readable .npz file") != std::string::npos);
}

TEST_CASE("files: .npy and .npz are told apart by content", "[npz]") {
  const TemporaryFolder folder;
  REQUIRE(WriteFileAtomically(folder / "a", kGood).ok());
  REQUIRE(WriteFileAtomically(folder / "b", *EncodeNpz({{"k", ParsedValue("f32[]", "1")}})).ok());
  CHECK(ReadNpzFile(folder / "a")->contains(""));
  CHECK(ReadNpzFile(folder / "b")->contains("k"));
  CHECK_FALSE(ReadNpzFile(folder / "c").ok());
}

TEST_CASE("file: what can't be read or written is told beforehand, and nothing stays", "[npz]") {
  const TemporaryFolder folder;
  REQUIRE(WriteFileAtomically(folder / "there", "x").ok());
  CHECK(CheckReadable(folder / "there").ok());
  CHECK(CheckReadable("-").ok());
  CHECK(ErrorOf(absl::StatusOr<int>(CheckReadable(folder / "none"))) ==
        folder / "none" + ": can't open: No such file or directory");
  CHECK(ErrorOf(absl::StatusOr<int>(CheckReadable(folder / ""))) ==
        folder / "" + ": can't read: Is a directory");
  CHECK(CheckWritable(folder / "there").ok());
  CHECK(CheckWritable(folder / "new").ok());
  CHECK(CheckWritable("/dev/null").ok());
  CHECK(ErrorOf(absl::StatusOr<int>(CheckWritable(folder / "no/new"))) ==
        folder / "no/new" + ": can't create a file beside it: No such file or directory");
  CHECK(ErrorOf(absl::StatusOr<int>(CheckWritable(folder / ""))) ==
        folder / "" + ": can't write: Is a directory");
  std::filesystem::create_symlink(folder / "no/new", folder / "link");
  CHECK_FALSE(CheckWritable(folder / "link").ok());
  CHECK(folder.files() == 2);
  CHECK(*ReadFile(folder / "there") == "x");
}

}  // namespace assay
