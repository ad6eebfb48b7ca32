//! Numbers in words, as the server writes them and the browser writes them again.

/// The largest document that MongoDB stores: 16 MB.
pub const MAX_DOCUMENT_BYTES: u64 = 16 * 1024 * 1024;

/// A number with thousands separators.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A size in bytes in readable units, with 1,024 bytes to the KB as in MongoDB's limits.
pub fn size(bytes: u64) -> String {
    const KB: u64 = 1 << 10;
    const MB: u64 = 1 << 20;
    match bytes {
        0..KB => format!("{bytes} bytes"),
        KB..MB => format!("{} KB", (bytes + KB / 2) / KB),
        MB.. => {
            let tenths = (bytes * 10 + MB / 2) / MB;
            format!("{}.{} MB", grouped(tenths / 10), tenths % 10)
        }
    }
}

/// A size as a percentage of the largest possible document.
pub fn share_of_limit(bytes: u64) -> String {
    let hundredths = bytes * 10_000 / MAX_DOCUMENT_BYTES;
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}

/// The length of a text, and the maximum.
pub fn counter(length: usize, most: usize) -> String {
    format!("{length} / {most}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_use_the_largest_unit_that_fits() {
        assert_eq!(
            [812, 1024, 61_900, 1 << 20, 16 << 20].map(size),
            ["812 bytes", "1 KB", "60 KB", "1.0 MB", "16.0 MB"]
        );
    }

    #[test]
    fn a_share_of_the_largest_document_has_two_places() {
        assert_eq!(share_of_limit(MAX_DOCUMENT_BYTES), "100.00 %");
        assert_eq!(share_of_limit(MAX_DOCUMENT_BYTES / 128), "0.78 %");
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(grouped),
            ["0", "999", "1,000", "1,234,567"]
        );
    }
}
