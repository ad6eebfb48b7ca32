"""Lists in the format of docs/format.md, with PyMongo: append, read, remove.

    pip install pymongo
    python3 overflow_list.py mongodb://127.0.0.1:27017/shop customers orders 4711

The client needs uuidRepresentation="standard". On a replica set or a cluster, each operation has majority concerns and a
session of its own, as docs/format.md says.
"""

import copy
import sys
import time
import uuid
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from functools import partial

import bson
from pymongo import MongoClient, ReadPreference, ReturnDocument, WriteConcern
from pymongo.errors import DuplicateKeyError
from pymongo.read_concern import ReadConcern

EMPTY = {"count": 0, "pages": 0, "hasOverflow": False, "spilled": 0, "rev": 0, "pending": [], "head": []}
MILLISECOND = timedelta(milliseconds=1)


class InSession:
    """A collection whose commands are all in one session."""

    def __init__(self, collection, session):
        self.collection, self.session = collection, session

    def __getattr__(self, command):
        return partial(getattr(self.collection, command), session=self.session)


class OverflowList:
    def __init__(self, database, collection, path):
        described = database["outlierLists"].find_one({"_id": f"{collection}/{path}"})
        if described is None or described["version"] != 1:
            raise LookupError(f"{collection}/{path} is not described: run `outlier adopt`, or look at the version")
        self.client, self.codec, self.path = database.client, database.codec_options, path
        hello = self.client.admin.command("hello")
        self.reads_may_be_old = "setName" in hello or hello.get("msg") == "isdbgrid"
        concerns = {}
        if self.reads_may_be_old:
            concerns = {"read_concern": ReadConcern("majority"), "write_concern": WriteConcern("majority")}
        primary = partial(database.get_collection, read_preference=ReadPreference.PRIMARY, **concerns)
        self.owners, self.pages = primary(collection), primary(described["pages"])
        self.at, self.id = described["order"]["at"], described["order"]["id"]
        self.by_number = described["order"].get("by") == "number"
        self.key = described["key"] or self.id
        limits = described["limits"]
        self.threshold, self.page_size = limits["threshold"], limits["pageSize"]
        self.head_bytes = limits.get("headBytes", float("inf"))

    def append(self, owner, item):
        """Adds an item unless the list has its key; repeating it changes nothing. Returns whether it was added."""
        with self._operation() as this:
            return this._append(owner, item)

    def newest(self, owner, limit):
        """The newest items."""
        with self._operation() as this:
            return this._newest(owner, limit)

    def remove(self, owner, key):
        """Removes the item with this key. Returns whether it was there."""
        with self._operation() as this:
            return this._remove(owner, key)

    @contextmanager
    def _operation(self):
        """The list for one operation: where reads may be old, in a causally consistent session."""
        if not self.reads_may_be_old:
            yield self
            return
        with self.client.start_session(causal_consistency=True) as session:
            this = copy.copy(self)
            this.owners, this.pages = InSession(self.owners, session), InSession(self.pages, session)
            yield this

    def _confirmed(self, guard):
        """Whether an answer that changes nothing holds. Where reads may be old, a write to the newest owner decides."""
        if not self.reads_may_be_old:
            return True
        return self.owners.update_one(guard, {"$inc": {self._("rev"): 1}}).matched_count == 1

    def _append(self, owner, item):
        now = datetime.now(timezone.utc).replace(tzinfo=None)
        now = now.replace(microsecond=now.microsecond // 1000 * 1000)
        item = {self.id: uuid.uuid4(), **({} if self.by_number else {self.at: now}), **item}
        if self.by_number and not isinstance(item.get(self.at), int):
            raise TypeError(f"{self.at} of an item has to be a whole number")
        while True:
            born, this = self._read(owner)
            head, floor = this["head"], this.get("floor")
            known = any(one[self.key] == item[self.key] for one in head)
            if known or self._in_pages(owner, born, this, item[self.key]):
                if self._confirmed({"_id": owner, "born": born, self._("rev"): this["rev"]}):
                    return False
                continue
            guard = {"_id": owner, "born": born, self._("pages"): this["pages"]}
            push = {"$each": [item], "$sort": {self.at: -1, self.id: -1}}
            if len(head) < self.threshold and self._size([item, *head]) <= self.head_bytes:
                self._raise(item, floor)
                guard[self._("floor")] = floor
                guard[self._(f"head.{self.key}")] = {"$ne": item[self.key]}
                if self.head_bytes == float("inf"):
                    guard["$expr"] = {"$lte": [{"$size": f"${self._('head')}"}, self.threshold - 1]}
                else:
                    guard |= {self._("rev"): this["rev"], self._("head"): {"$size": len(head)}}
                change = {"$push": {self._("head"): push}, "$inc": {self._("count"): 1}}
                if self.owners.update_one(guard, change).matched_count:
                    return True
                continue
            # The head is full: its oldest items become a page, and the item goes in with the same write.
            stays = max(len(head) - self.page_size, 0)
            if len(head) < self.threshold:
                most = min(self.head_bytes / 4, self.head_bytes - self._size([item]))
                fitting = (nth for nth in range(len(head)) if self._size(head[: nth + 1]) > most)
                stays = max(stays, next(fitting, len(head) - 1))
            stay, chunk = head[:stays], head[stays:]
            if not self._write_page(owner, born, this, chunk):
                continue
            newest = chunk[0][self.at]
            floor = newest if floor is None else max(newest, self._above(floor))
            self._raise(item, floor)
            room = len(stay) < self.threshold and self._size([item, *stay]) <= self.head_bytes
            push["$each"] = [item] if room else []
            push["$slice"] = len(stay) + room
            guard |= {self._("rev"): this["rev"], self._("head"): {"$size": len(head)}}
            added = {self._("count"): int(room), self._("pages"): 1, self._("spilled"): len(chunk)}
            known = {self._("hasOverflow"): True, self._("floor"): floor}
            change = {"$push": {self._("head"): push}, "$inc": added, "$set": known}
            if self.owners.update_one(guard, change).matched_count and room:
                return True

    def _newest(self, owner, limit):
        while True:
            born, this = self._read(owner)
            items, gone = list(this["head"]), {(one["page"], one["id"]) for one in this["pending"]}
            page = this["pages"] - 1
            while len(items) < limit and page >= 0:
                found = self.pages.find_one(self._page(owner, born, page))
                items += [one for one in (found or {"items": []})["items"] if (page, one[self.id]) not in gone]
                page -= 1
            if page == this["pages"] - 1 or self._read(owner)[1]["rev"] == this["rev"]:
                return items[:limit]

    def _remove(self, owner, key):
        while True:
            born, this = self._read(owner)
            guard = {"_id": owner, "born": born}
            item = next((one for one in this["head"] if one[self.key] == key), None)
            if item:
                one = {self.id: item[self.id]}
                change = {"$pull": {self._("head"): one}, "$inc": {self._("count"): -1, self._("rev"): 1}}
                if self.owners.update_one({**guard, self._(f"head.{self.id}"): item[self.id]}, change).matched_count:
                    return True
                continue
            found = self._in_pages(owner, born, this, key)
            if not found:
                now = self._read(owner)[1]
                same = (now["pages"], now.get("floor")) == (this["pages"], this.get("floor"))
                unmoved = {self._("pages"): this["pages"], self._("floor"): this.get("floor")}
                absent = {**guard, **unmoved, self._(f"head.{self.key}"): {"$ne": key}}
                if same and not any(one[self.key] == key for one in now["head"]) and self._confirmed(absent):
                    return False
                continue
            if len(this["pending"]) >= 32:
                for entry in this["pending"]:
                    self._settle(owner, born, entry)
                continue
            entry = {"page": found["page"], "rev": found["rev"], "id": found["item"][self.id]}
            less = {self._("count"): -1, self._("spilled"): -1, self._("rev"): 1}
            change = {"$push": {self._("pending"): entry}, "$inc": less}
            if self.owners.update_one({**guard, self._("rev"): this["rev"]}, change).matched_count:
                self._settle(owner, born, entry)
                return True

    def _above(self, floor):
        return floor + (1 if self.by_number else MILLISECOND)

    def _raise(self, item, floor):
        """Gives an item that would be below what has spilled the next place above it."""
        if floor is None or item[self.at] > floor:
            return
        if self.key == self.at:
            raise ValueError(f"{self.at} of a new item has to be above {floor}")
        item[self.at] = self._above(floor)

    def _size(self, items):
        return sum(len(bson.encode(item, codec_options=self.codec)) for item in items)

    def _(self, field):
        return f"{self.path}.{field}"

    def _page(self, owner, born, number):
        return {"owner": owner, "relation": self.path, "born": born, "page": number}

    def _read(self, owner):
        while True:
            document = self.owners.find_one({"_id": owner}, {"born": 1, self.path: 1})
            if document is None:
                there = {"_id": owner, self._("rev"): {"$exists": True}}
                if self.reads_may_be_old and self._confirmed(there):
                    continue
                raise LookupError(f"there is no {owner}")
            this = document
            for name in self.path.split("."):
                this = this.get(name) if isinstance(this, dict) else None
            if isinstance(this, list):
                raise TypeError(f"{self.path} of {owner} is a plain array: run `outlier adopt`")
            if this is None:
                nothing = {"_id": owner, self.path: None, "$nor": [{self.path: {"$type": "array"}}]}
                self.owners.update_one(nothing, {"$set": {self.path: EMPTY}})
            elif "adopting" in this:
                time.sleep(0.01)
            else:
                this["head"].sort(key=lambda item: (item[self.at], item[self.id].bytes), reverse=True)
                return document.get("born"), this

    def _in_pages(self, owner, born, this, key):
        committed = {**self._page(owner, born, {"$lt": this["pages"]}), f"items.{self.key}": key}
        gone = {(one["page"], one["id"]) for one in this["pending"]}
        for page in self.pages.find(committed) if this["pages"] else ():
            for item in page["items"] if page["rev"] <= this["rev"] else ():
                if item[self.key] == key and (page["page"], item[self.id]) not in gone:
                    return {"page": page["page"], "rev": page["rev"], "item": item}
        return None

    def _write_page(self, owner, born, this, chunk):
        page, rev = self._page(owner, born, this["pages"]), this["rev"]
        name = f"{owner}/{self.path}/{this['pages']}" + (f"/{born.hex}" if born else "")
        first, last = chunk[0][self.at], chunk[-1][self.at]
        fields = {"count": len(chunk), "createdAt": datetime.now(timezone.utc), "first": first, "last": last}
        change = {"$set": {**fields, "items": chunk, "rev": rev}, "$setOnInsert": {"_id": name}}
        try:
            self.pages.update_one({**page, "rev": {"$lt": rev}}, change, upsert=True)
            return True
        except DuplicateKeyError:
            there = self.pages.find_one(page)
            if there and (there["rev"], there["items"]) == (rev, chunk):
                return True
            newer = max(there["rev"] if there else 0, rev) + 1
            self.owners.update_one({"_id": owner, "born": born}, {"$max": {self._("rev"): newer}})
            return False

    def _settle(self, owner, born, entry):
        page = self._page(owner, born, entry["page"])
        holding = {**page, "rev": entry["rev"], f"items.{self.id}": entry["id"]}
        pull = {"$pull": {"items": {self.id: entry["id"]}}, "$inc": {"count": -1}}
        left = self.pages.find_one_and_update(holding, pull, {"count": 1}, return_document=ReturnDocument.AFTER)
        if left is None or left["count"] == 0:
            empty = {**page, "count": 0, "last": {"$exists": True}}
            self.pages.update_one(empty, {"$unset": {"first": "", "last": ""}})
        self.owners.update_one({"_id": owner, "born": born}, {"$pull": {self._("pending"): entry}})


def main(address, collection, path, owner, *name_and_number):
    """Appends items, removes every third of them again, and prints the newest."""
    client = MongoClient(address, uuidRepresentation="standard")
    items = OverflowList(client.get_default_database(), collection, path)
    owner = int(owner) if owner.isdigit() else owner
    name, number = name_and_number or ("python", "10")
    added = []
    for nth in range(int(number)):
        added.append(uuid.uuid4())
        place = {items.at: nth} if items.by_number else {}
        assert items.append(owner, {"name": f"{name} {nth}", items.id: added[-1], **place})
        assert not items.append(owner, {"name": "again", items.id: added[-1], **place})
        if nth % 3 == 2:
            assert items.remove(owner, added[nth - 2]) and not items.remove(owner, added[nth - 2])
    print(*(item.get("name") for item in items.newest(owner, 20)), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
