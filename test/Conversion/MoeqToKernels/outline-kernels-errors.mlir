// RUN: moeq-opt %s --split-input-file --verify-diagnostics --moeq-outline-kernels

func.func @tensors(%x: tensor<?x64xbf16>, %rows: tensor<?xi32>, %y: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  // expected-error @+1 {{expects memrefs, got 'tensor<?x64xbf16>': bufferize first}}
  %0 = moeq.gather input(%x : tensor<?x64xbf16>) rows(%rows : tensor<?xi32>)
      outs(%y : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}

// -----

func.func @layout(%x: memref<?x64xbf16, strided<[128, 1]>>, %rows: memref<?xi32>, %y: memref<?x64xbf16>) {
  // expected-error @+1 {{expects memrefs that are dense and row-major, got 'memref<?x64xbf16, strided<[128, 1]>>'}}
  moeq.gather input(%x : memref<?x64xbf16, strided<[128, 1]>>) rows(%rows : memref<?xi32>)
      outs(%y : memref<?x64xbf16>)
  return
}

// -----

func.func @reduction(%x: memref<?x64xf32>, %y: memref<?xf32>) {
  // expected-error @+1 {{expects parallel iterators only, got a reduction}}
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<?x64xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  }
  return
}

// -----

func.func @map(%x: memref<?xf32>, %y: memref<?xf32>) {
  // expected-error @+1 {{expects indexing maps that are projected permutations, got affine_map<(d0) -> (d0 floordiv 2)>}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 2)>, affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]}
      ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

func.func @use(%x: memref<?xf32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : memref<?xf32>) {
  ^bb0(%a: f32):
    // expected-error @+1 {{expects no use of a memref in a kernel but loads and stores}}
    %m = memref.cast %y : memref<4xf32> to memref<?xf32>
    %i = linalg.index 0 : index
    %v = memref.load %m[%i] : memref<?xf32>
    linalg.yield %v : f32
  }
  return
}

// -----

func.func @experts(%l: memref<?x?xf32>, %i: memref<?x2xi32>, %w: memref<?x2xf32>) {
  // expected-error @+1 {{expects a static number of up to 1024 experts in a kernel, got 'memref<?x?xf32>'}}
  moeq.route logits(%l : memref<?x?xf32>) outs(%i, %w : memref<?x2xi32>, memref<?x2xf32>)
  return
}

// -----

func.func @choices(%l: memref<?x128xf32>, %i: memref<?x65xi32>, %w: memref<?x65xf32>) {
  // expected-error @+1 {{expects a top_k of up to 64 in a kernel, got 'memref<?x65xi32>'}}
  moeq.route logits(%l : memref<?x128xf32>) outs(%i, %w : memref<?x65xi32>, memref<?x65xf32>)
  return
}

// -----

!l = !moeq.scaled<f8E4M3FN, block = [32], scale = f8E8M0FNU, layout = swizzle_128x4>
func.func @laid_out(%q: memref<128x128xf8E4M3FN>, %s: memref<128x4xf8E8M0FNU>, %y: memref<128x128xf32>) {
  // expected-error @+1 {{expects scales in row-major layout in a kernel, got '!moeq.scaled}}
  moeq.dequantize input(%q, %s : memref<128x128xf8E4M3FN>, memref<128x4xf8E8M0FNU> as !l)
      outs(%y : memref<128x128xf32>)
  return
}

// -----

!l = !moeq.scaled<f8E4M3FN, block = [32, 32], scale = f8E8M0FNU, layout = mn_major>
func.func @laid_out_result(%x: memref<128x128xf32>, %q: memref<128x128xf8E4M3FN>, %s: memref<4x16xf8E8M0FNU>) {
  // expected-error @+1 {{expects scales in row-major layout in a kernel, unless blocks lie in the rows of a matrix, got '!moeq.scaled}}
  moeq.quantize input(%x : memref<128x128xf32>)
      outs(%q, %s : memref<128x128xf8E4M3FN>, memref<4x16xf8E8M0FNU> as !l) recipe(<te_mx>)
  return
}

// -----

!o = !moeq.scaled<i4, block = [3], scale = f32>
func.func @odd_block(%x: memref<4x6xf32>, %q: memref<4x3xi8>, %s: memref<4x2xf32>) {
  // expected-error @+1 {{expects blocks of whole bytes in a kernel, got '!moeq.scaled<i4, block = [3], scale = f32>'}}
  moeq.quantize input(%x : memref<4x6xf32>)
      outs(%q, %s : memref<4x3xi8>, memref<4x2xf32> as !o) recipe(<int4_sym>)
  return
}

// -----

