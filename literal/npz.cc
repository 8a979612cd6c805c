// .npz archives: zip files of .npy members, in memory through libzip (npz.h). Single arrays are in npy.cc,
// files in file_io.cc.
#include "literal/npz.h"

#include <zip.h>

#include <algorithm>
#include <memory>
#include <new>

#include "fmt/format.h"

namespace assay {
namespace {

constexpr uint64_t kMaxRatio = 1000;
constexpr std::string_view kSuffix = ".npy";

struct ZipDiscard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct ZipFileClose {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
struct ZipSourceFree {
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};
struct ZipError {
  ZipError() { zip_error_init(&error); }
  ~ZipError() { zip_error_fini(&error); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
  zip_error_t error;
};

std::string Printable(std::string_view text) {
  std::string result;
  for (char c : text.substr(0, 256)) {
    const auto byte = static_cast<unsigned char>(c);
    result += byte >= 0x20 && byte < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return result;
}

absl::StatusOr<std::unique_ptr<zip_t, ZipDiscard>> OpenArchive(std::string_view file_name,
                                                               std::string_view bytes) {
  // libzip takes no bytes at all for an archive without members.
  if (bytes.empty())
    return BadInput(fmt::format("{}: not a readable .npz file: empty", Printable(file_name)));
  ZipError zip_error;
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &zip_error.error);
  zip_t* archive = source ? zip_open_from_source(source, ZIP_RDONLY, &zip_error.error) : nullptr;
  if (archive == nullptr) {
    const std::string why = zip_error_strerror(&zip_error.error);
    if (source != nullptr) zip_source_free(source);
    return BadInput(fmt::format("{}: not a readable .npz file: {}", Printable(file_name), why));
  }
  return std::unique_ptr<zip_t, ZipDiscard>(archive);
}

// Inflates a member. Memory grows with what really comes out, so a size that lies costs nothing.
absl::StatusOr<std::string> ReadMember(zip_t* archive, uint64_t index, uint64_t size,
                                       std::string_view where) {
  const std::unique_ptr<zip_file_t, ZipFileClose> file(zip_fopen_index(archive, index, 0));
  if (file == nullptr) {
    return BadInput(fmt::format("{}: {}", where, zip_error_strerror(zip_get_error(archive))));
  }
  std::string data;
  constexpr uint64_t kFirstChunk = 1 << 16;
  while (true) {
    // One byte more than announced, so that reading reaches the end and the checksum is compared.
    const uint64_t left = size - std::min<uint64_t>(size, data.size()) + 1;
    const uint64_t chunk = std::min(left, std::max<uint64_t>(kFirstChunk, data.size()));
    const size_t before = data.size();
    data.resize(before + chunk);
    const zip_int64_t got = zip_fread(file.get(), data.data() + before, chunk);
    if (got < 0) {
      return BadInput(
          fmt::format("{}: damaged: {}", where, zip_error_strerror(zip_file_get_error(file.get()))));
    }
    data.resize(before + got);
    if (data.size() > size)
      return BadInput(fmt::format("{}: holds more than the {} bytes announced", where, size));
    if (got == 0) break;
  }
  if (data.size() != size) {
    return BadInput(fmt::format("{}: holds {} bytes, {} announced", where, data.size(), size));
  }
  return data;
}

// What the directory says of one member, checked without reading it.
struct Member {
  std::string key;
  uint64_t size = 0;
};
absl::StatusOr<Member> CheckMember(zip_t* archive, uint64_t index, std::string_view file_name,
                                   uint64_t archive_size) {
  const auto error = [&](std::string_view name, std::string_view message) {
    return BadInput(fmt::format("{}: member '{}' {}", Printable(file_name), Printable(name), message));
  };
  zip_stat_t stat;
  if (zip_stat_index(archive, index, ZIP_FL_ENC_RAW, &stat) != 0) return error("?", "can't be read");
  const zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if ((stat.valid & needed) != needed) return error("?", "has an incomplete entry");
  const std::string_view name = stat.name;
  if ((stat.valid & ZIP_STAT_ENCRYPTION_METHOD) && stat.encryption_method != ZIP_EM_NONE) {
    return error(name, "is encrypted");
  }
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
    return error(name,
                 fmt::format("is compressed by method {}, wanted stored or deflated", stat.comp_method));
  }
  if (!name.ends_with(kSuffix)) return error(name, "is not a .npy file");
  if (stat.comp_size > archive_size) return error(name, "is larger than the archive");
  if (stat.size > kMaxRatio * stat.comp_size) {
    return error(name,
                 fmt::format("grows from {} to {} bytes, over the limit of {} times; save it uncompressed",
                             stat.comp_size, stat.size, kMaxRatio));
  }
  return Member{std::string(name.substr(0, name.size() - kSuffix.size())), stat.size};
}

absl::StatusOr<std::map<std::string, NpyArray>> ParseArchive(std::string_view file_name,
                                                             std::string_view bytes) {
  ASSAY_ASSIGN_OR_RETURN(const auto archive, OpenArchive(file_name, bytes));
  std::map<std::string, NpyArray> arrays;
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  uint64_t total = 0;
  for (zip_int64_t i = 0; i < count; ++i) {
    ASSAY_ASSIGN_OR_RETURN(const Member member, CheckMember(archive.get(), i, file_name, bytes.size()));
    const std::string where = fmt::format("{}: member '{}.npy'", Printable(file_name), Printable(member.key));
    if (arrays.contains(member.key)) return BadInput(fmt::format("{} is there twice", where));
    // Members that overlap could give more, all together, than each may alone.
    total += member.size;
    if (total > kMaxRatio * bytes.size()) {
      return BadInput(fmt::format("{}: {} bytes grow to more than {} times as many", Printable(file_name),
                                  bytes.size(), kMaxRatio));
    }
    ASSAY_ASSIGN_OR_RETURN(const std::string data, ReadMember(archive.get(), i, member.size, where));
    absl::StatusOr<NpyArray> array = ParseNpy(fmt::format("{}{}", member.key, kSuffix), data);
    if (!array.ok()) return WithPrefix(array.status(), Printable(file_name));
    arrays.emplace(member.key, *std::move(array));
  }
  return arrays;
}

absl::Status WriteError(zip_t* archive) {
  return BadInput(fmt::format("writing .npz: {}", zip_error_strerror(zip_get_error(archive))));
}

// Stored, with the first time that a zip file can express.
absl::Status AddMember(zip_t* archive, const std::string& name, const std::string& data) {
  zip_source_t* source = zip_source_buffer(archive, data.data(), data.size(), 0);
  if (source == nullptr) return WriteError(archive);
  const zip_int64_t index = zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    return WriteError(archive);
  }
  constexpr zip_uint16_t kFirstJanuary1980 = 1 << 5 | 1;
  if (zip_set_file_compression(archive, index, ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_dostime(archive, index, 0, kFirstJanuary1980, 0) != 0) {
    return WriteError(archive);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadSource(zip_source_t* source) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_source_stat(source, &stat) != 0 || (stat.valid & ZIP_STAT_SIZE) == 0 ||
      zip_source_open(source) != 0) {
    return BadInput("writing .npz: the archive can't be read back");
  }
  std::string bytes(stat.size, '\0');
  const zip_int64_t got = zip_source_read(source, bytes.data(), bytes.size());
  zip_source_close(source);
  if (got != static_cast<zip_int64_t>(bytes.size()))
    return BadInput("writing .npz: the archive can't be read back");
  return bytes;
}

absl::StatusOr<std::string> BuildArchive(const std::vector<std::pair<std::string, Literal>>& arrays) {
  std::vector<std::string> files;  // libzip reads them when the archive is closed
  files.reserve(arrays.size());
  ZipError zip_error;
  const std::unique_ptr<zip_source_t, ZipSourceFree> target(
      zip_source_buffer_create(nullptr, 0, 0, &zip_error.error));
  if (target == nullptr) return BadInput("writing .npz: no memory");
  zip_source_keep(target.get());
  std::unique_ptr<zip_t, ZipDiscard> archive(
      zip_open_from_source(target.get(), ZIP_CREATE | ZIP_TRUNCATE, &zip_error.error));
  if (archive == nullptr) {
    zip_source_free(target.get());
    return BadInput(fmt::format("writing .npz: {}", zip_error_strerror(&zip_error.error)));
  }
  for (const auto& [key, literal] : arrays) {
    if (!literal.shape().IsArray())
      return BadInput(fmt::format("writing .npz: '{}' is no array", Printable(key)));
    files.push_back(EncodeNpy(literal));
    ASSAY_RETURN_IF_ERROR(AddMember(archive.get(), fmt::format("{}{}", key, kSuffix), files.back()));
  }
  if (zip_close(archive.get()) != 0) return WriteError(archive.get());
  archive.release();
  return ReadSource(target.get());
}

// A zip file without members: its end record alone.
std::string EmptyArchive() {
  std::string bytes(22, '\0');
  bytes.replace(0, 4, "PK\5\6");
  return bytes;
}

}  // namespace

absl::StatusOr<std::map<std::string, NpyArray>> ParseNpz(std::string_view file_name, std::string_view bytes) {
  if (bytes == EmptyArchive()) return std::map<std::string, NpyArray>();
  try {
    return ParseArchive(file_name, bytes);
  } catch (const std::bad_alloc&) {
    return BadInput(fmt::format("{}: not enough memory for its arrays", Printable(file_name)));
  }
}

absl::StatusOr<std::map<std::string, NpyArray>> ReadNpzFile(const std::string& path) {
  ASSAY_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  if (bytes.starts_with("\x93NUMPY")) {
    ASSAY_ASSIGN_OR_RETURN(NpyArray array, ParseNpy(path, bytes));
    std::map<std::string, NpyArray> arrays;
    arrays.emplace("", std::move(array));
    return arrays;
  }
  return ParseNpz(path, bytes);
}

absl::StatusOr<std::string> EncodeNpz(const std::vector<std::pair<std::string, Literal>>& arrays) {
  if (arrays.empty()) return EmptyArchive();
  try {
    return BuildArchive(arrays);
  } catch (const std::bad_alloc&) {
    return BadInput("writing .npz: not enough memory");
  }
}

}  // namespace assay
