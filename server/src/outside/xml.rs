//! Writing XML.

/// A document that is being written.
pub struct Xml(String);

/// The attributes of an element.
pub type Attributes<'a> = &'a [(&'a str, &'a str)];

impl Xml {
    /// A whole document with this element at its root.
    pub fn document(name: &str, attributes: Attributes<'_>, content: impl FnOnce(&mut Self)) -> String {
        let mut xml = Self("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n".to_owned());
        xml.within(name, attributes, content);
        xml.0
    }

    /// An element around others.
    pub fn within(&mut self, name: &str, attributes: Attributes<'_>, content: impl FnOnce(&mut Self)) {
        self.0.push('<');
        self.0.push_str(name);
        for (attribute, value) in attributes {
            self.0.extend([" ", attribute, "=\"", &escape(value), "\""]);
        }
        self.0.push_str(">\n");
        content(self);
        self.0.extend(["</", name, ">\n"]);
    }

    /// An element with a text.
    pub fn text(&mut self, name: &str, text: &str) {
        self.0.extend(["<", name, ">", &escape(text), "</", name, ">\n"]);
    }

    /// An element with a text that is HTML to its readers.
    pub fn html(&mut self, name: &str, html: &str) {
        self.0
            .extend(["<", name, " type=\"html\">", &escape(html), "</", name, ">\n"]);
    }

    /// An element without content.
    pub fn empty(&mut self, name: &str, attributes: Attributes<'_>) {
        self.within(name, attributes, |_| ());
    }
}

/// The text as XML that means exactly this text, in an element or in an attribute. What XML has no way to write
/// becomes U+FFFD.
fn escape(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '"' => xml.push_str("&quot;"),
            // As they are, parsers would make spaces or line feeds of them.
            '\t' => xml.push_str("&#9;"),
            '\n' => xml.push_str("&#10;"),
            '\r' => xml.push_str("&#13;"),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => xml.push('\u{fffd}'),
            other => xml.push(other),
        }
    }
    xml
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parser_reads_the_text_that_was_written_in_elements_and_attributes() {
        let text = "<b a=\"1\" b='2'>&amp; ]]> \t\r\n水 🌊 \u{7f}";
        let document = Xml::document("root", &[("with", text)], |xml| {
            xml.text("inner", text);
            xml.html("page", text);
            xml.empty("nothing", &[]);
        });
        let parsed = roxmltree::Document::parse(&document).unwrap();
        let root = parsed.root_element();
        assert_eq!(root.attribute("with"), Some(text));
        let inner: Vec<_> = root.children().filter(roxmltree::Node::is_element).collect();
        assert_eq!((inner[0].text(), inner[1].text()), (Some(text), Some(text)));
    }

    #[test]
    fn what_xml_cannot_write_is_replaced() {
        let characters = (0..0x20).chain([0xfffe, 0xffff]).filter_map(char::from_u32);
        let forbidden: String = characters.filter(|c| !['\t', '\n', '\r'].contains(c)).collect();
        let document = Xml::document("root", &[], |xml| xml.text("inner", &forbidden));
        let parsed = roxmltree::Document::parse(&document).unwrap();
        let inner = parsed
            .descendants()
            .find(|node| node.has_tag_name("inner"))
            .unwrap();
        assert_eq!(inner.text(), Some("\u{fffd}".repeat(31).as_str()));
    }
}
