/// The beginning of a text, cut between words.
pub fn beginning(text: &str) -> String {
    cut(text, 60)
}

/// A few lines of a text, in one line.
pub fn excerpt(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    cut(&words.join(" "), 200)
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let cut: String = text.chars().take(most).collect();
    let (whole_words, _) = cut.rsplit_once(char::is_whitespace).unwrap_or((&cut, ""));
    format!(
        "{}…",
        whole_words.trim_end_matches(|c: char| c.is_ascii_punctuation() || c == '…')
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_words() {
        assert_eq!(beginning("Short."), "Short.");
        assert_eq!(
            beginning(&"word ".repeat(20)),
            format!("{}…", "word ".repeat(12).trim_end())
        );
        assert_eq!(
            beginning("What does she do at the school all day? Serious question... and more of them"),
            "What does she do at the school all day? Serious question…"
        );
        assert_eq!(beginning(&"é".repeat(80)), format!("{}…", "é".repeat(60)));
    }
}
