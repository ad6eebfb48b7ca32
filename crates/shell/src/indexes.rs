//! `createIndex` and `createIndexes`.

use bson::{Bson, Document, doc};

use crate::call::Call;
use crate::error::Result;
use crate::run::{Run, Shape};

impl Call<'_> {
    pub(crate) fn create_indexes(&self) -> Result<Run> {
        self.at_most(2)?;
        let what = "the fields of an index, as in createIndex({ author: 1, at: -1 })";
        let keys = match (self.argument(0), self.method) {
            (Some(Bson::Document(key)), "createIndex") => vec![key.clone()],
            (Some(Bson::Array(keys)), "createIndexes") => {
                let keys: Option<Vec<Document>> = keys.iter().map(|key| key.as_document().cloned()).collect();
                keys.ok_or_else(|| self.wrong("an array of documents, each with the fields of an index"))?
            }
            _ => return Err(self.wrong(what)),
        };
        let options = match self.argument(1) {
            None | Some(Bson::Null) => Document::new(),
            Some(Bson::Document(options)) => options.clone(),
            Some(_) => return Err(self.wrong(what)),
        };
        let indexes: Vec<Document> = keys.into_iter().map(|key| named_index(key, &options)).collect();
        let names = indexes
            .iter()
            .filter_map(|index| index.get_str("name").ok().map(str::to_owned));
        let shape = match self.method {
            "createIndex" => Shape::Indexed(names.collect()),
            _ => Shape::AllIndexed(names.collect()),
        };
        Ok(Run::of(
            doc! { "createIndexes": self.collection, "indexes": indexes },
            shape,
        ))
    }
}

/// An index with the name that drivers give it, unless the options have one.
fn named_index(key: Document, options: &Document) -> Document {
    let parts = key.iter().map(|(field, kind)| match kind {
        Bson::String(kind) => format!("{field}_{kind}"),
        kind => format!("{field}_{kind}"),
    });
    let name = parts.collect::<Vec<_>>().join("_");
    let mut index = doc! { "key": key, "name": name };
    index.extend(options.clone());
    index
}
