// Sorts of unsigned integers by AVX-512: quicksort whose partitions compress vectors, and a network for short
// parts. They are not stable, which equal integers can't show.
#ifndef ASSAY_ENGINES_NATIVE_SORT_VECTOR_SORT_H_
#define ASSAY_ENGINES_NATIVE_SORT_VECTOR_SORT_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace assay::native {

// Sorts in place; the machine has AVX-512. scratch has room for n integers and 64 bytes more. Calls poll()
// now and then where they are many.
void VectorSort(uint32_t* items, uint32_t* scratch, int64_t n, absl::FunctionRef<void()> poll);
void VectorSort(uint64_t* items, uint64_t* scratch, int64_t n, absl::FunctionRef<void()> poll);

}  // namespace assay::native

#endif  // ASSAY_ENGINES_NATIVE_SORT_VECTOR_SORT_H_
