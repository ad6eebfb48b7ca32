use proptest::prelude::*;

use super::*;

type Bytes = Vec<u8>;
/// Which table, which row, and what is written there; `None` removes the row.
type Change = (bool, Bytes, Option<u32>);

fn key() -> impl Strategy<Value = Bytes> {
    prop::collection::vec(0_u8..3, 0..4)
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec((any::<bool>(), key(), any::<Option<u32>>()), 0..12)
}

const fn name(of_numbers: bool) -> &'static str {
    if of_numbers { "numbers" } else { "bytes" }
}

/// What a program sees that makes these changes, each time in a transaction that is committed or dropped, and reads
/// everything between two keys, before and after the last transaction. The same for redb and for these maps.
macro_rules! seen {
    ($redb:ident, $database:expr, $transactions:expr, $from:expr, $to:expr) => {{
        let database = $database;
        let bytes = $redb::TableDefinition::<&'static [u8], &'static [u8]>::new(name(false));
        let numbers = $redb::TableDefinition::<&'static [u8], u32>::new(name(true));
        let mut before = None;
        for (committed, changes) in $transactions {
            before = Some($redb::ReadableDatabase::begin_read(&database).unwrap());
            let mut transaction = database.begin_write().unwrap();
            let durability = if *committed {
                $redb::Durability::Immediate
            } else {
                $redb::Durability::None
            };
            transaction.set_durability(durability).unwrap();
            transaction.set_quick_repair(true);
            for (of_numbers, key, value) in changes {
                let key = key.as_slice();
                match (*of_numbers, value) {
                    (true, Some(value)) => {
                        transaction
                            .open_table(numbers)
                            .unwrap()
                            .insert(key, *value)
                            .unwrap();
                    }
                    (true, None) => {
                        transaction.open_table(numbers).unwrap().remove(key).unwrap();
                    }
                    (false, Some(value)) => {
                        let mut table = transaction.open_table(bytes).unwrap();
                        table.insert(key, value.to_string().as_bytes()).unwrap();
                    }
                    // Not only its rows: the table.
                    (false, None) if key.is_empty() => {
                        transaction.delete_table(bytes).unwrap();
                    }
                    (false, None) => {
                        transaction.open_table(bytes).unwrap().remove(key).unwrap();
                    }
                }
            }
            if *committed {
                transaction.commit().unwrap();
            } else {
                transaction.abort().unwrap();
            }
        }
        let now = $redb::ReadableDatabase::begin_read(&database).unwrap();
        let mut seen = Vec::new();
        for snapshot in before.into_iter().chain([now]) {
            let mut tables: Vec<String> = snapshot
                .list_tables()
                .unwrap()
                .map(|table| $redb::TableHandle::name(&table).to_owned())
                .collect();
            tables.sort();
            seen.push(format!("{tables:?}"));
            if let Ok(table) = snapshot.open_table(numbers) {
                let bounds = (Bound::Included($from), Bound::Excluded($to));
                let rows = $redb::ReadableTable::range::<&[u8]>(&table, bounds).unwrap();
                let rows = rows
                    .rev()
                    .map(|row| row.map(|(key, value)| (key.value().to_vec(), value.value())));
                seen.push(format!("{:?}", rows.collect::<Result<Vec<_>, _>>().unwrap()));
                let found = $redb::ReadableTable::get(&table, $from)
                    .unwrap()
                    .map(|found| found.value());
                seen.push(format!("{found:?}"));
            }
            if let Ok(table) = snapshot.open_table(bytes) {
                let rows = $redb::ReadableTable::iter(&table).unwrap();
                let rows =
                    rows.map(|row| row.map(|(key, value)| (key.value().to_vec(), value.value().to_vec())));
                seen.push(format!("{:?}", rows.collect::<Result<Vec<_>, _>>().unwrap()));
                let rows = $redb::ReadableTableMetadata::len(&table).unwrap();
                let stats = $redb::ReadableTableMetadata::stats(&table).unwrap();
                // Beside keys and values, redb stores its tree.
                assert!(stats.metadata_bytes() + stats.fragmented_bytes() < 1 << 20);
                let stored = stats.stored_bytes();
                seen.push(format!("{rows} rows, {stored} bytes"));
            }
        }
        seen
    }};
}

proptest! {
    #[test]
    fn a_program_sees_what_it_sees_with_redb(
        transactions in prop::collection::vec((any::<bool>(), changes()), 1..5),
        from in key(),
        to in key(),
    ) {
        use std::result::Result;

        use crate::disk::redb;
        use crate::memory;

        let with_redb = crate::disk::in_memory(1 << 20).unwrap();
        let with_redb = seen!(redb, with_redb, &transactions, from.as_slice(), to.as_slice());
        let with_maps = seen!(memory, in_memory(0).unwrap(), &transactions, from.as_slice(), to.as_slice());
        prop_assert_eq!(with_maps, with_redb);
    }
}
