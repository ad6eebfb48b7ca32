//! The elements of arrays before they were adopted, and of the lists afterwards, in numbers.

use bson::Bson;
use outlier::plain;

use crate::text::grouped;

/// Elements of one array, each as the checksum of its content, in ascending order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content(Vec<u64>);

/// Elements of many arrays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Digest {
    items: u64,
    distinct: u64,
    checksum: u64,
}

/// What became of the arrays.
#[derive(Debug, Default)]
pub struct Verified {
    before: Digest,
    after: Digest,
    /// Lists that have exactly the elements of their array.
    pub same: u64,
    /// Lists that have more, because something was added since.
    pub grown: u64,
    /// Elements that are not in their list any more.
    pub missing: u64,
}

impl Content {
    pub fn of<'e>(elements: impl IntoIterator<Item = &'e Bson>) -> Self {
        let mut sums: Vec<u64> = elements.into_iter().map(plain::checksum).collect();
        sums.sort_unstable();
        Self(sums)
    }

    fn digest(&self) -> Digest {
        Digest {
            items: self.0.len() as u64,
            distinct: self.0.chunk_by(|one, other| one == other).count() as u64,
            checksum: self.0.iter().fold(0, |sum, element| sum.wrapping_add(*element)),
        }
    }

    /// How many of these elements the other does not have.
    fn missing_in(&self, other: &Self) -> u64 {
        let mut rest = other.0.iter().peekable();
        let mut missing = 0;
        for element in &self.0 {
            while rest.next_if(|one| *one < element).is_some() {}
            missing += u64::from(rest.next_if_eq(&element).is_none());
        }
        missing
    }
}

impl Verified {
    /// Compares a list with the array that it was.
    pub fn list(&mut self, before: &Content, after: &Content) {
        self.before.add(before.digest());
        self.after.add(after.digest());
        let missing = before.missing_in(after);
        self.missing += missing;
        if before == after {
            self.same += 1;
        } else if missing == 0 {
            self.grown += 1;
        }
    }

    /// For people.
    pub fn lines(&self) -> Vec<String> {
        let line = |name: &str,
                    Digest {
                        items,
                        distinct,
                        checksum,
                    }: Digest| {
            format!(
                "  {name}  {} items, {} distinct in their list, checksum {checksum:016x}",
                grouped(items),
                grouped(distinct)
            )
        };
        let mut lines = vec![line("before", self.before), line("after ", self.after)];
        let grown = if self.grown > 0 {
            format!(", {} have these and newer ones", grouped(self.grown))
        } else {
            String::new()
        };
        lines.push(format!(
            "  {} lists have exactly the elements of their array{grown}.",
            grouped(self.same)
        ));
        lines
    }
}

impl Digest {
    fn add(&mut self, other: Self) {
        self.items += other.items;
        self.distinct += other.distinct;
        self.checksum = self.checksum.wrapping_add(other.checksum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(elements: &[i32]) -> Content {
        let elements: Vec<Bson> = elements.iter().copied().map(Bson::Int32).collect();
        Content::of(&elements)
    }

    #[test]
    fn a_missing_element_is_counted_even_among_equal_ones() {
        let mut verified = Verified::default();
        verified.list(&content(&[1, 2, 2]), &content(&[2, 1, 2]));
        assert_eq!((verified.same, verified.grown, verified.missing), (1, 0, 0));
        verified.list(&content(&[1, 2, 2]), &content(&[1, 2, 2, 3]));
        assert_eq!((verified.same, verified.grown, verified.missing), (1, 1, 0));
        verified.list(&content(&[1, 2, 2]), &content(&[1, 2, 3]));
        assert_eq!((verified.same, verified.grown, verified.missing), (1, 1, 1));
        assert!(
            verified.lines()[0].contains("9 items, 6 distinct"),
            "{:?}",
            verified.lines()
        );
        assert_ne!(verified.before.checksum, verified.after.checksum);
    }
}
