// RUN: moeq-opt %s -verify-diagnostics -split-input-file

// expected-error @below {{expects a tile of 2 extents, got 0}}
func.func private @no_tile() attributes {c = #moeq.config<stages = 4>}

// -----

// expected-error @below {{expects a tile of 2 extents, got 3}}
func.func private @rank() attributes {c = #moeq.config<tile = [1, 2, 3]>}

// -----

// expected-error @below {{expects positive tile extents, got -1}}
func.func private @extent() attributes {c = #moeq.config<tile = [128, -1]>}

// -----

// expected-error @below {{expects a positive stages, got 0}}
func.func private @stages() attributes {c = #moeq.config<tile = [128, 256], stages = 0>}

// -----

// expected-error @below {{expects a positive consumers, got -2}}
func.func private @consumers() attributes {c = #moeq.config<tile = [128, 256], consumers = -2>}

// -----

// expected-error @below {{expects a positive split_k, got 0}}
func.func private @split_k() attributes {c = #moeq.config<tile = [128, 256], split_k = 0>}

// -----

// expected-error @below {{expects a positive raster, got 0}}
func.func private @raster() attributes {c = #moeq.config<tile = [128, 256], raster = 0>}

// -----

// expected-error @below {{expects a positive cluster, got 0}}
func.func private @cluster() attributes {c = #moeq.config<tile = [128, 256], cluster = 0>}

// -----

// expected-error @below {{expects a positive ctas, got 0}}
func.func private @ctas() attributes {c = #moeq.config<tile = [128, 256], ctas = 0>}

// -----

// expected-error @below {{unknown value 'greedy'}}
func.func private @schedule() attributes {c = #moeq.config<tile = [128, 256], schedule = greedy>}

// -----

// expected-error @below {{expects true or false, got 'yes'}}
func.func private @swap_ab() attributes {c = #moeq.config<tile = [128, 256], swap_ab = yes>}

// -----

// expected-error @below {{unknown parameter 'warps'}}
func.func private @unknown() attributes {c = #moeq.config<tile = [128, 256], warps = 4>}

// -----

// expected-error @below {{duplicate parameter 'tile'}}
func.func private @duplicate() attributes {c = #moeq.config<tile = [128, 256], tile = [128, 256]>}

// -----

// expected-error @below {{expects fast or promote<N>, got 'slow'}}
func.func private @accumulate() attributes {a = #moeq.accumulate<slow>}

// -----

// expected-error @below {{expects a positive interval, got 0}}
func.func private @promote() attributes {a = #moeq.accumulate<promote<0>>}

// -----

// expected-error @below {{expects an interval that is a multiple of 32, got 100}}
func.func private @interval() attributes {a = #moeq.accumulate<promote<100>>}
