// .npy and .npz files: arrays by name (../docs/architecture.md, "Inputs and outputs").
//
// Element types that NumPy lacks are stored as raw bytes ("|V1", "|V2"); what they are comes from the
// program, so reading gives undecoded arrays and DecodeNpy gives Literals. An archive that is written here
// says them too: the comment of such a member is the type's name ("bf16"), which NumPy passes over. Writing
// is deterministic: equal values give equal bytes (no times, stored or deflated by a fixed rule).
#ifndef ASSAY_LITERAL_NPZ_H_
#define ASSAY_LITERAL_NPZ_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "literal/literal.h"

namespace assay {

// Bytes of a file, in storage that a value can share instead of copying it. Throws std::bad_alloc.
class RawBytes {
 public:
  RawBytes() = default;
  explicit RawBytes(size_t size);  // of no particular contents
  RawBytes(std::string_view bytes);
  RawBytes(const std::string& bytes) : RawBytes(std::string_view(bytes)) {}
  RawBytes(const char* text) : RawBytes(std::string_view(text)) {}
  explicit RawBytes(Literal bytes) : bytes_(std::move(bytes)) {}  // u8[n], not copied

  size_t size() const { return bytes_.bytes().size(); }
  const std::byte* data() const { return bytes_.data(); }
  char* mutable_data() { return reinterpret_cast<char*>(bytes_.MutableBytes().data()); }
  const Literal& literal() const { return bytes_; }  // u8[size()]

 private:
  Literal bytes_;
};

struct NpyArray {
  std::string descr;  // "<f4", "|V2", …
  bool fortran_order = false;
  std::vector<int64_t> sizes;
  RawBytes data;  // as stored
  // Where something besides the descriptor says what the elements are: the member's comment, or the user.
  std::optional<ElementType> type;
  int64_t member = 0;  // its place among the archive's members
};

// All errors are BadInput and name the file's member: bad magic, header over 10 KB, pickled objects,
// structured types, sizes whose product is not the member's size (checked before anything is allocated),
// duplicate names, comments that name a type of another width, compression ratio over 1,000, truncated or
// damaged archives.
absl::StatusOr<NpyArray> ParseNpy(std::string_view name, std::string_view bytes);
// The same of a file of `size` bytes whose first min(size, kMaxNpyHeader) are `prefix`; data gets the size
// that the file has for it, and *begin says where that starts.
inline constexpr size_t kMaxNpyHeader = 10012;
absl::StatusOr<NpyArray> ParseNpyHeader(std::string_view name, std::string_view prefix, size_t size,
                                        size_t* begin);
absl::StatusOr<std::map<std::string, NpyArray>> ParseNpz(std::string_view file_name, std::string_view bytes);
absl::StatusOr<std::map<std::string, NpyArray>> ReadNpzFile(const std::string& path);  // .npy: one entry ""

// The array as a value of `shape`, in the array's own storage where that is how values lie; BadInput says
// key, descriptor and sizes found and wanted, or that the array is of another type. Big-endian and
// Fortran-order files are converted.
absl::StatusOr<Literal> DecodeNpy(std::string_view key, const NpyArray& array, const Shape& shape);
// What the array says of its type by itself: array.type, or else a descriptor that only one type has.
// Nothing for |V1, |V2.
std::optional<ElementType> TypeOfNpy(const NpyArray& array);
// Whether the array may hold the bits of elements of `type`: one of the same width, as itself,
// raw bytes or unsigned integers.
bool MayHoldBitsOf(const NpyArray& array, ElementType type);
// Whether it holds raw bytes, |V1 or |V2, so that it may be of more than one type.
bool IsRaw(const NpyArray& array);
// There is no program to say the type: the array itself has to.
absl::StatusOr<Literal> DecodeNpyByDescr(std::string_view key, const NpyArray& array);

std::string EncodeNpy(const Literal& array);
std::string NpyHeader(const Literal& array);  // what EncodeNpy begins with
// Whether the rest of EncodeNpy is array.bytes() as they are: full run-time sizes, no narrow signed integers.
bool StoredAsNpy(const Literal& array);
absl::StatusOr<std::string> EncodeNpz(const std::vector<std::pair<std::string, Literal>>& arrays);
// The same bytes, written as WriteFileAtomically does, without a copy of them in memory.
absl::Status WriteNpzFile(const std::string& path,
                          const std::vector<std::pair<std::string, Literal>>& arrays);

}  // namespace assay

#endif  // ASSAY_LITERAL_NPZ_H_
