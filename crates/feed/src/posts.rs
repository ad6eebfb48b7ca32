//! Writing, reading and deleting posts, and the lists of posts.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::people::mentions;
use super::problems::{missing, to_problem};
use super::{Feed, Paging, Posts};
use model::{
    Handle, Kind, Listing, Person, Post, PostCard, PostId, PostText, Problem, Quote, Relation, Tag, Topic,
};
use store::posts::{Order, StoredPost};
use store::restrictions::Restricted;

/// Which posts of a list a reader does not see.
pub(super) type Hides = fn(&Restricted, &StoredPost) -> bool;

/// In a feed: what they hide, and posts and shares by people whom they mute or block, or who block them.
pub(super) fn in_a_feed(restricted: &Restricted, post: &StoredPost) -> bool {
    let share = post.share.as_ref();
    restricted.hides_post(post.id, &post.author) || share.is_some_and(|share| restricted.hides(&share.by))
}

/// Whether a reader has seen a post further up in the same list, by somebody who is there.
pub(super) fn is_above(
    post: &StoredPost,
    restricted: &Restricted,
    is_there: impl Fn(&Handle) -> bool,
) -> bool {
    post.above.iter().any(|by| is_there(by) && !restricted.hides(by))
}

/// Where they asked for these posts: only what a block hides.
pub(super) fn asked_for(restricted: &Restricted, post: &StoredPost) -> bool {
    restricted.blocks(&post.author)
}

/// On a person's page: what a block hides, and what they shared by others whom the reader mutes.
pub(super) fn on_a_profile(restricted: &Restricted, post: &StoredPost) -> bool {
    let sharer = post.share.as_ref().map(|share| &share.by);
    let of_others = sharer.is_some_and(|by| {
        restricted.blocks(by) || (*by != post.author && restricted.muted.contains(&post.author))
    });
    asked_for(restricted, post) || of_others
}

/// Everybody on whom it depends whether a reader sees a post.
pub(super) fn people_of(post: &StoredPost) -> impl Iterator<Item = &Handle> {
    let sharer = post.share.iter().map(|share| &share.by);
    [&post.author].into_iter().chain(sharer).chain(&post.above)
}

/// How many stretches of a home are read for a page, if a reader hides all posts of the earlier ones.
const MOST_HIDDEN: u32 = 5;

