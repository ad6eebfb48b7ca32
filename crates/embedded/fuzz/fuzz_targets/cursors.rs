#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| store_fuzz::cursors(bytes));