!c = !moeq.scaled<f8E4M3FN, block = [2, 1, 4], scale = f32>
func.func @cube(%x: memref<4x6x8xf32>, %q: memref<4x6x8xf8E4M3FN>, %s: memref<2x6x2xf32>) {
  // expected-error @+1 {{expects blocks of the last two dimensions or of the whole tensor in a kernel, got '!moeq.scaled<f8E4M3FN, block = [2, 1, 4], scale = f32>'}}
  moeq.quantize input(%x : memref<4x6x8xf32>)
      outs(%q, %s : memref<4x6x8xf8E4M3FN>, memref<2x6x2xf32> as !c) recipe(<deepgemm>)
  return
}

// -----

func.func @layer(%x: memref<?x64xbf16>, %l: memref<?x8xf32>, %w13: memref<8x256x64xbf16>, %w2: memref<8x64x128xbf16>, %y: memref<?x64xbf16>) {
  // expected-error @+1 {{'moeq.experts' op expects an op that has a kernel}}
  moeq.experts hidden(%x : memref<?x64xbf16>) logits(%l : memref<?x8xf32>) w13(%w13 : memref<8x256x64xbf16>)
      w2(%w2 : memref<8x64x128xbf16>) outs(%y : memref<?x64xbf16>) top_k(2) function(swiglu)
  return
}

// -----

func.func @captured(%x: memref<?xf8E4M3FNUZ>, %factor: f8E4M3FNUZ) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : memref<?xf8E4M3FNUZ>) {
  ^bb0(%a: f8E4M3FNUZ):
    // expected-error @+1 {{expects captured scalars that a kernel can take, got 'f8E4M3FNUZ'}}
    %r = arith.mulf %a, %factor : f8E4M3FNUZ
    linalg.yield %r : f8E4M3FNUZ
  }
  return
}

// -----

func.func @input(%x: memref<?xf8E4M3FNUZ>, %factor: f8E4M3FNUZ) {
  // expected-error @+1 {{expects captured scalars that a kernel can take, got 'f8E4M3FNUZ'}}
  linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%factor : f8E4M3FNUZ) outs(%x : memref<?xf8E4M3FNUZ>) {
  ^bb0(%a: f8E4M3FNUZ, %b: f8E4M3FNUZ):
    linalg.yield %a : f8E4M3FNUZ
  }
  return
}

// -----

func.func @vectors(%x: memref<?xvector<4xf32>>, %y: memref<?xvector<4xf32>>) {
  // expected-error @+1 {{expects memrefs of integers or floats that a kernel can take, got 'memref<?xvector<4xf32>>'}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<?xvector<4xf32>>) outs(%y : memref<?xvector<4xf32>>) {
  ^bb0(%a: vector<4xf32>, %b: vector<4xf32>):
    linalg.yield %a : vector<4xf32>
  }
  return
}

// -----

func.func @captured_vector(%x: memref<?xf32>, %v: vector<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : memref<?xf32>) {
  ^bb0(%a: f32):
    // expected-error @+1 {{expects captured scalars that a kernel can take, got 'vector<4xf32>'}}
    %r = vector.extract %v[0] : f32 from vector<4xf32>
    linalg.yield %r : f32
  }
  return
}

// -----

func.func @unranked(%x: memref<*xf32>, %y: memref<*xf32>) {
  // expected-error @+1 {{expects memrefs that are dense and row-major, got 'memref<*xf32>'}}
  memref.copy %x, %y : memref<*xf32> to memref<*xf32>
  return
}

// -----

func.func @loaded(%x: memref<?xf32>, %y: memref<?xf32, strided<[2]>>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : memref<?xf32>) {
  ^bb0(%a: f32):
    %i = linalg.index 0 : index
    // expected-error @+1 {{expects memrefs that are dense and row-major, got 'memref<?xf32, strided<[2]>>'}}
    %v = memref.load %y[%i] : memref<?xf32, strided<[2]>>
    linalg.yield %v : f32
  }
  return
}

// -----

func.func @stored(%x: memref<?xf32>, %y: memref<?xindex>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : memref<?xf32>) {
  ^bb0(%a: f32):
    %i = linalg.index 0 : index
    // expected-error @+1 {{expects memrefs of integers or floats that a kernel can take, got 'memref<?xindex>'}}
    memref.store %i, %y[%i] : memref<?xindex>
    linalg.yield %a : f32
  }
  return
}

// -----

// Two to a byte: no address is that of one.
func.func @packed(%x: memref<?x8xf4E2M1FN>, %y: memref<?x8xf4E2M1FN>) {
  // expected-error @+1 {{expects memrefs of integers or floats that a kernel can take, got 'memref<?x8xf4E2M1FN>'}}
  memref.copy %x, %y : memref<?x8xf4E2M1FN> to memref<?x8xf4E2M1FN>
  return
}

// -----

