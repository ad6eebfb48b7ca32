//! The commands of the repository: `cargo xtask serve`, `test`, `build`, `bench`.

fn main() {}
