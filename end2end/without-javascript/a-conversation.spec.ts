import { aConversationOfThree, KEYBOARD } from "../conversation";

aConversationOfThree(KEYBOARD);
