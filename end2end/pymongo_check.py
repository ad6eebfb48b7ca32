"""Uses a store through MongoDB's protocol as a Python program would, and checks what comes back.

    pip install --require-hashes -r end2end/pymongo.txt
    python3 end2end/pymongo_check.py mongodb://127.0.0.1:27017/spillway

With a user and a password in the address, it also sees to it that nobody gets in without them. The collection `pymongo_check` is emptied before and after.
"""

import re
import sys
from datetime import datetime, timezone

import pymongo
from bson import ObjectId
from pymongo import ReturnDocument
from pymongo.errors import BulkWriteError, DuplicateKeyError, OperationFailure
from pymongo.uri_parser import parse_uri


def expect(actual, expected, what):
    if actual != expected:
        sys.exit(f"{what}: expected {expected!r}, got {actual!r}")
    print(f"ok  {what}")


def code_of(action):
    try:
        action()
    except OperationFailure as error:
        return error.code
    return None


def check_documents(things):
    posts = [
        {"_id": number, "author": "ada" if number % 2 else "bob", "likes": list(range(number)), "at": number}
        for number in range(10)
    ]
    expect(things.insert_many(posts).inserted_ids, list(range(10)), "insert_many")
    expect(isinstance(things.insert_one({"at": -1}).inserted_id, ObjectId), True, "insert_one names the document")
    expect(things.delete_one({"at": -1}).deleted_count, 1, "delete_one")

    found = list(things.find({"author": "ada"}, {"at": 1}).sort("at", -1).limit(2))
    expect(found, [{"_id": 9, "at": 9}, {"_id": 7, "at": 7}], "find with a projection, an order and a limit")
    sliced = things.find_one({"_id": 9}, {"likes": {"$slice": [2, 3]}, "at": 1})
    expect(sliced["likes"], [2, 3, 4], "a projection with $slice")
    expect(things.find_one({"_id": 99}), None, "find_one without a match")
    expect([thing["_id"] for thing in things.find().sort("_id", 1).batch_size(3)], list(range(10)), "batches")
    expect(things.count_documents({"author": "bob"}), 5, "count_documents")
    expect(things.estimated_document_count(), 10, "estimated_document_count")
    expect(sorted(things.distinct("author")), ["ada", "bob"], "distinct")


def check_updates(things):
    result = things.update_one({"_id": 1}, {"$push": {"likes": {"$each": [7], "$slice": -2}}, "$inc": {"at": 10}})
    expect((result.matched_count, result.modified_count), (1, 1), "update_one")
    expect(things.find_one({"_id": 1})["likes"], [0, 7], "$push with $slice")
    expect(things.update_many({"author": "bob"}, {"$set": {"seen": True}}).modified_count, 5, "update_many")

    result = things.update_one({"_id": "new"}, {"$setOnInsert": {"made": 1}, "$inc": {"n": 1}}, upsert=True)
    expect(result.upserted_id, "new", "an upsert inserts")
    result = things.update_one({"_id": "new"}, {"$setOnInsert": {"made": 2}, "$inc": {"n": 1}}, upsert=True)
    expect((result.upserted_id, things.find_one({"_id": "new"})), (None, {"_id": "new", "made": 1, "n": 2}), "and updates")
    for update in ({"$set": {"n": 1}}, [{"$set": {"n": 1}}]):
        result = things.update_one({"who": "nobody"}, update, upsert=True)
        expect(isinstance(result.upserted_id, ObjectId), True, "an upsert without an _id gets one")
        things.delete_one({"_id": result.upserted_id})
    result = things.replace_one({"who": "nobody"}, {"n": 1}, upsert=True)
    expect(things.find_one({"n": 1}), {"_id": result.upserted_id, "n": 1}, "so does a replacement")
    result = things.replace_one({"who": "nobody"}, {"n": 3}, upsert=True)
    things.delete_many({"_id": {"$type": "objectId"}})

    expect(things.replace_one({"_id": "new"}, {"text": "$n", "a": {"b": [1]}}).modified_count, 1, "replace_one")
    expect(things.find_one({"_id": "new"}), {"_id": "new", "text": "$n", "a": {"b": [1]}}, "nothing of the old stays")
    expect(things.replace_one({"_id": "other"}, {"n": 1}, upsert=True).upserted_id, "other", "replace_one with upsert")
    expect(code_of(lambda: things.replace_one({"_id": "new"}, {"_id": "old"})), 66, "an _id cannot be replaced")

    changed = things.find_one_and_update(
        {"author": "ada"}, {"$set": {"seen": True}}, {"at": 1}, [("at", -1)], return_document=ReturnDocument.AFTER
    )
    expect(changed, {"_id": 1, "at": 11}, "find_one_and_update")
    expect(things.find_one_and_replace({"_id": "other"}, {"n": 2}), {"_id": "other", "n": 1}, "find_one_and_replace")
    expect(things.find_one_and_delete({"_id": "other"}, {"_id": 0}), {"n": 2}, "find_one_and_delete")
    expect(things.update_one({"_id": 2}, [{"$set": {"size": {"$size": "$likes"}}}]).modified_count, 1, "a pipeline")
    expect(things.find_one({"_id": 2})["size"], 2, "which computes")


