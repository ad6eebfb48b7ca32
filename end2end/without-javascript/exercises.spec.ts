import { answersAreTriedOut } from "../exercises";

answersAreTriedOut();
