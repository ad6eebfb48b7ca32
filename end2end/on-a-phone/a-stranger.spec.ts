import { test } from "../fixtures";
import { theWayOfAStranger } from "../stranger";

test.describe("with JavaScript", () => theWayOfAStranger());

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });
  theWayOfAStranger();
});
