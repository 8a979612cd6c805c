#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

// Under the address sanitizer an allocation that no machine has must fail as it does without: by null.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
