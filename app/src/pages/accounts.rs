//! Signing up and signing in: plain forms with a full page load.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use model::{Account, Problem};
use ui::components::{Avatar, Field};
use ui::refusal::RejectedForm;
use ui::request::{feed, loaded, query, rejected_form_of};
use ui::title::PageTitle;
use web::link_with;

use crate::actions::accounts::{SignIn, SignInAsDemo, SignUp};

/// Creates an account.
#[component]
pub fn SignUpPage() -> impl IntoView {
    let refusal = rejected_form_of("sign_up");
    let next = next_page(refusal.as_ref());
    let sign_in = link_with(&next, "/login");
    view! {
        <PageTitle text="Sign up" />
        <section class="account">
            <h1>"Create your account"</h1>
            <form class="account-form" method="post" action=SignUp::url()>
                <input type="hidden" name="next" value=next />
                <Field
                    name="handle"
                    label="Handle"
                    hint="How others find you, as in @ada. Letters a–z, digits, _ and\u{a0}-."
                    autocomplete="username"
                    refusal=refusal.clone()
                />
                <Field name="name" label="Name" hint="The name that others see." autocomplete="name" refusal=refusal.clone() />
                <Field
                    name="password"
                    label="Password"
                    hint="At least 8 characters. A sentence makes a good password."
                    autocomplete="new-password"
                    refusal
                />
                <button class="button button-primary">"Sign up"</button>
            </form>
            <p>
                "Already have an account? " <a href=sign_in>"Sign in"</a>
            </p>
        </section>
    }
}

/// The link target of the demo town's people, where they are listed before the password form.
pub const DEMO_SIGN_IN: &str = "/login?demo=first";

/// Signs in, with a password or, in the demo town, with one click.
#[component]
pub fn SignInPage() -> impl IntoView {
    loaded(sign_in_page())
}

async fn sign_in_page() -> Result<impl IntoView, Problem> {
    let refusal = rejected_form_of("sign_in");
    let next = next_page(refusal.as_ref());
    let people = feed()?.accounts().demo_people().await?;
    let demo_first = query("demo").is_some() && !people.is_empty();
    let title = if demo_first {
        "Try the demo town"
    } else {
        "Welcome back"
    };
    let password = view! { <PasswordForm next=next.clone() refusal of_its_own=demo_first /> };
    let demo = (!people.is_empty()).then(|| view! { <DemoPeople people next of_its_own=!demo_first /> });
    let (first, second) = if demo_first {
        (demo.into_any(), password.into_any())
    } else {
        (password.into_any(), demo.into_any())
    };
    Ok(view! {
        <PageTitle text="Sign in" />
        <section class="account">
            <h1>{title}</h1>
            {first}
            {second}
        </section>
    })
}

/// A handle, a password, and a link to sign up for readers without an account.
#[component]
fn PasswordForm(
    next: String,
    refusal: Option<RejectedForm>,
    /// Whether it has its own heading.
    of_its_own: bool,
) -> impl IntoView {
    let sign_up = link_with(&next, "/signup");
    view! {
        {of_its_own.then(|| view! { <h2 class="account-part">"Or sign in with a password"</h2> })}
        <form class="account-form" method="post" action=SignIn::url()>
            <input type="hidden" name="next" value=next />
            <Field name="handle" label="Handle" autocomplete="username" refusal=refusal.clone() />
            <Field name="password" label="Password" autocomplete="current-password" refusal />
            <button class="button button-primary">"Sign in"</button>
        </form>
        <p>
            "New here? " <a href=sign_up>"Sign up"</a> ". Lost your password? "
            <a href="/recover">"Set a new one"</a>
        </p>
    }
}

/// The demo people whom anybody may sign in as.
#[component]
fn DemoPeople(
    people: Vec<Account>,
    next: String,
    /// Whether it has its own heading.
    of_its_own: bool,
) -> impl IntoView {
    let person = move |account: Account| {
        view! {
            <li>
                <form method="post" action=SignInAsDemo::url()>
                    <input type="hidden" name="handle" value=account.handle.to_string() />
                    <input type="hidden" name="next" value=next.clone() />
                    <button class="demo-person">
                        <Avatar handle=account.handle.clone() />
                        <span class="demo-person-name">{format!("Sign in as {}", account.name)}</span>
                        <span class="demo-person-bio">{account.bio}</span>
                    </button>
                </form>
            </li>
        }
    };
    view! {
        <section class="demo" class:demo-first=!of_its_own aria-label="People of the demo town">
            {of_its_own.then(|| view! { <h2>"Or try a demo account"</h2> })}
            <p>
                "This is a demo town. Sign in as one of these people with one click, without a password. Other visitors use the same people. A reset of the town undoes all changes."
            </p>
            <ul class="demo-people">{people.into_iter().map(person).collect_view()}</ul>
        </section>
    }
}

/// The page that the reader wanted. An address is only followed after the server has checked it.
fn next_page(refusal: Option<&RejectedForm>) -> String {
    query("next")
        .or_else(|| refusal.map(|refusal| refusal.kept("next")))
        .unwrap_or_default()
}
