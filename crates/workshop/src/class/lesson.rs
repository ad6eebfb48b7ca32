//! What a class does together: the station that it sees, its votes, and its answers to the exercises.

use feed::to_problem;
use model::{Handle, Kind, Problem};
use store::class::Stored;

use super::{Poll, Student};
use crate::Workshop;

/// What a class is shown and has no question to vote on.
const WITHOUT_A_QUESTION: [&str; 2] = ["console", "exercises"];

/// The lesson as it is now.
#[derive(Debug, Clone)]
pub struct Lesson {
    /// The name of the station that the class sees, such as `race`, if the teacher shows one.
    pub station: Option<String>,
    /// Whether the answers to its question are shown.
    pub revealed: bool,
    students: Vec<Student>,
}

impl Lesson {
    /// The student with this handle, if they joined.
    pub fn student(&self, handle: &Handle) -> Option<&Student> {
        self.students
            .iter()
            .find(|student| student.person.handle == *handle)
    }

    /// How many students there are.
    pub fn size(&self) -> usize {
        self.students.len()
    }

    /// How many students voted for each option of a question.
    pub fn votes(&self, poll: &Poll) -> [usize; 3] {
        let mut votes = [0; 3];
        for student in &self.students {
            if let Some(vote) = student
                .votes
                .get(poll.station)
                .and_then(|option| votes.get_mut(*option))
            {
                *vote += 1;
            }
        }
        votes
    }

    /// A text that changes when somebody has to see something else: the station, whether the answers are shown, and for
    /// the teacher the number of votes.
    pub fn state(&self, for_teacher: bool) -> String {
        let Some(station) = &self.station else {
            return String::new();
        };
        let votes = Poll::at(station)
            .filter(|_| for_teacher)
            .map(|poll| self.votes(poll));
        let votes = votes.map_or(String::new(), |votes| votes.iter().sum::<usize>().to_string());
        format!("{station} {} {votes}", self.revealed)
    }
}

impl From<Stored> for Lesson {
    fn from(class: Stored) -> Self {
        Self {
            station: class.station,
            revealed: class.revealed,
            students: class.students,
        }
    }
}

impl Workshop {
    /// The lesson as it is now.
    pub async fn lesson(&self) -> Result<Lesson, Problem> {
        self.stored_class().await.map(Lesson::from)
    }

    /// Shows the class a station, or the exercises; or nothing. Showing the same again changes nothing.
    ///
    /// # Errors
    /// A problem with the field `station` when the class cannot be shown it.
    pub async fn show_class(&self, station: Option<&str>) -> Result<(), Problem> {
        if let Some(station) = station.filter(|station| !WITHOUT_A_QUESTION.contains(station)) {
            asked_at(station)?;
        }
        self.store().class().show(station).await.map_err(to_problem)
    }

    /// Shows the class how it voted, and the right answer.
    ///
    /// # Errors
    /// [`Kind::Conflict`] when the class does not see this station.
    pub async fn reveal(&self, station: &str) -> Result<(), Problem> {
        let class = self.store().class();
        if class
            .reveal(asked_at(station)?.station)
            .await
            .map_err(to_problem)?
        {
            return Ok(());
        }
        Err(Problem::new(
            Kind::Conflict,
            "The class does not see this station. Show it first.",
        ))
    }

    /// Stores the vote of a student, in place of an earlier one.
    ///
    /// # Errors
    /// A problem with the field `station` or `option`, [`Kind::Forbidden`] for somebody who is not in the class, and
    /// [`Kind::Conflict`] when the vote is over.
    pub async fn vote(&self, student: &Handle, station: &str, option: usize) -> Result<(), Problem> {
        let poll = asked_at(station)?;
        if option >= poll.options.len() {
            let last = poll.options.len() - 1;
            return Err(Problem::invalid(
                "option",
                format!("There is no option {option}. `option` is a number from 0 to {last}."),
            ));
        }
        if self.lesson().await?.student(student).is_none() {
            return Err(super::not_in_the_class());
        }
        let class = self.store().class();
        if class
            .vote(student, poll.station, option)
            .await
            .map_err(to_problem)?
        {
            return Ok(());
        }
        Err(Problem::new(
            Kind::Conflict,
            "The vote on this question is over. Look at what the class sees now.",
        ))
    }

    /// Records that a student tried an answer to an exercise. Nothing is recorded where there is no class.
    pub async fn record_answer(&self, student: &Handle, exercise: usize, right: bool) -> Result<(), Problem> {
        if !self.serves_a_class() {
            return Ok(());
        }
        let answered = self.store().class().answered(student, exercise, right).await;
        answered.map_err(to_problem)
    }
}

fn asked_at(station: &str) -> Result<&'static Poll, Problem> {
    Poll::at(station).ok_or_else(|| {
        Problem::invalid(
            "station",
            format!("A class cannot be shown “{station}”. `station` is the last part of a station’s address, such as “race”."),
        )
    })
}
