// RUN: ingot-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{expects a multiple of 32 threads, at most 1024, but got 33}}
func.func private @threads() attributes {cuda.block = #cuda.block<threads = 33>}

// -----

// expected-error@+1 {{expects at most 101376 bytes of shared memory, but got 101377}}
func.func private @shared() attributes {cuda.block = #cuda.block<threads = 32, shared = 101377>}

// -----

// expected-error@+1 {{expects at least 0 cycles, but got -1}}
func.func private @cycles() attributes {cuda.cycles = #cuda.cycles<-1>}
