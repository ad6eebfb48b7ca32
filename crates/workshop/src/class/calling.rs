//! What students are called, and in which order they call the people of the town.

use model::{DisplayName, Handle};

use super::SEATS;

/// The step between two people who are called one after the other, in alphabetical order, so that names are mixed.
/// It is prime, so nobody is left out unless the number of people in the town is a multiple of it.
const STRIDE: usize = 7_919;

/// The person who is called as the n-th.
pub(super) fn nth_of(town: &[Handle], nth: usize) -> &Handle {
    let stride = if town.len().is_multiple_of(STRIDE) {
        1
    } else {
        STRIDE
    };
    &town[nth * stride % town.len()]
}

/// The handles that suit a name, the plainest first.
pub(super) fn handles(name: &DisplayName) -> impl Iterator<Item = Handle> {
    let plain: String = name
        .as_str()
        .to_lowercase()
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-");
    let short: String = plain.chars().take(Handle::MAX - 4).collect();
    let stem = if short.len() < Handle::MIN {
        "student".to_owned()
    } else {
        short
    };
    let seats = u64::try_from(SEATS).unwrap_or_default();
    (1..=seats).filter_map(move |nth| match nth {
        1 => stem.parse().ok(),
        nth => format!("{stem}-{nth}").parse().ok(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn first(name: &str) -> String {
        handles(&name.parse().unwrap()).next().unwrap().to_string()
    }

    #[test]
    fn a_handle_is_made_from_a_name_in_any_script() {
        assert_eq!(first("Ada Lovelace"), "ada-lovelace");
        assert_eq!(first("  Zoë!"), "zo");
        assert_eq!(first("李雷"), "student");
        assert_eq!(first("X"), "student");
        assert_eq!(first(&"a".repeat(40)).len(), 26);
        let all: HashSet<_> = handles(&"Ada".parse().unwrap()).collect();
        assert_eq!(i64::try_from(all.len()).unwrap(), SEATS);
    }

    #[test]
    fn everybody_is_brought_once() {
        for people in [1, 10, 7_918, 7_919, 15_838, 24_000] {
            let town: Vec<Handle> = (0..people)
                .map(|nth| format!("p{nth}").parse().unwrap())
                .collect();
            let came: HashSet<_> = (0..people).map(|nth| nth_of(&town, nth)).collect();
            assert_eq!(came.len(), people);
        }
    }
}
