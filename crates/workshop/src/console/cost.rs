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
        let (read, read_bytes) = self.read;
        let (written, written_bytes) = self.written;
        let mut parts = Vec::new();
        if read > 0 || written == 0 {
            parts.push(match read {
                0 => "no document read".to_owned(),
                read => format!("{}, {} read", documents(read), size(read_bytes)),
            });
        }
        match self.entries {
            0 => {}
            1 => parts.push("1 index entry read".to_owned()),
            entries => parts.push(format!("{entries} index entries read")),
        }
        match (written, written_bytes) {
            (0, _) => {}
            (removed, 0) => parts.push(format!("{} removed", documents(removed))),
            (written, bytes) => parts.push(format!("{}, {} written", documents(written), size(bytes))),
        }
        parts.join("; ")
    }
}

fn documents(count: u64) -> String {
    match count {
        1 => "1 document".to_owned(),
        count => format!("{count} documents"),
    }
}
