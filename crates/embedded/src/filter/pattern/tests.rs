use super::*;

fn found(pattern: &str, options: &str, text: &str) -> bool {
    let text = bson::RawBson::String(text.to_owned());
    Pattern::parse(pattern, options)
        .unwrap()
        .accepts(text.as_raw_bson_ref())
}

#[test]
fn patterns_match_as_in_mongodb() {
    for (pattern, options, text, expected) in [
        ("^a.c$", "", "abc", true),
        ("^a.c$", "", "abc\n", true),
        ("^a.c$", "", "abc\n\n", false),
        ("^b$", "", "a\nb\nc", false),
        ("^b$", "m", "a\nb\nc", true),
        ("a.b", "", "a\nb", false),
        ("a.b", "s", "a\nb", true),
        ("ÄB", "i", "xäby", true),
        ("ÄB", "", "xäby", false),
        (" a b # comment\n c", "x", "abc", true),
        (r"a\ [ #]b", "x", "a #b", true),
        (r"\d", "", "٣", false),
        (r"^\D$", "", "٣", true),
        (r"^\w+$", "", "a_9", true),
        (r"\w", "", "é", false),
        (r"\bb", "", "éb", true),
        (r"[\d\W]", "", "a", false),
        (r"^[\w-]+$", "", "a-b", true),
        (r"[[]", "", "[", true),
        (r"^[]a]$", "", "]", true),
        (r"^[a&&b]+$", "", "a&b", true),
        (r"^[\w-a]+$", "", "a-b", true),
        (r"^[\w-a]+$", "", "`", false),
        (r"^[[:digit:]-a]+$", "", "1-a", true),
        (r"^[+--]$", "", ",", true),
        (r"^[--/]$", "", ".", true),
        (r"^[a-]$", "", "-", true),
        ("[[:alpha:]]", "", "1", false),
        (r"a{2}b{1,}c{0,1}", "", "aab", true),
        (r"a{,2}", "", "a{,2}", true),
        (r"{a}", "", "{a}", true),
        (r"\<b\>", "", "a <b>", true),
        (r"(?i)A(?:b|c)(?<name>d)", "", "acd", true),
        (r"^(a|b$)", "", "b\n", true),
        (r"\x41\x{e9}\p{Lu}", "", "Aéß", false),
        (r"a+?b*?", "", "aa", true),
    ] {
        assert_eq!(
            found(pattern, options, text),
            expected,
            "/{pattern}/{options} in {text:?}"
        );
    }
}

#[test]
fn patterns_that_would_match_differently_are_refused_by_name() {
    for (pattern, options, code, named) in [
        ("a(?=b)", "", 2, "look-around"),
        ("(?<!a)b", "", 2, "look-around"),
        (r"(a)\1", "", 2, "a back-reference"),
        (r"(?<n>a)\k<n>", "", 2, "a back-reference"),
        ("a++", "", 2, "a possessive quantifier"),
        ("a**", "", 51091, "quantifier does not follow"),
        ("(?>a)", "", 2, "(?>"),
        ("(*UCP)a", "", 2, "a verb"),
        ("(?m)a", "", 2, "$options"),
        (r"a$\n", "", 2, "more after $"),
        (r"\Ka", "", 2, r"the escape \K"),
        ("(a", "", 51091, "invalid"),
        ("[a", "", 51091, "missing terminating ]"),
        ("a", "g", 51108, "flag"),
        ("a\0", "", 51109, "null byte"),
    ] {
        match Pattern::parse(pattern, options) {
            Err(Error::Refused { code: found, message }) => {
                assert_eq!(found, code, "/{pattern}/{options}: {message}");
                assert!(message.contains(named), "/{pattern}/{options}: {message}");
            }
            other => panic!("/{pattern}/{options}: {other:?}"),
        }
    }
}

#[test]
fn a_regular_expression_matches_itself_and_no_other_value() {
    let pattern = Pattern::parse("a", "i").unwrap();
    let regex = |options: &str| {
        bson::RawBson::RegularExpression(bson::Regex {
            pattern: "a".try_into().unwrap(),
            options: options.try_into().unwrap(),
        })
    };
    assert!(pattern.accepts(regex("i").as_raw_bson_ref()));
    assert!(!pattern.accepts(regex("").as_raw_bson_ref()));
    assert!(!pattern.accepts(RawBsonRef::Int32(1)));
}
