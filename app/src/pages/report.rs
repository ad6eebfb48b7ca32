use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use model::{Handle, Problem, ReportTarget};
use ui::escape::escape;
use ui::refusal::RejectedForm;
use ui::request::{feed, loaded, query, rejected_form_of};
use ui::title::PageTitle;

use super::settings::private;
use crate::actions::people::SendReport;
use crate::components::report_address;

/// Tells the people who run the site what is wrong with a person, a post or a comment.
#[component]
pub fn ReportPage() -> impl IntoView {
    loaded(report_page())
}

async fn report_page() -> Result<impl IntoView, Problem> {
    let target: ReportTarget = query("target").unwrap_or_default().parse()?;
    let about = feed()?.reports().author(&target).await?;
    let refusal = rejected_form_of("report");
    let path = report_address(&target);
    Ok(private(&path, |_| view! { <ReportForm target about refusal /> }))
}

#[component]
fn ReportForm(target: ReportTarget, about: Handle, refusal: Option<RejectedForm>) -> impl IntoView {
    let what = match target {
        ReportTarget::User(_) => String::new(),
        ReportTarget::Post(_) | ReportTarget::Comment(..) => format!("a {} by ", target.noun()),
    };
    let page = target.page();
    let typed = refusal
        .as_ref()
        .map(|refusal| refusal.kept("text"))
        .unwrap_or_default();
    let problem = refusal.and_then(|refusal| refusal.about("text"));
    view! {
        <PageTitle text="Report" />
        <section class="account">
            <h1>"Report"</h1>
            <p>
                "You report " {what} <a href=page.clone()>{format!("@{about}")}</a>
                " to the people who run this site. They read what you write and see who you are. Nobody else does."
            </p>
            <form class="account-form" method="post" action=SendReport::url() data-testid="report-form">
                <input type="hidden" name="target" value=target.to_string() />
                <div class="field">
                    <label for="report-text">"What is wrong?"</label>
                    <textarea
                        id="report-text"
                        name="text"
                        rows="4"
                        aria-required="true"
                        aria-invalid=problem.is_some().to_string()
                        aria-describedby="report-problem report-hint"
                        autocomplete="off"
                        inner_html=escape(&typed)
                    ></textarea>
                    <p class="field-problem" id="report-problem" role="alert">
                        {problem}
                    </p>
                    <p class="field-hint" id="report-hint">
                        "At most 500 characters."
                    </p>
                </div>
                <button class="button button-primary">"Send report"</button>
            </form>
            <p>
                "Have you changed your mind? " <a href=page>"Go back"</a>
            </p>
        </section>
    }
}
