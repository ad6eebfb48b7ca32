//! Values that JavaScript has no literal for.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bson::oid::ObjectId;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, DateTime, Decimal128, Timestamp};
use time::format_description::well_known::Iso8601;
use time::{Date, OffsetDateTime, PrimitiveDateTime};
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::text::Text;
use crate::value::{arguments, of_javascript, regular_expression};

/// What is known, for the error about anything else.
const KNOWN: &str = "ObjectId, UUID, ISODate, Date, NumberLong, NumberInt, NumberDecimal, Timestamp, BinData, HexData, RegExp, \
                     MinKey and MaxKey";

/// Values of MongoDB's shell of types that it deprecates or that nobody stores here.
const ELSEWHERE: [&str; 6] = ["Code", "DBPointer", "DBRef", "BSONSymbol", "MD5", "Map"];

/// The value of a call, such as `ObjectId("…")`; the name has been read.
pub(crate) fn wrapped(text: &mut Text, name: &str) -> Result<Bson> {
    let at = text.at();
    if text.takes('.')? {
        // As the shell prints it.
        if name == "Binary" && text.name()?.as_deref() == Some("createFromBase64") {
            text.expect('(')?;
            let mut arguments = arguments(text)?;
            arguments.reverse();
            return made(at, "BinData", &arguments);
        }
        // `Date.now()` and `UUID.generate()`.
        return Err(Error::syntax(
            at,
            format!("`{name}.…` is JavaScript, which is not evaluated here."),
        ));
    }
    let known = [
        "ObjectId",
        "UUID",
        "ISODate",
        "Date",
        "NumberLong",
        "Long",
        "NumberInt",
        "Int32",
        "NumberDecimal",
        "Decimal128",
        "Double",
        "Timestamp",
        "BinData",
        "HexData",
        "RegExp",
        "MinKey",
        "MaxKey",
        "Number",
        "String",
    ];
    if ELSEWHERE.contains(&name) {
        let message = format!("`{name}` is not supported here. Values are literals, or one of {KNOWN}.");
        return Err(Error::syntax(at, message));
    }
    if !known.contains(&name) {
        let message = format!("`{name}` is not defined. Values are literals, or one of {KNOWN}.");
        return Err(Error {
            kind: "ReferenceError",
            message,
            at: Some(at),
        });
    }
    if !text.takes('(')? {
        return match name {
            "MinKey" => Ok(Bson::MinKey),
            "MaxKey" => Ok(Bson::MaxKey),
            _ => Err(text.unexpected(&format!("`(`, as in {name}(…)"))),
        };
    }
    let arguments = arguments(text)?;
    made(at, name, &arguments)
}

fn made(at: usize, name: &str, arguments: &[Bson]) -> Result<Bson> {
    let wrong = |example: &str| Error::syntax(at, format!("{name} is written as in {example}."));
    Ok(match (name, arguments) {
        ("ObjectId", []) => ObjectId::new().into(),
        ("ObjectId", [Bson::String(digits)]) => {
            let id = ObjectId::parse_str(digits);
            id.map_err(|_| wrong("ObjectId(\"64b7f0c2a1b2c3d4e5f60718\"), with 24 hexadecimal digits"))?
                .into()
        }
        ("UUID", []) => random_uuid().into(),
        ("UUID", [Bson::String(digits)]) => {
            let uuid = Uuid::parse_str(digits);
            uuid.map_err(|_| wrong("UUID(\"c1f0a4b2-7d3e-4a5b-8c6d-0123456789ab\")"))?
                .into()
        }
        ("ISODate" | "Date", []) => DateTime::now().into(),
        ("ISODate" | "Date", [Bson::String(moment)]) => moment_of(moment)
            .ok_or_else(|| wrong("ISODate(\"2026-01-31T12:00:00Z\")"))?
            .into(),
        ("Date" | "ISODate", [milliseconds]) => {
            let milliseconds = whole(milliseconds).ok_or_else(|| wrong("new Date(1767225600000)"))?;
            DateTime::from_millis(milliseconds).into()
        }
        ("NumberLong" | "Long", [number]) => whole(number)
            .ok_or_else(|| wrong("NumberLong(\"9007199254740993\")"))?
            .into(),
        ("NumberInt" | "Int32", [number]) => {
            let number = whole(number).and_then(|number| i32::try_from(number).ok());
            number.ok_or_else(|| wrong("NumberInt(7)"))?.into()
        }
        ("NumberDecimal" | "Decimal128", [number]) => {
            let digits = match number {
                Bson::String(digits) => digits.clone(),
                number => number.to_string(),
            };
            let decimal: std::result::Result<Decimal128, _> = digits.parse();
            decimal.map_err(|_| wrong("NumberDecimal(\"9.99\")"))?.into()
        }
        ("Double", [number]) => double(number).ok_or_else(|| wrong("Double(1)"))?.into(),
        ("Number", [Bson::String(digits)]) => {
            of_javascript(digits.trim().parse().map_err(|_| wrong("Number(\"7\")"))?)
        }
        ("String", [Bson::String(text)]) => text.as_str().into(),
        ("Timestamp", [Bson::Document(parts)]) => {
            let part = |name| parts.get(name).cloned().unwrap_or(Bson::Null);
            return made(at, name, &[part("t"), part("i")]);
        }
        ("Timestamp", []) => {
            let (time, increment) = (0, 0);
            Timestamp { time, increment }.into()
        }
        ("Timestamp", [time, increment]) => {
            let part = |part: &Bson| whole(part).and_then(|part| u32::try_from(part).ok());
            let parts = part(time).zip(part(increment));
            let (time, increment) = parts.ok_or_else(|| wrong("Timestamp(1767225600, 1)"))?;
            Timestamp { time, increment }.into()
        }
        ("BinData", [subtype, Bson::String(bytes)]) => {
            let subtype = whole(subtype).and_then(|subtype| u8::try_from(subtype).ok());
            let bytes = STANDARD.decode(bytes).ok();
            let (subtype, bytes) = subtype.zip(bytes).ok_or_else(|| wrong("BinData(0, \"AQID\")"))?;
            Binary {
                subtype: BinarySubtype::from(subtype),
                bytes,
            }
            .into()
        }
        ("HexData", [subtype, Bson::String(digits)]) => {
            let subtype = whole(subtype).and_then(|subtype| u8::try_from(subtype).ok());
            let (subtype, bytes) = subtype
                .zip(bytes_of(digits))
                .ok_or_else(|| wrong("HexData(0, \"0a1b\")"))?;
            Binary {
                subtype: BinarySubtype::from(subtype),
                bytes,
            }
            .into()
        }
        ("RegExp", [Bson::String(pattern)]) => Bson::RegularExpression(regular_expression(at, pattern, "")?),
        ("RegExp", [Bson::String(pattern), Bson::String(flags)]) => {
            Bson::RegularExpression(regular_expression(at, pattern, flags)?)
        }
        ("MinKey", []) => Bson::MinKey,
        ("MaxKey", []) => Bson::MaxKey,
        _ => return Err(wrong(example(name))),
    })
}

