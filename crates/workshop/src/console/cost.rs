use embedded::Counters;
use ui::components::size;

/// What a line read and wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cost {
    /// Documents read, whether they matched or not, and their bytes.
    read: (u64, u64),
    /// Documents written, and the bytes of their new versions.
    written: (u64, u64),
    /// Index entries read.
    entries: u64,
}

impl Cost {
    pub(super) fn between(before: Counters, after: Counters) -> Self {
        Self {
            read: (
                after.documents_read - before.documents_read,
                after.bytes_read - before.bytes_read,
            ),
            written: (
                after.documents_written - before.documents_written,
                after.bytes_written - before.bytes_written,
            ),
            entries: after.entries_read - before.entries_read,
        }
    }

    /// Whether nothing was read and nothing written.
    pub(super) fn is_nothing(self) -> bool {
        self.read.0 + self.entries + self.written.0 == 0
    }

    /// In words, such as "2 documents, 28 KB read".
    pub(super) fn in_words(self) -> String {
        let mut parts = Vec::new();
        if self.read.0 > 0 || self.written.0 == 0 {
            parts.push(format!("{} read", documents(self.read)));
        }
        if self.entries > 0 {
            let noun = if self.entries == 1 {
                "index entry"
            } else {
                "index entries"
            };
            parts.push(format!("{} {noun} read", self.entries));
        }
        if self.written.0 > 0 {
            parts.push(format!("{} written", documents(self.written)));
        }
        parts.join("; ")
    }
}

fn documents((count, bytes): (u64, u64)) -> String {
    match count {
        0 => "no document".to_owned(),
        1 => format!("1 document, {}", size(bytes)),
        count => format!("{count} documents, {}", size(bytes)),
    }
}
