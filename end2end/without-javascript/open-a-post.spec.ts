import { openingAPost } from "../opening";

openingAPost();