def check_elements_and_patterns(things):
    things.insert_one({"_id": "list", "items": [{"n": 1}, {"n": 5}, {"n": 9}], "name": "Ada Lovelace"})
    things.update_one({"_id": "list"}, {"$set": {"items.$[high].seen": True}}, array_filters=[{"high.n": {"$gt": 4}}])
    expect(things.find_one({"_id": "list"})["items"],
           [{"n": 1}, {"n": 5, "seen": True}, {"n": 9, "seen": True}], "array_filters")
    changed = things.find_one_and_update({"_id": "list"}, {"$inc": {"items.$[].n": 1}},
                                         return_document=ReturnDocument.AFTER)
    expect([item["n"] for item in changed["items"]], [2, 6, 10], "every element")
    expect(things.count_documents({"name": re.compile("^ada .*LACE$", re.I)}), 1, "a regular expression")
    expect(things.count_documents({"name": {"$regex": "love", "$options": "i"}}), 1, "$regex with $options")
    expect(code_of(lambda: things.find_one({"name": {"$regex": "(?=Ada)"}})), 2, "look-around is refused")
    larger = {"$expr": {"$gt": [{"$size": {"$ifNull": ["$items", []]}}, "$$least"]}}
    expect([thing["_id"] for thing in things.find(larger, let={"least": 2})], ["list"], "let")
    things.delete_one({"_id": "list"})


def check_plans(things):
    things.create_index([("author", 1)])
    plan = things.find({"author": "ada"}).explain()["queryPlanner"]["winningPlan"]
    expect((plan["stage"], plan["inputStage"]["indexName"]), ("FETCH", "author_1"), "explain")
    expect(len(list(things.find({"author": "ada"}).hint("author_1"))), 5, "a hint")
    expect(code_of(lambda: list(things.find().hint("nosuch_1"))), 2, "a hint of no index is refused")


def check_errors(things):
    try:
        things.insert_one({"_id": 1})
        sys.exit("a duplicate was not refused")
    except DuplicateKeyError as error:
        details = error.details
        told = (error.code, details["keyPattern"], details["keyValue"])
        expect(told, (11000, {"_id": 1}, {"_id": 1}), "a duplicate is error 11000")
    for ordered, inserted in ((True, 1), (False, 2)):
        documents = [{"_id": 100}, {"_id": 1}, {"_id": 101}]
        try:
            things.insert_many(documents, ordered=ordered)
            sys.exit("a duplicate among others was not refused")
        except BulkWriteError as error:
            told = (error.details["nInserted"], [entry["index"] for entry in error.details["writeErrors"]])
            expect(told, (inserted, [1]), f"insert_many with ordered={ordered} names the duplicate")
        things.delete_many({"_id": {"$gte": 100}})
    things.insert_one({"_id": 100, "same": True})
    try:
        things.insert_many([{"_id": 100, "same": True}, {"_id": 101}])
        sys.exit("an equal document was inserted twice")
    except BulkWriteError as error:
        expect(error.details["writeErrors"][0]["index"], 0, "an equal document is a duplicate too")
    things.delete_many({"_id": {"$gte": 100}})
    expect(code_of(lambda: list(things.find({"$near": 1}))), 2, "an unknown operator")
    expect(code_of(lambda: things.database.command("shrink")), 59, "an unknown command")
    expect(code_of(lambda: list(things.find({}, collation={"locale": "de"}))), 9, "a collation")
    expect(code_of(lambda: things.database.client["elsewhere"].things.insert_one({})), 73, "another database")
    expect(list(things.database.client["elsewhere"].things.find()), [], "which is empty")