impl Posts<'_> {
    /// The home feed, newest first: what the people whom the reader follows wrote and shared, and the reader's own
    /// posts; everybody's for a reader who is not signed in. For a long home feed `total` is not the exact number; see
    /// [`store::timeline::Page`].
    pub async fn home(self, viewer: Option<&Handle>, paging: Paging) -> Result<Listing<PostCard>, Problem> {
        match viewer {
            None => {
                self.0
                    .list_posts(None, Order::Newest, viewer, paging, in_a_feed)
                    .await
            }
            Some(reader) => self.home_of(reader, paging).await,
        }
    }

    /// A reader's home feed. A stretch of which they hide everything is no page: the next ones are read, up to a limit.
    async fn home_of(self, reader: &Handle, paging: Paging) -> Result<Listing<PostCard>, Problem> {
        let (timelines, mut after) = (self.0.store.timelines(), paging.after);
        let mut left = MOST_HIDDEN;
        loop {
            let page = timelines.home(reader, after, paging.limit).await;
            let page = page.map_err(to_problem)?;
            let items = self.0.cards(page.posts, Some(reader), in_a_feed).await?;
            left -= 1;
            if !items.is_empty() || page.next.is_none() || left == 0 {
                return Ok(Listing {
                    items,
                    next: page.next.map(|cursor| cursor.to_string()),
                    seams: Vec::new(),
                    total: page.total,
                });
            }
            after = page.next;
        }
    }

    /// Everybody's posts, most liked first.
    pub async fn explore(
        self,
        viewer: Option<&Handle>,
        paging: Paging,
    ) -> Result<Listing<PostCard>, Problem> {
        self.0
            .list_posts(None, Order::MostLiked, viewer, paging, in_a_feed)
            .await
    }

    /// What one person wrote and shared, newest first.
    pub async fn by(
        self,
        author: &Handle,
        viewer: Option<&Handle>,
        paging: Paging,
    ) -> Result<Listing<PostCard>, Problem> {
        let authors = std::slice::from_ref(author);
        let (posts, shared_posts) = (self.0.store.posts(), self.0.store.shared_posts());
        let (order, wanted) = (Order::Newest, paging.limit + 1);
        let (written, shared, posts_count, shares_count) = futures::try_join!(
            posts.list(Some(authors), order, paging.after, wanted),
            shared_posts.list(authors, paging.after, wanted),
            posts.count(Some(authors)),
            shared_posts.count(authors)
        )
        .map_err(to_problem)?;
        let mut listed = [written, shared].concat();
        listed.sort_by_key(|post| Reverse(post.place()));
        let listed = (listed, posts_count + shares_count);
        self.0.listing(listed, order, viewer, paging, on_a_profile).await
    }

    /// What one person wrote, newest first, as everybody sees it.
    pub async fn written_by(self, author: &Handle, paging: Paging) -> Result<Listing<PostCard>, Problem> {
        let authors = Some(std::slice::from_ref(author));
        self.0
            .list_posts(authors, Order::Newest, None, paging, asked_for)
            .await
    }

    /// Everybody's posts with a tag, newest first.
    pub async fn tagged(
        self,
        tag: &Tag,
        viewer: Option<&Handle>,
        paging: Paging,
    ) -> Result<Listing<PostCard>, Problem> {
        let stored = self.0.store.posts();
        let (posts, total) = futures::try_join!(
            stored.tagged(tag, Order::Newest, paging.after, paging.limit + 1),
            stored.count_tagged(tag)
        )
        .map_err(to_problem)?;
        self.0
            .listing((posts, total), Order::Newest, viewer, paging, in_a_feed)
            .await
    }

    /// One post.
    pub async fn get(self, id: PostId, viewer: Option<&Handle>) -> Result<PostCard, Problem> {
        let post = self.0.stored_post(id).await?;
        self.0.card(post, viewer).await
    }

    /// Publishes a post, which may quote another one. A second call with the same `id` returns the existing post.
    pub async fn compose(
        self,
        author: &Handle,
        id: Option<PostId>,
        text: PostText,
        quote: Option<PostId>,
    ) -> Result<PostCard, Problem> {
        let _turn = self.0.turns.of(author).await;
        if let Some(quote) = quote {
            // A request that is sent again is answered as before, also if the quoted post is gone by now.
            let is_repeated = match id {
                Some(id) => self.0.store.posts().get(id).await.map_err(to_problem)?.is_some(),
                None => false,
            };
            if !is_repeated {
                self.check_quotable(author, quote).await?;
            }
        }
        let at = self.0.environment.now();
        let id = id.unwrap_or_else(|| self.0.environment.ids.uuid(at).into());
        let born = self.0.environment.ids.uuid(at);
        let timelines = self.0.store.timelines();
        let (post, viewer) = match timelines
            .publish_quoting(quote, id, born, author, &text, at)
            .await
        {
            // Nobody can have liked or shared it yet, not even its author.
            Ok(post) => (post, None),
            Err(document::Error::DuplicateKey { .. }) => {
                let earlier = self.0.stored_post(id).await?;
                if earlier.author != *author {
                    return Err(
                        Problem::new(Kind::Conflict, "Another post has this id. Choose another.").about("id"),
                    );
                }
                (earlier, Some(author))
            }
            Err(error) => return Err(to_problem(error)),
        };
        timelines.deliver(author).await.map_err(to_problem)?;
        if quote.is_some() || !Handle::mentioned_in(text.as_str()).is_empty() {
            self.0.tell(Topic::Post(post.id));
        }
        self.0.card(post, viewer).await
    }

    /// Refuses to quote a post that is not there for its reader.
    async fn check_quotable(self, reader: &Handle, quote: PostId) -> Result<(), Problem> {
        let gone = |_| Problem::new(Kind::NotFound, "There is no post to quote with this id.").about("quote");
        match self.get(quote, Some(reader)).await {
            Err(problem) if problem.kind == Kind::NotFound => Err(gone(problem)),
            found => found.map(drop),
        }
    }

    /// Changes the text of one of the actor's own posts. The same text again changes nothing.
    pub async fn edit(self, actor: &Handle, id: PostId, text: PostText) -> Result<PostCard, Problem> {
        let _turn = self.0.turns.of(actor).await;
        let post = self.0.stored_post(id).await?;
        if post.author != *actor {
            return Err(Problem::new(Kind::Forbidden, "Only the author can edit a post."));
        }
        let posts = self.0.store.posts();
        let edited = posts.edit(id, actor, &text, self.0.environment.now()).await;
        edited.map_err(to_problem)?;
        let mentioned = [&post.text, &text].map(|text| Handle::mentioned_in(text.as_str()));
        self.0.unread_changed(mentioned.iter().flatten());
        self.get(id, Some(actor)).await
    }

    /// Deletes one of the actor's own posts, with its likes, comments and shares.
    pub async fn delete(self, actor: &Handle, id: PostId) -> Result<(), Problem> {
        let _turn = self.0.turns.of(actor).await;
        let post = self.0.stored_post(id).await?;
        if post.author != *actor {
            return Err(Problem::new(
                Kind::Forbidden,
                "Only the author can delete a post.",
            ));
        }
        let attempt = self.0.attempt(self.0.environment.now());
        let deleted = self.0.store.reactions().delete_post(actor, id, attempt).await;
        deleted.map_err(to_problem)?;
        let mentioned = Handle::mentioned_in(post.text.as_str());
        self.0.unread_changed(mentioned.iter().chain([actor]));
        if let Some(quoted) = post.quote {
            self.0.is_removed_from(Topic::Post(quoted));
        }
        self.unpin(actor, id).await
    }
}

impl Feed {
    /// One post as stored.
    pub(super) async fn stored_post(&self, id: PostId) -> Result<StoredPost, Problem> {
        let post = self.store.posts().get(id).await.map_err(to_problem)?;
        post.ok_or_else(|| missing(&Topic::Post(id).to_string()))
    }

