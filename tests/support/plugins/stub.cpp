// A library that a plug-in needs and that is not where the loader looks. HYDRA_STUB: its function.

#ifdef HYDRA_STUB_NEEDS
extern "C" int HYDRA_STUB_NEEDS();
extern "C" int HYDRA_STUB() { return HYDRA_STUB_NEEDS() + 1; }
#else
extern "C" int HYDRA_STUB() { return 1; }
#endif