!c = !moeq.scaled<f8E4M3FN, block = [16, 1], scale = f32>
func.func @columnwise(%x: memref<64x64xbf16>, %q: memref<64x64xf8E4M3FN>, %s: memref<4x64xf32>) {
  // expected-error @+1 {{expects a columnwise result with blocks of 32, 64 or 128 rows of one column in a kernel, got '!moeq.scaled}}
  moeq.quantize input(%x : memref<64x64xbf16>) columnwise(%q, %s : memref<64x64xf8E4M3FN>, memref<4x64xf32> as !c) recipe(<amax>)
  return
}

// -----

!c = !moeq.scaled<i4, block = [32, 1], scale = f32>
func.func @columnwise_codes(%x: memref<64x64xbf16>, %q: memref<64x32xi8>, %s: memref<2x64xf32>) {
  // expected-error @+1 {{expects a columnwise result of 8-bit values without zero points in a kernel, got '!moeq.scaled}}
  moeq.quantize input(%x : memref<64x64xbf16>) columnwise(%q, %s : memref<64x32xi8>, memref<2x64xf32> as !c) recipe(<int4_sym>)
  return
}

// -----

!w = !moeq.scaled<i4, block = [32], scale = f32, packing = fragments>
func.func @short_sums(%x: memref<?x128xbf16>, %w: memref<2x128x64xi8>, %ws: memref<2x128x4xf32>, %o: memref<3xi32>, %c: memref<?x128xbf16>) {
  // expected-remark @+1 {{sums of 32 elements are promoted in tiles of at most 128 rows, got 144}}
  moeq.grouped_matmul lhs(%x : memref<?x128xbf16>) rhs(%w, %ws : memref<2x128x64xi8>, memref<2x128x4xf32> as !w)
      offsets(%o : memref<3xi32>) outs(%c : memref<?x128xbf16>) config(<tile = [144, 128], swap_ab = true>)
  return
}

// -----

!w = !moeq.scaled<i4, block = [128], scale = f32, packing = fragments>
func.func @wide_sums(%x: memref<?x128xbf16>, %w: memref<2x256x64xi8>, %ws: memref<2x256x1xf32>, %o: memref<3xi32>, %c: memref<?x256xbf16>) {
  // expected-remark @+1 {{sums of packed weights are promoted where a consumer has 64 columns of a tile, got 128}}
  moeq.grouped_matmul lhs(%x : memref<?x128xbf16>) rhs(%w, %ws : memref<2x256x64xi8>, memref<2x256x1xf32> as !w)
      offsets(%o : memref<3xi32>) outs(%c : memref<?x256xbf16>) config(<tile = [64, 256], consumers = 2, swap_ab = true>)
  return
}

// -----

!w = !moeq.scaled<i8, block = [*], scale = f32, packing = fragments>
func.func @scaled_tokens(%x: memref<?x128xi8>, %xs: memref<?x1xf32>, %w: memref<2x128x128xi8>, %ws: memref<2x128x1xf32>, %o: memref<3xi32>, %c: memref<?x128xbf16>) {
  // expected-remark @+1 {{no tensor core instruction multiplies i8 and i8}}
  moeq.grouped_matmul lhs(%x, %xs : memref<?x128xi8>, memref<?x1xf32> as !moeq.scaled<i8, block = [*], scale = f32>)
      rhs(%w, %ws : memref<2x128x128xi8>, memref<2x128x1xf32> as !w)
      offsets(%o : memref<3xi32>) outs(%c : memref<?x128xbf16>) config(<tile = [64, 128], swap_ab = true>)
  return
}

// -----

!w = !moeq.scaled<i8, block = [*], scale = f32, packing = fragments>
func.func @no_depth(%x: memref<?x0xbf16>, %w: memref<2x128x0xi8>, %ws: memref<2x128x1xf32>, %o: memref<3xi32>, %c: memref<?x128xbf16>) {
  // expected-remark @+1 {{extents are not zero}}
  moeq.grouped_matmul lhs(%x : memref<?x0xbf16>) rhs(%w, %ws : memref<2x128x0xi8>, memref<2x128x1xf32> as !w)
      offsets(%o : memref<3xi32>) outs(%c : memref<?x128xbf16>) config(<tile = [64, 128], swap_ab = true>)
  return
}

// -----

func.func @given_config(%a: memref<?x64xbf16>, %w: memref<64x64xbf16>, %c: memref<?x64xbf16>) {
  // expected-error @+1 {{'moeq.matmul' op expects a config that there is a kernel of, got #moeq.config<tile = [128, 96], stages = 4, consumers = 2, schedule = persistent, swap_ab = false, split_k = 1, raster = 16>: a tile has 64, 128, 192 or 256 columns, got 96}}
  moeq.matmul lhs(%a : memref<?x64xbf16>) rhs(%w : memref<64x64xbf16>) outs(%c : memref<?x64xbf16>)
    config(<tile = [128, 96]>) attributes {moeq.given_config}
  return
}
