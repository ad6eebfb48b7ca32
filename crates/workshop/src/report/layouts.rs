//! The race of the layouts.

use model::Handle;
use serde::{Deserialize, Serialize};

use super::Progress;

/// The layouts side by side: what an append and a first page cost as the list grows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "pages", derive(utoipa::ToSchema))]
pub struct LayoutRace {
    /// Its progress.
    pub progress: Progress,
    /// Who started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Handle>,
    /// How many items the longest list has.
    pub largest: u64,
    /// How many bytes of BSON an item has.
    pub item_bytes: u64,
    /// Appends that were made.
    pub done: u64,
    /// Appends in total.
    pub total: u64,
    /// One for each layout and its limits.
    pub layouts: Vec<RacedLayout>,
}

/// One layout in the race.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "pages", derive(utoipa::ToSchema))]
pub struct RacedLayout {
    /// Its name.
    pub name: String,
    /// What it takes at each length, the shortest first.
    pub laps: Vec<LayoutLap>,
}

/// A layout at some length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "pages", derive(utoipa::ToSchema))]
pub struct LayoutLap {
    /// How many items the list had before.
    pub items: u64,
    /// One append.
    pub append: LayoutCost,
    /// The newest 20 items, or what the layout's article takes for them.
    pub first_page: LayoutCost,
    /// The largest document of the list, in bytes.
    pub largest_document: u64,
    /// How the store refused to let it grow further, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<Wall>,
}

/// What one operation cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "pages", derive(utoipa::ToSchema))]
pub struct LayoutCost {
    /// How often it was measured.
    pub times: u64,
    /// Half of them were faster, in microseconds.
    pub median_us: f64,
    /// 95 of 100 were faster, in microseconds.
    pub p95_us: f64,
    /// Documents that the engine read for one, on average.
    pub documents_read: f64,
    /// Bytes of BSON that the engine read for one, on average.
    pub bytes_read: f64,
    /// Bytes of BSON that the engine wrote for one, on average.
    pub bytes_written: f64,
}

/// The end of a document that may not grow further.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "pages", derive(utoipa::ToSchema))]
pub struct Wall {
    /// How many items were in it when the next one was refused.
    pub items: u64,
    /// MongoDB's code for the refusal.
    pub code: i32,
    /// Its message.
    pub message: String,
}
