use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use model::{Account, Problem, Topic};
use store::posts::StoredPost;
use ui::components::{Avatar, Field, Post, excerpt, grouped};
use ui::islands::{Numbers, Pane};
use ui::request::{loaded, now, query, rejected_form_of};
use ui::session;

use super::progress::Progress;
use super::qr::QrCode;
use super::recorded::STORM;
use super::sheets::Sheets;
use super::stations::{CLASS, StationHead};
use super::workshop;
use crate::Fill;
use crate::actions::{BringPeople, JoinClass};
use crate::class::{Class, ClassCount, PEOPLE_AT_A_TIME, SEATS, Student};

/// Marks a request from the machine that the server runs on, as far as this is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Teacher {
    /// This browser has presented the token that the server printed.
    Proven,
    /// It has not; the page asks for it.
    Unproven,
}

/// Where a browser presents the token and becomes the teacher's.
pub const DESK: &str = "/lab/class/teacher";

/// Where the teacher's browser resets the town.
pub const RESET: &str = "/lab/class/anew";

/// Where the teacher's browser hides a post from everybody, and shows it again.
pub const WITHHOLD: &str = "/lab/class/withhold";

/// A whole class likes one post together.
#[component]
pub fn ClassPage() -> impl IntoView {
    loaded(async {
        let workshop = workshop()?;
        if !workshop.serves_a_class() {
            return Ok(view! {
                <StationHead station=&CLASS />
                <ClassroomInstructions />
            }
            .into_any());
        }
        let viewer = session::viewer();
        let handle = viewer.as_ref().map(|account| &account.handle);
        let class = workshop.class(handle).await?;
        // Counting reads the whole list: once, and not again after a while.
        let counted = match query("count") {
            Some(_) => Some(workshop.count_class_likes().await?),
            None => None,
        };
        let teacher = use_context::<axum::http::request::Parts>();
        let teacher = teacher.and_then(|parts| parts.extensions.get::<Teacher>().copied());
        let latest = match teacher {
            Some(Teacher::Proven) => workshop.latest_posts().await?,
            _ => Vec::new(),
        };
        let student = viewer.clone().filter(|account| is_in(&class, account));
        let live = counted.is_none();
        let progress = matches!(teacher, Some(Teacher::Proven)).then(|| class.students.clone());
        let own = handle == Some(&class.card.post.author.handle);
        let (card, signed_in) = (class.card.clone(), handle.is_some());
        let ago = card.post.at.ago(now());
        let id = card.post.id;
        Ok::<_, Problem>(
            view! {
                <StationHead station=&CLASS />
                <div class="class">
                    <section aria-label="The post">
                        <article class="entry post" id=format!("post-{id}") data-testid="post">
                            <Numbers>
                                <Post card ago signed_in own />
                            </Numbers>
                        </article>
                        {student.is_none().then(|| view! { <Join address=class.address.clone() /> })}
                    </section>
                    <Pane>
                        {student.map(|account| view! { <Bring account /> })}
                        <ClassResults class counted />
                        {progress.map(|students| view! { <Progress students live /> })}
                    </Pane>
                </div>
                {(!latest.is_empty()).then(|| view! { <LatestPosts posts=latest /> })}
                {teacher.map(|teacher| view! { <ResetForm teacher /> })}
            }
            .into_any(),
        )
    })
}

fn is_in(class: &Class, account: &Account) -> bool {
    class
        .students
        .iter()
        .any(|student| student.person.handle == account.handle)
}

/// How to open a classroom, on a server that has none, and what it will show.
#[component]
fn ClassroomInstructions() -> impl IntoView {
    let items = STORM.verdict.map_or(0, |verdict| verdict.counted);
    let head = STORM.heads.last().map_or(0, |sample| sample.items);
    let pages = STORM.seconds.last().map_or(0, |second| second.pages);
    let of_a_page = (items - head).checked_div(pages).unwrap_or(0);
    let fill = Fill {
        head,
        threshold: STORM.threshold,
        pages: (0..pages)
            .map(|page| (format!("page {page}"), of_a_page))
            .collect(),
        page_size: of_a_page,
    };
    view! {
        <section aria-labelledby="afterwards">
            <h2 id="afterwards" class="section-head">
                "Everybody likes one post. This is a post after a storm of likes."
            </h2>
            <Sheets fill />
            <p class="lab-source">
                {format!(
                    "{} in the head and {} pages of {}: all {} likes are there. Each time the head was full, its {} oldest likes \
                     moved into a page, so the post’s own document stays small.",
                    grouped(head),
                    grouped(pages),
                    grouped(of_a_page),
                    grouped(items),
                    grouped(of_a_page),
                )}
            </p>
        </section>
        <section class="prose" aria-labelledby="start">
            <h2 id="start" class="section-head">
                "For the teacher: invite your class"
            </h2>
            <p>"Your students can like the post on their own phones if you stop this server and start it again like this, on the machine with the projector. The server’s data stays."</p>
            <pre class="command-text">
                <code>"cargo xtask serve --classroom"</code>
            </pre>
            <p>
                "It prints the address for the class, with a QR code. Students join with their name, in any browser on the same network. "
                "They need nothing else, and no internet."
            </p>
        </section>
    }
}

/// How to join: with the code, or here.
#[component]
fn Join(address: String) -> impl IntoView {
    let page = format!("{address}/lab/class");
    view! {
        <section class="join" aria-labelledby="join">
            <h2 id="join">"Join the class"</h2>
            <div class="join-ways">
                <figure class="join-code">
                    <QrCode text=page.clone() />
                    <figcaption>{page}</figcaption>
                </figure>
                <form class="account-form" method="post" action=JoinClass::url()>
                    <Field
                        name="name"
                        label="Your name"
                        hint="The name that the class knows. You need no password; this browser stays signed in."
                        autocomplete="name"
                        refusal=rejected_form_of("join_class")
                    />
                    <button class="button button-primary">"Join"</button>
                </form>
            </div>
        </section>
    }
}

