import { accessibilityOfOnesOwn, journeysWithOnesOwn } from "../own";

journeysWithOnesOwn();
accessibilityOfOnesOwn();