fn example(name: &str) -> &'static str {
    match name {
        "ObjectId" => "ObjectId(\"64b7f0c2a1b2c3d4e5f60718\")",
        "UUID" => "UUID(\"c1f0a4b2-7d3e-4a5b-8c6d-0123456789ab\")",
        "ISODate" | "Date" => "ISODate(\"2026-01-31T12:00:00Z\")",
        "NumberInt" | "Int32" => "NumberInt(7)",
        "NumberDecimal" | "Decimal128" => "NumberDecimal(\"9.99\")",
        "Timestamp" => "Timestamp(1767225600, 1)",
        "BinData" => "BinData(0, \"AQID\")",
        "HexData" => "HexData(0, \"0a1b\")",
        "RegExp" => "RegExp(\"weir\", \"i\")",
        "MinKey" | "MaxKey" => "MinKey()",
        _ => "NumberLong(\"9007199254740993\")",
    }
}

/// The bytes of hexadecimal digits, two for each.
fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
        // A sign is no digit.
        u8::from_str_radix(pair, 16)
            .ok()
            .filter(|_| !pair.starts_with('+'))
    });
    pairs.collect()
}

fn whole(number: &Bson) -> Option<i64> {
    match number {
        Bson::Int32(number) => Some((*number).into()),
        Bson::Int64(number) => Some(*number),
        // The largest that JavaScript counts exactly.
        Bson::Double(number) if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_991.0 =>
        {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "it is whole and within the bounds"
            )]
            Some(*number as i64)
        }
        Bson::String(digits) => digits.trim().parse().ok(),
        _ => None,
    }
}

fn double(number: &Bson) -> Option<f64> {
    match number {
        Bson::Int32(number) => Some((*number).into()),
        Bson::Double(number) => Some(*number),
        Bson::String(digits) => digits.trim().parse().ok(),
        _ => None,
    }
}

/// A moment in ISO 8601: with a time zone or in UTC, or only a day.
fn moment_of(text: &str) -> Option<DateTime> {
    let text = text.trim();
    let moment = OffsetDateTime::parse(text, &Iso8601::DEFAULT)
        .or_else(|_| PrimitiveDateTime::parse(text, &Iso8601::DEFAULT).map(PrimitiveDateTime::assume_utc))
        .or_else(|_| Date::parse(text, &Iso8601::DEFAULT).map(|day| day.midnight().assume_utc()))
        .ok()?;
    let milliseconds = moment.unix_timestamp_nanos().div_euclid(1_000_000);
    Some(DateTime::from_millis(i64::try_from(milliseconds).ok()?))
}

#[expect(
    clippy::disallowed_methods,
    reason = "like the shell, this makes an id where UUID() is written"
)]
fn random_uuid() -> Uuid {
    Uuid::new_v4()
}
