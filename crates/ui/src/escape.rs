//! Escaping for the two places where Leptos writes text into the document as it is: the content of a `<textarea>`
//! and the title of the page.

/// The text as HTML that shows exactly this text.
pub fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            other => html.push(other),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_element() {
        assert_eq!(
            escape("</textarea><script>alert(\"&\")</script>"),
            "&lt;/textarea&gt;&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;"
        );
    }
}
