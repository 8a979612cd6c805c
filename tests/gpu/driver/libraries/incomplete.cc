// A CUDA driver that has a version, and can start, but nothing else.
extern "C" {

int cuDriverGetVersion(int* version) {
  *version = 12020;
  return 0;
}

int cuInit(unsigned) { return 0; }
}
