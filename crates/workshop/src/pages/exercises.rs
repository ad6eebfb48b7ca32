use crate::actions::AnswerExercise;
use crate::exercise::{Grade, QUESTIONS, Question};
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;
use model::Problem;
use ui::components::grouped;
use ui::request::{loaded, query, query_string};
use ui::title::PageTitle;

use super::in_turn;
use super::lesson::{LessonStrip, is_student};

/// The address that shows the result of an answer.
pub(crate) fn answered(exercise: &str, answer: &str) -> String {
    let query = query_string(&[("exercise", exercise), ("answer", answer)]);
    format!("/lab/exercises?{query}#exercise-{exercise}")
}

/// Six questions, each of which runs the reader's answer.
#[component]
pub fn ExercisesPage() -> impl IntoView {
    loaded(async {
        let answered = match query("exercise") {
            None => None,
            Some(number) => {
                let question = Question::numbered(&number)?;
                let answer = query("answer").unwrap_or_default();
                let tried = answer.clone();
                let grade = in_turn(move || async move { question.grade(&tried).await }).await?;
                Some((question.number, answer, grade))
            }
        };
        let recorded = is_student();
        let exercises = QUESTIONS.map(|question| {
            let answered = answered.clone().filter(|(number, ..)| *number == question.number);
            view! { <Exercise question answered=answered.map(|(_, answer, grade)| (answer, grade)) recorded /> }
        });
        Ok::<_, Problem>(view! {
            <PageTitle text="Exercises" />
            <header class="page-head lab-head">
                <p>
                    <a href="/lab">"Workshop"</a>
                </p>
                <h1>"Exercises"</h1>
                <p class="lab-about">
                    "Each asks a question, and runs your answer on the real code. Each also has a piece of code with an error to repair, in the repository’s folder "
                    <code>"exercises/src"</code>
                    "; a command checks whether the error is fixed."
                </p>
            </header>
            <LessonStrip place="exercises" />
            {recorded.then(|| view! { <p>"Your teacher sees which exercises you have solved, and how often you tried."</p> })}
            <ol class="exercises">{exercises.into_iter().collect_view()}</ol>
            <section class="prose">
                <h2>"Two more, without a question"</h2>
                <p>
                    "Exercise 7 is about sensors, one of which suddenly sends a hundred values a second. Exercise 8 is about a ledger, whose balance "
                    "must equal the sum of its entries. Both are lists with outliers, and neither is a feed."
                </p>
            </section>
        })
    })
}

#[component]
fn Exercise(
    question: Question,
    answered: Option<(String, Grade)>,
    /// Whether the teacher is told how it went.
    recorded: bool,
) -> impl IntoView {
    let Question {
        number,
        title,
        asks,
        looks,
        station,
    } = question;
    let id = format!("exercise-{number}");
    let (field, verdict_id) = (format!("answer-{number}"), format!("verdict-{number}"));
    let answer = answered.as_ref().map(|(answer, _)| answer.clone());
    let verdict = answered.map(|(_, grade)| {
        let (word, right) = if grade.right { ("Right. ", "true") } else { ("Not yet. ", "false") };
        view! {
            <p class="verdict exercise-verdict" id=verdict_id.clone() data-holds=right role="status" data-testid="exercise-verdict">
                <b>{word}</b>
                {spaced(&grade.why)}
            </p>
        }
    });
    let (method, action) = if recorded {
        ("post", AnswerExercise::url().to_owned())
    } else {
        ("get", format!("/lab/exercises#{id}"))
    };
    let described = verdict.is_some().then(|| verdict_id.clone());
    view! {
        <li class="exercise" id=id.clone()>
            <h2>{format!("{number}. {title}")}</h2>
            <p>{asks}</p>
            <form class="exercise-answer" method=method action=action>
                <input type="hidden" name="exercise" value=number />
                <label for=field.clone()>{format!("Your answer, {looks}")}</label>
                <input id=field name="answer" type="text" value=answer autocomplete="off" aria-describedby=described />
                <button class="button">"Try it"</button>
            </form>
            {verdict}
            <p class="exercise-more">
                <a href=station>"Look at its station"</a>
                " · in code: "
                <code>{format!("cargo xtask exercise {number}")}</code>
            </p>
        </li>
    }
}

/// Groups the digits of long numbers, as everywhere on the pages.
fn spaced(sentence: &str) -> String {
    let mut spaced = String::with_capacity(sentence.len());
    let mut digits = String::new();
    for c in sentence.chars().chain([' ']) {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        match digits.parse() {
            Ok(number) if digits.len() > 3 => spaced.push_str(&grouped(number)),
            _ => spaced.push_str(&digits),
        }
        digits.clear();
        spaced.push(c);
    }
    spaced.truncate(spaced.trim_end().len());
    spaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_are_grouped() {
        assert_eq!(
            spaced("With 203000 likes the document has 16658958 bytes, of 999."),
            "With 203,000 likes the document has 16,658,958 bytes, of 999."
        );
    }

    #[test]
    fn an_answer_is_part_of_an_address_whatever_is_in_it() {
        assert_eq!(
            answered("2", "a b&c"),
            "/lab/exercises?exercise=2&answer=a+b%26c#exercise-2"
        );
    }
}