/// The student's part in the storm.
#[component]
fn Bring(account: Account) -> impl IntoView {
    view! {
        <section class="bring" aria-labelledby="bring">
            <h2 id="bring">{format!("You are in, {}", account.name)}</h2>
            <p>"Like the post yourself. Then add others: each click adds the likes of the next people of the town, each of them once."</p>
            <form method="post" action=BringPeople::url() data-stay="">
                <button id="bring-people" class="button button-primary">{format!("Add {PEOPLE_AT_A_TIME} people")}</button>
            </form>
        </section>
    }
}

/// How many people each student added, and whether all items are there.
#[component]
fn ClassResults(class: Class, counted: Option<ClassCount>) -> impl IntoView {
    let total = class.card.post.likes;
    let brought: u64 = class.students.iter().map(|student| student.brought).sum();
    let most = class.students.first().map_or(1, |student| student.brought.max(1));
    let joined = class.students.len();
    let rows = class.students.into_iter().map(|Student { person, brought, .. }| {
        let width = format!("{}%", brought * 100 / most);
        view! {
            <tr>
                <th scope="row">
                    <Avatar handle=person.handle.clone() />
                    <a href=format!("/@{}", person.handle)>{person.name.to_string()}</a>
                </th>
                <td class="board-bar" aria-hidden="true">
                    <svg><rect width=width height="100%" rx="3" /></svg>
                </td>
                <td class="number">{grouped(brought)}</td>
            </tr>
        }
    });
    let id = class.card.post.id;
    // Counting reads the whole list: once, and not after every change.
    let live = counted.is_none().then(|| Topic::Post(id).to_string());
    view! {
        <section class="board" aria-labelledby="board" data-topic=live>
            <h2 id="board">"How many people each student added"</h2>
            <dl class="board-sums">
                <div>
                    <dt>"Likes in the list"</dt>
                    <dd data-testid="class-total">{grouped(total)}</dd>
                </div>
                <div>
                    <dt>"Added by the class"</dt>
                    <dd data-testid="class-brought">{grouped(brought)}</dd>
                </div>
                <div>
                    <dt>"Likes by students"</dt>
                    <dd>{grouped(total.saturating_sub(brought))}</dd>
                </div>
            </dl>
            {counted.map(|counted| view! { <Verdict counted /> })}
            <p>
                <a href="/lab/class?count=all">"Count the items one by one"</a>
                " · "
                <a href=format!("/lab/inspect/post:{id}")>"See the documents"</a>
            </p>
            <table>
                <caption>{format!("{joined} of {SEATS} seats are taken. {} people of the town have not been added yet.", grouped(class.waiting))}</caption>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </section>
    }
}

#[component]
fn Verdict(counted: ClassCount) -> impl IntoView {
    let ClassCount { count, items, people } = counted;
    let sentence = if count == items && items == people {
        format!(
            "Counted: {} items by as many people, and the stored count is {}. Nothing is lost or stored twice.",
            grouped(items),
            grouped(count)
        )
    } else {
        format!(
            "Counted {} items by {} people, but the stored count was {}. If nobody is adding people any more, this is an error: run spillway check.",
            grouped(items),
            grouped(people),
            grouped(count)
        )
    };
    view! { <p class="holds" data-testid="class-verdict">{sentence}</p> }
}

/// The latest posts, each with a button by which the teacher hides it from everybody, or shows it again.
#[component]
fn LatestPosts(posts: Vec<StoredPost>) -> impl IntoView {
    let rows = posts.into_iter().map(|post| {
        let (words, state) = if post.withheld {
            ("Show again", "false")
        } else {
            ("Hide", "true")
        };
        view! {
            <li>
                <p>
                    <b>{format!("@{}", post.author)}</b>
                    " "
                    {excerpt(post.text.as_str())}
                </p>
                <form method="post" action=WITHHOLD>
                    <input type="hidden" name="post" value=post.id.to_string() />
                    <button class="button" name="on" value=state>
                        {words}
                        <span class="sr-only">{format!(" the post by @{}", post.author)}</span>
                    </button>
                </form>
            </li>
        }
    });
    view! {
        <section class="for-teacher" aria-labelledby="latest">
            <h2 id="latest">"What the class writes"</h2>
            <p>"Nobody sees a post that you hide, until you show it again. Only this browser has these buttons."</p>
            <ul class="latest">{rows.collect_view()}</ul>
        </section>
    }
}

/// The teacher's form to reset everything.
#[component]
fn ResetForm(teacher: Teacher) -> impl IntoView {
    let desk = match teacher {
        Teacher::Proven => view! {
            <p>"Only this browser shows this form, because it opened the link that the server printed. A reset restores the town to its initial state; the class stays in it."</p>
            <form method="post" action=RESET>
                <button class="button">"Reset the class"</button>
            </form>
        }
        .into_any(),
        Teacher::Unproven => view! {
            <p>"Open the link that the server printed after “The teacher opens”, or paste the token at its end here."</p>
            <form method="get" action=DESK>
                <label for="token">"Token"</label>
                " "
                <input id="token" name="token" autocomplete="off" required />
                " "
                <button class="button">"Show it"</button>
            </form>
        }
        .into_any(),
    };
    view! {
        <section class="for-teacher" aria-labelledby="reset">
            <h2 id="reset">"For the teacher"</h2>
            {desk}
        </section>
    }
}
