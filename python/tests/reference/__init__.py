"""NumPy models of the ops of moeq, written from docs/Spec.md alone.

Numbers of 8-bit and narrower types are codes in uint8 (int8 and int4 values in
int8), bf16 numbers are ml_dtypes.bfloat16. One function an op; each states how
its result may differ from the compiled one.
"""
