import { journeysAtTheTrace } from "../trace";

journeysAtTheTrace();
