use std::sync::Arc;

use bson::{RawArrayBuf, doc};
use document::DocumentEngine as _;
use embedded::Embedded;

use super::*;

async fn is_right(number: usize, answer: &str) -> bool {
    QUESTIONS[number - 1].grade(answer).await.unwrap().right
}

#[tokio::test]
async fn each_question_has_answers_that_are_right_and_answers_that_are_not() {
    for (number, good, bad) in [
        (
            1,
            &["248000", "246,000"][..],
            &["100000", "250000", "lots", "18446744073709551615"][..],
        ),
        (2, &["abab", "BAAB"], &["aabb", "ab", "", "xyz"]),
        (3, &["1"], &["0", "7"]),
        (4, &["246", "235"], &["247", "100", "0", "99999999999"]),
        (5, &["2"], &["0", "3", "8"]),
        (6, &["78"], &["77", "1", "10000"]),
    ] {
        for answer in good {
            let grade = QUESTIONS[number - 1].grade(answer).await.unwrap();
            assert!(grade.right, "{number}, {answer}: {}", grade.why);
        }
        for answer in bad {
            assert!(!is_right(number, answer).await, "{number}: {answer}");
        }
    }
}

#[tokio::test]
async fn the_crashes_of_the_third_question_are_tried_once() {
    let (first, second) = (crashes().await.unwrap(), crashes().await.unwrap());
    assert!(std::ptr::eq(first, second));
}

#[test]
fn a_like_has_the_bytes_that_the_questions_say() {
    assert_eq!(like_bytes().unwrap(), 60);
}

/// The computed answer matches what the engine does.
#[tokio::test]
async fn the_predicted_limit_is_where_the_engine_refuses() {
    let mut most = 240_000;
    while unbounded_bytes(most + 1).unwrap() <= MAX_DOCUMENT_BYTES {
        most += 1;
    }
    let engine = Arc::new(Embedded::in_memory().unwrap());
    for (likes, fits) in [(most, true), (most + 1, false)] {
        let mut array = RawArrayBuf::new();
        for nth in 0..likes {
            array.push(RawDocumentBuf::try_from(&like(nth).unwrap().to_document()).unwrap());
        }
        let array = bson::Bson::try_from(bson::RawBson::Array(array)).unwrap();
        let owner = doc! { "_id": store::overflow::uuid_bson(Uuid::nil()), "likes": array };
        let stored = engine.insert("posts", vec![owner]).await;
        assert_eq!(stored.is_ok(), fits, "{likes}: {stored:?}");
    }
}

#[test]
fn a_number_that_is_none_is_refused_by_name() {
    for number in ["0", "7", "two", ""] {
        let problem = Question::numbered(number).unwrap_err();
        assert_eq!(problem.field.as_deref(), Some("exercise"));
    }
}
