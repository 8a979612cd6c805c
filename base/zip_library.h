// libzip, opened when the first archive is read or written. Linked, it would bring libcrypto into every
// process, whose relocation takes a third of the time that a small program needs from start to end.
#ifndef ASSAY_BASE_ZIP_LIBRARY_H_
#define ASSAY_BASE_ZIP_LIBRARY_H_

#include <zip.h>

#include "base/error.h"

// F(name): the functions in use, without their prefix zip_.
// clang-format off
#define ASSAY_ZIP_FUNCTIONS(F)                                                                   \
  F(close) F(discard) F(error_fini) F(error_init) F(error_strerror) F(fclose) F(file_add)        \
  F(file_get_comment) F(file_get_error) F(file_set_comment) F(file_set_dostime) F(fopen_index)   \
  F(fread) F(get_error) F(get_num_entries)                                                       \
  F(open_from_source) F(set_file_compression) F(source_buffer_create) F(source_buffer_fragment)  \
  F(source_close) F(source_file_create) F(source_free) F(source_function_create) F(source_keep)  \
  F(source_make_command_bitmap) F(source_open) F(source_read) F(source_seek_compute_offset)      \
  F(source_stat) F(stat_index) F(stat_init)
// clang-format on

namespace assay {

struct ZipLibrary {
#define ASSAY_ZIP_MEMBER(name) decltype(&zip_##name) name = nullptr;
  ASSAY_ZIP_FUNCTIONS(ASSAY_ZIP_MEMBER)
#undef ASSAY_ZIP_MEMBER
};

// Opens it, once a process. NotSupported: it can't be loaded, or lacks a function;
// .npz files then can't be used.
absl::Status LoadZipLibrary();
// May be called behind a LoadZipLibrary that went well.
const ZipLibrary& Zip();

}  // namespace assay

#endif  // ASSAY_BASE_ZIP_LIBRARY_H_
