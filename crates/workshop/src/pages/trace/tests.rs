use document::trace::Read;

use super::*;

#[test]
fn a_missing_cost_of_one_command_leaves_the_keys_unknown() {
    let read = |collection: &str, entries| Read {
        collection: collection.to_owned(),
        documents: 2,
        bytes: 100,
        entries,
    };
    let cost = Cost::of(&[read("posts", Some(0)), read("pages", Some(3))]);
    assert_eq!(
        (cost.documents, cost.pages, cost.bytes, cost.entries),
        (4, 2, 200, Some(3))
    );
    assert_eq!(
        Cost::of(&[read("posts", Some(0)), read("pages", None)]).entries,
        None
    );
}

#[test]
fn a_ratio_has_a_decimal_only_while_it_is_small() {
    assert_eq!(
        [ratio(150, 100), ratio(2_500_000, 2_000), ratio(5, 0)],
        ["1.5 ×", "1,250 ×", "0.0 ×"]
    );
}
