// A library that a plug-in needs and that is not where the loader looks.

extern "C" int stub_one() { return 1; }
