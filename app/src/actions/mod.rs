//! The server functions: what the browser may ask for and do. Each is the address of a plain form and, in an
//! island, an ordinary async call. They parse the input, call the feed, and answer both kinds of caller.

pub mod accounts;
pub mod comments;
pub mod people;
pub mod posts;
pub mod settings;

#[cfg(test)]
mod tests {
    use leptos::server_fn::ServerFn;
    use ui::forms;

    #[test]
    fn shared_forms_are_sent_to_these_functions() {
        use super::{comments, people, posts};

        assert_eq!(forms::SET_LIKE, posts::SetLike::url());
        assert_eq!(forms::SET_SHARE, posts::SetShare::url());
        assert_eq!(forms::SET_BOOKMARK, posts::SetBookmark::url());
        assert_eq!(forms::SET_FOLLOW, people::SetFollow::url());
        assert_eq!(forms::DELETE_POST, posts::DeletePost::url());
        assert_eq!(forms::DELETE_COMMENT, comments::DeleteComment::url());
    }
}
