import { journeysAtTheInspector } from "../inspect";

journeysAtTheInspector();