    async fn list_posts(
        &self,
        authors: Option<&[Handle]>,
        order: Order,
        viewer: Option<&Handle>,
        paging: Paging,
        hides: Hides,
    ) -> Result<Listing<PostCard>, Problem> {
        let stored = self.store.posts();
        let (posts, total) = futures::try_join!(
            stored.list(authors, order, paging.after, paging.limit + 1),
            stored.count(authors)
        )
        .map_err(to_problem)?;
        self.listing((posts, total), order, viewer, paging, hides).await
    }

    /// A stretch of posts. One more than requested was read, to see whether there are more.
    async fn listing(
        &self,
        (mut posts, total): (Vec<StoredPost>, u64),
        order: Order,
        viewer: Option<&Handle>,
        paging: Paging,
        hides: Hides,
    ) -> Result<Listing<PostCard>, Problem> {
        let more = posts.len() > paging.limit;
        posts.truncate(paging.limit);
        let next = posts
            .last()
            .filter(|_| more)
            .map(|post| order.cursor_after(post).to_string());
        Ok(Listing {
            items: self.cards(posts, viewer, hides).await?,
            next,
            seams: Vec::new(),
            total,
        })
    }

    /// One post as a reader sees it.
    async fn card(&self, post: StoredPost, viewer: Option<&Handle>) -> Result<PostCard, Problem> {
        let topic = Topic::Post(post.id);
        let card = self.cards(vec![post], viewer, asked_for).await?.pop();
        card.ok_or_else(|| missing(&topic.to_string()))
    }

    /// Adds to posts what a reader sees with them: the authors' names, and the reader's own likes and shares. Leaves out
    /// posts by authors whom the reader's restrictions hide.
    pub(super) async fn cards(
        &self,
        posts: Vec<StoredPost>,
        viewer: Option<&Handle>,
        hides: Hides,
    ) -> Result<Vec<PostCard>, Problem> {
        let (people, stored) = (self.store.people(), self.store.posts());
        let asked: Vec<PostId> = posts.iter().filter_map(|post| post.quote).collect();
        let quoted = stored.several(&asked).await.map_err(to_problem)?;
        let ids: Vec<PostId> = posts.iter().map(|post| post.id).collect();
        let concerned = posts.iter().chain(quoted.values());
        let mentioned = concerned
            .clone()
            .flat_map(|post| Handle::mentioned_in(post.text.as_str()));
        let mentioned: Vec<Handle> = mentioned.collect();
        let (restricted, names, [liked, shared]) = futures::try_join!(
            self.restricted_of(viewer, concerned.clone()),
            people.named(concerned.flat_map(people_of).chain(&mentioned)),
            stored.with_actor(&ids, [Relation::Likes, Relation::Shares], viewer)
        )
        .map_err(to_problem)?;
        let shown = posts
            .into_iter()
            .filter(|post| !post.withheld && !hides(&restricted, post))
            .filter(|post| !is_above(post, &restricted, |by| names.contains_key(by)));
        let cards = shown.filter_map(|post| {
            // The posts of an author who has just left are being deleted; one that is still listed is about to
            // disappear.
            let author: Person = names.get(&post.author)?.clone();
            let quote = post.quote.map(|id| {
                let quoted = quoted.get(&id).filter(|quoted| quoted.at <= post.at);
                quote(id, quoted, &restricted, &names)
            });
            let shared_by = match &post.share {
                Some(share) => Some(names.get(&share.by)?.clone()),
                None => None,
            };
            Some(PostCard {
                meter: post.likes,
                post: Post {
                    liked: liked.contains(&post.id),
                    shared: shared.contains(&post.id),
                    id: post.id,
                    author,
                    mentions: mentions(post.text.as_str(), &names),
                    text: post.text,
                    at: post.at,
                    edited_at: post.edited_at,
                    likes: post.likes.count,
                    comments: post.comments,
                    shares: post.shares,
                    shared_at: post.share.map(|share| share.at),
                    shared_by,
                    quote,
                },
            })
        });
        Ok(cards.collect())
    }
}

/// A post that another one quotes, as a reader sees it.
fn quote(
    id: PostId,
    quoted: Option<&StoredPost>,
    restricted: &Restricted,
    names: &HashMap<Handle, Person>,
) -> Quote {
    let shown = quoted.filter(|quoted| !restricted.hides_post(id, &quoted.author));
    let shown = shown.and_then(|quoted| Some((quoted, names.get(&quoted.author)?.clone())));
    Quote {
        id,
        author: shown.as_ref().map(|(_, author)| author.clone()),
        text: shown.as_ref().map(|(quoted, _)| quoted.text.clone()),
        at: shown.as_ref().map(|(quoted, _)| quoted.at),
        edited_at: shown.as_ref().and_then(|(quoted, _)| quoted.edited_at),
        mentions: shown.map_or_else(Vec::new, |(quoted, _)| mentions(quoted.text.as_str(), names)),
    }
}
