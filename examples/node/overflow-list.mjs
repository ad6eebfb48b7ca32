// Lists in the format of docs/format.md, with MongoDB's driver for Node.js: append, read, remove.
//
//     npm install mongodb
//     node overflow-list.mjs mongodb://127.0.0.1:27017/shop customers orders 4711
//
// On a replica set or a cluster, each operation has majority concerns and a session of its own, as docs/format.md says.

import { pathToFileURL } from "node:url";
import { BSON, MongoClient, UUID } from "mongodb";

const EMPTY = { count: 0, pages: 0, hasOverflow: false, spilled: 0, rev: 0, pending: [], head: [] };
const DUPLICATE_KEY = 11000;

const same = (one, other) =>
  one === other ||
  (one?.equals ? one.equals(other) : +one === +other && one instanceof Date && other instanceof Date);
const above = (floor) => (floor instanceof Date ? new Date(+floor + 1) : floor + 1);

const size = (items) => items.reduce((sum, item) => sum + BSON.calculateObjectSize(item), 0);
const MAJORITY = { readConcern: { level: "majority" }, writeConcern: { w: "majority" } };

/** A collection whose commands are all in one session. */
const inSession = (collection, session) => ({
  findOne: (filter, options) => collection.findOne(filter, { ...options, session }),
  find: (filter, options) => collection.find(filter, { ...options, session }),
  updateOne: (filter, change, options) => collection.updateOne(filter, change, { ...options, session }),
  findOneAndUpdate: (filter, change, options) =>
    collection.findOneAndUpdate(filter, change, { ...options, session }),
});

export class OverflowList {
  static async open(client, database, collection, path) {
    const described = await client
      .db(database)
      .collection("outlierLists")
      .findOne({ _id: `${collection}/${path}` });
    if (described?.version !== 1) {
      throw new Error(
        `${collection}/${path} is not described: run \`outlier adopt\`, or look at the version`,
      );
    }
    const hello = await client.db("admin").command({ hello: 1 });
    const readsMayBeOld = "setName" in hello || hello.msg === "isdbgrid";
    return new OverflowList({ client, database, described, readsMayBeOld });
  }

  constructor(opened, session) {
    const { client, database, described, readsMayBeOld } = opened;
    const { path, limits, order, key } = described;
    Object.assign(this, { opened, path, limits, at: order.at, id: order.id, key: key ?? order.id });
    this.byNumber = order.by === "number";
    const options = { readPreference: "primary", ...(readsMayBeOld ? MAJORITY : {}) };
    const collection = (name) => client.db(database).collection(name, options);
    const within = (name) => (session ? inSession(collection(name), session) : collection(name));
    [this.owners, this.pages] = [within(described.owners), within(described.pages)];
  }

  /** Adds an item unless the list has its key; repeating it changes nothing. Returns whether it was added. */
  append(owner, content) {
    return this.#operation((list) => list.#append(owner, content));
  }

  /** The newest items. */
  newest(owner, limit) {
    return this.#operation((list) => list.#newest(owner, limit));
  }

  /** Removes the item with this key. Returns whether it was there. */
  remove(owner, key) {
    return this.#operation((list) => list.#remove(owner, key));
  }

