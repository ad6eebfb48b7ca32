import { journeysWithOnesOwn } from "../own";

journeysWithOnesOwn();
