import { aConversationOfThree, POINTER } from "../conversation";
import { test } from "../fixtures";

test.describe("with JavaScript", () => aConversationOfThree(POINTER));

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });
  aConversationOfThree(POINTER);
});
