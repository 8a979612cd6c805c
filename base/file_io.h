// Whole files, read and written. All errors are BadInput and name the path.
#ifndef ASSAY_BASE_FILE_IO_H_
#define ASSAY_BASE_FILE_IO_H_

#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "base/error.h"

namespace assay {

// Written to a temporary name beside `path`, flushed, checked and renamed: never a partial file.
absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes);
// `write` fills such a file through its descriptor, and gives 0, or the errno of what went wrong.
absl::Status WriteFileAtomically(const std::string& path, absl::FunctionRef<int(int fd)> write);
// Removes the file under its temporary name, where one is being written:
// for a handler of signals that ends the process.
void RemoveUnfinishedFile();
int WriteAll(int fd, std::string_view bytes);                   // 0, or the errno of what went wrong
absl::StatusOr<std::string> ReadFile(const std::string& path);  // "-": standard input
// What ReadFile and WriteFileAtomically would find wrong with the path itself, told before there is anything
// to write. Nothing is read, and nothing stays written; pipes and devices are not opened.
absl::Status CheckReadable(const std::string& path);
absl::Status CheckWritable(const std::string& path);

}  // namespace assay

#endif  // ASSAY_BASE_FILE_IO_H_
