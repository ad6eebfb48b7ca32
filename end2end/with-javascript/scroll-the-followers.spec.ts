import { livesInTown } from "../api";
import { expect, test } from "../fixtures";
import { scrollAcross } from "../lists";

test("the followers of the celebrity scroll by across two seams, each once and in order", async ({
  page,
  api,
}) => {
  test.slow();
  const celebrity = await api.celebrity();
  await page.goto(`/@${celebrity}/followers`);

  const { handles } = await scrollAcross(page, 2);

  expect(new Set(handles).size, "nobody is shown twice").toBe(handles.length);
  const expected = await api.people(`users/${celebrity}/followers`, handles.length);
  const inTown = handles.filter(livesInTown);
  expect(inTown).toEqual(expected.filter(livesInTown).slice(0, inTown.length));
});
