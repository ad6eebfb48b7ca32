//! What MongoDB has and this engine does not have. It is refused as such, so that nobody looks for a typing error.

use document::Error;

const NAMES: [&str; 68] = [
    // Operators of filters.
    "$bitsAllClear",
    "$bitsAllSet",
    "$bitsAnyClear",
    "$bitsAnySet",
    "$comment",
    "$geoIntersects",
    "$geoWithin",
    "$jsonSchema",
    "$mod",
    "$near",
    "$nearSphere",
    "$text",
    "$where",
    // Operators of updates.
    "$bit",
    "$currentDate",
    "$rename",
    // Stages.
    "$changeStream",
    "$collStats",
    "$densify",
    "$documents",
    "$facet",
    "$fill",
    "$geoNear",
    "$graphLookup",
    "$indexStats",
    "$lookup",
    "$merge",
    "$out",
    "$planCacheStats",
    "$redact",
    "$search",
    "$searchMeta",
    "$setWindowFields",
    "$unionWith",
    "$vectorSearch",
    // Expressions.
    "$accumulator",
    "$convert",
    "$dateAdd",
    "$dateDiff",
    "$dateFromParts",
    "$dateFromString",
    "$dateSubtract",
    "$dateToParts",
    "$dateToString",
    "$dateTrunc",
    "$dayOfMonth",
    "$dayOfWeek",
    "$dayOfYear",
    "$function",
    "$getField",
    "$hour",
    "$indexOfCP",
    "$minute",
    "$month",
    "$rand",
    "$regexFind",
    "$regexFindAll",
    "$regexMatch",
    "$replaceAll",
    "$replaceOne",
    "$second",
    "$setField",
    "$switch",
    "$toDate",
    "$toObjectId",
    "$trim",
    "$week",
    "$year",
];

/// Refuses an operator, an expression or a stage: by this message, or because only MongoDB has it.
pub(crate) fn refused(code: i32, name: &str, unknown: impl Into<String>) -> Error {
    if NAMES.contains(&name) {
        return Error::refused(code, format!("the embedded engine does not support {name}"));
    }
    Error::refused(code, unknown)
}
