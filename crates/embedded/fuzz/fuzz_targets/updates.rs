#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| embedded_fuzz::updates(bytes));
