use std::sync::Arc;

use outlier::Turns;
use store::Store;

use crate::tries::Tries;
use crate::{Environment, Events, NewPosts, SecurityLog, export, holders, notifications, unread};

/// What the clones of a [`Feed`](crate::Feed) share. Each request clones it some dozens of times.
#[derive(Clone)]
pub struct Parts {
    pub(crate) store: Store,
    pub(crate) environment: Environment,
    pub(crate) events: Arc<Events>,
    pub(crate) new_posts: Arc<NewPosts>,
    pub(crate) telling: Arc<notifications::Telling>,
    pub(crate) hidden_notifications: Arc<unread::HiddenNotifications>,
    pub(crate) holders: Arc<holders::Holders>,
    /// An action writes to a list and to the actor's own activities, one write after the other. The actions of one
    /// person run one at a time, because concurrent ones check each other's writes again. On two servers they
    /// still may overlap.
    pub(crate) turns: Arc<Turns>,
    pub(crate) security: Arc<SecurityLog>,
    /// The exports that are being written.
    pub(crate) exports: Arc<export::ExportPlaces>,
    /// The limit of tries to sign in to one account; `None` for none.
    pub(crate) tries: Option<Arc<Tries>>,
}