def check_indexes(things):
    expect(things.create_index([("author", 1), ("at", -1)]), "author_1_at_-1", "create_index")
    expect(things.create_index([("email", 1)], unique=True, partialFilterExpression={"email": {"$exists": True}}),
           "email_1", "a unique, partial index")
    things.insert_one({"_id": 200, "email": "ada@example.org"})
    expect(code_of(lambda: things.insert_one({"_id": 201, "email": "ada@example.org"})), 11000, "which refuses")
    expect(sorted(things.index_information()), ["_id_", "author_1", "author_1_at_-1", "email_1"], "index_information")
    things.delete_one({"_id": 200})


def check_aggregation(things):
    pipeline = [
        {"$match": {"author": {"$exists": True}}},
        {"$group": {"_id": "$author", "likes": {"$sum": {"$size": "$likes"}}}},
        {"$sort": {"_id": 1}},
    ]
    expect(list(things.aggregate(pipeline)), [{"_id": "ada", "likes": 26}, {"_id": "bob", "likes": 20}], "aggregate")


def check_server(client, database):
    expect(client.admin.command("ping")["ok"], 1.0, "ping")
    expect("pymongo_check" in database.list_collection_names(), True, "list_collection_names")
    expect(database.name in client.list_database_names(), True, "list_database_names")
    expect(database.command("collStats", "pymongo_check")["count"], 11, "collStats")
    expect(database.command("dbStats")["ok"], 1.0, "dbStats")
    moment = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=timezone.utc)
    things = database["pymongo_check"].with_options(
        codec_options=database.codec_options.with_options(tz_aware=True)
    )
    things.insert_one({"_id": "types", "at": moment, "bytes": b"\x00\xff", "big": 2**40, "none": None})
    kept = {"_id": "types", "at": moment, "bytes": b"\x00\xff", "big": 2**40, "none": None}
    expect(things.find_one({"_id": "types"}), kept, "values keep their types")
    unacknowledged = things.with_options(write_concern=pymongo.WriteConcern(w=0))
    unacknowledged.insert_one({"_id": "unacknowledged"})
    # The next command waits until the one before it is done, on the same connection.
    expect(things.count_documents({"_id": "unacknowledged"}), 1, "an unacknowledged write")


def check_login(address):
    login = parse_uri(address)
    if login["username"] is None:
        return
    host, port = login["nodelist"][0]
    with pymongo.MongoClient(host, port) as stranger:
        things = stranger["spillway"]["pymongo_check"]
        expect(code_of(lambda: things.find_one()), 13, "without the password nothing is read")
        expect(code_of(lambda: things.insert_one({})), 13, "nor written")
    with pymongo.MongoClient(host, port, username=login["username"], password="wrong") as forger:
        expect(code_of(lambda: forger.admin.command("listDatabases")), 18, "a wrong password is refused")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    # One connection, so that what is sent after an unacknowledged write arrives after it.
    client = pymongo.MongoClient(sys.argv[1], serverSelectionTimeoutMS=3000, maxPoolSize=1)
    database = client.get_default_database("spillway")
    things = database["pymongo_check"]
    things.delete_many({})
    check_login(sys.argv[1])
    check_documents(things)
    check_updates(things)
    check_elements_and_patterns(things)
    check_plans(things)
    check_errors(things)
    check_indexes(things)
    check_aggregation(things)
    check_server(client, database)
    things.delete_many({})
    client.close()
    print("all well")


main()
