use leptos::prelude::*;

use crate::class::{Answered, Student};
use crate::exercise::QUESTIONS;

/// How often the teacher's page looks for new answers, in milliseconds.
const AGAIN: u32 = 3_000;

/// Which exercises each student has solved, and where they are stuck.
#[component]
pub(super) fn Progress(
    students: Vec<Student>,
    /// Whether it looks for new answers.
    live: bool,
) -> impl IntoView {
    let mut students = students;
    students.sort_by(|a, b| a.person.name.as_str().cmp(b.person.name.as_str()));
    let all = students.len();
    let columns = QUESTIONS.map(|question| {
        let solved = students
            .iter()
            .filter(|student| is_right(student, question.number))
            .count();
        view! {
            <th scope="col">
                <abbr title=question.title>{question.number.to_string()}</abbr>
                <span class="progress-solved" data-testid=format!("solved-{}", question.number)>
                    {format!("{solved} of {all}")}
                </span>
            </th>
        }
    });
    let rows = students.iter().map(|student| {
        let cells = QUESTIONS.map(|question| cell(student.answers.get(&question.number).copied()));
        view! {
            <tr>
                <th scope="row">{student.person.name.to_string()}</th>
                {cells.into_iter().collect_view()}
            </tr>
        }
    });
    view! {
        <section class="progress" aria-labelledby="progress" data-again=live.then(|| AGAIN.to_string())>
            <h2 id="progress">"Exercises"</h2>
            <p>
                "Only you see this. A check mark is a right answer, a number the tries without one. All of it is removed with the class. "
                <a href="/lab/exercises">"The exercises"</a>
            </p>
            <div class="stored-table" tabindex="0" role="group" aria-labelledby="progress">
                <table>
                    <thead>
                        <tr>
                            <th scope="col">"Student"</th>
                            {columns.into_iter().collect_view()}
                        </tr>
                    </thead>
                    <tbody>{rows.collect_view()}</tbody>
                </table>
            </div>
        </section>
    }
}

fn is_right(student: &Student, exercise: usize) -> bool {
    student
        .answers
        .get(&exercise)
        .is_some_and(|answered| answered.right)
}

fn cell(answered: Option<Answered>) -> impl IntoView {
    let (shown, said) = match answered {
        None => ("·".to_owned(), "not tried".to_owned()),
        Some(Answered { tries, right: false }) => {
            (tries.to_string(), format!("not solved after {}", times(tries)))
        }
        Some(Answered { tries, right: true }) => ("✓".to_owned(), format!("solved after {}", times(tries))),
    };
    let stuck = answered.is_some_and(|answered| !answered.right);
    view! {
        <td data-stuck=stuck.then_some("") title=said.clone()>
            <span aria-hidden="true">{shown}</span>
            <span class="sr-only">{said.clone()}</span>
        </td>
    }
}

fn times(tries: u64) -> String {
    match tries {
        1 => "1 try".to_owned(),
        tries => format!("{tries} tries"),
    }
}
