use std::fmt::Display;

use model::Problem;

use super::faulty;

/// Does a station's work. Without a server there is nobody to wait for, and no other thread.
pub(crate) async fn in_turn<T, E, Work>(work: impl FnOnce() -> Work) -> Result<T, Problem>
where
    Work: Future<Output = Result<T, E>>,
    E: Display,
{
    work().await.map_err(|error| faulty(&error))
}