  /** Where reads may be old, an operation is in a causally consistent session. */
  #operation(run) {
    const { client, readsMayBeOld } = this.opened;
    if (!readsMayBeOld) return run(this);
    return client.withSession({ causalConsistency: true }, (session) =>
      run(new OverflowList(this.opened, session)),
    );
  }

  /** Whether an answer that changes nothing holds. Where reads may be old, a write to the newest owner decides. */
  async #confirmed(guard) {
    if (!this.opened.readsMayBeOld) return true;
    return (await this.owners.updateOne(guard, { $inc: { [this.#in("rev")]: 1 } })).matchedCount === 1;
  }

  async #append(owner, content) {
    const item = { [this.id]: new UUID(), ...(this.byNumber ? {} : { [this.at]: new Date() }), ...content };
    if (this.byNumber && !Number.isSafeInteger(item[this.at])) {
      throw new TypeError(`${this.at} of an item has to be a whole number`);
    }
    const { threshold, pageSize, headBytes = Infinity } = this.limits;
    for (;;) {
      const { born, list } = await this.#read(owner);
      const { head, floor = null } = list;
      const known = head.some((one) => same(one[this.key], item[this.key]));
      if (known || (await this.#inPages(owner, born, list, item[this.key]))) {
        if (await this.#confirmed({ _id: owner, born, [this.#in("rev")]: list.rev })) return false;
        continue;
      }
      const guard = { _id: owner, born, [this.#in("pages")]: list.pages };
      const push = { $each: [item], $sort: { [this.at]: -1, [this.id]: -1 } };
      if (head.length < threshold && size([item, ...head]) <= headBytes) {
        this.#raise(item, floor);
        guard[this.#in("floor")] = floor;
        guard[this.#in(`head.${this.key}`)] = { $ne: item[this.key] };
        if (headBytes === Infinity) {
          guard.$expr = { $lte: [{ $size: `$${this.#in("head")}` }, threshold - 1] };
        } else {
          Object.assign(guard, { [this.#in("rev")]: list.rev, [this.#in("head")]: { $size: head.length } });
        }
        const change = { $push: { [this.#in("head")]: push }, $inc: { [this.#in("count")]: 1 } };
        if ((await this.owners.updateOne(guard, change)).matchedCount) return true;
        continue;
      }
      // The head is full: its oldest items become a page, and the item goes in with the same write.
      let stay = Math.max(head.length - pageSize, 0);
      if (head.length < threshold) {
        const most = Math.min(headBytes / 4, headBytes - size([item]));
        const last = head.findIndex((_, nth) => size(head.slice(0, nth + 1)) > most);
        stay = Math.max(stay, last < 0 ? head.length - 1 : last);
      }
      const chunk = head.slice(stay);
      if (!(await this.#writePage(owner, born, list, chunk))) continue;
      const newest = chunk[0][this.at];
      const risen = floor === null || above(floor) < newest ? newest : above(floor);
      this.#raise(item, risen);
      const room = stay < threshold && size([item, ...head.slice(0, stay)]) <= headBytes ? 1 : 0;
      Object.assign(push, { $each: room ? [item] : [], $slice: stay + room });
      Object.assign(guard, { [this.#in("rev")]: list.rev, [this.#in("head")]: { $size: head.length } });
      const change = {
        $push: { [this.#in("head")]: push },
        $inc: { [this.#in("count")]: room, [this.#in("pages")]: 1, [this.#in("spilled")]: chunk.length },
        $set: { [this.#in("hasOverflow")]: true, [this.#in("floor")]: risen },
      };
      if ((await this.owners.updateOne(guard, change)).matchedCount && room) return true;
    }
  }

  async #newest(owner, limit) {
    for (;;) {
      const { born, list } = await this.#read(owner);
      const items = [...list.head];
      let page = list.pages - 1;
      for (; items.length < limit && page >= 0; page--) {
        const found = await this.pages.findOne(this.#page(owner, born, page));
        items.push(...(found?.items ?? []).filter((item) => !this.#isGone(list, page, item)));
      }
      const headOnly = page === list.pages - 1;
      if (headOnly || (await this.#read(owner)).list.rev === list.rev) return items.slice(0, limit);
    }
  }

  async #remove(owner, key) {
    for (;;) {
      const { born, list } = await this.#read(owner);
      const guard = { _id: owner, born };
      const id = list.head.find((one) => same(one[this.key], key))?.[this.id];
      if (id) {
        const change = {
          $pull: { [this.#in("head")]: { [this.id]: id } },
          $inc: { [this.#in("count")]: -1, [this.#in("rev")]: 1 },
        };
        guard[this.#in(`head.${this.id}`)] = id;
        if ((await this.owners.updateOne(guard, change)).matchedCount) return true;
        continue;
      }
      const entry = await this.#inPages(owner, born, list, key);
      if (!entry) {
        const now = (await this.#read(owner)).list;
        const unmoved = now.pages === list.pages && same(now.floor, list.floor);
        const place = { [this.#in("pages")]: list.pages, [this.#in("floor")]: list.floor ?? null };
        const absent = { ...guard, ...place, [this.#in(`head.${this.key}`)]: { $ne: key } };
        const gone = unmoved && !now.head.some((one) => same(one[this.key], key));
        if (gone && (await this.#confirmed(absent))) return false;
        continue;
      }
      if (list.pending.length >= 32) {
        for (const left of list.pending) await this.#settle(owner, born, left);
        continue;
      }
      const change = {
        $push: { [this.#in("pending")]: entry },
        $inc: { [this.#in("count")]: -1, [this.#in("spilled")]: -1, [this.#in("rev")]: 1 },
      };
      guard[this.#in("rev")] = list.rev;
      if ((await this.owners.updateOne(guard, change)).matchedCount) {
        await this.#settle(owner, born, entry);
        return true;
      }
    }
  }

  /** Gives an item that would be below what has spilled the next place above it. */
  #raise(item, floor) {
    if (floor === null || item[this.at] > floor) return;
    if (this.key === this.at) {
      throw new RangeError(`${this.at} of a new item has to be above ${+floor}`);
    }
    item[this.at] = above(floor);
  }

  #in(field) {
    return `${this.path}.${field}`;
  }

  #page(owner, born, page) {
    return { owner, relation: this.path, born, page };
  }

  #isGone(list, page, item) {
    return list.pending.some((one) => one.page === page && same(one.id, item[this.id]));
  }

  async #read(owner) {
    for (;;) {
      const projection = { born: 1, [this.path]: 1 };
      const document = await this.owners.findOne({ _id: owner }, { projection });
      if (!document) {
        const there = { _id: owner, [this.#in("rev")]: { $exists: true } };
        if (this.opened.readsMayBeOld && (await this.#confirmed(there))) continue;
        throw new Error(`there is no ${owner}`);
      }
      const list = this.path.split(".").reduce((value, name) => value?.[name], document);
      if (Array.isArray(list))
        throw new Error(`${this.path} of ${owner} is a plain array: run \`outlier adopt\``);
      if (list == null) {
        const nothing = { _id: owner, [this.path]: null, $nor: [{ [this.path]: { $type: "array" } }] };
        await this.owners.updateOne(nothing, { $set: { [this.path]: EMPTY } });
      } else if (list.adopting) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      } else {
        const hex = (item) => item[this.id].toString("hex");
        const newest = (one, other) => other[this.at] - one[this.at] || (hex(one) < hex(other) ? 1 : -1);
        list.head.sort(newest);
        return { born: document.born ?? null, list };
      }
    }
  }

  async #inPages(owner, born, list, key) {
    if (!list.pages) return null;
    const committed = { ...this.#page(owner, born, { $lt: list.pages }), [`items.${this.key}`]: key };
    for await (const { page, rev, items } of this.pages.find(committed)) {
      const is = (one) => same(one[this.key], key) && !this.#isGone(list, page, one);
      const item = rev <= list.rev && items.find(is);
      if (item) return { page, rev, id: item[this.id] };
    }
    return null;
  }

  async #writePage(owner, born, list, chunk) {
    const page = this.#page(owner, born, list.pages);
    const [first, last] = [chunk[0][this.at], chunk.at(-1)[this.at]];
    const fields = { count: chunk.length, createdAt: new Date(), first, last, items: chunk, rev: list.rev };
    const _id = `${owner}/${this.path}/${list.pages}${born ? `/${born.toString("hex").replaceAll("-", "")}` : ""}`;
    try {
      const change = { $set: fields, $setOnInsert: { _id } };
      await this.pages.updateOne({ ...page, rev: { $lt: list.rev } }, change, { upsert: true });
      return true;
    } catch (error) {
      if (error.code !== DUPLICATE_KEY) throw error;
      const there = await this.pages.findOne(page);
      const ids = (items) => items.map((item) => item[this.id].toString("hex")).join();
      // Items never change, so equal ids are equal items.
      if (there?.rev === list.rev && ids(there.items) === ids(chunk)) return true;
      const rev = Math.max(there?.rev ?? 0, list.rev) + 1;
      await this.owners.updateOne({ _id: owner, born }, { $max: { [this.#in("rev")]: rev } });
      return false;
    }
  }

  async #settle(owner, born, entry) {
    const page = this.#page(owner, born, entry.page);
    const holding = { ...page, rev: entry.rev, [`items.${this.id}`]: entry.id };
    const pull = { $pull: { items: { [this.id]: entry.id } }, $inc: { count: -1 } };
    const after = { projection: { count: 1 }, returnDocument: "after" };
    const left = await this.pages.findOneAndUpdate(holding, pull, after);
    if (!left?.count) {
      const empty = { ...page, count: 0, last: { $exists: true } };
      await this.pages.updateOne(empty, { $unset: { first: "", last: "" } });
    }
    await this.owners.updateOne({ _id: owner, born }, { $pull: { [this.#in("pending")]: entry } });
  }
}

/** Appends items, removes every third of them again, and prints the newest. */
async function main(address, collection, path, id, name = "node", number = "10") {
  const client = await MongoClient.connect(address);
  const list = await OverflowList.open(client, undefined, collection, path);
  const owner = /^\d+$/.test(id) ? Number(id) : id;
  const expect = (holds, what) => {
    if (!holds) throw new Error(what);
  };
  const added = [];
  for (let nth = 0; nth < Number(number); nth++) {
    const key = new UUID();
    added.push(key);
    const place = { [list.id]: key, ...(list.byNumber ? { [list.at]: nth } : {}) };
    expect(await list.append(owner, { name: `${name} ${nth}`, ...place }), "an append was lost");
    expect(!(await list.append(owner, { name: "again", ...place })), "an item is there twice");
    if (nth % 3 === 2) {
      expect(await list.remove(owner, added[nth - 2]), "an item was lost");
      expect(!(await list.remove(owner, added[nth - 2])), "an item was removed twice");
    }
  }
  for (const item of await list.newest(owner, 20)) console.log(item.name);
  await client.close();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main(...process.argv.slice(2));
