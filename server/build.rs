//! Removes the symbols from the release: a hundred of its two hundred megabytes. Cargo does not apply `strip` to a
//! package that has settings of its own in `profile.release.package`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") {
        println!("cargo::rustc-link-arg-bins=-Wl,--strip-all");
    }
}
